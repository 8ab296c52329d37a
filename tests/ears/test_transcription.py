"""One utterance between the loop and the thread: what is due is decided when the work starts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pytest

from duologue.audio.frames import Samples
from duologue.ears.model_threads import ModelThreads, Urgency
from duologue.ears.moonshine import Transcription
from duologue.ears.token_vocabulary import WrittenWord
from duologue.ears.transcription import TextPace, UtteranceTranscription
from tests.ears.ears_recordings import noise, silence


class Lengths:
    """Transcribes audio as its length in tenths of a second."""

    partial_ms = 200

    def load(self) -> None:
        pass

    def transcribe(self, audio: Samples, draft: Sequence[int] = ()) -> Transcription:
        text = f"{audio.size // 1_600} tenths"
        return Transcription(text, 0.9, (WrittenWord(text, 0.9, 1),), (1,))


@pytest.fixture
def threads() -> Iterator[ModelThreads]:
    made = ModelThreads(slow_max=1)
    yield made
    made.close()


def utterance(threads: ModelThreads, pace: TextPace | None = None) -> UtteranceTranscription:
    return UtteranceTranscription(7, Lengths(), threads, [silence(0.1), silence(0.1)], pace)


def test_a_partial_text_is_due_first_after_the_onset_and_then_at_an_interval(threads: ModelThreads) -> None:
    open_one = utterance(threads, TextPace(first_ms=100, every_ms=300))
    due = []
    for _ in range(8):
        open_one.add(silence(0.1))
        due.append(open_one.has_work)
        if open_one.has_work:
            open_one.work()
    assert due == [True, False, False, True, False, False, True, False]


def test_a_partial_text_covers_the_audio_that_arrived_until_the_work_started(threads: ModelThreads) -> None:
    open_one = utterance(threads)
    open_one.request()
    open_one.add(silence(0.1))
    result = open_one.work()
    assert result.text is not None
    assert (result.text.text, result.is_final) == ("3 tenths", False)
    assert not open_one.has_work


def test_a_partial_text_that_was_not_started_becomes_the_final_one(threads: ModelThreads) -> None:
    open_one = utterance(threads)
    open_one.request()
    open_one.end(voiced=open_one.length)
    assert open_one.lane.urgency is Urgency.FINAL
    result = open_one.work()
    assert result.text is not None
    assert (result.text.text, result.is_final) == ("2 tenths", True)


def test_long_audio_is_settled_before_the_next_text(threads: ModelThreads) -> None:
    open_one = utterance(threads)
    open_one.add(np.concatenate([noise(1, 0.2), noise(1, 0.001), noise(3, 0.2)]))
    assert open_one.work().text is not None
    assert open_one.is_long
    assert open_one.work().text is None
    assert not open_one.is_long
