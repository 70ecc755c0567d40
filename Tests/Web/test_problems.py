# SPDX-License-Identifier: Apache-2.0
"""Why nothing is heard is said where the user looks: on every view, and in every place that shows what is concerned."""

import pytest

from conftest import state, wait
from running import TALKING, eventually

VIEWS = ["talk", "recorder", "transcripts", "meters", "nodes", "graph", "health"]
HEARING = """
[graph]
name = "hearing"
links = ["mic -> limit -> quiet -> out"]
[node.mic]
type = "input"
[node.limit]
type = "limiter"
[node.quiet]
type = "gain"
[node.out]
type = "output"
{more}
"""


@pytest.fixture
def opened(run, open_page):
    def make(graph=HEARING.format(more=""), *options):
        host = run(graph, *options)
        page = open_page(host.link)
        wait(page, "document.body.innerText.includes('running')")
        return page, host

    return make


def problems(page):
    return page.locator("#problems")


def says(page, text):
    eventually(text, lambda: problems(page).is_visible() and text in problems(page).inner_text())


def view(page, name):
    page.get_by_role("navigation").get_by_role("link", name=name.capitalize()).click()
    wait(page, "v => !document.getElementById(v).hidden", name)


def test_graph_without_fault_has_no_line(opened):
    page, host = opened(TALKING)
    eventually("a level comes", lambda: host.event("status"))
    assert problems(page).is_hidden()
    assert page.locator("#connection").get_attribute("data-problems") == "false"


def test_muted_node_is_marked_everywhere_and_unmuted_in_the_line(opened):
    page, host = opened()
    host.call("mute", node="limit", on=True)
    for name in VIEWS:
        view(page, name)
        says(page, "limit is muted")
    view(page, "graph")
    eventually("marked in the drawing", lambda: page.locator("#drawing .node.muted[data-node=limit]").count() == 1)
    view(page, "meters")
    panel = page.locator("#meters .panel").filter(has_text="limit")
    eventually("marked in the meters", lambda: "muted" in panel.inner_text())
    view(page, "health")
    eventually("marked in health", lambda: "limit" in page.locator("#status").inner_text())
    problems(page).get_by_role("button", name="Unmute limit").click()
    eventually("it is heard", lambda: not next(n for n in host.look("nodes")["nodes"] if n["name"] == "limit")["mute"])
    eventually("no line says so", lambda: "muted" not in problems(page).inner_text())
    view(page, "meters")
    eventually("nor the meter", lambda: "muted" not in panel.inner_text())


def test_many_faults_are_a_short_list_until_somebody_wants_all(opened):
    page, host = opened(HEARING.format(more="".join(f'[node.spare{n}]\ntype = "output"\n' for n in range(6))))
    host.call("mute", node="limit", on=True)
    lines = problems(page).locator("li")
    more = problems(page).get_by_role("button", name="more")
    eventually("two and how many more", lambda: lines.count() == 3 and more.count())
    more.click()
    eventually("all of them", lambda: "limit is muted" in problems(page).inner_text() and lines.count() >= 7 and not more.count())


def test_input_from_which_nothing_comes_is_told_with_what_to_do(opened):
    page, host = opened()
    judged = eventually("it is judged", lambda: host.event("input.judged"))
    says(page, judged["text"][:40])


def test_output_to_which_nothing_is_linked_is_told_until_something_is(opened):
    page, host = opened(HEARING.format(more='[node.spare]\ntype = "output"\n'))
    says(page, "Nothing is linked to spare")
    host.call("link", link="limit -> spare")
    eventually("it is linked", lambda: "spare" not in problems(page).inner_text())


def test_run_without_a_sound_server_says_that_nothing_will_be_heard(opened):
    page, host = opened(TALKING, "--driver", "auto")
    says(page, "Nothing will be heard: no JACK server named 'vgt-none' is running")
    assert page.locator("#connection").get_attribute("data-problems") == "true"


def test_silent_nodes_are_silent_also_those_that_only_make_louder(opened):
    page, host = opened()
    view(page, "meters")
    meters = page.locator("#meters .panel")
    for name in ("mic", "quiet", "limit", "out"):
        eventually(f"{name} is silent", lambda: "silent" in meters.filter(has_text=name).first.inner_text())
    view(page, "graph")
    links = page.locator("#drawing .pane .link.audio")
    eventually("all are known", lambda: links.count() == 4 and page.locator("#drawing .pane .link.silent").count() == 4)
    assert page.locator("#drawing .pane .link.unmeasured").count() == 0


def test_conversation_that_is_kept_is_there_after_the_page_is_loaded_again(opened):
    page, host = opened(TALKING)
    state(page, "transcript", "#conversation")
    conversation = page.locator("#conversation")
    for count, text in enumerate(["hello", "what is your name"], 1):
        page.get_by_role("textbox", name="Message").fill(text)
        page.keyboard.press("Enter")
        eventually("it is over", lambda: len(host.events("agent.final")) == count)
    bubbles = conversation.locator("[part~=bubble]")
    eventually("all of it", lambda: bubbles.count() == 4)
    before = [(bubble.inner_text(), bubble.get_attribute("part")) for bubble in bubbles.all()]
    page.reload()
    eventually("it is there again", lambda: bubbles.count() == 4)
    assert [(bubble.inner_text(), bubble.get_attribute("part")) for bubble in bubbles.all()] == before
    # What is said now comes behind it, once.
    page.get_by_role("textbox", name="Message").fill("hello again")
    page.keyboard.press("Enter")
    eventually("the reply", lambda: bubbles.count() == 6)
    assert bubbles.nth(4).inner_text() == "hello again"


@pytest.mark.parametrize("kind,mark", [("SRT", "00:00:"), ("VTT", "WEBVTT"), ("TXT", "you: hello"), ("MD", "# talking")])
def test_transcript_is_downloaded_under_a_name(opened, kind, mark):
    page, host = opened(TALKING)
    host.call("do", node="agent", action="send", arguments={"text": "hello"})
    eventually("it is over", lambda: host.event("agent.final"))
    view(page, "transcripts")
    with page.expect_download() as download:
        page.get_by_role("button", name=f"Download as {kind}", exact=True).click()
    assert download.value.suggested_filename.startswith("talking-20")
    assert download.value.suggested_filename.endswith("." + kind.lower())
    text = open(download.value.path()).read()
    assert mark in text and "hello" in text


def test_take_is_downloaded_under_its_name(opened):
    page, host = opened(TALKING.replace('"tone -> quiet -> out"', '"tone -> take"') +
                        '[node.take]\ntype = "record"\npath = "Überraschung \\"1\\".wav"\nautostart = false\nkeep = true\n')
    host.call("do", node="take", action="start")
    eventually("it records", lambda: host.event("record.started"))
    host.call("do", node="take", action="finish")
    finished = eventually("it has ended", lambda: host.event("record.finished"))
    view(page, "recorder")
    with page.expect_download() as download:
        page.locator("#takes").get_by_role("button", name="Download").click()
    # What a file may not be called everywhere is replaced by the browser.
    assert download.value.suggested_filename.startswith("Überraschung")
    assert open(download.value.path(), "rb").read() == open(host.folder / finished["path"], "rb").read()
