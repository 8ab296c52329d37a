"""What a message means where it was said: an answer, a yes, a correction, a command, or something for NLU
(D-04, D-05).

Rule: the grammars come first; only what they don't wholly understand costs a request.
"""

from __future__ import annotations

from collections.abc import Iterator

from .apply_commands import miss, obey, say_no
from .commands import BY_NAME, ChitChat, Command, Help, SetSlot, Skip
from .corrections import corrections, elsewhere, is_other_yes, last_answer, named, other_moment, put_right
from .draft import DialogueDraft
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
    plainly,
    read,
    read_confirmation,
)
from .english import SpokenCommand as Commanded
from .english.carrier_words import DISSENT, FILLERS, POLITE
from .english.commands import command_of
from .english.courtesy import courtesy_of
from .english.explained_words import echo_of
from .english.no_preference import is_anything
from .english.questions import asks
from .english.tokens import tokens_of
from .english.yes_no import opening, trick_of
from .flow import Collect
from .prompts import count_try, proposed, question_stands
from .reference_day import asked_after
from .requests import understanding
from .run_flow import go_on
from .state import Phase
from .values import accept, validate_next


def understand(d: DialogueDraft, text: str) -> None:
    """Ask NLU, unless it is plainly about the conversation itself."""
    if not text.strip():
        missed(d)
        return
    if (name := command_of(tokens_of(text))) is not None:
        d.enter(Phase.UNDERSTANDING)
        obey(d, (BY_NAME[name],))
        return
    if not d.s.stack and (polite := _returned(d, text)):
        d.enter(Phase.UNDERSTANDING)
        obey(d, polite)
        return
    ask_nlu(d, text)


def _returned(d: DialogueDraft, text: str) -> tuple[Command, ...]:
    """A courtesy is returned, unless a task begins with just these words; whoever says hello is told what there is."""
    kind = courtesy_of(tokens_of(text))
    if kind is None or any(example.casefold() == text.strip(" .,!?").casefold() for example in _examples(d)):
        return ()
    words = ChitChat(str(getattr(d.domain.patterns, kind)))
    return (words, Help()) if kind == "greeting" else (words,)


def _examples(d: DialogueDraft) -> Iterator[str]:
    return (example for flow in d.domain.offered for example in flow.examples)


def ask_nlu(d: DialogueDraft, text: str, *, is_aside: bool = False) -> None:
    d.enter(Phase.UNDERSTANDING)
    d.set(heard=text, last_nlu_call=d.at, is_aside=is_aside)
    d.request()
    d.effects.append(understanding(d.domain, d.s))


def missed(d: DialogueDraft) -> None:
    """Nothing to go by."""
    d.enter(Phase.UNDERSTANDING)
    miss(d)


# -- A reply to a question


def answer(d: DialogueDraft, text: str) -> None:
    """A reply while a slot is awaited."""
    if not text.strip():
        missed(d)
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
        spec.asked if d.s.among else asked_after(d.domain, d.top, spec),
        d.s.last_question,
        d.flow.description,
        offered,  # type: ignore[arg-type]
        d.s.among,
        tuple(other for other in empty_slots(d) if other.name != slot),
    )


def empty_slots(d: DialogueDraft) -> tuple[Slot, ...]:
    """What the flow has still to be told, and may be told now."""
    names = [name for name in d.flow.slots if d.top.filled(name) is None]
    return tuple(d.spec(name).asked for name in names if not d.spec(name).ask_before_filling)


def _answer_question(d: DialogueDraft, text: str) -> None:
    asked = question_of(d)
    if asked.slot.kind is not SlotKind.TEXT and _is_about_another(d, text):
        return
    reading = read(asked, text, d.today)
    match reading:
        case _ if d.s.among and _is_neither(d, text):
            d.enter(Phase.UNDERSTANDING)
            say_no(d)
            go_on(d)
        case Direct() if _is_of_a_list(d, reading, text):
            correct_or_ask(d, text)
        case Direct():
            d.set(values=given(reading.values, "grammar"), among=())
            validate_next(d)
        case Ambiguous():
            _answer_ambiguously(d, reading)
        case Commanded():
            d.enter(Phase.UNDERSTANDING)
            obey(d, (BY_NAME[reading.name],))
        case Confirmation() if asked.proposed is None:
            d.enter(Phase.UNDERSTANDING)
            obey(d, (Skip(),))  # "no, thanks" to what may be left open
        case Confirmation():
            d.enter(Phase.UNDERSTANDING)
            if reading.answer is ConfirmationAnswer.NO and not say_no(d):
                go_on(d)
        case Unclear() if asked.slot.kind is not SlotKind.YES_NO and is_anything(tokens_of(text), echo_of(asked)):
            d.enter(Phase.UNDERSTANDING)
            obey(d, (Skip(),))  # any value will do, but this one is needed
        case Unclear():
            correct_or_ask(d, text)


def _is_about_another(d: DialogueDraft, text: str) -> bool:
    """ "The time is eight" where people are counted; "no, New York" right after Boston: it isn't the answer to this
    question, and is done or handed on."""
    said = named(d.domain, d.top, text, d.today)
    if said is not None and said[0] == d.s.waiting_for:
        return False
    if said is not None:
        found = (*_yes_before(d, text), *said[1]) if said[1] else ()
    else:
        is_fresh = not (d.s.tries or d.s.among or d.s.reading_back or question_of(d).proposed is not None)
        found = last_answer(d.domain, d.top, text, d.today, d.s.turn_count - 1) if is_fresh else ()
        found = tuple(one for one in found if not is_other_yes(d.domain, d.s.waiting_for, one.slot))
        if not found:
            return False
    if found:
        d.enter(Phase.UNDERSTANDING)
        obey(d, found)
    else:
        ask_nlu(d, text)
    return True


def _yes_before(d: DialogueDraft, text: str) -> tuple[SetSlot, ...]:
    """The yes that another value comes with: "yes, the reference is 55". A no may be said of what was before."""
    slot = question_of(d).slot
    is_yes = slot.kind is SlotKind.YES_NO and opening(tokens_of(text)) is True and trick_of(d.s.last_question) is None
    return (SetSlot(slot.name, True, text, (0, len(text))),) if is_yes else ()


def _is_of_a_list(d: DialogueDraft, reading: Direct, text: str) -> bool:
    """Is a name that no list has one of another slot's choices: "in the garden", where a guest is asked for?"""
    spec, value = d.spec(reading.values[0].slot), reading.values[0].value
    is_listed = spec.names is not None and value in spec.names.values.values()
    if spec.kind is not SlotKind.NAME or is_listed or value == ANY:
        return False
    choices = [d.spec(name) for name in d.flow.slots if name != spec.name and d.spec(name).kind is SlotKind.CHOICE]
    return any(isinstance(read(Question(one.asked), text, d.today), Direct) for one in choices)


def _answer_ambiguously(d: DialogueDraft, reading: Ambiguous) -> None:
    """Ask which; or take the one that this slot prefers."""
    prefers = d.spec(reading.slot).prefers
    if prefers == "ask":
        if d.s.among:  # it was asked which, and this is no answer to that
            count_try(d)
        d.set(among=reading.candidates, misses=0, silences=0)
        go_on(d)
        return
    value = reading.candidates[0 if prefers == "first" else -1]
    d.set(values=(SetSlot(reading.slot, value, reading.raw, reading.span),), among=())
    validate_next(d)


def _is_neither(d: DialogueDraft, text: str) -> bool:
    """Is it none of those that were asked about?"""
    reading = read_confirmation("", text, d.today)
    is_no = isinstance(reading, Confirmation) and reading.answer is ConfirmationAnswer.NO
    return is_no or any(token.low in ("neither", "none") for token in tokens_of(text)[:2])


def correct_or_ask(d: DialogueDraft, text: str, *, is_aside: bool = False) -> None:
    """A correction is made; anything else is for NLU."""
    asked = d.s.waiting_for if d.s.waiting_for is not None and question_stands(d) else None
    found: tuple[Command, ...] = ()
    if asked is not None and _is_of_question(d, asked, text):
        found = put_right(d.domain, asked, text, d.today)
    found = found or tuple(
        one
        for one in corrections(d.domain, d.top, text, d.today)
        if not is_other_yes(d.domain, d.s.waiting_for, one.slot)
    )
    if not found and asked is not None:
        about = (d.domain, d.top, asked, text, d.today)
        found = put_right(d.domain, asked, text, d.today) or elsewhere(*about) or other_moment(*about)
    if found:
        d.enter(Phase.UNDERSTANDING)
        obey(d, found)
    else:
        ask_nlu(d, text, is_aside=is_aside)


def _is_of_question(d: DialogueDraft, asked: str, text: str) -> bool:
    """Is a turn about the open question rather than an earlier one: by its name, "wait, the reading is 24", or because
    the last reply to it was not understood?"""
    said = named(d.domain, d.top, text, d.today)
    return said[0] == asked if said is not None else d.s.misses > 0


def given(values: tuple[Value, ...], source: str) -> tuple[SetSlot, ...]:
    return tuple(SetSlot(value.slot, value.value, value.raw, value.span, source) for value in values)


def _answer_read_back(d: DialogueDraft, text: str) -> None:
    """Was a code heard right? A new one is as good as a no."""
    if (name := command_of(tokens_of(text))) is not None:
        d.enter(Phase.UNDERSTANDING)
        obey(d, (BY_NAME[name],))
        return
    reading = read_confirmation(d.s.last_question, text, d.today)
    if isinstance(reading, Confirmation) and reading.answer is ConfirmationAnswer.YES:
        d.enter(Phase.VALIDATING_SLOT)
        accept(d, d.s.values[0].value)
        validate_next(d)
        return
    if isinstance(reading, Confirmation) and reading.answer is ConfirmationAnswer.NO:
        d.enter(Phase.UNDERSTANDING)
        say_no(d)
        go_on(d)
        return
    new = read(question_of(d), text, d.today)
    if isinstance(new, Direct):
        _hear_anew(d, given(new.values, "grammar"))
        return
    slot = d.s.values[0].slot
    said = named(d.domain, d.top, text, d.today)
    if said is not None and said[0] != slot and said[1]:
        d.enter(Phase.UNDERSTANDING)
        obey(d, said[1])
    elif found := put_right(d.domain, slot, text, d.today):
        _hear_anew(d, found)
    elif others := elsewhere(d.domain, d.top, slot, text, d.today):
        d.enter(Phase.UNDERSTANDING)
        obey(d, others)
    elif _is_no_to_code(d, text):
        d.enter(Phase.UNDERSTANDING)
        say_no(d)
        go_on(d)
    else:
        ask_nlu(d, text)


def _hear_anew(d: DialogueDraft, values: tuple[SetSlot, ...]) -> None:
    """Another code in place of the one that is read back; what else was heard waits behind it."""
    new = {value.slot for value in values}
    d.set(values=(*values, *(value for value in d.s.values if value.slot not in new)), reading_back=False)
    validate_next(d)


def _is_no_to_code(d: DialogueDraft, text: str) -> bool:
    """ "No, it ends in seven", "the number is wrong": whatever else is said, it was not heard right."""
    tokens = tokens_of(text)
    begins = next((token.low for token in tokens if token.low not in FILLERS | POLITE), "")
    says_no = plainly(d.s.last_question, text, d.today) is ConfirmationAnswer.NO
    return (begins in DISSENT or says_no) and not asks(tokens)


# -- What was said while somebody worked


def hear_aside(d: DialogueDraft, text: str) -> None:
    """A command or a correction is obeyed; a yes or no was said of nothing, and the rest goes to NLU. It is no answer
    to a question that was not asked yet; to one that was open all the while it is."""
    is_aside = d.is_unheard or d.s.is_aside
    name = command_of(tokens_of(text))
    if name is not None:
        d.enter(Phase.UNDERSTANDING)
        obey(d, (BY_NAME[name],))
    elif not text.strip() or _is_bare_yes_or_no(d, text):
        d.note("said_of_nothing")
    elif d.s.phase is Phase.WAITING_FOR_SLOT and not is_aside:
        answer(d, text)
    elif d.s.stack:
        correct_or_ask(d, text, is_aside=is_aside)
    else:
        ask_nlu(d, text, is_aside=is_aside)


def _is_bare_yes_or_no(d: DialogueDraft, text: str) -> bool:
    reading = read_confirmation("", text, d.today)
    return isinstance(reading, Confirmation) and reading.answer is not ConfirmationAnswer.CHANGE and not reading.values


__all__ = ["answer", "ask_nlu", "correct_or_ask", "hear_aside", "question_of", "understand"]
