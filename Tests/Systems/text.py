# SPDX-License-Identifier: Apache-2.0
"""The second system: what is said becomes text, and is kept."""

import array
import pathlib

from conftest import launch, wait
from measuring import answer, do, eventually, row, told, words, write_wav

PEOPLE = pathlib.Path("/usr/share/pocketsphinx/test/data/goforward.raw")
EAR = """
[graph]
name = "dictation"
links = ["source -> ear"]
[node.source]
type = "file"
path = "{path}"
loop = true
[node.ear]
type = "transcribe"
engine = "pocketsphinx"
partials = 0.3
autostart = {autostart}
keep = {keep}
"""


def speech(measured):
    """A person who says four words, with silence before and after: a file that comes with pocketsphinx's model."""
    samples = array.array("h", PEOPLE.read_bytes())
    path = measured.folder / "speech.wav"
    write_wav(path, [0.0] * 16000 + [sample / 32768 for sample in samples] + [0.0] * 32000, 16000)
    return path


def dictation(measured, autostart=False, keep=False, folder=None):
    return measured.host(
        EAR.format(path=speech(measured), autostart=str(autostart).lower(), keep=str(keep).lower()), folder=folder
    )


def finals(host):
    return [event["text"] for event in told(host, "transcribe.final") if event["text"].strip()]


def open_talk(measured, host):
    browser = launch(measured.playwright)
    measured.stack.callback(browser.close)
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.goto(host.link)
    wait(page, "document.body.innerText.includes('running')")
    return page


@row("V1", "`toggle` and a second `start`; the page's one button")
def toggle(measured):
    host = dictation(measured)
    first = answer(do(host, "ear", "toggle"))
    again = do(host, "ear", "start")
    second = answer(do(host, "ear", "toggle"))
    measured.check(
        f"toggle: listening {first['listening']}, then {second['listening']}; a second start: {answer(again)}",
        first["listening"] and not second["listening"] and again[0] != 200,
    )
    page = open_talk(measured, host)
    panel = page.locator("#talk .dictation")
    button = panel.get_by_role("button").first
    labels = []
    for wanted in ("Dictate", "Stop", "Dictate"):
        eventually(f"the button says {wanted}", lambda wanted=wanted: button.inner_text() == wanted)
        labels.append(button.inner_text())
        if len(labels) < 3:
            button.click()
    measured.check("page: " + ", ".join(labels), labels == ["Dictate", "Stop", "Dictate"])


@row("V2", "partial texts and the final one of a person's sentence")
def partials(measured):
    host = dictation(measured, autostart=True)
    final = eventually(
        "a final text",
        lambda: next((event for event in told(host, "transcribe.final") if event["text"].strip()), None),
        180,
    )
    parts = [
        event["text"]
        for event in told(host, "transcribe.partial")
        if event["item"] == final["item"] and event["text"].strip()
    ]
    measured.check(" / ".join(parts) + f", then {final['text']!r}", bool(parts) and "forward" in final["text"].lower())


@row("V3", "Save on the page only with a text and while nothing listens; add, list, edit, delete, after a kill -9")
def kept(measured):
    host = dictation(measured)
    page = open_talk(measured, host)
    panel = page.locator("#talk .dictation")
    button, save, _ = panel.get_by_role("button").all()
    blocked = [save.is_disabled()]
    button.click()
    text = eventually("a text", lambda: finals(host) and finals(host)[0], 180)
    blocked.append(save.is_disabled())
    button.click()
    eventually("Save can be pressed", save.is_enabled)
    whole = panel.locator(".heard").inner_text().strip()
    save.click()
    eventually("it is kept", lambda: text in host.command("transcripts", "search", text.split()[0]).stdout)
    measured.check(
        f"Save is blocked while empty and while it listens; then {whole!r} is kept", all(blocked) and text in whole
    )
    host.kill()
    added = host.command("transcripts", "add", "Call Anna back.")
    number = added.stdout.split()[-1].strip(".")
    edited = host.command("transcripts", "edit", number, "Call Anna on Monday.")
    listed = (
        host.command("transcripts", "search", "Anna").stdout
        + host.command("transcripts", "search", text.split()[0]).stdout
    )
    measured.check(
        "after kill -9 both are there, the second edited",
        added.returncode == edited.returncode == 0 and "on Monday" in listed and text in listed,
    )
    deleted = host.command("transcripts", "delete", "--item", number, "--yes")
    if deleted.returncode:
        measured.check(deleted.stderr.strip().splitlines()[0], False)
    rest = host.command("transcripts", "search", "Anna").stdout
    measured.check(
        "deleted by its number, the other stays",
        "Monday" not in rest and text in host.command("transcripts", "search", text.split()[0]).stdout,
    )


@row("V4", "a microphone that is not there is told at the start, and when somebody asks")
def microphone(measured):
    host = measured.host(
        '[graph]\nname = "mic"\nlinks = ["mic -> ear"]\n[node.mic]\ntype = "input"\nconnect = ["nosuch:port"]\n'
        '[node.ear]\ntype = "transcribe"\nengine = "pocketsphinx"\n'
    )
    event = eventually("it is told", lambda: host.event("input.judged"))
    asked = host.command("ctl", "judge")
    measured.check(
        f"verdict {event['verdict']} {event['time']:.1f} s after the start; "
        f"ctl judge: {asked.stdout.strip().splitlines()[0]}",
        event["verdict"] == "unconnected" and "nothing is connected" in asked.stdout,
    )


@row("V-Fix", "stop in mid-speech keeps the text, equal texts are two, and start works again")
def fixes(measured):
    host = dictation(measured, keep=True)
    do(host, "ear", "start")
    eventually("it hears something", lambda: told(host, "transcribe.partial"), 180)
    stopped = answer(do(host, "ear", "stop"))
    measured.check(f"stop while it hears returns {words(stopped.get('text'))}", bool(stopped.get("text", "").strip()))
    again = do(host, "ear", "start")
    state = eventually(
        "it listens again",
        lambda: host.event("transcribe.state")["state"] in ("listening", "hearing")
        and host.event("transcribe.state")["state"],
    )
    measured.check(f"start works at once: {state}", again[0] == 200)
    eventually("two equal texts", lambda: any(finals(host).count(text) > 1 for text in finals(host)), 240)
    same = next(text for text in finals(host) if finals(host).count(text) > 1)
    do(host, "ear", "stop")
    sessions = host.look("transcripts")["sessions"]

    def items():
        return [
            item["id"] for item in host.look("transcript", session=sessions[-1]["id"])["items"] if item["text"] == same
        ]

    numbers = eventually("both are kept", lambda: len(items()) > 1 and items())
    measured.check(f"{same!r} is kept as items {', '.join(map(str, numbers))}", len(set(numbers)) > 1)
