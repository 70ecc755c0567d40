# SPDX-License-Identifier: Apache-2.0
"""How an element says what goes on: its status, the texts as they come, its look when the system changes its own."""

import pytest

from conftest import rest, state, wait
from running import TALKING, eventually

ELEMENT = "document.querySelector('voice-graph')"
# Who answers waits for a file of the name of each sentence, so that each moment can be looked at.
STEPS = """while read -r line; do
  for step in 1 2; do until [ -e "$line-$step" ]; do sleep 0.02; done; cat "$line-$step"; echo; done; echo
done"""
STEPPING = TALKING.replace('type = "agent"', f'type = "agent"\nbackend = "command"\ncommand = ["sh", "-c", """{STEPS}"""]')


def part(page, name):
    return page.locator(f"voice-graph [part~={name}]")


def begin(page, wanted="transcript"):
    state(page, "collapsed")
    part(page, "launcher").click()
    state(page, "expanded")
    if wanted == "transcript":
        part(page, "toggle").click()
        state(page, "transcript")


def step(host, number, text):
    """Lets one more sentence come."""
    path = host.folder / f"go-{number}"
    path.with_suffix(".new").write_text(text)
    path.with_suffix(".new").rename(path)


def record(page):
    page.evaluate(f"""() => {{ window.told = []; {ELEMENT}.addEventListener('status', ({{ detail }}) => told.push(detail.status)) }}""")


def test_T3_status_goes_from_waiting_to_thinking_and_back(element):
    page, host = element('label-thinking="One moment"', STEPPING)
    begin(page)
    record(page)
    assert part(page, "status").inner_text() == "Idle"
    page.evaluate(f"{ELEMENT}.send('go')")
    # Who answers may have to be started first, which is told in between.
    eventually("it thinks", lambda: part(page, "status").inner_text() == "One moment")
    eventually("it is told", lambda: page.locator("voice-graph").get_attribute("data-status") == "thinking")
    page.evaluate(f"{ELEMENT}.removeAttribute('label-thinking')")
    eventually("it has its own label", lambda: part(page, "status").inner_text() == "Thinking...")
    step(host, 1, "One.")
    step(host, 2, "Two.")
    eventually("it can be interrupted", lambda: page.evaluate(f"{ELEMENT}.status") == "waiting")
    eventually("it is over", lambda: host.event("agent.final"))
    told = page.evaluate("told")
    # Where who answers has to be started first, that is told too, and when all was heard nobody waits any more.
    assert set(told) <= {"thinking", "connecting", "waiting", "idle"} and told[0] == "thinking", told
    assert [status for status in told if status != "connecting"][-2:] in (["thinking", "waiting"], ["waiting", "idle"]), told


def test_T9_reply_grows_in_one_bubble(element):
    page, host = element("", STEPPING)
    begin(page)
    page.evaluate(f"""() => {{ window.seen = []; {ELEMENT}.addEventListener('message', ({{ detail }}) => seen.push({{ ...detail }})) }}""")
    page.evaluate(f"{ELEMENT}.send('go')")
    step(host, 1, "This comes first.")
    bubble = part(page, "agent-bubble")
    eventually("the first sentence", lambda: bubble.count() == 1 and "first" in bubble.inner_text())
    assert "second" not in bubble.inner_text()
    # The reader sees that it is not all.
    assert "partial" in bubble.get_attribute("class")
    step(host, 2, "And this second.")
    eventually("the whole reply", lambda: "partial" not in bubble.get_attribute("class"))
    assert bubble.count() == 1 and bubble.inner_text().split() == "This comes first. And this second.".split()
    items = page.evaluate(f"{ELEMENT}.transcript.items")
    assert [item["role"] for item in items] == ["user", "agent"]
    assert [item["time"] for item in items] == sorted(item["time"] for item in items)
    replies = [item for item in page.evaluate("seen") if item["role"] == "agent"]
    assert len({item["id"] for item in replies}) == 1
    texts = [" ".join(item["text"].split()) for item in replies]
    assert len(texts) > 1 and all(later.startswith(earlier) for earlier, later in zip(texts, texts[1:])), texts


def test_T9_items_stand_in_the_order_of_their_time(element):
    page, host = element()
    found = page.evaluate("""async url => { const { Transcript } = await import(url + 'voice-graph.js'); const t = new Transcript()
      for (const [id, time] of [['c', 3], ['a', 1], ['d', 3], ['b', 2]]) t.put({ id, role: 'user', text: id, time })
      t.put({ id: 'b', text: 'b again', time: 9 }); t.put({ id: 'a', text: '', time: 1 })
      return t.items.map(({ text }) => text) }""", host.url)
    assert found == ["b again", "c", "d"]


def test_T12_everything_is_muted_and_open_again_by_events_of_others_too(element):
    graph = TALKING.replace('"tone -> quiet -> out"', '"mic -> text -> agent"') + '[node.mic]\ntype = "input"\n[node.text]\ntype = "transcribe"\n'
    page, host = element("", graph)
    begin(page, "expanded")
    host.call("mute", node="mic", on=True)
    eventually("it is seen", lambda: page.evaluate(f"{ELEMENT}.muted"))
    assert part(page, "mute").get_attribute("aria-pressed") == "true"
    # A new session begins with an open microphone.
    part(page, "end").click()
    state(page, "collapsed")
    part(page, "launcher").click()
    state(page, "expanded")
    eventually("it is open", lambda: not page.evaluate(f"{ELEMENT}.muted"))
    assert not next(node for node in host.look("nodes")["nodes"] if node["name"] == "mic")["mute"]


STROKE = f"""() => {{ const c = {ELEMENT}.shadowRoot.querySelector('canvas'); if (!c.width) return null
  const d = c.getContext('2d').getImageData(0, Math.floor(c.height / 2), c.width, 1).data
  for (let x = 0; x < c.width; x++) if (d[4 * x + 3] > 250) return (d[4 * x] + d[4 * x + 1] + d[4 * x + 2]) / 3
  return null }}"""


@pytest.mark.parametrize("mode", ["bars", "widget"])
def test_T12_picture_at_rest_follows_when_the_system_becomes_dark(element, mode):
    page, host = element(f'mode="{mode}" preset="mystic"', color_scheme="light",
                         css=":root { color-scheme: light dark; background: light-dark(#fff, #101418) }"
                             "body { background: light-dark(#fff, #101418) } voice-graph { width: 400px; height: 300px }")
    page.watch.allows.append("getImageData")
    state(page, "collapsed")
    if mode == "widget":
        begin(page, "expanded")
    light = eventually("bars", lambda: page.evaluate(STROKE))
    page.emulate_media(color_scheme="dark")
    # What was dark on white would not be seen on black.
    eventually("they are light", lambda: page.evaluate(STROKE) > light + 40, 5)


@pytest.mark.parametrize("position", ["bottom-right", "bottom-left", "top-right", "top-left", "inline"])
def test_element_stands_in_its_corner_and_within_the_window(element, position):
    page, host = element(f'position="{position}"', viewport={"width": 320, "height": 900})
    begin(page)
    rest(page)
    box = part(page, "card").first.bounding_box()
    assert box["x"] >= 0 and box["y"] >= 0 and box["x"] + box["width"] <= 320 and box["y"] + box["height"] <= 900, box
    if position != "inline":
        # On a phone a conversation has all of the window.
        assert [round(box[key]) for key in ("x", "y", "width", "height")] == [0, 0, 320, 900], box
        assert page.locator("voice-graph").evaluate("e => getComputedStyle(e).position") == "fixed"
    assert page.evaluate("document.documentElement.scrollWidth") <= 320
    for name in ("input", "send", "toggle", "end"):
        inner = part(page, name).bounding_box()
        assert inner["x"] >= box["x"] and inner["x"] + inner["width"] <= box["x"] + box["width"] + 0.5, name
        assert inner["height"] >= 40 and (name == "input" or inner["width"] >= 40), "a finger finds it"
    if position == "inline":
        return
    page.set_viewport_size({"width": 800, "height": 900})
    rest(page)
    box = part(page, "card").first.bounding_box()
    assert (box["y"] < 100) == position.startswith("top") and (box["x"] < 100) == position.endswith("left"), box
    assert box["width"] <= 400 and box["x"] >= 0 and box["x"] + box["width"] <= 800, box


def test_two_elements_of_one_host_share_a_connection_and_one_leaves_the_other_alone(element):
    page, host = element()
    state(page, "collapsed")
    sockets = []
    page.on("websocket", lambda socket: sockets.append(socket.url))
    page.evaluate(f"""() => {{ const e = {ELEMENT}.cloneNode(); e.id = 'second'; document.body.append(e) }}""")
    state(page, "collapsed", "#second")
    assert sockets == []
    page.evaluate("document.querySelector('#second').start()")
    state(page, "expanded", "#second")
    page.evaluate("document.querySelector('#second').remove()")
    begin(page)
    assert page.evaluate(f"{ELEMENT}.send('hello')") is True
    eventually("it arrived", lambda: host.event("agent.user"))
