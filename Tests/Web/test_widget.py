# SPDX-License-Identifier: Apache-2.0
"""The element <voice-graph>: states, transcript, typed messages, colours and labels."""

import pytest

from conftest import state, wait
from running import TALKING, eventually


def part(page, name):
    return page.locator(f"voice-graph [part~={name}]")


def states(page):
    return page.evaluate("window.states")


def record(page):
    """Initializes an element that was not, and remembers its states."""
    page.evaluate("""() => { const e = document.querySelector('voice-graph'); window.states = []
      e.addEventListener('state', ({ detail }) => window.states.push(detail.state))
      e.setAttribute('should-initialize', 'true') }""")


def test_T1_states_follow_one_another(element):
    page, _ = element('should-initialize="false"')
    record(page)
    state(page, "collapsed")
    page.evaluate("document.querySelector('voice-graph').start()")
    state(page, "expanded")
    assert states(page) == ["loading", "collapsed", "connecting", "expanded"]
    assert page.evaluate("(({status, muted}) => [status, muted])(document.querySelector('voice-graph'))") == [
        "waiting", False]
    part(page, "toggle").click()
    state(page, "transcript")
    part(page, "toggle").click()
    state(page, "expanded")
    # Start counts from collapsed alone.
    page.evaluate("document.querySelector('voice-graph').start()")
    assert states(page)[-1] == "expanded"


def test_T2_end_forgets_and_a_lost_connection_can_be_retried(element):
    page, host = element()
    state(page, "collapsed")
    part(page, "launcher").click()
    state(page, "expanded")
    part(page, "toggle").click()
    part(page, "input").fill("hello there")
    part(page, "input").press("Enter")
    wait(page, "document.querySelector('voice-graph').transcript.items.length > 1")
    part(page, "end").click()
    state(page, "collapsed")
    assert page.evaluate("document.querySelector('voice-graph').transcript.items.length") == 0
    part(page, "launcher").click()
    state(page, "expanded")
    page.watch.allows += ["ERR_CONNECTION_REFUSED", "WebSocket", "Failed to load resource", "CORS"]
    host.kill()
    state(page, "error")
    assert part(page, "title").inner_text() == "Connection lost"
    assert part(page, "retry").is_visible()


def test_Fix_ending_while_it_connects_is_an_end(element):
    page, _ = element()
    state(page, "collapsed")
    page.evaluate("(e => { e.start(); e.end() })(document.querySelector('voice-graph'))")
    state(page, "collapsed")
    page.wait_for_timeout(500)
    assert page.locator("voice-graph").get_attribute("data-state") == "collapsed"


def test_T3_status_has_its_labels(element):
    page, host = element('label-thinking="Wait" label-waiting="Go on, interrupt"')
    state(page, "collapsed")
    part(page, "launcher").click()
    state(page, "expanded")
    # What does not speak cannot be interrupted.
    assert part(page, "status").inner_text() == "Idle"
    page.evaluate("""() => { window.said = []; const status = document.querySelector('voice-graph').shadowRoot.querySelector('.status')
      new MutationObserver(() => said.push(status.textContent)).observe(status, { childList: true }) }""")
    for label in ("Go on, interrupt", "Speak to interrupt"):
        page.evaluate("document.querySelector('voice-graph').send('hello')")
        eventually(label, lambda: label in page.evaluate("said"))
        eventually("it rests", lambda: part(page, "status").inner_text() == "Idle")
        page.evaluate("document.querySelector('voice-graph').removeAttribute('label-waiting')")
    assert set(page.evaluate("said")) <= {"Wait", "Connecting...", "Go on, interrupt", "Speak to interrupt", "Idle"}


def test_T3_where_nobody_talks_there_is_no_status(element):
    page, host = element(graph='[graph]\nlinks = ["tone -> meter"]\n[node.tone]\ntype = "tone"\n[node.meter]\ntype = "meter"\n')
    state(page, "collapsed")
    part(page, "launcher").click()
    state(page, "expanded")
    assert part(page, "status").is_hidden() and part(page, "end").is_visible()


def test_T4_an_initialization_that_fails_says_so_and_retry_initializes(element):
    page, host = element('should-initialize="false"')
    page.watch.allows += ["401", "WebSocket", "403", "Failed to load resource"]
    page.evaluate("""() => { const e = document.querySelector('voice-graph')
      window.token = e.getAttribute('token'); e.setAttribute('token', '0'.repeat(32)); e.initialize() }""")
    state(page, "error")
    assert page.evaluate("document.querySelector('voice-graph').error.kind") == "initialization"
    page.evaluate("""document.querySelector('voice-graph').setAttribute('token', window.token)""")
    state(page, "collapsed")


def test_T5_levels_are_smoothed_as_they_should_be(element):
    page, host = element()
    values = page.evaluate(f"""async () => {{ const {{ smooth }} = await import('{host.url}voice-graph.js')
      let level = 0; return [.25, .25, 0, 0, 0].map(input => level = smooth(level, input)) }}""")
    assert values == pytest.approx([0.9, 0.99, 0.396, 0.1584, 0.06336])


def test_T6_Fix_bars_are_real_bands(element):
    graph = TALKING.replace("tone -> quiet -> out", "tone -> face").replace(
        'type = "tone"', 'type = "tone"\nfrequency = 4000\nlevel_db = -3')
    page, host = element('mode="bars" visualizer="face"', graph, css="voice-graph { width: 600px; height: 400px }")
    page.watch.allows.append("getImageData")
    state(page, "collapsed")
    # Of a sine the band around it is high, and those far away are not.
    script = """() => { const e = document.querySelector('voice-graph'); const c = e.shadowRoot.querySelector('canvas')
      const [w, h] = [c.width, c.height]; if (!w) return null
      const d = c.getContext('2d').getImageData(0, 0, w, h).data; const tall = []; let run = 0, most = 0
      for (let x = 0; x < w; x++) { let n = 0; for (let y = 0; y < h; y++) if (d[4 * (y * w + x) + 3] > 128) n++
        if (n) { run = 1; most = Math.max(most, n / h) } else if (run) { tall.push(most); run = most = 0 } }
      if (run) tall.push(most)
      return tall }"""
    tall = eventually("one bar is high", lambda: (t := page.evaluate(script)) and max(t) > 0.6 and t)
    assert len(tall) == 10, tall
    assert sum(height > 0.5 for height in tall) <= 3, tall


def test_T6_Fix_bars_wait_for_the_first_bands(element):
    graph = TALKING.replace("tone -> quiet -> out", "tone -> face")
    # What the element asks for is held back, so that levels come and bands do not.
    page, host = element('mode="bars" visualizer="face"', graph, script="""
      window.held = []; window.taken = []; const { send } = WebSocket.prototype
      WebSocket.prototype.send = function (text) { const go = () => send.call(this, text)
        held && String(text).includes('"call":"ask"') ? held.push(go) : go() }
      customElements.whenDefined('voice-graph').then(() => { const { face } = document.querySelector('voice-graph')
        const { take } = face; face.take = (level, bands) => { taken.push(bands?.length ?? 0); take.call(face, level, bands) } })""")
    wait(page, "document.querySelector('voice-graph').level > 0.2")
    assert page.evaluate("[held.length > 0, taken.length]") == [True, 0]
    page.evaluate("() => { const all = held; held = null; all.forEach(go => go()) }")
    taken = eventually("it is drawn", lambda: page.evaluate("taken"))
    assert set(taken) == {10}, taken


@pytest.mark.parametrize("name,outer", [("Twilight", "#81b9ff"), ("FLARE", "#ffffff"), ("nonsense", "#d3ffa6")])
def test_T8_presets_by_name_in_any_case(element, name, outer):
    page, host = element()
    colors = page.evaluate(f"""async () => (await import('{host.url}voice-graph.js')).presetColors('{name}')""")
    assert colors[0] == outer


def test_T8_properties_go_before_attributes(element):
    page, _ = element(
        'preset="flare"',
        css="""voice-graph { --vg-surface: rgb(1, 2, 3); --vg-transcript-background: rgb(4, 5, 6);
          --vg-user-bubble-background: rgb(7, 8, 9); --vg-user-bubble-text: rgb(250, 251, 252);
          --vg-agent-bubble-background: rgb(10, 11, 12); --vg-agent-bubble-text: rgb(240, 241, 242);
          --vg-mute-background: rgb(13, 14, 15); --vg-input-background: rgb(16, 17, 18);
          --vg-text-primary: rgb(230, 231, 232); --vg-text-secondary: rgb(220, 221, 222) }""")
    state(page, "collapsed")
    part(page, "launcher").click()
    part(page, "toggle").click()
    state(page, "transcript")
    part(page, "input").fill("hello")
    part(page, "input").press("Enter")
    wait(page, 
        "document.querySelector('voice-graph').shadowRoot.querySelector('[part~=agent-bubble]')")

    def style(name, key):
        return part(page, name).first.evaluate(f"e => getComputedStyle(e).{key}")

    assert style("card", "backgroundColor") == "rgb(1, 2, 3)"
    assert style("transcript", "backgroundColor") == "rgb(4, 5, 6)"
    assert style("user-bubble", "backgroundColor") == "rgb(7, 8, 9)"
    assert style("user-bubble", "color") == "rgb(250, 251, 252)"
    assert style("agent-bubble", "backgroundColor") == "rgb(10, 11, 12)"
    assert style("agent-bubble", "color") == "rgb(240, 241, 242)"
    assert style("input", "backgroundColor") == "rgb(16, 17, 18)"
    assert style("input", "color") == "rgb(230, 231, 232)"
    assert style("status", "color") == "rgb(220, 221, 222)"


def test_T9_items_of_a_transcript(element):
    page, host = element()
    result = page.evaluate(f"""async () => {{
      const {{ Transcript }} = await import('{host.url}voice-graph.js'); const t = new Transcript()
      t.put({{ id: 'b', role: 'agent', delta: 'Hello', time: 2 }}); t.put({{ id: 'b', delta: ' you', time: 2 }})
      t.put({{ id: 'a', role: 'user', text: 'one', time: 1 }}); t.put({{ id: 'a', text: 'one two', time: 1 }})
      const again = t.put({{ id: 'a', text: 'one two', time: 1 }}); const blank = t.put({{ id: 'c', text: '  ', time: 3 }})
      return [t.items.map(item => item.text), again === undefined, blank === undefined] }}""")
    assert result == [["one two", "Hello you"], True, True]


def talk(page):
    state(page, "collapsed")
    part(page, "launcher").click()
    state(page, "expanded")
    part(page, "toggle").click()
    state(page, "transcript")


def test_T10_typed_messages_are_trimmed_and_echoed_at_once(element):
    page, host = element()
    talk(page)
    part(page, "input").fill("   ")
    part(page, "input").press("Enter")
    assert part(page, "bubble").count() == 0
    part(page, "input").fill("  hello  ")
    part(page, "input").press("Enter")
    assert part(page, "user-bubble").first.inner_text() == "hello"
    part(page, "agent-bubble").first.wait_for()
    # What was typed stands there once.
    assert part(page, "user-bubble").count() == 1
    eventually("the host has it", lambda: host.event("agent.user"))
    assert host.event("agent.user")["text"] == "hello"


def test_T10_typed_message_stands_before_its_reply_whatever_the_page_took_for_its_time(element):
    page, host = element()
    talk(page)
    # The page's idea of the graph's time is ahead of the host's.
    page.evaluate(f"""async () => {{ const {{ Live }} = await import('{host.url}live.js')
        Object.defineProperty(Live.of('{host.url}', '{host.token}'), 'time', {{ get: () => 1e6, set() {{}} }}) }}""")
    for count, text in enumerate(["hello", "what is your name"], 1):
        part(page, "input").fill(text)
        part(page, "input").press("Enter")
        eventually("the reply is whole", lambda: page.locator("voice-graph [part~=agent-bubble].whole").count() == count)
    roles = "[...document.querySelector('voice-graph').shadowRoot.querySelectorAll('[part~=bubble]')].map(e => e.className)"
    assert [role.split()[0] for role in page.evaluate(roles)] == ["user", "agent"] * 2
    items = page.evaluate("document.querySelector('voice-graph').transcript.items")
    assert [item["role"] for item in items] == ["user", "agent"] * 2
    assert [item["time"] for item in items] == sorted(item["time"] for item in items)
    assert items[-1]["time"] < 1e5


def test_T11_icon_only(element):
    page, host = element("icon-only")
    state(page, "collapsed")
    box = part(page, "launcher").bounding_box()
    assert (round(box["width"]), round(box["height"])) == (56, 56)
    icon = page.locator("voice-graph [part~=launcher] svg").bounding_box()
    assert (round(icon["width"]), round(icon["height"])) == (32, 32)
    look = "e => [getComputedStyle(e).backgroundColor, getComputedStyle(e.querySelector('svg')).color]"
    assert part(page, "launcher").evaluate(look) == ["rgb(3, 107, 91)", "rgb(255, 255, 255)"], "the primary colour"
    part(page, "launcher").click()
    state(page, "transcript")
    assert not part(page, "toggle").is_visible(), "there is no other view"
    page.watch.allows += ["ERR_CONNECTION_REFUSED", "WebSocket", "Failed to load resource", "CORS"]
    host.kill()
    state(page, "error")
    assert part(page, "launcher").is_visible() and not part(page, "retry").is_visible()
    part(page, "launcher").click()
    assert part(page, "retry").is_visible()


def test_an_image_of_ones_own_in_the_launcher(element):
    page, host = element()
    state(page, "collapsed")
    logo = "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' width='90' height='90'/%3E"
    page.evaluate(f"document.querySelector('voice-graph').innerHTML = `<img slot=icon id=logo src=\"{logo}\">`")
    box = eventually("the image", lambda: page.locator("#logo").bounding_box())
    assert (round(box["width"]), round(box["height"])) == (32, 32)
    assert not page.locator("voice-graph [part~=launcher] svg").first.is_visible()
    page.watch.allows += ["ERR_CONNECTION_REFUSED", "WebSocket", "Failed to load resource", "CORS"]
    part(page, "launcher").click()
    host.kill()
    state(page, "error")
    assert not page.locator("#logo").is_visible(), "an error is to be seen"


@pytest.mark.parametrize("mode", ["face", "orb", "bars", "wave"])
def test_a_face_fills_its_place(element, mode):
    page, _ = element(f'mode="{mode}" style="width: 576px; height: 400px"')
    # Who waits breathes, which makes it smaller for a moment.
    eventually("a picture", lambda: part(page, "canvas").evaluate("e => [e.clientWidth, e.clientHeight]") == [576, 400])
    assert part(page, "card").evaluate("e => getComputedStyle(e).borderTopWidth") == "0px"


def test_T12_mute_and_themes(element):
    graph = TALKING.replace('"tone -> quiet -> out"', '"mic -> text -> agent"') + """
[node.mic]
type = "input"
[node.text]
type = "transcribe"
"""
    page, host = element('theme="dark"', graph)
    talk(page)

    def is_muted():
        return next(node for node in host.look("nodes")["nodes"] if node["name"] == "mic")["mute"]

    part(page, "mute").click()
    eventually("the microphone is muted", is_muted)
    wait(page, "document.querySelector('voice-graph').muted")
    assert part(page, "mute").get_attribute("aria-pressed") == "true"
    part(page, "mute").click()
    eventually("it is open again", lambda: not is_muted())
    dark = part(page, "card").evaluate("e => getComputedStyle(e).backgroundColor")
    page.evaluate("document.querySelector('voice-graph').setAttribute('theme', 'light')")
    light = part(page, "card").evaluate("e => getComputedStyle(e).backgroundColor")
    assert dark != light == "rgb(255, 255, 255)"
    page.evaluate("document.querySelector('voice-graph').setAttribute('theme', 'system')")
    page.emulate_media(color_scheme="dark")
    assert part(page, "card").evaluate("e => getComputedStyle(e).backgroundColor") == dark


def test_T12_Fix_the_newest_message_is_shown_unless_somebody_reads_further_up(element):
    page, host = element()
    talk(page)
    for number in range(12):
        part(page, "input").fill(f"hello number {number}\nwith more words to fill the line of it")
        part(page, "input").press("Enter")
    at_end = """() => { const l = document.querySelector('voice-graph').shadowRoot.querySelector('[part=transcript]')
      return l.scrollHeight > l.clientHeight && l.scrollHeight - l.scrollTop - l.clientHeight < 2 }"""
    wait(page, at_end)
    part(page, "transcript").evaluate("e => { e.scrollTop = 0 }")
    part(page, "newest").wait_for()
    part(page, "input").fill("one more")
    host.call("do", node="agent", action="send", arguments={"text": "from somewhere else"})
    page.get_by_text("from somewhere else").wait_for(state="attached")
    assert part(page, "transcript").evaluate("e => e.scrollTop") == 0
    part(page, "newest").click()
    wait(page, at_end)


def lists(page, host, then):
    """What a page says after 30 messages in a list of 100 px."""
    return page.evaluate(f"""async () => {{ const {{ Bubbles }} = await import('{host.url}bubbles.js')
        const make = style => document.body.appendChild(Object.assign(document.createElement('div'), {{ style }}))
        const parts = {{ transcript: make('height: 100px; overflow: auto'), newest: make(''), said: make('') }}
        const bubbles = new Bubbles(parts, () => {{}}, word => word)
        for (let id = 0; id < 30; id++) bubbles.put({{ id, role: 'user', text: 'words', time: id }})
        const list = parts.transcript, end = list.scrollTop
        const frame = () => new Promise(done => requestAnimationFrame(() => setTimeout(done)))
        const missing = () => list.scrollHeight - list.scrollTop - list.clientHeight
        {then} }}""")


def test_T12_message_that_comes_in_the_very_frame_of_scrolling_up_does_not_scroll_back(element):
    page, host = element()
    where = lists(
        page,
        host,
        """list.scrollTop = 0
        bubbles.put({ id: 30, role: 'agent', text: 'more', time: 30 })
        return [end > 100, list.scrollTop, parts.newest.hidden]""",
    )
    assert where == [True, 0, False]


def test_T12_whatever_moves_the_list_but_a_reader_leaves_it_at_its_end(element):
    page, host = element()
    missing = lists(
        page,
        host,
        """const found = {}, long = ' a long text'.repeat(200)
        const look = async (what, change) => { change(); await frame(); await frame()
            found[what] = [missing(), bubbles.isPinned, parts.newest.hidden] }
        await frame()
        // Of a stream of messages the one before the last comes back, and its bubble takes its place again.
        await look('typed and come back', () => { for (let n = 0; n < 4; n++) bubbles.echo('typed ' + n + long, 30 + n)
            bubbles.returned('typed 1' + long, 'one', 40)
            bubbles.returned('typed 2' + long, 'two', 29.5)
            bubbles.put({ id: 'reply', role: 'agent', text: 'more', time: 50 }) })
        await look('a shorter list', () => { list.style.height = '30px' })
        await look('a message, and a shorter list', () => { list.style.height = '100px'
            bubbles.put({ id: 60, role: 'agent', text: 'more', time: 60 }); list.style.height = '30px' })
        await look('a taller list', () => { list.style.height = '160px' })
        await look('a narrower list', () => { list.style.width = '30px' })
        await look('a bubble that goes', () => bubbles.put({ id: 60, role: 'agent', text: '', time: 60 }))
        list.scrollTop = 0
        await frame()
        await frame()
        await look('the button, and a message in its frame', () => { parts.newest.click()
            bubbles.put({ id: 61, role: 'agent', text: long, time: 61 }) })
        return found""",
    )
    assert {what: state for what, state in missing.items() if state[0] >= 2 or state[1:] != [True, True]} == {}
    assert len(missing) == 7


def test_T13_Fix_should_initialize_counts_later_too(element):
    page, host = element('should-initialize="false"')
    sockets = []
    page.on("websocket", lambda socket: sockets.append(socket.url))
    page.wait_for_timeout(300)
    assert page.locator("voice-graph").get_attribute("data-state") == "idle" and sockets == []
    page.evaluate("document.querySelector('voice-graph').setAttribute('should-initialize', 'true')")
    state(page, "collapsed")
    part(page, "launcher").click()
    state(page, "expanded")
    page.evaluate("document.querySelector('voice-graph').setAttribute('should-initialize', 'false')")
    page.wait_for_timeout(300)
    assert page.locator("voice-graph").get_attribute("data-state") == "expanded"
