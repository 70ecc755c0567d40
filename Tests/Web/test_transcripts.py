# SPDX-License-Identifier: Apache-2.0
"""What is said becomes text while it is said, is kept, found, edited and deleted."""

import array
import subprocess

import pytest

from conftest import PICTURES, launch, state, wait
from running import ROOT, eventually

# What the voice says goes into the ear: words without a microphone.
HEARING = """
[graph]
name = "hearing"
links = ["voice -> ear", "voice -> out"]
[node.voice]
type = "tts"
rate = 120
[node.ear]
type = "transcribe"
engine = "pocketsphinx"
autostart = false
keep = true
partials = 0.3
[node.out]
type = "output"
"""


def opened(host, open_page, view="Transcripts"):
    page = open_page(host.link)
    wait(page, "document.body.innerText.includes('running')")
    page.get_by_role("navigation").get_by_role("link", name=view).click()
    return page, page.locator("#" + view.lower())


def kept(host):
    """All texts of the newest session."""
    sessions = host.look("transcripts")["sessions"]
    return [item["text"] for item in host.look("transcript", session=sessions[-1]["id"])["items"]] if sessions else []


def type_text(host, text):
    before = kept(host).count(text)
    host.call("do", node="agent", action="send", arguments={"text": text})
    eventually("it is kept", lambda: kept(host).count(text) == before + 1)


LISTEN = """() => { const e = document.querySelector('#conversation'); window.said = []
  e.addEventListener('message', ({ detail }) => detail.isGone || window.said.push([detail.id, detail.text, detail.state])) }"""


def test_V2_partial_texts_replace_one_another_until_the_last_one(run, open_page):
    host = run(HEARING)
    page, _ = opened(host, open_page, "Talk")
    state(page, "transcript", "#conversation")
    page.evaluate(LISTEN)
    host.call("do", node="ear", action="start")

    def grown():
        """A last text of an item that had partial ones: an ear that is behind does not tell those of every item."""
        told = {event["item"] for event in host.events("transcribe.partial") if event["text"].strip()}
        return next((e for e in host.events("transcribe.final") if e["text"].strip() and e["item"] in told), None)

    def said():
        heard = len(host.events("transcribe.final"))
        host.call("do", node="voice", action="speak", arguments={"text": "My name is John and I like the summer and the winter."})
        eventually("it was heard", lambda: len(host.events("transcribe.final")) > heard, 60)
        return grown()

    final = eventually("a last text of one that grew", lambda: grown() or said(), 180)
    eventually("the page has it", lambda: any(
        text == final["text"] and stage == "whole" for _, text, stage in page.evaluate("said")))
    shown = [(text, stage) for id, text, stage in page.evaluate("said") if id.endswith(f" {final['item']}")]
    partial = [event["text"] for event in host.events("transcribe.partial") if event["item"] == final["item"] and event["text"].strip()]
    # Each is the whole text as it is now, and the last one is not partial.
    assert [text for text, stage in shown if stage == "partial"] == [
        text for at, text in enumerate(partial) if at == 0 or text != partial[at - 1]]
    assert shown[-1] == (final["text"], "whole")
    bubbles = page.locator("#conversation [part~=bubble]").all_inner_texts()
    # The sentence may have been heard more than once, in an item of its own each time.
    whole = [event["text"] for event in host.events("transcribe.final")]
    assert bubbles.count(final["text"]) == whole.count(final["text"])
    assert all(text in whole or text not in bubbles for text in partial)
    eventually("it is kept as it ended", lambda: final["text"] in kept(host))


def test_V1_listening_is_started_once_and_stopped(run, open_page):
    host = run(HEARING)
    page, view = opened(host, open_page, "Nodes")
    ear = view.get_by_role("article", name="ear")
    ear.get_by_text("Actions").click()
    ear.get_by_role("button", name="start", exact=True).click()
    eventually("it listens", lambda: host.event("transcribe.state")["state"] != "idle")
    ear.get_by_role("button", name="start", exact=True).click()
    page.get_by_role("alert").wait_for()
    assert page.get_by_role("alert").inner_text().strip()
    ear.get_by_role("button", name="stop", exact=True).click()
    eventually("it has stopped", lambda: host.event("transcribe.state")["state"] == "idle")


def test_Fix_stop_in_mid_speech_keeps_what_was_said(run, open_page):
    host = run(HEARING)
    page, view = opened(host, open_page)
    host.call("do", node="ear", action="start")

    def growing():
        """The item that grows, if one does: an ear that is behind does not tell what each of them says so far."""
        partial = [event["item"] for event in host.events("transcribe.partial") if event["text"].strip()]
        return next((item for item in partial[-1:] if not final(item)), None)

    def final(item):
        return next((event for event in host.events("transcribe.final") if event["item"] == item), None)

    def said():
        heard = len(host.events("transcribe.final"))
        host.call("do", node="voice", action="speak", arguments={"text": "Good morning everybody and good evening and good night to all of you."})
        eventually("it was heard", lambda: growing() or len(host.events("transcribe.final")) > heard, 60)
        return growing()

    item = eventually("something is heard", lambda: growing() or said(), 180)
    host.call("do", node="ear", action="stop")
    last = eventually("a last text", lambda: final(item))
    eventually("it is kept", lambda: last["text"] in kept(host))
    page.reload()
    # Another item may hold the same words.
    view.locator("#items > li").filter(has=page.get_by_text(last["text"], exact=True)).first.wait_for()


def test_V3_what_was_kept_is_shown_by_the_next_run(run, open_page):
    host = run()
    type_text(host, "remember this")
    host.end()
    # The same user's next run, at another port.
    again = run(folder=host.folder)
    type_text(again, "and this")
    page, view = opened(again, open_page)
    sessions = view.locator("#sessions button")
    eventually("two sessions", lambda: sessions.count() == 2)
    view.locator("#items > li").filter(has_text="and this").first.wait_for()
    assert view.locator("#items > li").filter(has_text="remember this").count() == 0
    sessions.last.click()
    view.locator("#items > li").filter(has_text="remember this").first.wait_for()
    page.fill("#words", "rememb*")
    eventually("it is found by a part of a word", lambda: view.locator("#items > li").count() == 1)


def test_V3_nothing_is_kept_of_what_is_blank(run, open_page):
    host = run()
    type_text(host, "one")
    host.ask("api/do", {"node": "agent", "action": "send", "arguments": {"text": "   "}})
    type_text(host, "two")
    # A reply that was interrupted before any of it was heard is gone.
    assert all(text.strip() for text in kept(host)) and [text for text in kept(host) if text in ("one", "two")] == ["one", "two"]


def test_V3_several_are_deleted_at_once_after_a_question(run, open_page):
    host = run()
    for text in ("first", "second", "third"):
        type_text(host, text)
    page, view = opened(host, open_page)
    items = view.locator("#items > li")
    delete = view.locator("#delete button")
    items.filter(has_text="third").first.wait_for()
    assert delete.is_disabled()
    for text in ("first", "third"):
        items.filter(has=page.get_by_role("checkbox", name=f"Select {text}", exact=True)).get_by_role("checkbox").check()
    delete.click()
    assert {"first", "third"} <= set(kept(host)), "the question comes first"
    delete.click()
    eventually("they are gone", lambda: not {"first", "third"} & set(kept(host)))
    assert "second" in kept(host)
    eventually("the page knows", lambda: items.filter(has_text="third").count() == 0)
    assert delete.is_disabled()


def test_Fix_equal_texts_are_two(run, open_page):
    host = run()
    type_text(host, "the same")
    type_text(host, "the same")
    page, view = opened(host, open_page)
    same = view.locator("#items > li").filter(has=page.get_by_role("checkbox", name="Select the same", exact=True))
    eventually("both are there", lambda: same.count() == 2)
    same.first.get_by_role("button", name="Edit").click()
    page.locator("#items textarea").fill("no longer")
    page.locator("#items").get_by_role("button", name="Save").click()
    view.locator("#items > li").filter(has_text="no longer").wait_for()
    assert sorted(text for text in kept(host) if text in ("the same", "no longer")) == ["no longer", "the same"]


def test_what_is_searched_for_is_marked_and_leads_to_its_session(run, open_page):
    host = run()
    type_text(host, "Crème brûlée for two, not cremeschnitte")
    host.end()
    again = run(folder=host.folder)
    type_text(again, "something else")
    page, view = opened(again, open_page)
    items = view.locator("#items > li")
    items.filter(has_text="something else").first.wait_for()
    page.fill("#words", "CREME bru*")
    eventually("it is found", lambda: items.count() == 1)
    assert items.locator("mark").all_inner_texts() == ["Crème", "brûlée"]
    page.fill("#words", "nowhere")
    eventually("nothing is found", lambda: items.count() == 0)
    assert "Nothing is found." in page.locator("#items").evaluate("e => getComputedStyle(e, '::before').content")
    page.fill("#words", "creme")
    items.get_by_role("button", name="Session of").click()
    eventually("its session is shown", lambda: page.input_value("#words") == "" and items.locator("mark").count() == 0)
    items.filter(has_text="brûlée").first.wait_for()
    assert items.filter(has_text="something else").count() == 0


# What is said is kept, and what is heard of it is recorded.
TAPED = HEARING.replace('"voice -> out"]', '"voice -> out", "voice -> tape"]').replace("partials = 0.3\n", "") + """
[node.tape]
type = "record"
path = "tape.wav"
keep = true
"""


def loudest(path, begin, end):
    """The largest sample of a part of a sound file; 1 is full scale."""
    frames = subprocess.check_output(["sox", path, "-t", "s32", "-c", "1", "-", "trim", str(begin), str(end - begin)])
    return max(abs(sample) for sample in array.array("i", frames)) / 2**31


def test_sentence_is_played_from_the_recording_of_it(run, open_page):
    host = run(TAPED)
    host.call("do", node="ear", action="start")
    eventually("it is silent for a while", lambda: (host.event("record.levels") or {"seconds": 0})["seconds"] > 2)
    # An ear without a model may hear no word.
    while len(kept(host)) < 2:
        heard = len(host.events("transcribe.final"))
        host.call("do", node="voice", action="speak", arguments={"text": "My name is John and I like the summer and the winter."})
        eventually("it is heard", lambda: len(host.events("transcribe.final")) > heard)
    page, view = opened(host, open_page)
    items = view.locator("#items > li")
    items.first.wait_for()
    # It is being recorded still.
    assert items.get_by_role("button", name="Play").count() == 0
    host.call("do", node="tape", action="finish")
    page.reload()
    items.get_by_role("button", name="Play").first.wait_for()
    sessions = host.look("transcripts")["sessions"]
    [take], said = host.look("takes")["takes"], host.look("transcript", session=sessions[-1]["id"])["items"]
    assert items.get_by_role("button", name="Play").count() == items.count() == len(said)
    for item, told in zip(items.all(), said):
        item.get_by_role("button", name="Play").click()
        eventually("it plays", lambda: item.locator("audio").evaluate("e => e.currentTime > 0 && !e.paused && !e.error"))
        played = item.locator("audio").evaluate("e => { e.pause(); return e.currentTime }")
        place = told["start"] - take["start"]
        assert place - 0.4 <= played <= place + 3, (played, told, take)
        # One at a time.
        assert view.locator("audio").count() == 1
        # There is the voice in the recording, and before it nothing.
        assert loudest(host.folder / "tape.wav", place - 0.3, place + 1) > 0.05, told
        assert loudest(host.folder / "tape.wav", place - 1, place - 0.6) < 0.01, told


def test_text_is_edited_by_keys(run, open_page):
    host = run()
    type_text(host, "a long text that needs more than one line of the box that it is edited in, and then a second line")
    page, view = opened(host, open_page)
    item = view.locator("#items > li").filter(has_text="a long text").first
    item.get_by_role("button", name="Edit").click()
    box = page.locator("#items textarea")
    assert box.evaluate("e => e.scrollHeight <= e.clientHeight + 2"), "all of it is seen"
    box.fill("never mind")
    box.press("Escape")
    item.get_by_role("button", name="Edit").click()
    box.fill("an edited text")
    box.press("Enter")
    view.locator("#items > li").filter(has_text="an edited text").wait_for()
    assert "an edited text" in kept(host) and "never mind" not in kept(host)


def test_Fix_browser_that_gives_no_microphone_is_told(run, open_page, playwright):
    host = run(ROOT / "config/web-assistant.conf")
    browser = launch(playwright)
    page = open_page(host.link, browser=browser)
    wait(page, "document.body.innerText.includes('running')")
    conversation = page.locator("#conversation")
    conversation.get_by_role("button", name="Start", exact=True).click()
    notice = conversation.get_by_role("alert")
    notice.wait_for()
    assert notice.inner_text().strip()
    # It does not look as if it listened.
    mute = conversation.get_by_role("button", name="Mute microphone")
    assert mute.get_attribute("aria-pressed") == "true"
    assert not any(stream["taken"] for stream in host.look("streams")["streams"] if stream["direction"] == "input")
    browser.close()


def test_V1_V3_one_button_dictates_and_another_keeps_the_text(run, open_page):
    host = run(HEARING.replace("keep = true", "keep = false"))
    page, view = opened(host, open_page, "Talk")
    panel = view.locator(".dictation")
    button, save, clear = panel.get_by_role("button").all()
    assert [one.inner_text() for one in (button, save, clear)] == ["Dictate", "Save", "Clear"]
    assert save.is_disabled() and clear.is_disabled()

    def dictate(words):
        heard = len(host.events("transcribe.final"))
        button.click()
        eventually("it listens", lambda: button.inner_text() == "Stop")
        host.call("do", node="voice", action="speak", arguments={"text": words})
        eventually("it was heard", lambda: len(host.events("transcribe.final")) > heard, 120)
        assert save.is_disabled(), "nothing is saved while it listens"
        button.click()
        eventually("it ended", lambda: button.inner_text() == "Dictate")
        return " ".join(event["text"] for event in host.events("transcribe.final")[heard:] if event["text"].strip())

    texts = panel.locator(".heard")
    first = dictate("My name is John and I like the summer and the winter.")
    # A second dictation goes on with the text, until it is kept.
    whole = first + " " + dictate("The door is open.")
    eventually("all of it is there", lambda: texts.inner_text().strip() == whole)
    assert not kept(host)
    page.screenshot(path=PICTURES / "dictation.png")
    save.click()
    eventually("it is kept", lambda: kept(host) == [whole])
    assert not texts.inner_text().strip() and "kept" in panel.inner_text()
    assert save.is_disabled() and clear.is_disabled()
    dictate("Never mind.")
    eventually("there is a text", lambda: clear.is_enabled())
    clear.click()
    assert not texts.inner_text().strip() and save.is_disabled()


def test_V3_what_is_kept_by_itself_has_no_button_for_it(run, open_page):
    page, view = opened(run(HEARING), open_page, "Talk")
    assert [one.inner_text() for one in view.locator(".dictation").get_by_role("button").all()] == ["Dictate", "Clear"]
