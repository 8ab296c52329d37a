"""What a stream remembers: which audio is still needed, which utterance is open, and when everything is reported."""

from __future__ import annotations

from duologue.ears.stream_state import StreamSettings, StreamState, Utterance

SPOKEN = Utterance(3, first=100, run_up=11, due_ms=500, every_ms=288)


def test_only_the_last_utterance_can_be_open() -> None:
    over = SPOKEN._replace(number=2, first=40, end=80, is_over=True)
    assert StreamState(utterances=(over, SPOKEN)).open == SPOKEN
    assert StreamState(utterances=(over,)).open is None
    assert StreamState().open is None


def test_the_audio_of_waiting_utterances_and_of_a_possible_onset_is_needed() -> None:
    assert StreamState(frames=140, kept=11, utterances=(SPOKEN,)).needed_from == 100
    assert StreamState(frames=140, kept=11).needed_from == 129


def test_a_stream_is_done_when_its_audio_is_over_and_no_text_is_missing() -> None:
    assert not StreamState().is_done
    assert not StreamState(is_over=True, utterances=(SPOKEN,)).is_done
    assert StreamState(is_over=True).is_done


def test_lengths_are_times() -> None:
    over = SPOKEN._replace(end=110, is_over=True)
    state = StreamState(frames=130, utterances=(over, SPOKEN))
    assert (state.length_ms(over), state.length_ms(SPOKEN)) == (10 * 32, 30 * 32), "an open one reaches up to now"
    assert (state.end_of(over), state.end_of(SPOKEN)) == (110, 130)
    assert StreamSettings().kept_max * 32 >= StreamSettings().preroll_ms
