# SPDX-License-Identifier: Apache-2.0
"""How smooth the page is while levels come 60 times a second, and that it rests when nothing moves."""

import pytest

from conftest import launch, long_tasks, state, wait
from running import TALKING, eventually

LOUD = TALKING.replace("tone -> quiet -> out", "tone -> quiet -> face").replace("gain_db = -120", "gain_db = -6").replace(
    'type = "tone"', 'type = "tone"\nwave = "pink"')
# Counts what is painted: pictures, meters and wires; on how many canvases, and what was drawn on one twice in a frame.
COUNT = """() => { window.painted = { canvases: 0, twice: 0, pictures: 0, meters: 0, wires: 0, asked: 0 }
  const p = CanvasRenderingContext2D.prototype, clear = p.clearRect, drawn = new Map()
  p.clearRect = function (...given) { painted.pictures++
    // The time of the document goes on with each frame, and only then.
    painted.twice += drawn.get(this.canvas) === document.timeline.currentTime
    painted.canvases = drawn.set(this.canvas, document.timeline.currentTime).size
    return clear.apply(this, given) }
  const ask = window.requestAnimationFrame; window.requestAnimationFrame = f => { painted.asked++; return ask.call(window, f) }
  new MutationObserver(list => { for (const { target } of list) {
    painted.meters += target.matches('.meter i'); painted.wires += target.matches('#drawing path') } })
    .observe(document.body, { attributes: true, attributeFilter: ['style'], subtree: true }) }"""


@pytest.fixture
def opened(run, open_page):
    def make(graph, view):
        host = run(graph)
        page = open_page(host.link)
        wait(page, "document.body.innerText.includes('running')")
        page.select_option("#face-node", "face")
        page.get_by_role("navigation").get_by_role("link", name=view).click()
        wait(page, "v => !document.getElementById(v).hidden", view.lower())
        return page, host

    return make


@pytest.mark.parametrize("view,what", [("Talk", "pictures"), ("Meters", "meters"), ("Graph", "wires")])
def test_no_task_of_the_page_takes_50_ms_while_levels_come(opened, view, what):
    page, host = opened(LOUD, view)
    page.evaluate(COUNT)
    with long_tasks(page) as tasks:
        eventually("two hundred levels later", lambda: page.evaluate("painted")[what] >= {"wires": 1}.get(what, 200))
        host.call("do", node="voice", action="speak", arguments={"text": "This is said meanwhile."})
        eventually("it was said", lambda: host.event("speech.finished"))
    assert tasks == []


@pytest.mark.parametrize("view", ["Talk", "Meters", "Graph", "Health", "Nodes"])
def test_page_rests_when_nothing_moves(opened, view):
    page, host = opened(LOUD, view)
    host.call("set", node="tone", parameter="level_db", value=-120)
    page.evaluate(COUNT)

    def pictures():
        before = page.evaluate("painted")
        page.evaluate("() => new Promise(done => setTimeout(done, 1000))")
        after = page.evaluate("painted")
        return {key: after[key] - before[key] for key in after}

    # A second in which nothing is painted, and no frame asked for.
    eventually("it comes to rest", lambda: not any((seen := pictures()).values()), 15)
    quiet = [pictures() for _ in range(3)]
    assert all(second["pictures"] + second["meters"] + second["wires"] + second["asked"] <= 1 for second in quiet), quiet
    # It wakes when there is something again.
    if view in ("Talk", "Meters", "Graph"):
        host.call("set", node="tone", parameter="level_db", value=-12)
        eventually("it moves", lambda: sum(pictures().values()) > 0)


def test_pictures_are_drawn_once_a_frame_at_most(opened):
    page, host = opened(LOUD, "Talk")
    page.evaluate(COUNT)
    eventually("a hundred pictures", lambda: page.evaluate("painted")["pictures"] >= 100)
    seen = page.evaluate("painted")
    # One face that is seen, though levels of several nodes come.
    assert seen["twice"] == 0 and seen["canvases"] == 1, seen


def test_page_that_is_not_looked_at_draws_nothing(opened):
    page, host = opened(LOUD, "Talk")
    page.evaluate(COUNT)
    eventually("it draws", lambda: page.evaluate("painted")["pictures"] > 10)
    page.get_by_role("navigation").get_by_role("link", name="Health").click()
    page.wait_for_timeout(1000)
    before = page.evaluate("painted")["pictures"]
    page.wait_for_timeout(1500)
    assert page.evaluate("painted")["pictures"] - before <= 1


def test_element_of_a_session_that_ended_draws_nothing(element):
    page, host = element('visualizer="face"', LOUD)
    state(page, "collapsed")
    page.evaluate(COUNT)
    page.evaluate("document.querySelector('voice-graph').start()")
    eventually("it draws", lambda: page.evaluate("painted")["pictures"] > 10)
    page.evaluate("document.querySelector('voice-graph').end()")
    state(page, "collapsed")
    page.wait_for_timeout(1000)
    before = page.evaluate("painted")["pictures"]
    page.wait_for_timeout(1500)
    assert page.evaluate("painted")["pictures"] - before <= 1
