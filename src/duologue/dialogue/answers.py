"""Interprets a user message in context: as an answer, a confirmation, a correction, a command, or input for NLU.

Rule: the grammars are tried first; NLU is called only for what they don't fully understand.
"""

from __future__ import annotations

from collections.abc import Iterator

from .apply_commands import apply_commands, miss, say_no
from .commands import BY_NAME, ChitChat, Command, Farewell, Help, SetSlot, Skip
from .corrections import (
    are_both_yes_no,
    corrections,
    last_answer_correction,
    named_slot,
    other_day_or_time,
    other_slot_corrections,
    self_correction,
)
from .draft import Commitment, DialogueDraft
from .english import (
    ANY,
    Ambiguous,
    Confirmation,
    ConfirmationAnswer,
    Direct,
    Question,
    Slot,
    SlotKind,
    Unclear,
    Value,
    plain_answer,
    read,
    read_confirmation,
)
from .english import SpokenCommand as Commanded
from .english.carrier_words import DISSENT, FILLERS, POLITE
from .english.commands import command_of
from .english.courtesy import courtesy_of
from .english.explained_words import echo_of
from .english.no_preference import has_no_preference
from .english.questions import asks
from .english.tokens import tokens_of
from .english.yes_no import opening_answer, trick_of
from .flow import Collect
from .prompts import count_try, is_question_current, proposed
from .reference_day import slot_with_last_day
from .requests import understanding
from .run_flow import continue_flow
from .state import Phase
from .values import accept, validate_next


def understand(d: DialogueDraft, text: str) -> None:
    """Interpret a message that comes while no question is open. An empty message counts as not understood. A command is
    applied. If no flow is open, a greeting, thanks, a goodbye or an "all right" gets its short reply. Any other message
    is sent to NLU."""
    if not text.strip():
        count_as_miss(d)
        return
    if (name := command_of(tokens_of(text))) is not None:
        d.enter(Phase.UNDERSTANDING)
        apply_commands(d, (BY_NAME[name],))
        return
    if not d.s.stack and (polite := _courtesy_reply(d, text)):
        d.enter(Phase.UNDERSTANDING)
        apply_commands(d, polite)
        return
    ask_nlu(d, text)


def _courtesy_reply(d: DialogueDraft, text: str) -> tuple[Command, ...]:
    """The commands that reply to a greeting, thanks, a goodbye or an "all right"; after a greeting they also offer
    help. Empty if the message is something else, or if it is an example phrase of a flow."""
    kind = courtesy_of(tokens_of(text))
    if kind is None or any(example.casefold() == text.strip(" .,!?").casefold() for example in _examples(d)):
        return ()
    if kind == "farewell":
        return (Farewell(),)
    words = ChitChat(str(getattr(d.domain.patterns, "assent" if kind == "refusal" else kind)))
    return (words, Help()) if kind == "greeting" else (words,)


def _examples(d: DialogueDraft) -> Iterator[str]:
    return (example for flow in d.domain.offered for example in flow.examples)


def ask_nlu(d: DialogueDraft, text: str, *, is_aside: bool = False) -> None:
    d.enter(Phase.UNDERSTANDING)
    d.set(heard=text, last_nlu_call=d.at, is_aside=is_aside)
    d.request()
    d.effects.append(understanding(d.domain, d.s))


def count_as_miss(d: DialogueDraft) -> None:
    """Count a reply without usable content as not understood."""
    d.enter(Phase.UNDERSTANDING)
    miss(d)


# -- A reply to a question


def answer(d: DialogueDraft, text: str) -> None:
    """Handle the reply to an open question for a slot's value."""
    if not text.strip():
        count_as_miss(d)
    elif d.s.reading_back:
        _answer_read_back(d, text)
    else:
        _answer_question(d, text)


def question_of(d: DialogueDraft) -> Question:
    """The open question, with everything that helps to understand its answer."""
    slot = d.s.waiting_for
    assert slot is not None, d.s
    at = d.flow.program[d.top.at]
    offered = proposed(d, at) if isinstance(at, Collect) else None
    spec = d.spec(slot)
    return Question(
        spec.grammar_slot if d.s.among else slot_with_last_day(d.domain, d.top, spec),
        d.s.last_question,
        d.flow.description,
        offered,  # type: ignore[arg-type]
        d.s.among,
        tuple(other for other in empty_slots(d) if other.name != slot),
    )


def empty_slots(d: DialogueDraft) -> tuple[Slot, ...]:
    """The flow's unfilled slots that may be filled before the flow asks for them."""
    names = [name for name in d.flow.slots if d.top.filled(name) is None]
    return tuple(d.spec(name).grammar_slot for name in names if not d.spec(name).ask_before_filling)


def _answer_question(d: DialogueDraft, text: str) -> None:
    asked = question_of(d)
    if asked.slot.kind is not SlotKind.TEXT and _handle_other_slot(d, text):
        return
    reading = read(asked, text, d.today)
    match reading:
        case _ if d.s.among and _rejects_all(d, text):
            d.enter(Phase.UNDERSTANDING)
            say_no(d)
            continue_flow(d)
        case Direct() if _is_choice_of_other_slot(d, reading, text):
            correct_or_ask(d, text)
        case Direct():
            d.set(values=as_set_slots(reading.values, "grammar"), among=())
            validate_next(d)
        case Ambiguous():
            _answer_ambiguously(d, reading)
        case Commanded():
            d.enter(Phase.UNDERSTANDING)
            apply_commands(d, (BY_NAME[reading.name],))
        case Confirmation() if asked.proposed is None:
            d.enter(Phase.UNDERSTANDING)
            apply_commands(d, (Skip(),))  # "no, thanks" to an optional slot
        case Confirmation():
            d.enter(Phase.UNDERSTANDING)
            if reading.answer is ConfirmationAnswer.NO and not say_no(d):
                continue_flow(d)
        case Unclear() if asked.slot.kind is not SlotKind.YES_NO and has_no_preference(tokens_of(text), echo_of(asked)):
            d.enter(Phase.UNDERSTANDING)
            apply_commands(d, (Skip(),))  # "any" for a required slot: after `Skip` the agent says that it needs a value
        case Unclear():
            correct_or_ask(d, text)


def _handle_other_slot(d: DialogueDraft, text: str) -> bool:
    """If the message is about another slot than the one that is asked for, handle it and return True. Otherwise do
    nothing and return False. Examples: "the time is eight", where the number of people is asked for, or "no, New York",
    right after the answer "Boston"."""
    said = named_slot(d.domain, d.top, text, d.today)
    if said is not None and said[0] == d.s.waiting_for:
        return False
    if said is not None:
        found = (*_leading_yes(d, text), *said[1]) if said[1] else ()
    else:
        is_fresh = not (d.s.tries or d.s.among or d.s.reading_back or question_of(d).proposed is not None)
        found = last_answer_correction(d.domain, d.top, text, d.today, d.s.turn_count - 1) if is_fresh else ()
        found = tuple(one for one in found if not are_both_yes_no(d.domain, d.s.waiting_for, one.slot))
        if not found:
            return False
    if found:
        d.enter(Phase.UNDERSTANDING)
        apply_commands(d, found)
    else:
        ask_nlu(d, text)
    return True


def _leading_yes(d: DialogueDraft, text: str) -> tuple[SetSlot, ...]:
    """The value True for the open yes/no question, if the message begins with a yes, as in "yes, the reference is 55".
    Empty otherwise. A leading no isn't taken as the answer, because it may refer to an earlier question."""
    slot = question_of(d).slot
    is_yes = (
        slot.kind is SlotKind.YES_NO and opening_answer(tokens_of(text)) is True and trick_of(d.s.last_question) is None
    )
    return (SetSlot(slot.name, True, text, (0, len(text))),) if is_yes else ()


def _is_choice_of_other_slot(d: DialogueDraft, reading: Direct, text: str) -> bool:
    """Does the reply give a choice of another slot, although a name was asked for? Example: "in the garden", where the
    name of a guest is asked for. A name on the list of the asked slot is never taken for such a choice."""
    spec, value = d.spec(reading.values[0].slot), reading.values[0].value
    is_listed = spec.names is not None and value in spec.names.values.values()
    if spec.kind is not SlotKind.NAME or is_listed or value == ANY:
        return False
    choices = [d.spec(name) for name in d.flow.slots if name != spec.name and d.spec(name).kind is SlotKind.CHOICE]
    return any(isinstance(read(Question(one.grammar_slot), text, d.today), Direct) for one in choices)


def _answer_ambiguously(d: DialogueDraft, reading: Ambiguous) -> None:
    """Handle an answer that can mean several values: ask which one was meant, or take the first or the last, as the
    slot's `prefers` says."""
    prefers = d.spec(reading.slot).prefers
    if prefers == "ask":
        if d.s.among:  # the user was already asked which value was meant, and this reply doesn't say it
            count_try(d)
        d.set(among=reading.candidates, misses=0, silences=0)
        continue_flow(d)
        return
    value = reading.candidates[0 if prefers == "first" else -1]
    d.set(values=(SetSlot(reading.slot, value, reading.raw, reading.span),), among=())
    validate_next(d)


def _rejects_all(d: DialogueDraft, text: str) -> bool:
    """Does the reply reject all of the values that were offered?"""
    reading = read_confirmation("", text, d.today)
    is_no = isinstance(reading, Confirmation) and reading.answer is ConfirmationAnswer.NO
    return is_no or any(token.word in ("neither", "none") for token in tokens_of(text)[:2])


def correct_or_ask(d: DialogueDraft, text: str, *, is_aside: bool = False) -> None:
    """Apply the corrections in the message. If it contains none, and isn't a goodbye either, send it to NLU."""
    asked = d.s.waiting_for if d.s.waiting_for is not None and is_question_current(d) else None
    found: tuple[Command, ...] = ()
    if asked is not None and _is_about_open_question(d, asked, text):
        found = self_correction(d.domain, asked, text, d.today)
    found = found or tuple(
        one
        for one in corrections(d.domain, d.top, text, d.today)
        if not are_both_yes_no(d.domain, d.s.waiting_for, one.slot)
    )
    if not found and asked is not None:
        about = (d.domain, d.top, asked, text, d.today)
        found = (
            self_correction(d.domain, asked, text, d.today)
            or other_slot_corrections(*about)
            or other_day_or_time(*about)
        )
    if not found and _is_farewell(text):
        found = (Farewell(),)
    if found:
        d.enter(Phase.UNDERSTANDING)
        apply_commands(d, found)
    else:
        ask_nlu(d, text, is_aside=is_aside)


def _is_farewell(text: str) -> bool:
    return courtesy_of(tokens_of(text)) == "farewell"


def _is_about_open_question(d: DialogueDraft, asked: str, text: str) -> bool:
    """Is the correction about the open question, not about an earlier one? It is if it names the slot that is asked for
    ("wait, the reading is 24"), or if it names no slot and the last reply to the question was not understood."""
    said = named_slot(d.domain, d.top, text, d.today)
    return said[0] == asked if said is not None else d.s.misses > 0


def as_set_slots(values: tuple[Value, ...], source: str) -> tuple[SetSlot, ...]:
    return tuple(SetSlot(value.slot, value.value, value.raw, value.span, source) for value in values)


def _answer_read_back(d: DialogueDraft, text: str) -> None:
    """Handle the reply to the question whether a code was heard right. If the reply contains another code, that code
    replaces the one that was read back."""
    if (name := command_of(tokens_of(text))) is not None:
        d.enter(Phase.UNDERSTANDING)
        apply_commands(d, (BY_NAME[name],))
        return
    reading = read_confirmation(d.s.last_question, text, d.today)
    if isinstance(reading, Confirmation) and reading.answer is ConfirmationAnswer.YES:
        d.commitments.append(Commitment.YES)
        d.enter(Phase.VALIDATING_SLOT)
        accept(d, d.s.values[0].value)
        validate_next(d)
        return
    if isinstance(reading, Confirmation) and reading.answer is ConfirmationAnswer.NO:
        d.enter(Phase.UNDERSTANDING)
        say_no(d)
        continue_flow(d)
        return
    new = read(question_of(d), text, d.today)
    if isinstance(new, Direct):
        _replace_code(d, as_set_slots(new.values, "grammar"))
        return
    slot = d.s.values[0].slot
    said = named_slot(d.domain, d.top, text, d.today)
    if said is not None and said[0] != slot and said[1]:
        d.enter(Phase.UNDERSTANDING)
        apply_commands(d, said[1])
    elif found := self_correction(d.domain, slot, text, d.today):
        _replace_code(d, found)
    elif others := other_slot_corrections(d.domain, d.top, slot, text, d.today):
        d.enter(Phase.UNDERSTANDING)
        apply_commands(d, others)
    elif _rejects_code(d, text):
        d.enter(Phase.UNDERSTANDING)
        say_no(d)
        continue_flow(d)
    else:
        ask_nlu(d, text)


def _replace_code(d: DialogueDraft, values: tuple[SetSlot, ...]) -> None:
    """Put the new values in place of the code that is being read back. Other values that still have to be validated
    come after them."""
    new = {value.slot for value in values}
    d.set(values=(*values, *(value for value in d.s.values if value.slot not in new)), reading_back=False)
    validate_next(d)


def _rejects_code(d: DialogueDraft, text: str) -> bool:
    """Does the reply say that the code is wrong? Examples: "no, it ends in seven", "the number is wrong"."""
    tokens = tokens_of(text)
    begins = next((token.word for token in tokens if token.word not in FILLERS | POLITE), "")
    says_no = plain_answer(d.s.last_question, text, d.today) is ConfirmationAnswer.NO
    return (begins in DISSENT or says_no) and not asks(tokens)


# -- Messages that arrived while a request was running


def handle_queued_message(d: DialogueDraft, text: str) -> None:
    """Handle a message that was queued while a request was running. A command is applied. An empty message or a bare
    yes or no is dropped, because no question was open while the request was running. For any other message, it matters
    whether the question that is open now was already open before the request. If it was, the message is its answer. If
    not, the message is applied if it is a correction, and sent to NLU otherwise."""
    is_aside = d.is_question_new or d.s.is_aside
    name = command_of(tokens_of(text))
    if name is not None:
        d.enter(Phase.UNDERSTANDING)
        apply_commands(d, (BY_NAME[name],))
    elif not text.strip() or _is_bare_yes_or_no(d, text):
        d.note("answer_without_question")
    elif d.s.phase is Phase.WAITING_FOR_SLOT and not is_aside:
        answer(d, text)
    elif d.s.stack:
        correct_or_ask(d, text, is_aside=is_aside)
    elif _is_farewell(text):
        d.enter(Phase.UNDERSTANDING)
        apply_commands(d, (Farewell(),))
    else:
        ask_nlu(d, text, is_aside=is_aside)


def _is_bare_yes_or_no(d: DialogueDraft, text: str) -> bool:
    reading = read_confirmation("", text, d.today)
    return isinstance(reading, Confirmation) and reading.answer is not ConfirmationAnswer.CHANGE and not reading.values
