# SPDX-License-Identifier: Apache-2.0
"""What the page of each right shows, and what a browser keeps of a link."""
from conftest import wait
from live import Live
from running import TALKING, eventually


def test_visitors_talk_and_see_nothing_else(run, open_page):
    host = run(TALKING)
    page = open_page(host.links["visitor"])
    page.locator("#conversation [part~=input]").wait_for()
    assert not page.locator("nav").is_visible()
    page.locator("#conversation [part~=input]").fill("hello")
    page.keyboard.press("Enter")
    page.locator("#conversation [part~=agent-bubble]").first.wait_for()
    eventually("it speaks", lambda: host.event("speech.started"))
    # Whoever writes another view into the address sees the conversation.
    page.goto(host.url + "#/nodes")
    assert page.locator("#talk").is_visible() and not page.locator("#nodes").is_visible()
    refused = page.evaluate("""import('/live.js').then(({ Live }) => Live.of(location.origin + '/', localStorage.token)
        .call('remove', { node: 'agent' }).catch(error => error.message))""")
    assert "may not" in refused and any(node["name"] == "agent" for node in host.look("nodes")["nodes"])


def test_operators_turn_what_there_is_and_change_no_graph(run, open_page):
    host = run(TALKING)
    page = open_page(host.links["operator"])
    wait(page, "document.body.innerText.includes('running')")
    navigation = page.get_by_role("navigation")
    navigation.get_by_role("link", name="Graph").click()
    page.locator("#drawing .node").first.wait_for()
    assert not page.locator("#edits").is_visible() and not page.locator("#add").is_visible()
    navigation.get_by_role("link", name="Nodes").click()
    card = page.get_by_role("article", name="agent")
    assert card.get_by_role("button", name="Remove").is_disabled()
    card.get_by_role("button", name="Mute").click()
    eventually("it is muted", lambda: next(n for n in host.look("nodes")["nodes"] if n["name"] == "agent")["mute"])


def test_what_is_turned_is_told_with_the_right_of_whoever_turned_it_and_not_to_visitors(run):
    host = run(TALKING)
    tellers = {right: Live(host, token=link.split("token=")[1]) for right, link in host.links.items()}
    for teller in tellers.values():
        assert teller.call("events")["ok"]
    for right, value in (("operator", -30), ("owner", -40)):
        assert tellers[right].call("set", node="quiet", parameter="gain_db", value=value)["ok"]
        event = eventually("it is told", lambda: next(
            (event for event in host.events("parameter.changed") if event["value"] == value), None))
        assert (event["node"], event["parameter"], event["by"]) == ("quiet", "gain_db", f"browser ({right})")
        for reader in ("operator", "owner"):
            tellers[reader].until(lambda: any(
                told["event"] == "parameter.changed" and told["value"] == value for told in tellers[reader].events))
    late = Live(host, token=host.links["operator"].split("token=")[1])
    late.call("events")
    late.until(lambda: any(told["event"] == "parameter.changed" and told["value"] == -40 for told in late.events))
    visitor = tellers["visitor"]
    visitor.call("do", node="agent", action="send", arguments={"text": "hello"})
    visitor.until(lambda: any(told["event"] == "speech.state" and told.get("speaking") for told in visitor.events))
    assert [told for told in visitor.events if told["event"] in ("parameter.changed", "node.switched")] == []
    for client in (*tellers.values(), late):
        client.close()


def test_the_token_stays_in_the_browser_and_goes_to_no_other_port(run, open_page):
    host = run(TALKING)
    page = open_page(host.link)
    wait(page, "document.body.innerText.includes('running')")
    assert "token" not in page.url and not page.context.cookies()
    # The same browser needs the link once.
    page.goto(host.url)
    wait(page, "document.body.innerText.includes('running')")
