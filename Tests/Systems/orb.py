# SPDX-License-Identifier: Apache-2.0
"""The first system: a voice that speaks, and the orb that shows it."""

import math

from conftest import launch, wait
from measuring import COMMAND, RATE, TALKING_TEXT, Wave, answer, decibels, do, eventually, rms, row, sine, told
from pipewire import PipeWire

VOICE = """
[graph]
name = "voice"
links = ["voice -> level -> out"]
[node.voice]
type = "tts"
[node.level]
type = "meter"
[node.out]
type = "output"
channels = 1
"""


@row("O1", "`speak` stops what is spoken, trims, a blank text only stops; language and rate")
def speaking(measured):
    host = measured.host(VOICE)
    do(host, "voice", "speak", text="   good morning   ")
    first = eventually("it speaks", lambda: host.event("speech.started"))["text"]
    measured.check(f"told as {first!r}", first == "good morning")
    eventually("it has ended", lambda: host.event("speech.finished"))
    do(host, "voice", "speak", text=TALKING_TEXT)
    eventually("it speaks again", lambda: len(told(host, "speech.started")) == 2)
    do(host, "voice", "speak", text="Another one.")
    stopped = eventually("the first is stopped", lambda: host.event("speech.stopped"))
    started = eventually("the second begins", lambda: told(host, "speech.started")[2:])[0]
    later = started["time"] - stopped["time"]
    measured.check(f"a second one begins {1000 * later:.0f} ms after the first is cut", 0 <= later < 0.5)
    do(host, "voice", "speak", text=TALKING_TEXT)
    eventually("a long one", lambda: len(told(host, "speech.started")) == 4)
    blank = do(host, "voice", "speak", text=" \n ")
    eventually("it is stopped", lambda: told(host, "speech.stopped")[-1]["time"] > started["time"])
    idle = do(host, "voice", "stop")
    measured.check(
        "a blank text stops, and nothing begins; `stop` while idle is no error",
        blank[0] == idle[0] == 200 and len(told(host, "speech.started")) == 4,
    )
    lengths = []
    for rate in (120, 240):
        path = measured.folder / f"{rate}.wav"
        measured.command("speak", TALKING_TEXT, "-o", path, "--rate", rate)
        lengths.append(Wave(path).frames / RATE if Wave(path).rate == RATE else Wave(path).frames / Wave(path).rate)
    measured.check(f"{lengths[0]:.2f} s at rate 120, {lengths[1]:.2f} s at 240", 1.6 < lengths[0] / lengths[1] < 2.4)
    spoken = {tag: do(host, "voice", "speak", text="One.", language=tag)[0] for tag in ("fr-FR", "en-ZZ", "xx-YY")}
    fast = do(host, "voice", "speak", text="One.", rate=9000)
    measured.check(
        f"languages {spoken}; rate 9000: {answer(fast)}",
        spoken["fr-FR"] == 200 and spoken["xx-YY"] != 200 and fast[0] != 200,
    )


@row("O2", "series `orb` of ten signals against (dB + 50) / 50 of 1024 frames")
def level(measured):
    def amplitude(db):
        return 10 ** (db / 20)

    frames = 48 * 1024
    root = math.sqrt(2)
    signals = {
        "silence": [0.0] * frames,
        "full scale": sine(937.5, 1, frames),
        "-20 dBFS": sine(937.5, 0.1, frames),
        "square 0.5": [0.5 if n // 32 % 2 else -0.5 for n in range(frames)],
        "DC 0.05": [0.05] * frames,
        "twice full scale": sine(937.5, 2, frames),
    }
    for db in (-25, -41.3, -49, -55):
        signals[f"RMS {db} dB"] = sine(937.5, root * amplitude(db), frames)
    links, nodes = [], ""
    for number, (name, samples) in enumerate(signals.items()):
        path = measured.sound(f"{number}.wav", samples)
        links.append(f'"file{number} -> face{number}"')
        nodes += f'[node.file{number}]\ntype = "file"\npath = "{path}"\nloop = true\n'
        nodes += f'[node.face{number}]\ntype = "visualizer"\n'
    host = measured.host(f'[graph]\nname = "levels"\nlinks = [{", ".join(links)}]\n{nodes}')
    live = measured.live(host)
    live.until(lambda: len(live.levels) > 100)
    worst, figures = 0, []
    for number, (name, samples) in enumerate(signals.items()):
        root_mean = rms(samples[:1024])
        expected = min(max((decibels(max(root_mean, 2e-5)) + 50) / 50, 0), 1)
        values = [
            value[0] for message in live.levels[-60:] if (value := live.rows(message)[1].get((f"face{number}", "orb")))
        ]
        worst = max(worst, *(abs(value - expected) for value in values))
        figures.append(f"{name} {values[-1]:.5f}")
    times = [live.rows(message)[0] for message in live.levels]
    steps = sorted(after - before for before, after in zip(times, times[1:]))
    measured.check(f"{', '.join(figures)}; largest error {worst:.0e}", worst < 1e-4)
    each = 1 / steps[len(steps) // 2]
    measured.check(f"{each:.1f} values a second", abs(each - 60) < 1.5)


DUCK = """
[graph]
name = "ducking"
links = ["music -> duck -> out", "voice -> duck.key"]
[node.music]
type = "tone"
[node.duck]
type = "duck"
depth_db = -15
[node.voice]
type = "tts"
text = "Ladies and gentlemen, the train to Berlin leaves from platform four. Please stand back."
[node.out]
type = "output"
channels = 1
"""


@row("O5", "the page's field, Speak and Stop; other audio in the graph and of PipeWire's players is lower meanwhile")
def page(measured):
    host = measured.host(VOICE)
    browser = launch(measured.playwright)
    measured.stack.callback(browser.close)
    view = browser.new_page()
    view.goto(host.link)
    wait(view, "document.body.innerText.includes('running')")
    label = view.locator("#speaking")
    before = label.inner_text()
    view.fill("#speak-text", TALKING_TEXT)
    view.get_by_role("button", name="Speak").click()
    eventually("it says that it speaks", lambda: label.inner_text() == "Speaking…")
    view.get_by_role("button", name="Stop").first.click()
    eventually("it is idle", lambda: label.inner_text() == "Idle")
    measured.check("Idle, Speaking…, after Stop Idle", before == "Idle" and bool(host.event("speech.stopped")))
    graph = measured.folder / "duck.conf"
    graph.write_text(DUCK)
    measured.command("render", graph, "-o", measured.folder / "duck.wav", "--duration", 9)
    samples = Wave(measured.folder / "duck.wav").samples[0]
    parts = [decibels(math.sqrt(2) * rms(samples[n : n + 4800])) for n in range(0, len(samples) - 4800, 4800)]
    measured.check(
        f"a tone at {parts[-1]:.2f} dB is at {min(parts):.2f} dB, then again as before",
        abs(min(parts) + 35) < 0.1 and abs(parts[-1] + 20) < 0.1,
    )
    server = PipeWire(measured)
    players = {name: server.play(name) for name in ("music", "notification")}
    eventually("both play", lambda: all(server.volumes().get(name) == 1 for name in players), 120)
    say = measured.program(
        COMMAND,
        "say",
        TALKING_TEXT * 4,
        "--alone",
        "--duck-others",
        "--driver",
        "dummy",
        environment=server.environment,
    )
    low = eventually(
        "the music is lower",
        lambda: abs(decibels((volumes := server.volumes()).get("music", 1)) + 12) < 0.1 and volumes,
        120,
    )
    say.terminate()
    eventually("it is given back", lambda: server.volumes().get("music") == 1, 120)
    measured.check(
        f"PipeWire: music at {decibels(low['music']):.1f} dB, "
        f"a notification at {decibels(low['notification']):.1f} dB, "
        "both at 0 dB after `say`",
        abs(decibels(low["music"]) + 12) < 0.1 and low["notification"] == 1,
    )


@row("O-Fix", "two texts that wait, recorded live, against the same texts in files")
def whole(measured):
    host = measured.host(
        VOICE.replace('"voice -> level -> out"', '"voice -> take", "voice -> out"')
        .replace('[node.level]\ntype = "meter"', '[node.take]\ntype = "record"\npath = "take.wav"')
        .replace('type = "tts"', 'type = "tts"\nqueue = true')
    )
    texts = ["One is the first of them.", "Two comes after it."]
    for spoken in texts:
        do(host, "voice", "speak", text=spoken)
    eventually("both are heard", lambda: len(told(host, "speech.finished")) == 2)
    eventually("nobody speaks", lambda: host.event("speech.state") and not host.event("speech.state").get("speaking"))
    host.call("do", node="take", action="finish", arguments={})
    take = Wave(host.folder / "take.wav").samples[0]
    at, figures, largest = 0, [], 0
    for number, spoken in enumerate(texts):
        path = measured.folder / f"{number}.wav"
        measured.command("speak", spoken, "-o", path, "--engine", "espeak-ng")
        wanted = Wave(path).samples[0]
        begin = next(n for n, sample in enumerate(wanted) if sample)
        end = max(n for n, sample in enumerate(wanted) if sample)
        place = next(n for n in range(at, len(take)) if take[n])
        part = take[place : place + end - begin + 1]
        largest = max([largest, *(abs(a - b) for a, b in zip(part, wanted[begin:]))])
        at = place + end - begin + 1
        figures.append(f"{len(part)} of {end - begin + 1}")
    measured.check(f"samples {', '.join(figures)}, largest difference {largest:.1e}", largest < 1e-5)
    made, heard = told(host, "speech.synthesized")[-1]["time"], told(host, "speech.finished")[-1]["time"]
    measured.check(f"made at {made:.2f} s, heard to its end at {heard:.2f} s", heard > made)


@row("O-Notes", "colours, range and times of the visualizer can be set")
def notes(measured):
    path = measured.sound("tone.wav", sine(937.5, math.sqrt(2) * 10 ** (-45 / 20), 48 * 1024))
    host = measured.host(
        f'[graph]\nname = "notes"\nlinks = ["file -> face"]\n[node.file]\ntype = "file"\npath = "{path}"\n'
        'loop = true\n[node.face]\ntype = "visualizer"\nrange_db = -90\nview_time = 1\nspeaking_time = 0\n'
        'level_time = 0\nend_time = 0.5\npreset = "112233-445566"\n'
    )
    live = measured.live(host)
    live.until(lambda: len(live.levels) > 30)
    value = live.newest()[("face", "orb")][0]
    measured.check(f"-45 dB in a range of 90 dB: {value:.5f}", abs(value - 0.5) < 1e-4)
    wish = eventually("how it wants to be drawn", lambda: host.event("visualizer"))
    measured.check(
        "told to whoever draws: "
        + ", ".join(
            f"{key} {wish[key]}" for key in ("preset", "view_time", "speaking_time", "end_time") if key in wish
        ),
        wish.get("view_time") == 1,
    )
