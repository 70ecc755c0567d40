# SPDX-License-Identifier: Apache-2.0
"""What the voice does when the page asks it: languages, what waits, what is made quieter meanwhile, and the ends of it all."""

import pytest

from conftest import wait
from live import Live
from running import TALKING, eventually

DUCKING = """
[graph]
name = "ducking"
links = ["music -> duck -> out", "voice -> out", "voice -> duck.key"]
[node.music]
type = "tone"
level_db = -12
[node.duck]
type = "duck"
depth_db = -18
attack_ms = 50
hold_ms = 100
release_ms = 100
[node.voice]
type = "tts"
[node.out]
type = "output"
channels = 1
"""


def opened(host, open_page):
    page = open_page(host.link)
    wait(page, "document.body.innerText.includes('running')")
    return page


def speak(page, text):
    page.fill("#speak-text", text)
    page.get_by_role("button", name="Speak").click()


def test_O5_other_audio_is_quieter_while_the_voice_speaks(run, open_page):
    host = run(DUCKING)
    page = opened(host, open_page)
    live = Live(host)
    live.call("events")
    live.call("ask", series=["duck.output"])

    def music():
        live.take()
        rows = live.levels and live.rows(live.levels[-1])[1]
        return rows and rows.get(("duck", "output"), [None])[0]

    loud = eventually("the music", lambda: (level := music()) and level > 0.2 and level)
    speak(page, "Ladies and gentlemen, the train to Berlin leaves from platform four. Please stand back.")
    eventually("it is quieter by 18 dB", lambda: (level := music()) is not None and level < loud * 0.13 + 0.005)
    assert page.locator("#speaking").inner_text() == "Speaking…"
    eventually("it is loud again", lambda: (level := music()) and level > loud * 0.98)
    eventually("the voice is silent", lambda: page.locator("#speaking").inner_text() == "Idle")
    live.close()


def test_Fix_texts_that_wait_are_all_heard_to_their_end(run, open_page):
    host = run(TALKING.replace('type = "tts"', 'type = "tts"\nqueue = true'))
    page = opened(host, open_page)
    states = """() => { window.states = []; const s = document.querySelector('#speaking')
      new MutationObserver(() => states.at(-1) !== s.value && states.push(s.value)).observe(s, { childList: true, characterData: true, subtree: true }) }"""
    page.evaluate(states)
    texts = ["One is first.", "Two comes after it.", "Three is last."]
    for text in texts:
        speak(page, text)
    eventually("all are finished", lambda: len(host.events("speech.finished")) == 3)
    started, finished = host.events("speech.started"), host.events("speech.finished")
    assert [event["text"] for event in started] == texts and not host.events("speech.stopped")
    made = {event["item"]: event["time"] for event in host.events("speech.synthesized")}
    for before, after in zip(finished, started[1:]):
        assert after["time"] >= before["time"]
    # That it was made is one thing, that it was heard another, and later.
    assert all(event["time"] > made[event["item"]] for event in finished)
    eventually("Idle", lambda: page.locator("#speaking").inner_text() == "Idle")
    spoken = host.events("speech.state")
    assert not spoken[-1]["speaking"] and spoken[-1]["time"] >= finished[-1]["time"]
    assert page.evaluate("states")[-1] == "Idle" and page.evaluate("states")[0] == "Speaking…"


def test_O1_language_and_rate_are_as_usual_without_a_word_and_as_asked_with_one(run):
    host = run()
    declared = {setting["key"]: setting for setting in next(
        kind for kind in host.look("types")["types"] if kind["name"] == "tts")["settings"]}
    assert declared["rate"]["default"] == "175"

    def length(**arguments):
        count, before = len(host.events("speech.finished")), len(host.events("speech.gap"))
        host.call("do", node="voice", action="speak", arguments={"text": "one two three four five six", **arguments})
        eventually("it is over", lambda: len(host.events("speech.finished")) > count)
        # Where the machine is busy there is silence in it, which is told.
        silent = sum(gap["frames"] for gap in host.events("speech.gap")[before:]) / host.event("running")["rate"]
        return host.event("speech.finished")["time"] - host.event("speech.started")["time"] - silent

    usual = length()
    # Times are those of the audio: they do not depend on how busy the machine is.
    assert length(rate=350) < 0.75 * usual
    assert length(rate=1) == pytest.approx(usual, rel=0.02)
    assert length(language="en-US") == pytest.approx(usual, rel=0.02), "it is the language that is used without one"
    status, answer = host.ask("api/do", {"node": "voice", "action": "speak", "arguments": {"text": "x", "rate": 9000}})
    assert status == 400 and answer["error"]["message"], answer


def test_O1_stop_is_heard_at_once_and_of_use_at_any_time(run, open_page):
    host = run()
    page = opened(host, open_page)
    stop = page.get_by_role("button", name="Stop", exact=True)
    # With nothing to stop it does nothing, and says nothing.
    stop.click()
    speak(page, "This text is long enough that it is stopped before its end, as everybody will hear who listens to it.")
    eventually("it speaks", lambda: page.locator("#speaking").inner_text() == "Speaking…")
    stop.click()
    eventually("it is silent", lambda: page.locator("#speaking").inner_text() == "Idle")
    assert host.event("speech.stopped") and not host.events("speech.finished")
    assert not page.get_by_role("alert").filter(visible=True).count()
    speak(page, "   ")
    speak(page, "again")
    eventually("it speaks again", lambda: host.event("speech.finished"))
    assert len(host.events("speech.started")) == 2, "what was blank was not spoken"


@pytest.mark.parametrize("level,wanted", [("level_db = -3.0103", "0.8796"), ("level_db = -21.9897", "0.5"), ("level_db = -120", "0")])
def test_O2_level_of_other_sounds(run, level, wanted):
    # A sine's root mean square is 3.01 dB below its peak: -6.02, -25 dBFS, and silence.
    host = run(TALKING.replace("tone -> quiet -> out", "tone -> face").replace('type = "tone"', f'type = "tone"\nfrequency = 1000\n{level}'))
    live = Live(host)
    live.call("events")
    eventually("the level", lambda: live.take() or (
        live.levels and live.rows(live.levels[-1])[1].get(("face", "orb"), [9])[0] == pytest.approx(float(wanted), abs=0.003)))
    live.close()
