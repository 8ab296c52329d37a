"""LiveKit Agents under the scenarios: `AgentSession` with a `TranscriptSynchronizer`, as in a room; scripted services.

A kind set-up: no room, no tracing, no logs, and endpointing delays of 0 s. The loudspeaker plays on the clock of the
loop and can pause. Without the filters, an interruption needs no minimum duration.
"""

from __future__ import annotations

import asyncio
import logging
import time
from typing import Any

from livekit import rtc
from livekit.agents import Agent, AgentSession, inference, llm, stt, tts, utils, vad
from livekit.agents.voice import io
from livekit.agents.voice.transcription import TranscriptSynchronizer
from scenarios import ANSWER, PIECE_MS, RATE_HZ, Setup, Wire, run

OUT_HZ = 24_000
VAD_S = 0.032

logging.disable(logging.CRITICAL)


class ScriptedStt(stt.STT):
    """Hears nothing: texts are pushed by the scenario."""

    def __init__(self) -> None:
        super().__init__(capabilities=stt.STTCapabilities(streaming=True, interim_results=True))
        self.streams: list[SttStream] = []

    async def _recognize_impl(self, *given: Any, **named: Any) -> Any:
        raise NotImplementedError

    def stream(self, *, language: Any = None, conn_options: Any = None) -> SttStream:  # noqa: ARG002
        from livekit.agents.types import DEFAULT_API_CONNECT_OPTIONS

        self.streams.append(SttStream(stt=self, conn_options=DEFAULT_API_CONNECT_OPTIONS))
        return self.streams[-1]

    def write(self, text: str) -> None:
        data = stt.SpeechData(language="en", text=text, confidence=1.0)
        event = stt.SpeechEvent(type=stt.SpeechEventType.FINAL_TRANSCRIPT, alternatives=[data])
        self.streams[-1].tell(event)


class SttStream(stt.RecognizeStream):
    def tell(self, event: Any) -> None:
        self._event_ch.send_nowait(event)

    async def _run(self) -> None:
        async for _ in self._input_ch:
            pass


class ScriptedVad(vad.VAD):
    """Reports what the scenario tells, and goes on reporting while there is speech."""

    def __init__(self) -> None:
        super().__init__(capabilities=vad.VADCapabilities(update_interval=VAD_S))
        self.streams: list[VadStream] = []

    def stream(self) -> VadStream:
        self.streams.append(VadStream(self))
        return self.streams[-1]


class VadStream(vad.VADStream):
    _since: float | None = None
    _alarm: asyncio.TimerHandle | None = None

    async def _main_task(self) -> None:
        async for _ in self._input_ch:
            pass

    def begin(self) -> None:
        self._since = time.time()
        self._tell(vad.VADEventType.START_OF_SPEECH)
        self._tick()

    def end(self) -> None:
        if self._alarm is not None:
            self._alarm.cancel()
        self._tell(vad.VADEventType.END_OF_SPEECH, is_on=False)

    def _tick(self) -> None:
        self._tell(vad.VADEventType.INFERENCE_DONE)
        self._alarm = asyncio.get_running_loop().call_later(VAD_S, self._tick)

    def _tell(self, what: Any, is_on: bool = True) -> None:
        spoken_s = time.time() - (self._since or 0.0)
        self._event_ch.send_nowait(
            vad.VADEvent(
                type=what,
                samples_index=0,
                timestamp=time.time(),
                speech_duration=spoken_s,
                silence_duration=0.0,
                probability=1.0 if is_on else 0.0,
                speaking=is_on,
                raw_accumulated_speech=spoken_s if is_on else 0.0,
            )
        )


class ScriptedLlm(llm.LLM):
    """Answers at once."""

    def __init__(self, wire: Wire) -> None:
        super().__init__()
        self._wire = wire

    def chat(self, *, chat_ctx: Any, tools: Any = None, conn_options: Any, **named: Any) -> LlmStream:  # noqa: ARG002
        self._wire.ask()
        return LlmStream(self, chat_ctx=chat_ctx, tools=tools or [], conn_options=conn_options)


class LlmStream(llm.LLMStream):
    async def _run(self) -> None:
        delta = llm.ChoiceDelta(role="assistant", content=ANSWER)
        self._event_ch.send_nowait(llm.ChatChunk(id="answer", delta=delta))


class ScriptedTts(tts.TTS):
    """Speaks at once, in chunks of 20 ms."""

    def __init__(self, ms: int) -> None:
        super().__init__(capabilities=tts.TTSCapabilities(streaming=True), sample_rate=OUT_HZ, num_channels=1)
        self.count = ms // PIECE_MS

    def synthesize(self, text: str, **named: Any) -> Any:
        raise NotImplementedError

    def stream(self, *, conn_options: Any) -> TtsStream:
        return TtsStream(tts=self, conn_options=conn_options)


class TtsStream(tts.SynthesizeStream):
    async def _run(self, output_emitter: Any) -> None:
        output_emitter.initialize(
            request_id=utils.shortuuid(),
            sample_rate=OUT_HZ,
            num_channels=1,
            mime_type="audio/pcm",
            frame_size_ms=PIECE_MS,
            stream=True,
        )
        text = ""
        async for piece in self._input_ch:
            text += piece if isinstance(piece, str) else ""
        if not text.strip():
            return
        self._mark_started()
        output_emitter.start_segment(segment_id=utils.shortuuid())
        pcm = bytes([1, 0]) * (OUT_HZ * PIECE_MS // 1000)
        for _ in range(self._tts.count):
            output_emitter.push(pcm)
        output_emitter.end_segment()


class Microphone(io.AudioInput):
    def __init__(self) -> None:
        super().__init__(label="microphone")
        self._frames: asyncio.Queue[rtc.AudioFrame] = asyncio.Queue()

    async def __anext__(self) -> rtc.AudioFrame:
        return await self._frames.get()

    def hear(self, pcm: bytes) -> None:
        self._frames.put_nowait(rtc.AudioFrame(pcm, RATE_HZ, 1, len(pcm) // 2))


class Loudspeaker(io.AudioOutput):
    """Plays on the clock of the loop. It is exact: nothing is heard while it is paused or after it was cleared."""

    def __init__(self, wire: Wire) -> None:
        super().__init__(label="loudspeaker", capabilities=io.AudioOutputCapabilities(pause=True), sample_rate=OUT_HZ)
        self._wire = wire
        self._total_s = self._played_s = 0.0
        self._since: float | None = None
        self._paused = False
        self._flushed = False
        self._alarm: asyncio.TimerHandle | None = None

    async def capture_frame(self, frame: rtc.AudioFrame) -> None:
        await super().capture_frame(frame)
        if self._total_s == 0.0:
            self.on_playback_started(created_at=time.time())
        self._total_s += frame.duration
        self._wire.send(round(frame.duration * 1000))
        self._go()

    def flush(self) -> None:
        super().flush()
        self._flushed = self._total_s > 0
        self._go()

    def clear_buffer(self) -> None:
        if self._total_s:
            self._wire.stop()
            self._end(interrupted=True)

    def pause(self) -> None:
        super().pause()
        if self._total_s:
            self._wire.stop()
        self._settle()
        self._paused = True

    def resume(self) -> None:
        super().resume()
        self._paused = False
        self._go()

    def _go(self) -> None:
        if self._paused or not self._total_s:
            return
        now = time.perf_counter()
        self._since = self._since or now
        if self._flushed:
            self._cancel()
            left_s = self._total_s - self._played_s - (now - self._since)
            self._alarm = asyncio.get_running_loop().call_later(max(0.0, left_s), self._end)

    def _settle(self) -> None:
        if self._since is not None:
            self._played_s = min(self._total_s, self._played_s + time.perf_counter() - self._since)
        self._since = None
        self._cancel()

    def _end(self, interrupted: bool = False) -> None:
        self._settle()
        played_s = self._played_s
        self._total_s = self._played_s = 0.0
        self._flushed = False
        if not interrupted:
            self._wire.finish()
        self.on_playback_finished(playback_position=played_s, interrupted=interrupted)

    def _cancel(self) -> None:
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None


class Captions(io.TextOutput):
    """Takes the text that has been spoken."""

    def __init__(self) -> None:
        super().__init__(label="captions", next_in_chain=None)

    async def capture_text(self, text: str) -> None: ...

    def flush(self) -> None: ...


class LivekitSession:
    def __init__(self, session: Any, spoken: Any, microphone: Microphone, heard: ScriptedStt, voice: Any) -> None:
        self._session = session
        self._spoken = spoken
        self._microphone = microphone
        self._stt = heard
        self._vad = voice

    async def hear(self, pcm: bytes) -> None:
        self._microphone.hear(pcm)

    async def begin_speech(self) -> None:
        self._vad.streams[-1].begin()

    async def end_speech(self) -> None:
        self._vad.streams[-1].end()

    async def write(self, text: str) -> None:
        self._stt.write(text)

    async def close(self) -> None:
        await self._session.aclose()
        await self._spoken.aclose()


class Livekit:
    """Sessions with LiveKit Agents."""

    async def open(self, wire: Wire, setup: Setup) -> LivekitSession:
        heard, voice = ScriptedStt(), inference.VAD(model="silero") if setup.vad else ScriptedVad()
        interruption: dict[str, Any] = {"mode": "vad"}
        if not setup.filters and not setup.vad:  # with 0 s, each report of the real VAD would interrupt
            interruption["min_duration"] = 0.0
        session: AgentSession[Any] = AgentSession(
            stt=heard,
            vad=voice,
            llm=ScriptedLlm(wire),
            tts=ScriptedTts(setup.reply_ms),
            turn_handling={
                "turn_detection": "vad",
                "endpointing": {"min_delay": 0.0, "max_delay": 0.0},
                "interruption": interruption,
                "preemptive_generation": {"enabled": False},
            },
            aec_warmup_duration=None,
            user_away_timeout=None,
            session_close_transcript_timeout=0.1,
        )
        microphone = Microphone()
        session.input.audio = microphone
        spoken = TranscriptSynchronizer(next_in_chain_audio=Loudspeaker(wire), next_in_chain_text=Captions())
        session.output.audio = spoken.audio_output
        session.output.transcription = spoken.text_output
        await session.start(Agent(instructions="Answer."))
        return LivekitSession(session, spoken, microphone, heard, voice)


if __name__ == "__main__":
    run(Livekit())
