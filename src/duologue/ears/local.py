"""Ears on this machine: Silero detects speech, Moonshine transcribes it, Smart Turn judges whether a turn is over.

No model runs on the event loop. Onsets (the first signs of speech) and ends are reported as soon as they are known,
without waiting for text. Text is reported in the order in which it was said. Rule: when the machine can't keep up,
partial transcripts are skipped, but final ones never are. Every onset gets exactly one final transcript, unless its
audio is discarded.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Protocol, TypeVar

from duologue.audio.levels import SILENCE_DBFS, rms, to_dbfs
from duologue.core.leaves import ErrorClass
from duologue.ports.ears import (
    Commit,
    Discard,
    Final,
    Frame,
    Heard,
    Incoming,
    Partial,
    Pause,
    Sounding,
    SpeechBegan,
    SpeechEnded,
    VoiceFrame,
)
from duologue.ports.failure import BrokenContract
from duologue.turns.echo_level import EchoGate
from duologue.turns.features import PauseFeatures, is_turn, is_weak

from .dictation import Hypothesis, Transcribes
from .echo_canceller import EchoCanceller, is_installed
from .frame_pairs import FramePair, FramePairs
from .model_input import RATE_HZ, Samples, UnusableAudio, np
from .model_threads import ModelLane, ModelThreads, Urgency, shared_threads
from .moonshine import Moonshine
from .report_queue import ReportQueue
from .silero import FRAME_MS, FRAME_SAMPLES, SileroVad
from .smart_turn import SmartTurn
from .speech_gate import Change, GateRule, VoiceGate
from .transcription import TextPace, UtteranceTranscription
from .turn_sound import PauseQuestion, TurnSound, answer, joined
from .vad_batch import VadBatches

T = TypeVar("T")

PREROLL_MS = 300  # how much audio before an onset belongs to the utterance: it often holds the first consonant
UTTERANCE_MS_MAX = 60_000  # a longer utterance is split into two
OVERLAP_PACE = TextPace(224, 64)  # partial texts are frequent over the agent, because words decide on interruptions
MARGIN_DB = 12.0  # speech begins when it is this much louder than the agent's echo can be, ...
MARGIN_HELD_DB = 6.0  # ... and goes on while it is this much louder; by then the playback is held
GAP_MS = 1_000  # when the connection sends no audio for this long, silence is assumed: the user is probably muted
_NEW_MS = 160  # the code that ends a turn may not know yet about an utterance younger than this
_AFTER_MS = 64  # this much of the silence after speech belongs to the utterance, because speech fades out


class VoiceDetector(Protocol):
    """Detects speech in one stream, in frames of 512 samples at 16 kHz."""

    def load(self) -> None: ...

    def probability(self, frame: Samples) -> float: ...


@dataclass(frozen=True)
class Models:
    """The models and settings of these ears. Without a turn model, a reported pause doesn't say whether the turn is
    probably over."""

    stt: Transcribes
    vad: Callable[[], VoiceDetector]
    turn: SmartTurn | None
    rule: GateRule
    threads: ModelThreads
    cancels_echo: bool
    batches: VadBatches = field(default_factory=VadBatches)


class LocalEars:
    """Serves any number of conversations at once. The default model transcribes English. `cancels_echo` removes the
    agent's echo before transcribing. By default it is on if livekit is installed. Without `judges_turns`, no
    end-of-turn model runs."""

    def __init__(
        self,
        stt: Transcribes | None = None,
        vad: Callable[[], VoiceDetector] = SileroVad,
        turn: SmartTurn | None = None,
        *,
        judges_turns: bool = True,
        cancels_echo: bool | None = None,
        rule: GateRule | None = None,
        threads: ModelThreads | None = None,
    ) -> None:
        self._models = Models(
            stt or Moonshine(),
            vad,
            turn or (SmartTurn() if judges_turns else None),
            rule or GateRule(),
            threads or shared_threads(),
            is_installed() if cancels_echo is None else cancels_echo,
        )
        vad()  # a missing model raises now, not in the first call

    def load(self) -> None:
        """Load the models now, in this thread, rather than in the first conversation."""
        self._models.vad().load()
        self._models.stt.load()
        if self._models.turn is not None:
            self._models.turn.load()

    async def listen(self, audio: AsyncIterator[Incoming]) -> AsyncIterator[Heard]:
        """What is heard in this audio, as soon as it is known. Ends when the audio ends."""
        stream = _Stream(self._models)
        tasks = [asyncio.ensure_future(stream.read(audio)), asyncio.ensure_future(stream.write())]
        for task in tasks:
            task.add_done_callback(stream.heard.close)
        try:
            while (heard := await stream.heard.get()) is not None:
                yield heard
        finally:
            for task in tasks:
                task.cancel()
            stream.stop()
            await asyncio.gather(*tasks, return_exceptions=True)


class _Stream:
    """One conversation: one task reads audio, the other transcribes it."""

    def __init__(self, models: Models) -> None:
        self._models = models
        self._lane = ModelLane(models.threads, Urgency.FRAME)
        self._gate = VoiceGate(models.rule, FRAME_MS)
        self._echo = EchoGate(FRAME_MS)
        self._canceller: EchoCanceller | None = None
        self._sides = FramePairs(RATE_HZ, FRAME_SAMPLES)
        self._recent: deque[Samples] = deque(maxlen=(PREROLL_MS + models.rule.onset_ms) // FRAME_MS)
        self._number = 0
        self._run_up = 0  # samples of the open utterance from before its onset was reported
        self._open: UtteranceTranscription | None = None  # the current utterance
        self._unwritten: deque[UtteranceTranscription] = deque()  # utterances without their final text
        self._is_over = False
        self._is_sounding = False  # is the agent's voice playing?
        self._in_turn = False
        self._turn = TurnSound()
        self._pauses = 0  # the number of the current pause: a judgement of an earlier pause is ignored
        self._known: PauseFeatures | None = None  # what is known about the current pause
        self._doubtful: deque[tuple[int, Hypothesis]] = deque()  # final texts of sounds that may not be speech
        self._wake = asyncio.Event()
        self._waits_since: float | None = None  # when the wait for the next audio began; None while audio is processed
        self._gap: asyncio.TimerHandle | None = None
        self.heard = ReportQueue(writers=2)

    def stop(self) -> None:
        """Cancel the timer that notices when the connection sends no audio."""
        if self._gap is not None:
            self._gap.cancel()

    # -- Hearing

    async def read(self, audio: AsyncIterator[Incoming]) -> None:
        """Process the audio until it ends."""
        vad = self._models.vad()
        await self._in_thread(self._lane, vad.load)
        loop = asyncio.get_running_loop()
        async for item in audio:
            match item:
                case Frame():
                    self._waits_since = None
                    await self._hear(vad, item)
                    self._waits_since = loop.time()
                case Commit():
                    self._cut(forget=False)
                case Discard():
                    self._cut(forget=True)
                case Sounding():
                    self._is_sounding = item.is_on
        self._waits_since = None
        if self._open is not None:
            self.heard.put(SpeechEnded(self._open.number))
            self._close(self._open.length)
        self._is_over = True
        self._report_finals()
        self._wake.set()

    async def _hear(self, vad: VoiceDetector, frame: Frame) -> None:
        try:
            pairs = self._sides.feed(frame)
        except UnusableAudio as problem:
            raise BrokenContract(ErrorClass.INVALID_ARGS, str(problem)) from None
        if isinstance(vad, SileroVad) and not self._hears_echo(pairs):
            batch = self._models.batches.of_loop(vad, self._lane)  # one run of the model serves many conversations
            for pair in pairs:
                self._follow(pair, await batch.request(pair.heard, vad.memory), pair.heard)
        elif pairs:
            for pair, judged in zip(
                pairs, await self._in_thread(self._lane, partial(self._judge, vad, pairs)), strict=True
            ):
                self._follow(pair, *judged)

    def _hears_echo(self, pairs: list[FramePair]) -> bool:
        """Should the echo canceller process this audio? Yes, if echo cancellation is on and the agent has been audible
        in this conversation."""
        if self._canceller is not None:
            return True
        return self._models.cancels_echo and any(pair.played.any() for pair in pairs)

    def _judge(self, vad: VoiceDetector, pairs: list[FramePair]) -> list[tuple[float, Samples]]:
        """For each frame, the probability of speech and the audio without the echo. Runs in a thread."""
        if self._canceller is None and self._hears_echo(pairs):
            self._canceller = EchoCanceller()
        canceller = self._canceller
        return [
            (vad.probability(pair.heard), canceller.feed(*pair) if canceller is not None else pair.heard)
            for pair in pairs
        ]

    def _follow(self, pair: FramePair, probability: float, sound: Samples) -> None:
        """Process one frame. Sound counts as speech only if it is clearly louder than the agent's echo could be."""
        energy = rms(pair.heard)
        level_db = to_dbfs(energy)
        excess_db = self._echo.excess_db(level_db, to_dbfs(rms(pair.played)))
        if excess_db <= (MARGIN_DB if self._open is None else MARGIN_HELD_DB):
            probability = 0.0
        self._take(sound, probability, energy, level_db)

    def _take(self, sound: Samples, probability: float, energy: float, level_db: float) -> None:
        self._change(sound, self._gate.feed(probability, self._is_sounding))
        question = self._turn.feed(sound, probability, level_db)
        if self._turn.is_voiced:
            self._forget_pause()
            self._report_finals()
        if self._in_turn:
            self.heard.put(VoiceFrame(probability, energy, FRAME_MS, self._turn.quiet_ms, self._number))
            if question is not None:
                self._ask(question)
        self._wake.set()

    def _await_frames(self) -> None:
        """Start the timer that notices during a turn when the connection stops sending audio."""
        if self._gap is None:
            self._gap = asyncio.get_running_loop().call_later(GAP_MS / 1000, self._fill)

    def _fill(self) -> None:
        """Feed silence if the connection has stopped sending audio, because a user who mutes the microphone after the
        last word still expects an answer."""
        self._gap = None
        if not self._in_turn or self._is_over:
            return
        loop = asyncio.get_running_loop()
        waited_ms = (loop.time() - self._waits_since) * 1000 if self._waits_since is not None else 0.0
        if is_gap := waited_ms >= GAP_MS:
            self._take(np.zeros(FRAME_SAMPLES, np.float32), 0.0, 0.0, SILENCE_DBFS)
        self._gap = loop.call_later((FRAME_MS if is_gap else max(1.0, GAP_MS - waited_ms)) / 1000, self._fill)

    def _change(self, samples: Samples, change: Change | None) -> None:
        self._recent.append(samples)
        if change is Change.BEGAN:
            self._begin()
        elif self._open is not None:
            self._open.add(samples)
            if change is Change.PAUSED:
                self._open.request()
        if change is Change.ENDED:
            self._end()
        elif self._open is not None and self._open.length >= UTTERANCE_MS_MAX * RATE_HZ // 1000:
            self._split()

    def _begin(self) -> None:
        self._number += 1
        pace = OVERLAP_PACE if self._is_sounding else None
        self._open = UtteranceTranscription(self._number, self._models.stt, self._models.threads, self._recent, pace)
        self._run_up = self._open.length
        self._unwritten.append(self._open)
        self._in_turn = True
        self._await_frames()
        self.heard.put(SpeechBegan(self._number))

    def _end(self) -> None:
        """End the current utterance. Most of the silence that ended it isn't transcribed."""
        self.heard.put(SpeechEnded(self._number, self._gate.quiet * FRAME_MS))
        silence = self._gate.quiet * FRAME_SAMPLES
        if self._open is not None:
            self._close(self._open.length - silence + _AFTER_MS * RATE_HZ // 1000)
        # The next onset may come soon, and the audio kept for it must not contain the last word of this utterance.
        for _ in range(len(self._recent) - self._gate.quiet // 2):
            self._recent.popleft()

    def _cut(self, forget: bool) -> None:
        """End the turn. Speech that goes on becomes another utterance. An utterance that has only just begun belongs to
        the next turn, because the code that ended this turn didn't know about it yet. `forget`: discard the turn's
        speech instead of transcribing it."""
        is_new = self._open is not None and self._open.length < self._run_up + _NEW_MS * RATE_HZ // 1000
        if forget:
            for utterance in self._unwritten:
                utterance.is_forgotten |= not (is_new and utterance is self._open)
        if not is_new:
            self._split()
        if forget:
            self._doubtful.clear()
        else:
            for utterance in self._unwritten:
                utterance.is_committed |= not (is_new and utterance is self._open)
            self._report_finals(unconditionally=True)
        self._turn.forget()
        self._forget_pause()
        self._in_turn = is_new

    def _split(self) -> None:
        """End the current utterance. Speech that goes on becomes another utterance."""
        if self._open is not None:
            self._gate.cut()
            self._recent.clear()
            self._close(self._open.length)

    def _close(self, voiced: int) -> None:
        assert self._open is not None
        self._open.end(voiced)
        self._open = None
        self._wake.set()

    # -- Pauses

    def _forget_pause(self) -> None:
        self._pauses += 1
        self._known = None

    def _ask(self, question: PauseQuestion) -> None:
        """Have a model judge this pause, and report the pause with the judgement. If the question is whether the turn
        is over, the pause is also reported now, before it is judged."""
        if not question.is_doubt:  # report the pause now, the model's judgement later
            self.heard.put(Pause(question.known, self._turn.quiet_ms, self._number))
        lane = ModelLane(self._models.threads, Urgency.FINAL)
        work = partial(answer, question, self._models.turn)
        judged = asyncio.get_running_loop().run_in_executor(lane, work)
        judged.add_done_callback(partial(self._answered, self._pauses))

    def _answered(self, pause: int, judged: asyncio.Future[PauseFeatures]) -> None:
        if judged.cancelled():
            return
        if (failure := judged.exception()) is not None:
            self.heard.fail(failure)
        elif pause == self._pauses:
            self._known = joined(self._known, judged.result())
            self.heard.put(Pause(self._known, self._turn.quiet_ms, self._number))
            self._report_finals()

    # -- Transcribing

    async def write(self) -> None:
        """Transcribe all utterances, in order."""
        await self._in_thread(ModelLane(self._models.threads, Urgency.FINAL), self._models.stt.load)
        while not self._is_over or self._unwritten:
            while self._unwritten and self._unwritten[0].is_forgotten:
                self._unwritten.popleft()
            if self._unwritten and self._unwritten[0].has_work:
                await self._advance(self._unwritten[0])
            elif not self._is_over or self._unwritten:
                self._wake.clear()
                await self._wake.wait()

    async def _advance(self, utterance: UtteranceTranscription) -> None:
        written = await self._in_thread(utterance.lane, utterance.work)
        if written.is_final:
            self._unwritten.remove(utterance)
        if written.text is None or utterance.is_forgotten:
            return
        said = written.text
        if written.is_final:
            self._doubtful.append((utterance.number, said))
            self._report_finals(unconditionally=utterance.is_committed)
        elif said.text and not is_weak(self._turn.known):
            self.heard.put(Partial(said.text, said.confidence, utterance.number, said.stability))

    def _report_finals(self, unconditionally: bool = False) -> None:
        """Report final texts. The text of a weak sound waits until it is clear whether the sound was speech, because
        the model finds words even in a cough. If the sound wasn't speech, an empty text is reported."""
        while self._doubtful:
            number, said = self._doubtful[0]
            known = replace(self._known or self._turn.known, text=said.text, confidence=said.confidence)
            is_voice = unconditionally or is_turn(known)
            if not is_voice and known.pitched_ms is None and said.text and not self._is_over:
                return
            self._doubtful.popleft()
            text = said.text if is_voice else ""
            self.heard.put(Final(text, said.confidence, number, said.last_confidence))

    async def _in_thread(self, lane: ModelLane, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(lane, work)
