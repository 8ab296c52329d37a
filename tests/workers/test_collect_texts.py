"""The texts of tasks that ask for one value."""

from __future__ import annotations

from duologue.dialogue.language.packs import PACKS
from duologue.workers.collect_texts import TEXTS, collect_text


def test_every_language_with_a_pack_has_every_text() -> None:
    assert set(TEXTS) == set(PACKS)
    assert len({frozenset(texts) for texts in TEXTS.values()}) == 1
    for texts in TEXTS.values():
        assert all(("{value}" in text) is name.endswith("right") for name, text in texts.items())


def test_a_region_gets_the_texts_of_its_language_and_others_get_english() -> None:
    assert collect_text("de-AT", "name") == "Wie ist Ihr Name?"
    assert collect_text("fr", "name") == collect_text("en", "name") == "What is your name?"
