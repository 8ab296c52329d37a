"""The words of a language are read from its file, and a gap in it is named."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from duologue.dialogue.grammar.lexicon import folded, lexicon_of, phrase_at, where_phrase
from duologue.dialogue.language.pack import IncompletePack
from tests.dialogue.grammar.lexicons import FOLDER, GERMAN, SPANISH

WORDS = (FOLDER / "spanish" / "words.toml").read_text(encoding="utf-8")


def test_words_are_compared_without_accents() -> None:
    assert (GERMAN.fold("Fünf"), SPANISH.fold("Sábado"), SPANISH.fold("Año")) == ("fuenf", "sabado", "año")
    assert folded("Straße", {}) == "strasse"


def test_forms_of_a_word_share_a_stem() -> None:
    assert GERMAN.stem("kleine") == GERMAN.stem("klein") == GERMAN.stem("kleinen")
    assert GERMAN.stem("gross") == GERMAN.stem("grosse")


@pytest.mark.parametrize("entry", ["months", "dissent", "commands", "at_sign"])
def test_a_missing_entry_is_named(tmp_path: Path, entry: str) -> None:
    file = tmp_path / "words.toml"
    lines = WORDS.splitlines()
    if f"{entry} =" in WORDS:
        kept = "\n".join(line for line in lines if not line.startswith(f"{entry} ="))
    else:
        start = next(at for at, line in enumerate(lines) if line.endswith(f".{entry}]"))
        end = next(at for at in range(start + 1, len(lines)) if lines[at].startswith("["))
        kept = "\n".join(lines[:start] + lines[end:])
    file.write_text(kept, encoding="utf-8")
    with pytest.raises(IncompletePack, match=rf"lacks in words.toml: {entry}\. Add"):
        lexicon_of(file)


def test_an_unknown_entry_is_named(tmp_path: Path) -> None:
    file = tmp_path / "words.toml"
    file.write_text(WORDS + '\n[more]\ncolours = "rojo"\n', encoding="utf-8")
    with pytest.raises(ValueError, match="unknown entries: colours"):
        lexicon_of(file)


def test_the_files_of_both_languages_have_the_same_entries() -> None:
    entries = [
        {
            name
            for part in tomllib.loads((FOLDER / language / "words.toml").read_text("utf-8")).values()
            for name in part
        }
        for language in ("german", "spanish")
    ]
    assert entries[0] == entries[1]


def test_phrases_are_found_in_words() -> None:
    assert phrase_at(["por", "favor"], 0, (("por", "favor"),)) == 2
    assert where_phrase(["el", "por", "favor"], (("por", "favor"),)) == range(1, 3)
    assert where_phrase(["el"], (("por", "favor"),)) is None
