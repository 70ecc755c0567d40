# SPDX-License-Identifier: Apache-2.0
"""Measures the five systems from outside, row by row: `make systems` prints the table. With names, as in
`systems.py O4 R7`, only those rows; exit code 1 if one of them fails."""

import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

# Where that is allowed all of it runs in a space of its own: what is left of it ends with it, and nobody else's JACK
# server is in its /dev/shm.
APART = [
    "unshare",
    "--mount",
    "--pid",
    "--fork",
    "--kill-child",
    "--mount-proc",
    "sh",
    "-c",
    'mount -t tmpfs tmpfs /dev/shm && exec "$@"',
    "sh",
]
if "VOICEGRAPH_SYSTEMS" not in os.environ:
    os.environ["VOICEGRAPH_SYSTEMS"] = "1"
    if subprocess.run([*APART, "true"], stderr=subprocess.DEVNULL, check=False).returncode == 0:
        os.execvp(APART[0], [*APART, sys.executable, *sys.argv])

# Where models are installed, before what is the user's is hidden.
os.environ.setdefault(
    "VOICEGRAPH_SYSTEMS_MODELS",
    os.path.join(os.environ.get("XDG_DATA_HOME") or os.path.expanduser("~/.local/share"), "voicegraph/models"),
)

import measuring  # noqa: E402
from playwright.sync_api import sync_playwright  # noqa: E402

import orb  # noqa: E402, F401
import films  # noqa: E402, F401
import text  # noqa: E402, F401
import widget  # noqa: E402, F401
import bars  # noqa: E402, F401
import recorder  # noqa: E402, F401
import interruptions  # noqa: E402, F401
import spoken  # noqa: E402, F401
import wave  # noqa: E402, F401


def measure(name, what, function, folder, playwright):
    """A row: its name, what was checked, figure and verdict. What is thrown is a figure, too."""
    measured = measuring.Measurement(folder, playwright)
    start = time.monotonic()
    try:
        with measured.stack:
            function(measured)
    except Exception as error:  # noqa: BLE001
        line = (str(error).strip() or type(error).__name__).splitlines()[0]
        measured.say(f"{type(error).__name__}: {line}", "FAILS")
    figure = "; ".join(measured.figures)
    print(f"{measured.verdict:<6} {name:<10} {time.monotonic() - start:5.1f} s  {figure}", flush=True)
    return name, what, figure, measured.verdict


def place(row):
    """Systems one after another, their rows by number, then what has none."""
    name = row[0]
    return "OVTRW".index(name[0]), int(name[1:]) if name[1:].isdigit() else 100


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    measuring.ROWS.sort(key=place)
    wanted = [name.lower() for name in sys.argv[1:]]
    rows = [row for row in measuring.ROWS if not wanted or row[0].lower() in wanted]
    unknown = set(wanted) - {row[0].lower() for row in measuring.ROWS}
    if unknown or not rows:
        sys.exit(f"no such row: {' '.join(sorted(unknown))}; there are {' '.join(row[0] for row in measuring.ROWS)}")
    with tempfile.TemporaryDirectory(prefix="vgs-") as folder, sync_playwright() as playwright:
        results = [measure(*row, pathlib.Path(folder) / str(number), playwright) for number, row in enumerate(rows)]
    measuring.table(results)
    return int(any(verdict == "FAILS" for *_, verdict in results))


if __name__ == "__main__":
    sys.exit(main())
