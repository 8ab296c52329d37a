"""The input and output of local ears in one conversation: runs the models that the state machine in `stream` asks for,
and passes on its reports.

One task reads the audio, and another task transcribes it. Silero runs on the event loop, every other model in a thread.
Rule: nothing is decided here. Every event becomes an input of `step`, and the outputs of `step` are carried out.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TypeVar

from duologue.audio.levels import SILENCE_DBFS, rms, to_dbfs
from duologue.ports.ears import Frame, Incoming, PushedAudio, Sounding, VoiceFrame
from duologue.ports.failure import BrokenContract, ServiceError
from duologue.ports.words import WordService
from duologue.turns.features import PauseFeatures

from .dictation import Transcribes, hypothesis_of
from .echo_level import UNKNOWN, EchoGate
from .final_model import FinalModel
from .frame_pairs import FramePair, FramePairs
from .linear_echo import LinearEcho
from .model_input import RATE_HZ, Samples, UnusableAudio, np
from .model_threads import ModelLane, ModelThreads, Urgency
from .noise_suppressor import NoiseSuppressor
from .ordered_frames import OrderedFrames
from .report_queue import ReportQueue
from .service_text import ServiceText
from .silero import FRAME_MS, FRAME_SAMPLES, SileroVad
from .smart_turn import SmartTurn
from .stream import step
from .stream_state import (
    AudioEnded,
    BadFrame,
    EarsWarning,
    Hypothesis,
    JudgePause,
    ModelFailed,
    PauseJudged,
    RefineText,
    RequestText,
    ResetVad,
    SilentFrame,
    SoundFrame,
    StreamBroken,
    StreamInput,
    StreamOutput,
    StreamSettings,
    StreamState,
    TextRefined,
    TextWork,
    TextWritten,
    WithdrawText,
)
from .threaded_vad import ThreadedVad, VoiceDetector
from .transcription import StreamTranscription
from .turn_sound import TurnSound, answer
from .vad_batch import Answer, VadBatch, VadBatches

T = TypeVar("T")
LOG = logging.getLogger("duologue.ears")

GAP_MS = 1_000  # when the connection sends no audio for this long, silence is assumed: the user is probably muted
JUDGE_S_MAX = 5.0  # how long a model may take to judge a pause, ...
TEXT_S_MAX = 20.0  # ... and to write a transcript
_SILENCE = np.zeros(FRAME_SAMPLES, np.float32)


@dataclass(frozen=True)
class Models:
    """The models and settings of these ears. If `turn` is None, the reports of pauses don't say whether the turn is
    probably over. If `words` is set, that service transcribes everything, and `stt` isn't used."""

    stt: Transcribes
    vad: Callable[[], VoiceDetector]
    turn: SmartTurn | None
    settings: StreamSettings
    threads: ModelThreads
    cancels_echo: bool
    final: FinalModel
    batches: VadBatches = field(default_factory=VadBatches)
    words: WordService | None = None
    turn_end_by_service: bool = False
    noise_suppressor: Callable[[], NoiseSuppressor] | None = None


class LocalStream:
    """The local ears of one conversation."""

    def __init__(self, models: Models) -> None:
        self.heard = ReportQueue(writers=2)
        self._models = models
        self._state = StreamState()
        self._vad = models.vad()
        self._threaded = ThreadedVad(models.threads, models.cancels_echo)
        self._text_lane = ModelLane(models.threads, Urgency.PARTIAL)
        self._sides = FramePairs(RATE_HZ, FRAME_SAMPLES)
        self._echo = EchoGate(FRAME_MS)
        self._filter = LinearEcho(FRAME_SAMPLES)
        self._suppressor = models.noise_suppressor() if models.noise_suppressor is not None else None
        self._sound = TurnSound()
        self._transcription = StreamTranscription(models.stt)
        self._service: ServiceText | None = None
        self._text_source: StreamTranscription | ServiceText = self._transcription
        if models.words is not None:
            self._service = ServiceText(models.words, models.turn_end_by_service, self._take, self.heard.put)
            self._text_source = self._service
        self._refining = 0  # how often the better model was asked
        self._wake = asyncio.Event()
        self._ordered = OrderedFrames(self._ask_vad, self._follow, self._take_marker, self.heard.fail)
        self._batch: VadBatch | None = None  # while Silero hears
        self._waits_since: float | None = None  # when the wait for the next audio began; None while audio is processed
        self._now: Callable[[], float] = lambda: 0.0
        self._gap: asyncio.TimerHandle | None = None

    def stop(self) -> None:
        """Accept no more audio, and cancel the timer that notices when the connection has stopped sending audio."""
        self._ordered.stop()
        if self._gap is not None:
            self._gap.cancel()

    def _take(self, given: StreamInput, failure: Exception | None = None) -> None:
        """Pass an input to the state machine, and carry out what it returns. If the input reports a failure, `failure`
        is the exception."""
        self._state, outputs = step(self._models.settings, self._state, given)
        for output in outputs:
            self._do(output, failure)
        self._transcription.forget(self._state.needed_from)
        if self._service is not None:
            self._service.follow(self._state)
        if self._state.turn.is_on and self._gap is None:
            self._gap = asyncio.get_running_loop().call_later(GAP_MS / 1000, self._fill)
        if self._state.is_done:
            self._wake.set()

    def _do(self, output: StreamOutput, failure: Exception | None) -> None:
        match output:
            case VoiceFrame():  # most outputs are
                self.heard.put(output)
            case RequestText():
                self._text_lane.urgency = Urgency.FINAL if output.work is TextWork.FINAL else Urgency.PARTIAL
                self._text_source.ask(output)
                self._wake.set()
            case WithdrawText():
                self._text_source.withdraw()
            case RefineText():
                self._refine(output)
            case JudgePause():
                self._judge_pause(output)
            case ResetVad():
                self._vad = self._models.vad()
                self._set_looks()
            case EarsWarning():
                LOG.warning("%s", output.line)
            case StreamBroken():
                self.heard.fail(failure or BrokenContract(output.error, output.line))
            case _:
                self.heard.put(output)

    def _take_marker(self, given: StreamInput) -> None:
        """Pass an input that isn't a frame of sound to the state machine."""
        self._take(given)
        if isinstance(given, Sounding):
            self._set_looks()

    # -- Hearing

    async def read(self, audio: AsyncIterator[Incoming]) -> None:
        """Process the audio until it ends."""
        await self._threaded.load(self._vad)
        self._now = asyncio.get_running_loop().time
        if isinstance(self._vad, SileroVad):
            self._batch = self._models.batches.of_loop(self._vad)
            with self._batch.stream():
                await self._read(audio)
        else:
            await self._read(audio)

    async def _read(self, audio: AsyncIterator[Incoming]) -> None:
        if isinstance(audio, PushedAudio) and isinstance(self._vad, SileroVad) and not self._models.cancels_echo:
            await audio.push_to(self._receive)
        else:
            async for item in audio:
                if not isinstance(item, Frame):
                    self._ordered.put(item)
                    continue
                self._waits_since = None
                pairs = self._pairs(item)
                if self._hears_on_loop(pairs):
                    for pair in pairs:
                        self._ordered.put(pair)
                    if self._ordered.is_ahead:
                        await self._ordered.settle()
                elif pairs:
                    await self._hear_in_thread(pairs)
                self._waits_since = self._now()
        self._waits_since = None
        self._ordered.put(AudioEnded())
        await self._ordered.settle(0)

    def _receive(self, item: Incoming) -> None:
        """Process a frame or a marker on the event loop, without a thread."""
        if isinstance(item, Frame):
            self._waits_since = self._now()
            for pair in self._pairs(item):
                self._ordered.put(pair)
        else:
            self._ordered.put(item)

    def _hears_on_loop(self, pairs: list[FramePair]) -> bool:
        """Does the VAD judge these frames on the event loop, without a thread?"""
        return isinstance(self._vad, SileroVad) and not self._threaded.hears_echo(pairs)

    async def _hear_in_thread(self, pairs: list[FramePair]) -> None:
        await self._ordered.settle(0)
        for pair, judged in zip(pairs, await self._threaded.judge(self._vad, pairs), strict=True):
            self._follow(pair, judged.probability, judged.failure, judged.sound)

    def _pairs(self, frame: Frame) -> list[FramePair]:
        try:
            return self._sides.feed(frame)
        except UnusableAudio as problem:
            self._ordered.put(BadFrame(str(problem)))
            return []

    def _ask_vad(self, frame: Samples, answer: Answer) -> None:
        """Ask whether there is speech in this frame. One run of the model answers this for many conversations."""
        vad, batch = self._vad, self._batch
        assert isinstance(vad, SileroVad)
        assert batch is not None
        batch.ask(frame, vad.memory, answer)

    def _set_looks(self) -> None:
        """Set whether the VAD judges unsure frames a second time: yes while the agent is silent. While the agent
        speaks, each frame is judged once, because playback must be held immediately."""
        if isinstance(self._vad, SileroVad):
            self._vad.memory.looks_twice = not self._state.is_sounding

    def _follow(
        self, pair: FramePair, probability: float, failure: Exception | None, clean: Samples | None = None
    ) -> None:
        """Measure one judged frame, and pass the result to the state machine. `clean` is its sound without the echo, if
        the echo canceller is in use."""
        heard, played = pair
        energy = rms(heard)
        level_db = to_dbfs(energy)
        played_db = SILENCE_DBFS if played is None else to_dbfs(rms(played))
        excess_db = self._echo.excess_db(level_db, played_db)
        sound = heard if clean is None else clean
        if self._echo.level.lag != UNKNOWN and not self._threaded.cancels_echo:
            sound = self._without_echo(sound, played, excess_db)
        self._add(sound)
        fault = _name(failure) if failure is not None else ""
        self._take(SoundFrame(probability, energy, level_db, excess_db, fault), failure)

    def _without_echo(self, sound: Samples, played: Samples | None, excess_db: float) -> Samples:
        """Remove the echo from the sound of this frame, and return the sound. The lag of the echo must be known."""
        lag, is_echo = self._echo.level.lag, excess_db <= self._models.settings.margin_db
        self._filter, sound = self._filter.after(sound, _SILENCE if played is None else played, lag, is_echo)
        return sound

    def _add(self, sound: Samples) -> None:
        self._sound.add(sound)
        self._text_source.add(sound if self._suppressor is None else self._without_noise(sound, self._suppressor))

    def _without_noise(self, sound: Samples, suppressor: NoiseSuppressor) -> Samples:
        """Remove noise from the sound, for transcription, and return it. If the noise suppressor fails, the sound is
        returned unchanged, and the suppressor isn't used any more."""
        try:
            clean = suppressor.feed(sound)
            if clean.shape == sound.shape:
                return clean
            problem = f"{clean.shape} samples instead of {sound.shape}"
        except Exception as failure:  # noqa: BLE001 - whatever a suppressor raises, listening goes on
            problem = _name(failure)
        LOG.warning("noise suppression failed and is off for this conversation: %s", problem)
        self._suppressor = None
        return sound

    def _fill(self) -> None:
        """Feed silence if the connection has stopped sending audio, because a user who mutes the microphone after the
        last word still expects an answer."""
        self._gap = None
        if not self._state.turn.is_on or self._state.is_over:
            return
        loop = asyncio.get_running_loop()
        waited_ms = (loop.time() - self._waits_since) * 1000 if self._waits_since is not None else 0.0
        is_gap = waited_ms >= GAP_MS
        self._gap = loop.call_later((FRAME_MS if is_gap else max(1.0, GAP_MS - waited_ms)) / 1000, self._fill)
        if is_gap:
            self._add(_SILENCE)
            self._take(SilentFrame())

    # -- Judging pauses

    def _judge_pause(self, question: JudgePause) -> None:
        loop = asyncio.get_running_loop()
        lane = ModelLane(self._models.threads, Urgency.FINAL)
        judged = loop.run_in_executor(lane, answer, question, self._sound.of(question), self._models.turn)
        limit = loop.call_later(JUDGE_S_MAX, judged.cancel)
        judged.add_done_callback(partial(self._note_judgement, question, lane, limit))

    def _note_judgement(
        self, question: JudgePause, lane: ModelLane, limit: asyncio.TimerHandle, judged: asyncio.Future[PauseFeatures]
    ) -> None:
        limit.cancel()
        if judged.cancelled():
            lane.abandon()
            self._take(ModelFailed(question, f"no answer within {JUDGE_S_MAX:.0f} s"))
        elif isinstance(failure := judged.exception(), Exception):
            self._take(ModelFailed(question, _name(failure)), failure)
        else:
            self._take(PauseJudged(question.pause, judged.result()))

    # -- Transcribing

    async def write(self) -> None:
        """Transcribe all utterances, in order."""
        if self._service is not None:
            await self._write_by_service(self._service)
            return
        await self._in_thread(ModelLane(self._models.threads, Urgency.FINAL), self._models.stt.load)
        while not self._state.is_done:
            if self._transcription.is_asked:
                await self._transcribe()
            else:
                self._wake.clear()
                await self._wake.wait()

    async def _write_by_service(self, service: ServiceText) -> None:
        """Get the text of all utterances from a service. If the service fails, listening ends with the error of the
        service."""
        try:
            await service.open()
            while not self._state.is_done:
                if not service.is_asked:
                    self._wake.clear()
                    await self._wake.wait()
                    continue
                async with asyncio.timeout(TEXT_S_MAX):
                    written = await service.work()
                if written is not None:
                    self._note_text(written)
        except (ServiceError, TimeoutError) as failure:
            self.heard.fail(failure)
        finally:
            await service.close()

    async def _transcribe(self) -> None:
        try:
            async with asyncio.timeout(TEXT_S_MAX):
                written = await self._in_thread(self._text_lane, self._transcription.work)
        except TimeoutError as failure:
            self._text_lane.abandon()
            self._note_no_text(f"no answer within {TEXT_S_MAX:.0f} s", failure)
        except Exception as failure:  # noqa: BLE001 - whatever a model raises, listening goes on
            self._note_no_text(_name(failure), failure)
        else:
            if written is not None:
                self._note_text(written)

    def _note_text(self, written: TextWritten) -> None:
        final = self._models.final
        if written.work is TextWork.FINAL and self._state.offer != final.offer:
            self._take(final.offer)
        asked = self._refining
        self._take(written)
        if written.work is TextWork.FINAL and self._refining == asked:
            final.skipped()

    def _refine(self, request: RefineText) -> None:
        """Ask the better model for the final text of an utterance."""
        self._refining += 1
        model, lane = self._models.final.model, ModelLane(self._models.threads, Urgency.REFINED)
        if model is None:  # it has just failed in another conversation
            asyncio.get_running_loop().call_soon(self._take, TextRefined(request.utterance))
            return
        loop = asyncio.get_running_loop()
        audio = self._transcription.read(request.first, request.end)
        writing = loop.run_in_executor(lane, rewrite, model, audio, request.draft)
        limits = [
            loop.call_later(request.ms_max / 1000, self._take, TextRefined(request.utterance)),
            loop.call_later(TEXT_S_MAX, writing.cancel),
        ]
        writing.add_done_callback(partial(self._note_refined, request, lane, limits, loop.time()))

    def _note_refined(
        self,
        request: RefineText,
        lane: ModelLane,
        limits: list[asyncio.TimerHandle],
        began: float,
        writing: asyncio.Future[Hypothesis],
    ) -> None:
        for limit in limits:
            limit.cancel()
        final = self._models.final
        if writing.cancelled():
            lane.abandon()
            final.give_up(f"no answer within {TEXT_S_MAX:.0f} s")
            self._take(ModelFailed(request, f"no answer within {TEXT_S_MAX:.0f} s"))
        elif isinstance(failure := writing.exception(), Exception):
            final.give_up(_name(failure))
            self._take(ModelFailed(request, _name(failure)))
        else:
            took_ms = (asyncio.get_running_loop().time() - began) * 1000
            final.ran((request.end - request.first) * FRAME_MS, took_ms)
            self._take(TextRefined(request.utterance, writing.result()))

    def _note_no_text(self, why: str, failure: Exception) -> None:
        if (request := self._transcription.give_up()) is not None:
            self._take(ModelFailed(request, why), failure)

    def _in_thread(self, lane: ModelLane, work: Callable[[], T]) -> asyncio.Future[T]:
        return asyncio.get_running_loop().run_in_executor(lane, work)


def rewrite(model: Transcribes, audio: Samples, draft: Sequence[int]) -> Hypothesis:
    """Transcribe a whole utterance with this model. Runs in a thread."""
    return hypothesis_of(model.transcribe(audio, draft))


def _name(failure: Exception) -> str:
    """The name of a failure in reports. This is only its type, because its message may contain spoken words."""
    return type(failure).__name__
