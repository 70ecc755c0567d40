# SPDX-License-Identifier: Apache-2.0
"""A run that is shown to browsers, and what may be asked of it."""

import atexit
import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import threading
import time
import urllib.error
import urllib.parse
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Servers and clients of jackd share a database in /dev/shm, which those of two runs would break for each other: where that
# is allowed, each run has a /dev/shm of its own.
OWN = ["unshare", "--mount", "sh", "-c", 'mount -t tmpfs tmpfs /dev/shm && exec "$@"', "sh"]
if subprocess.run([*OWN, "true"], stderr=subprocess.DEVNULL, check=False).returncode:
    OWN = []


def own_environment():
    """What is the user's is not to count: settings, language, models, plugins, servers and hosts. Browsers have it too."""
    foreign = ("COLUMNS", "LANGUAGE", "NOTIFY_SOCKET", "NO_COLOR", "SSH_CONNECTION", "TMPDIR", "VOICEGRAPH_PLUGIN_PATH")
    for name in list(os.environ):
        if name in foreign or name.startswith(("JACK_", "LC_", "LV2_", "PIPEWIRE_", "XDG_")):
            del os.environ[name]
    os.umask(0o022)
    home = tempfile.mkdtemp(prefix="vgt-")
    atexit.register(shutil.rmtree, home, ignore_errors=True)
    # No server of the user's is meant.
    os.environ.update(HOME=home, LANG="C.UTF-8", JACK_DEFAULT_SERVER="vgt-none", JACK_NO_START_SERVER="1")


own_environment()
COMMAND = os.path.abspath(os.environ.get("VOICEGRAPH", ROOT / ".build/debug/voicegraph"))

# Nothing comes in by itself: what is said to it is typed, and what it says can be seen.
TALKING = """
[graph]
name = "talking"
links = ["agent -> voice -> level -> face -> out", "voice.speaking -> agent.speaking", "voice.heard -> agent.heard",
  "tone -> quiet -> out"]
[node.agent]
type = "agent"
keep = true
speaker = "assistant"
[node.voice]
type = "tts"
[node.level]
type = "meter"
[node.face]
type = "visualizer"
style = "bars"
[node.tone]
type = "tone"
[node.quiet]
type = "gain"
gain_db = -120
[node.out]
type = "output"
"""


def eventually(what, condition, seconds=60.0):
    """The first true value of `condition`; fails after so long, which only what never happens takes."""
    end = time.monotonic() + seconds
    while True:
        found = condition()
        if found:
            return found
        assert time.monotonic() < end, f"within {seconds} s: {what}"
        time.sleep(0.02)


class Running:
    """`voicegraph run GRAPH --web`, with a home of its own."""

    def __init__(self, folder, graph=TALKING, *options, port=0, files=None):
        self.folder = folder
        folder.mkdir(exist_ok=True, mode=0o700)
        for name in ("run", "data"):
            (folder / name).mkdir(exist_ok=True, mode=0o700)
        path = graph if isinstance(graph, pathlib.Path) else folder / "graph.conf"
        if path != graph:
            path.write_text(graph)
        self.environment = dict(os.environ, XDG_RUNTIME_DIR=str(folder / "run"), XDG_DATA_HOME=str(folder / "data"))
        self.process = subprocess.Popen(
            [*OWN, COMMAND, "run", str(path), "--driver", "dummy", "--json", "--web", str(port), *options],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=self.environment, cwd=folder)
        self.lines = []
        self.errors = []
        self.readers = [
            threading.Thread(target=lines.extend, args=(stream,), daemon=True)
            for stream, lines in ((self.process.stdout, self.lines), (self.process.stderr, self.errors))]
        for reader in self.readers:
            reader.start()
        web = eventually("the run tells its link", lambda: self.event("web") or self.process.poll() is not None)
        assert self.process.poll() is None, self.said()
        self.url, self.link = web["url"], web["link"]
        self.token = self.link.split("token=")[1]
        # A link for each right.
        self.links = web["links"]
        self.port = int(self.url.split(":")[2].strip("/"))

    def said(self):
        """All that it wrote as errors; it has ended, which can be known before all of that has been read."""
        for reader in self.readers:
            reader.join(10)
        return "".join(self.errors)

    def events(self, name):
        """All of a name so far."""
        mark = f'"event":"{name}"'
        return [json.loads(line) for line in list(self.lines) if mark in line]

    def event(self, name):
        """The last one of a name."""
        found = self.events(name)
        return found[-1] if found else None

    def ask(self, path, body=None, headers=None, method=None):
        """Status and answer of a request by HTTP; it knows the token."""
        data = None if body is None else json.dumps(body).encode()
        given = {"Authorization": "Bearer " + self.token}
        if data is not None:
            given["Content-Type"] = "application/json"
        request = urllib.request.Request(self.url + path, data, {**given, **(headers or {})}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return answer.status, json.loads(answer.read() or b"null")
        except urllib.error.HTTPError as error:
            return error.code, json.loads(error.read() or b"null")

    def call(self, name, **arguments):
        """Makes a call that changes something."""
        status, answer = self.ask("api/" + name, arguments)
        assert status == 200, answer
        return answer

    def look(self, name, **arguments):
        """Makes a call that only looks."""
        status, answer = self.ask("api/" + name + "?" + urllib.parse.urlencode(arguments))
        assert status == 200, answer
        return answer

    def memory(self):
        """What it holds, in MB."""
        for line in open(f"/proc/{self.process.pid}/status"):
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) / 1024

    def seconds(self):
        """Processor time so far."""
        fields = open(f"/proc/{self.process.pid}/stat").read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def command(self, *arguments):
        """Runs another command of the same user."""
        return subprocess.run([COMMAND, *arguments], env=self.environment, capture_output=True, text=True, timeout=60)

    def kill(self):
        """As if the machine had lost it."""
        self.process.kill()
        self.process.wait()

    def end(self):
        """Ends it as a user does; its exit code is 0."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        code = self.process.wait(30)
        assert code == 0, self.said()
