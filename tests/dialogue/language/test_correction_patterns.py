"""The patterns of corrections, assembled from the parts of a language."""

from __future__ import annotations

import pytest

from duologue.dialogue.german.pack import GERMAN
from duologue.dialogue.language.correction_patterns import CorrectionPatterns, correction_patterns
from duologue.dialogue.spanish.pack import SPANISH


@pytest.mark.parametrize(
    ("pattern", "text", "new"),
    [
        ("changed_mind", "nein, lieber Freitag", "Freitag"),
        ("make_it", "ich meinte Freitag", "Freitag"),
        ("swap", "Freitag statt Montag", "Freitag"),
        ("not_but", "nicht Montag sondern Freitag", "Freitag"),
        ("repair", "Montag, nein, Freitag", "Freitag"),
    ],
)
def test_german_corrections(pattern: str, text: str, new: str) -> None:
    said = getattr(GERMAN.corrections, pattern).match(text)
    assert said is not None
    assert said["new"] == new


@pytest.mark.parametrize(
    ("pattern", "text", "new"),
    [
        ("changed_mind", "no, mejor el viernes", "el viernes"),
        ("make_it", "quise decir el viernes", "el viernes"),
        ("swap", "el viernes en vez del lunes", "el viernes"),
        ("not_but", "no el lunes sino el viernes", "el viernes"),
        ("repair", "el lunes, perdón, el viernes", "el viernes"),
    ],
)
def test_spanish_corrections(pattern: str, text: str, new: str) -> None:
    said = getattr(SPANISH.corrections, pattern).match(text)
    assert said is not None
    assert said["new"] == new


def test_a_slot_is_changed_by_its_name() -> None:
    said = GERMAN.corrections.named("uhrzeit", "Ändern Sie die Uhrzeit auf halb drei, bitte")
    assert said is not None
    assert said["new"] == "halb drei"
    said = SPANISH.corrections.named("hora", "cambie la hora a las cinco")
    assert said is not None
    assert said["new"] in ("cinco", "las cinco")
    assert GERMAN.corrections.says_wrong("uhrzeit", "die Uhrzeit stimmt nicht")
    assert SPANISH.corrections.says_wrong("hora", "la hora está mal")
    assert GERMAN.corrections.wants_change("uhrzeit", "ändern Sie die Uhrzeit bitte")


def test_the_patterns_are_those_of_the_words() -> None:
    built = correction_patterns(GERMAN.corrections.words)
    assert isinstance(built, CorrectionPatterns)
    assert built.swap.pattern == GERMAN.corrections.swap.pattern
