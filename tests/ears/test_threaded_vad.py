"""Voice detection in a thread: probabilities and audio without the echo, frame by frame."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np
import pytest

from duologue.audio.frames import Samples
from duologue.ears import threaded_vad
from duologue.ears.frame_pairs import FramePair
from duologue.ears.model_threads import ModelThreads
from duologue.ears.threaded_vad import Judged, ThreadedVad
from duologue.runtime.simulated_clock import run_simulated


class Level:
    """A detector that returns the level of the frame, and fails at level 9."""

    def load(self) -> None:
        pass

    def probability(self, frame: Samples) -> float:
        if frame[0] == 9:
            raise ZeroDivisionError
        return float(frame[0])


class Halving:
    """Stands in for the echo canceller."""

    made: ClassVar[list[Halving]] = []

    def __init__(self) -> None:
        self.made.append(self)

    def feed(self, heard: Samples, played: Samples) -> Samples:
        return heard - played


def pair(heard: float, played: float = 0.0) -> FramePair:
    return FramePair(np.full(512, heard, np.float32), np.full(512, played, np.float32) if played else None)


def judged(threaded: ThreadedVad, *pairs: FramePair) -> list[Judged]:
    return run_simulated(threaded.judge(Level(), pairs))


@pytest.fixture
def cancelling(monkeypatch: pytest.MonkeyPatch) -> ThreadedVad:
    Halving.made.clear()
    monkeypatch.setattr(threaded_vad, "EchoCanceller", Halving)
    return ThreadedVad(ModelThreads(slow_max=1), True)


def test_each_frame_has_its_probability_and_its_sound() -> None:
    found = judged(ThreadedVad(ModelThreads(slow_max=1), False), pair(0.25, 0.5), pair(0.5))
    assert [one.probability for one in found] == [0.25, 0.5]
    assert [float(one.sound[0]) for one in found] == [0.25, 0.5]


def test_a_frame_that_the_detector_cannot_judge_keeps_its_failure() -> None:
    found = judged(ThreadedVad(ModelThreads(slow_max=1), False), pair(9), pair(0.5))
    assert math.isnan(found[0].probability)
    assert isinstance(found[0].failure, ZeroDivisionError)
    assert found[1].probability == 0.5


def test_the_echo_is_cancelled_once_the_agent_has_been_audible(cancelling: ThreadedVad) -> None:
    assert not cancelling.hears_echo([pair(0.5)])
    assert not cancelling.cancels_echo
    assert cancelling.hears_echo([pair(0.5), pair(0.5, 0.25)])
    assert float(judged(cancelling, pair(0.5, 0.25))[0].sound[0]) == 0.25
    assert cancelling.cancels_echo
    assert cancelling.hears_echo([pair(0.5)])
    judged(cancelling, pair(0.5))
    assert len(Halving.made) == 1


def test_without_echo_cancellation_no_canceller_is_made(cancelling: ThreadedVad) -> None:
    plain = ThreadedVad(ModelThreads(slow_max=1), False)
    judged(plain, pair(0.5, 0.25))
    assert not plain.hears_echo([pair(0.5, 0.25)])
    assert not Halving.made
