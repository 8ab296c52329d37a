"""Everything that the agent says by itself exists in every language, in more than one way, chosen by a number."""

from __future__ import annotations

import tomllib
import unicodedata
from pathlib import Path

import pytest

from duologue.phrases import texts as module
from duologue.phrases.texts import (
    FIELDS,
    LABELS,
    LANGUAGES,
    NOTICES,
    PARTS,
    SHOWN,
    SPOKEN,
    fields_of,
    filled,
    label,
    notice,
    one_of,
    phrase,
    texts_in,
)
from duologue.turns.language import KNOWN

FOLDER = Path(module.__file__).with_name("languages")
every_language = pytest.mark.parametrize("language", LANGUAGES)
SECTIONS = {"spoken": SPOKEN, "labels": LABELS, "parts": PARTS, "notices": NOTICES}


def test_every_language_whose_words_are_known_has_a_file() -> None:
    assert LANGUAGES == KNOWN == ("de", "en", "es", "fr", "it", "ja", "nl", "pl", "pt", "zh")


@every_language
def test_a_file_has_each_code_and_no_other(language: str) -> None:
    data = tomllib.loads((FOLDER / f"{language}.toml").read_text(encoding="utf-8"))
    assert {name: [*section] for name, section in data.items()} == {name: [*codes] for name, codes in SECTIONS.items()}


@every_language
@pytest.mark.parametrize("code", SPOKEN)
def test_a_spoken_phrase_has_variants_that_differ(language: str, code: str) -> None:
    variants = texts_in(language).spoken[code]
    assert len(variants) >= 2
    assert len({variant.lower() for variant in variants}) == len(variants)
    assert len(variants) == len(texts_in("en").spoken[code])


@every_language
@pytest.mark.parametrize("code", SPOKEN)
def test_a_spoken_phrase_is_a_sentence_that_a_voice_can_say(language: str, code: str) -> None:
    for variant in texts_in(language).spoken[code]:
        assert variant == unicodedata.normalize("NFC", variant).strip()
        assert variant[-1] in ".?!。？！"  # noqa: RUF001 - Chinese and Japanese have their own punctuation
        assert not {*variant} & {*'*_#<>[]()"/\\\n…'}
        assert fields_of(variant) <= FIELDS.get(code, frozenset())
        assert len(variant) <= 160


@pytest.mark.req("H-11.language")
@every_language
def test_no_phrase_is_left_in_another_language(language: str) -> None:
    """But for "Ja?", which is German and Dutch."""
    others = [texts_in(other).spoken for other in LANGUAGES if other != language]
    foreign = {text for spoken in others for variants in spoken.values() for text in variants} - {"Ja?"}
    assert not foreign & {text for variants in texts_in(language).spoken.values() for text in variants}


# -- What is read


@pytest.mark.req("H-11.language")
@every_language
def test_labels_and_notices_are_complete_and_have_the_fields_of_their_code(language: str) -> None:
    texts = texts_in(language)
    for code, text in {**texts.labels, **texts.notices, **texts.parts}.items():
        assert text == unicodedata.normalize("NFC", text).strip() != "", code
        assert fields_of(text) == FIELDS.get(code, frozenset()) - (
            {"part"} if code == "fault_session_expired" else set()
        )
    assert len({*texts.labels.values()}) == len(texts.labels), "labels that read the same can't be told apart"
    assert len({*texts.notices.values()}) == len(texts.notices)


@every_language
def test_no_label_or_notice_is_left_in_english(language: str) -> None:
    if language != "en":
        mine, english = texts_in(language), texts_in("en")
        assert not {*mine.labels.values()} & {*english.labels.values()}
        assert not {*mine.notices.values()} & {*english.notices.values()}
        assert not {*mine.parts.values()} & {*english.parts.values()}


def test_a_notice_names_the_part_in_its_language() -> None:
    assert notice("en", "fault_network_timeout", part="voice").startswith("The speech output doesn't respond.")
    assert notice("de-AT", "fault_network_timeout", part="voice").startswith("Die Sprachausgabe antwortet nicht.")
    assert notice("sv", "lost", said="a table") == "This got no answer: “a table”"


def test_a_label_is_found_by_its_code() -> None:
    assert label("fr", "listening") == "J'écoute"
    assert len({*SHOWN}) == len(SHOWN), "codes of labels and notices differ, so that each can be replaced"
    with pytest.raises(KeyError):
        label("en", "meditating")


# -- Choosing


@every_language
def test_the_number_chooses_the_variant(language: str) -> None:
    variants = texts_in(language).spoken["working"]
    size = len(variants)
    assert [phrase(language, "working", number) for number in range(2 * size)] == [*variants, *variants]
    assert phrase(language, "working", 7) == phrase(language, "working", 7)


def test_a_region_has_the_words_of_its_language_and_an_unknown_language_those_of_english() -> None:
    assert phrase("de-AT", "check_in", 0) == phrase("de", "check_in", 0) == "Sind Sie noch da?"
    assert phrase("pt_BR", "yes", 0) == "Sim?"
    assert phrase("sv", "check_in", 0) == phrase("", "check_in", 0) == "Are you still there?"


def test_an_unknown_code_is_an_error() -> None:
    with pytest.raises(KeyError):
        phrase("en", "no_such_code", 0)


def test_fields_are_filled_in_and_one_without_a_value_is_left_out() -> None:
    assert filled("Looking at {tool}.", {"tool": "the timetable", "other": "x"}) == "Looking at the timetable."
    assert filled("Looking {tool}", {}) == "Looking"
    assert filled("{{as it is}}", {}) == "{as it is}"


def test_a_format_is_part_of_the_fields_name_so_that_it_is_refused() -> None:
    assert fields_of("{tool} {tool!r} {tool:>9} {tool.x} {}") == {"tool", "tool!r", "tool:>9", "tool.x", ""}
    with pytest.raises(ValueError, match="expected"):
        fields_of("a { alone")


def test_without_variants_nothing_is_said() -> None:
    assert one_of((), 3) == ""


def test_the_texts_are_read_once() -> None:
    assert texts_in("fr-CA") is texts_in("fr")
