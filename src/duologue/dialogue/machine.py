"""One step of a dialogue: a state and an event make a state and effects.

Every row says in which phases an event means something and what is done then. Rule: an event that no row knows,
or that answers a request nobody waits for, changes nothing: the very same state comes back.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from .answers import answer, hear_aside, understand
from .apply_commands import obey, wait_on
from .commands import SetSlot
from .confirmation import answer_confirmation
from .draft import DialogueDraft
from .effects import DialogueEffect
from .events import (
    UNKNOWN_OUTCOME,
    ActionDone,
    DialogueEvent,
    FlowRequested,
    NothingSaid,
    Rejected,
    Understood,
    UserSaid,
    Validated,
    WorkFailed,
)
from .flow import Domain, PerformAction
from .recovery import answer_error
from .run_flow import fail, go_on, leave_all, leave_step, open_flow
from .stack import PROGRAM
from .state import BUSY, MESSAGES_MAX, DialogueMessage, DialogueState, Filled, Phase
from .unconfirmed_values import hear, tell
from .values import accept, reject, validate_next

P = Phase
TEXT_MAX = 4_000  # characters of a message that are kept and understood


@dataclass(frozen=True, slots=True)
class DialogueRow:
    """In one of these phases, this event does that."""

    name: str
    phases: tuple[Phase, ...]
    event: type[DialogueEvent]
    action: Callable[[DialogueDraft, Any], None]


# -- Actions


def _understand(d: DialogueDraft, e: UserSaid) -> None:
    understand(d, e.text)


def _answer(d: DialogueDraft, e: UserSaid) -> None:
    answer(d, e.text)


def _answer_confirmation(d: DialogueDraft, e: UserSaid) -> None:
    answer_confirmation(d, e.text)


def _answer_error(d: DialogueDraft, e: UserSaid) -> None:
    answer_error(d, e.text)


def _queue(d: DialogueDraft, e: UserSaid) -> None:
    """Somebody is at work: the message waits for its turn. One too many is refused, in words."""
    if len(d.s.queue) < d.domain.queue_max:
        d.set(queue=(*d.s.queue, e.text))
    else:
        d.note("message_refused")
        d.say(d.domain.patterns.busy)


def _note_silence(d: DialogueDraft, e: NothingSaid) -> None:  # noqa: ARG001
    wait_on(d)


def _start(d: DialogueDraft, e: FlowRequested) -> None:
    """Begin a flow. What the program brings for slots is checked like anything else; the rest is only carried."""
    if e.flow not in d.domain.flows:
        return
    given = [(name, value) for name, value in e.slots if value is not None]
    carried = tuple((name, Filled(value, source=PROGRAM)) for name, value in given if name not in d.domain.slots)
    if open_flow(d, e.flow, carried):
        d.set(values=tuple(SetSlot(name, value, source=PROGRAM) for name, value in given if name in d.domain.slots))
        validate_next(d)


def _obey(d: DialogueDraft, e: Understood) -> None:
    d.set(pending=0)
    obey(d, e.commands)


def _accept(d: DialogueDraft, e: Validated) -> None:
    d.set(pending=0)
    if not accept(d, e.value):
        validate_next(d)


def _reject(d: DialogueDraft, e: Rejected) -> None:
    d.set(pending=0)
    reject(d, e.reason)


def _end_action(d: DialogueDraft, e: ActionDone) -> None:
    """Keep what it returned and go on; or get what it still needs."""
    d.set(pending=0)
    at = d.flow.program[d.top.at]
    assert isinstance(at, PerformAction), at
    needs = tuple(slot for slot in e.needs if slot in d.domain.slots and d.top.filled(slot) is None)
    if needs:
        d.set_top(needs=needs)
    elif e.confirm and at.step not in d.top.confirmed:
        d.set_top(confirm=e.confirm)
    elif e.needs or e.confirm:
        fail(d, "ActionGoesRound", f"action {at.action} asks for what it was given")
        return
    else:
        leave_step(d, e.outputs, at)
    go_on(d)


def _fail(d: DialogueDraft, e: WorkFailed) -> None:
    d.set(pending=0)
    at = d.flow.program[d.top.at] if d.s.stack else None
    is_failure = e.type != UNKNOWN_OUTCOME  # else nobody may say that it has not happened
    if is_failure and d.s.phase is P.EXECUTING_ACTION and isinstance(at, PerformAction) and at.on_failure is not None:
        d.note("action_failed", type=e.type)
        d.set_top(at=at.on_failure, is_acting=False, needs=(), confirm="")
        go_on(d)
        return
    fail(d, e.type, e.message)


ROWS: tuple[DialogueRow, ...] = (
    DialogueRow("a message is understood", (P.IDLE,), UserSaid, _understand),
    DialogueRow("a reply to the question", (P.WAITING_FOR_SLOT,), UserSaid, _answer),
    DialogueRow("a reply to a confirmation", (P.CONFIRMING,), UserSaid, _answer_confirmation),
    DialogueRow("a message after an error", (P.ERROR,), UserSaid, _answer_error),
    DialogueRow("a message while somebody works", BUSY, UserSaid, _queue),
    DialogueRow("no reply", (P.WAITING_FOR_SLOT, P.CONFIRMING), NothingSaid, _note_silence),
    DialogueRow("the program starts a flow", (P.IDLE,), FlowRequested, _start),
    DialogueRow("what was meant", (P.UNDERSTANDING,), Understood, _obey),
    DialogueRow("a value may be written", (P.VALIDATING_SLOT,), Validated, _accept),
    DialogueRow("a value may not be written", (P.VALIDATING_SLOT,), Rejected, _reject),
    DialogueRow("an action is done", (P.EXECUTING_ACTION,), ActionDone, _end_action),
    DialogueRow("the work failed", BUSY, WorkFailed, _fail),
)
_TABLE: dict[tuple[Phase, type], DialogueRow] = {(phase, row.event): row for row in ROWS for phase in row.phases}
assert len(_TABLE) == sum(len(row.phases) for row in ROWS), "two rows for the same event in the same phase"


def row_for(state: DialogueState, event: DialogueEvent) -> DialogueRow | None:
    """The row that this event takes in this state."""
    row = _TABLE.get((state.phase, type(event)))
    if row is None or getattr(event, "request", state.pending) != state.pending:
        return None
    return row


def step(
    domain: Domain, state: DialogueState, event: DialogueEvent
) -> tuple[DialogueState, tuple[DialogueEffect, ...]]:
    """What comes of an event. A state in which it means nothing is returned as it is. Raises if there is a mistake in
    here, so that whoever looks for one finds it."""
    row = row_for(state, event)
    if row is None:
        return state, ()
    draft = DialogueDraft(domain, state, event.at, _today(state, event))
    if isinstance(event, UserSaid):
        event = _heard(draft, event)
    row.action(draft, event)
    _take_queue(draft)
    tell(draft)
    return draft.finish()


def guarded_step(
    domain: Domain, state: DialogueState, event: DialogueEvent
) -> tuple[DialogueState, tuple[DialogueEffect, ...]]:
    """The same for people: a mistake in here is an error like others (D-11). One in an error ends everything that is
    open, so that nobody is caught in it."""
    try:
        return step(domain, state, event)
    except Exception as mistake:  # noqa: BLE001 - whatever it is, somebody waits for an answer
        draft = DialogueDraft(domain, state, event.at, _today(state, event))
        draft.set(queue=())  # one of them may have been the cause
        if state.phase is P.ERROR:
            leave_all(draft)
            draft.enter(P.IDLE)
            draft.say(domain.patterns.gave_up)
        else:
            fail(draft, type(mistake).__name__, f"a mistake in the dialogue itself: {mistake}"[:300])
        return draft.finish()


def _today(state: DialogueState, event: DialogueEvent) -> str:
    return event.today if isinstance(event, UserSaid) else dict(state.metadata).get("today", "")


def _heard(d: DialogueDraft, e: UserSaid) -> UserSaid:
    """A message begins a turn, whatever becomes of it."""
    text = e.text[:TEXT_MAX]
    hear(d)
    said = DialogueMessage("user", text, e.at)
    d.set(turn_count=d.s.turn_count + 1, acts=0, messages=(*d.s.messages, said)[-MESSAGES_MAX:])
    d.set(metadata=tuple({**dict(d.s.metadata), "today": e.today}.items()))
    return replace(e, text=text)


def _take_queue(d: DialogueDraft) -> None:
    """What was said while somebody worked is heard as soon as nobody does."""
    while d.s.queue and d.s.phase not in BUSY:
        text, rest = d.s.queue[0], d.s.queue[1:]
        d.set(queue=rest)
        hear_aside(d, text)
    if d.s.phase not in BUSY:
        d.set(is_aside=False)
