"""The text of a request to the brain, joined from all turns that wait for an answer. Its length is limited.

Rule: the newest turns are in the text, and they are whole if they fit. If earlier turns don't fit, a line in the text
says how much was left out, so that the brain can ask for it. The history still contains every word.
"""

from __future__ import annotations

from collections.abc import Sequence

CHARS_MAX = 32_000  # about 8,000 tokens: more than twenty minutes of speech
_LEFT_OUT = "[{turns} earlier messages of the user with {chars} characters are left out, because they don't fit.]"
_CUT = "[The first {chars} characters of this message are left out, because they don't fit.]"


def request_text(texts: Sequence[str], chars_max: int = CHARS_MAX) -> str:
    """Join these texts. If the result would have more than `chars_max` characters, text at the beginning is left out,
    and a line says how much is missing."""
    kept: list[str] = []
    room = chars_max
    for text in reversed(texts):
        if len(text) > room:
            break
        kept.append(text)
        room -= len(text) + 1
    kept.reverse()
    left_out = list(texts[: len(texts) - len(kept)])
    if not left_out:
        return " ".join(kept)
    if not kept:  # the newest alone is too long
        newest = left_out.pop()
        kept = [_CUT.format(chars=len(newest) - chars_max), newest[-chars_max:]]
    if left_out:
        kept.insert(0, _LEFT_OUT.format(turns=len(left_out), chars=sum(map(len, left_out))))
    return " ".join(kept)
