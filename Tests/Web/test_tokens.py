# SPDX-License-Identifier: Apache-2.0
"""Elements whose page gives them their tokens when they are asked for."""

import gate as gates
from conftest import state, wait
from running import TALKING, eventually

ELEMENT = "document.querySelector('voice-graph')"


def place(run, gate, elsewhere, open_page, script):
    """An element in a page elsewhere with a function that gives tokens, which was there before the element was."""
    host = run(TALKING, *gates.OPTIONS, "--set", f'web.origins=["{elsewhere.origin}"]')
    way = gate(host)
    (elsewhere.site / "index.html").write_text(
        f"""<!doctype html><html lang="en"><title>elsewhere</title><link rel="icon" href="data:,">
        <voice-graph src="{way.url}"></voice-graph>
        <script>window.asked = []; const good = '{host.token}'; document.querySelector('voice-graph').getToken = {script}</script>
        <script type="module" src="{host.url}voice-graph.js"></script>""")
    page = open_page(elsewhere.origin + "/index.html", host.url, way.url, way.url.replace("http", "ws", 1))
    page.watch.allows += ["ERR_", "WebSocket", "Failed to load resource", "CORS", "401"]
    return page, host, way


def test_token_is_asked_for_at_each_connect(run, gate, elsewhere, open_page):
    page, host, way = place(run, gate, elsewhere, open_page, "async refused => { asked.push(refused); return good }")
    state(page, "collapsed")
    assert page.evaluate("asked") == [None]
    page.evaluate(f"{ELEMENT}.start()")
    state(page, "expanded")
    way.cut()
    state(page, "error")
    way.open()
    state(page, "expanded")
    assert page.evaluate("asked.length") >= 2 and set(page.evaluate("asked")) == {None}


def test_token_that_was_refused_is_told_and_another_asked_for_each_time_and_no_oftener(run, gate, elsewhere, open_page):
    page, host, way = place(
        run, gate, elsewhere, open_page, "async refused => { asked.push(refused); return asked.length > 3 ? good : 'bad' + asked.length }")
    state(page, "error")
    # What a visitor reads is for a visitor.
    hint = page.evaluate(f"[{ELEMENT}.error.message, {ELEMENT}.error.hint].join()")
    assert "No access" in hint and "Load it again" in hint and "run" not in hint and "voicegraph" not in hint, hint
    state(page, "collapsed")
    assert page.evaluate("asked") == [None, "bad1", "bad2", "bad3"]


def test_page_that_has_no_token_is_tried_again_and_its_reason_is_not_for_visitors(run, gate, elsewhere, open_page):
    page, host, way = place(
        run, gate, elsewhere, open_page, "async () => { asked.push(1); if (asked.length < 2) throw new Error('the shop is closed'); return good }")
    state(page, "error")
    error = page.evaluate(f"{ELEMENT}.error")
    assert error["message"] == "Cannot connect" and "shop" not in error["hint"] and "the shop is closed" in error["reason"]
    state(page, "collapsed")


def test_function_that_is_given_later_counts_from_then_on(run, gate, elsewhere, open_page):
    page, host, way = place(run, gate, elsewhere, open_page, "undefined")
    wait(page, f"!!{ELEMENT}.state")
    page.evaluate(f"{ELEMENT}.getToken = () => good")
    state(page, "collapsed")
    eventually("it is connected", lambda: page.evaluate(f"{ELEMENT}.connected"))
