# SPDX-License-Identifier: Apache-2.0
"""What is said aloud into a reply of the assistant: which of it interrupts."""

import os
import pathlib
import random
import subprocess

from measuring import Wave, row, told, write_wav

TEXTS = pathlib.Path(__file__).resolve().parents[1] / "Fixtures/agent/interruptions.txt"
SPEECH_RATE = 16000
# A question is asked, what is said into the reply, and the next question, in seconds.
ASKED, SAID, SLOT = 1, 7, 16
VOICES = [("flite", "slt"), ("flite", "rms"), ("hibari", None), ("hibari", None), ("espeak-ng", None)]
# How many runs there are at once: each keeps half a processor busy.
RUNS = 3
NEEDED = ["moonshine-base-en", "silero-vad", "smart-turn", "onnxruntime", "hibari"]
RULES = """*
    The weather will be fine today and tomorrow and the day after that in all parts of the country but one and there it \
will rain from the morning until late at night and the wind will be strong and cold.
"""
GRAPH = """
[graph]
links = ["mic -> vad -> turn -> text -> agent -> voice -> out", "vad.speech -> turn.speech", "turn.turn -> text.gate",
  "vad.speech -> voice.hold", "vad.speech -> agent.speech", "voice.speaking -> agent.speaking",
  "voice.speaking -> text.strict", "voice.heard -> agent.heard"]
[node.mic]
type = "file"
path = "{sound}"
[node.vad]
type = "vad"
[node.turn]
type = "turn"
[node.text]
type = "transcribe"
gated = true
[node.agent]
type = "agent"
rules = "{rules}"
[node.voice]
type = "tts"
engine = "espeak-ng"
hold_after_ms = 150
hold_release_ms = 700
[node.out]
type = "output"
"""


def spoken(measured, text, voice):
    """A text as samples, as loud as others."""
    engine, name = voice
    sound, even = measured.folder / "said.wav", measured.folder / "even.wav"
    measured.command("speak", text, "--engine", engine, *(["--voice", name] if name else []), "-o", sound)
    form = ["-r", str(SPEECH_RATE), "-c", "1", "-b", "16"]
    subprocess.run(["sox", "-V1", sound, *form, even, "norm", "-6"], check=True)
    return [sample / 32768 for sample in Wave(even).samples[0]]


def conversation(measured, number, texts, question):
    """Begins a run in which each of these is said into a reply."""
    noise = random.Random(number)
    samples = [noise.uniform(-2e-4, 2e-4) for _ in range(SLOT * len(texts) * SPEECH_RATE)]
    for place, text in enumerate(texts):
        said = spoken(measured, text, VOICES[(RUNS * number + place) % len(VOICES)])
        for start, part in ((ASKED, question), (SAID, said)):
            first = (place * SLOT + start) * SPEECH_RATE
            for at, sample in enumerate(part[: (SLOT - start) * SPEECH_RATE], first):
                samples[at] += sample
    folder = measured.folder / f"talk{number}"
    models(folder)
    sound, rules = folder / "said.wav", folder / "rules"
    write_wav(sound, samples, SPEECH_RATE)
    rules.write_text(RULES)
    return measured.host(
        GRAPH.format(sound=sound, rules=rules), "--duration", str(SLOT * len(texts) + 1), folder=folder
    )


def models(folder):
    """Lets a run have the models of whoever measures."""
    (folder / "data/voicegraph").mkdir(parents=True, mode=0o700)
    (folder / "data/voicegraph/models").symlink_to(os.environ["VOICEGRAPH_SYSTEMS_MODELS"])


@row("T-Spoken", "sixty things that four voices say into a reply: signs of attention, interruptions, stop words")
def interruptions(measured):
    there = pathlib.Path(os.environ["VOICEGRAPH_SYSTEMS_MODELS"])
    missing = [name for name in NEEDED if not (there / name).exists()]
    if missing:
        return measured.say(f"no {missing[0]} in {there}", "not measured here")
    models(measured.folder)
    cases = [line.split(": ", 1) for line in TEXTS.read_text().splitlines() if not line.startswith("#")]
    question = spoken(measured, "Tell me about the weather.", VOICES[2])
    parts = [cases[number::RUNS] for number in range(RUNS)]
    hosts = [
        conversation(measured, number, [text for _, text in part], question) for number, part in enumerate(parts)
    ]
    right = taken = real = unheard = 0
    wrong = []
    for host, part in zip(hosts, parts):
        host.process.wait(SLOT * len(part) + 60)
        ended = [event["time"] for event in told(host, "agent.final") if event.get("interrupted")]
        heard = [event["time"] for event in told(host, "agent.final")]
        for place, (kind, text) in enumerate(part):
            span = (place * SLOT + SAID, (place + 1) * SLOT + ASKED)
            stopped = any(span[0] <= time < span[1] for time in ended)
            unheard += not any(span[0] <= time < span[1] for time in heard)
            real += kind != "attention"
            taken += stopped
            right += stopped and kind != "attention"
            if stopped == (kind == "attention"):
                wrong.append(text)
    score = 2 * right / max(1, taken + real)
    measured.check(f"F1 {score:.3f}: {right} of {real} interrupt, and {taken - right} others", score >= 0.95, partly=True)
    measured.check(f"{unheard} without a reply", unheard == 0)
    measured.say(f"wrong: {', '.join(wrong) or 'none'}")
