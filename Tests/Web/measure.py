# SPDX-License-Identifier: Apache-2.0
"""What the web face costs: `make web-measure` prints it. No test: the figures are those of a machine and a moment."""

import json
import os
import pathlib
import struct
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from playwright.sync_api import sync_playwright  # noqa: E402

from conftest import launch  # noqa: E402
from live import Live  # noqa: E402
from running import ROOT, TALKING, Running, eventually  # noqa: E402

LOOP = """
[graph]
name = "loop"
links = ["mic -> speakers"]
[node.mic]
type = "web-input"
[node.speakers]
type = "web-output"
channels = 1
"""


def line(what, value):
    print(f"{what:<56} {value}", flush=True)


def fan_out(folder):
    """Processor time and cycles that were missed, with so many clients that read all."""
    host = Running(folder, TALKING.replace("tone -> quiet -> out", "tone -> face"))
    base = None
    for count in (0, 1, 10, 100):
        # The clients are a process of their own, so that what they take is not counted.
        reader = subprocess.Popen([sys.executable, "-c", f"""
import sys, threading; sys.path.insert(0, {str(pathlib.Path(__file__).parent)!r})
from live import Live
class H: url, token = {host.url!r}, {host.token!r}
def read():
    live = Live(H); live.call('events'); live.call('ask', series=['face.bands'])
    while True: live.socket.recv()
for _ in range({count}): threading.Thread(target=read, daemon=True).start()
import time; time.sleep(600)"""])
        time.sleep(3)
        before, dropouts, start = host.seconds(), len(host.events("dropout")), time.monotonic()
        time.sleep(8)
        share = (host.seconds() - before) / (time.monotonic() - start)
        missed = len(host.events("dropout")) - dropouts
        reader.kill()
        reader.wait()
        base = share if base is None else base
        each = f", {1000 * (share - base) / count:.2f} per mille each" if count else ""
        line(f"{count} clients: processor time, missed cycles", f"{100 * share:.1f} % of a core{each}; {missed}")
    host.end()


def round_trip(folder):
    """From a typed message to the first text of the reply, as a client sees it."""
    host = Running(folder)
    live = Live(host)
    live.call("events")
    times = []
    for number in range(20):
        live.events.clear()
        start = time.monotonic()
        live.count += 1
        live.socket.send(json.dumps({"id": live.count, "call": "do", "node": "agent", "action": "send",
                                     "arguments": {"text": f"hello {number}"}}))
        live.until(lambda: any(event["event"] in ("agent.partial", "agent.final") and event.get("text")
                               for event in live.events))
        times.append(time.monotonic() - start)
    line("a typed message until its reply begins, median", f"{1000 * sorted(times)[10]:.1f} ms")
    live.close()
    host.end()


def mouth_to_ear(folder):
    """An impulse into web-input until it comes out of web-output, on this machine."""
    host = Running(folder, LOOP)
    live = Live(host)
    streams = [live.call("audio", node=node)["stream"] for node in ("mic", "speakers")]
    position, sent, times, heard = 0, [], [], 0
    start = time.monotonic()
    lock = threading.Lock()

    def speak():
        nonlocal position
        for turn in range(1200):
            frames = [0.0] * 480
            if turn % 50 == 25:
                frames[0] = 0.9
                sent.append(time.monotonic())
            message = struct.pack("<BBHI", 2, streams[0], 1, position) + struct.pack("<480f", *frames)
            with lock:
                live.socket.send(message)
                if turn % 25 == 0:
                    live.socket.send(struct.pack("<BBHI", 3, streams[1], 0, 1440))
            position += 480
            time.sleep(max(0, start + (turn + 1) * 0.01 - time.monotonic()))

    thread = threading.Thread(target=speak)
    thread.start()
    while thread.is_alive():
        live.sounds.clear()
        live.take()
        for message in live.sounds:
            if max(struct.unpack_from(f"<{(len(message) - 8) // 4}f", message, 8), default=0) > 0.3 and heard < len(sent):
                times.append(time.monotonic() - sent[heard])
                heard += 1
    middle = sorted(times)[len(times) // 2]
    line("web-input to web-output, median and longest", f"{1000 * middle:.0f} ms, {1000 * max(times):.0f} ms")
    live.close()
    host.end()


def processes(root):
    """Processor time of a process and all below it, in seconds."""
    children, total = {}, 0
    stats = {}
    for path in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        pid = int(path.parent.name)
        stats[pid] = (int(fields[11]) + int(fields[12])) / 100
        children.setdefault(int(fields[1]), []).append(pid)
    waiting = [root]
    while waiting:
        pid = waiting.pop()
        total += stats.get(pid, 0)
        waiting += children.get(pid, [])
    return total


def page(folder):
    """What the page weighs and takes in a browser."""
    weight = sum(file.stat().st_size for file in (ROOT / "Sources/Server/Page").iterdir() if file.suffix != ".ts")
    line("the page and the element, not compressed", f"{weight / 1000:.1f} kB")
    host = Running(folder, TALKING.replace("tone -> quiet -> out", "tone -> quiet -> face").replace(
        "gain_db = -120", "gain_db = -6"))
    with sync_playwright() as playwright:
        browser = launch(playwright)
        root = os.getpid()
        view = browser.new_page(viewport={"width": 1280, "height": 900})
        start = time.monotonic()
        view.add_init_script("""(() => { const p = CanvasRenderingContext2D.prototype; const stroke = p.stroke
          p.stroke = function (...given) { window.drawn ??= performance.now(); return stroke.apply(this, given) } })()""")
        view.goto(host.link)
        drawn = eventually("a first picture", lambda: view.evaluate("window.drawn"))
        line("time to the first picture", f"{drawn:.0f} ms after the page began, {1000 * (time.monotonic() - start):.0f} ms in all")
        for what, gain in (("60 levels a second", -6), ("silence", -120)):
            host.call("set", node="quiet", parameter="gain_db", value=gain)
            time.sleep(2)
            before, begin = processes(root), time.monotonic()
            time.sleep(6)
            line(f"browser at {what}", f"{100 * (processes(root) - before) / (time.monotonic() - begin):.1f} % of a core")
        browser.close()
    host.end()


with tempfile.TemporaryDirectory() as place:
    for work in (page, fan_out, round_trip, mouth_to_ear):
        work(pathlib.Path(place) / work.__name__)
