"""A language is chosen by its code."""

from __future__ import annotations

import pytest

from duologue.dialogue.language.packs import PACKS, UnknownLanguage, has_pack, pack_of


@pytest.mark.parametrize("code", PACKS)
def test_every_pack_can_be_loaded(code: str) -> None:
    assert pack_of(code).code == code


def test_a_region_uses_the_pack_of_its_language() -> None:
    assert pack_of("de-AT") is pack_of("de")
    assert has_pack("es_MX")
    assert not has_pack("fr")


def test_a_language_without_a_pack_is_refused_with_those_that_exist() -> None:
    with pytest.raises(UnknownLanguage, match=r"'fr'. There are packs for: de, en, es"):
        pack_of("fr")
