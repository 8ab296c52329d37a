"""Values in a reply that no interpreter and no NLU has understood: "not many, I'd guess three hundred a month",
"third, no sorry, fourth".

The slot's grammar reads every part of every clause. Rule: such a value is never used without a question. The agent asks
whether it is meant, so the user can answer with a yes instead of repeating everything.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from .clauses import clauses_of, text_of, without_join
from .draft import DialogueDraft
from .interpreters import MessageInContext
from .language.readings import ANY, Ambiguous, Direct, Json, Question, SlotKind
from .language.tokens import Token
from .prompts import count_try, is_question_current
from .run_flow import continue_flow
from .value_patterns import is_match

_CANDIDATES_MAX = 3  # with more, the question would be longer than the answer
_WORDS_MAX = 40
_VALUE_WORDS_MAX = 10
_NAME_WORDS_MAX = 4
_MEASURED = (SlotKind.DATE, SlotKind.TIME, SlotKind.NUMBER, SlotKind.MONEY, SlotKind.DURATION)
_SPELLED = (SlotKind.CODE, SlotKind.PHONE, SlotKind.EMAIL)


def ask_likely_answer(d: DialogueDraft) -> bool:
    """Ask whether a value in the message is the answer to the open question, and count a failed attempt. Change nothing
    and return False if the message has no such value, or too many."""
    if d.s.waiting_for is None or d.s.is_aside or d.s.among or d.s.reading_back or not is_question_current(d):
        return False
    message = MessageInContext(d, d.s.heard)
    if not is_just_heard(d) or not 0 < len(message.tokens) <= _WORDS_MAX or message.signs.asks(message.tokens):
        return False
    found: list[Json] = []
    for value in _likely_answers(message):
        if value not in found:  # amounts of money can't be hashed
            found.append(value)
    if not 0 < len(found) <= _CANDIDATES_MAX:
        return False
    count_try(d)
    d.set(among=tuple(found))
    d.note("likely_answer")
    continue_flow(d)
    return True


def _likely_answers(message: MessageInContext) -> Iterator[Json]:
    slot = message.asked.slot
    if slot.kind is SlotKind.YES_NO:
        yield from _yes_or_no(message)
    elif slot.kind is SlotKind.NAME and slot.is_open:
        yield from possible_names(message)
    elif slot.kind in (*_MEASURED, *_SPELLED, SlotKind.CHOICE, SlotKind.NAME):
        pattern = message.d.spec(slot.name).pattern
        asked = Question(replace(slot, may_be_any=False), message.asked.text, message.asked.about)
        for clause in plain_clauses(message):
            found = values_in(message, asked, clause)
            yield from (value for value in found if not pattern or is_match(pattern, str(value)))


def plain_clauses(message: MessageInContext) -> Iterator[range]:
    """The clauses that deny nothing and ask nothing. A "no" at the beginning of a clause denies what was said before
    it."""
    words = message.words
    for clause in clauses_of(words, message.tokens):
        part = without_join(words, message.tokens, clause)
        start = part.start
        while start < part.stop and message.tokens[start].word in words.dissent | words.fillers:
            start += 1
        said = message.tokens[start : part.stop]
        if said and not message.signs.asks(said) and not any(words.is_negation(token.word) for token in said):
            yield range(start, part.stop)


def values_in(message: MessageInContext, asked: Question, clause: range) -> Iterator[Json]:
    """The values in a clause, from left to right. Of several parts that begin at the same word, the longest counts."""
    start = clause.start
    while start < clause.stop:
        longest = min(clause.stop, start + _VALUE_WORDS_MAX)
        found, after = next(
            (
                (values, stop)
                for stop in range(longest, start, -1)
                if (values := _read(message, asked, range(start, stop)))
            ),
            ((), start + 1),
        )
        yield from found
        start = after


def _read(message: MessageInContext, asked: Question, part: range) -> tuple[Json, ...]:
    text = text_of(message.text, message.tokens, part)
    reading = message.d.domain.pack.replies.read(asked, text, message.d.today)
    if isinstance(reading, Ambiguous):
        return reading.candidates
    value = reading.value_of(asked.slot.name) if isinstance(reading, Direct) else None
    return () if value is None or value == ANY else (value,)


def _yes_or_no(message: MessageInContext) -> Iterator[Json]:
    """The yes or no that clauses say. None if the question can't be answered with a plain yes or no."""
    if message.signs.trick_of(message.asked.text) is not None:
        return
    for clause in clauses_of(message.words, message.tokens):
        part = without_join(message.words, message.tokens, clause)
        said = message.tokens[part.start : part.stop]
        if not said or message.signs.asks(said) or any(token.word in message.words.conditions for token in said):
            continue
        answer = message.signs.opening_answer(said)
        yield from _read(message, message.asked, part) if answer is None else (answer,)


def possible_names(message: MessageInContext) -> Iterator[Json]:
    """The names in a reply, perhaps without capital letters: runs of words that mean nothing else. Empty if the reply
    denies something, or if such a run follows a number, because it is then rather an address. Empty too if there are
    several, because a sentence with several such words isn't about a name."""
    words, tokens = message.words, message.tokens
    runs: list[list[Token]] = [[]]
    for at, token in enumerate(tokens):
        is_name = words.may_be_name(token.word)
        if runs[-1] and (token.pause or not is_name):
            runs.append([])
        if is_name and not runs[-1] and at and words.is_number(tokens[at - 1].word):
            return
        if is_name:
            runs[-1].append(token)
    if any(words.is_negation(token.word) and token.word not in words.dissent for token in tokens):
        return
    found = dict.fromkeys(" ".join(token.text for token in run) for run in runs if 0 < len(run) <= _NAME_WORDS_MAX)
    yield from found if len(found) == 1 else ()


def is_just_heard(d: DialogueDraft) -> bool:
    """Are the words that NLU has read those of the newest message?"""
    said = [message.content for message in d.s.messages if message.role == "user"]
    return bool(said) and said[-1] == d.s.heard
