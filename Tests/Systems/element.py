# SPDX-License-Identifier: Apache-2.0
"""The element <voice-graph>, as somebody else's page has it."""

import functools
import http.server
import threading

from conftest import launch, state
from running import TALKING

E = "document.querySelector('voice-graph')"


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *given):
        pass


class Element:
    """A page elsewhere with the element in it, and the run that it belongs to."""

    def __init__(self, measured, attributes="", graph=TALKING, css="", options=()):
        site = measured.folder / f"site{measured.count}"
        site.mkdir()
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(site)))
        threading.Thread(target=server.serve_forever, daemon=True).start()
        measured.stack.callback(server.shutdown)
        origin = f"http://127.0.0.1:{server.server_port}"
        self.host = measured.host(graph, "--set", f'web.origins=["{origin}"]', *options)
        (site / "index.html").write_text(
            f"""<!doctype html><html lang="en"><title>elsewhere</title><link rel="icon" href="data:,">
            <style>{css}</style>
            <script type="module" src="{self.host.url}voice-graph.js"></script>
            <voice-graph src="{self.host.url}" token="{self.host.token}" {attributes}></voice-graph>"""
        )
        browser = launch(measured.playwright)
        measured.stack.callback(browser.close)
        self.page = browser.new_page(viewport={"width": 1280, "height": 900})
        self.page.set_default_timeout(60_000)
        self.asked = []
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.on("websocket", lambda socket: self.asked.append(socket.url))
        self.page.goto(origin + "/index.html")
        self.module = f"import('{self.host.url}voice-graph.js')"

    def part(self, name):
        return self.page.locator(f"voice-graph [part~={name}]")

    def get(self, what):
        return self.page.evaluate(f"{E}.{what}")

    def state(self, wanted):
        state(self.page, wanted)
        return wanted

    def talk(self, view="transcript"):
        self.state("collapsed")
        self.part("launcher").click()
        self.state("expanded")
        if view == "transcript":
            self.part("toggle").click()
            self.state("transcript")

    def style(self, name, key):
        return self.part(name).first.evaluate(f"e => getComputedStyle(e).{key}")
