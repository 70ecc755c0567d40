# SPDX-License-Identifier: Apache-2.0
"""The recorder of the page, and whether there is anything to record."""

import pytest

from conftest import wait
from running import eventually

RECORDING = """
[graph]
name = "recording"
links = ["tone -> take", "tone -> out"]
[node.tone]
type = "tone"
level_db = -12
[node.take]
type = "record"
path = "take.wav"
autostart = false
{more}
[node.out]
type = "output"
"""


@pytest.fixture
def recorder(run, open_page):
    """The view of the recorder, and its run."""

    def make(more="", *options):
        more += "" if "keep" in more else "\nkeep = true"
        host = run(RECORDING.format(more=more), *options)
        page = open_page(host.link)
        wait(page, "document.body.innerText.includes('running')")
        page.get_by_role("navigation").get_by_role("link", name="Recorder").click()
        page.locator("#recorder").get_by_role("timer").wait_for()
        return page, page.locator("#recorder"), host

    return make


def button(view, name):
    return view.get_by_role("button", name=name, exact=True)


def shown(view):
    """What can be pressed of the recorder itself."""
    return {text.strip().lower() for text in view.locator("#recorders button:visible").all_inner_texts()}


def test_V1_what_starts_is_there_while_nothing_runs_and_what_stops_while_something_does(recorder):
    page, view, host = recorder()
    assert shown(view) == {"record"}
    button(view, "Record").click()
    eventually("it records", lambda: shown(view) == {"pause", "finish", "discard"})
    # A second start is refused, whoever asks, and the first one goes on.
    status, answer = host.ask("api/do", {"node": "take", "action": "start"})
    assert status == 400 and answer["error"]["message"], answer
    # What the run prints may come later than what the page is told.
    eventually("it records on", lambda: host.event("record.state")["state"] == "recording")
    button(view, "finish").click()
    eventually("it can begin again", lambda: shown(view) == {"record"})
    eventually("its end is told", lambda: host.events("record.finished"))
    assert len(host.events("record.started")) == 1


def test_V1_start_that_somebody_else_made_is_seen(recorder):
    page, view, host = recorder()
    host.call("do", node="take", action="start")
    eventually("it records", lambda: "finish" in shown(view))
    host.call("do", node="take", action="pause")
    eventually("it waits", lambda: shown(view) == {"resume", "finish", "discard"})
    assert "paused" in view.inner_text()
    # Who comes now sees the same.
    page.reload()
    eventually("it waits there too", lambda: shown(view) == {"resume", "finish", "discard"})


def test_Fix_recording_that_ends_by_its_limit_has_ended(recorder):
    page, view, host = recorder("limit = 1")
    button(view, "Record").click()
    eventually("it has ended", lambda: host.event("record.finished"))
    eventually("another may begin", lambda: shown(view) == {"record"})
    view.locator("#takes").get_by_text("take.wav", exact=True).wait_for()
    button(view, "Record").click()
    eventually("another one", lambda: len(host.events("record.started")) == 2)
    view.locator("#takes").get_by_text("take-2.wav", exact=True).wait_for()
    # Who comes later is told how long it was, too.
    page.reload()
    eventually("the timer", lambda: view.get_by_role("timer").inner_text() == "00:00:01")


def test_timer_counts_what_is_recorded_and_is_right_for_who_comes_later(recorder):
    page, view, host = recorder()
    button(view, "Record").click()
    eventually("two seconds", lambda: view.get_by_role("timer").inner_text() >= "00:00:02")
    page.reload()
    eventually("it goes on from there", lambda: view.get_by_role("timer").inner_text() >= "00:00:02")
    button(view, "finish").click()
    finished = eventually("it has ended", lambda: host.event("record.finished"))
    # The length of the file is that of the list.
    seconds = int(finished["seconds"])
    view.locator("#takes").get_by_text(f"00:00:{seconds:02}").wait_for()


def test_discarding_asks_once_more_and_then_leaves_nothing(recorder):
    page, view, host = recorder()
    button(view, "Record").click()
    eventually("it records", lambda: host.event("record.started"))
    view.get_by_role("button", name="discard").click()
    assert host.event("record.discarded") is None
    view.get_by_role("button", name="Discard it?").click()
    eventually("it can begin again", lambda: shown(view) == {"record"})
    assert not (host.folder / "take.wav").exists() and not list(host.folder.glob("*.part.wav"))


def record(view, host, count=1):
    """Records a take; returns its row, once it tells that it has ended."""
    button(view, "Record").click()
    eventually("it records", lambda: len(host.events("record.started")) == count)
    button(view, "finish").click()
    ended = view.locator("#takes > li").filter(has_not_text="growing")
    eventually("it is listed", lambda: ended.count() == count)
    return ended.first


def test_take_that_plays_and_asks_goes_on_while_another_is_recorded(recorder):
    page, view, host = recorder()
    take = record(view, host).element_handle()
    take.query_selector("audio").evaluate("async sound => { sound.loop = true; await sound.play() }")
    take.query_selector("button.bad").click()
    host.call("do", node="take", action="start")
    eventually("it records", lambda: len(host.events("record.started")) == 2)
    host.call("do", node="take", action="finish")
    eventually("it is listed", lambda: view.locator("#takes > li").filter(has_not_text="growing").count() == 2)
    assert take.evaluate("row => row.isConnected") and not take.query_selector("audio").evaluate("sound => sound.paused")
    assert take.query_selector("button.bad").evaluate("e => document.activeElement === e && e.textContent.includes('stays')")


def test_recording_of_which_nothing_is_kept_is_listed_with_its_place_played_and_downloaded(recorder):
    page, view, host = recorder("keep = false")
    for count in (1, 2):
        button(view, "Record").click()
        eventually("it records", lambda: len(host.events("record.started")) == count)
        button(view, "finish").click()
        eventually("it is listed", lambda: view.locator("#takes > li").count() == count)
    assert host.look("takes")["takes"] == []
    newest = view.locator("#takes > li").first
    assert str(host.folder / "take-2.wav") in newest.inner_text() and newest.get_by_role("button", name="Forget").count() == 0
    newest.locator("audio").evaluate("async sound => { sound.muted = true; await sound.play() }")
    with page.expect_download() as download:
        newest.get_by_role("button", name="Download").click()
    assert download.value.suggested_filename == "take-2.wav"
    assert open(download.value.path(), "rb").read() == (host.folder / "take-2.wav").read_bytes()
    # Its file is gone; and there is no third one.
    (host.folder / "take-2.wav").unlink()
    page.reload()
    newest.get_by_text("The file is gone.").wait_for()
    assert host.ask("api/recordings/2/audio")[0] == 404 and host.ask("api/recordings/3/audio")[0] == 404
    assert host.ask("api/recordings/0/audio")[0] == 404 and host.ask("api/recordings/9223372036854775807/audio")[0] == 404


def test_kept_take_is_listed_once(recorder):
    page, view, host = recorder()
    record(view, host)
    known = host.look("recordings")["recordings"]
    assert [one["kept"] for one in known] == [True] and known[0]["path"] == str(host.folder / "take.wav")
    assert view.locator("#takes > li").count() == 1


@pytest.mark.parametrize("keep", ["true", "false"])
def test_recording_that_has_ended_is_drawn(recorder, keep):
    page, view, host = recorder(f"keep = {keep}")
    button(view, "Record").click()
    eventually("a second", lambda: view.get_by_role("timer").inner_text() >= "00:00:01")
    button(view, "finish").click()
    view.locator("#takes svg path").wait_for(state="attached")
    outline = host.event("record.finished")["outline"]
    # A tone of -12 dBFS is a quarter of full scale, from its beginning to its end.
    assert 10 <= len(outline) <= 200 and all(0.24 < value < 0.26 for value in outline[:-1]), outline
    bars = view.locator("#takes svg path").get_attribute("d").split("M")[1:]
    assert len(bars) == len(outline)
    assert all(14.4 < float(bar.split("v")[1]) < 15.6 for bar in bars[:-1]), bars


def test_what_is_recorded_is_told_on_every_view(recorder):
    page, view, host = recorder()
    sign = page.get_by_role("link", name="Recording")
    assert sign.count() == 0
    button(view, "Record").click()
    page.get_by_role("navigation").get_by_role("link", name="Talk").click()
    eventually("it counts", lambda: sign.inner_text() >= "00:00:01")
    host.call("do", node="take", action="pause")
    sign.wait_for(state="hidden")
    host.call("do", node="take", action="resume")
    sign.click()
    view.get_by_role("timer").wait_for()
    host.call("do", node="take", action="finish")
    sign.wait_for(state="hidden")


def test_take_is_forgotten_while_its_file_stays(recorder):
    page, view, host = recorder()
    take = record(view, host)
    take.get_by_role("button", name="Forget").click()
    take.get_by_role("button", name="Forget it? Its file stays").click()
    eventually("it is gone", lambda: take.count() == 0)
    assert (host.folder / "take.wav").exists() and host.look("takes")["takes"] == []


def test_whoever_may_only_look_can_press_nothing_of_the_recorder(recorder):
    page, view, host = recorder("", "--web-read-only")
    assert button(view, "Record").is_disabled()


MICROPHONE = """
[graph]
name = "microphone"
links = ["mic -> take"]
[node.mic]
type = "input"
[node.take]
type = "record"
path = "take.wav"
autostart = false
"""


def test_V4_microphone_that_gives_nothing_is_told(run, open_page):
    host = run(MICROPHONE)
    page = open_page(host.link)
    judged = eventually("it is judged", lambda: host.event("input.judged"))
    page.get_by_role("navigation").get_by_role("link", name="Health").click()
    line = page.locator("#log li").filter(has_text=judged["text"]).first
    line.wait_for()
    assert "mic" in line.inner_text()
