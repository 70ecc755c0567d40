# SPDX-License-Identifier: Apache-2.0
"""The fourth system: a recorder. What it records is a ramp of which every sample says where in time it belongs."""

import json
import math
import subprocess
import threading

from measuring import COMMAND, RATE, Wave, answer, do, eventually, rms, row, sine, told, write_wav
from text import speech

# A step that 32-bit floats hold exactly, for five minutes.
STEP = 2.0**-24
TAPE = """
[graph]
name = "tape"
links = ["source -> take", "source -> clock"]
[node.clock]
type = "meter"
[node.source]
{source}
[node.take]
type = "record"
path = "take.wav"
autostart = false
{settings}
"""


def tape(measured, settings="", source='type = "tone"', *options):
    return measured.host(TAPE.format(settings=settings, source=source), *options)


def codes(measured, seconds=60):
    """A node that plays the ramp."""
    path = measured.folder / "codes.wav"
    write_wav(path, (n * STEP for n in range(1, seconds * RATE)))
    return f'type = "file"\npath = "{path}"'


def breaks(samples):
    """Where the ramp goes on elsewhere: place in the file, and how many frames are missing."""
    found, before = [], None
    for n, sample in enumerate(samples):
        code = round(sample / STEP)
        if before is not None and code != before + 1:
            found.append((n, code - before - 1))
        before = code
    return found


def states(host):
    return [
        event["state"] + (": " + event["reason"] if event.get("reason") else "")
        for event in told(host, "record.state", "take")
    ]


def recorded(host, seconds):
    """Waits until so much is recorded."""
    return eventually(
        f"{seconds} s are recorded", lambda: (now := answer(do(host, "take", "levels"))["seconds"]) >= seconds and now
    )


@row("R1", "start, pause, resume, finish, discard in each state")
def actions(measured):
    host = tape(measured)
    order = ["finish", "pause", "start", "start", "pause", "pause", "start", "resume", "resume", "finish", "finish"]
    wanted = [False, False, True, False, True, False, False, True, False, True, False]
    given = [do(host, "take", name) for name in order]
    measured.check(
        "; ".join(f"{name}: {answer(one)}" for name, one in zip(order, given) if one[0] != 200),
        [one[0] == 200 for one in given] == wanted,
    )
    before = sorted(path.name for path in host.folder.glob("*.wav"))
    do(host, "take", "start")
    recorded(host, 0.3)
    do(host, "take", "discard")
    after = sorted(path.name for path in host.folder.glob("*.wav"))
    measured.check(f"after finish and discard there is {', '.join(after)}", before == after == ["take.wav"])
    again = host.command("ctl", "do", "take", "pause")
    measured.check(f"ctl: {again.stderr.strip()}", again.returncode == 1)


@row("R2", "rate, channels and block: a tone of 1234 Hz into a file of 11025 Hz, a server of 44100 Hz and 4096 frames")
def shape(measured):
    host = tape(
        measured,
        "rate = 11025\nlimit = 2",
        'type = "tone"\nfrequency = 1234\nchannels = 2',
        "--set",
        "driver.rate=44100",
        "--set",
        "driver.block=4096",
        "--set",
        "node.take.channels=2",
        "--set",
        "node.take.file_channels=1",
    )
    do(host, "take", "start")
    eventually("it is complete", lambda: host.event("record.finished"))
    take = Wave(host.folder / "take.wav")
    middle = take.samples[0][2000:-2000]
    rises = [
        n + middle[n] / (middle[n] - middle[n + 1]) for n in range(len(middle) - 1) if middle[n] < 0 <= middle[n + 1]
    ]
    frequency = (len(rises) - 1) / (rises[-1] - rises[0]) * take.rate
    level = rms(middle[round(rises[0]) : round(rises[-1])])
    measured.check(
        f"file {take.rate} Hz, {take.channels} channel, {frequency:.2f} Hz, rms {level:.6f}",
        (take.rate, take.channels) == (11025, 1) and abs(frequency - 1234) < 0.05 and abs(level - 0.0707107) < 1e-4,
    )
    status = host.look("status")
    found = (find(status, "rate"), find(status, "block"))
    measured.check(f"server {found[0]:g} Hz, {found[1]} frames", (found[0], found[1]) == (44100, 4096))
    measured.say("what subscribers in Swift get is not measured here")


def find(value, key):
    """A value of this key, however deep."""
    if isinstance(value, dict):
        return (
            value[key]
            if key in value
            else next((found for one in value.values() if (found := find(one, key)) is not None), None)
        )
    return (
        next((found for one in value if (found := find(one, key)) is not None), None)
        if isinstance(value, list)
        else None
    )


class Listener:
    """`ctl events`, read by a thread."""

    def __init__(self, measured, host, *names):
        self.events = []
        self.process = measured.program(
            COMMAND, "ctl", "events", *names, environment=host.environment, stdout=subprocess.PIPE
        )
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.process.stdout:
            self.events.append(json.loads(line))

    def all(self, name):
        return [event for event in list(self.events) if event["event"] == name]


@row("R3", "twelve `ctl events` at once, one that comes late, and their end")
def subscribers(measured):
    host = tape(measured)
    names = ["record.state", "record.levels", "record.started", "record.finished"]
    listeners = [Listener(measured, host, *names) for _ in range(12)]
    eventually("all listen", lambda: all(one.all("record.state") for one in listeners))
    do(host, "take", "start")
    recorded(host, 2)
    late = Listener(measured, host, *names)
    state, levels = eventually(
        "the late one has both",
        lambda: late.all("record.state")[:1]
        and late.all("record.levels")
        and (late.all("record.state")[0], late.all("record.levels")[0]),
    )
    measured.check(
        f"2 s later: {state['state']}, {state['seconds']:.2f} s, {len(levels['values'])} levels",
        state["state"] == "recording" and state["seconds"] > 1.8 and len(levels["values"]) >= 18,
    )
    do(host, "take", "finish")
    eventually("all know the end", lambda: all(one.all("record.finished") for one in [*listeners, late]))
    streams = [
        [event for event in one.events if event["event"] in ("record.started", "record.finished")] for one in listeners
    ]
    measured.check(
        f"{len(listeners)} streams, {len({json.dumps(stream) for stream in streams})} different",
        all(stream == streams[0] for stream in streams),
    )
    host.end()
    eventually("all end", lambda: all(one.process.poll() is not None for one in [*listeners, late]))
    after = host.command("ctl", "events")
    measured.check(f"with the run all end; after it: rc {after.returncode}", after.returncode != 0)


@row("R4", "levels of six tones of 2 s each, and the history")
def levels(measured):
    wanted = [-6, -20, -41.3, -63.7, -100, -150]
    samples = [sample for db in wanted for sample in sine(937.5, math.sqrt(2) * 10 ** (db / 20), 2 * RATE)] + [
        0.0
    ] * RATE
    host = tape(
        measured,
        "",
        f'type = "file"\npath = "{measured.sound("six.wav", samples)}"',
        "--set",
        "node.take.autostart=true",
    )
    live = measured.live(host)
    values = []
    live.until(lambda: (event := host.event("record.levels")) and event["seconds"] > 9.5)
    early = host.event("record.levels")
    live.until(lambda: (event := host.event("record.levels")) and event["seconds"] > 12.5)
    late = answer(do(host, "take", "levels"))
    values = [*early["values"], *late["values"]]
    found = [min(values, key=lambda value: abs(value - max(db, -120))) for db in wanted]
    counts = [sum(abs(value - max(db, -120)) < 0.05 for value in values) for db in wanted]
    measured.check(
        " ".join(f"{value:.2f}" for value in found) + f" dB, {min(counts)} or more of each",
        all(abs(value - max(db, -120)) < 0.02 for value, db in zip(found, wanted)) and min(counts) >= 10,
    )
    measured.check(f"{len(late['values'])} values after {late['seconds']:.1f} s", len(late["values"]) == 100)


@row("R5", "time codes around a pause, and the duration meanwhile")
def duration(measured):
    host = tape(measured, "", codes(measured))
    do(host, "take", "start")
    recorded(host, 1.5)
    do(host, "take", "pause")
    one = answer(do(host, "take", "levels"))["seconds"]
    live = measured.live(host)
    begin = live.rows(live.until(lambda: live.levels)[-1])[0]
    live.until(lambda: live.rows(live.levels[-1])[0] > begin + 1)
    two = answer(do(host, "take", "levels"))["seconds"]
    do(host, "take", "resume")
    recorded(host, two + 1.5)
    result = answer(do(host, "take", "finish"))
    take = Wave(host.folder / "take.wav")
    found = breaks(take.samples[0])
    measured.check(f"paused: {one:.3f} s, a second later {two:.3f} s", one == two)
    measured.check(
        f"{len(found)} break, {found[0][0] / RATE:.3f} s before it, {(take.frames - found[0][0]) / RATE:.3f} s "
        f"after it, {found[0][1] / RATE:.3f} s left out",
        len(found) == 1 and abs(found[0][0] / RATE - one) < 0.03 and found[0][1] > RATE,
    )
    measured.check(f"told {result['frames']} frames, in the file {take.frames}", result["frames"] == take.frames)


@row("R6", "limits set before, changed, cleared and passed while it records")
def limits(measured):
    host = tape(measured, "overwrite = true")
    figures = []

    def ended(count):
        return eventually(
            "it ends", lambda: len(told(host, "record.finished")) == count and told(host, "record.finished")[-1]
        )

    do(host, "take", "start", limit=2)
    recorded(host, 0.5)
    do(host, "take", "limit", seconds=4)
    figures.append(ended(1)["frames"])
    do(host, "take", "start", limit=1)
    do(host, "take", "limit")
    now = recorded(host, 1.5)
    do(host, "take", "limit", seconds=1)
    figures.append(ended(2)["frames"])
    measured.check(
        f"2 s set to 4: {figures[0]} frames; 1 s cleared: goes on ({now:.2f} s); "
        f"then 1 s: ends at {figures[1] / RATE:.2f} s",
        figures[0] == 4 * RATE and now >= 1.5 and abs(figures[1] / RATE - now) < 1,
    )
    order = [
        json.loads(line)["event"]
        for line in list(host.lines)
        if '"event":"record.limit"' in line or '"event":"record.finished"' in line
    ]
    measured.check(", ".join(order), order == ["record.limit", "record.finished"] * 2)


@row("R8", "a file with words, drawn, transcribed and recorded at once")
def together(measured):
    host = measured.host(f"""
[graph]
name = "together"
links = ["source -> face", "source -> ear", "source -> take"]
[node.source]
type = "file"
path = "{speech(measured)}"
[node.face]
type = "visualizer"
[node.ear]
type = "transcribe"
[node.take]
type = "record"
path = "take.wav"
""")
    live = measured.live(host)
    final = live.until(
        lambda: next(
            (event for event in live.events if event["event"] == "transcribe.final" and event["text"].strip()), None
        )
    )
    most = max(live.rows(message)[1].get(("face", "orb"), [0])[0] for message in live.levels)
    result = answer(do(host, "take", "finish"))
    take = Wave(host.folder / "take.wav")
    partials = sum(event["event"] == "transcribe.partial" for event in live.events)
    measured.check(
        f"{partials} partial texts, final {final['text']!r}, orb up to {most:.3f}, file of {take.frames} frames",
        "ten" in final["text"].lower() or "10" in final["text"],
    )
    measured.check(f"told {result['frames']} frames", result["frames"] == take.frames and most > 0.3 and partials > 0)


@row("R9", "time of a measurement against a plain loop")
def speed(measured):
    measured.say('it cannot be measured from outside: see make bench ARGS="--only meter"', "not measured here")


@row("R-Shapes", "kinds of errors by HTTP and `ctl`, and modes of a session")
def shapes(measured):
    host = tape(measured)
    kinds = [
        do(host, "take", name)[1].get("error", {}).get("kind")
        for name in ("finish", "start", "start", "resume", "pause", "pause")
    ]
    wanted = ["not-recording", None, "already-recording", "not-paused", None, "already-paused"]
    measured.check("kinds " + ", ".join(kind for kind in kinds if kind), kinds == wanted)
    done = measured.command(
        "record", "take.ogg", "--mode", "measurement", "--driver", "dummy", "--limit", 1, fails=True
    )
    measured.check(f"measurement into .ogg: {done.stderr.strip().splitlines()[0]}", done.returncode != 0)
    for mode in ("measurement", "voice", "spoken"):
        measured.command("record", f"{mode}.wav", "--mode", mode, "--driver", "dummy", "--limit", 1)
        take = Wave(measured.folder / f"{mode}.wav")
        measured.check(f"{mode}: {take.frames} frames", abs(take.frames - RATE) <= 1)
    measured.say("streams that `start` returns are of the Swift API, and not measured here")
