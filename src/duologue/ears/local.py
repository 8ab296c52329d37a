"""Ears on this machine: Silero hears that somebody speaks, Moonshine writes down what.

Runs no model on the event loop. Onsets and ends are told as soon as they are known and wait for no text;
text comes in the order in which it was said. Rule: when the machine can't keep up, partial texts are left
out, and never a final one: every onset gets exactly one, unless its audio is discarded.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable
from functools import partial
from typing import Protocol, TypeVar

from duologue.audio.frames import Cutter, to_samples
from duologue.audio.resample import LiveResampler
from duologue.core.leaves import ErrorClass
from duologue.ports.ears import Commit, Discard, Final, Frame, Heard, Incoming, Partial, SpeechBegan, SpeechEnded
from duologue.ports.failure import BrokenContract

from .gate import Change, GateRule, VoiceGate
from .inference import RATE_HZ, Samples, UnusableAudio
from .moonshine import Moonshine
from .silero import FRAME_MS, FRAME_SAMPLES, SileroVad
from .streaming import Transcribes
from .threads import Lane, ModelThreads, Urgency, shared_threads
from .utterance import Utterance

T = TypeVar("T")

PREROLL_MS = 300  # before an onset there is a breath, and often the first consonant
UTTERANCE_MS_MAX = 60_000  # then its text is given and another one begins
_NEW_MS = 160  # so old an utterance may be unknown to whoever ends a turn
_AFTER_MS = 64  # a voice dies away: so much of the silence after it is heard as well


class Vad(Protocol):
    """Hears whether somebody speaks, in one stream of frames of 512 samples at 16 kHz."""

    def load(self) -> None: ...

    def probability(self, frame: Samples) -> float: ...


class LocalEars:
    """Serves any number of conversations at once. Made without arguments, it hears English."""

    def __init__(
        self,
        stt: Transcribes | None = None,
        vad: Callable[[], Vad] = SileroVad,
        *,
        rule: GateRule | None = None,
        threads: ModelThreads | None = None,
    ) -> None:
        self._stt = stt or Moonshine()
        self._vad = vad
        self._rule = rule or GateRule()
        self._threads = threads or shared_threads()
        vad()  # a model that is missing is missed now, not in the first call

    def load(self) -> None:
        """Load the models now, in this thread, rather than in the first conversation."""
        self._vad().load()
        self._stt.load()

    async def listen(self, audio: AsyncIterator[Incoming]) -> AsyncIterator[Heard]:
        """What was heard in this audio, as it is heard. The stream ends when the audio does."""
        stream = _Stream(self._stt, self._vad, self._rule, self._threads)
        tasks = [asyncio.ensure_future(stream.read(audio)), asyncio.ensure_future(stream.write())]
        for task in tasks:
            task.add_done_callback(stream.heard.close)
        try:
            while (heard := await stream.heard.get()) is not None:
                yield heard
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)


class _Outbox:
    """What was heard and not yet told. A partial text gives way to a newer one."""

    def __init__(self, writers: int) -> None:
        self._waiting: deque[Heard] = deque()
        self._writers = writers
        self._failure: BaseException | None = None
        self._changed = asyncio.Event()

    def put(self, heard: Heard) -> None:
        last = self._waiting[-1] if self._waiting else None
        if isinstance(heard, Partial) and isinstance(last, Partial) and heard.utterance == last.utterance:
            self._waiting.pop()
        self._waiting.append(heard)
        self._changed.set()

    def close(self, task: asyncio.Future[None]) -> None:
        """One of the writers is done, or has failed."""
        self._writers -= 1
        if not task.cancelled() and task.exception() is not None:
            self._failure = self._failure or task.exception()
        self._changed.set()

    async def get(self) -> Heard | None:
        """The next, or None at the end."""
        while not self._waiting:
            if self._failure is not None:
                raise self._failure
            if self._writers == 0:
                return None
            self._changed.clear()
            await self._changed.wait()
        return self._waiting.popleft()


class _Stream:
    """One conversation: one task reads audio, the other has it written down."""

    def __init__(self, stt: Transcribes, vad: Callable[[], Vad], rule: GateRule, threads: ModelThreads) -> None:
        self._stt = stt
        self._make_vad = vad
        self._threads = threads
        self._lane = Lane(threads, Urgency.FRAME)
        self._gate = VoiceGate(rule, FRAME_MS)
        self._cutter = Cutter(FRAME_SAMPLES)
        self._sound = _ToModelRate()
        self._recent: deque[Samples] = deque(maxlen=(PREROLL_MS + rule.onset_ms) // FRAME_MS)
        self._number = 0
        self._run_up = 0  # samples of the open utterance from before its onset was told
        self._open: Utterance | None = None  # being said
        self._unwritten: deque[Utterance] = deque()  # without their final text
        self._is_over = False
        self._wake = asyncio.Event()
        self.heard = _Outbox(writers=2)

    # -- Hearing

    async def read(self, audio: AsyncIterator[Incoming]) -> None:
        """Take the audio to its end."""
        vad = self._make_vad()
        await self._in_thread(self._lane, vad.load)
        async for item in audio:
            match item:
                case Frame():
                    await self._hear(vad, item)
                case Commit():
                    self._cut(forget=False)
                case Discard():
                    self._cut(forget=True)
        if self._open is not None:
            self.heard.put(SpeechEnded(self._open.number))
            self._close(self._open.length)
        self._is_over = True
        self._wake.set()

    async def _hear(self, vad: Vad, frame: Frame) -> None:
        try:
            frames = self._cutter.feed(self._sound.feed(frame))
        except UnusableAudio as problem:
            raise BrokenContract(ErrorClass.INVALID_ARGS, str(problem)) from None
        if frames:
            judged = partial(_probabilities, vad, frames)
            for samples, probability in zip(frames, await self._in_thread(self._lane, judged), strict=True):
                self._follow(samples, self._gate.feed(probability))

    def _follow(self, samples: Samples, change: Change | None) -> None:
        """One frame more, and what it changed."""
        self._recent.append(samples)
        if change is Change.BEGAN:
            self._begin()
        elif self._open is not None:
            self._open.add(samples)
            if change is Change.PAUSED:
                self._open.ask()
        if change is Change.ENDED:
            self._end()
        elif self._open is not None and self._open.length >= UTTERANCE_MS_MAX * RATE_HZ // 1000:
            self._cut(forget=False)  # far too long to be new
        self._wake.set()

    def _begin(self) -> None:
        self._number += 1
        self._open = Utterance(self._number, self._stt, self._threads, self._recent)
        self._run_up = self._open.length
        self._unwritten.append(self._open)
        self.heard.put(SpeechBegan(self._number))

    def _end(self) -> None:
        """Nobody speaks any more. The silence that showed it is no part of what was said."""
        self.heard.put(SpeechEnded(self._number))
        silence = self._gate.quiet * FRAME_SAMPLES
        if self._open is not None:
            self._close(self._open.length - silence + _AFTER_MS * RATE_HZ // 1000)
        # The next onset may be near: its run-up must not hold the last word of this one.
        for _ in range(len(self._recent) - self._gate.quiet // 2):
            self._recent.popleft()

    def _cut(self, forget: bool) -> None:
        """The turn is over, whoever speaks. If the voice goes on, that is another utterance; if it has only
        just begun, it is one already: whoever ended the turn had not heard of it."""
        is_new = self._open is not None and self._open.length < self._run_up + _NEW_MS * RATE_HZ // 1000
        if forget:
            for utterance in self._unwritten:
                utterance.is_forgotten |= not (is_new and utterance is self._open)
        if self._open is not None and not is_new:
            self._gate.cut()
            self._recent.clear()
            self._close(self._open.length)

    def _close(self, voiced: int) -> None:
        assert self._open is not None
        self._open.end(voiced)
        self._open = None
        self._wake.set()

    # -- Writing

    async def write(self) -> None:
        """Have everything written down that is said."""
        await self._in_thread(Lane(self._threads, Urgency.FINAL), self._stt.load)
        while not self._is_over or self._unwritten:
            while self._unwritten and self._unwritten[0].is_forgotten:
                self._unwritten.popleft()
            if self._unwritten and self._unwritten[0].has_work:
                await self._advance(self._unwritten[0])
            elif not self._is_over or self._unwritten:
                self._wake.clear()
                await self._wake.wait()

    async def _advance(self, utterance: Utterance) -> None:
        written = await self._in_thread(utterance.lane, utterance.work)
        if written.is_final:
            self._unwritten.remove(utterance)
        if written.text is None or utterance.is_forgotten:
            return
        text, confidence = written.text.text, written.text.confidence
        if written.is_final:
            self.heard.put(Final(text, confidence, utterance.number))
        elif text:
            self.heard.put(Partial(text, confidence, utterance.number))

    async def _in_thread(self, lane: Lane, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(lane, work)


def _probabilities(vad: Vad, frames: list[Samples]) -> list[float]:
    return [vad.probability(frame) for frame in frames]


class _ToModelRate:
    """Frames of any rate as samples at 16 kHz. The rate may change: a phone call may move to a browser."""

    def __init__(self) -> None:
        self._rate_hz = RATE_HZ
        self._resampler = LiveResampler(RATE_HZ, RATE_HZ)

    def feed(self, frame: Frame) -> Samples:
        if frame.rate_hz != self._rate_hz:
            self._resampler = LiveResampler(frame.rate_hz, RATE_HZ)
            self._rate_hz = frame.rate_hz
        return self._resampler.feed(to_samples(frame.pcm))
