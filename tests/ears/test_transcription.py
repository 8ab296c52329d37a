"""Utterances between the loop and the thread: what is done is decided when the work starts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from duologue.audio.frames import Samples
from duologue.ears.moonshine import Transcription
from duologue.ears.silero import FRAME_SAMPLES
from duologue.ears.stream_state import RequestText, TextWork, TextWritten
from duologue.ears.token_vocabulary import WrittenWord
from duologue.ears.transcription import StreamTranscription
from tests.ears.ears_recordings import noise


class Lengths:
    """Transcribes audio as its length in frames and the value of its first sample."""

    partial_ms = 200
    fails = False

    def load(self) -> None:
        pass

    def transcribe(self, audio: Samples, draft: Sequence[int] = ()) -> Transcription:
        if self.fails:
            raise ZeroDivisionError
        text = f"{audio.size // FRAME_SAMPLES} from {audio[0]:.0f}"
        return Transcription(text, 0.9, (WrittenWord(text, 0.9, 1),), (1,))


def stream(frames: int, model: Lengths | None = None) -> StreamTranscription:
    made = StreamTranscription(model or Lengths())
    for place in range(frames):
        made.add(np.full(FRAME_SAMPLES, place, np.float32))
    return made


def done(one: StreamTranscription) -> TextWritten:
    written = one.work()
    assert written is not None
    return written


def text_of(written: TextWritten | None) -> str:
    assert written is not None
    assert written.text is not None
    return written.text.text


def test_a_partial_text_covers_the_audio_that_arrived_until_the_work_started() -> None:
    one = stream(20)
    one.ask(RequestText(7, TextWork.PARTIAL, first=5))
    one.add(np.full(FRAME_SAMPLES, 20, np.float32))
    written = done(one)
    assert (text_of(written), written.covers, written.work) == ("16 from 5", 21, TextWork.PARTIAL)
    assert not one.is_asked


def test_a_partial_text_that_was_not_started_becomes_the_final_one() -> None:
    one = stream(20)
    one.ask(RequestText(7, TextWork.PARTIAL, first=5))
    one.ask(RequestText(7, TextWork.FINAL, first=5, end=18, voiced_end=14))
    written = done(one)
    assert (text_of(written), written.work) == ("13 from 5", TextWork.FINAL)


def test_the_audio_of_another_utterance_is_not_mixed_in() -> None:
    one = stream(20)
    one.ask(RequestText(7, TextWork.FINAL, first=5, end=10, voiced_end=8))
    assert text_of(one.work()) == "5 from 5"
    one.forget(12)
    one.ask(RequestText(8, TextWork.PARTIAL, first=12))
    assert text_of(one.work()) == "8 from 12"


def test_long_audio_is_settled_before_the_next_text() -> None:
    one = StreamTranscription(Lengths())
    for frame in np.concatenate([noise(1, 0.2), noise(1, 0.001), noise(3, 0.2)])[: 150 * FRAME_SAMPLES].reshape(
        150, -1
    ):
        one.add(frame)
    one.ask(RequestText(1, TextWork.PARTIAL, first=0))
    assert done(one).is_long
    one.ask(RequestText(1, TextWork.SETTLE, first=0))
    assert one.work() == TextWritten(1, TextWork.SETTLE)


def test_work_that_failed_starts_again_from_the_beginning() -> None:
    model = Lengths()
    one = stream(20, model)
    one.ask(RequestText(7, TextWork.PARTIAL, first=5))
    one.work()
    model.fails = True
    final = RequestText(7, TextWork.FINAL, first=5, end=30, voiced_end=30)
    one.ask(final)
    for place in range(20, 30):
        one.add(np.full(FRAME_SAMPLES, place, np.float32))
    with pytest.raises(ZeroDivisionError):
        one.work()
    assert one.give_up() == final
    model.fails = False
    one.ask(final)
    assert text_of(one.work()) == "25 from 5"


def test_work_that_no_thread_started_can_be_given_up() -> None:
    one, request = stream(20), RequestText(7, TextWork.PARTIAL, first=5)
    one.ask(request)
    assert one.give_up() == request
    assert not one.is_asked


def test_a_request_that_was_withdrawn_is_not_done() -> None:
    one = stream(20)
    one.ask(RequestText(7, TextWork.PARTIAL, first=5))
    one.withdraw()
    assert not one.is_asked
    assert one.work() is None
    assert one.give_up() is None
