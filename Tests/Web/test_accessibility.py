# SPDX-License-Identifier: Apache-2.0
"""For whoever does not see it, or does not use a mouse, or wants it calm."""

import pytest
from axe_playwright_python.sync_playwright import Axe

from conftest import rest, state, wait
from running import TALKING, eventually

VIEWS = ["Talk", "Recorder", "Transcripts", "Meters", "Nodes", "Graph", "Health"]
PRESETS = ["verdant", "twilight", "bloom", "mystic", "flare", "glacier"]


def faults(page):
    """What axe-core finds, with where. What fades in has less contrast for a moment."""
    rest(page)
    found = Axe().run(page).response["violations"]
    return [(rule["id"], node["target"], node.get("failureSummary", "")[:200]) for rule in found for node in rule["nodes"]]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_on_any_view(run, open_page, scheme):
    host = run(TALKING + '[node.take]\ntype = "record"\npath = "take.wav"\nautostart = false\n')
    host.call("do", node="agent", action="send", arguments={"text": "hello"})
    page = open_page(host.link, color_scheme=scheme, bypass_csp=True)
    wait(page, "document.body.innerText.includes('running')")
    for view in VIEWS:
        page.get_by_role("navigation").get_by_role("link", name=view).click()
        wait(page, "v => !document.getElementById(v).hidden", view.lower())
        page.wait_for_timeout(300)
        assert faults(page) == [], view
    page.goto(host.url + "embed.html")
    state(page, "collapsed", "#preview voice-graph")
    assert faults(page) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_on_any_state_of_the_element(element, scheme):
    page, host = element(color_scheme=scheme)
    page.watch.allows += ["ERR_CONNECTION_REFUSED", "WebSocket", "Failed to load resource", "CORS"]
    page.evaluate("document.body.style.backgroundColor = matchMedia('(prefers-color-scheme: dark)').matches ? '#111' : '#fff'")
    ignored = {"landmark-one-main", "page-has-heading-one", "region"}

    def check(name):
        assert [fault for fault in faults(page) if fault[0] not in ignored] == [], name

    state(page, "collapsed")
    check("collapsed")
    page.evaluate("document.querySelector('voice-graph').start()")
    state(page, "expanded")
    for preset in PRESETS:
        page.evaluate("p => document.querySelector('voice-graph').setAttribute('preset', p)", preset)
        check(preset)
    page.locator("voice-graph [part~=toggle]").click()
    state(page, "transcript")
    page.evaluate("document.querySelector('voice-graph').send('hello')")
    page.locator("voice-graph [part~=agent-bubble]").first.wait_for()
    check("transcript")
    host.kill()
    state(page, "error")
    check("error")


def luminance(rgb):
    parts = [part / 255 for part in rgb]
    r, g, b = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * r + 0.7152 * g + 0.0722 * b


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("preset", PRESETS)
def test_the_picture_can_be_told_from_the_ground(element, scheme, preset):
    ground = "#ffffff" if scheme == "light" else "#101418"
    page, host = element(
        f'mode="bars" preset="{preset}"', color_scheme=scheme,
        css=f"body {{ background: {ground} }} voice-graph {{ width: 400px; height: 300px }}")
    page.watch.allows.append("getImageData")
    state(page, "collapsed")
    # The outermost colour of a bar: what stands against the ground.
    color = eventually("a bar", lambda: page.evaluate("""() => {
      const c = document.querySelector('voice-graph').shadowRoot.querySelector('canvas'); if (!c.width) return null
      const d = c.getContext('2d').getImageData(0, Math.floor(c.height / 2), c.width, 1).data
      for (let x = 0; x < c.width; x++) if (d[4 * x + 3] > 250) return [d[4 * x], d[4 * x + 1], d[4 * x + 2]]
      return null }"""))
    behind = tuple(int(ground[at:at + 2], 16) for at in (1, 3, 5))
    light, dark = sorted([luminance(color), luminance(behind)], reverse=True)
    assert (light + 0.05) / (dark + 0.05) >= 3, (color, behind)


def test_everything_is_reached_by_the_keyboard(run, open_page):
    host = run()
    page = open_page(host.link)
    wait(page, "document.body.innerText.includes('running')")
    reached = set()
    for _ in range(40):
        page.keyboard.press("Tab")
        reached.add(page.evaluate("""() => { let e = document.activeElement
          while (e?.shadowRoot?.activeElement) e = e.shadowRoot.activeElement
          if (e === document.body || e === document.documentElement) return ',page'
          const o = getComputedStyle(e); const name = e.getAttribute('aria-label') || e.textContent.trim() || e.id
          return [name.slice(0, 30), o.outlineStyle !== 'none' || o.boxShadow !== 'none'].join() }"""))
    names = {text.rsplit(",", 1)[0] for text in reached}
    assert {"Talk", "Health", "Speak", "Stop", "Send", "Message"} <= names, names
    # What has the focus is seen to have it; behind the last one is the page itself, or nothing.
    assert {text for text in reached if text.endswith(",false")} <= {",false"}, reached
    # Type, send, and hear of it.
    page.get_by_role("textbox", name="Message").focus()
    page.keyboard.type("hello")
    page.keyboard.press("Enter")
    eventually("it arrived", lambda: host.event("agent.user"))


def test_what_is_said_is_told_by_sentences_in_one_polite_region(element):
    page, host = element()
    state(page, "collapsed")
    page.evaluate("""() => { const e = document.querySelector('voice-graph'); window.told = []
      const said = e.shadowRoot.querySelector('[role=status], [aria-live=polite]')
      new MutationObserver(() => said.textContent && window.told.push(said.textContent)).observe(said, {
        childList: true, characterData: true, subtree: true })
      return e.start() }""")
    state(page, "expanded")
    assert page.evaluate("""document.querySelector('voice-graph').shadowRoot
      .querySelectorAll('[aria-live], [role=status], [role=log]').length""") == 1
    page.evaluate("document.querySelector('voice-graph').send('hello')")
    told = eventually("a sentence is told", lambda: page.evaluate("window.told"))
    eventually("the reply is over", lambda: host.event("speech.finished"))
    told = page.evaluate("window.told")
    assert all(text[-1] in ".!?" for text in told), told
    assert len(told) == len(set(told))


# Texts as they come, and what is read out of them: sentences, whole, whatever the parts are that they come in.
PARTS = [
    (["Pi is 3.", "14 and e is 2.", "72."], ["Pi is 3.14 and e is 2.72."]),
    (["It costs 1.", "000.", "50 euros. ", "Really."], ["It costs 1.000.50 euros.", "Really."]),
    (["Go to example.", "org now. ", "Then wait", "."], ["Go to example.org now.", "Then wait."]),
    (["He said \u201cno.", "\u201d Then he", " left."], ["He said \u201cno.\u201d", "Then he left."]),
    (["今天天气很好。", "我们走吧。"], ["今天天气很好。", "我们走吧。"]),
    (["नमस्ते।", " आप कैसे हैं?"], ["नमस्ते।", "आप कैसे हैं?"]),
]


@pytest.mark.parametrize("parts,wanted", PARTS, ids=[parts[0] for parts, _ in PARTS])
def test_sentences_are_read_out_whole_in_whatever_parts_they_come(run, open_page, parts, wanted):
    host = run()
    page = open_page(host.link)
    told = page.evaluate("""async parts => { const { Bubbles } = await import('./bubbles.js'); const told = []
      const [transcript, newest] = [0, 1].map(() => document.createElement('div'))
      const said = { set textContent(text) { told.push(text) } }
      const bubbles = new Bubbles({ transcript, newest, said }, () => {}, word => word)
      for (const delta of parts) bubbles.put({ id: 1, role: 'agent', delta, state: 'partial' })
      bubbles.put({ id: 1, role: 'agent', text: parts.join(''), state: 'whole' })
      return told }""", parts)
    assert told == wanted


def test_calm_where_that_is_wanted(run, open_page):
    host = run(TALKING.replace("tone -> quiet -> out", "tone -> face").replace(
        'type = "tone"', 'type = "tone"\nlevel_db = -6'))
    page = open_page(host.link, reduced_motion="reduce")
    wait(page, "document.body.innerText.includes('running')")
    page.select_option("#face-node", "face")
    draws = """() => new Promise(resolve => { let n = 0; const p = CanvasRenderingContext2D.prototype
      const clear = p.clearRect; p.clearRect = function (...given) { n++; return clear.apply(this, given) }
      setTimeout(() => { p.clearRect = clear; resolve(n) }, 3000) })"""
    # Four times a second at most, for each of the two pictures.
    assert 0 < page.evaluate(draws) <= 2 * 14


def test_colours_that_the_user_forces_are_used(element):
    page, host = element(forced_colors="active")
    state(page, "collapsed")
    border = page.locator("voice-graph [part~=launcher]").evaluate("e => getComputedStyle(e).borderStyle")
    assert border == "solid"
    assert [fault for fault in faults(page) if fault[0] == "color-contrast"] == []
