# SPDX-License-Identifier: Apache-2.0
"""The face and the box for what the voice says."""

import math

import pytest

from conftest import state, wait
from running import TALKING, eventually


@pytest.fixture
def talk(run, open_page):
    host = run()
    page = open_page(host.link)
    wait(page, "document.body.innerText.includes('running')")
    return page, host


def test_O1_speaking_stops_what_is_spoken_and_blank_only_stops(talk):
    page, host = talk
    page.fill("#speak-text", "one two three four five six seven eight nine ten eleven twelve")
    page.get_by_role("button", name="Speak").click()
    eventually("it speaks", lambda: host.event("speech.started"))
    page.fill("#speak-text", "  stop  ")
    page.get_by_role("button", name="Speak").click()
    eventually("the second text", lambda: len(host.events("speech.started")) == 2)
    assert host.event("speech.started")["text"].strip() == "stop"
    assert len(host.events("speech.stopped")) == 1
    page.fill("#speak-text", "and a longer text again that goes on for a while")
    page.get_by_role("button", name="Speak").click()
    eventually("the third text", lambda: len(host.events("speech.started")) == 3)
    before = len(host.events("speech.stopped"))
    page.get_by_role("button", name="Stop", exact=True).click()
    eventually("it stops", lambda: len(host.events("speech.stopped")) > before)


@pytest.mark.parametrize("level,orb", [(0, 0.9398), (-20, 0.5398)])
def test_O2_the_level_is_that_of_the_host(run, level, orb):
    from live import Live
    graph = TALKING.replace("tone -> quiet -> out", "tone -> face").replace(
        'type = "tone"', f'type = "tone"\nfrequency = 1000\nlevel_db = {level}')
    host = run(graph)
    live = Live(host)
    live.call("events")
    eventually("the level", lambda: live.take() or (
        live.levels and math.isclose(live.rows(live.levels[-1])[1].get(("face", "orb"), [0])[0], orb, abs_tol=0.002)))


def test_O4_the_orb_glows_while_it_speaks_and_rests_after(run, open_page):
    host = run(TALKING.replace('style = "bars"', 'style = "orb"'))
    page = open_page(host.link)
    wait(page, "document.body.innerText.includes('running')")
    page.watch.allows.append("getImageData")
    page.select_option("#face-node", "face")
    wait(page, "document.querySelector('#face').face.style === 'orb'")
    # How much of the canvas has any colour.
    covered = """() => { const c = document.querySelector('#face').shadowRoot.querySelector('canvas')
      if (!c.width) return 0
      const d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data; let n = 0
      for (let i = 3; i < d.length; i += 4) if (d[i] > 8) n++
      return n / (d.length / 4) }"""
    quiet = eventually("an orb", lambda: page.evaluate(covered))
    page.fill("#speak-text", "This is a sentence that is spoken for a while.")
    page.get_by_role("button", name="Speak").click()
    eventually("it grows", lambda: page.evaluate(covered) > 1.4 * quiet)
    eventually("it rests", lambda: host.event("speech.finished") and page.evaluate(covered) < 1.1 * quiet)


def test_O4_face_is_the_visualizer_of_the_file_in_its_style_and_colours(run, open_page):
    host = run(TALKING.replace('style = "bars"', 'style = "orb"\npreset = "glacier"'))
    page = open_page(host.link)
    wait(page, "document.body.innerText.includes('running')")
    wait(page, "document.querySelector('#face').face.style !== undefined")
    assert page.locator("#face-node").input_value() == "face"
    assert page.evaluate("(({ style, colors }) => [style, colors])(document.querySelector('#face').face)") == [
        "orb", ["#4ce5f2", "#005a98"]]


def test_O5_speak_box_says_how_it_is_and_marks_the_word(talk):
    page, host = talk
    assert page.locator("#speaking").inner_text() == "Idle"
    # In the page itself: a word may be marked for less time than a call into it takes.
    page.evaluate("""() => { window.marked = []
      new MutationObserver(() => document.querySelectorAll('#heard mark').forEach(e => window.marked.push(e.textContent)))
        .observe(document.querySelector('#heard'), { childList: true, subtree: true, characterData: true }) }""")
    page.fill("#speak-text", "Hello wonderful world.")
    page.get_by_role("button", name="Speak").click()
    eventually("Speaking…", lambda: page.locator("#speaking").inner_text() == "Speaking…")
    eventually("every word", lambda: {"Hello", "wonderful"} <= {
        word.strip(".") for word in page.evaluate("marked")})
    eventually("Idle", lambda: page.locator("#speaking").inner_text() == "Idle")


def test_Fix_speaking_drops_only_after_the_last_sample_was_heard(talk):
    page, host = talk
    host.call("do", node="voice", action="speak", arguments={"text": "Every sample of this is played."})
    eventually("it is over", lambda: host.event("speech.finished"))
    finished, synthesized = host.event("speech.finished"), host.event("speech.synthesized")
    assert finished["time"] > synthesized["time"]
    eventually("Idle", lambda: page.locator("#speaking").inner_text() == "Idle")
