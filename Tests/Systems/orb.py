# SPDX-License-Identifier: Apache-2.0
"""The first system: a voice that speaks, and the orb that shows it."""

import json
import math
import subprocess

from conftest import launch, wait
from measuring import (
    COMMAND, RATE, TALKING_TEXT, Wave, answer, at_level, decibels, do, eventually, rms, row, sine, told)

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
    measured.check("a blank text stops, and nothing begins; `stop` while idle is no error",
                   blank[0] == idle[0] == 200 and len(told(host, "speech.started")) == 4)
    lengths = []
    for rate in (120, 240):
        path = measured.folder / f"{rate}.wav"
        measured.command("speak", TALKING_TEXT, "-o", path, "--rate", rate)
        lengths.append(Wave(path).frames / RATE if Wave(path).rate == RATE else Wave(path).frames / Wave(path).rate)
    measured.check(f"{lengths[0]:.2f} s at rate 120, {lengths[1]:.2f} s at 240", 1.6 < lengths[0] / lengths[1] < 2.4)
    spoken = {tag: do(host, "voice", "speak", text="One.", language=tag)[0] for tag in ("fr-FR", "en-ZZ", "xx-YY")}
    fast = do(host, "voice", "speak", text="One.", rate=9000)
    measured.check(f"languages {spoken}; rate 9000: {answer(fast)}",
                   spoken["fr-FR"] == 200 and spoken["xx-YY"] != 200 and fast[0] != 200)


@row("O2", "series `orb` of ten signals against (dB + 50) / 50 of 1024 frames")
def level(measured):
    def amplitude(db):
        return 10 ** (db / 20)

    frames = 48 * 1024
    root = math.sqrt(2)
    signals = {
        "silence": [0.0] * frames, "full scale": sine(937.5, 1, frames), "-20 dBFS": sine(937.5, 0.1, frames),
        "square 0.5": [0.5 if n // 32 % 2 else -0.5 for n in range(frames)], "DC 0.05": [0.05] * frames,
        "twice full scale": sine(937.5, 2, frames)}
    for db in (-25, -41.3, -49, -55):
        signals[f"RMS {db} dB"] = sine(937.5, root * amplitude(db), frames)
    links, nodes = [], ""
    for number, (name, samples) in enumerate(signals.items()):
        path = measured.sound(f"{number}.wav", samples)
        links.append(f'"file{number} -> face{number}"')
        nodes += f'[node.file{number}]\ntype = "file"\npath = "{path}"\nloop = true\n[node.face{number}]\ntype = "visualizer"\n'
    host = measured.host(f'[graph]\nname = "levels"\nlinks = [{", ".join(links)}]\n{nodes}')
    live = measured.live(host)
    live.until(lambda: len(live.levels) > 100)
    worst, figures = 0, []
    for number, (name, samples) in enumerate(signals.items()):
        root_mean = rms(samples[:1024])
        expected = min(max((decibels(max(root_mean, 2e-5)) + 50) / 50, 0), 1)
        values = [value[0] for message in live.levels[-60:]
                  if (value := live.rows(message)[1].get((f"face{number}", "orb")))]
        worst = max(worst, *(abs(value - expected) for value in values))
        figures.append(f"{name} {values[-1]:.5f}")
    times = [live.rows(message)[0] for message in live.levels]
    steps = sorted(after - before for before, after in zip(times, times[1:]))
    measured.check(f"{', '.join(figures)}; largest error {worst:.0e}", worst < 1e-4)
    each = 1 / steps[len(steps) // 2]
    measured.check(f"{each:.1f} values a second", abs(each - 60) < 1.5)


def core(line):
    """Radius of the core in a line through the centre: the middle of the stroke, which lies on its edge."""
    half = line[len(line) // 2:]
    # From where the gradient is dark enough outwards: the stroke is brighter.
    inner = next(n for n in range(100, 260) if half[n] <= 147 < half[n + 1])
    rise = inner + (147 - half[inner]) / (half[inner + 1] - half[inner]) + 0.5
    # The stroke is a fortieth of the radius of a core of this size wide.
    return rise / (1 - 1 / 80)


def ring(line, radius):
    """Radius of the ring: the brightest that is narrow, outside the core."""
    half = line[len(line) // 2:]
    steps = [(half[n + 1] - half[n], n) for n in range(round(radius) + 8, len(half) - 1)]
    (up, rise), (down, fall) = max(steps), min(steps)
    return (rise + fall + 2) / 2 if up > 8 and down < -8 else None


@row("O3", "films of a step up and down at 60 frames a second: radius, glow, height of a wave")
def easing(measured):
    path = measured.sound("step.wav", [0.0] * RATE + at_level(0.5398, 2 * RATE) + [0.0] * (2 * RATE))
    film = measured.film(path, "orb", "576x576", 60)
    lines = [film.line(frame, 288) for frame in film.grey()]
    radii = [core(line) for line in lines]
    low, high = radii[30], radii[150]
    view = [(radius - low) / (high - low) for radius in radii]
    start = next(n for n, value in enumerate(view) if value > 0.02)
    rise = view[start:start + 12]
    full = next(n for n, value in enumerate(rise) if value > 0.985)
    measured.check("radius " + " ".join(f"{value:.2f}" for value in rise[:full + 1]) + f" in {(full + 1) / 60 * 1000:.0f} ms",
                   8 <= full + 1 <= 12 and rise[full // 2] > 0.5 and start - 60 <= 4)
    glow = [line[288 + round(radius) + 14] for line, radius in zip(lines, radii)]
    most = glow[150]
    half = next(n for n in range(start, 150) if glow[n] > most / 2) - start
    whole = next(n for n in range(start, 150) if glow[n] > 0.97 * most) - start
    measured.check(f"glow: half after {half / 60:.2f} s, whole after {whole / 60:.2f} s", 0.2 < half / 60 < 0.4 and 0.45 < whole / 60 < 0.7)
    fall = next(n for n in range(180, len(view)) if view[n] < 0.02) - next(n for n in range(180, len(view)) if view[n] < 0.98)
    rest = next(n for n in range(180, len(view)) if glow[n] < 2)
    measured.check(f"at the end the radius falls in {fall / 60 * 1000:.0f} ms, the light is gone {rest / 60 - 3:.2f} s after the sound",
                   6 <= fall <= 16 and rest / 60 - 3 < 1.6)
    from wave import curve
    wave = measured.film(path, "wave", "800x400", 60)
    heights = [curve(wave, frame)[0] if 58 <= n < 80 else 0 for n, frame in enumerate(wave.grey()) if n < 80]
    heights = [height / heights[79] for height in heights]
    steps = [height for height in heights[58:] if 0.02 < height < 0.985]
    measured.check("height of the wave " + " ".join(f"{height:.2f}" for height in steps), 2 <= len(steps) <= 5)


@row("O4", "films of the orb at 576x576, twice its size, of four levels; the canvas in Chromium")
def shape(measured):
    figures, worst, rings = [], 0, 0
    for value in (0, 0.174, 0.5, 0.9398):
        film = measured.film(measured.sound(f"{value}.wav", at_level(value, 2 * RATE)), "orb", "576x576", 60)
        frames = list(film.grey())
        line = film.line(frames[100], 288)
        radius, expected = core(line), 160 * (0.85 + 0.5 * value)
        around, wanted = ring(line, radius), 160 * (1 + 0.7 * value)
        worst = max(worst, abs(radius - expected))
        rings = max(rings, abs(around - wanted)) if value and around else rings if not value and not around else 99
        figures.append(f"{value:g}: core {radius:.1f} for {expected:.1f}, ring " + (f"{around:.1f} for {wanted:.1f}" if around else "none"))
        if value == 0.5:
            pixels = film.colors(1.6)
            middle = [tuple(pixels[3 * (288 * 576 + 288 + n):][:3]) for n in (2, 98, 168)]
    measured.check("; ".join(figures), worst < 2 and rings < 3)
    wanted = [(0x64, 0xD2, 0xFF), (0x0A, 0x84, 0xFF), (0xBF, 0x5A, 0xF2)]
    far = max(abs(a - b) for one, other in zip(middle, wanted) for a, b in zip(one, other))
    measured.check("colours " + " ".join("%02X%02X%02X" % one for one in middle), far < 40)
    browser = launch(measured.playwright)
    measured.stack.callback(browser.close)
    path = measured.sound("half.wav", at_level(0.5, 48 * 1024))
    host = measured.host(f'[graph]\nname = "orb"\nlinks = ["file -> face"]\n[node.file]\ntype = "file"\npath = "{path}"\n'
                         'loop = true\n[node.face]\ntype = "visualizer"\n')
    page = browser.new_page(viewport={"width": 900, "height": 700})
    page.goto(host.link)
    radius = eventually("the orb in the page is as large as it should be", lambda: canvas(page))
    measured.check(f"Chromium: core {radius:.4f} of the picture, {160 * 1.1 / 576:.4f} by the formula", True)


def canvas(page):
    """The core's radius as a share of the smaller side of the page's canvas, once it is right."""
    shares = page.evaluate("""() => { const all = document => [...document.querySelectorAll('*')].flatMap(e =>
        [e, ...(e.shadowRoot ? all(e.shadowRoot) : [])])
      return all(document).filter(e => e.localName === 'canvas' && e.width > 100 && e.offsetParent !== null).flatMap(c => {
        let d; try { d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data } catch { return [] }
        const y = c.height >> 1; let last = 0
        for (let x = c.width >> 1; x < c.width; x++) if (d[4 * (y * c.width + x) + 3] > 250) last = x + 1 - c.width / 2
        return last / Math.min(c.width, c.height) }) }""")
    return next((share for share in shares if abs(share - 160 * 1.1 / 576) < 0.004), None)


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
    parts = [decibels(math.sqrt(2) * rms(samples[n:n + 4800])) for n in range(0, len(samples) - 4800, 4800)]
    measured.check(f"a tone at {parts[-1]:.2f} dB is at {min(parts):.2f} dB, then again as before",
                   abs(min(parts) + 35) < 0.1 and abs(parts[-1] + 20) < 0.1)
    server = PipeWire(measured)
    players = {name: server.play(name) for name in ("music", "notification")}
    eventually("both play", lambda: all(server.volumes().get(name) == 1 for name in players), 120)
    say = measured.program(
        COMMAND, "say", TALKING_TEXT * 4, "--alone", "--duck-others", "--driver", "dummy", environment=server.environment)
    low = eventually("the music is lower", lambda: abs(decibels((volumes := server.volumes())["music"]) + 12) < 0.1 and volumes, 120)
    say.terminate()
    eventually("it is given back", lambda: server.volumes()["music"] == 1, 120)
    measured.check(f"PipeWire: music at {decibels(low['music']):.1f} dB, a notification at {decibels(low['notification']):.1f} dB, "
                   "both at 0 dB after `say`", abs(decibels(low["music"]) + 12) < 0.1 and low["notification"] == 1)


class PipeWire:
    """A PipeWire without a session manager, whose sink plays into nothing."""

    def __init__(self, measured):
        self.measured = measured
        folder = measured.folder / "pipewire"
        folder.mkdir(mode=0o700)
        modules = " ".join(f"{{ name = libpipewire-module-{name} }}" for name in (
            "protocol-native", "profiler", "metadata", "spa-node-factory", "client-node", "access", "adapter", "link-factory"))
        (folder / "pipewire.conf").write_text(f"""
            context.properties = {{ core.daemon = true core.name = pipewire-0 default.clock.rate = 48000 }}
            context.spa-libs = {{ audio.convert.* = audioconvert/libspa-audioconvert support.* = support/libspa-support }}
            context.modules = [ {modules} ]
            context.objects = [
              {{ factory = metadata args = {{ metadata.name = default }} }}
              {{ factory = spa-node-factory args = {{ factory.name = support.node.driver node.name = Dummy-Driver
                 node.group = pipewire.dummy priority.driver = 20000 }} }}
              {{ factory = adapter args = {{ factory.name = support.null-audio-sink node.name = room media.class = Audio/Sink
                 object.linger = true audio.position = [ FL FR ] priority.driver = 30000
                 adapter.auto-port-config = {{ mode = dsp monitor = true position = preserve }} }} }} ]""")
        self.environment = dict(measured.environment(), XDG_RUNTIME_DIR=str(folder), PIPEWIRE_RUNTIME_DIR=str(folder))
        measured.program("pipewire", "-c", str(folder / "pipewire.conf"), environment=self.environment)
        self.tone = measured.sound("long.wav", [0.1, -0.1] * 1_200_000, 8000)
        eventually("PipeWire answers", lambda: b"room" in self.dump())

    def dump(self):
        return subprocess.run(["pw-dump"], env=self.environment, capture_output=True, timeout=30, check=False).stdout

    def play(self, name):
        return self.measured.program("pw-cat", "-p", "--media-role", name.capitalize(), "-P", f"{{ node.name = {name} }}",
                                     str(self.tone), environment=self.environment)

    def volumes(self):
        """Of each stream that plays, by its name. A second list may follow the first."""
        found = {}
        for each in first(self.dump()):
            info = each.get("info") or {}
            if (info.get("props") or {}).get("media.class") == "Stream/Output/Audio":
                for props in (info.get("params") or {}).get("Props", [])[:1]:
                    found[info["props"]["node.name"]] = props.get("volume")
        return found


def first(text):
    """The first list of what may be two."""
    return json.JSONDecoder().raw_decode(text.decode() or "[]")[0]


@row("O-Fix", "two texts that wait, recorded live, against the same texts in files")
def whole(measured):
    host = measured.host(VOICE.replace('"voice -> level -> out"', '"voice -> take", "voice -> out"').replace(
        '[node.level]\ntype = "meter"', '[node.take]\ntype = "record"\npath = "take.wav"').replace(
        'type = "tts"', 'type = "tts"\nqueue = true'))
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
        part = take[place:place + end - begin + 1]
        largest = max([largest, *(abs(a - b) for a, b in zip(part, wanted[begin:]))])
        at = place + end - begin + 1
        figures.append(f"{len(part)} of {end - begin + 1}")
    measured.check(f"samples {', '.join(figures)}, largest difference {largest:.1e}", largest < 1e-5)
    made, heard = told(host, "speech.synthesized")[-1]["time"], told(host, "speech.finished")[-1]["time"]
    measured.check(f"made at {made:.2f} s, heard to its end at {heard:.2f} s", heard > made)


@row("O-Notes", "colours, range and times of the visualizer can be set")
def notes(measured):
    path = measured.sound("tone.wav", sine(937.5, math.sqrt(2) * 10 ** (-45 / 20), 48 * 1024))
    host = measured.host(f'[graph]\nname = "notes"\nlinks = ["file -> face"]\n[node.file]\ntype = "file"\npath = "{path}"\n'
                         'loop = true\n[node.face]\ntype = "visualizer"\nrange_db = -90\nview_time = 1\nspeaking_time = 0\n'
                         'level_time = 0\nend_time = 0.5\npreset = "112233-445566"\n')
    live = measured.live(host)
    live.until(lambda: len(live.levels) > 30)
    value = live.newest()[("face", "orb")][0]
    measured.check(f"-45 dB in a range of 90 dB: {value:.5f}", abs(value - 0.5) < 1e-4)
    wish = eventually("how it wants to be drawn", lambda: host.event("visualizer"))
    measured.check("told to whoever draws: " + ", ".join(f"{key} {wish[key]}" for key in (
        "preset", "view_time", "speaking_time", "end_time") if key in wish), wish.get("view_time") == 1)
