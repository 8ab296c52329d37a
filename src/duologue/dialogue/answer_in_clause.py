"""Handles a longer reply in which only some clauses answer the question: "it's a company car, the plate is LN70", "I
don't think so, my sister drives me", "seven, before work, and what does it cost?".

The grammar of the slot that was asked for reads each run of neighbouring clauses. Rule: a value is used only if no
other clause gives a different value or takes the value back. The agent repeats the value to the user, because it didn't
understand the other clauses. If one of them is a question, the agent answers it, or says that it can't.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from .clauses import CLAUSES_MAX, clauses_of, runs_of, text_of, without_join
from .commands import SetSlot
from .corrections import self_correction
from .denials import only_denies
from .interpreters import MessageInContext
from .language.days import today_of
from .language.readings import ANY, Ambiguous, Direct, Json, Question, Reading, Slot, SlotKind, Unclear
from .language.stop_phrases import after_stop
from .language.tokens import Token, words_of
from .preferred_values import ask_which_of
from .prompts import is_question_current
from .side_questions import answer_to
from .state import Phase
from .unconfirmed_values import PICKED_OUT
from .values import validate_next

_KINDS = frozenset(SlotKind) - {SlotKind.TEXT, SlotKind.LIST}
_COUNTED = (SlotKind.NUMBER, SlotKind.MONEY, SlotKind.DURATION)
_LIMITED = (SlotKind.DATE, SlotKind.TIME)
_DEPARTURES = ("cancel", "restart", "person", "back")
_SPELLED = (SlotKind.CODE, SlotKind.PHONE, SlotKind.EMAIL)
_TIME = Slot("time", SlotKind.TIME)
_NAME_WORDS_MAX = 4
_NAME_WORDS_MIN = 2
_TAG_WORDS_MAX = 3


@dataclass(frozen=True, slots=True)
class FoundAnswer:
    """A run of neighbouring clauses that the slot's grammar understands. `run` holds the indexes of these clauses,
    `part` the indexes of their tokens, and `candidates` the values that they may mean."""

    run: range
    part: range
    candidates: tuple[Json, ...]
    must_ask: bool = False
    dropped: tuple[Json, ...] = ()  # values of answers that the user took back


def take_answer_in_clause(message: MessageInContext) -> bool:
    """Handle a reply in which some clauses answer the question and the others don't. Return False for any other
    reply."""
    d, slot = message.d, message.asked.slot
    if slot.kind not in _KINDS or d.s.reading_back or not is_question_current(d):
        return False
    clauses = clauses_of(message.words, message.tokens)
    is_rough = len(clauses) == 1 and _without_tail(message, clauses[0]) != clauses[0]
    if not (len(clauses) > 1 or is_rough) or len(clauses) > CLAUSES_MAX:
        return False
    found = _chosen(message, clauses, _answers_in(message, clauses))
    if found is None:
        return False
    others = [at for at in range(len(clauses)) if at not in found.run]
    if any(_spoils(message, found, clauses, at) for at in others):
        return False
    asked = next((clauses[at] for at in others if _asks(message, clauses[at])), None)
    if asked is not None:
        is_behind = asked.start >= found.part.stop  # before their answer, users may ask themselves something
        words = answer_to(d, message.tokens[asked.start : clauses[-1].stop if is_behind else asked.stop])
        d.say(words or (d.domain.patterns.cannot_answer if is_behind else ""))
    use_found(message, found)
    return True


def use_found(message: MessageInContext, found: FoundAnswer) -> None:
    """Use the value, or ask which of the values is meant."""
    d, slot = message.d, message.asked.slot
    prefers = "ask" if found.must_ask else d.spec(slot.name).prefers
    if len(found.candidates) > 1 and prefers == "ask":
        d.enter(Phase.UNDERSTANDING)
        ask_which_of(d, found.candidates)
        return
    value = found.candidates[-1 if prefers == "last" else 0]
    span = message.tokens[found.part.start].start, message.tokens[found.part.stop - 1].end
    said = SetSlot(slot.name, value, message.text[span[0] : span[1]], span, PICKED_OUT)
    d.set(values=(said, *_other_values(message, span)), among=())
    validate_next(d)


def _other_values(message: MessageInContext, span: tuple[int, int]) -> tuple[SetSlot, ...]:
    """Values for other empty slots in the rest of the message. `span` is the span of the answer itself. Empty if the
    message contains a question."""
    clauses = clauses_of(message.words, message.tokens)
    if message.signs.asks(message.tokens) or any(_asks_in(message, clause) for clause in clauses):
        return ()
    others = tuple(slot for slot in message.asked.others if slot.kind is not SlotKind.YES_NO)
    found = message.d.domain.pack.replies.read_parts(others, message.text, message.d.today) if others else ()
    return tuple(
        SetSlot(value.slot, value.value, value.raw, value.span, PICKED_OUT)
        for value in found
        if value.span[1] <= span[0] or span[1] <= value.span[0]
    )


# -- Which clause answers the question


def _answers_in(message: MessageInContext, clauses: Sequence[range]) -> list[FoundAnswer]:
    """The runs of neighbouring clauses in which the slot's grammar understands every word. If two runs overlap, only
    the longer one is returned."""
    found: list[FoundAnswer] = []
    for run in runs_of(clauses) if len(clauses) > 1 else (range(1),):
        if any(set(run) & set(one.run) for one in found):
            continue
        part = without_join(message.words, message.tokens, range(clauses[run.start].start, clauses[run.stop - 1].stop))
        part = _without_tail(message, part)
        one = _read(message, run, part) if part and not is_exception(message, clauses, run.start) else None
        if one is not None:
            found.append(one)
    return sorted(found, key=lambda one: one.run.start)


def _read(message: MessageInContext, run: range, part: range) -> FoundAnswer | None:
    slot, asked = message.asked.slot, replace(message.asked, others=())
    reading = message.d.domain.pack.replies.read(asked, text_of(message.text, message.tokens, part), message.d.today)
    if slot.kind is SlotKind.NAME and slot.is_open and not _may_be_name(message, part, reading):
        listed = tuple(slot.names.values.values()) if slot.names is not None else ()
        if not isinstance(reading, Direct) or reading.values[0].value not in listed:
            return None
    if isinstance(reading, Ambiguous):
        begins = message.tokens[part.start].start + reading.span[0]
        if slot.kind in _LIMITED and _has_limit(message, part, begins):
            return None
        return FoundAnswer(run, part, reading.candidates, reading.must_ask)
    if isinstance(reading, Unclear) and len(run) > 1 and slot.kind in _COUNTED + _LIMITED:
        return _corrected(message, run, part)
    if not isinstance(reading, Direct) or reading.values[0].value == ANY:
        return None
    begins = message.tokens[part.start].start + reading.values[0].span[0]
    if slot.kind in _LIMITED and _has_limit(message, part, begins):
        return None
    return FoundAnswer(run, part, (reading.values[0].value,))


def _corrected(message: MessageInContext, run: range, part: range) -> FoundAnswer | None:
    """The last value of clauses in which the user corrects the answer: "three, no two"."""
    d, text = message.d, text_of(message.text, message.tokens, part)
    found = self_correction(d.domain, message.asked.slot.name, text, d.today)
    if not found:
        return None
    clauses = clauses_of(message.words, message.tokens)
    each = [_read(message, range(at, at + 1), clauses[at]) for at in run]
    dropped = tuple(value for one in each if one is not None for value in one.candidates if value != found[0].value)
    return FoundAnswer(run, part, (found[0].value,), dropped=dropped)


def _without_tail(message: MessageInContext, part: range) -> range:
    """The part without words such as "or so" at its end. After a day, a limit of the time is left out too: "Friday
    after five"."""
    part = _without_time_limit(message, part)
    said = words_of(message.tokens[part.start : part.stop])
    size = next((len(one) for one in message.words.or_so if said[-len(one) :] == one), 0)
    return range(part.start, part.stop - size) if size < len(said) else part


def _without_time_limit(message: MessageInContext, part: range) -> range:
    if message.asked.slot.kind is not SlotKind.DATE:
        return part
    said = words_of(message.tokens[part.start : part.stop])
    for at in range(1, len(said)):
        size = next((len(one) for one in message.words.limits if said[at : at + len(one)] == one), 0)
        rest = text_of(message.text, message.tokens, range(part.start + at + size, part.stop)) if size else ""
        reading = message.d.domain.pack.replies.read(Question(_TIME), rest, message.d.today) if rest else None
        if isinstance(reading, Direct | Ambiguous):
            return range(part.start, part.start + at)
    return part


def _has_limit(message: MessageInContext, part: range, begins: int) -> bool:
    """Does a word such as "till" or "not before" stand in front of the value that begins at the character `begins`?
    Then the value only limits the day or time, and isn't the answer."""
    said = words_of(token for token in message.tokens[part.start : part.stop] if token.start < begins)
    return any(said[at : at + len(one)] == one for one in message.words.limits for at in range(len(said)))


def is_exception(message: MessageInContext, clauses: Sequence[range], at: int) -> bool:
    """Does the clause with index `at` exclude a value? True for the last clause of "any day, but Friday" and of "except
    Tuesday and Thursday"."""
    begins, before = clauses[at].start, clauses[at - 1] if at else range(0)
    opening, rest = message.tokens[begins], message.tokens[before.start : before.stop]
    if not rest:
        return False
    if opening.word in message.words.ands | message.words.ors and not opening.pause:
        said = words_of(rest)
        return any(said[place : place + len(one)] == one for one in message.words.excepts for place in range(len(said)))
    is_contrast = opening.word in message.words.contrasts - message.words.ands
    return is_contrast and message.signs.has_no_preference(rest, message.signs.echo_of(message.asked))


def _may_be_name(message: MessageInContext, part: range, reading: Reading) -> bool:
    """Can the words that the grammar read be a name that isn't on a list? Yes, if each word is capitalised and none is
    an ordinary word. If the whole reply has no capital letter, the name must have at least two words: "petra lang, you
    have that already"."""
    if not isinstance(reading, Direct):
        return False
    start = message.tokens[part.start].start
    inside = range(start + reading.values[0].span[0], start + reading.values[0].span[1])
    said = [token for token in message.tokens[part.start : part.stop] if token.start in inside]
    least = 1
    if not any(token.text[0].isupper() for token in message.tokens):
        least = _NAME_WORDS_MIN  # nothing is capitalised, as from many STTs
    return least <= len(said) <= _NAME_WORDS_MAX and all(
        (token.text[0].isupper() or (least > 1 and not message.words.is_number(token.word)))
        and token.word not in message.words.common
        for token in said
    )


def _chosen(message: MessageInContext, clauses: Sequence[range], found: list[FoundAnswer]) -> FoundAnswer | None:
    """Choose one of the answers that were found. If one value fits all of them, choose the most precise answer.
    Otherwise choose the last answer, but only if it follows from the earlier ones ("my train is at three, so two") or
    takes them back ("five. No, six"). Return None if the answers contradict each other."""
    if not found:
        return None
    common = [one for one in found[0].candidates if all(one in other.candidates for other in found)]
    if common:
        narrowest = min(reversed(found), key=lambda one: len(one.candidates))
        return replace(narrowest, candidates=tuple(common))
    if dated := _dated(message, found):
        return dated
    is_conclusion = message.tokens[clauses[found[-1].run.start].start].word in message.words.conclusions or (
        message.asked.slot.kind is SlotKind.YES_NO and _has_last_word(message, found[-1], clauses)
    )
    if not is_conclusion and not _is_taken_back(message, found[-2], found[-1]):
        return None
    return replace(found[-1], dropped=tuple(value for one in found[:-1] for value in one.candidates))


def _dated(message: MessageInContext, found: list[FoundAnswer]) -> FoundAnswer | None:
    """The answer that gives a date, if all other answers only name the weekday of this date: "on the 1st, that's a
    Tuesday". Otherwise None."""
    if message.asked.slot.kind is not SlotKind.DATE or any(len(one.candidates) != 1 for one in found):
        return None
    numbered = [one for one in found if any(map(_has_digit, message.tokens[one.part.start : one.part.stop]))]
    days = {today_of(str(one.candidates[0])).day.weekday() for one in found}
    return numbered[0] if len(numbered) == 1 and len(days) == 1 else None


def _has_digit(token: Token) -> bool:
    return any(char.isdigit() for char in token.word)


def _is_taken_back(message: MessageInContext, first: FoundAnswer, second: FoundAnswer) -> bool:
    """Does the user replace the first answer by the second one? True for "five. No, six"."""
    between = words_of(message.tokens[first.part.stop : second.part.start + 1])
    stops = after_stop(between, message.words.stopping, message.words.fillers)
    return any(word in message.words.dissent for word in between) or stops > 0


# -- What the other clauses say


def _spoils(message: MessageInContext, found: FoundAnswer, clauses: Sequence[range], at: int) -> bool:
    """Does the clause with index `at` make the answer unusable? It does if it takes the answer back, may contain
    another value, or is a command such as "cancel"."""
    tokens = message.tokens[clauses[at].start : clauses[at].stop]
    bare = message.tokens[without_join(message.words, message.tokens, clauses[at]).start : clauses[at].stop]
    if not bare:
        return False
    if message.signs.command_of(bare) in _DEPARTURES:
        return True
    concludes = message.tokens[clauses[found.run.start].start].word in message.words.conclusions
    if message.asked.slot.kind is SlotKind.YES_NO:
        return not concludes and _turns(message, tokens, is_weighed=_has_last_word(message, found, clauses))
    if at >= found.run.stop and _takes_back(message, bare):
        return True
    denies = any(message.words.is_negation(token.word) for token in tokens)
    if (
        denies
        and at == found.run.stop
        and message.asked.slot.kind in _LIMITED
        and only_denies(message.d.domain.pack, bare)
    ):
        return True
    return not concludes and not denies and _competes(message, tokens, found, is_later=at >= found.run.stop)


def _takes_back(message: MessageInContext, bare: Sequence[Token]) -> bool:
    """Does the clause, which follows the answer, take the answer back? True if it begins with "or", or with a no that
    stands alone: "no, wait". False for "no jokes please", where the no belongs to a noun."""
    words = message.words
    is_no = bare[0].word in words.dissent and (
        len(bare) == 1
        or bool(bare[1].pause)
        or bare[1].word.partition("'")[0] in words.common
        or words.is_number(bare[1].word)
    )
    return is_no or bare[0].word in words.ors


def _has_last_word(message: MessageInContext, found: FoundAnswer, clauses: Sequence[range]) -> bool:
    """Does the answer come last, in a clause that begins with "but" or "well"? Then the earlier clauses only weigh the
    reasons: "some would and some wouldn't, but yes"."""
    words, last = message.words, clauses[found.run.start]
    return found.run.stop == len(clauses) and (
        message.tokens[last.start].word in words.contrasts | words.fillers | words.conclusions
    )


def _turns(message: MessageInContext, tokens: Sequence[Token], *, is_weighed: bool = False) -> bool:
    """May this clause change the meaning of a yes or no? True if it contains a condition ("if"), an "or" or a negation,
    or if it is a question. With `is_weighed`, a later clause gives the answer, so an "or" and a negation don't matter,
    and a condition matters only at the beginning of the clause."""
    words = message.words
    if message.signs.asks(tokens) or any(token.word in words.conditions for token in tokens):
        return not is_weighed or message.signs.asks(tokens) or _sets_condition(message, tokens)
    return not is_weighed and any(token.word in words.ors or words.is_negation(token.word) for token in tokens)


def _sets_condition(message: MessageInContext, tokens: Sequence[Token]) -> bool:
    """Does this clause begin with a word such as "if" or "unless"? Conditional words inside it ("would", "might") don't
    count, because they only weigh the reasons."""
    bare = [token.word for token in tokens if token.word not in message.words.joins | message.words.fillers]
    return bool(bare) and bare[0] in message.words.conditions


def _competes(message: MessageInContext, tokens: Sequence[Token], found: FoundAnswer, *, is_later: bool) -> bool:
    """May the clause contain another value for the slot? False if the slot takes a number and the clause comes before
    the answer: a number in that clause is about something else, because the grammar didn't accept it as the answer."""
    slot = message.asked.slot
    if slot.kind in _COUNTED:
        return is_later and any(
            message.words.is_number(token.word) and not (at and token.word in message.words.which_ones)
            for at, token in enumerate(tokens)  # "four, the last one comes by train"
        )
    if slot.kind in _SPELLED:
        return any(char.isdigit() for token in tokens for char in token.word)
    text = message.text[tokens[0].start : tokens[-1].end]
    parts = message.d.domain.pack.replies.read_parts((_wide(slot),), text, message.d.today)
    rivals = [value.value for value in parts if value.value not in (*found.candidates, *found.dropped)]
    if slot.kind is SlotKind.DATE and len(found.candidates) == 1:  # "the 3rd, it's a Thursday"
        day = today_of(str(found.candidates[0])).day.weekday()
        is_dated = any(map(_has_digit, message.tokens[found.part.start : found.part.stop]))
        rivals = [one for one in rivals if not is_dated or today_of(str(one)).day.weekday() != day]
    return bool(rivals)


def _wide(slot: Slot) -> Slot:
    return replace(slot, is_past=True) if slot.kind in (SlotKind.CHOICE, SlotKind.NAME) else slot


def _asks_in(message: MessageInContext, clause: range) -> bool:
    bare = without_join(message.words, message.tokens, clause)
    return bool(bare) and message.signs.asks(message.tokens[bare.start : bare.stop])


def _asks(message: MessageInContext, clause: range) -> bool:
    """Is this clause a question? False for a short question that only seeks agreement, such as "isn't it?"."""
    said = message.tokens[clause.start : clause.stop]
    is_tag = len(said) <= _TAG_WORDS_MAX and message.words.is_negation(said[0].word)
    return message.signs.asks(said) and message.signs.asks(message.tokens) and not is_tag
