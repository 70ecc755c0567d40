# SPDX-License-Identifier: Apache-2.0
"""A button that is held to talk, where the graph has a node that is pressed for it."""

import pytest

import gate as gates
from conftest import state
from running import TALKING, eventually

HELD = TALKING.replace('links = ["agent', 'links = ["mic -> text", "talk.on -> text.gate", "agent') + """
[node.mic]
type = "input"
[node.text]
type = "transcribe"
gated = true
[node.talk]
type = "switch"
"""


def hold(page):
    return page.locator("voice-graph [part~=hold]").last


def is_on(host):
    return (host.event("switch.state") or {}).get("on")


@pytest.fixture
def held(run, open_page):
    """The page of a graph with such a node, and the button of its conversation, which can be pressed."""

    def make(**options):
        host = run(HELD)
        page = open_page(host.link, **options)
        state(page, "transcript", "#conversation")
        hold(page).wait_for()
        return page, host

    return make


def press(page):
    """Holds the button with the mouse. A line that comes above it moves it away, which a person sees, and follows."""

    def holds_it():
        hold(page).hover()
        page.mouse.down()
        if hold(page).evaluate("button => button.matches(':active')"):
            return True
        page.mouse.up()

    eventually("the pointer is on it", holds_it)


def test_talk_is_on_while_the_button_is_held_and_the_page_says_so(held):
    page, host = held()
    status = page.locator("#conversation [part~=status]")
    assert hold(page).inner_text() == "Hold to talk" and hold(page).get_attribute("aria-pressed") == "false"
    assert status.inner_text() == "Idle" and not page.locator("#conversation [part~=mute]").is_visible()
    press(page)
    eventually("it is pressed", lambda: is_on(host) and hold(page).get_attribute("aria-pressed") == "true")
    eventually("it listens", lambda: status.inner_text() == "Listening")
    page.mouse.up()
    eventually("it is let go", lambda: is_on(host) is False and status.inner_text() == "Idle")
    # So is what somebody else presses, a pedal or a program.
    host.call("do", node="talk", action="press")
    eventually("it is seen", lambda: hold(page).get_attribute("aria-pressed") == "true")


ENDS = {
    "the window loses the focus": "window.dispatchEvent(new Event('blur'))",
    "a touch is taken for something else": "button.dispatchEvent(new PointerEvent('pointercancel'))",
    "something else has the focus": "button.focus(); button.blur()",
    "the tab is left": "document.dispatchEvent(new Event('visibilitychange'))",
    "the conversation is left": "document.querySelector('#conversation').end()",
}


@pytest.mark.parametrize("end", ENDS.values(), ids=ENDS.keys())
def test_what_takes_the_button_away_lets_it_go(held, end):
    page, host = held()
    press(page)
    eventually("it is pressed", lambda: is_on(host))
    page.evaluate(f"() => {{ const button = document.querySelector('#conversation').shadowRoot.querySelector('.hold'); {end} }}")
    eventually("it is let go", lambda: is_on(host) is False)


def test_space_holds_it_too(held):
    page, host = held()
    hold(page).focus()
    page.keyboard.down("Space")
    page.keyboard.down("Space")
    eventually("it is pressed", lambda: is_on(host))
    page.keyboard.up("Space")
    eventually("it is let go", lambda: is_on(host) is False)
    assert [event["on"] for event in host.events("switch.state")] == [False, True, False]


def test_what_was_held_when_the_connection_was_lost_is_let_go_when_it_is_back(run, gate, open_page):
    host = run(HELD, *gates.OPTIONS)
    way = gate(host)
    page = open_page(f"{way.url}?token={host.token}")
    state(page, "transcript", "#conversation")
    hold(page).wait_for()
    page.watch.allows += ["ERR_", "WebSocket", "Failed to load resource", "CORS"]
    press(page)
    eventually("it is pressed", lambda: is_on(host))
    way.cut()
    state(page, "error", "#conversation")
    page.mouse.up()
    assert is_on(host)
    way.open()
    eventually("it is let go", lambda: is_on(host) is False)


def test_who_may_only_talk_and_a_switch_for_something_else_have_no_such_button(run, open_page):
    host = run(HELD)
    page = open_page(host.links["visitor"])
    state(page, "transcript", "#conversation")
    assert not hold(page).is_visible()
    other = run(HELD.replace('"talk.on -> text.gate", ', ""))
    page = open_page(other.link)
    state(page, "transcript", "#conversation")
    assert not hold(page).is_visible() and page.locator("#conversation [part~=mute]").is_visible()


def test_visitors_hold_it_where_the_graph_grants_them_that_and_they_may_do_nothing_else_of_it(run, open_page):
    host = run(HELD + '[web]\nvisitors = ["talk.press", "talk.release"]\n')
    page = open_page(host.links["visitor"])
    state(page, "transcript", "#conversation")
    hold(page).wait_for()
    status = page.locator("#conversation [part~=status]")
    press(page)
    eventually("it is pressed", lambda: is_on(host) and hold(page).get_attribute("aria-pressed") == "true")
    assert status.inner_text() == "Listening"
    page.mouse.up()
    eventually("it is let go", lambda: is_on(host) is False and status.inner_text() == "Idle")
    asked = {"Authorization": "Bearer " + host.links["visitor"].split("token=")[1]}
    actions = host.ask("api/actions?node=talk", headers=asked)[1]["actions"]
    assert [action["name"] for action in actions] == ["press", "release"]
    status, answer = host.ask("api/do", {"node": "talk", "action": "toggle"}, headers=asked)
    assert status == 400 and "may not do 'toggle' of 'talk'" in answer["error"]["message"]
