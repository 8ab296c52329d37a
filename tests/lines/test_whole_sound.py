"""A whole sound at a line's rate."""

from __future__ import annotations

import pytest

from duologue.audio.frames import UnusableAudio
from duologue.lines.whole_sound import sound_at
from duologue.ports.sound import Sound


@pytest.mark.parametrize("rate_hz", [8_000, 16_000, 24_000, 48_000])
def test_a_sound_is_as_long_at_every_rate(rate_hz: int) -> None:
    assert len(sound_at(Sound(500, bytes(24_000), 24_000), rate_hz)) == rate_hz


def test_at_its_own_rate_it_is_unchanged() -> None:
    pcm = bytes(range(100))
    assert sound_at(Sound(1, pcm, 16_000), 16_000) == pcm


def test_simulated_sound_is_silence_of_its_length() -> None:
    assert sound_at(Sound(100), 8_000) == bytes(1_600)


def test_half_a_sample_is_refused() -> None:
    with pytest.raises(UnusableAudio, match="even number of bytes, not 3"):
        sound_at(Sound(1, b"abc"), 8_000)
