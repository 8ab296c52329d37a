"""Which languages are supported, and the pack of each. A pack is loaded when it is first needed.

Rule: if a language has no pack, it is refused with an error that lists the supported languages. No other language is
used instead.
"""

from __future__ import annotations

from functools import lru_cache
from importlib import import_module

from .pack import LanguagePack

# The code of a language, and the module that holds its pack.
PACKS = {
    "de": ("duologue.dialogue.german.pack", "GERMAN"),
    "en": ("duologue.dialogue.english.pack", "ENGLISH"),
    "es": ("duologue.dialogue.spanish.pack", "SPANISH"),
}


class UnknownLanguage(ValueError):
    """There is no pack for this language."""


def has_pack(language: str) -> bool:
    """Is there a pack for this language? "de-AT" uses the pack of "de"."""
    return _code_of(language) in PACKS


@lru_cache(maxsize=64)
def pack_of(language: str) -> LanguagePack:
    """The pack of a language, by its code."""
    code = _code_of(language)
    if code not in PACKS:
        raise UnknownLanguage(f"no language pack for {language!r}. There are packs for: {', '.join(sorted(PACKS))}.")
    module, name = PACKS[code]
    pack = getattr(import_module(module), name)
    assert isinstance(pack, LanguagePack), module
    return pack


def _code_of(language: str) -> str:
    return language.replace("_", "-").partition("-")[0].casefold()
