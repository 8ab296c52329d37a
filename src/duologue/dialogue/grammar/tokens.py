"""Splits a message into tokens, for languages with decimal commas and dates such as 3.5.2026.

Rule: a token knows its position in the message. Hesitations are dropped. A message that is longer than any plain answer
has no tokens.
"""

from __future__ import annotations

import re
from functools import lru_cache

from ..language.tokens import Token, joint_in
from .lexicon import Lexicon

CHARS_MAX = 500
TOKENS_MAX = 100
_TOKEN = re.compile(
    r"""(?P<mail>[\w.+-]+@[\w-]+(?:\.[\w-]+)+)
    |(?P<code>(?=\w*\d)(?=\w*[^\W\d_])[^\W_]*?[^\W\d_][^\W_]*)   # AB12, 16h, 1a
    |(?P<number>\d+(?:[.,:/-]\d+)*(?:\.(?=[\s,;]|$))?)
    |(?P<word>(?:[^\W\d_]\.){2,}|[^\W\d_]+(?:['\u2019][^\W\d_]+)*)
    |(?P<sign>[€$£#&@+%_ºª-])""",
    re.VERBOSE,
)
_STOPS = (("?", "?¿"), (".", ".!;:\u2026"), (",", ","))


def tokens_of(lexicon: Lexicon, text: str) -> tuple[Token, ...]:
    """The tokens of a message; empty if it is too long."""
    return _tokens(lexicon, text) if len(text) <= CHARS_MAX else ()


@lru_cache(maxsize=256)
def _tokens(lexicon: Lexicon, text: str) -> tuple[Token, ...]:
    found: list[Token] = []
    end, pause = 0, ""
    for match in _TOKEN.finditer(text):
        written = match.group()
        if match.lastgroup == "sign" and written in "-_" and not text[match.end() : match.end() + 1].isdigit():
            continue
        gap = text[end : match.start()]
        pause = _stronger(pause, _pause(gap))
        end = match.end()
        word = lexicon.fold(written).replace("\u2019", "'")
        if match.lastgroup == "number":
            word = word.rstrip(".")
        elif match.lastgroup == "word" and "." in word:
            word = word.replace(".", "")
        if word in lexicon.hesitations:
            continue
        pause = pause if found or pause == "?" else ""
        found.append(Token(written, word, match.start(), end, pause, joint_in(gap) if found else ""))
        pause = ""
    if found and "?" in text[end:]:
        found[-1] = found[-1]._replace(text=found[-1].text + "?")  # the last token keeps the question mark
    if not found and end:  # nothing but hesitations
        return (Token(text.strip(), "\u2026", 0, len(text), ""),)
    return tuple(found) if len(found) <= TOKENS_MAX else ()


def _pause(gap: str) -> str:
    return next((mark for mark, marks in _STOPS if any(one in gap for one in marks)), "")


def _stronger(one: str, other: str) -> str:
    return next((mark for mark, _ in _STOPS if mark in (one, other)), "")


def stems_of(lexicon: Lexicon, *texts: str) -> frozenset[str]:
    """The stems of all words in these texts. An identifier may have several words."""
    words = (token.word for text in texts for token in tokens_of(lexicon, text[:CHARS_MAX].replace("_", " ")))
    return frozenset(lexicon.stem(word) for word in words)
