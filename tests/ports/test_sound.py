"""A piece of sound has a length in whole milliseconds."""

from __future__ import annotations

from typing import Any

import pytest

from duologue.ports.sound import Sound


def test_a_simulated_sound_needs_only_its_length() -> None:
    assert Sound(20).pcm == b""


@pytest.mark.parametrize("ms", [0, -1, 1.5, True, None, "20"])
def test_a_sound_of_no_or_half_a_length_is_refused(ms: Any) -> None:
    with pytest.raises(ValueError, match=r"Sound\.ms must be a whole number of milliseconds above 0"):
        Sound(ms)
