"""Voice detection in a thread. It is used for detectors that may be slow, and for audio whose echo is cancelled.

Silero without echo cancellation doesn't need this: it runs on the event loop (`vad_batch`). Rule: if a detector hangs,
its thread is abandoned, and the stream ends with a one-line error.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Sequence
from typing import NamedTuple, Protocol

from duologue.core.leaves import ErrorClass
from duologue.ports.failure import BrokenContract

from .echo_canceller import EchoCanceller
from .frame_pairs import FramePair
from .model_input import Samples, np
from .model_threads import ModelLane, ModelThreads, Urgency

VAD_S_MAX = 10.0  # how long the voice detector may take


class VoiceDetector(Protocol):
    """Detects speech in one stream, in frames of 512 samples at 16 kHz."""

    def load(self) -> None: ...

    def probability(self, frame: Samples) -> float: ...


class Judged(NamedTuple):
    """The results of the voice detector and the echo canceller for a frame."""

    probability: float
    sound: Samples
    failure: Exception | None = None


class ThreadedVad:
    """Runs the voice detector of one stream in the threads for models."""

    def __init__(self, threads: ModelThreads, cancels_echo: bool) -> None:
        self._lane = ModelLane(threads, Urgency.FRAME)
        self._cancels_echo = cancels_echo
        self._canceller: EchoCanceller | None = None

    @property
    def cancels_echo(self) -> bool:
        """Is the echo canceller in use?"""
        return self._canceller is not None

    def hears_echo(self, pairs: Sequence[FramePair]) -> bool:
        """Should the echo canceller process this audio? Yes, if echo cancellation is on and the agent has been audible
        in this conversation."""
        if self._canceller is not None:
            return True
        return self._cancels_echo and any(pair.played is not None for pair in pairs)

    async def load(self, vad: VoiceDetector) -> None:
        """Load the detector."""
        await asyncio.get_running_loop().run_in_executor(self._lane, vad.load)

    async def judge(self, vad: VoiceDetector, pairs: Sequence[FramePair]) -> list[Judged]:
        """Judge these frames. Returns for each frame the probability of speech, and its audio without the echo."""
        judging = asyncio.get_running_loop().run_in_executor(self._lane, self.judge_now, vad, pairs)
        try:
            async with asyncio.timeout(VAD_S_MAX):
                return await judging
        except TimeoutError:
            self._lane.abandon()
            line = f"the voice detector didn't answer within {VAD_S_MAX:.0f} s"
            raise BrokenContract(ErrorClass.NETWORK_TIMEOUT, line) from None

    def judge_now(self, vad: VoiceDetector, pairs: Sequence[FramePair]) -> list[Judged]:
        """Judge these pairs of frames in the calling thread. If the VAD fails on a frame, the result contains the
        failure."""
        if self._canceller is None and self.hears_echo(pairs):
            self._canceller = EchoCanceller()
        judged = []
        for pair in pairs:
            try:
                probability, failure = vad.probability(pair.heard), None
            except Exception as raised:  # noqa: BLE001 - whatever a model raises, listening goes on
                probability, failure = math.nan, raised
            judged.append(Judged(probability, self._without_echo(pair), failure))
        return judged

    def _without_echo(self, pair: FramePair) -> Samples:
        if self._canceller is None:
            return pair.heard
        return self._canceller.feed(pair.heard, np.zeros_like(pair.heard) if pair.played is None else pair.played)
