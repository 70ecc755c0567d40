# SPDX-License-Identifier: Apache-2.0
"""The element in pages of others: what they do with it, what their policies forbid, and what of their style comes in."""

import socket

import pytest

from conftest import rest, state, wait
from running import TALKING

ELEMENT = "document.querySelector('voice-graph')"
ROOT = ELEMENT + ".shadowRoot"


def display(page):
    return page.evaluate(f"getComputedStyle({ELEMENT}).display")


@pytest.mark.parametrize("css", ["", "voice-graph { display: block }"])
@pytest.mark.parametrize("attributes", ["", 'mode="conversation"', 'position="bottom-right"'])
def test_hidden_element_is_not_shown_in_any_mode(element, attributes, css):
    page, _ = element(attributes + ' hidden should-initialize="false"', css=css)
    wait(page, "!!customElements.get('voice-graph')")
    assert display(page) == "none"
    page.evaluate(f"{ELEMENT}.hidden = false")
    assert display(page) != "none"
    page.evaluate(f"{ELEMENT}.hidden = true")
    assert display(page) == "none"


def open_card(page):
    """Its place, once it has opened: it grows while it does."""
    rest(page)
    return page.locator("voice-graph [part~=card]").first.bounding_box()


def talk(page):
    state(page, "transcript")
    assert page.evaluate(f"{ELEMENT}.send('hello')") is True
    wait(page, f"{ELEMENT}.transcript.items.some(item => item.role === 'agent' && item.state === 'whole')")
    page.evaluate(f"""() => {{ window.states = []; window.kept = {ELEMENT}
      kept.addEventListener('state', ({{ detail }}) => states.push(detail.state)) }}""")


# Whatever a framework does with it when it draws a page again: none of it changes what is wanted.
SAME = {
    "src set again": "e.setAttribute('src', e.getAttribute('src'))",
    "token set again": "e.setAttribute('token', e.getAttribute('token'))",
    "the same address, spelt otherwise": "e.setAttribute('src', e.getAttribute('src') + '../')",
    "token taken away and back": "const t = e.getAttribute('token'); e.removeAttribute('token'); e.setAttribute('token', t)",
    "both set": "for (const n of ['src', 'token']) e.setAttribute(n, e.getAttribute(n))",
    "moved": "document.body.prepend(document.createElement('main')); document.querySelector('main').append(e)",
    "taken out and put back": "const p = e.parentNode; e.remove(); p.append(e)",
    "moved a moment later": "const p = e.parentNode; e.remove(); await Promise.resolve(); p.append(e)",
    "with what is around it": "const b = document.createElement('div'); e.before(b); b.append(e); b.remove(); document.body.append(b)",
}


@pytest.mark.parametrize("change", SAME.values(), ids=SAME.keys())
def test_what_changes_nothing_leaves_the_conversation_as_it_is(element, change):
    page, _ = element('mode="conversation"')
    talk(page)
    sockets = []
    page.on("websocket", lambda socket: sockets.append(socket.url))
    items = page.evaluate(f"{ELEMENT}.transcript.items.length")
    # What comes of it would be begun by the next task, and told before an answer of the host.
    page.evaluate(f"async () => {{ const e = {ELEMENT}; {change}; await new Promise(done => setTimeout(done, 50)) }}")
    assert page.evaluate(f"{ELEMENT}.send('what is your name')") is True
    wait(page, f"{ELEMENT}.transcript.items.length >= {items} + 2")
    assert page.evaluate("states") == [] and sockets == []
    assert page.evaluate(f"{ELEMENT} === kept && {ROOT}.querySelectorAll('li').length") >= items + 2


def test_element_that_is_taken_out_for_good_leaves(element):
    page, host = element('mode="conversation"')
    talk(page)
    page.evaluate(f"{ELEMENT}.remove()")
    wait(page, "kept.state === 'idle' && !kept.connected")


POLICIES = {
    "trusted types": "require-trusted-types-for 'script'",
    "trusted types, and none may be made": "require-trusted-types-for 'script'; trusted-types 'none'",
    "no style": "style-src 'none'",
    "what it needs alone": "default-src 'none'; script-src {host}; connect-src {host} {socket}; img-src data:",
}


@pytest.fixture
def governed(run, elsewhere, open_page):
    """An element in a page elsewhere with a policy of its own; what it puts in {} is the host's."""

    def make(policy, attributes='mode="conversation"', allows=()):
        host = run(TALKING, "--set", f'web.origins=["{elsewhere.origin}"]')
        live = host.url.replace("http", "ws", 1)
        given = policy.format(host=host.url, socket=live)
        (elsewhere.site / "index.html").write_text(
            f"""<!doctype html><html lang="en"><title>elsewhere</title><link rel="icon" href="data:,">
            <meta http-equiv="Content-Security-Policy" content="{given}">
            <script type="module" src="{host.url}voice-graph.js"></script>
            <voice-graph src="{host.url}" token="{host.token}" {attributes}></voice-graph>""")
        return open_page(elsewhere.origin + "/index.html", host.url, live, allows=allows), host

    return make


@pytest.mark.parametrize("policy", POLICIES.values(), ids=POLICIES.keys())
def test_policies_of_a_page_that_allow_it_do_not_break_it(governed, policy):
    page, host = governed(policy)
    talk(page)
    assert page.locator("voice-graph [part~=agent-bubble]").count() >= 1


@pytest.mark.parametrize("policy", ["connect-src {host}", "connect-src 'none'"])
def test_policy_that_forbids_the_connection_is_an_error_in_words(governed, policy):
    page, _ = governed(policy, "", ["Content Security Policy", "Content-Security-Policy", "WebSocket"])
    state(page, "error")
    error = page.evaluate(f"{ELEMENT}.error")
    assert error["kind"] == "initialization"
    assert error["message"] == "Cannot connect" and error["hint"], error


def test_host_that_takes_the_connection_and_never_answers_is_an_error(run, elsewhere, open_page):
    # It listens, and nobody ever looks who has come.
    silent = socket.create_server(("127.0.0.1", 0))
    port = silent.getsockname()[1]
    host = run(TALKING, "--set", f'web.origins=["{elsewhere.origin}"]')
    # Its patience is shortened; all else is as it is.
    (elsewhere.site / "index.html").write_text(
        f"""<!doctype html><html lang="en"><title>elsewhere</title><link rel="icon" href="data:,">
        <script>const set = window.setTimeout; window.setTimeout = (f, ms, ...more) => set(f, ms > 5000 ? 500 : ms, ...more)</script>
        <script type="module" src="{host.url}voice-graph.js"></script>
        <voice-graph src="http://127.0.0.1:{port}" token="x"></voice-graph>""")
    page = open_page(elsewhere.origin + "/index.html", host.url, f"http://127.0.0.1:{port}", f"ws://127.0.0.1:{port}")
    page.watch.allows += ["WebSocket", "Failed to load"]
    state(page, "error")
    assert page.evaluate(f"{ELEMENT}.error.message") == "Cannot connect"
    silent.close()


@pytest.mark.parametrize("src", ["http://[", "ftp://example.org/", "javascript:alert(1)"])
def test_address_that_is_none_is_an_error_in_words(element, src):
    page, host = element('should-initialize="false"')
    page.watch.allows += ["WebSocket", "Failed to load", "URL scheme", "Content Security"]
    wait(page, "!!customElements.get('voice-graph')")
    page.evaluate(f"src => {{ {ELEMENT}.setAttribute('src', src); {ELEMENT}.removeAttribute('should-initialize') }}", src)
    state(page, "error")
    assert page.evaluate(f"{ELEMENT}.error.hint") == "The address of the assistant is not right."
    page.evaluate(f"url => {ELEMENT}.setAttribute('src', url)", host.url)
    state(page, "collapsed")


CUTTING = {
    "transform": "transform: translate(300px, 200px) scale(.8)", "clip": "overflow: hidden; contain: paint; width: 9px; height: 9px",
    "filter": "filter: blur(0)", "z-index": "position: relative; z-index: 0; opacity: .99",
}


@pytest.mark.parametrize("style", CUTTING.values(), ids=CUTTING.keys())
@pytest.mark.parametrize("corner", ["bottom-right", "top-left"])
def test_element_in_a_corner_is_above_whatever_the_page_does_around_it(element, corner, style):
    page, _ = element(f'position="{corner}"', css=f"""main {{ {style} }} body {{ margin: 0 }}
      #over {{ position: fixed; inset: 0; z-index: 99999; background: white }}""")
    page.evaluate(f"""() => {{ const box = document.body.appendChild(document.createElement('main')); box.append({ELEMENT})
      document.body.append(Object.assign(document.createElement('div'), {{ id: 'over' }})) }}""")
    state(page, "collapsed")
    page.locator("voice-graph [part~=launcher]").click()
    state(page, "expanded")
    box = open_card(page)
    far = [1280 - box["x"] - box["width"], 900 - box["y"] - box["height"]] if corner == "bottom-right" else [box["x"], box["y"]]
    assert far == pytest.approx([20, 20], abs=4) and box["width"] == pytest.approx(360, abs=30)
    # Each corner of the card is the element's, and nothing lies over it.
    hit = page.evaluate("""({ x, y, width, height }) => [[.1, .1], [.9, .1], [.5, .9]].map(([a, b]) =>
      document.elementFromPoint(x + a * width, y + b * height)?.localName)""", box)
    assert hit == ["voice-graph"] * 3


def test_element_goes_to_a_corner_and_back_and_stands_there_without_popovers_too(element):
    page, _ = element(script="if (location.hash) delete HTMLElement.prototype.showPopover")
    state(page, "collapsed")
    assert not page.evaluate(f"{ELEMENT}.hasAttribute('popover')")
    page.evaluate(f"{ELEMENT}.position = 'bottom-right'")
    assert page.evaluate(f"{ELEMENT}.matches(':popover-open')")
    page.evaluate(f"{ELEMENT}.position = 'inline'")
    assert not page.evaluate(f"{ELEMENT}.hasAttribute('popover')") and page.locator("voice-graph [part~=launcher]").is_visible()
    page.goto(page.url + "#plain")
    page.reload()
    state(page, "collapsed")
    page.evaluate(f"{ELEMENT}.position = 'bottom-right'")
    box = page.locator("voice-graph [part~=launcher]").bounding_box()
    assert not page.evaluate(f"{ELEMENT}.hasAttribute('popover')")
    assert [box["x"] + box["width"], box["y"] + box["height"]] == pytest.approx([1260, 880], abs=4)


STRANGE = """body { text-transform: uppercase; letter-spacing: .4em; text-align: center; word-spacing: 2em; text-indent: 40px;
  text-shadow: 3px 3px red; writing-mode: vertical-rl; white-space: nowrap; font: italic bold 40px serif; line-height: 3;
  font-variant: small-caps; cursor: wait; color: red; list-style: square; quotes: none; tab-size: 20; hyphens: auto;
  text-decoration: underline; -webkit-text-stroke: 2px red; font-stretch: condensed; text-emphasis: dot red }"""


@pytest.mark.parametrize("css", [STRANGE, STRANGE + "* { all: unset }", STRANGE.replace("body", "voice-graph")],
                         ids=["inherited", "everything unset", "set on the element"])
def test_style_of_the_page_does_not_come_in(element, css):
    page, _ = element('mode="conversation" theme="light"')
    talk(page)
    look = f"""() => {{ const style = getComputedStyle({ROOT}.querySelector('li'))
      return Object.fromEntries([...style].filter(name => !/^--|size|width|height|origin/.test(name)).map(
        name => [name, style.getPropertyValue(name)])) }}"""
    plain = page.evaluate(look)
    page.add_style_tag(content=css)
    strange = page.evaluate(look)
    assert page.evaluate("getComputedStyle(document.body).color") == "rgb(255, 0, 0)" or "body" not in css or "unset" in css
    assert {name: (plain[name], strange[name]) for name in plain if plain[name] != strange[name]} == {}


def test_direction_and_visibility_of_the_page_are_those_of_the_element(element):
    page, _ = element('mode="conversation"', css="body { direction: rtl; visibility: hidden }")
    state(page, "transcript")
    style = page.evaluate(f"(({{ direction, visibility }}) => [direction, visibility])(getComputedStyle({ROOT}.querySelector('ol')))")
    assert style == ["rtl", "hidden"]


def test_inputs_are_large_enough_that_a_phone_does_not_enlarge_the_page(element):
    page, _ = element('mode="conversation"')
    state(page, "transcript")
    assert page.evaluate(f"parseFloat(getComputedStyle({ROOT}.querySelector('input')).fontSize)") >= 16


@pytest.mark.parametrize("css, wanted", [
    ("", "light"), ("body { background: #101418 }", "dark"), ("html { color-scheme: dark }", "dark"),
    ("body { color-scheme: light; background: #101418 }", "light"), ("body { background: rgb(240 240 240) }", "light")])
def test_element_has_the_colours_of_its_page_whatever_the_system_has(element, css, wanted):
    page, _ = element(css=css, color_scheme="dark" if wanted == "light" else "light")
    state(page, "collapsed")
    surface = page.locator("voice-graph [part~=launcher]").evaluate("e => getComputedStyle(e).backgroundColor")
    assert surface == {"light": "rgb(255, 255, 255)", "dark": "rgb(23, 26, 32)"}[wanted]


@pytest.mark.parametrize("accent", ["#ff6a00", "#ffe600", "#10206a", "rebeccapurple"])
def test_all_follows_from_one_accent_and_can_be_read(element, accent):
    page, _ = element('mode="conversation"', css=f"voice-graph {{ --vg-accent: {accent} }}")
    talk(page)
    contrast = """([part, over]) => { const e = document.querySelector('voice-graph').shadowRoot.querySelector(`[part~=${part}]`)
      const light = c => { const [r, g, b] = c.match(/[0-9.]+/g).map(v => (v /= c.startsWith('color') ? 1 : 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
        return 0.2126 * r + 0.7152 * g + 0.0722 * b }
      const { color, backgroundColor } = getComputedStyle(e), [a, b] = [light(color), light(over ?? backgroundColor)]
      return [(Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05), backgroundColor] }"""
    for part in ["user-bubble", "send"]:
        ratio, ground = page.evaluate(contrast, [part, None])
        assert ratio >= 4.5, (part, accent, ratio, ground)
    assert page.evaluate(contrast, ["user-bubble", None])[1] != "rgb(3, 107, 91)", "the colour of one's own"


def test_element_is_as_wide_as_its_place(element):
    page, _ = element(css="body { width: 250px; margin: 0 }")
    state(page, "collapsed")
    page.locator("voice-graph [part~=launcher]").click()
    state(page, "expanded")
    for view in ["expanded", "transcript"]:
        box = open_card(page)
        assert box["width"] <= 250, (view, box)
        page.locator("voice-graph [part~=toggle]").click()


def test_attributes_are_properties_and_events_go_up_as_the_types_say(element):
    page, _ = element('preset="constructor" should-initialize="FALSE"')
    wait(page, "!!customElements.get('voice-graph')")
    assert page.evaluate(f"{ELEMENT}.state") == "idle"
    told = page.evaluate(f"""async () => {{ const e = {ELEMENT}, told = []
        for (const type of ['state', 'status', 'mute', 'message', 'error']) document.addEventListener(type, ({{ type }}) => told.push(type))
        e.mode = 'conversation'; e.theme = 'dark'; e.iconOnly = true; e.iconOnly = false; e.shouldInitialize = true
        const end = performance.now() + 20000
        while (e.state !== 'transcript' && performance.now() < end) await new Promise(done => setTimeout(done, 50))
        return [e.getAttribute('mode'), e.theme, e.hasAttribute('icon-only'), e.src, e.state, [...new Set(told)].sort()] }}""")
    assert told[:3] == ["conversation", "dark", False] and told[3].startswith("http://127.0.0.1") and told[4] == "transcript"
    assert told[5] == ["state", "status"], told


def test_who_spoke_is_read_out_and_each_text_has_its_own_direction(element):
    page, host = element('mode="conversation"')
    talk(page)
    names = page.evaluate(f"""[...{ROOT}.querySelectorAll('[part~=bubble]')].map(e => [getComputedStyle(e, '::before').content, getComputedStyle(e).unicodeBidi])""")
    assert names[0] == ['"You:"', "plaintext"] and names[1] == ['"Assistant:"', "plaintext"], names


def test_snippet_that_is_chosen_works_in_a_page_elsewhere(run, open_page, elsewhere):
    host = run(TALKING + f'[web]\norigins = ["{elsewhere.origin}"]\n')
    page = open_page(host.link)
    page.get_by_role("link", name="Embed it").click()
    page.get_by_label("position").select_option("bottom-left")
    page.get_by_label("preset").select_option("glacier")
    words = 'Ask "me" & <b>them</b>'
    page.get_by_label("Text of the button").first.fill(words)
    page.get_by_text("A colour of my own").click()
    # What it looks like is shown beside it.
    state(page, "collapsed", "#preview voice-graph")
    assert words in page.evaluate("document.querySelector('#preview voice-graph').shadowRoot.textContent")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Copy").click()
    page.get_by_text("Copied.").wait_for()
    snippet = page.evaluate("navigator.clipboard.readText()")
    assert snippet == page.locator("#snippet").inner_text() and host.token not in snippet, snippet
    # Where the page has no clipboard, it says what to do.
    page.evaluate("Object.defineProperty(navigator, 'clipboard', { value: undefined })")
    page.get_by_role("button", name="Copy").click()
    page.get_by_text("select the text and copy it").wait_for()
    token = host.links["visitor"].split("token=")[1]
    (elsewhere.site / "own.html").write_text("<!doctype html><meta charset=utf-8><title>own</title><link rel=icon href=data:,>" + snippet.replace('token="..."', f'token="{token}"'))
    own = open_page(elsewhere.origin + "/own.html", host.url, host.url.replace("http", "ws", 1))
    state(own, "collapsed")
    assert words in own.evaluate(f"{ROOT}.textContent") and own.evaluate(f"{ELEMENT}.getAttribute('preset')") == "glacier"
    assert own.evaluate(f"getComputedStyle({ELEMENT}).getPropertyValue('--vg-accent')") == "#036b5b"
