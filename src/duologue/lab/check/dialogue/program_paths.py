"""Paths through a flow's program: what must have happened before an instruction is reached.

Reads the program as a graph and knows nothing about how programs are run. Rule: a step must have happened before an
instruction if the instruction can't be reached without passing this step.
"""

from __future__ import annotations

from collections.abc import Iterator

from duologue.dialogue.flow import (
    Collect,
    Confirm,
    End,
    HandOff,
    Instruction,
    Jump,
    JumpUnless,
    LinkFlow,
    PerformAction,
)

Program = tuple[Instruction, ...]
_FOUND: dict[tuple[int, int], tuple[Program, tuple[str, ...], tuple[str, ...]]] = {}


def yeses_before(program: Program, place: int) -> tuple[str, ...]:
    """The steps that the user must have confirmed before this instruction runs: those that are on every path to it. A
    confirmation is left out if a final action (one that can't be undone) has used it up before the instruction is
    reached."""
    return _before(program, place)[1]


def slots_before(program: Program, place: int) -> tuple[str, ...]:
    """The slots that every path to this instruction asks for."""
    return _before(program, place)[2]


def _before(program: Program, place: int) -> tuple[Program, tuple[str, ...], tuple[str, ...]]:
    known = _FOUND.get((id(program), place))
    if known is not None and known[0] is program:
        return known
    yeses, slots = [], []
    for number, at in enumerate(program):
        if isinstance(at, Confirm | Collect) and number != place and not _reaches(program, place, without=number):
            if isinstance(at, Confirm):
                yeses += [] if _is_used_up(program, number, place) else [at.step]
            else:
                slots.append(at.slot)
    found = (program, tuple(yeses), tuple(slots))
    _FOUND[(id(program), place)] = found
    return found


def _is_used_up(program: Program, confirm: int, place: int) -> bool:
    """Is this confirmation used up before this instruction runs? Yes, if a final action (one that can't be undone)
    comes between the two and is on every path to the instruction."""
    between = range(confirm + 1, place)
    finals = [at for at in between if isinstance(one := program[at], PerformAction) and one.is_final]
    return any(not _reaches(program, place, without=at) for at in finals)


def _reaches(program: Program, goal: int, without: int) -> bool:
    seen, waiting = {0}, [0]
    while waiting:
        place = waiting.pop()
        if place == goal:
            return True
        for after in _after(program, place, is_closed=place == without):
            if after not in seen:
                seen.add(after)
                waiting.append(after)
    return False


def _after(program: Program, place: int, is_closed: bool) -> Iterator[int]:
    """The indices of the instructions that can run directly after this one. If `is_closed`, only the targets of jumps
    are returned, not the next instruction of the program."""
    at = program[place]
    if isinstance(at, Jump):
        yield at.to
        return
    if not is_closed and not isinstance(at, End | LinkFlow | HandOff):
        yield place + 1
    if isinstance(at, JumpUnless):
        yield at.to
    if isinstance(at, Confirm) and at.on_no is not None:
        yield at.on_no
    if isinstance(at, PerformAction) and at.on_failure is not None:
        yield at.on_failure
