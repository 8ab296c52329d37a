"""An answer and its reason: "my partner comes along, so two tickets", "on Friday, because I work until then".

The answer is the part after "so", or the part before "because". Rule: the other part is treated as a reason only if it
contains no value, name, condition or question. There is one exception: if the answer is a day, its reason may contain
days.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from .explained_words import is_dated, is_number
from .free_text import is_capital
from .tokens import Token, words_of

_BECAUSE = frozenset("because since cause".split())
_ABLE = frozenset("can could won't don't will i'll we'll".split())
_SPEAKERS = frozenset("i we i'll we'll they she he my our it's".split())
_CONDITIONS = frozenset("if unless or whether maybe perhaps".split())
_NOT_SO = frozenset("much many far long kind good sorry nice great happy excited".split())
_RESULTS = frozenset("is would will makes that's".split())
_TOTALS = frozenset("total altogether all".split())
_REASON_WORDS_MIN = 2


def answers_without_reason(tokens: Sequence[Token], *, has_days: bool = False) -> Iterator[Sequence[Token]]:
    """The parts of a reply that may be the answer, each without its reason. The most likely part comes first. With
    `has_days`, the reason may contain a day or a time: "I work until Thursday, so Friday"."""
    for place in range(len(tokens) - 1, _REASON_WORDS_MIN - 1, -1):
        answer = tokens[place + 1 :]
        if (
            tokens[place].word == "so"
            and _concludes(tokens, place)
            and _is_reason(tokens[:place], answer, has_days=has_days)
        ):
            yield answer[1:] if answer[0].word == "that" else answer
    for place in range(1, len(tokens) - _REASON_WORDS_MIN):
        if _gives_reason(tokens, place) and _is_reason(tokens[place + 1 :], (), has_days=has_days):
            yield tokens[:place]


def _concludes(tokens: Sequence[Token], place: int) -> bool:
    """Does the answer follow this "so"? True for "…, so two" and "… so that would be five". False for "so that I can
    …", which gives a purpose, and for "so much"."""
    after = words_of(tokens[place + 1 : place + 3])
    if not after or after[0] in _NOT_SO or tokens[place - 1].word in ("is", "are", "was", "be", "or", "very"):
        return False
    return after[0] != "that" or after[1:2] == () or after[1] in _RESULTS


def _gives_reason(tokens: Sequence[Token], place: int) -> bool:
    """Does the reason begin at this word? True for "because", "since I" and "so that I can"."""
    after = words_of(tokens[place + 1 : place + 4])
    if tokens[place].word == "so":
        after = after[1:] if after[0] == "that" else after
        return after[0] in _SPEAKERS and bool(_ABLE & {after[0], *after[1:2]})
    return tokens[place].word in _BECAUSE and (tokens[place].word != "since" or after[0] in _SPEAKERS)


def _is_reason(tokens: Sequence[Token], answer: Sequence[Token], *, has_days: bool) -> bool:
    """Are these words only a reason? They may contain a number only if the answer gives a total, as in "… so five
    altogether"."""
    is_total = any(token.word in _TOTALS for token in answer)
    for token in tokens:
        if has_days and is_dated(token.word):
            continue
        if token.word in _CONDITIONS or "?" in token.pause or (token.start and is_capital(token)):
            return False
        if is_dated(token.word) or (is_number(token.word) and token.word != "one" and not is_total):
            return False
    return len(tokens) >= _REASON_WORDS_MIN or bool(tokens and answer and answer[0].pause != "")
