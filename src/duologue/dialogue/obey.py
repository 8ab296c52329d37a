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
    SetSlot,
    Skip,
    StartFlow,
)
from .draft import Draft
from .effects import HandOver
from .flow import Act, Collect, Confirm
from .grammars import ANY
from .run import end_flow, fail, go_on, open_flow, proposed, rest, write
from .state import Phase, without
from .values import take_back, validate_next


def obey(d: Draft, commands: tuple[Command, ...]) -> None:
    """Do all of it; nothing understood is a miss."""
    known = [command for command in commands if _is_known(d, command)]
    if not known:
        miss(d)
        return
    d.set(misses=0, silences=0)
    if isinstance(known[0], Repeat):
        repeat(d)
        return
    values: list[SetSlot | CorrectSlot] = []
    for command in known:
        if isinstance(command, SetSlot | CorrectSlot):
            values.append(command)
        elif _obey(d, command):
            return
    d.set(values=tuple(values))
    validate_next(d)


def _is_known(d: Draft, command: Command) -> bool:
    """Names that nobody has are as good as not understood."""
    match command:
        case StartFlow():
            return command.flow in d.domain.flows
        case SetSlot() | CorrectSlot() | ClearSlot():
            return command.slot in d.domain.slots
        case Affirm() | Deny():
            return bool(d.s.stack)
    return True


def _obey(d: Draft, command: Command) -> bool:
    """One command. True if it has taken the dialogue where it must stay for now."""
    patterns = d.domain.patterns
    match command:
        case StartFlow():
            if not d.s.stack or d.top.flow != command.flow:
                return not open_flow(d, command.flow)
        case ClearSlot():
            if d.s.stack and d.top.filled(command.slot) is not None:
                d.set_top(slots=without(d.top.slots, frozenset((command.slot,))))
                take_back(d, command.slot)
        case Affirm():
            return say_yes(d)
        case Deny():
            return say_no(d)
        case Cancel():
            cancel(d)
        case Back():
            _go_back(d)
        case Skip():
            _skip(d)
        case Help():
            _help(d)
        case ChitChat():
            d.say(command.text or patterns.chit_chat)
        case Handoff():
            hand_over(d)
            return True
    return False


# -- Yes and no


def say_yes(d: Draft) -> bool:
    """Yes to the open question. True if that leads on by itself."""
    at = d.flow.program[d.top.at]
    if isinstance(at, Confirm) or (isinstance(at, Act) and d.top.confirm):
        d.set_top(confirmed=(*d.top.confirmed, at.step))
        d.note("confirmed", step=at.step)
        return False
    if isinstance(at, Collect) and (value := proposed(d, at)) is not None:
        d.set(values=(SetSlot(at.slot, value, source="proposal"),))  # type: ignore[arg-type]
        validate_next(d)
        return True
    miss(d)
    return True


def say_no(d: Draft) -> bool:
    at = d.flow.program[d.top.at]
    if isinstance(at, Confirm) and at.on_no is not None:
        d.set_top(at=at.on_no)
        return False
    if isinstance(at, Confirm) or (isinstance(at, Act) and d.top.confirm):
        cancel(d)
        return False
    if isinstance(at, Collect) and proposed(d, at) is not None:
        d.set(unproposed=True)
        return False
    miss(d)
    return True


# -- The rest


def cancel(d: Draft) -> None:
    """The open flow is dropped; its slots are kept for reference."""
    if not d.s.stack:
        d.say(d.domain.patterns.nothing_to_cancel)
        return
    end_flow(d, d.domain.patterns.cancelled, is_cancelled=True)


def repeat(d: Draft) -> None:
    """Say it again, word for word."""
    d.say(d.s.last_response, asks=bool(d.s.stack))
    rest(d)


def _go_back(d: Draft) -> None:
    """Ask the question before this one again."""
    if not d.s.stack:
        return
    before = [slot for slot in d.top.asked if slot != d.s.waiting_for and d.top.filled(slot) is not None]
    if not before:
        d.say(d.domain.patterns.nothing_before)
        return
    slot = before[-1]
    d.set_top(slots=without(d.top.slots, frozenset((slot,))))
    take_back(d, slot)
    place = next(at for at, step in enumerate(d.flow.program) if isinstance(step, Collect) and step.slot == slot)
    d.set_top(at=min(d.top.at, place))
    d.set(among=(), reading_back=False, values=())


def _skip(d: Draft) -> None:
    slot = d.s.waiting_for
    if slot is None or not d.s.stack:
        return
    if d.spec(slot).is_optional:
        write(d, slot, ANY, source="skipped")
        d.say(d.domain.patterns.skipped)
    else:
        d.say(d.domain.patterns.not_skippable)


def _help(d: Draft) -> None:
    slot = d.s.waiting_for
    if slot is not None and d.spec(slot).help:
        d.say(d.spec(slot).help)
    elif d.s.stack:
        d.say(d.domain.patterns.help_open)
    else:
        offers = ", ".join(flow.description for flow in d.domain.offered)
        d.say(d.domain.patterns.help, flows=offers)


def hand_over(d: Draft) -> None:
    """A person takes over; what was collected is kept for them."""
    d.say(d.domain.patterns.handoff)
    d.effects.append(HandOver())
    while d.s.stack:
        end_flow(d, said=" ", is_cancelled=True)
    d.enter(Phase.IDLE)


def miss(d: Draft) -> None:
    """Nobody could tell what was meant: help where nothing is open, otherwise ask again (D-12)."""
    if not d.s.stack:
        d.say(d.domain.patterns.not_understood)
        _help(d)
        d.enter(Phase.IDLE)
        return
    d.set(misses=d.s.misses + 1, silences=0)
    ask_or_give_up(d, d.s.misses)


def ask_or_give_up(d: Draft, times: int) -> None:
    if times <= d.domain.misses_max:
        go_on(d)
        return
    d.note("gave_up", slot=d.s.waiting_for or "")
    d.set(misses=0, silences=0)
    if d.domain.gives_up_by == "handoff":
        hand_over(d)
    else:
        end_flow(d, d.domain.patterns.gave_up, is_cancelled=True)
        go_on(d)


__all__ = ["ask_or_give_up", "cancel", "fail", "hand_over", "miss", "obey", "repeat", "say_no", "say_yes"]
