"""Phrases that stop the agent before something else is said."""

from __future__ import annotations

import pytest

from duologue.dialogue.language.packs import pack_of
from duologue.dialogue.language.stop_phrases import after_stop

STOPS = (("hold", "on"), ("one", "sec"))
AROUND = frozenset(("okay", "please"))


@pytest.mark.parametrize(
    ("text", "place"),
    {
        "hold on what is it": 2,
        "okay hold on please one sec what is it": 6,
        "okay what is it": 0,
        "hold on": 0,
        "": 0,
        "what is it hold on": 0,
    }.items(),
)
def test_what_follows_begins_the_message(text: str, place: int) -> None:
    assert after_stop(text.split(), STOPS, AROUND) == place


@pytest.mark.parametrize(
    ("language", "text", "is_question"),
    [
        ("en", "hold on a second how much is it", True),
        ("en", "one sec, is it far", True),
        ("en", "wait, 12 Baker Street", False),
        ("en", "hold on", False),
        ("de", "Moment mal wie lange dauert das", True),
        ("de", "Moment, Hauptstraße 12", False),
        ("es", "un momento cuánto tarda", True),
        ("es", "espere, calle Mayor 12", False),
    ],
)
def test_a_question_behind_it_is_a_question(language: str, text: str, is_question: bool) -> None:
    pack = pack_of(language)
    assert pack.signs.asks(pack.words.tokens_of(text)) is is_question
