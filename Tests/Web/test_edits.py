# SPDX-License-Identifier: Apache-2.0
"""What can be changed of a graph from its page, and what is refused there as it is in a file."""

import json
import re
import subprocess

import pytest

from conftest import wait
from running import COMMAND, TALKING, eventually

TONE = """
[graph]
name = "tone"
links = ["tone -> quiet -> out"]
[node.tone]
type = "tone"
level_db = -6
[node.quiet]
type = "gain"
[node.out]
type = "output"
"""


@pytest.fixture
def opened(run, open_page):
    def make(graph, view, *options):
        host = run(graph, *options)
        page = open_page(host.link)
        wait(page, "document.body.innerText.includes('running')")
        page.get_by_role("navigation").get_by_role("link", name=view).click()
        return page, page.locator("#" + view.lower()), host

    return make


def node(host, name):
    return next((node for node in host.look("nodes")["nodes"] if node["name"] == name), None)


def error(page, text):
    notice = page.get_by_role("alert").filter(has_text=text)
    notice.wait_for()
    notice.get_by_role("button", name="Close").click()


def test_bypass_and_mute_are_shown_and_turned_by_either_side(opened):
    page, view, host = opened(TONE, "Nodes")
    card = view.get_by_role("article", name="quiet")
    for word in ("bypass", "mute"):
        button = card.get_by_role("button", name=word)
        button.click()
        eventually(word, lambda: node(host, "quiet")[word])
        eventually("it is seen", lambda: button.get_attribute("aria-pressed") == "true")
        host.call(word, node="quiet", on=False)
        eventually("that others turned it", lambda: button.get_attribute("aria-pressed") == "false")


def test_node_is_removed_after_a_question(opened):
    page, view, host = opened(TONE, "Nodes")
    card = view.get_by_role("article", name="quiet")
    card.get_by_role("button", name="Remove").click()
    assert node(host, "quiet")
    # Whoever goes elsewhere has not said yes.
    card.get_by_role("button", name="mute").focus()
    card.get_by_role("button", name="Remove", exact=True).click()
    assert node(host, "quiet")
    card.get_by_role("button", name="Remove quiet?").click()
    eventually("it is gone", lambda: node(host, "quiet") is None and card.count() == 0)


def test_slider_moves_by_keys_within_its_bounds_and_says_its_value(opened):
    page, view, host = opened(TONE, "Nodes")
    slider = view.get_by_role("article", name="tone").get_by_role("slider", name="frequency of tone")
    before = node(host, "tone")["parameters"]
    before = next(p for p in before if p["key"] == "frequency")
    slider.press("Home")
    eventually("its lowest", lambda: host.look("get", node="tone", parameter="frequency")["value"] == before["minimum"])
    slider.press("End")
    eventually("its highest", lambda: host.look("get", node="tone", parameter="frequency")["value"] == before["maximum"])
    assert before["unit"] in slider.get_attribute("aria-valuetext")
    # Frequencies go by ratios: half way is their geometric middle.
    slider.evaluate("e => { e.value = 0.5; e.dispatchEvent(new Event('input')) }")
    middle = (before["minimum"] * before["maximum"]) ** 0.5
    eventually("half way", lambda: host.look("get", node="tone", parameter="frequency")["value"] == pytest.approx(middle, rel=0.01))


def test_a_slider_follows_what_others_set_and_the_page_does_not_ask_for_it(opened):
    page, view, host = opened(TONE, "Nodes")
    sent = []
    page.on("websocket", lambda socket: socket.on("framesent", lambda frame: sent.append(frame)))
    page.reload()
    slider = view.get_by_role("article", name="quiet").get_by_role("slider", name="gain_db of quiet")
    slider.wait_for()
    wait(page, "document.body.innerText.includes('running')")
    assert sent
    sent.clear()
    for value in (-3, -60, 6, -12.5, -20):
        host.call("set", node="quiet", parameter="gain_db", value=value)
        eventually(f"{value} is shown", lambda: slider.get_attribute("aria-valuetext") == f"{value} dB")
    # It asked nothing for longer than it would have to in order to see that.
    page.wait_for_timeout(2500)
    assert [text for text in sent if '"nodes"' in str(text)] == []


def test_an_answer_that_is_older_than_what_was_told_changes_nothing(opened):
    page, view, host = opened(TONE, "Nodes")
    held, asked = [], set()

    def between(socket):
        server = socket.connect_to_server()

        def out(message):
            if '"call":"set"' in message:
                asked.add(json.loads(message)["id"])
            server.send(message)

        def back(message):
            is_answer = isinstance(message, str) and json.loads(message).get("id") in asked
            held.append(lambda: socket.send(message)) if is_answer else socket.send(message)

        socket.on_message(out)
        server.on_message(back)

    page.route_web_socket("**/api/live", between)
    page.reload()
    slider = view.get_by_role("article", name="quiet").get_by_role("slider", name="gain_db of quiet")
    slider.wait_for()
    wait(page, "document.body.innerText.includes('running')")
    slider.press("Home")
    wait(page, "true")
    eventually("the host has it", lambda: host.look("get", node="quiet", parameter="gain_db")["value"] == -120)
    told = "document.body.innerText"
    host.call("set", node="quiet", parameter="gain_db", value=-12.5)
    # What was told is there before the answer, and what comes after it does not change that.
    eventually("the answer is held", lambda: page.evaluate(told) and held)
    page.wait_for_timeout(500)
    held.pop()()
    eventually("it is shown", lambda: slider.get_attribute("aria-valuetext") == "-12.5 dB")
    page.wait_for_timeout(1000)
    assert slider.get_attribute("aria-valuetext") == "-12.5 dB"


def test_a_slider_that_is_turned_here_stays_where_it_was_put_and_then_follows(opened):
    page, view, host = opened(TONE, "Nodes")
    slider = view.get_by_role("article", name="quiet").get_by_role("slider", name="gain_db of quiet")
    slider.focus()
    shown = lambda: slider.get_attribute("aria-valuetext")
    before = float(shown().split()[0])
    seen = []
    for _ in range(40):
        page.keyboard.press("ArrowLeft")
        seen.append(float(shown().split()[0]))
    # What it hears of its own turns is older than where it is.
    assert seen == sorted(seen, reverse=True) and seen[-1] < before
    eventually("the host has the last", lambda: host.look("get", node="quiet", parameter="gain_db")["value"] == pytest.approx(seen[-1]))
    page.wait_for_timeout(1000)
    assert float(shown().split()[0]) == pytest.approx(seen[-1])
    host.call("set", node="quiet", parameter="gain_db", value=-50)
    eventually("that others turned it", lambda: shown() == "-50 dB")


def test_every_node_has_a_slider_for_each_parameter_and_a_button_for_each_action(opened):
    page, view, host = opened(TALKING, "Nodes")
    view.get_by_role("article", name="voice").wait_for()
    actions = host.look("actions")["actions"]
    for given in host.look("nodes")["nodes"]:
        card = view.locator(f"article[aria-label='{given['name']}']")
        names = card.locator("input[type=range], input[role=switch], .field > select[aria-label]").evaluate_all("all => all.map(e => e.ariaLabel)")
        assert names == [f"{parameter['key']} of {given['name']}" for parameter in given["parameters"]]
        buttons = card.locator("form button").evaluate_all("all => all.map(e => e.textContent)")
        assert buttons == [action["name"] for action in actions if action["node"] == given["name"]]


TURNED = """
[graph]
name = "turned"
links = ["tone -> leslie -> silence -> out"]
[node.tone]
type = "tone"
[node.leslie]
type = "lv2"
plugin = "http://drobilla.net/plugins/mda/Leslie"
[node.silence]
type = "mute"
channels = 2
[node.out]
type = "output"
"""


def test_a_toggle_is_a_switch_and_an_enumeration_a_choice(opened):
    page, view, host = opened(TURNED, "Nodes")

    def value(name, parameter):
        return host.look("get", node=name, parameter=parameter)["value"]

    switch = view.get_by_role("switch", name="muted of silence")
    assert switch.is_checked() is False
    switch.check()
    eventually("it is muted", lambda: value("silence", "muted") == 1)
    host.call("set", node="silence", parameter="muted", value=False)
    wait(page, "!document.querySelector('[aria-label=\"muted of silence\"]').checked")
    mode = view.get_by_role("combobox", name="mode of leslie")
    assert mode.locator("option").all_inner_texts() == ["Stop", "Slow", "Fast"]
    assert mode.evaluate("e => e.selectedOptions[0].label") == "Slow"
    mode.select_option("Fast")
    eventually("it is fast", lambda: value("leslie", "mode") == 1)
    mode.press("Backspace")
    eventually("its default", lambda: value("leslie", "mode") == 0.5)
    # All others of it are numbers.
    assert view.get_by_role("article", name="leslie").get_by_role("slider").count() == len(
        next(node for node in host.look("nodes")["nodes"] if node["name"] == "leslie")["parameters"]
    ) - 1
    assert page.get_by_role("alert").count() == 0


def test_whole_numbers_and_triggers_are_turned_as_what_they_are(opened):
    page, view, host = opened(TONE, "Nodes")
    asked = page.evaluate(f"""async () => {{ const {{ turner }} = await import('{host.url}parameters.js')
        const asked = []
        const app = {{ call: async (name, given) => (asked.push([given.parameter, given.value]), {{ value: given.value }}) }}
        const add = (key, flags, more) => {{
            const made = turner(app, 'node', {{ key, flags, minimum: 0, maximum: 127, default: 0, value: 0, unit: '', doc: '',
                scale: 'linear', ...more }})
            document.body.append(made.element)
            return made.element.querySelector('input, select, button') }}
        const move = (input, value) => {{ input.value = value; input.dispatchEvent(new Event('input')) }}
        const wait = () => new Promise(done => setTimeout(done))
        const program = add('program', ['stepped'], {{ points: [{{ label: 'Piano', value: 3 }}] }})
        move(program, 0.503)
        await wait()
        move(program, 3 / 127)
        const texts = [program.ariaValueText]
        await wait()
        add('tap', ['trigger', 'toggle'], {{ maximum: 1 }}).click()
        const fine = add('fine', [], {{ maximum: 20000.55 }})
        move(fine, 1)
        await wait()
        const between = add('between', ['stepped'], {{ maximum: 1, value: 0.25, default: 0.25,
            points: [{{ label: 'Off', value: 0 }}, {{ label: 'On', value: 1 }}] }})
        return [asked, texts, between.tagName, between.value]
    }}""")
    assert asked == [[["program", 64], ["program", 3], ["tap", 1], ["fine", 20000]], ["Piano"], "SELECT", "0.25"]


def test_what_an_action_returns_and_what_it_refuses_is_told(opened):
    page, view, host = opened(TALKING, "Nodes")
    agent = view.get_by_role("article", name="agent")
    agent.get_by_text("Actions").click()
    agent.get_by_text("send", exact=True).first.click()
    agent.get_by_label("text", exact=True).fill("hello")
    agent.get_by_role("button", name="send", exact=True).click()
    eventually("its item", lambda: "item" in agent.locator("details[open] form output").first.inner_text())
    agent.get_by_role("button", name="retry", exact=True).click()
    page.get_by_role("alert").wait_for()
    assert page.get_by_role("alert").locator("strong").inner_text()


def test_links_are_made_with_a_gain_and_refused_with_the_reason(opened):
    page, view, host = opened(TONE, "Graph")
    view.locator(".node").first.wait_for()
    view.get_by_text("Link by name").click()
    choose = lambda key, end: view.get_by_role("combobox", name=key, exact=True).select_option(end)
    choose("from", "tone.out")
    choose("to", "out.in_1")
    view.get_by_label("gain_db, dB").fill("-12")
    view.get_by_role("button", name="Link", exact=True).click()
    gain = view.get_by_label("Gain from tone.out to out.in_1 in dB")
    eventually("its gain", lambda: gain.input_value() == "-12")
    # A second one of the same, a loop, and audio into what takes none.
    view.get_by_role("button", name="Link", exact=True).click()
    error(page, "tone")
    choose("from", "quiet.out")
    choose("to", "quiet.in")
    view.get_by_role("button", name="Link", exact=True).click()
    page.get_by_role("alert").wait_for()
    assert len(host.look("nodes")["links"]) == 3


def test_gain_of_a_link_is_changed_where_it_stands_and_taken_back_by_a_key_on_any_view(opened):
    page, view, host = opened(TONE, "Graph")
    gains = lambda: [link["gain_db"] for link in host.look("nodes")["links"]]
    before = gains()
    view.get_by_text("Link by name").click()
    gain = view.get_by_label(re.compile("Gain from tone.*")).first
    gain.fill("-9")
    gain.press("Enter")
    eventually("the host has it", lambda: -9 in gains())
    page.get_by_role("status").filter(has_text="-9 dB").wait_for()
    gain = view.get_by_label(re.compile("Gain from tone.*")).first
    gain.fill("900")
    gain.press("Tab")
    error(page, "gain")
    eventually("it is as it was", lambda: view.get_by_label(re.compile("Gain from tone.*")).first.input_value() == "-9")
    page.get_by_role("navigation").get_by_role("link", name="Meters").click()
    page.keyboard.press("Control+z")
    eventually("it is taken back", lambda: gains() == before)
    page.get_by_text("Taken back").wait_for()
    page.keyboard.press("Control+Shift+Z")
    eventually("and done again", lambda: -9 in gains())


def test_refusal_is_told_once_and_is_gone_when_something_is_done(opened):
    page, view, host = opened(TONE, "Graph")
    view.get_by_role("listbox", name="type", exact=True).select_option("gain")
    name = view.get_by_label("name", exact=True)
    name.fill("tone")
    view.get_by_role("button", name="Add", exact=True).click()
    alert = page.get_by_role("alert").filter(visible=True)
    alert.filter(has_text="there is a node 'tone' already").wait_for()
    assert alert.inner_text().count("tone") == 1, alert.inner_text()
    name.fill("more")
    view.get_by_role("button", name="Add", exact=True).click()
    page.get_by_text("Added: more").wait_for()
    # What it proposes next is free.
    eventually("another name", lambda: name.input_value() == "gain")
    assert alert.count() == 0
    # Where nothing is selected, keys of text are the text's own.
    name.fill("half")
    name.press("Control+z")
    assert node(host, "more")


def test_node_whose_setting_is_missing_or_wrong_is_refused_with_where(opened):
    page, view, host = opened(TONE, "Graph")
    kind = view.get_by_role("listbox", name="type")
    kind.select_option("record")
    view.get_by_label("name", exact=True).fill("take")
    view.get_by_role("button", name="Add", exact=True).click()
    # The browser asks for what is required before anything is sent.
    assert view.get_by_label("path", exact=True).evaluate("e => !e.validity.valid")
    assert node(host, "take") is None
    view.get_by_label("path", exact=True).fill("take.nonsense")
    view.get_by_role("button", name="Add", exact=True).click()
    error(page, "nonsense")
    assert node(host, "take") is None
    view.get_by_label("path", exact=True).fill("take.wav")
    view.get_by_role("button", name="Add", exact=True).click()
    eventually("it is there", lambda: node(host, "take"))


def test_saving_says_what_it_saved(opened):
    page, view, host = opened(TONE, "Graph")
    view.get_by_role("button", name="Save states").click()
    page.get_by_role("status").filter(has_text="Saved: nothing; no node has state").wait_for()


def test_edit_is_taken_back_and_done_again(opened):
    page, view, host = opened(TONE, "Graph")
    view.get_by_role("button", name="Undo").click()
    error(page, "there is nothing to take back")
    view.get_by_text("Link by name").click()
    view.get_by_role("button", name="Unlink tone from quiet").click()
    linked = '"tone -> quiet -> out"'
    eventually("it is unlinked", lambda: linked not in host.look("file")["text"])
    view.get_by_role("button", name="Undo").click()
    page.get_by_role("status").filter(has_text="Taken back: unlink tone -> quiet").wait_for()
    view.get_by_role("button", name="Unlink tone from quiet").wait_for()
    assert linked in host.look("file")["text"]
    view.get_by_role("button", name="Redo").click()
    page.get_by_role("status").filter(has_text="Done again: unlink").wait_for()
    assert linked not in host.look("file")["text"]


@pytest.mark.parametrize("options", [(), ("--web-read-only",)], ids=["", "read-only"])
def test_graph_as_it_plays_is_downloaded_as_a_file(opened, tmp_path, options):
    page, view, host = opened("# Mine.\n" + TONE, "Graph", *options)
    if not options:
        host.call("set", node="quiet", parameter="gain_db", value=-9)
    button = view.get_by_role("button", name="Save as file")
    with page.expect_download() as downloading:
        button.click()
    file = tmp_path / downloading.value.suggested_filename
    downloading.value.save_as(file)
    text = file.read_text()
    assert file.suffix == ".conf" and text.startswith("# Mine.\n") and ("gain_db = -9" in text) == (not options)
    assert subprocess.run([COMMAND, "check", file]).returncode == 0
    page.get_by_role("status").filter(has_text="Downloaded: " + file.name).wait_for()
    undo = view.get_by_role("button", name="Undo")
    eventually("who may not change anything cannot undo", lambda: undo.is_disabled() == bool(options))


LEVELS = """() => Object.fromEntries([...document.querySelectorAll('#drawing .pane .link')].map(
  e => [e.querySelector('title').textContent, e.querySelector('.wire').style.getPropertyValue('--level')]))"""


def test_links_of_the_drawing_show_how_loud_they_are(opened):
    page, view, host = opened(TONE, "Graph")

    def level():
        return page.evaluate(LEVELS).get("tone.out → quiet.in")

    eventually("the tone is loud", lambda: level() and float(level()) > 0.8)
    host.call("set", node="tone", parameter="level_db", value=-40)
    # By decibels: a third of sixty is gone.
    eventually("it is quieter", lambda: level() and 0.25 < float(level()) < 0.45)
    host.call("set", node="tone", parameter="level_db", value=-120)
    eventually("it is silent", lambda: level() == "0")


def test_links_and_meters_of_a_node_that_is_muted_are_silent(opened):
    page, view, host = opened(TONE, "Graph")
    title = "tone.out → quiet.in"
    eventually("the tone is loud", lambda: float(page.evaluate(LEVELS).get(title) or 0) > 0.8)
    host.call("mute", node="tone")
    eventually("it is silent", lambda: page.evaluate(LEVELS).get(title) == "0")
    page.wait_for_timeout(1000)
    assert page.evaluate(LEVELS).get(title) == "0"
    page.get_by_role("navigation").get_by_role("link", name="Meters").click()
    meter = page.get_by_role("meter", name="Level of tone")
    eventually("its meter is silent", lambda: meter.get_attribute("aria-valuetext") == "silent, muted")
    host.call("mute", node="tone", on=False)
    eventually("its meter is loud", lambda: meter.get_attribute("aria-valuetext").startswith("-6"))


def test_change_of_the_file_is_seen(opened):
    page, view, host = opened(TONE, "Graph", "--watch")
    eventually("three nodes", lambda: view.locator(".node").count() == 3)
    path = host.folder / "graph.conf"
    path.write_text(TONE.replace('"tone -> quiet -> out"', '"tone -> quiet -> later -> out"') + '[node.later]\ntype = "gain"\n')
    eventually("four", lambda: view.locator(".node").count() == 4)
    assert view.get_by_text("quiet.out → later.in").count()
