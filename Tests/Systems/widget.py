# SPDX-License-Identifier: Apache-2.0
"""The third system: the element <voice-graph> in a page of another origin, in Chromium."""

import math

from conftest import wait
from element import E, Element
from measuring import end, eventually, row
from running import TALKING, Running


@row("T1", "states of the element, one after another")
def states(measured):
    one = Element(measured, 'should-initialize="false"')
    one.page.evaluate(f"""() => {{ window.states = []
          {E}.addEventListener('state', ({{ detail }}) => states.push(detail.state)) }}""")
    first = one.page.locator("voice-graph").get_attribute("data-state")
    one.get("start()")
    one.get("setAttribute('should-initialize', 'true')")
    one.state("collapsed")
    one.get("start()")
    one.state("expanded")
    begin = one.page.evaluate(f"[{E}.status, {E}.muted]")
    one.get("start()")
    for wanted in ("transcript", "expanded"):
        one.part("toggle").click()
        one.state(wanted)
    found = [first, *one.page.evaluate("states")]
    measured.check(
        ", ".join(found) + f"; at the start {begin[0]}, muted {begin[1]}",
        begin == ["waiting", False]
        and found == ["idle", "loading", "collapsed", "connecting", "expanded", "transcript", "expanded"],
    )


@row("T2", "end, and a host that is killed")
def ends(measured):
    one = Element(measured)
    one.talk()
    one.get("send('hello')")
    wait(one.page, f"{E}.transcript.items.length > 1")
    one.part("end").click()
    one.state("collapsed")
    measured.check(
        f"end: collapsed with {one.get('transcript.items.length')} items", one.get("transcript.items.length") == 0
    )
    one.talk("expanded")
    one.host.kill()
    one.state("error")
    title = one.part("title").inner_text()
    measured.check(f"killed: {title!r} with Retry", title == "Connection lost" and one.part("retry").is_visible())


@row("T3", "status and labels while something is asked and answered")
def status(measured):
    seen = []
    for attributes in ("", 'label-thinking="Wait" label-waiting="Go on"'):
        one = Element(measured, attributes)
        one.talk("expanded")
        eventually("it rests", lambda: one.part("status").inner_text() == "Idle")
        one.page.evaluate(f"""() => {{ window.said = []; const s = {E}.shadowRoot.querySelector('[part~=status]')
          new MutationObserver(() => said.at(-1) !== s.textContent && said.push(s.textContent))
            .observe(s, {{ childList: true, subtree: true, characterData: true }}) }}""")
        one.get("send('hello')")
        eventually("it answers", lambda: len(one.page.evaluate("said")) > 1 and one.page.evaluate("said")[-1] == "Idle")
        seen.append(one.page.evaluate("said"))
    measured.check(
        "; ".join(", ".join(labels) for labels in seen),
        "Speak to interrupt" in seen[0]
        and "Go on" in seen[1]
        and set(seen[0]) <= {"Idle", "Thinking...", "Speak to interrupt"}
        and set(seen[1]) <= {"Idle", "Wait", "Go on"},
    )


@row("T4", "kinds of errors; Retry, also after a restart of a host that keeps its tokens")
def errors(measured):
    tokens = measured.folder / "tokens"
    options = ("--set", f'web.tokens="{tokens}"')
    one = Element(measured, options=options)
    good = one.get("getAttribute('token')")
    one.page.evaluate(f"() => {{ {E}.setAttribute('token', '0'.repeat(32)); {E}.initialize() }}")
    one.state("error")
    kinds = [one.get("error.kind")]
    one.get(f"setAttribute('token', '{good}')")
    one.state("collapsed")
    one.talk("expanded")
    one.host.kill()
    one.state("error")
    kinds.append(one.get("error.kind"))
    origin = "/".join(one.page.url.split("/")[:3])
    again = Running(
        measured.folder / "again", TALKING, "--set", f'web.origins=["{origin}"]', *options, port=one.host.port
    )
    measured.stack.callback(end, again.process)
    if one.page.locator("voice-graph").get_attribute("data-state") == "error":
        one.page.evaluate(f"() => {{ {E}.retry() }}")
    wait(one.page, f"['collapsed', 'expanded'].includes({E}.dataset.state)")
    measured.check(
        f"kinds {', '.join(kinds)}; the host comes back with the same tokens: {one.get('dataset.state')}",
        kinds == ["initialization", "connection"],
    )


@row("T9", "exported `Transcript`")
def transcript(measured):
    one = Element(measured)
    found = one.page.evaluate(f"""async () => {{ const {{ Transcript }} = await {one.module}; const t = new Transcript()
      t.put({{ id: 'b', role: 'agent', delta: 'Hello', time: 2 }}); t.put({{ id: 'b', delta: ' you', time: 2 }})
      t.put({{ id: 'a', role: 'user', text: 'one', time: 1 }}); t.put({{ id: 'a', text: 'one two', time: 1 }})
      const again = t.put({{ id: 'a', text: 'one two', time: 1 }}), blank = t.put({{ id: 'c', text: '  ', time: 3 }})
      return [t.items.map(item => item.text), again === undefined, blank === undefined] }}""")
    measured.check(
        f"items {found[0]}; a duplicate and a blank give nothing", found == [["one two", "Hello you"], True, True]
    )


@row("T10", "`send` of typed texts")
def typed(measured):
    one = Element(measured)
    one.talk()
    found = one.page.evaluate(
        f"""async () => {{ const e = {E}; const blank = await e.send('  '); const sent = e.send('   hello   ')
      const now = e.transcript.items.map(item => item.text); return [blank, now, await sent] }}"""
    )
    measured.check(f"blank {found[0]}, at once {found[1]}, sent {found[2]}", found == [False, ["hello"], True])
    one.host.kill()
    one.state("error")
    gone = one.page.evaluate(f"async () => {E}.send('hello')")
    measured.check(f"not connected {gone}", gone is False)


@row("T11", "icon-only: sizes, colour, where it leads, and an error")
def icon(measured):
    one = Element(measured, "icon-only")
    one.state("collapsed")
    box, drawn = (
        one.part("launcher").bounding_box(),
        one.page.locator("voice-graph [part~=launcher] svg").first.bounding_box(),
    )
    color = one.style("launcher", "backgroundColor")
    one.part("launcher").click()
    one.state("transcript")
    toggle = one.part("toggle").is_visible()
    measured.check(
        f"{box['width']:.0f}x{box['height']:.0f}, icon {drawn['width']:.0f}, {color}; "
        f"straight to transcript, toggle {toggle}",
        (round(box["width"]), round(box["height"]), round(drawn["width"]), color, toggle)
        == (56, 56, 32, "rgb(3, 107, 91)", False),
    )
    one.host.kill()
    one.state("error")
    hidden = not one.part("retry").is_visible()
    red = one.part("launcher").evaluate(
        """e => getComputedStyle([...e.querySelectorAll('svg')].find(s => s.getBoundingClientRect().width)).color"""
    )
    one.part("launcher").click()
    measured.check(f"error: icon {red}, a click shows Retry", hidden and one.part("retry").is_visible())


@row("T12", "mute, themes, the end of a long list")
def look(measured):
    graph = (
        TALKING.replace('"tone -> quiet -> out"', '"mic -> text -> agent"')
        + '[node.mic]\ntype = "input"\n[node.text]\ntype = "transcribe"\n'
    )
    one = Element(measured, 'theme="dark"', graph)
    one.talk()
    muted = []
    for wanted in (True, False):
        one.part("mute").click()
        wait(one.page, f"{E}.muted === {str(wanted).lower()}")
        muted.append(
            eventually(
                "the host knows",
                lambda wanted=wanted: next(node for node in one.host.look("nodes")["nodes"] if node["name"] == "mic")[
                    "mute"
                ]
                is wanted,
            )
        )
    found = {}
    for theme, scheme in (("dark", "light"), ("light", "dark"), ("system", "dark"), ("system", "light")):
        one.page.emulate_media(color_scheme=scheme)
        one.get(f"setAttribute('theme', '{theme}')")
        found[theme, scheme] = one.style("card", "backgroundColor")
    measured.check(
        "mute and unmute; light, dark and system in both schemes",
        all(muted)
        and found["system", "dark"] == found["dark", "light"] != found["light", "dark"] == found["system", "light"],
    )
    one.page.evaluate(
        f"async () => {{ for (let n = 0; n < 14; n++) await {E}.send('hello number ' + n + '\\nwith more words') }}"
    )
    where = f"(l => [l.scrollTop + l.clientHeight, l.scrollHeight])({E}.shadowRoot.querySelector('[part~=transcript]'))"
    wait(one.page, f"(([at, end]) => end > 500 && end - at < 2)({where})")
    at = one.page.evaluate(where)
    one.part("transcript").evaluate("e => { e.scrollTop = 0 }")
    one.part("newest").wait_for()
    one.host.call("do", node="agent", action="send", arguments={"text": "from elsewhere"})
    one.page.get_by_text("from elsewhere").wait_for(state="attached")
    stays = one.part("transcript").evaluate("e => e.scrollTop")
    measured.check(f"at {at[0]:.0f} of {at[1]:.0f} px; scrolled up it stays at {stays}, with a button", stays == 0)


@row("T13", "what the page asks for with should-initialize")
def dormant(measured):
    one = Element(measured, 'should-initialize="false"')
    wait(one.page, "customElements.get('voice-graph') && document.readyState === 'complete'")
    before = [url for url in one.asked if "/api/" in url]
    box = one.page.locator("voice-graph").bounding_box()
    one.get("setAttribute('should-initialize', 'true')")
    one.talk("expanded")
    one.get("setAttribute('should-initialize', 'false')")
    answered = one.page.evaluate(f"async () => {E}.send('hello')")
    measured.check(
        f"dormant: {len(before)} calls, shown {box and box['width'] or 0:.0f} px; later it initializes; "
        f"false again: {one.get('dataset.state')}",
        not before and answered and one.get("dataset.state") == "expanded",
    )


def highest(live):
    """The band that is highest now; only the newest messages are kept."""
    del live.levels[:-20]
    bands = live.newest().get(("face", "bands"))
    return bands and bands.index(max(bands))


@row("T-Fix", "an end while it connects, and bands that are real")
def fixes(measured):
    graph = TALKING.replace("tone -> quiet -> out", "tone -> face").replace(
        'type = "tone"', 'type = "tone"\nfrequency = 937.5'
    )
    one = Element(measured, graph=graph)
    one.state("collapsed")
    one.page.evaluate(f"(e => {{ e.start(); e.end() }})({E})")
    one.state("collapsed")
    open_streams = len(one.get("streams"))
    one.get("start()")
    measured.check(
        f"start and end: collapsed, {open_streams} streams; starts again: {one.state('expanded')}", open_streams == 0
    )
    live = measured.live(one.host, "face.bands")
    places = []
    for frequency in (100, 937.5, 6000):
        one.host.call("set", node="tone", parameter="frequency", value=frequency)
        wanted = int(10 * math.log(frequency / 50) / math.log(200))
        live.until(lambda wanted=wanted: highest(live) == wanted)
        places.append(wanted + 1)
    measured.check("highest band of 100, 937.5 and 6000 Hz: " + ", ".join(map(str, places)), True)


@row("T-Modifiers", "texts, a logo and the theme, by attributes and by [web]; face, orb, bars, wave as modes")
def modifiers(measured):
    logo = measured.folder / "logo.svg"
    logo.write_text(
        '<svg xmlns="http://www.w3.org/2000/svg" width="90" height="90"><rect width="90" height="90"/></svg>'
    )
    one = Element(
        measured,
        options=("--set", 'web.texts={ start = "Ask me" }', "--set", 'web.theme="dark"', "--set", f'web.logo="{logo}"'),
    )
    one.state("collapsed")
    label = eventually(
        "the text of [web]", lambda: "Ask me" in one.part("launcher").inner_text() and one.part("launcher").inner_text()
    )
    images = eventually(
        "the logo", lambda: one.page.evaluate(f"{E}.shadowRoot.querySelectorAll('[part~=launcher] img').length")
    )
    one.get("setAttribute('label-start', 'Talk')")
    own = eventually(
        "the attribute's", lambda: "Talk" in one.part("launcher").inner_text() and one.part("launcher").inner_text()
    )
    measured.check(f"[web]: {label.strip()!r}, {images} image; label-start: {own.strip()!r}", True)
    one.get("setAttribute('style', 'width: 576px; height: 400px')")
    sizes = []
    for mode in ("face", "orb", "bars", "wave"):
        one.get(f"setAttribute('mode', '{mode}')")
        box = eventually(f"a {mode}", lambda: (box := one.part("canvas").bounding_box()) and box["width"] > 100 and box)
        sizes.append((mode, round(box["width"]), round(box["height"])))
    measured.check(
        ", ".join(f"{mode} {width}x{height}" for mode, width, height in sizes),
        all(size[1:] == (576, 400) for size in sizes),
    )
