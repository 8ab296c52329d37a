"""Reads a reply to one question: a value, several candidates, a command, or something for NLU.

The reply is first read as a value for the slot that the question asks for. If words are left over, the reply is read as
values for several slots. Rule: nothing is used from a reply that isn't wholly understood.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..language.days import today_of
from ..language.greetings import without_greeting
from ..language.match import Match
from ..language.readings import (
    ANY,
    Ambiguous,
    Confirmation,
    ConfirmationAnswer,
    Direct,
    Question,
    Reading,
    Slot,
    SlotKind,
    SpokenCommand,
    Unclear,
    Why,
)
from .carrier_words import FILLERS, POLITE
from .choices import find_choices
from .commands import command_of
from .courtesy import GREETINGS
from .explained_words import covered_by, echo_of_texts, is_number, leftover, objection, unclear, unread
from .free_text import is_part_of_longer_name, parts_of_names
from .from_and_to import belongs_to_other_thing, contradicts
from .grammar_for_kind import find_values
from .merged_matches import merged
from .no_preference import has_no_preference
from .numbers import SCALES
from .offered_values import read_among
from .questions import asks_if_it_suits
from .reasons import answers_without_reason
from .replies_for_several import gives_date_and_time, read_several
from .reply_context import MOMENTS, ReplyContext
from .spelled_names import spelled_name
from .tokens import Token, span_of, stem, tokens_of, words_of
from .units import find_rate, units_disagree
from .unlisted_values import misspelled, read_without_value
from .yes_no import where_turned_down, without_apology
from .yes_no_replies import has_nothing_to_add, read_yes_no

_WORDS_AROUND_CODE_MAX = 4
_MAYBE_SEVERAL = (
    Why.LEFTOVER, Why.SEVERAL, Why.NO_VALUE, Why.OTHER_END, Why.MARKER, Why.NEGATED, Why.QUESTION,
)  # fmt: skip


def read(question: Question, reply: str, today: str) -> Reading:
    """What a reply to a question means. `today` is an ISO date, followed by the time of day if it is known."""
    tokens = without_apology(_without_greeting(tokens_of(reply)))
    if not tokens:
        return unread(reply)
    command = command_of(tokens)
    if command is not None and not _is_rather_a_value(question.slot, tokens, command):
        return SpokenCommand(command)
    context = ReplyContext(question, reply, tokens, today_of(today))
    reading = _read_value(context)
    if isinstance(reading, Direct) and _is_name_with_digits(context, reading):
        reading = unclear(Why.LEFTOVER, tokens, [at for at, token in enumerate(tokens) if token.word[:1].isdigit()])
    if command is not None and isinstance(reading, Unclear):
        return SpokenCommand(command)
    is_maybe_several = isinstance(reading, Unclear) and reading.why in _MAYBE_SEVERAL
    if question.others and (is_maybe_several or gives_date_and_time(context)):
        reading = read_several(context) or reading
    return _without_reason(context, reading) if is_maybe_several else reading


def _without_greeting(tokens: Sequence[Token]) -> Sequence[Token]:
    return without_greeting(tokens, GREETINGS, POLITE | FILLERS)


def _is_name_with_digits(c: ReplyContext, reading: Direct) -> bool:
    """Are there digits in the name of a person, as in "ian mcallister 3 4 62"? Then the reply says more than the
    name."""
    is_open = c.slot.kind is SlotKind.NAME and c.slot.is_open and c.asks_for_person()
    return is_open and any(char.isdigit() for char in str(reading.values[0].value))


def _is_rather_a_value(slot: Slot, tokens: Sequence[Token], command: str) -> bool:
    """Is what looks like a command really a value here? True for "one minute" after "how long?", and for "back, please"
    after "front or back?"."""
    if command == "wait" and slot.kind is SlotKind.DURATION:
        return True
    if (
        command == "skip"
        and slot.kind in (SlotKind.NUMBER, SlotKind.YES_NO)
        and any(token.word in ("none", "any", "one") for token in tokens)
    ):
        return True  # "I have none" is a zero after "how many?", and a no after "do you have one?"
    covered = covered_by(find_choices(tokens, slot.choices)) if slot.kind is SlotKind.CHOICE else frozenset()
    left = [token for place, token in enumerate(tokens) if place not in covered]
    return bool(covered) and all(token.word in POLITE | FILLERS | {"the"} for token in left)


def read_volunteered(slots: tuple[Slot, ...], reply: str, about: str, today: str) -> Direct | None:
    """The values in a message that doesn't answer a question, if the message says nothing else; otherwise None. Because
    nothing was asked, a yes, a name alone or a number alone isn't a value here."""
    tokens = _without_greeting(tokens_of(reply))
    if not tokens or not slots:
        return None
    question = Question(slots[0], about=about, others=slots[1:])
    return read_several(ReplyContext(question, reply, tokens, today_of(today), is_asked=False))


def _read_value(c: ReplyContext) -> Reading:
    if c.question.among and (settled := read_among(c)) is not None:
        return settled
    if c.slot.kind is not SlotKind.YES_NO and has_no_preference(c.tokens, c.echo):
        is_answer = c.slot.may_be_any
        return c.as_reading(Match(0, len(c.tokens), (ANY,))) if is_answer else unclear(Why.NO_VALUE)
    if c.slot.kind is SlotKind.YES_NO:
        return read_yes_no(c)
    if c.slot.kind is SlotKind.TEXT and c.slot.may_be_any and has_nothing_to_add(c):
        return Confirmation(ConfirmationAnswer.NO)
    if c.slot.kind is SlotKind.NAME and _is_other_part(c):
        return unclear(Why.OTHER_END)
    if c.slot.kind is SlotKind.NAME and (spelled := _spelled(c)) is not None:
        return c.as_reading(spelled)
    matches = c.find()
    covered = covered_by(matches)
    why = objection(c.tokens, covered)
    is_asked = matches and why in (None, Why.QUESTION) and c.slot.kind in MOMENTS
    if is_asked and asks_if_it_suits(c.tokens, covered, c.echo):
        covered, why = frozenset(range(len(c.tokens))) - c.words_of_other_slots(covered), None
    if matches and why in (Why.MARKER, Why.NEGATED) and (turned := _turns_down(c, matches)):
        covered |= turned
        why = objection(c.tokens, covered)
    if why is not None:
        is_no = why is Why.NEGATED and (not matches or c.question.proposed is not None)
        return c.denied() if is_no else unclear(why)
    return _value(c, matches, covered) if matches else read_without_value(c)


def _turns_down(c: ReplyContext, matches: Sequence[Match]) -> frozenset[int]:
    """The indexes of the words that only reject a day or time named in the agent's question: "actually" in "actually,
    the 5th", after "on the 4th?". Empty if the question named no day or time, or if the reply gives the same one."""
    if c.slot.kind not in MOMENTS:
        return frozenset()
    asked = find_values(tokens_of(c.question.text), c.slot, c.today, is_asked=False)
    named = {value for match in asked for value in match.candidates}
    if not named or named & {value for match in matches for value in match.candidates}:
        return frozenset()
    return where_turned_down(c.tokens)


def _is_other_part(c: ReplyContext) -> bool:
    """Does the user give a different part of the name than the agent asked for, such as the last name instead of the
    first?"""
    said = parts_of_names(c.tokens)
    asked = parts_of_names(tokens_of(f"{c.slot.name.replace('_', ' ')}. {c.question.text}"))
    return bool(said and asked and said != asked)


def _spelled(c: ReplyContext) -> Match | None:
    """The name that the user spells; None if no name is spelled. If the slot accepts only names from its list, the
    result is None for a name that isn't on the list."""
    found = spelled_name(c.reply, c.tokens, is_person=c.asks_for_person())
    if found is None or c.slot.names is None:
        return found if c.slot.is_open else None
    written = tokens_of(str(found.candidates[0]))
    known = [match for match in c.slot.names.find(written) if match.after - match.first == len(written)]
    return found._replace(candidates=known[0].candidates) if known else found if c.slot.is_open else None


def _value(c: ReplyContext, matches: Sequence[Match], covered: frozenset[int]) -> Reading:
    is_count = c.slot.kind is SlotKind.NUMBER
    match = merged(c.tokens, matches, is_count=is_count)
    if match is None and (either := _alternatives(c, matches, covered)) is not None:
        return either
    if match is not None and is_count and _follows_other_number(c, match):
        return unclear(Why.SEVERAL)
    if match is None or (is_count and units_disagree(c.tokens, matches, c.question)) or c.answers_twice(match):
        return unclear(Why.SEVERAL)
    is_another = c.slot.kind in MOMENTS and belongs_to_other_thing(c.tokens, match, c.echo)
    if is_another or contradicts(c.tokens, match, c.slot):
        return unclear(Why.OTHER_END)
    if c.slot.kind is SlotKind.MONEY and (rate := find_rate(c.tokens, match, c.echo)):
        return unclear(Why.LEFTOVER, c.tokens, rate)
    if c.slot.kind is SlotKind.NAME and is_part_of_longer_name(c.tokens, match):
        return unclear(Why.NO_VALUE)
    if c.slot.kind is SlotKind.CODE and _is_word_in_sentence(c, match):
        return unclear(Why.OTHER_END)
    left = sorted({*leftover(c.tokens, covered, c.echo), *c.words_of_other_slots(covered)})
    if not left:
        return c.as_reading(match)
    return misspelled(c, match, left) or unclear(Why.LEFTOVER, c.tokens, left)


def _follows_other_number(c: ReplyContext, match: Match) -> bool:
    """Does this number only correct a number before it, because the user is unsure? True for the "two" in "just the
    one, maybe two"."""
    before = c.tokens[: match.first]
    is_hedged = bool(before) and before[-1].word in ("maybe", "perhaps", "possibly")
    return is_hedged and any(is_number(token.word) for token in before)


def _is_word_in_sentence(c: ReplyContext, match: Match) -> bool:
    """Is this code only a word in capitals in a sentence about something else, as in "I want to book it in for its
    MOT"?"""
    is_word = match.after - match.first == 1 and str(match.candidates[0]).isalpha()
    around = [token for token in c.tokens if token.word not in POLITE | FILLERS]
    asked = echo_of_texts(c.question.text, c.slot.name)
    return is_word and len(around) > _WORDS_AROUND_CODE_MAX and not any(stem(token.word) in asked for token in around)


def _alternatives(c: ReplyContext, matches: Sequence[Match], covered: frozenset[int]) -> Reading | None:
    """Reads a reply that names two values with an "or" between them, such as "2 or 3". Both values are candidates, and
    the agent has to ask which one is meant. None for any other reply."""
    if len(matches) != 2 or any(len(match.candidates) != 1 for match in matches):
        return None
    between = range(matches[0].after, matches[1].first)
    if "or" not in words_of(c.tokens[between.start : between.stop]) or leftover(
        c.tokens, covered | {place for place in between if c.tokens[place].word == "or"}, c.echo
    ):
        return None
    start, end = span_of(c.tokens, matches[0].first, matches[1].after)
    both = tuple(match.candidates[0] for match in matches)
    scale = SCALES.get(c.tokens[matches[1].after - 1].word, 1)
    if isinstance(both[0], int) and isinstance(both[1], int) and both[0] < scale <= both[1]:
        both = (both[0] * scale, both[1])  # "45 or 50 thousand"
    return Ambiguous(c.slot.name, both, c.reply[start:end], (start, end), must_ask=True)


def _without_reason(c: ReplyContext, reading: Reading) -> Reading:
    """What the reply means without the reason that it contains, if the rest is a plain answer; otherwise `reading`.
    Example: "two tickets" in "my partner comes along, so two tickets". In yes/no answers and in free text, reasons
    aren't removed, because they may be part of the answer."""
    if not isinstance(reading, Unclear) or c.slot.kind in (SlotKind.YES_NO, SlotKind.TEXT):
        return reading
    for tokens in answers_without_reason(c.tokens, has_days=c.slot.kind is SlotKind.DATE):
        rest = [token for token in c.tokens if token not in tokens]
        part = ReplyContext(c.question, c.reply, tokens, c.today)
        answer = _read_value(part)
        if isinstance(answer, Direct) and part.names_a_value() and not _gives_other_values(c, rest):
            return answer
    return reading


def _gives_other_values(c: ReplyContext, tokens: Sequence[Token]) -> bool:
    """Do these words give a value for another slot?"""
    slots = (slot for slot in c.question.others if slot.kind is not SlotKind.YES_NO)
    return any(find_values(tokens, slot, c.today, is_asked=False) for slot in slots)
