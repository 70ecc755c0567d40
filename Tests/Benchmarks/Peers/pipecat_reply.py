# SPDX-License-Identifier: Apache-2.0
"""How long a pipeline of pipecat takes from the end of what is said to the text of a finished turn.

Arguments: the folder of the model moonshine-base-en, recordings of 16 kHz mono. Silero's detector, Smart Turn and
Moonshine are those that voicegraph uses, as pipecat has them and with its own settings. For each recording a line: its
path, and milliseconds from the end of speech to the end of the turn, and until its text is there as well.
"""

import asyncio
import json
import sys
import time
import wave

import numpy as np
from loguru import logger
from moonshine_voice import ModelArch, Transcriber
from pipecat.audio.vad.silero import SileroVADAnalyzer
from pipecat.frames.frames import EndFrame, InputAudioRawFrame, StartFrame, TranscriptionFrame, UserStoppedSpeakingFrame
from pipecat.pipeline.pipeline import Pipeline
from pipecat.pipeline.worker import PipelineParams, PipelineWorker
from pipecat.processors.audio.vad_processor import VADProcessor
from pipecat.processors.frame_processor import FrameProcessor
from pipecat.services.moonshine.stt import MoonshineSTTService
from pipecat.turns.user_turn_processor import UserTurnProcessor
from pipecat.workers.runner import WorkerRunner

RATE = 16000
PIECE = RATE // 50


class Times(FrameProcessor):
    """When turns ended and texts came."""

    def __init__(self):
        super().__init__()
        self.started = asyncio.Event()
        self.turns = []
        self.texts = []

    async def process_frame(self, frame, direction):
        await super().process_frame(frame, direction)
        if isinstance(frame, StartFrame):
            self.started.set()
        elif isinstance(frame, UserStoppedSpeakingFrame):
            self.turns.append(time.monotonic())
        elif isinstance(frame, TranscriptionFrame):
            self.texts.append(time.monotonic())
        await self.push_frame(frame, direction)


class Moonshine(MoonshineSTTService):
    """The service with the model of a folder, and none that it would fetch."""

    folder = ""

    def _load(self):
        return Transcriber(self.folder, ModelArch.BASE)


def read(path):
    with wave.open(path) as file:
        assert (file.getframerate(), file.getnchannels()) == (RATE, 1), path
        return np.frombuffer(file.readframes(file.getnframes()), np.int16)


def end_of_speech(samples):
    """Where it is 26 dB below its loudest for good, in seconds; levels are those of 30 windows a second."""
    window = RATE // 30
    levels = [np.mean(np.square(samples[at : at + window] / 32768.0)) for at in range(0, len(samples), window)]
    loud = [index for index, level in enumerate(levels) if level > max(levels) / 400]
    return (loud[-1] + 1) * window / RATE


async def measured(path):
    samples = read(path)
    heard = np.concatenate([np.zeros(RATE // 2, np.int16), samples, np.zeros(4 * RATE, np.int16)])
    times = Times()
    worker = PipelineWorker(
        Pipeline([VADProcessor(vad_analyzer=SileroVADAnalyzer(sample_rate=RATE)), Moonshine(), UserTurnProcessor(), times]),
        params=PipelineParams(audio_in_sample_rate=RATE),
        cancel_on_idle_timeout=False,
    )
    runner = WorkerRunner()
    await runner.add_workers(worker)
    running = asyncio.create_task(runner.run())
    await times.started.wait()
    begun = time.monotonic()
    for at in range(0, len(heard), PIECE):
        await asyncio.sleep(max(0, begun + (at + PIECE) / RATE - time.monotonic()))
        piece = heard[at : at + PIECE].tobytes()
        await worker.queue_frame(InputAudioRawFrame(audio=piece, sample_rate=RATE, num_channels=1))
    await worker.queue_frame(EndFrame())
    await running
    end = begun + end_of_speech(heard)
    result = {"path": path}
    # What paused for longer may have had several turns: the last one counts.
    if times.turns and times.texts:
        result["turn"] = 1000 * (times.turns[-1] - end)
        result["text"] = 1000 * (max(times.turns[-1], times.texts[-1]) - end)
    print(json.dumps(result), flush=True)


def main():
    logger.remove()
    Moonshine.folder = sys.argv[1]
    for path in sys.argv[2:]:
        asyncio.run(measured(path))


main()
