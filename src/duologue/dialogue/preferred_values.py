"""Replies that give a range and a wish: "next week, ideally Tuesday", "after six, seven would be best", "next week, but
not Monday". The wish is the value in the range that the user prefers or excludes.

The reply is divided where the wish begins, and the slot's grammar reads both parts. A preferred value is used only if
the range can be read too and allows the value. The agent then says which value it uses. After "next week, but not
Monday" the agent asks which of the other days is meant. Rule: neither the range nor the wish is silently ignored. The
agent says the value, asks about the remaining values, or leaves the reply to the next interpreter.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from .commands import SetSlot
from .draft import DialogueDraft
from .interpreters import MessageInContext
from .language.pack import LanguageWords, Phrase
from .language.readings import Ambiguous, Direct, Json, Question, SlotKind
from .language.tokens import Token, words_of
from .prompts import count_try
from .run_flow import continue_flow
from .state import Phase
from .unconfirmed_values import PICKED_OUT
from .values import validate_next

_KINDS = (SlotKind.DATE, SlotKind.TIME, SlotKind.NUMBER, SlotKind.MONEY, SlotKind.DURATION, SlotKind.CHOICE)


class Cut(NamedTuple):
    """A reply in two parts, each as a range of token indexes."""

    within: range  # the range of values
    wish: range
    excludes: bool = False  # the second part is a value that doesn't suit


def take_preferred_value(message: MessageInContext) -> bool:
    """Handle a reply that gives a range and, in it, a value that the user prefers or excludes. Return False for any
    other reply."""
    if message.asked.slot.kind not in _KINDS or message.signs.asks(message.tokens):
        return False
    for cut in cuts_of(message.words, message.tokens):
        if _exclude(message, cut) if cut.excludes else _prefer(message, cut):
            return True
    return False


# -- Where the wish begins


def cuts_of(words: LanguageWords, tokens: Sequence[Token]) -> Iterator[Cut]:
    """The ways to divide a reply into a range and a wish. Empty if the reply has no word for a wish, such as "ideally"
    or "not"."""
    said = words_of(tokens)
    for place in range(len(said)):
        if size := _phrase_at(said, place, words.prefers_before):
            yield from _cut_before(words, tokens, place, place + size)
        if size := _phrase_at(said, place, words.prefers_after):
            begins = _clause_start(words, tokens, place)
            if begins < place and _is_around(words, tokens[place + size :]):
                yield from _both(words, tokens, range(begins), range(begins, place))
        if place and (size := _phrase_at(said, place, words.excepts)):
            yield from _both(words, tokens, range(place), range(place + size, len(said)), excludes=True)


def _cut_before(words: LanguageWords, tokens: Sequence[Token], place: int, after: int) -> Iterator[Cut]:
    """The ways to divide a reply at a word such as "ideally" that stands before the wish. If the reply begins with this
    word, the range comes after the wish: "ideally Tuesday, sometime next week"."""
    if not _is_around(words, tokens[:place]):
        yield from _both(words, tokens, range(place), range(after, len(tokens)))
        return
    ends = next((at for at in range(after + 1, len(tokens)) if tokens[at].pause), len(tokens))
    yield from _both(words, tokens, range(ends, len(tokens)), range(after, ends))


def _both(
    words: LanguageWords, tokens: Sequence[Token], within: range, wish: range, *, excludes: bool = False
) -> Iterator[Cut]:
    cut = Cut(_trimmed(words, tokens, within), _trimmed(words, tokens, wish), excludes)
    if cut.within and cut.wish:
        yield cut


def _trimmed(words: LanguageWords, tokens: Sequence[Token], part: range) -> range:
    """The part without connecting and polite words at its beginning and end, such as "but", "and" and "please"."""
    start, stop = part.start, part.stop
    while start < stop and _is_around(words, tokens[start : start + 1]):
        start += 1
    while start < stop and _is_around(words, tokens[stop - 1 : stop]):
        stop -= 1
    return range(start, stop)


def _clause_start(words: LanguageWords, tokens: Sequence[Token], place: int) -> int:
    """The index of the first token of the clause that `place` is in."""
    return next((at for at in range(place - 1, 0, -1) if tokens[at].pause or tokens[at - 1].word in words.contrasts), 0)


def _is_around(words: LanguageWords, tokens: Sequence[Token]) -> bool:
    return all(token.word in words.contrasts | words.polite | words.fillers for token in tokens)


def _phrase_at(said: tuple[str, ...], place: int, phrases: tuple[Phrase, ...]) -> int:
    return next((len(one) for one in phrases if said[place : place + len(one)] == one), 0)


# -- What range and wish mean together


def _prefer(message: MessageInContext, cut: Cut) -> bool:
    d, slot = message.d, message.asked.slot
    found = candidates_of(message, _with_month(message, cut), replace(message.asked, others=()))
    if not found:
        return False
    fits = _fitting(message, cut, found)
    if not fits:
        return False
    d.enter(Phase.UNDERSTANDING)
    if len(fits) > 1:
        ask_which_of(d, fits)
        return True
    first, last = message.tokens[cut.wish.start], message.tokens[cut.wish.stop - 1]
    said = SetSlot(slot.name, fits[0], message.text[first.start : last.end], (first.start, last.end), PICKED_OUT)
    d.set(values=(said,), among=())
    validate_next(d)
    return True


def _fitting(message: MessageInContext, cut: Cut, found: tuple[Json, ...]) -> tuple[Json, ...]:
    """The values of the wish that the range allows, such as Tuesday in "next week, ideally Tuesday". Empty if the range
    allows none of them. A range that isn't a value by itself is read together with the wish: "in the morning, ideally
    ten". If range and wish are two different single values, as in "Friday, Saturday would be better", both values are
    returned, so that the agent asks which one is meant."""
    within = _range_of(message, _text(message, cut.within))
    if within is None:  # "in the morning, ideally ten": only both parts together are a value
        together = f"{_text(message, cut.within)} {_text(message, cut.wish)}"
        within = candidates_of(message, together, replace(message.asked, others=(), among=(), proposed=None))
        return tuple(value for value in found if value in within)
    fits = tuple(value for value in found if value in within) if within else found
    return (*within, *found) if not fits and len(found) == len(within) == 1 else fits


def _exclude(message: MessageInContext, cut: Cut) -> bool:
    """Ask which value in the range is meant, without the excluded values: "next week, but not Monday"."""
    d = message.d
    excluded = candidates_of(message, _text(message, cut.wish), replace(message.asked, others=(), among=()))
    within = _range_of(message, _text(message, cut.within))
    left = tuple(value for value in within or () if value not in excluded)
    if not excluded or within is None or (within and len(left) == len(within)):
        return False
    d.enter(Phase.UNDERSTANDING)
    if left:
        ask_which_of(d, left)
        return True
    first = message.tokens[cut.within.stop].start
    d.say(d.domain.patterns.limited, value=message.text[first:].strip(" .!?,"))
    count_try(d)
    continue_flow(d)
    return True


def ask_which_of(d: DialogueDraft, candidates: tuple[Json, ...]) -> None:
    """Ask which of these values is meant."""
    if d.s.among:
        count_try(d)
    d.set(among=candidates, misses=0, silences=0)
    continue_flow(d)


def candidates_of(message: MessageInContext, text: str, asked: Question) -> tuple[Json, ...]:
    """The values that a part of the reply may mean. Empty if the slot's grammar doesn't understand every word of it."""
    reading = message.d.domain.pack.replies.read(asked, text, message.d.today)
    if isinstance(reading, Ambiguous):
        return reading.candidates
    is_one = isinstance(reading, Direct) and len(reading.values) == 1
    return (reading.values[0].value,) if is_one and isinstance(reading, Direct) else ()


def _range_of(message: MessageInContext, text: str) -> tuple[Json, ...] | None:
    """The values that a range allows. Empty if the range can be read but doesn't list its values, as in "any day",
    "after four" or "in June". None if the range can't be read."""
    words, plain = message.words, replace(message.asked, others=(), among=(), proposed=None)
    tokens = words.tokens_of(text)
    if not tokens:
        return None
    if values := candidates_of(message, text, plain):
        return values
    said = words_of(tokens)
    first = next((at for at, word in enumerate(said) if word not in words.month_ranges), 0)
    if first and (values := candidates_of(message, text[tokens[first].start :], plain)):
        return values  # "any day next week"
    echo = message.signs.echo_of(message.asked)
    if message.signs.has_no_preference(tokens, echo):
        return ()
    if _month_in(message, tokens) and message.asked.slot.kind is SlotKind.DATE:
        return ()
    size = next((len(one) for one in words.limits if said[: len(one)] == one), 0)
    if 0 < size < len(said) and candidates_of(message, text[tokens[size].start :], plain):
        return ()
    joint = next((at for at in range(2, len(said) - 1) if said[at] in words.ands), 0)
    if said[0] in words.between and joint:
        ends = text[tokens[1].start : tokens[joint - 1].end], text[tokens[joint + 1].start :]
        return () if all(candidates_of(message, end, plain) for end in ends) else None
    return None


def _with_month(message: MessageInContext, cut: Cut) -> str:
    """The words of the wish, completed with the month that the range names: "the third of June" for "in June, ideally
    the third"."""
    wish = _text(message, cut.wish)
    inside = message.tokens[cut.within.start : cut.within.stop]
    month = _month_in(message, inside) if message.asked.slot.kind is SlotKind.DATE else ""
    return message.words.day_of_month.format(day=wish, month=month) if month else wish


def _month_in(message: MessageInContext, tokens: Sequence[Token]) -> str:
    """The name of the month, if the range is nothing but a month: "in June", "any day in June". Otherwise empty."""
    words = message.words
    named = [token for token in tokens if token.word in words.months]
    around = words.common | words.month_ranges
    if len(named) != 1 or any(token.word not in around for token in tokens if token is not named[0]):
        return ""
    return named[0].text


def _text(message: MessageInContext, part: range) -> str:
    return message.text[message.tokens[part.start].start : message.tokens[part.stop - 1].end]
