"""Words that sound alike."""

from __future__ import annotations

import pytest

from duologue.dialogue.english import Ambiguous, Choice, Question, Slot, SlotKind, read
from duologue.dialogue.english.sounds import like, sound_of

TODAY = "2026-03-04"
DEVICE = Slot("device", SlotKind.CHOICE, (Choice("router"), Choice("phone"), Choice("television", ("tv",))))


@pytest.mark.parametrize(("one", "other"), [("reader", "router"), ("plain", "plane"), ("fone", "phone")])
def test_words_that_sound_alike_have_the_same_consonants(one: str, other: str) -> None:
    assert sound_of(one) == sound_of(other)


def test_too_few_consonants_sound_like_nothing() -> None:
    assert like("a tie", ("tea", "toe")) == ()


@pytest.mark.req("D-06")
@pytest.mark.parametrize(("reply", "value"), [("reader", "router"), ("the fone please", "phone")])
def test_a_choice_found_by_its_sound_is_asked_about(reply: str, value: str) -> None:
    reading = read(Question(DEVICE, "Which device?"), reply, TODAY)
    assert isinstance(reading, Ambiguous)
    assert (reading.candidates, reading.must_ask) == ((value,), True)


@pytest.mark.req("D-06")
def test_a_yes_takes_the_one_that_was_asked_about() -> None:
    reading = read(Question(DEVICE, "Did you mean router?", among=("router",)), "yes", TODAY)
    assert reading.value_of("device") == "router"  # type: ignore[union-attr]


@pytest.mark.parametrize(("text", "name"), [("zzz wibble", "são paulo"), ("apple", "pole"), ("banana republic", "pin")])
def test_words_with_other_syllables_do_not_sound_alike(text: str, name: str) -> None:
    assert like(text, (name,)) == ()


@pytest.mark.parametrize(("text", "name"), [("saw pow low", "são paulo"), ("reader", "router"), ("plain", "plane")])
def test_words_with_about_as_many_syllables_sound_alike(text: str, name: str) -> None:
    assert like(text, (name,)) == (name,)
