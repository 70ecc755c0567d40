# SPDX-License-Identifier: Apache-2.0
"""The fourth system: what happens to a recording when its source or its server goes."""

import contextlib
import signal
import subprocess
import time

import running
from measuring import RATE, Wave, answer, do, eventually, rms, row, told
from recorder import breaks, codes, find, recorded, states, tape


@contextlib.contextmanager
def shared():
    """Runs that share a JACK server share its /dev/shm."""
    own, running.OWN = running.OWN, []
    try:
        yield
    finally:
        running.OWN = own


def jackd(measured, rate=RATE, server="vgs-jack"):
    """A JACK server that nobody hears. One that was killed may leave what the next one refuses: that is begun again."""
    processes = []

    def answers():
        if not processes or processes[-1].poll() is not None:
            processes.append(
                measured.program("jackd", "-r", "-n", server, "-d", "dummy", "-r", str(rate), "-p", "1024")
            )
        return (
            subprocess.run(["jack_lsp", "-s", server], capture_output=True, check=False).returncode == 0
            and processes[-1]
        )

    return eventually("jackd answers", answers)


SERVER = ["--driver", "jack", "--server", "vgs-jack"]


def player(measured):
    """A JACK client of its own that plays the ramp."""
    return measured.host(
        f'[graph]\nname = "player"\nlinks = ["source -> out"]\n[node.source]\n{codes(measured, 120)}\n'
        '[node.out]\ntype = "output"\nchannels = 1\n',
        *SERVER,
    )


def interrupted(host, reason, known):
    """Waits until a recording is interrupted for this reason, after the states that are known. On a busy machine
    dropouts may do so, too."""
    wanted = f"interrupted: {reason}"
    return eventually(
        f"{wanted}, not {states(host)[known:]}",
        lambda: next((state for state in states(host)[known:] if state.startswith(wanted)), None),
    )


def goes_on(host):
    """Waits until it records again; returns how many states were told."""
    eventually("it records again", lambda: states(host)[-1] == "recording")
    return len(states(host))


@row("R7", "the source goes and comes; the server hangs, is killed, comes back or not; the user's pause; dropouts")
def interruptions(measured):
    microphone = 'type = "input"\nconnect = ["player:out*"]'
    with shared():
        server, source = jackd(measured), player(measured)
        host = tape(measured, "", microphone, *SERVER)
        eventually("it is connected", lambda: host.event("connected"))
        do(host, "take", "start")
        recorded(host, 1)
        source.end()
        figures = [interrupted(host, "nothing is connected", 0)]
        source = player(measured)
        known = goes_on(host)
        seconds = recorded(host, 2)
        begin = time.monotonic()
        server.send_signal(signal.SIGSTOP)
        figures.append(
            interrupted(host, "the JACK server hangs", known) + f" ({time.monotonic() - begin:.2f} s after SIGSTOP)"
        )
        server.send_signal(signal.SIGCONT)
        known = goes_on(host)
        recorded(host, seconds + 1)
        begin = time.monotonic()
        server.kill()
        server.wait()
        figures.append(
            interrupted(host, "the JACK server is gone", known) + f" ({time.monotonic() - begin:.2f} s after kill -9)"
        )
        server = jackd(measured)
        known = goes_on(host)
        recorded(host, seconds + 2)
        measured.check("; ".join(figures) + "; each time it goes on by itself", True)
        do(host, "take", "pause")
        server.kill()
        server.wait()
        server = jackd(measured)
        eventually("the host is back", lambda: find(host.look("status"), "state") in ("running", "ok", "playing"))
        measured.check(f"paused by the user, server killed and back: {states(host)[-1]}", states(host)[-1] == "paused")
        do(host, "take", "resume")
        seconds = recorded(host, seconds + 2.5)
        before = len(told(host, "record.dropped"))
        # A host that is stopped misses what its source plays. On a busy machine the source misses cycles as well, which
        # are told, too, but leave no gap in the ramp.
        for _ in range(4):
            host.process.send_signal(signal.SIGSTOP)
            time.sleep(0.15)
            host.process.send_signal(signal.SIGCONT)
            time.sleep(0.1)
        eventually("dropouts are told", lambda: len(told(host, "record.dropped")) > before)
        goes_on(host)
        recorded(host, seconds + 1)
        result = answer(do(host, "take", "finish"))
        take = Wave(host.folder / "take.wav")
        dropped = told(host, "record.dropped")[before:]
        gaps = breaks(take.samples[0][dropped[0]["at"] - 10 :])
        measured.check(
            f"{len(gaps)} dropouts in a row: {sum(event['frames'] for event in dropped)} frames told, "
            f"{sum(frames for _, frames in gaps)} of the source missing; {len(take.marks)} marks in the file; states "
            + ", ".join(state.split(":")[0] for state in states(host)[known:]),
            take.frames == result["frames"]
            and len(take.marks) >= len(gaps)
            and 0 < sum(frames for _, frames in gaps) <= sum(event["frames"] for event in dropped),
        )
        host.end()
        host = tape(measured, "interruption_limit = 2", microphone, *SERVER)
        eventually("it is connected", lambda: host.event("connected"))
        do(host, "take", "start")
        recorded(host, 1)
        server.kill()
        server.wait()
        finished = eventually("it ends by itself", lambda: host.event("record.finished"))
        take = Wave(host.folder / "take.wav")
        measured.check(
            f"never back, interruption_limit 2: {states(host)[-1]}, the take of {take.frames / RATE:.2f} s is kept",
            finished["frames"] == take.frames >= RATE,
        )


@row("R-Fix", "two channels; `overwrite` with a split and with another rate; takes from another folder")
def fixes(measured):
    host = measured.host("""
[graph]
name = "two"
links = ["left -> take.in_1", "right -> take.in_2"]
[node.left]
type = "tone"
[node.right]
type = "tone"
level_db = -10.4575749
[node.take]
type = "record"
path = "two.wav"
channels = 2
split = 1
overwrite = true
limit = 3.5
keep = true
""")
    eventually("it is complete", lambda: (event := host.event("record.state")) and event["state"] == "finished")
    files = sorted(host.folder.glob("two*.wav"))
    waves = [Wave(path) for path in files]
    both = [rms(channel[: RATE // 2]) for channel in waves[0].samples]
    measured.check(
        "rms " + ", ".join(f"{value:.4f}" for value in both), abs(both[0] - 0.0707) < 2e-4 > abs(both[1] - 0.2121)
    )
    measured.check(
        f"overwrite and split: {len(files)} files, {sum(wave.frames for wave in waves)} frames",
        sum(wave.frames for wave in waves) == 3.5 * RATE,
    )
    listed = host.command("takes", "list").stdout
    measured.check("takes are found from elsewhere", "missing" not in listed and "two" in listed)
    host.end()
    with shared():
        server = jackd(measured)
        host = tape(measured, "overwrite = true", 'type = "tone"', *SERVER)
        do(host, "take", "start")
        seconds = recorded(host, 1)
        server.kill()
        server.wait()
        jackd(measured, 44100)
        eventually("the next file", lambda: len(told(host, "record.started")) == 2)
        recorded(host, seconds + 1)
        do(host, "take", "finish")
        found = {path.name: Wave(path) for path in sorted(host.folder.glob("take*.wav"))}
        measured.check(
            "overwrite and another rate: "
            + ", ".join(f"{name} {wave.rate} Hz {wave.frames / wave.rate:.2f} s" for name, wave in found.items()),
            sorted(wave.rate for wave in found.values()) == [44100, 48000],
        )
