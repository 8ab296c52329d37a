"""Pipecat under the scenarios: `PipelineWorker`, `LLMContextAggregatorPair`, the base transports, scripted services.

A kind set-up: no RTVI, no turn tracking, no logs, and a policy wait of 0 s after the end of speech. The output is paced
as the WebSocket transports pace it. Speech events are queued where the aggregator's own VAD queues them.
"""

from __future__ import annotations

import asyncio
import time
from typing import Any

from loguru import logger
from pipecat.frames.frames import (
    InputAudioRawFrame,
    InterruptionFrame,
    LLMContextFrame,
    LLMFullResponseEndFrame,
    LLMFullResponseStartFrame,
    LLMTextFrame,
    TranscriptionFrame,
    TTSAudioRawFrame,
    VADUserStartedSpeakingFrame,
    VADUserStoppedSpeakingFrame,
)
from pipecat.pipeline.pipeline import Pipeline
from pipecat.pipeline.worker import PipelineParams, PipelineWorker
from pipecat.processors.aggregators.llm_context import LLMContext
from pipecat.processors.aggregators.llm_response_universal import LLMContextAggregatorPair, LLMUserAggregatorParams
from pipecat.processors.frame_processor import FrameDirection
from pipecat.services.llm_service import LLMService
from pipecat.services.settings import LLMSettings, STTSettings, TTSSettings
from pipecat.services.stt_service import STTService
from pipecat.services.tts_service import TTSService
from pipecat.transports.base_input import BaseInputTransport
from pipecat.transports.base_output import BaseOutputTransport
from pipecat.transports.base_transport import TransportParams
from pipecat.turns.user_stop import SpeechTimeoutUserTurnStopStrategy
from pipecat.turns.user_turn_strategies import UserTurnStrategies
from pipecat.workers.runner import WorkerRunner
from scenarios import ANSWER, PIECE_MS, RATE_HZ, Setup, Wire, run

OUT_HZ = 24_000

logger.remove()


class ScriptedStt(STTService):
    """Hears nothing: texts are pushed by the scenario."""

    def __init__(self) -> None:
        super().__init__(ttfs_p99_latency=0.0, settings=STTSettings(model=None, language=None))

    async def run_stt(self, audio: bytes) -> Any:  # noqa: ARG002
        yield None


class ScriptedLlm(LLMService):
    """Answers at once."""

    def __init__(self, wire: Wire) -> None:
        super().__init__(settings=LLMSettings(model="scripted"))
        self._wire = wire

    async def process_frame(self, frame: Any, direction: Any) -> None:
        await super().process_frame(frame, direction)
        if isinstance(frame, LLMContextFrame):
            self._wire.ask()
            await self.push_frame(LLMFullResponseStartFrame())
            await self.push_frame(LLMTextFrame(ANSWER))
            await self.push_frame(LLMFullResponseEndFrame())
        else:
            await self.push_frame(frame, direction)


class ScriptedTts(TTSService):
    """Speaks at once, in chunks of 20 ms."""

    def __init__(self, ms: int) -> None:
        settings = TTSSettings(model=None, voice=None, language=None)
        super().__init__(sample_rate=OUT_HZ, push_start_frame=True, push_stop_frames=True, settings=settings)
        self._count = ms // PIECE_MS

    async def run_tts(self, text: str, context_id: str) -> Any:  # noqa: ARG002
        pcm = bytes([1, 0]) * (OUT_HZ * PIECE_MS // 1000)
        for _ in range(self._count):
            yield TTSAudioRawFrame(pcm, OUT_HZ, 1, context_id=context_id)


class Microphone(BaseInputTransport):
    async def start(self, frame: Any) -> None:
        await super().start(frame)
        await self.set_transport_ready(frame)


class Loudspeaker(BaseOutputTransport):
    """Takes a chunk when the one before it has been played, as the WebSocket transports do."""

    def __init__(self, wire: Wire, params: TransportParams, reply_ms: int) -> None:
        super().__init__(params)
        self._wire = wire
        self._reply_ms = reply_ms
        self._played_ms = 0
        self._next_send_time = 0.0

    async def start(self, frame: Any) -> None:
        await super().start(frame)
        await self.set_transport_ready(frame)

    async def process_frame(self, frame: Any, direction: Any) -> None:
        await super().process_frame(frame, direction)
        if isinstance(frame, InterruptionFrame):
            self._next_send_time = 0.0
            self._played_ms = 0
            self._wire.stop()

    async def write_audio_frame(self, frame: Any) -> bool:
        ms = len(frame.audio) * 1000 // (2 * OUT_HZ)
        self._wire.send(ms)
        self._played_ms += ms
        now = time.monotonic()
        wait_s = max(0.0, self._next_send_time - now)
        await asyncio.sleep(wait_s)
        self._next_send_time = (self._next_send_time if wait_s else time.monotonic()) + ms / 1000
        if self._played_ms >= self._reply_ms:
            self._played_ms = 0
            self._wire.finish()
        return True


class PipecatSession:
    def __init__(self, microphone: Microphone, stt: ScriptedStt, user: Any, worker: Any) -> None:
        self._microphone = microphone
        self._stt = stt
        self._user = user
        self._worker = worker

    async def hear(self, pcm: bytes) -> None:
        await self._microphone.push_audio_frame(InputAudioRawFrame(pcm, RATE_HZ, 1))

    async def begin_speech(self) -> None:
        await self._user.queue_frame(VADUserStartedSpeakingFrame(start_secs=0.2))
        await self._user.push_frame(VADUserStartedSpeakingFrame(start_secs=0.2), FrameDirection.UPSTREAM)

    async def end_speech(self) -> None:
        await self._user.queue_frame(VADUserStoppedSpeakingFrame(stop_secs=0.2))
        await self._user.push_frame(VADUserStoppedSpeakingFrame(stop_secs=0.2), FrameDirection.UPSTREAM)

    async def write(self, text: str) -> None:
        await self._stt.push_frame(TranscriptionFrame(text, "user", "", finalized=True))

    async def close(self) -> None:
        await self._worker.cancel()


class Pipecat:
    """Sessions with Pipecat. One runner holds all of them, as in a long-lived host."""

    def __init__(self) -> None:
        self._runner: WorkerRunner | None = None
        self._running: asyncio.Task[None] | None = None

    async def open(self, wire: Wire, setup: Setup) -> PipecatSession:
        wire.is_paced = True
        if self._runner is None:
            self._runner = WorkerRunner(handle_sigint=False)
            self._running = asyncio.ensure_future(self._runner.run(auto_end=False))
        params = TransportParams(
            audio_in_enabled=True,
            audio_in_sample_rate=RATE_HZ,
            audio_out_enabled=True,
            audio_out_sample_rate=OUT_HZ,
            audio_out_end_silence_secs=0,
        )
        microphone, loudspeaker = Microphone(params), Loudspeaker(wire, params, setup.reply_ms)
        stt, context = ScriptedStt(), LLMContext()
        user, assistant = LLMContextAggregatorPair(
            context,
            user_params=LLMUserAggregatorParams(
                user_turn_strategies=UserTurnStrategies(
                    stop=[SpeechTimeoutUserTurnStopStrategy(user_speech_timeout=0)]
                ),
                vad_analyzer=_silero() if setup.vad else None,
            ),
        )
        llm, tts = ScriptedLlm(wire), ScriptedTts(setup.reply_ms)
        worker = PipelineWorker(
            Pipeline([microphone, stt, user, llm, tts, loudspeaker, assistant]),
            params=PipelineParams(audio_in_sample_rate=RATE_HZ, audio_out_sample_rate=OUT_HZ),
            enable_rtvi=False,
            enable_turn_tracking=False,
            idle_timeout_secs=None,
        )
        started = asyncio.Event()

        @worker.event_handler("on_pipeline_started")
        async def on_pipeline_started(worker: Any, frame: Any) -> None:  # noqa: ARG001
            started.set()

        await self._runner.add_workers(worker)
        async with asyncio.timeout(20):
            await started.wait()
        return PipecatSession(microphone, stt, user, worker)


def _silero() -> Any:
    from pipecat.audio.vad.silero import SileroVADAnalyzer

    return SileroVADAnalyzer()


if __name__ == "__main__":
    run(Pipecat())
