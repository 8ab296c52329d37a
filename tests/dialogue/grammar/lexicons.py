"""The lexicons of German and Spanish, for tests of the engine."""

from __future__ import annotations

from pathlib import Path

import duologue.dialogue
from duologue.dialogue.german.compound_numbers import compound_numbers
from duologue.dialogue.grammar.lexicon import lexicon_of
from duologue.dialogue.language.tokens import Token

FOLDER = Path(duologue.dialogue.__file__).parent
GERMAN = lexicon_of(FOLDER / "german" / "words.toml", compound_numbers)
SPANISH = lexicon_of(FOLDER / "spanish" / "words.toml")


def tokens(text: str, lexicon: object = GERMAN) -> tuple[Token, ...]:
    from duologue.dialogue.grammar.tokens import tokens_of

    assert lexicon is GERMAN or lexicon is SPANISH
    return tokens_of(GERMAN if lexicon is GERMAN else SPANISH, text)
