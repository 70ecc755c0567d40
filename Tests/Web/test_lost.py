# SPDX-License-Identifier: Apache-2.0
"""Where the way to the host is cut, or its answer is no: what the element and the page say, and how they come back."""

import signal
import time

import pytest

import gate as gates
from conftest import state, wait
from live import Live
from running import TALKING, eventually

BREAKS = ["ERR_", "WebSocket", "Failed to load resource", "CORS"]
ELEMENT = "document.querySelector('voice-graph')"


def part(page, name):
    return page.locator(f"voice-graph [part~={name}]")


@pytest.fixture
def placed(run, gate, elsewhere, open_page):
    """An element in a page elsewhere whose way to its host can be cut; returns page, host, way."""

    def make(attributes="", graph=TALKING, *options):
        host = run(graph, *gates.OPTIONS, "--set", f'web.origins=["{elsewhere.origin}"]', *options)
        way = gate(host)
        (elsewhere.site / "index.html").write_text(
            f"""<!doctype html><html lang="en"><title>elsewhere</title><link rel="icon" href="data:,">
            <script type="module" src="{host.url}voice-graph.js"></script>
            <voice-graph src="{way.url}" token="{host.token}" {attributes}></voice-graph>""")
        page = open_page(elsewhere.origin + "/index.html", host.url, way.url, way.url.replace("http", "ws", 1))
        return page, host, way

    return make


def retry(page):
    """Presses Retry; where the connection has come back by itself meanwhile, the button is hidden and does nothing."""
    part(page, "retry").evaluate("button => button.click()")


def begin(page, wanted="expanded"):
    state(page, "collapsed")
    part(page, "launcher").click()
    state(page, wanted)


def away(placed):
    """The same as `placed`, of a host that is not there when it is initialized."""
    page, host, way = placed('should-initialize="false"')
    page.watch.allows += BREAKS
    way.cut()
    page.evaluate(f"{ELEMENT}.setAttribute('should-initialize', 'true')")
    state(page, "error")
    return page, host, way


def test_T2_retry_brings_a_lost_session_back_to_a_new_one(placed):
    page, host, way = placed()
    begin(page)
    page.watch.allows += BREAKS
    way.cut()
    state(page, "error")
    assert page.evaluate(f"(({{kind, message}}) => [kind, message])({ELEMENT}.error)") == ["connection", "Connection lost"]
    way.open()
    retry(page)
    eventually("it is usable again", lambda: page.evaluate(f"{ELEMENT}.state") in ("collapsed", "expanded"))
    if page.evaluate(f"{ELEMENT}.state") == "collapsed":
        begin(page)
    assert page.evaluate(f"{ELEMENT}.error") is None
    assert page.evaluate(f"{ELEMENT}.send('hello')") is True
    eventually("the host has it", lambda: host.event("agent.user"))


def test_T2_session_that_comes_back_by_itself_has_lost_nothing(placed):
    page, host, way = placed()
    begin(page)
    part(page, "toggle").click()
    assert page.evaluate(f"{ELEMENT}.send('hello')") is True
    eventually("the reply", lambda: part(page, "agent-bubble").count())
    eventually("it was spoken", lambda: host.event("speech.finished"))
    page.watch.allows += BREAKS
    way.cut()
    state(page, "error")
    host.call("do", node="agent", action="send", arguments={"text": "what is your name"})
    eventually("it was answered", lambda: len(host.events("agent.final")) >= 2)
    way.open()
    state(page, "transcript")
    part(page, "user-bubble").filter(has_text="what is your name").wait_for()
    texts = part(page, "bubble").all_inner_texts()
    assert texts[0] == "hello" and texts.count("what is your name") == 1, texts
    eventually("the replies", lambda: part(page, "agent-bubble").count() == 2)


def test_T4_host_that_is_not_there_is_an_error_of_initialization_and_retry_initializes(placed):
    page, host, way = away(placed)
    assert page.evaluate(f"{ELEMENT}.error.kind") == "initialization"
    assert part(page, "title").inner_text() and part(page, "hint").inner_text()
    way.open()
    retry(page)
    state(page, "collapsed")
    begin(page)


UNREACHABLE = TALKING.replace('type = "agent"', """type = "agent"
backend = "openai"
url = "http://127.0.0.1:9/v1"
model = "none"
retries = 0""")


def test_T4_what_fails_in_a_conversation_is_told_with_its_reason_and_retry(placed):
    page, host, way = placed(graph=UNREACHABLE)
    begin(page)
    page.evaluate(f"{ELEMENT}.send('hello')")
    state(page, "error")
    error = page.evaluate(f"{ELEMENT}.error")
    assert error["kind"] in ("connection", "other") and error["message"], error
    assert part(page, "retry").is_visible()
    # The conversation is still there, and goes on with what is said next.
    part(page, "retry").click()
    state(page, "expanded")
    part(page, "toggle").click()
    assert part(page, "user-bubble").all_inner_texts() == ["hello"]


@pytest.fixture
def talking(placed):
    """An element with a conversation of one question and its reply; returns page, host, way."""

    def make(attributes="", *options):
        page, host, way = placed(attributes, TALKING, *options)
        begin(page, "transcript" if "icon-only" in attributes else "expanded")
        if "icon-only" not in attributes:
            part(page, "toggle").click()
        assert page.evaluate(f"{ELEMENT}.send('hello')") is True
        eventually("the reply", lambda: part(page, "agent-bubble").count())
        eventually("it was spoken", lambda: host.event("speech.finished"))
        part(page, "input").fill("a draft")
        page.watch.allows += BREAKS
        return page, host, way

    return make


def kept(page):
    """What of a conversation can be seen: its bubbles, the draft, and where the focus is."""
    return page.evaluate(f"""() => {{ const root = {ELEMENT}.shadowRoot, all = part => [...root.querySelectorAll(`[part~=${{part}}]`)]
        return [all('bubble').filter(e => e.checkVisibility()).map(e => e.textContent), all('input')[0].value,
            root.activeElement?.part.value] }}""")


def test_host_that_hangs_is_told_within_seconds_over_the_conversation_and_comes_back(talking):
    page, host, way = talking()
    before = kept(page)
    assert before[1:] == ["a draft", "input"] and len(before[0]) == 2, before
    host.process.send_signal(signal.SIGSTOP)
    try:
        begun = time.monotonic()
        state(page, "error")
        assert time.monotonic() - begun < 20, "3 s on a machine that has time for it"
        part(page, "title").filter(has_text="Connection lost").wait_for()
        assert kept(page) == before
        assert not part(page, "send").is_enabled()
    finally:
        host.process.send_signal(signal.SIGCONT)
    state(page, "transcript")
    assert kept(page) == before and not part(page, "error").is_visible()


def test_host_that_says_nothing_by_itself_is_not_taken_for_one_that_hangs(placed):
    page, host, way = placed()
    begin(page)
    host.call("mute", node="voice", on=True)
    page.evaluate(f"""() => {{ window.states = []
        {ELEMENT}.addEventListener('state', ({{ detail }}) => states.push(detail.state)) }}""")
    page.wait_for_timeout(4500)
    assert page.evaluate("states") == [] and page.evaluate(f"{ELEMENT}.state") == "expanded"


def test_conversation_outlives_the_run_at_its_other_end(run, talking, elsewhere, tmp_path):
    tokens = ["--set", f'web.tokens="{tmp_path / "tokens"}"']
    page, host, way = talking("", *tokens)
    before = kept(page)
    host.kill()
    state(page, "error")
    assert kept(page) == before
    again = run(TALKING, *gates.OPTIONS, *tokens, "--set", f'web.origins=["{elsewhere.origin}"]', port=host.port)
    assert again.token == host.token
    state(page, "transcript")
    assert kept(page) == before
    part(page, "input").press("Enter")
    eventually("what comes stands behind it", lambda: len(kept(page)[0]) == 4)
    assert kept(page)[0][:3] == [*before[0], "a draft"]


def test_what_cannot_begin_is_closed_to_a_button_and_opened_again(placed):
    page, host, way = away(placed)
    part(page, "dismiss").click()
    assert part(page, "launcher").is_visible() and not part(page, "error").is_visible()
    assert page.evaluate(f"{ELEMENT}.shadowRoot.activeElement.part.value") == "launcher"
    part(page, "launcher").click()
    part(page, "retry").wait_for()
    # A key of the page goes to whoever has the focus, which comes with what is shown.
    eventually("the retry has the focus", lambda: page.evaluate(f"{ELEMENT}.shadowRoot.activeElement?.part.value") == "retry")
    page.keyboard.press("Escape")
    part(page, "launcher").wait_for()


def test_T11_red_icon_opens_the_card_and_retry_brings_back_the_button(placed):
    page, host, way = placed("icon-only")
    begin(page, "transcript")
    page.watch.allows += BREAKS
    way.cut()
    state(page, "error")
    launcher = part(page, "launcher")
    # An icon that is just being replaced has no style.
    color = eventually("an icon", lambda: launcher.locator("svg").evaluate("e => getComputedStyle(e).color"))
    red, green, blue = (int(value) for value in color[4:-1].split(", "))
    assert red > 2 * green and red > 2 * blue, color
    launcher.click()
    way.open()
    retry(page)
    eventually("it is usable again", lambda: page.evaluate(f"{ELEMENT}.state") in ("collapsed", "transcript"))
    if page.evaluate(f"{ELEMENT}.state") == "collapsed":
        box = launcher.bounding_box()
        assert (round(box["width"]), round(box["height"])) == (56, 56)


def test_T10_nothing_is_sent_while_there_is_no_connection(placed):
    page, host, way = placed()
    state(page, "collapsed")
    # Not in a session: nothing is sent, and nothing said to have been.
    assert page.evaluate(f"{ELEMENT}.send('too early')") is False
    begin(page)
    page.watch.allows += BREAKS
    way.cut()
    state(page, "error")
    assert page.evaluate(f"{ELEMENT}.send('too late')") is False
    way.open()
    retry(page)
    eventually("it is usable again", lambda: page.evaluate(f"{ELEMENT}.connected"))
    assert host.event("agent.user") is None


def test_T13_dormant_element_asks_the_network_for_nothing(placed):
    page, host, way = placed('should-initialize="false"')
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("websocket", lambda socket: asked.append(socket.url))
    page.evaluate("async () => { await customElements.whenDefined('voice-graph'); await new Promise(r => setTimeout(r, 500)) }")
    assert asked == [] and way.pairs == []
    assert page.evaluate(f"{ELEMENT}.state") == "idle"
    page.evaluate(f"{ELEMENT}.removeAttribute('should-initialize')")
    state(page, "collapsed")
    assert asked


def test_page_comes_back_with_what_it_missed(run, gate, open_page):
    host = run(TALKING, *gates.OPTIONS)
    way = gate(host)
    page = open_page(f"{way.url}?token={host.token}")
    wait(page, "document.body.innerText.includes('running')")
    page.watch.allows += BREAKS
    way.cut()
    page.get_by_role("alert").filter(has_text="Connection lost").wait_for()
    host.call("do", node="agent", action="send", arguments={"text": "said meanwhile"})
    host.call("add", node={"name": "later", "type": "gain"})
    way.open()
    # It may have come back by itself before anybody can press Retry.
    page.evaluate("[...document.querySelectorAll('[role=alert] button')].find(e => e.textContent === 'Retry')?.click()")
    page.locator("#conversation [part~=user-bubble]").filter(has_text="said meanwhile").wait_for()
    page.get_by_role("navigation").get_by_role("link", name="Nodes").click()
    page.get_by_role("article", name="later").wait_for()
    eventually("the notice has gone", lambda: page.get_by_role("alert").filter(has_text="Connection lost").count() == 0)


def test_page_whose_way_was_cut_while_it_was_still_loading_comes_up(run, gate, open_page):
    host = run(TALKING, *gates.OPTIONS)
    way = gate(host)
    page = open_page("about:blank", way.url, way.url.replace("http", "ws", 1))
    page.watch.allows += BREAKS
    # The socket is open, and its first answers never come.
    page.add_init_script("""const { send } = WebSocket.prototype
        WebSocket.prototype.send = function (text) { if (window.isDeaf && !text.includes('"events"')) return; send.call(this, text) }
        window.isDeaf = true""")
    page.goto(f"{way.url}?token={host.token}")
    element = "document.querySelector('voice-graph#conversation')"
    wait(page, f"{element}?.state === 'loading' && {element}.connected")
    way.cut()
    wait(page, f"{element}.state === 'error'")
    page.evaluate("window.isDeaf = false")
    way.open()
    wait(page, f"{element}.state === 'transcript'")
    assert page.evaluate(f"{element}.send('hello')") is True
    page.locator("#conversation [part~=agent-bubble]").first.wait_for()


def test_page_of_a_run_that_ended_says_that_its_link_is_of_no_use(run, open_page, tmp_path):
    host = run()
    page = open_page(host.link)
    wait(page, "document.body.innerText.includes('running')")
    page.watch.allows += [*BREAKS, "401", "403"]
    host.kill()
    page.get_by_role("alert").filter(has_text="Connection lost").wait_for()
    # Another run at the same place has another token.
    another = run(TALKING, port=host.port)
    page.get_by_role("alert").filter(has_text="No access").wait_for(timeout=60_000)
    assert "voicegraph web" in page.get_by_role("alert").filter(has_text="No access").inner_text()
    page.goto(another.link)
    wait(page, "document.body.innerText.includes('running')")


def test_whoever_was_away_too_long_is_told_so_and_begins_with_the_states(run):
    host = run()
    live = Live(host)
    answer = live.call("events")
    live.close()
    # More than what is kept, which is four megabytes of events.
    other = Live(host)
    for number in range(150):
        other.call("do", node="agent", action="send", arguments={"text": "x" * 30_000 + str(number)})
    other.close()
    again = Live(host)
    since = again.call("events", since=answer["number"], run=answer["run"])
    assert since["resumed"] is False and since["run"] == answer["run"]
    again.until(lambda: any(event["event"] == "speech.state" for event in again.events))
    again.events.clear()
    again.call("do", node="voice", action="speak", arguments={"text": "one"})
    again.until(lambda: any(event["event"] == "speech.finished" for event in again.events))
    numbers = [event["number"] for event in again.events if event.get("number", 0) > since["number"]]
    assert numbers == list(range(numbers[0], numbers[0] + len(numbers)))
    again.close()
