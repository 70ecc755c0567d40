# SPDX-License-Identifier: Apache-2.0
"""The WebSocket: numbered events, coming back after a gap, levels of which only the newest count."""

import time

from conftest import wait
from live import Live
from running import eventually


def numbers(live):
    return [event["number"] for event in live.events if "number" in event]


def say(host, text):
    host.call("do", node="voice", action="speak", arguments={"text": text})


def test_events_are_numbered_by_one_and_nothing_is_missed_after_a_gap(run):
    host = run()
    first = Live(host)
    answer = first.call("events")
    assert answer["ok"] and not answer["resumed"]
    say(host, "one")
    first.until(lambda: any(event["event"] == "speech.finished" for event in first.events))
    seen = [number for number in numbers(first) if number > answer["number"]]
    assert seen == list(range(answer["number"] + 1, seen[-1] + 1))
    last = numbers(first)[-1]
    first.close()
    say(host, "two")
    eventually("it was said", lambda: len(host.events("speech.finished")) == 2)
    again = Live(host)
    answer = again.call("events", since=last, run=answer["run"])
    assert answer["resumed"] and answer["number"] == last
    again.until(lambda: any(event["event"] == "speech.finished" for event in again.events))
    missed = numbers(again)
    assert missed == list(range(last + 1, missed[-1] + 1))
    # Another run's numbers mean nothing here.
    other = Live(host)
    assert not other.call("events", since=last, run="0" * 16)["resumed"]
    other.until(lambda: any(event["event"] == "speech.state" for event in other.events))


def test_two_clients_are_told_the_same(run):
    host = run()
    clients = [Live(host), Live(host)]
    starts = [client.call("events")["number"] for client in clients]
    say(host, "hello")
    told = []
    for client in clients:
        client.until(lambda: any(event["event"] == "speech.finished" for event in client.events))
        told.append({e["number"]: e for e in client.events if e.get("number", 0) > max(starts)})
    common = told[0].keys() & told[1].keys()
    assert common and all(told[0][number] == told[1][number] for number in common)


def test_levels_come_and_what_is_on_request_only_on_request(run):
    host = run()
    live = Live(host)
    live.call("events")
    # A message holds what was measured since the last one, which need not be of every node.
    live.until(lambda: len(live.levels) > 20 and {("face", "orb"), ("level", "peak")} <= live.newest().keys())
    assert ("face", "bands") not in live.newest()
    assert len(live.newest()[("level", "peak")]) == 1
    live.call("ask", series=["face.bands"])
    live.until(lambda: ("face", "bands") in live.newest())
    assert len(live.newest()[("face", "bands")]) == 10
    times = [live.rows(message)[0] for message in live.levels]
    assert times == sorted(times)
    live.call("ask", series=[])
    live.levels.clear()
    live.until(lambda: len(live.levels) > 30)
    assert ("face", "orb") in live.newest() and ("face", "bands") not in live.newest()


def test_a_client_that_reads_nothing_is_given_the_newest_and_costs_no_memory(run):
    host = run()
    live = Live(host, max_queue=1)
    live.call("events")
    live.until(lambda: len(live.levels) > 5)
    before = host.memory()
    asleep_at = live.rows(live.levels[-1])[0]
    # It sleeps while others go on; what its socket holds is all that waits for it.
    other = Live(host)
    other.call("events")
    other.until(lambda: other.levels and other.rows(other.levels[-1])[0] > asleep_at + 6)
    assert host.memory() < before + 30
    live.levels.clear()
    live.until(lambda: live.levels and live.rows(live.levels[-1])[0] > asleep_at + 6)


def test_calls_of_one_client_are_done_in_their_order(run):
    host = run()
    live = Live(host)
    for value in range(-50, 0):
        live.count += 1
        live.socket.send(
            f'{{"id":{live.count},"call":"set","node":"quiet","parameter":"gain_db","value":{value}}}')
    ids = []
    while len(ids) < 50:
        if answer := live.take():
            assert answer["ok"], answer
            ids.append(answer["id"])
    assert ids == sorted(ids)
    assert live.call("get", node="quiet", parameter="gain_db")["value"] == -1


def test_a_page_comes_back_after_its_host_does(run, open_page):
    host = run()
    page = open_page(host.link)
    wait(page, "document.body.innerText.includes('running')")
    page.watch.allows += ["ERR_CONNECTION_REFUSED", "WebSocket", "Failed to load resource"]
    tries = []
    page.on("websocket", lambda socket: tries.append(time.monotonic()))
    host.kill()
    eventually("it is tried again", lambda: page.wait_for_timeout(50) or len(tries) >= 3)
    gaps = [later - earlier for earlier, later in zip(tries, tries[1:])]
    assert gaps[-1] > gaps[0] * 1.1, "each attempt waits longer than the one before"
