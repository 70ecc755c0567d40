# SPDX-License-Identifier: Apache-2.0
"""The sound of a browser: what keeps it from being sent and played, in words, and how it begins all the same."""

import json

import pytest

from conftest import CHROMIUM, launch, state
from running import eventually

ELEMENT = "document.querySelector('voice-graph')"
TALKING = """
[graph]
name = "browser"
links = ["mic -> text -> agent -> voice -> speakers", "voice.speaking -> agent.speaking", "voice.heard -> agent.heard"]
[node.mic]
type = "web-input"
[node.text]
type = "transcribe"
[node.agent]
type = "agent"
[node.voice]
type = "tts"
[node.speakers]
type = "web-output"
channels = 1
"""
# A browser of whom a test says what comes of asking for the microphone.
MICROPHONE = """window.refusal = %s
  window.tracks = []
  navigator.mediaDevices.getUserMedia = async () => {
    if (refusal) throw new DOMException('Words of a programmer', refusal)
    const sound = new MediaStreamAudioDestinationNode(new AudioContext()).stream
    tracks.push(...sound.getTracks())
    return sound }"""


def part(page, name):
    return page.locator(f"voice-graph [part~={name}]")


def begin(page):
    state(page, "collapsed")
    part(page, "launcher").click()
    state(page, "expanded")


def notice(page, wanted):
    eventually(f"the notice: {wanted}", lambda: wanted in (part(page, "notice").text_content() or "\0"))


# All that getUserMedia may tell (w3.org/TR/mediacapture-streams), and what nobody has heard of yet.
REFUSALS = {
    "NotAllowedError": "not allowed", "SecurityError": "not allowed", "NotFoundError": "No microphone was found",
    "OverconstrainedError": "No microphone was found", "NotReadableError": "Another program may have it",
    "AbortError": "Another program may have it", "InvalidStateError": "cannot be used now", "OddError": "cannot be used now",
}


@pytest.mark.parametrize("name", REFUSALS)
def test_every_refusal_of_a_microphone_is_a_sentence_and_goes_when_it_is_open(element, name):
    page, host = element("", TALKING, script=MICROPHONE % json.dumps(name))
    begin(page)
    notice(page, REFUSALS[name])
    assert "programmer" not in part(page, "card").first.inner_text()
    assert page.evaluate(f"{ELEMENT}.muted") is True
    page.evaluate("window.refusal = ''")
    part(page, "mute").click()
    eventually("it is open", lambda: page.evaluate(f"{ELEMENT}.muted") is False)
    notice(page, "")
    assert part(page, "notice").is_hidden()
    eventually("it listens", lambda: part(page, "status").inner_text() == "Listening")


def test_microphone_that_goes_is_told_and_can_be_opened_again(element):
    page, host = element("", TALKING, script=MICROPHONE % "''")
    begin(page)
    eventually("it is open", lambda: page.evaluate("tracks.length") == 1)
    # What a browser does when the plug is pulled.
    page.evaluate("tracks[0].dispatchEvent(new Event('ended'))")
    notice(page, "The microphone has stopped")
    assert page.evaluate(f"{ELEMENT}.muted") is True
    part(page, "mute").click()
    eventually("it is open again", lambda: page.evaluate("tracks.length") == 2 and not page.evaluate(f"{ELEMENT}.muted"))
    assert part(page, "notice").is_hidden()


MISSING = ["AudioContext", "AudioWorkletNode", "navigator.mediaDevices", "AudioContext.prototype.audioWorklet"]


@pytest.mark.parametrize("feature", MISSING)
def test_what_a_browser_lacks_is_told_in_words(element, feature):
    owner, _, name = f"window.{feature}".rpartition(".")
    hide = {"mediaDevices": "Object.defineProperty(navigator, 'mediaDevices', { value: undefined })",
            "audioWorklet": "delete BaseAudioContext.prototype.audioWorklet"}.get(name, f"delete {owner}.{name}")
    page, host = element("", TALKING, script=hide)
    begin(page)
    notice(page, "This browser cannot send or play sound")


def test_page_without_https_says_that_sound_needs_it(run, open_page, playwright):
    host = run(TALKING, "--set", 'web.names=["voice.example"]')
    browser = launch(playwright, "--host-resolver-rules=MAP voice.example 127.0.0.1")
    url = f"http://voice.example:{host.port}/"
    page = open_page(f"{url}?token={host.token}", browser=browser, allows=["Cross-Origin-Opener-Policy"])
    state(page, "transcript", "#conversation")
    assert page.evaluate("isSecureContext") is False
    page.locator("#conversation .mute").click()
    eventually("it says so", lambda: "HTTPS" in page.locator("#conversation .notice").inner_text())
    browser.close()


def test_microphone_that_another_has_is_told_in_words(element):
    page, host = element("", TALKING, script=MICROPHONE % "''")
    begin(page)
    eventually("it has the microphone", lambda: not page.evaluate(f"{ELEMENT}.muted") and page.evaluate(f"{ELEMENT}.streams.length") == 2)
    other = page.context.new_page()
    other.goto(page.url)
    begin(other)
    notice(other, "Somebody else is talking")
    # Both hear it: what one takes of the sound is not lost to the other, and nothing fails.
    page.evaluate(f"{ELEMENT}.send('hello')")
    eventually("it was spoken", lambda: host.event("speech.finished"))


NOTICES = "[...document.querySelectorAll('voice-graph')].map(e => e.shadowRoot.querySelector('.notice').textContent)"
STREAMS = "[...document.querySelectorAll('voice-graph')].map(e => e.streams.map(({ node }) => node).sort().join())"
BOTH, SHARED = "mic,speakers", "The sound is with the other assistant on this page. Press Start to have it here."


@pytest.fixture
def two(element):
    """Two elements of one host on one page, both begun at once."""
    page, host = element("", TALKING, script=MICROPHONE % "''")
    page.evaluate(f"() => {{ const e = {ELEMENT}.cloneNode(); e.id = 'second'; document.body.append(e) }}")
    state(page, "collapsed")
    state(page, "collapsed", "#second")
    page.evaluate("Promise.all([...document.querySelectorAll('voice-graph')].map(e => e.start()))")
    return page, host


def test_two_elements_of_a_page_have_one_sound_and_the_second_says_where_it_is(two):
    page, host = two
    eventually("one has it", lambda: page.evaluate(STREAMS) == [BOTH, ""])
    assert page.evaluate(NOTICES) == ["", SHARED]
    page.evaluate(f"{ELEMENT}.send('hello')")
    eventually("it was spoken", lambda: host.event("speech.finished"))


@pytest.mark.parametrize("end", ["end()", "remove()"])
def test_sound_goes_to_the_second_element_when_the_first_has_no_use_for_it(two, end):
    page, host = two
    eventually("one has it", lambda: page.evaluate(STREAMS) == [BOTH, ""])
    page.evaluate(f"{ELEMENT}.{end}")
    eventually("the second has it", lambda: page.evaluate(STREAMS)[-1] == BOTH and page.evaluate(NOTICES)[-1] == "")
    assert page.evaluate("document.querySelector('#second').muted") is False


def test_sound_is_taken_by_whoever_presses_start(two):
    page, host = two
    eventually("one has it", lambda: page.evaluate(STREAMS) == [BOTH, ""])
    page.locator("#second").get_by_role("button", name="Start", exact=True).click()
    eventually("the second has it", lambda: page.evaluate(STREAMS) == ["", BOTH])
    assert page.evaluate(NOTICES) == [SHARED, ""]
    assert page.evaluate(f"{ELEMENT}.muted") is True


def test_sound_that_the_browser_keeps_back_is_told_and_begins_with_a_click_anywhere(element, playwright):
    browser = playwright.chromium.launch(
        executable_path=CHROMIUM, args=["--no-sandbox", "--autoplay-policy=document-user-activation-required"])
    # The page begins by itself and tells by itself how it is: to ask it would count as the user's doing.
    page, host = element("", TALKING, browser=browser, allows=["not allowed to start"], script=MICROPHONE % "'NotAllowedError'" + """
      const Plain = AudioContext; window.contexts = []
      window.AudioContext = class extends Plain { constructor(...given) { super(...given); contexts.push(this) } }
      addEventListener('state', ({ target, detail }) => detail.state === 'collapsed' && target.start(), true)
      setInterval(() => { const notice = document.querySelector('voice-graph')?.shadowRoot?.querySelector('.notice')
        if (contexts.length) console.info(contexts.map(({ state }) => state) + ' ' + notice.textContent) }, 100)""")
    told = []
    page.on("console", lambda message: told.append(message.text))

    def says(sound, words):
        told.clear()
        eventually(f"{sound}, {words}", lambda: page.wait_for_timeout(50) or told and told[-1].startswith(sound)
                   and ("Click anywhere" in told[-1]) == words)

    says("suspended", True)
    page.mouse.click(1, 700)
    says("running", False)
    # What the system interrupts, as telephones do, is told too.
    page.evaluate("contexts[0].suspend()")
    says("suspended", True)
    page.keyboard.press("a")
    says("running", False)
    browser.close()


def test_words_are_those_of_the_page(element):
    page, host = element("label-begin='Los'", TALKING, script=MICROPHONE % "'NotAllowedError'")
    state(page, "collapsed")
    page.evaluate(f"{ELEMENT}.labels = {{ denied: 'Bitte das Mikrofon erlauben.', end: 'Beenden' }}")
    part(page, "launcher").click()
    notice(page, "Bitte das Mikrofon erlauben.")
    assert part(page, "end").get_attribute("aria-label") == "Beenden"


def test_page_that_was_only_opened_has_a_button_that_starts(run, open_page):
    host = run(TALKING)
    page = open_page(host.link)
    state(page, "transcript", "#conversation")
    start = page.locator("#conversation").get_by_role("button", name="Start", exact=True)
    start.wait_for()
    assert start.inner_text() == "Start" and page.locator("#conversation .status").inner_text() == "Idle"
    # Nobody may give it a microphone here; what comes instead is a sentence, and it can be pressed again.
    start.click()
    eventually("it says why", lambda: page.locator("#conversation .notice").inner_text())
