# SPDX-License-Identifier: Apache-2.0
"""The views of the page beside the face: recorder, transcripts, meters, nodes, graph, health."""

import json
import re

import pytest

from conftest import wait
from running import TALKING, eventually

RECORDING = """
[graph]
name = "recording"
links = ["tone -> level -> take", "level -> out"]
[node.tone]
type = "tone"
level_db = -12
[node.level]
type = "meter"
[node.take]
type = "record"
path = "take.wav"
autostart = false
keep = true
[node.out]
type = "output"
"""


def view(page, name):
    page.get_by_role("navigation").get_by_role("link", name=name).click()
    page.locator(f"#{name.lower()}").wait_for()
    return page.locator(f"#{name.lower()}")


@pytest.fixture
def opened(run, open_page):
    def make(graph=TALKING, *options):
        host = run(graph, *options)
        page = open_page(host.link)
        wait(page, "document.body.innerText.includes('running')")
        return page, host

    return make


def test_recorder_has_a_timer_pause_and_takes(opened):
    page, host = opened(RECORDING)
    recorder = view(page, "Recorder")
    recorder.get_by_role("button", name="Record").click()
    eventually("it records", lambda: host.event("record.started"))
    eventually("the timer runs", lambda: recorder.get_by_role("timer").inner_text() >= "00:00:01")
    recorder.get_by_role("button", name="pause").click()
    stands = eventually("it pauses", lambda: recorder.get_by_role("button", name="resume").is_visible()
                        and recorder.get_by_role("timer").inner_text())
    page.wait_for_timeout(1200)
    assert recorder.get_by_role("timer").inner_text() == stands
    recorder.get_by_role("button", name="resume").click()
    recorder.get_by_role("button", name="finish").click()
    take = recorder.get_by_role("listitem").filter(has_text="take.wav")
    take.wait_for()
    sound = take.locator("audio")
    sound.evaluate("a => { a.preload = 'metadata'; a.load() }")
    eventually("it can be played", lambda: sound.evaluate("a => a.duration") > 0.9)


def said(host, text):
    host.call("do", node="agent", action="send", arguments={"text": text})
    eventually("it is kept", lambda: any(
        item["text"] == text for session in host.look("transcripts")["sessions"]
        for item in host.look("transcript", session=session["id"])["items"]))


def test_V3_transcripts_are_listed_searched_edited_and_deleted(opened):
    page, host = opened()
    said(host, "hello there")
    said(host, "what is your name")
    transcripts = view(page, "Transcripts")
    items = transcripts.locator("#items > li")
    items.filter(has_text="hello there").wait_for()
    page.fill("#words", "name")
    eventually("what has the word", lambda: items.filter(has_text="hello there").count() == 0)
    items.filter(has_text="what is your name").first.wait_for()
    page.fill("#words", "")
    row = items.filter(has_text="hello there")
    row.get_by_role("button", name="Edit").click()
    page.locator("#items textarea").fill("hello to you")
    page.locator("#items").get_by_role("button", name="Save").click()
    items.filter(has_text="hello to you").filter(has_text="edited").wait_for()
    # A blank text is none.
    row = items.filter(has_text="hello to you")
    row.get_by_role("button", name="Edit").click()
    page.locator("#items textarea").fill("  ")
    page.locator("#items").get_by_role("button", name="Save").click()
    page.get_by_role("alert").filter(has_text="blank").wait_for()
    page.locator("#items").get_by_role("button", name="Cancel").click()
    items.filter(has_text="hello to you").get_by_role("checkbox").check()
    delete = transcripts.get_by_role("button", name="Delete selected")
    delete.click()
    transcripts.get_by_role("button", name="Delete for good?").click()
    eventually("it is gone", lambda: items.filter(has_text="hello to you").count() == 0)
    session = host.look("transcripts")["sessions"][-1]["id"]
    assert "hello to you" not in [item["text"] for item in host.look("transcript", session=session)["items"]]
    # Half of what is still typed is no mistake.
    page.get_by_role("searchbox").fill('"')
    page.wait_for_timeout(600)
    assert page.get_by_role("alert").filter(visible=True).count() == 0


def test_V3_what_was_kept_is_there_after_the_run(run):
    host = run()
    said(host, "remember this")
    host.end()
    listed = host.command("transcripts", "search", "remember")
    assert "remember this" in listed.stdout, listed.stderr


def test_meters_move(opened):
    page, host = opened(RECORDING)
    meters = view(page, "Meters")
    meter = meters.get_by_role("meter").first
    meter.wait_for()
    eventually("-12 dBFS", lambda: "-12.0 dBFS" in meters.inner_text())


MEASURED = """
[graph]
name = "measured"
links = ["tone -> gain -> look -> out"]
[node.tone]
type = "tone"
frequency = 997
level_db = -20
[node.gain]
type = "gain"
[node.look]
type = "visualizer"
style = "loudness"
[node.out]
type = "output"
"""


def test_meters_have_a_scale_zones_a_held_peak_how_often_it_clipped_and_the_loudness(opened):
    page, host = opened(MEASURED)
    panel = view(page, "Meters").locator(".panel").filter(has=page.locator("h2", has_text="look"))
    assert panel.locator(".scale").inner_text().split() == ["−60", "−48", "−36", "−24", "−12", "−6", "0"]
    # EBU Tech 3341: a sine of 997 Hz in one channel of mono has the loudness of its peak, less 3 dB, less 0.01.
    eventually("its loudness", lambda: re.search(r"-2[23]\.\d momentary, -2[23]\.\d short-term, -2[23]\.\d integrated LUFS",
                                                 panel.inner_text()), 30)
    bar = "document.querySelectorAll('#meters .panel')[2].querySelectorAll('.meter i')"
    right = f"Number({bar}[1].style.clipPath.split(' ')[1].replace('%', ''))"
    # -20 dB on a scale of 60.
    eventually("two thirds are lit", lambda: 30 < page.evaluate(right) < 40)
    clips = panel.locator(".clips")
    assert not clips.is_visible()
    for count in (1, 2):
        host.call("set", node="gain", parameter="gain_db", value=24)
        eventually("it clips", lambda: clips.is_visible() and clips.inner_text() == f"Clipped {count}×"
                   and "+4.0 dBFS" in panel.inner_text())
        host.call("set", node="gain", parameter="gain_db", value=0)
        eventually("it is as before", lambda: "-20.0 dBFS" in panel.inner_text())
    held = f"parseFloat({bar}[2].style.left)"
    eventually("the held peak has fallen", lambda: 60 < page.evaluate(held) < 70)
    clips.click()
    assert not clips.is_visible()


def test_nodes_have_sliders_settings_and_actions(opened):
    page, host = opened()
    card = view(page, "Nodes").get_by_role("article", name="quiet")
    slider = card.get_by_role("slider")
    slider.focus()
    slider.press("End")
    eventually("as loud as it goes", lambda: host.look("get", node="quiet", parameter="gain_db")["value"] == 36)
    slider.press("Backspace")
    eventually("its default", lambda: host.look("get", node="quiet", parameter="gain_db")["value"] == 0)
    # What others turn is seen.
    host.call("set", node="quiet", parameter="gain_db", value=-30)
    eventually("-30 dB", lambda: "-30" in card.inner_text() or "−30" in card.inner_text())
    card.get_by_role("button", name="Mute").click()
    eventually("muted", lambda: next(
        node for node in host.look("nodes")["nodes"] if node["name"] == "quiet")["mute"])
    voice = view(page, "Nodes").get_by_role("article", name="voice")
    voice.get_by_text("Actions").click()
    voice.get_by_text("speak", exact=True).first.click()
    voice.get_by_label("text", exact=True).fill("hello")
    voice.get_by_role("button", name="speak", exact=True).click()
    eventually("it speaks", lambda: host.event("speech.started"))
    # What a node refuses is told, with what to do.
    settings = voice.locator("details:has(> summary:text-is('Settings'))")
    settings.locator("summary").first.click()
    settings.get_by_label("voice", exact=True).fill("klingon-opera")
    settings.get_by_label("voice", exact=True).press("Tab")
    page.get_by_role("alert").filter(has_text="klingon").wait_for()


def test_the_graph_is_drawn_and_edited(opened):
    page, host = opened()
    graph = view(page, "Graph")
    graph.locator(".node").first.wait_for()
    assert graph.locator(".node").count() == 7
    graph.get_by_role("listbox", name="type").select_option("gain")
    graph.get_by_label("name", exact=True).fill("more")
    graph.get_by_role("button", name="Add", exact=True).click()
    eventually("a box more", lambda: graph.locator(".node").count() == 8)
    graph.get_by_label("name", exact=True).fill("more")
    graph.get_by_role("listbox", name="type").select_option("gain")
    graph.get_by_role("button", name="Add", exact=True).click()
    page.get_by_role("alert").filter(has_text="there is a node 'more' already").wait_for()
    graph.get_by_text("Link by name").click()
    graph.get_by_role("combobox", name="from").select_option("tone.out")
    graph.get_by_role("combobox", name="to", exact=True).select_option("more.in")
    graph.get_by_role("button", name="Link", exact=True).click()
    graph.get_by_role("button", name=re.compile("Unlink tone.* from more.*")).wait_for()
    graph.get_by_role("button", name=re.compile("Unlink tone.* from more.*")).click()
    eventually("it is gone", lambda: "more" not in json.dumps(host.look("nodes")["links"]))


def test_health_says_how_it_is(opened):
    page, host = opened()
    health = view(page, "Health")
    eventually("the state", lambda: "running" in health.locator("#status").inner_text())
    eventually("the load", lambda: "voice" in health.locator("#timings").inner_text())
    host.call("mute", node="quiet")
    eventually("the log", lambda: "graph: muted quiet" in health.locator("#log").inner_text())


def test_whoever_may_only_look_finds_nothing_to_press(opened):
    page, host = opened(TALKING, "--web-read-only")
    card = view(page, "Nodes").get_by_role("article", name="quiet")
    assert card.get_by_role("slider").is_disabled()
    assert card.get_by_role("button", name="Mute").is_disabled()
    assert view(page, "Graph").get_by_role("button", name="Add", exact=True).is_disabled()


def test_nothing_can_be_used_before_the_graph_is_known(run, open_page):
    host = run()
    page = open_page(host.link)
    wait(page, "document.body.innerText.includes('running')")
    # From the next connection on, what the graph has is told only once this test lets it through.
    held, asked = [], set()

    def connect(socket):
        server = socket.connect_to_server()

        def ask(message):
            told = json.loads(message)
            if told.get("call") == "nodes":
                asked.add(told["id"])
            server.send(message)

        def answer(message):
            known = isinstance(message, bytes) or json.loads(message).get("id") not in asked
            socket.send(message) if known else held.append(lambda: socket.send(message))

        socket.on_message(ask)
        server.on_message(answer)

    page.route_web_socket("**/api/live", connect)
    page.evaluate("location.hash = '#/nodes'")
    page.reload()
    eventually("it waits", lambda: page.wait_for_timeout(50) or held)
    wait(page, "document.body.innerText.includes('running')")
    page.evaluate("location.hash = '#/graph'")
    assert page.locator("#speak").is_hidden() and page.locator("#talk").is_visible()
    for let in held:
        let()
    page.locator("#graph").wait_for()
    view(page, "Talk")
    page.locator("#speak").wait_for()
