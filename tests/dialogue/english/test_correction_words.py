"""English corrections by their words."""

from __future__ import annotations

import pytest

from duologue.dialogue.english.correction_words import CORRECTIONS


@pytest.mark.parametrize(
    ("pattern", "text", "new"),
    [
        ("make_it", "no, make it five", "five"),
        ("swap", "Friday instead of Monday", "Friday"),
        ("do_instead", "Friday instead", "Friday"),
    ],
)
def test_a_correction_gives_its_new_value(pattern: str, text: str, new: str) -> None:
    said = getattr(CORRECTIONS, pattern).match(text)
    assert said is not None
    assert said["new"] == new
