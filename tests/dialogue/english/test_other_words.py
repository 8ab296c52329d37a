"""Other everyday words for a choice."""

from __future__ import annotations

import pytest

from duologue.dialogue.english import Choice, SlotKind, read_parts
from duologue.dialogue.english.other_words import other_words
from duologue.dialogue.language.readings import Slot
from tests.dialogue.english.grammar_replies import WEDNESDAY, one_of, said


@pytest.mark.req("D-04")
@pytest.mark.parametrize(
    ("choices", "reply", "value"),
    [
        (("Music", "Sports"), "I'd like to go to a concert", "Music"),
        (("Music", "Sports"), "games", "Sports"),
        (("Music", "Sports"), "I like music, so maybe a concert", "Music"),
        (("small", "large"), "the big one, please", "large"),
        (("checking", "savings"), "my current account", "checking"),
        (("broken", "lost"), "it's damaged", "broken"),
        (("apartment", "house"), "a flat", "apartment"),
    ],
)
def test_another_everyday_word_means_the_choice(choices: tuple[str, ...], reply: str, value: str) -> None:
    assert said(one_of(*choices), reply) == value


@pytest.mark.parametrize(
    ("choices", "reply"),
    [
        (("Music", "Sports"), "a concert or a match"),
        (("Music", "Sports"), "baseball"),
        (("movie", "film"), "the cinema"),
        (("Music", "Sports"), "not a concert"),
    ],
)
def test_a_word_for_two_choices_or_for_more_than_the_choice_is_for_nlu(choices: tuple[str, ...], reply: str) -> None:
    assert not isinstance(said(one_of(*choices), reply), str)


def test_a_listed_word_keeps_its_own_meaning() -> None:
    assert said(one_of("music", "concert"), "a concert") == "concert"
    assert "concert" not in other_words((Choice("music"), Choice("concert")))


def test_another_word_fills_nothing_without_a_question() -> None:
    slot = Slot("kind", SlotKind.CHOICE, choices=(Choice("music"), Choice("sports")))
    assert not read_parts((slot,), "we are late for the match", WEDNESDAY)
