"""Doing what the person wants: every command, one after the other.

Rule: whatever is obeyed, the open question is asked again at the end, or another one, or the dialogue is at rest.
"""

from __future__ import annotations

from .commands import (
    Affirm,
    Back,
    Cancel,
    ChitChat,
    ClearSlot,
    Command,
    CorrectSlot,
    Deny,
    Handoff,
    Help,
    Repeat,
    Restart,
    SetSlot,
    Skip,
    StartFlow,
    Wait,
)
from .draft import DialogueDraft
from .english import ANY, SlotKind
from .english.carrier_words import FILLERS, POLITE
from .english.courtesy import courtesy_of
from .english.free_text import worded
from .english.questions import asks
from .english.tokens import tokens_of
from .flow import Collect, Confirm, PerformAction
from .prompts import count_try, is_confirming, proposed, question_stands, rest
from .requests import open_now
from .run_flow import end_flow, fail, go_on, hand_over, open_flow, write
from .stack import begin_anew, keep_slots, return_to
from .state import Instance, Phase, without
from .unconfirmed_values import confirm, is_checking, is_part, let_stand
from .values import accept, take_back, validate_next


def obey(d: DialogueDraft, commands: tuple[Command, ...]) -> None:
    """Do all of it; nothing understood is a miss."""
    started = {command.flow for command in commands if isinstance(command, StartFlow)}
    known = [command for command in commands if _is_known(d, command, started)]
    if not known:
        if not _take_words(d):
            miss(d)
        return
    d.set(misses=0, silences=0)
    if isinstance(known[0], Repeat):
        repeat(d)
        return
    if known == [Wait()]:
        _give_time(d)
        return
    values: list[SetSlot | CorrectSlot] = [one for one in known if isinstance(one, SetSlot | CorrectSlot)]
    is_open = any(isinstance(command, StartFlow) and command.flow in open_now(d.s) for command in known)
    for command in known:
        if not isinstance(command, SetSlot | CorrectSlot) and _obey(d, command, values):
            return
    if values and d.s.stack and is_checking(d):
        let_stand(d)  # one was put right, and not the others
    if values:
        new = {value.slot for value in values}
        left = (value for value in d.s.values if value.slot not in new)  # what is still read back, or waits behind that
        d.set(values=(*values, *left), reading_back=False)
        validate_next(d)
    elif d.s.values and not d.s.reading_back:
        validate_next(d)
    else:
        if is_open:  # the open task was named and nothing else: no answer
            count_try(d)
        go_on(d)


def _take_words(d: DialogueDraft) -> bool:
    """Whatever is said to a question for free text is its answer, if nobody knows better. A question is none."""
    slot, words = d.s.waiting_for, " ".join(d.s.heard.split())
    if slot is None or d.s.is_aside or d.spec(slot).kind is not SlotKind.TEXT or d.top.failed or not question_stands(d):
        return False
    tokens = tokens_of(words)
    if not words or asks(tokens) or courtesy_of(tokens) in ("thanks", "farewell", "greeting"):
        return False
    if tokens and all(token.low in POLITE | FILLERS for token in tokens):
        return False
    first, after = worded(tokens, d.spec(slot).asked)
    start = tokens[first].start if first else 0
    end = tokens[after - 1].end if after < len(tokens) else len(words)
    d.set(values=(SetSlot(slot, words[start:end], words[start:end], (start, end)),))
    validate_next(d)
    return True


def _is_known(d: DialogueDraft, command: Command, started: set[str]) -> bool:
    """Names that nobody has, or that are not open now, are as good as not understood."""
    offered = {flow.name for flow in d.domain.offered}
    match command:
        case StartFlow():
            return command.flow in offered
        case SetSlot() | CorrectSlot() | ClearSlot():
            flows = (started & offered) | ({d.top.flow} if d.s.stack else set())
            wanted = {slot for name in flows for slot in d.domain.flows[name].slots}
            return command.slot in wanted or (d.s.stack != () and command.slot in d.top.needs)
        case Affirm() | Deny():
            return bool(d.s.stack)
    return True


def _obey(d: DialogueDraft, command: Command, values: list[SetSlot | CorrectSlot]) -> bool:
    """One command. True if it has taken the dialogue where it must stay for now."""
    match command:
        case StartFlow():
            if not return_to(d, command.flow):
                return not open_flow(d, command.flow)
        case ClearSlot():
            if d.s.stack and d.top.filled(command.slot) is not None:
                d.set_top(slots=without(d.top.slots, frozenset((command.slot,))))
                take_back(d, command.slot, is_empty=True)
        case Affirm():
            return say_yes(d, values)
        case Deny():
            return not values and say_no(d)
        case Cancel():
            cancel(d)
        case Restart():
            _start_over(d)
        case Back():
            _go_back(d)
        case Skip():
            _skip(d)
        case Help():
            _help(d)
        case ChitChat():
            d.say(command.text or d.domain.patterns.chit_chat)
            if not d.s.stack and not command.text:
                _help(d)
        case Handoff():
            hand_over(d)
            d.enter(Phase.IDLE)
            return True
    return False


# -- Yes and no


def say_yes(d: DialogueDraft, values: list[SetSlot | CorrectSlot]) -> bool:
    """Yes to the open question; a proposed value joins the others. True if it was no question for a yes."""
    at = d.flow.program[d.top.at]
    d.set(misses=0, silences=0)
    if d.s.reading_back and d.s.values:
        d.enter(Phase.VALIDATING_SLOT)
        accept(d, d.s.values[0].value)
    elif is_confirming(d) and is_checking(d):
        confirm(d, d.top.confirm)
        d.set_top(confirm="")
        d.set(tries=0)
    elif is_confirming(d):
        confirm(d, at.text if isinstance(at, Confirm) else d.top.confirm)
        d.set_top(confirmed=(*d.top.confirmed, at.step))
        d.set(tries=0)
        d.note("confirmed", step=at.step)
    elif isinstance(at, Collect) and (value := proposed(d, at)) is not None:
        values.insert(0, SetSlot(at.slot, value, source="proposal"))  # type: ignore[arg-type]
    elif not values:
        miss(d)
        return True
    return False


def say_no(d: DialogueDraft) -> bool:
    """No to the open question. True if it was no question for a no."""
    at = d.flow.program[d.top.at]
    d.set(misses=0, silences=0)
    if d.s.reading_back:
        d.set(reading_back=False, values=())
        count_try(d)
    elif d.s.among:
        d.set(among=())
        count_try(d)
    elif is_confirming(d) and isinstance(at, Confirm) and at.on_no is not None:
        d.set(tries=0)
        if at.on_no <= d.top.at:  # back to the questions: they are open again
            asked = {one.slot for one in d.flow.program[at.on_no : d.top.at] if isinstance(one, Collect)}
            d.set_top(slots=without(d.top.slots, frozenset(asked)))
        d.set_top(at=at.on_no)
    elif is_confirming(d) and is_checking(d):
        _drop_parts(d)
    elif is_confirming(d):
        cancel(d)
    elif isinstance(at, Collect) and proposed(d, at) is not None:
        d.set(unproposed=True)
    else:
        miss(d)
        return True
    return False


def _drop_parts(d: DialogueDraft) -> None:
    """What was picked out of a message was not meant: it is asked for, one by one."""
    wrong = [name for name, filled in d.top.slots if is_part(filled)]
    d.set_top(confirm="")
    d.set(tries=0)
    for name in wrong:
        d.set_top(slots=without(d.top.slots, frozenset((name,))))
        take_back(d, name, is_empty=True)


# -- The rest


def cancel(d: DialogueDraft) -> None:
    """The open flow is dropped; its slots are kept for reference."""
    if not d.s.stack:
        d.say(d.domain.patterns.nothing_to_cancel)
        return
    end_flow(d, d.domain.patterns.cancelled, is_cancelled=True)


def _start_over(d: DialogueDraft) -> None:
    if d.s.stack:
        begin_anew(d)
    else:
        _help(d)


def repeat(d: DialogueDraft) -> None:
    """Say it again, word for word."""
    was_asked = d.s.last_response.endswith(d.s.last_question)
    if d.s.stack and not d.top.failed and not (question_stands(d) and was_asked):
        go_on(d)
        return
    if d.s.last_response:
        d.say(d.s.last_response, asks=bool(d.s.stack))
    else:
        _help(d)
    rest(d)


def _give_time(d: DialogueDraft) -> None:
    """The person needs a moment: the question stays, and is not asked again. One that is new has to be asked."""
    if d.is_unheard or (d.s.stack and not d.top.failed and not question_stands(d)):
        go_on(d)
        return
    d.say(d.domain.patterns.wait, asks=bool(d.s.stack))
    rest(d)


def _go_back(d: DialogueDraft) -> None:
    """Ask the question before this one again; out of a called flow that has none, that of the one that called it.
    Before a code is read back, it is asked for."""
    if d.s.reading_back:
        d.set(reading_back=False, values=())
        return
    left = next((place for place in range(len(d.s.stack), 0, -1) if _goes_back_to(d, place)), 0)
    if not left:
        d.say(d.domain.patterns.nothing_before)
        return
    keep_slots(d, *d.s.stack[left:])
    d.set(stack=d.s.stack[:left])
    slot = _answered(d, d.top)[-1]
    d.set_top(slots=without(d.top.slots, frozenset((slot,))))
    d.set(among=(), reading_back=False, values=())
    take_back(d, slot, is_empty=True)
    d.set_top(needs=() if slot in d.flow.slots else (slot,))


def _answered(d: DialogueDraft, instance: Instance) -> list[str]:
    """The questions that were answered, but for the open one."""
    waiting_for = d.s.waiting_for if instance is d.s.stack[-1] else None
    return [slot for slot in instance.asked if slot != waiting_for and instance.filled(slot) is not None]


def _goes_back_to(d: DialogueDraft, size: int) -> bool:
    """Has the flow on top of so many an answer, and has nothing been asked or done above it that a way back repeats?"""
    above = d.s.stack[size:]
    is_fresh = all(one.called and not _answered(d, one) and not _has_acted(d, one) for one in above)
    return is_fresh and bool(_answered(d, d.s.stack[size - 1]))


def _has_acted(d: DialogueDraft, instance: Instance) -> bool:
    program = d.domain.flows[instance.flow].program
    return any(isinstance(at, PerformAction) and at.step in instance.visited for at in program)


def _skip(d: DialogueDraft) -> None:
    """Leave a question open; or a change that was being asked about."""
    slot = d.s.waiting_for
    if slot is None or not d.s.stack:
        _help(d)
        return
    is_change = d.top.filled(slot) is not None
    if not is_change and not d.spec(slot).is_optional:
        d.say(d.domain.patterns.not_skippable)
        return
    if not is_change:
        write(d, slot, ANY, source="skipped")
    d.set(among=(), reading_back=False, values=(), unproposed=False)
    d.say(d.domain.patterns.skipped)


def _help(d: DialogueDraft) -> None:
    slot = d.s.waiting_for
    if slot is not None and d.spec(slot).help:
        d.say(d.spec(slot).help)
    elif d.s.stack:
        d.say(d.domain.patterns.help_open)
    else:
        offers = ", ".join(flow.description for flow in d.domain.offered)
        d.say(d.domain.patterns.help, flows=offers)


def miss(d: DialogueDraft) -> None:
    """Nobody could tell what was meant: help where nothing is open, otherwise ask again (D-12)."""
    if not d.s.stack:
        d.say(d.domain.patterns.not_understood)
        _help(d)
        d.enter(Phase.IDLE)
        return
    if d.top.failed and not d.s.reading_back:
        go_on(d)  # no question was missed: there is an error to decide about
        return
    if d.s.is_aside:  # no answer to the open question, which comes only now
        d.say(d.domain.patterns.reprompt)
    else:
        count_try(d, misses=d.s.misses + 1)
    go_on(d)


def wait_on(d: DialogueDraft) -> None:
    """Nobody answered."""
    count_try(d, silences=d.s.silences + 1)
    go_on(d)


__all__ = ["cancel", "fail", "hand_over", "miss", "obey", "repeat", "say_no", "say_yes", "wait_on"]
