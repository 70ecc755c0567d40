# SPDX-License-Identifier: Apache-2.0
"""Runs, browsers and pages for the tests."""

import contextlib
import http.server
import json
import pathlib
import shutil
import threading

import pytest
from playwright.sync_api import sync_playwright

from gate import Gate
from running import ROOT, TALKING, Running, eventually

# The whole browser draws a window for each page as well, which costs more than the page.
CHROMIUM = shutil.which("chromium-headless-shell") or "/usr/bin/chromium"
PICTURES = ROOT / ".build/web-pictures"


@pytest.fixture
def run(tmp_path):
    """Makes runs, each in a folder of its own unless one is given; each is ended, and must end well."""
    made = []

    def make(graph=TALKING, *options, folder=None, **given):
        made.append(Running(folder or tmp_path / f"run{len(made)}", graph, *options, **given))
        return made[-1]

    yield make
    for one in made:
        if one.process.returncode != -9:
            one.end()


@pytest.fixture(scope="session")
def playwright():
    with sync_playwright() as playwright:
        yield playwright


def launch(playwright, *options):
    """A browser without a window."""
    return playwright.chromium.launch(
        executable_path=CHROMIUM,
        args=["--no-sandbox", "--autoplay-policy=no-user-gesture-required", *options])


@pytest.fixture(scope="session")
def chromium(playwright):
    browser = launch(playwright)
    yield browser
    browser.close()


class Watch:
    """What a page does that it should not: errors, words on the console, requests to elsewhere."""

    def __init__(self, page, *origins):
        self.faults = []
        # A connection that breaks, because a test broke it, is told on the console by the browser itself.
        self.allows = []
        page.on("console", lambda message: self.tell(message.type, message.text))
        page.on("pageerror", lambda error: self.faults.append(f"error: {error}"))
        page.on("request", lambda request: self.asked(request.url, origins))

    def tell(self, kind, text):
        if kind in ("error", "warning") and not any(part in text for part in self.allows):
            self.faults.append(f"{kind}: {text}")

    def asked(self, url, origins):
        if not url.startswith(("data:", "blob:", *origins)):
            self.faults.append(f"asked {url}")


@pytest.fixture
def open_page(chromium, run):
    """Opens pages of a run; none may complain, or ask anything of anybody else. They close before the runs end."""
    watches, contexts = [], []

    def make(url, *origins, browser=None, allows=(), **options):
        context = (browser or chromium).new_context(**{"viewport": {"width": 1280, "height": 900}, **options})
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(60_000)
        origin = "/".join(url.split("/")[:3])
        page.watch = Watch(page, origin + "/", origin.replace("http", "ws", 1) + "/", *origins)
        page.watch.allows += allows
        watches.append(page.watch)
        page.goto(url)
        return page

    yield make
    for context in contexts:
        context.close()
    assert [fault for watch in watches for fault in watch.faults] == []


@pytest.fixture
def elsewhere(tmp_path):
    """Serves a page of somebody else; returns its origin. What it says is in `tmp_path/site`."""
    site = tmp_path / "site"
    site.mkdir()

    class Handler(http.server.SimpleHTTPRequestHandler):
        def __init__(self, *given):
            super().__init__(*given, directory=str(site))

        def log_message(self, *given):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    server.site = site
    server.origin = f"http://127.0.0.1:{server.server_port}"
    yield server
    server.shutdown()


@pytest.fixture
def element(run, elsewhere, open_page):
    """Puts a <voice-graph> with these attributes into a page elsewhere; returns the page and the run."""

    def make(attributes="", graph=TALKING, options=(), css="", script="", **given):
        host = run(graph, "--set", f'web.origins=["{elsewhere.origin}"]', *options)
        (elsewhere.site / "index.html").write_text(
            f"""<!doctype html><html lang="en"><title>elsewhere</title><link rel="icon" href="data:,">
            <style>{css}</style><script>{script}</script>
            <script type="module" src="{host.url}voice-graph.js"></script>
            <voice-graph src="{host.url}" token="{host.token}" {attributes}></voice-graph>""")
        socket = host.url.replace("http", "ws", 1)
        page = open_page(elsewhere.origin + "/index.html", host.url, socket, **given)
        return page, host

    return make


@pytest.fixture
def gate():
    """Makes ways to runs that can be cut."""
    made = []

    def make(host):
        made.append(Gate(host.port))
        return made[-1]

    yield make
    for one in made:
        one.close()


@contextlib.contextmanager
def long_tasks(page):
    """Collects the tasks of the page's main thread that took more than 50 ms of a processor, in seconds: of the time on the
    clock others take their share."""
    found = []
    browser = page.context.browser
    browser.start_tracing(page=page, categories=["disabled-by-default-devtools.timeline", "devtools.timeline"])
    try:
        yield found
    finally:
        events = json.loads(browser.stop_tracing())["traceEvents"]
    main = {(event["pid"], event["tid"]) for event in events
            if event["name"] == "thread_name" and event["args"]["name"] == "CrRendererMain"}
    tasks = [event.get("tdur", 0) for event in events if event["name"] == "RunTask" and (event["pid"], event["tid"]) in main]
    assert len(tasks) > 100, "hardly a task was traced"
    found += [time / 1e6 for time in tasks if time > 50_000]


def wait(page, what, arg=None):
    """Waits until an expression is true. The page's policy forbids what playwright has for that."""
    return eventually(what, lambda: page.evaluate(what, arg))


def rest(page):
    """Waits until nothing fades or grows any more; what breathes goes on."""
    wait(page, """() => [document, ...[...document.querySelectorAll('voice-graph')].map(({ shadowRoot }) => shadowRoot)].every(root =>
      root.getAnimations().every(({ playState, effect }) => playState !== 'running' || effect.getComputedTiming().endTime === Infinity))""")


def state(page, wanted, element="voice-graph"):
    """Waits until an element is in a state."""
    wait(page, "([e, s]) => document.querySelector(e).dataset.state === s", [element, wanted])
