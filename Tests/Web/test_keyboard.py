# SPDX-License-Identifier: Apache-2.0
"""By keys alone, without motion, and in colours that the user forces: every view, and the element."""

import pytest

from conftest import state, wait
from running import TALKING, eventually

GRAPH = TALKING.replace('links = ["agent', 'links = ["voice -> take", "agent') + """
[node.take]
type = "record"
path = "take.wav"
autostart = false
keep = true
"""
VIEWS = ["Talk", "Recorder", "Transcripts", "Meters", "Nodes", "Graph", "Health"]
# What has the focus: its role, its name, and whether that is seen.
FOCUSED = """() => { let e = document.activeElement; while (e?.shadowRoot?.activeElement) e = e.shadowRoot.activeElement
  if (!e || e === document.body || e === document.documentElement) return null
  const o = getComputedStyle(e); const r = e.getBoundingClientRect()
  const label = e.labels?.[0]?.textContent ?? ''
  return { name: (e.ariaLabel || label || e.textContent || e.title || '').trim(), tag: e.tagName.toLowerCase(),
    id: e.id, seen: o.outlineStyle !== 'none' && parseFloat(o.outlineWidth) >= 2,
    there: r.width > 0 && r.bottom > 0 && r.top < innerHeight && r.right > 0 && r.left < innerWidth } }"""
# What can be pressed, chosen or typed into, with the keys as with a mouse.
ENDS = """view => { const found = []; const look = root => { for (const e of root.querySelectorAll(
    'a[href], button, input, select, textarea, summary, audio[controls], [tabindex="0"]')) {
    if (!e.disabled && e.checkVisibility({ visibilityProperty: true })) found.push(e) }
    for (const e of root.querySelectorAll('*')) if (e.shadowRoot) look(e.shadowRoot) }
  look(document.getElementById(view)); return found.length }"""


@pytest.fixture
def opened(run, open_page):
    def make(graph=GRAPH, **options):
        host = run(graph)
        page = open_page(host.link, **options)
        wait(page, "document.body.innerText.includes('running')")
        return page, host

    return make


def focused(page):
    return page.evaluate(FOCUSED)


def tab_to(page, name, tag=None, most=300):
    """Presses the tabulator until something of this name has the focus."""
    seen = []
    for _ in range(most):
        page.keyboard.press("Tab")
        at = focused(page)
        seen.append(at and at["name"])
        if at and at["name"].startswith(name) and tag in (None, at["tag"]):
            return at
    raise AssertionError(f"{name} is not among {seen}")


def go(page, view):
    """Goes to a view, by keys."""
    tab_to(page, view, "a")
    page.keyboard.press("Enter")
    wait(page, "v => !document.getElementById(v).hidden", view.lower())


@pytest.mark.parametrize("view", VIEWS)
def test_everything_of_a_view_is_reached_by_the_tabulator_in_sight_and_with_a_name(opened, view):
    page, host = opened()
    host.call("do", node="agent", action="send", arguments={"text": "hello"})
    eventually("it is kept", lambda: host.look("transcripts")["sessions"])
    go(page, view)
    eventually("something is there", lambda: page.evaluate(ENDS, view.lower()) > 0 or view == "Meters")
    page.wait_for_timeout(300)
    wanted = page.evaluate(ENDS, view.lower())
    page.evaluate("document.activeElement.blur()")
    reached, forward = 0, []
    for _ in range(wanted + 40):
        page.keyboard.press("Tab")
        at = focused(page)
        if at is None:
            break
        inside = page.evaluate("v => document.getElementById(v).contains(document.activeElement)", view.lower())
        reached += inside
        forward.append(at["name"])
        if inside and at["tag"] != "audio":
            assert at["seen"] and at["there"] and at["name"], at
    assert reached >= wanted, (reached, wanted, forward)


def test_talks_records_edits_and_turns_by_keys_alone(opened):
    page, host = opened()
    tab_to(page, "Text to speak")
    page.keyboard.type("by keys alone")
    page.keyboard.press("Enter")
    eventually("it speaks", lambda: host.event("speech.started"))
    tab_to(page, "Stop")
    page.keyboard.press("Space")
    tab_to(page, "Message")
    page.keyboard.type("hello")
    page.keyboard.press("Enter")
    eventually("it is answered", lambda: host.event("agent.final"))
    go(page, "Recorder")
    tab_to(page, "Record", "button")
    page.keyboard.press("Enter")
    eventually("it records", lambda: host.event("record.started"))
    tab_to(page, "finish", "button")
    page.keyboard.press("Enter")
    eventually("it has ended", lambda: host.event("record.finished"))
    go(page, "Transcripts")
    tab_to(page, "Edit hello", "button")
    page.keyboard.press("Enter")
    # The field has the focus at once.
    assert focused(page)["name"] == "Text"
    page.keyboard.press("Control+a")
    page.keyboard.type("hello to you")
    tab_to(page, "Save", "button", 3)
    page.keyboard.press("Enter")
    eventually("it is edited", lambda: any(
        item["text"] == "hello to you" for item in host.look("search", words="hello")["items"]))
    go(page, "Nodes")
    tab_to(page, "gain_db of quiet", "input")
    before = host.look("get", node="quiet", parameter="gain_db")["value"]
    page.keyboard.press("ArrowRight")
    eventually("it is louder", lambda: host.look("get", node="quiet", parameter="gain_db")["value"] > before)
    go(page, "Graph")
    tab_to(page, "name", "input")
    page.keyboard.type("more")
    tab_to(page, "Add", "button")
    page.keyboard.press("Enter")
    # The first type may need settings; then the first field that lacks something has the focus.
    eventually("it is added, or what is missing is asked for", lambda: page.evaluate(
        "document.activeElement.matches(':invalid')") or any(node["name"] == "more" for node in host.look("nodes")["nodes"]))


def test_notice_is_read_out_and_closed_by_keys(opened):
    page, host = opened()
    go(page, "Graph")
    tab_to(page, "Link by name", "summary")
    page.keyboard.press("Enter")
    tab_to(page, "Link", "button")
    page.keyboard.press("Enter")
    alert = page.get_by_role("alert").filter(has=page.get_by_role("button", name="Close"))
    alert.wait_for()
    page.evaluate("document.activeElement.blur()")
    tab_to(page, "Close", "button")
    page.keyboard.press("Enter")
    alert.wait_for(state="hidden")


def test_element_is_used_by_keys_from_its_button_to_its_end(element):
    page, host = element()
    state(page, "collapsed")
    tab_to(page, "Start a conversation", most=3)
    page.keyboard.press("Enter")
    state(page, "expanded")
    tab_to(page, "Transcript", "button", 8)
    page.keyboard.press("Space")
    state(page, "transcript")
    # Whoever opens the transcript wants to write.
    assert focused(page)["name"] == "Message"
    page.keyboard.type("hello")
    page.keyboard.press("Enter")
    eventually("it arrived", lambda: host.event("agent.user"))
    tab_to(page, "End conversation", most=12)
    page.keyboard.press("Enter")
    state(page, "collapsed")


# Something whose level goes up and down all the time.
LOUD = TALKING.replace("tone -> quiet -> out", "tone -> wave -> face").replace(
    'type = "tone"', 'type = "tone"\nlevel_db = -6\n[node.wave]\ntype = "tremolo"\nrate_hz = 0.7\ndepth = 0.9')
# How often anything on the page changes its place, its size or what is painted, in two seconds from the first time.
MOTION = """() => new Promise(resolve => { const seen = { draws: 0, moves: 0 }; const p = CanvasRenderingContext2D.prototype
  const clear = p.clearRect; p.clearRect = function (...given) { seen.draws++; begin(); return clear.apply(this, given) }
  let isBegun = false
  const begin = () => { if (isBegun) return; isBegun = true
    setTimeout(() => { p.clearRect = clear; watch.disconnect(); resolve({ ...seen, animations: document.getAnimations().length }) }, 2000) }
  const watch = new MutationObserver(list => { const moved = list.filter(({ target }) => target.matches('.meter i')).length
    seen.moves += moved; if (moved) begin() })
  watch.observe(document.body, { attributes: true, attributeFilter: ['style'], subtree: true }) })"""


@pytest.mark.parametrize("view", ["Talk", "Meters"])
def test_levels_move_at_most_four_times_a_second_where_motion_is_not_wanted(opened, view):
    page, host = opened(LOUD, reduced_motion="reduce")
    page.select_option("#face-node", "face")
    go(page, view)
    page.wait_for_timeout(500)
    calm = page.evaluate(MOTION)
    # In 2 s: two pictures, or three bars of each of six meters.
    assert calm["draws"] <= 2 * 10 and calm["moves"] <= 6 * 3 * 10 and calm["animations"] == 0, calm
    # The same page shows them move where nothing was said against it.
    page.emulate_media(reduced_motion="no-preference")
    lively = page.evaluate(MOTION)
    assert lively["draws"] + lively["moves"] > calm["draws"] + calm["moves"] > 0, (calm, lively)


@pytest.mark.parametrize("view", VIEWS)
def test_what_can_be_pressed_has_an_edge_where_colours_are_forced(opened, view):
    page, host = opened(forced_colors="active")
    go(page, view)
    page.wait_for_timeout(300)
    bare = page.evaluate("""() => { const found = []; const look = root => {
        for (const e of root.querySelectorAll('button, input:not([type=checkbox], [type=range]), select, textarea')) {
          const s = getComputedStyle(e); const isSeen = e.checkVisibility() && e.getBoundingClientRect().width
          if (isSeen && (s.borderStyle === 'none' || parseFloat(s.borderWidth) < 1)) found.push(e.outerHTML.slice(0, 90)) }
        for (const e of root.querySelectorAll('*')) if (e.shadowRoot) look(e.shadowRoot) }
      look(document); return found }""")
    assert bare == []
    # Which view is open is told by more than a colour that is gone now.
    assert page.locator("nav [aria-current=page]").inner_text() == view
