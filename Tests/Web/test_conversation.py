# SPDX-License-Identifier: Apache-2.0
"""Talks to the assistant through the page: a microphone that plays a file, and speakers that are measured."""

import subprocess

from conftest import launch, wait
from live import Live
from running import ROOT, eventually


def question(folder):
    """A sound file with words in it, and silence behind them."""
    words, whole = folder / "words.wav", folder / "question.wav"
    subprocess.run(["flite", "-voice", "slt", "-t", "hello", "-o", words], check=True)
    subprocess.run(["sox", words, "-r", "48000", "-c", "1", whole, "pad", "3", "8"], check=True)
    return whole


def test_somebody_talks_to_it_through_the_page_and_hears_the_reply(run, open_page, playwright, tmp_path):
    host = run(ROOT / "config/web-assistant.conf")
    listener = Live(host)
    listener.call("events")
    listener.call("ask", series=["face.bands"])
    browser = launch(
        playwright, "--use-fake-ui-for-media-stream", "--use-fake-device-for-media-stream",
        f"--use-file-for-fake-audio-capture={question(tmp_path)}")
    page = open_page(host.link, browser=browser, permissions=["microphone"])
    wait(page, "document.body.innerText.includes('running')")
    conversation = page.locator("#conversation")
    # Nobody is asked for the microphone before it is wanted.
    assert not host.look("streams")["streams"][0]["taken"]
    conversation.get_by_role("button", name="Start", exact=True).click()
    eventually("the microphone is open", lambda: any(
        stream["taken"] for stream in host.look("streams")["streams"] if stream["direction"] == "input"), 30)
    reply = eventually("a reply", lambda: conversation.locator("[part~=agent-bubble]").count() and
                       conversation.locator("[part~=agent-bubble]").first.inner_text(), 60)
    assert reply.strip()
    assert conversation.locator("[part~=user-bubble]").count() >= 1
    # It leaves the graph as sound, and the page has a stream of it.
    listener.until(lambda: any(
        max(listener.rows(message)[1].get(("face", "peak"), [0])) > 0.05 for message in listener.levels[-50:]), 60)
    outputs = [stream for stream in host.look("streams")["streams"] if stream["direction"] == "output"]
    assert outputs[0]["clients"] == 1
    listener.close()
    browser.close()
