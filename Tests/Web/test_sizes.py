# SPDX-License-Identifier: Apache-2.0
"""From a phone to a wall, how much it is, and how smooth."""

import gzip
import urllib.request

import pytest

from conftest import PICTURES, long_tasks, wait
from running import ROOT, TALKING, eventually

VIEWS = ["talk", "recorder", "transcripts", "meters", "nodes", "graph", "health"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [320, 768, 1440, 1920])
def test_nothing_is_cut_at_any_width(run, open_page, width, scheme):
    host = run(TALKING + '[node.take]\ntype = "record"\npath = "take.wav"\nautostart = false\n')
    for text in ("hello", "what is your name", "thank you"):
        host.call("do", node="agent", action="send", arguments={"text": text})
    page = open_page(host.link, viewport={"width": width, "height": 900}, color_scheme=scheme)
    wait(page, "document.body.innerText.includes('running')")
    PICTURES.mkdir(parents=True, exist_ok=True)
    for view in VIEWS:
        page.get_by_role("navigation").get_by_role("link", name=view.capitalize()).click()
        wait(page, "v => !document.getElementById(v).hidden", view)
        page.wait_for_timeout(400)
        page.screenshot(path=PICTURES / f"{view}-{width}-{scheme}.png", full_page=True)
        wide, cut = page.evaluate("""v => [document.documentElement.scrollWidth - innerWidth,
          [...document.querySelectorAll(`header *, nav a, #${v} button, #${v} h2, #${v} input, #${v} select`)]
            .filter(e => e.checkVisibility() && e.getBoundingClientRect().width)
            .filter(e => { const r = e.getBoundingClientRect(); return r.left < -1 || r.right > innerWidth + 1 })
            .filter(e => !e.closest('nav')).map(e => e.outerHTML.slice(0, 80))]""", view)
        assert wide <= 0 and cut == [], (view, wide, cut)


def test_page_and_element_are_small(run):
    host = run()
    sizes = {}
    for file in (ROOT / "Sources/Server/Page").iterdir():
        if file.suffix != ".ts":
            path = "" if file.name == "index.html" else file.name
            request = urllib.request.Request(host.url + path, headers={"Accept-Encoding": "gzip"})
            with urllib.request.urlopen(request) as answer:
                sent = answer.read()
                assert gzip.decompress(sent) == file.read_bytes(), file
                sizes[file.name] = len(sent), file.stat().st_size
    # The page for trying the element is a page of its own.
    assert sum(sent for name, (sent, _) in sizes.items() if not name.startswith("embed.")) < 84_000, sizes
    # What another page loads for the element, not compressed; the shader of the orb, pictures of measurements, what was
    # said before and a button to hold come only where they are wanted.
    views = {"index.html", "page.css", "page.js", "archive.js", "dictation.js", "graph.css", "graph.js", "graph-adding.js",
             "graph-drawing.js", "graph-inspector.js", "graph-links.js", "graph-pane.js", "graph-wiring.js", "meters.js", "nodes.js", "parameters.js", "problems.js",
             "talk.js", "icon.svg", "charts.js", "drawing.js", "frequencies.js", "hold.js", "orb.js", "recall.js", "embed.html", "embed.js"}
    assert sum(size for name, (_, size) in sizes.items() if name not in views) < 88_500, sizes


def test_no_task_is_long_and_silence_is_rest(run, open_page):
    host = run()
    page = open_page(host.link)
    wait(page, "document.body.innerText.includes('running')")
    with long_tasks(page) as tasks:
        page.fill("#speak-text", "This is said while levels come sixty times a second, and nothing takes long.")
        page.get_by_role("button", name="Speak").click()
        eventually("it was said", lambda: host.event("speech.finished"))
    assert tasks == []
    page.wait_for_timeout(1500)
    draws = """() => new Promise(resolve => { let n = 0; const p = CanvasRenderingContext2D.prototype
      const clear = p.clearRect; p.clearRect = function (...given) { n++; return clear.apply(this, given) }
      setTimeout(() => { p.clearRect = clear; resolve(n) }, 2000) })"""
    assert page.evaluate(draws) <= 4, "nothing moves, so nothing is drawn"
