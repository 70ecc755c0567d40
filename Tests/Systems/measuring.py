# SPDX-License-Identifier: Apache-2.0
"""What the five systems have in common: rows and their verdicts, runs, sounds, films and what a run tells."""

import array
import contextlib
import json
import math
import os
import pathlib
import struct
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Web"))
from live import Live  # noqa: E402
from running import COMMAND, Running, eventually  # noqa: E402, F401

RATE = 48000
ROWS = []
TALKING_TEXT = "Ladies and gentlemen, the train to Berlin leaves from platform four. Please stand back. "


def row(name, what):
    """Makes a function a row of the table: it checks, and its checks are the figure and the verdict."""

    def add(function):
        ROWS.append((name, what, function))
        return function

    return add


class Measurement:
    """One row while it is measured: a folder of its own, and all that it has begun, which ends with it."""

    def __init__(self, folder, playwright=None):
        folder.mkdir(mode=0o700)
        self.folder = folder
        self.playwright = playwright
        self.figures = []
        self.verdict = "WORKS"
        self.stack = contextlib.ExitStack()
        self.count = 0

    def check(self, figure, good, partly=False):
        """A figure that is right or not. With `partly` one that is not leaves the rest of the row standing."""
        figure = figure.replace(f"{self.folder}/", "")
        self.figures.append(figure if good else f"WRONG: {figure}")
        if not good and self.verdict != "FAILS":
            self.verdict = "PARTLY" if partly else "FAILS"

    def say(self, figure, verdict=None):
        """A figure without a right and a wrong."""
        self.figures.append(figure)
        self.verdict = verdict or self.verdict

    def host(self, graph, *options, folder=None):
        """A run of a graph; it ends with the row, killed if nothing else helps."""
        self.count += 1
        host = Running(folder or self.folder / f"run{self.count}", graph, *options)
        self.stack.callback(end, host.process)
        return host

    def live(self, host, *series):
        live = Live(host)
        self.stack.callback(live.close)
        live.call("events")
        if series:
            live.call("ask", series=list(series))
        return live

    def program(self, *command, environment=None, **given):
        """Another program, which ends with the row."""
        process = subprocess.Popen(
            command,
            env=environment or self.environment(),
            stdout=given.pop("stdout", subprocess.DEVNULL),
            stderr=subprocess.DEVNULL,
            **given,
        )
        self.stack.callback(end, process)
        return process

    def environment(self):
        """For programs without a run: folders of the row."""
        for name in ("run", "data"):
            (self.folder / name).mkdir(exist_ok=True, mode=0o700)
        return dict(os.environ, XDG_RUNTIME_DIR=str(self.folder / "run"), XDG_DATA_HOME=str(self.folder / "data"))

    def command(self, *arguments, fails=False):
        """Runs a command of voicegraph to its end."""
        done = subprocess.run(
            [COMMAND, *map(str, arguments)],
            env=self.environment(),
            cwd=self.folder,
            capture_output=True,
            text=True,
            timeout=240,
            check=False,
        )
        assert fails or done.returncode == 0, done.stderr
        return done

    def film(self, source, style, size, fps, *options):
        """Makes a film; returns its frames, each as grey bytes line by line."""
        self.count += 1
        film = self.folder / f"film{self.count}.mp4"
        self.command("video", source, "-o", film, "--style", style, "--size", size, "--fps", fps, *options)
        width, height = map(int, size.split("x"))
        return Frames(film, width, height)

    def sound(self, name, samples, rate=RATE):
        path = self.folder / name
        write_wav(path, samples, rate)
        return path


def end(process):
    """Ends a process, with patience, and then without."""
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


class Frames:
    """Frames of a film, decoded by ffmpeg one after another."""

    def __init__(self, film, width, height):
        self.film, self.width, self.height = film, width, height

    def read(self, kind, bytes_each, *options):
        size = self.width * self.height * bytes_each
        decoder = subprocess.Popen(
            [
                "ffmpeg",
                "-v",
                "error",
                *options[:2],
                "-i",
                self.film,
                *options[2:],
                "-f",
                "rawvideo",
                "-pix_fmt",
                kind,
                "-",
            ],
            stdout=subprocess.PIPE,
        )
        with decoder:
            while len(frame := decoder.stdout.read(size)) == size:
                yield frame

    def grey(self):
        return self.read("gray", 1)

    def colors(self, time):
        """A frame at a time, with red, green and blue."""
        return next(iter(list(self.read("rgb24", 3, "-ss", str(time), "-frames:v", "1"))))

    def line(self, frame, y):
        return frame[y * self.width : (y + 1) * self.width]


def write_wav(path, samples, rate=RATE):
    """32-bit float, one channel."""
    data = array.array("f", samples).tobytes()
    head = struct.pack(
        "<4sI4s4sIHHIIHH4sI",
        b"RIFF",
        36 + len(data),
        b"WAVE",
        b"fmt ",
        16,
        3,
        1,
        rate,
        4 * rate,
        4,
        32,
        b"data",
        len(data),
    )
    path.write_bytes(head + data)


class Wave:
    """A WAV file: rate, channels and samples of each channel; 32-bit float and 16-bit."""

    def __init__(self, path):
        content = pathlib.Path(path).read_bytes()
        at = 12
        self.kinds = []
        while at + 8 <= len(content):
            kind, size = content[at : at + 4], struct.unpack_from("<I", content, at + 4)[0]
            body = content[at + 8 : at + 8 + size]
            self.kinds.append(kind.decode("latin-1"))
            if kind == b"fmt ":
                _, self.channels, self.rate, _, _, bits = struct.unpack_from("<HHIIHH", body)
            elif kind == b"cue ":
                # Where something is missing.
                self.marks = [
                    struct.unpack_from("<I", body, 4 + 24 * n + 20)[0] for n in range(struct.unpack_from("<I", body)[0])
                ]
            elif kind == b"data":
                width = bits // 8
                whole = array.array("f" if bits == 32 else "h", body[: len(body) // width * width])
                self.samples = [whole[n :: self.channels] for n in range(self.channels)]
            at += 8 + size + size % 2
        self.frames = len(self.samples[0])


def sine(frequency, amplitude, frames, rate=RATE):
    return [amplitude * math.sin(2 * math.pi * frequency * n / rate) for n in range(frames)]


def rms(samples):
    return math.sqrt(sum(sample * sample for sample in samples) / len(samples))


def decibels(value):
    return 20 * math.log10(max(value, 1e-12))


def at_level(level, frames):
    """A sine of 20 whole periods in 1024 frames, which is so high on the scale of an orb."""
    return sine(937.5, math.sqrt(2) * 10 ** ((50 * level - 50) / 20) if level else 0, frames)


def told(host, name, node=None):
    """Events of a name so far, of one node."""
    return [event for event in host.events(name) if node in (None, event.get("node"))]


def do(host, node, action, **arguments):
    """Does an action: status of HTTP and answer."""
    return host.ask("api/do", {"node": node, "action": action, "arguments": arguments})


def answer(given):
    """What an answer says was returned, or why it was refused."""
    status, body = given
    return body.get("results", {}) if status == 200 else body.get("error", body)["message"]


def words(value):
    return json.dumps(value, ensure_ascii=False)


def table(results):
    """The rows as a table of Markdown."""
    print("\n| Row | Check | Measured | Verdict |\n|---|---|---|---|")
    for name, what, figure, verdict in results:
        print(f"| {name} | {what} | {figure.replace('|', '/')} | {verdict} |")
    verdicts = [verdict for *_, verdict in results]
    print(
        "\n" + ", ".join(f"{verdicts.count(kind)} {kind}" for kind in ("WORKS", "PARTLY", "FAILS", "not measured here"))
    )
