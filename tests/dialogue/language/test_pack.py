"""A pack without one of its parts is refused by name."""

from __future__ import annotations

from dataclasses import fields, replace

import pytest

from duologue.dialogue.english.pack import ENGLISH
from duologue.dialogue.flow import Patterns
from duologue.dialogue.german.pack import GERMAN
from duologue.dialogue.language.pack import IncompletePack, LanguagePack, checked_pack
from duologue.dialogue.spanish.pack import SPANISH

TEXTS = [field.name for field in fields(Patterns)]


def test_a_missing_field_is_named() -> None:
    words = replace(GERMAN.words, polite=frozenset())
    with pytest.raises(IncompletePack, match=r"'de' lacks: words.polite\. Add"):
        checked_pack(replace(GERMAN, words=words), TEXTS)


def test_a_missing_text_is_named() -> None:
    with pytest.raises(IncompletePack, match=r"texts\.brand_new"):
        checked_pack(GERMAN, [*TEXTS, "brand_new"])


@pytest.mark.parametrize("pack", [GERMAN, SPANISH], ids=lambda pack: pack.code)
def test_every_built_in_text_exists_in_every_language_with_the_same_gaps(pack: LanguagePack) -> None:
    from duologue.dialogue.templates import gaps_of

    assert set(pack.texts) == set(TEXTS)
    for field in fields(Patterns):
        assert set(gaps_of(pack.texts[field.name])) >= set(gaps_of(str(field.default))) - {"slots", "value"}, field.name
        assert bool(pack.texts[field.name]) is bool(field.default)


@pytest.mark.parametrize("pack", [GERMAN, SPANISH], ids=lambda pack: pack.code)
def test_every_command_has_examples_for_nlu(pack: LanguagePack) -> None:
    from duologue.flows.intents import ANSWERS, COMMANDS

    assert set(pack.examples) == {*COMMANDS, *ANSWERS}


def test_english_has_every_part() -> None:
    assert checked_pack(ENGLISH, []) is ENGLISH
