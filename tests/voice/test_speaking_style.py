"""The settings of a local voice: sensible defaults, and wrong ones are refused by name."""

from __future__ import annotations

from typing import Any

import pytest

from duologue.voice.speaking_style import PART_PAUSE_MS, SpeakingStyle, pause_after


def test_the_defaults_are_those_of_a_calm_speaker() -> None:
    style = SpeakingStyle()
    assert 160 <= style.rate_wpm <= 175
    assert style.pitch == 100
    assert style.sentence_pause_ms <= 150


@pytest.mark.parametrize(
    ("setting", "says"),
    [
        ({"rate_wpm": 79}, "rate_wpm must be from 80 to 450 words per minute, not 79"),
        ({"rate_wpm": 451}, "rate_wpm must be from 80 to 450"),
        ({"rate_wpm": 165.0}, "not 165.0"),
        ({"pitch": 49}, "pitch must be from 50 to 200 percent, not 49"),
        ({"pitch": True}, "pitch must be"),
        ({"sentence_pause_ms": -1}, "sentence_pause_ms must be from 0 to 5000 milliseconds, not -1"),
    ],
)
def test_a_setting_that_is_not_possible_is_refused(setting: dict[str, Any], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        SpeakingStyle(**setting)


@pytest.mark.req("T-08")
@pytest.mark.parametrize(
    ("text", "pause_ms"),
    [("Good night.", 120), ('"Go!"', 120), ("Let me see,", 120), ("The parcel will be with", PART_PAUSE_MS)],
)
def test_a_part_of_a_sentence_has_hardly_any_pause(text: str, pause_ms: int) -> None:
    assert pause_after(text, 120) == pause_ms
    assert pause_after(text, 0) == 0
