"""What the line knows: every place has a meaning, and amounts are counted in samples."""

from __future__ import annotations

import pytest

from duologue.lines.playback.state import MEANINGS, ClientPlace, Piece, PlaybackState, VoicePlace


def test_every_place_has_a_meaning() -> None:
    assert set(MEANINGS) == {*VoicePlace, *ClientPlace}


@pytest.mark.parametrize(("samples", "ms"), [(0, 0), (1, 1), (24, 1), (25, 2), (24_000, 1_000)])
def test_what_was_sent_is_rounded_up(samples: int, ms: int) -> None:
    assert PlaybackState(sent_to=samples).sent_ms == ms


def test_sound_is_needed_from_the_first_piece_that_was_not_heard() -> None:
    assert PlaybackState(cut_to=480).needed_from == 480
    assert PlaybackState(cut=(Piece(2, 240, 480),), cut_to=480).needed_from == 240


@pytest.mark.parametrize("place", VoicePlace)
def test_only_a_voice_that_may_still_be_heard_takes_sound(place: VoicePlace) -> None:
    state = PlaybackState(voice_place=place, voice=3)
    assert state.takes_sound(3) is (place in (VoicePlace.PLAYING, VoicePlace.HELD))
    assert not state.takes_sound(2)


def test_only_a_piece_that_was_cut_before_is_repeated() -> None:
    state = PlaybackState(cut=(Piece(2, 240, 480), Piece(3, 480, 500)), next_number=3)
    assert state.piece_to_repeat() == Piece(3, 480, 500)
    assert PlaybackState(cut=state.cut, next_number=4).piece_to_repeat() is None
