"""Changes in a reply to a confirmation that no interpreter and no NLU has understood: "right, only that isn't a
Monday, it has to be Tuesday", "no wait it's flat 16 not 6".

The agent looks for the one slot that the reply is about. Rule: nothing is changed without a question. If a new value
can be read, the agent asks whether the old or the new value is meant; otherwise it asks for the slot again, or what to
change.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from .clauses import text_of
from .corrections import is_asked, told_slot
from .draft import DialogueDraft
from .flow import Confirm, SlotSpec
from .interpreters import MessageInContext
from .language.readings import Confirmation, ConfirmationAnswer, Json, Question, Slot, SlotKind
from .likely_answers import is_just_heard, plain_clauses, possible_names, values_in
from .partial_corrections import UnclearChange, opens_correction, tells_more
from .prompts import count_try, is_confirming
from .reference_day import slot_to_correct
from .run_flow import continue_flow
from .slot_names import names_of
from .state import Filled
from .unclear_changes import ask_which
from .unconfirmed_values import is_checking
from .yes_and_no import clear, names_collected_slots

_WORDS_MAX = 40
_SHARED_MIN = 0.3  # the share of the reply's words that the old text must have
_YES_WORDS_MAX = 3  # of a yes before other words
_CANDIDATES_MAX = 2  # beside the old value
_FREE = (SlotKind.TEXT, SlotKind.NAME)
_LISTED = (SlotKind.CHOICE, SlotKind.NAME)  # a word that only sounds like a choice changes nothing
_CLOSED = (
    SlotKind.DATE, SlotKind.TIME, SlotKind.NUMBER, SlotKind.MONEY, SlotKind.DURATION, SlotKind.CHOICE, SlotKind.PHONE,
    SlotKind.EMAIL,
)  # fmt: skip


def ask_likely_change(d: DialogueDraft) -> bool:
    """Ask about the slot that the reply to the confirmation seems to change, or what to change. Change nothing and
    return False if the reply changes nothing."""
    if not d.s.stack or d.top.failed or d.top.denied or d.s.is_aside or d.s.reading_back or not is_confirming(d):
        return False
    message = MessageInContext(d, d.s.heard)
    if not is_just_heard(d) or not 0 < len(message.tokens) <= _WORDS_MAX or message.signs.asks(message.tokens):
        return False
    found = [one for one in _changes(message) if is_asked(d.domain, d.top, one.slot)]
    named = [one for one in found if _is_named(message, one.slot)] or found
    named = [one for one in named if not one.candidates] or named  # the number in an address is no value of its own
    if len(named) == 1 and named[0].candidates:
        count_try(d)
        d.note("likely_change", slot=named[0].slot)
        ask_which(d, _with_old(d, named[0]))
        return True
    if _ask_after_yes(message):
        return True
    again = named[0].slot if len(named) == 1 else _only_named_slot(message)
    if again is not None:
        count_try(d)
        d.note("likely_change", slot=again)
        clear(d, again)
        d.say(d.domain.patterns.slot_again, slot=d.spec(again).display_name)
        continue_flow(d)
        return True
    return _ask_what_to_change(message)


def _only_named_slot(message: MessageInContext) -> str | None:
    """The one slot that the reply names, if it changes or denies something; None if it names no slot or several."""
    d, words = message.d, message.words
    denies = any(words.is_negation(token.word) for token in message.tokens)
    if not denies and not opens_correction(d.domain, message.text):
        return None
    asked = [name for name, _ in d.top.slots if name in d.domain.slots and is_asked(d.domain, d.top, name)]
    named = [name for name in asked if _is_named(message, name)]
    return named[0] if len(named) == 1 else None


def _ask_after_yes(message: MessageInContext) -> bool:
    """Say that only the yes was understood, and ask for the confirmation again. Return False if the reply doesn't begin
    with a yes."""
    d, read = message.d, message.d.domain.pack.replies.read_confirmation
    openings = (message.text[: token.end] for token in message.tokens[:-1][:_YES_WORDS_MAX])
    yes = Confirmation(ConfirmationAnswer.YES)
    if not any(read(d.s.last_question, opening, d.today, ()) == yes for opening in openings):
        return False
    d.say(d.domain.patterns.only_yes)
    count_try(d)
    continue_flow(d)
    return True


def _ask_what_to_change(message: MessageInContext) -> bool:
    """Ask what to change, if the reply begins like a correction, or denies something."""
    d, at = message.d, message.d.flow.program[message.d.top.at]
    has_own_way = isinstance(at, Confirm) and at.on_no is not None
    if has_own_way or is_checking(d) or not names_collected_slots(d) or not opens_correction(d.domain, message.text):
        return False
    count_try(d)
    d.set_top(denied=True)
    continue_flow(d)
    return True


def _with_old(d: DialogueDraft, change: UnclearChange) -> UnclearChange:
    """The change, with the old value as the first candidate, unless the user is asked about a name or a text."""
    filled = d.top.filled(change.slot)
    old = (filled.value,) if filled is not None and d.spec(change.slot).kind in _CLOSED else ()
    return replace(change, candidates=(*old, *change.candidates))


def _changes(message: MessageInContext) -> Iterator[UnclearChange]:
    """The slots that the reply may change, each with its new values."""
    d = message.d
    for name, filled in d.top.slots:
        spec = d.domain.slots.get(name)
        if spec is None:
            continue
        if spec.kind in _FREE and (spec.kind is SlotKind.TEXT or spec.is_open):
            yield from _free_change(message, spec, filled)
        elif spec.kind in (*_CLOSED, SlotKind.NAME):
            new = _new_values(message, spec, filled)
            if 0 < len(new) <= _CANDIDATES_MAX:
                yield UnclearChange(name, new)


def _new_values(message: MessageInContext, spec: SlotSpec, filled: Filled) -> tuple[Json, ...]:
    """The values in the reply that the slot doesn't have yet. If the reply doesn't name the slot, only values that are
    clear by themselves are used, and none from a clause that tells a story."""
    told = told_slot(spec) if spec.kind in _LISTED else slot_to_correct(spec, filled)
    asked = Question(replace(told, may_be_any=False))
    is_plain = spec.kind not in _LISTED and _is_named(message, spec.name)
    found: list[Json] = []
    for clause in plain_clauses(message):
        values = values_in(message, asked, clause) if is_plain else _clear_values(message, asked.slot, clause)
        found += [one for one in values if one not in (*found, filled.value)]
    return tuple(found)


def _clear_values(message: MessageInContext, slot: Slot, clause: range) -> Iterator[Json]:
    text = text_of(message.text, message.tokens, clause)
    for value in message.d.domain.pack.replies.read_parts((slot,), text, message.d.today):
        if slot.kind in _LISTED or not tells_more(message.d.domain, text, value.span):
            yield value.value


def _free_change(message: MessageInContext, spec: SlotSpec, filled: Filled) -> Iterator[UnclearChange]:
    """The change of a text or name, if the reply has a word of it that means something, and a word that it hasn't."""
    old = _content(message, str(filled.value))
    said = _content(message, message.text)
    is_about = bool(said - old) and len(old & said) > _SHARED_MIN * len(said)
    if not is_about and not _is_named(message, spec.name):
        return
    names = [] if spec.kind is SlotKind.TEXT else list(possible_names(message))
    new = tuple(name for name in dict.fromkeys(names) if str(name).casefold() != str(filled.value).casefold())
    yield UnclearChange(spec.name, new if len(new) == 1 else ())


def _content(message: MessageInContext, text: str) -> frozenset[str]:
    """The stems of the words that mean something, and of numbers."""
    words = message.words
    around = words.common | words.polite | words.fillers | words.dissent | words.limiting | words.small
    return frozenset(
        words.stem(token.word.removesuffix("'s"))
        for token in words.tokens_of(text)
        if token.word not in around or (words.is_number(token.word) and token.word not in words.which_ones)
    )


def _is_named(message: MessageInContext, slot: str) -> bool:
    """Does the reply say the name of the slot?"""
    said = " ".join(token.word.removesuffix("'s") for token in message.tokens)
    return any(
        name == slot and f" {called} " in f" {said} " for called, name in names_of(message.d.domain, message.d.top.flow)
    )
