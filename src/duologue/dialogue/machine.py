"""One step of a dialogue: takes a state and an event, returns the new state and effects.

Each row of `ROWS` says in which phases an event is handled, and how. Rule: an event that no row covers, or that has an
outdated request number, changes nothing. The same state object is then returned.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from .answers import answer, handle_queued_message
from .apply_commands import apply_commands
from .commands import AnswerQuestion, SetSlot
from .confirmation import answer_confirmation
from .doubt import decide, is_doubtful
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
    UserMessage,
    Validated,
    WorkFailed,
)
from .flow import AnswerFromFaq, Domain, PerformAction
from .found_choices import with_found_choices
from .idle_messages import understand
from .not_understood import count_silence
from .recovery import answer_error
from .run_flow import continue_flow, end_all_flows, fail, finish_action, finish_look_up, open_flow
from .stack import PROGRAM
from .state import BUSY, MESSAGES_MAX, DialogueMessage, DialogueState, Filled, Phase
from .unconfirmed_values import accept_on_reply, announce
from .values import accept, reject, validate_next

P = Phase
TEXT_MAX = 4_000  # longer messages are cut to this many characters


@dataclass(frozen=True, slots=True)
class DialogueRow:
    """In each of the `phases`, an event of type `event` is handled by `action`."""

    name: str
    phases: tuple[Phase, ...]
    event: type[DialogueEvent]
    action: Callable[[DialogueDraft, Any], None]


# -- Actions


def _understand(d: DialogueDraft, e: UserMessage) -> None:
    understand(d, e.text)


def _answer(d: DialogueDraft, e: UserMessage) -> None:
    answer(d, e.text)


def _answer_confirmation(d: DialogueDraft, e: UserMessage) -> None:
    answer_confirmation(d, e.text)


def _answer_error(d: DialogueDraft, e: UserMessage) -> None:
    answer_error(d, e.text)


def _queue(d: DialogueDraft, e: UserMessage) -> None:
    """A request is running: put the message into the queue. If the queue is full, or the message was heard with low
    confidence, refuse the message and say so."""
    if len(d.s.queue) < d.domain.queue_max and not is_doubtful(d.domain, e):
        d.set(queue=(*d.s.queue, e.text))
    else:
        d.note("message_refused")
        d.say(d.domain.patterns.busy)


def _note_silence(d: DialogueDraft, e: NothingSaid) -> None:  # noqa: ARG001
    count_silence(d)


def _start(d: DialogueDraft, e: FlowRequested) -> None:
    """Start a flow with the values that your program gives. Values for declared slots are validated like values from
    the user. Values with other names are stored unchanged."""
    if e.flow not in d.domain.flows or d.domain.list_of_item(e.flow) is not None:
        return
    given = [(name, value) for name, value in e.slots if value is not None]
    carried = tuple((name, Filled(value, source=PROGRAM)) for name, value in given if name not in d.domain.slots)
    if open_flow(d, e.flow, carried):
        d.set(values=tuple(SetSlot(name, value, source=PROGRAM) for name, value in given if name in d.domain.slots))
        validate_next(d)


def _apply(d: DialogueDraft, e: Understood) -> None:
    d.set(pending=0)
    at = d.flow.program[d.top.at] if d.s.stack else None
    if isinstance(at, AnswerFromFaq):
        found = (one.entry for one in e.commands if isinstance(one, AnswerQuestion))
        finish_look_up(d, at, next((entry for entry in found if 0 <= entry < len(d.domain.faq)), None))
        continue_flow(d)
        return
    apply_commands(d, e.commands)


def _accept(d: DialogueDraft, e: Validated) -> None:
    d.set(pending=0)
    if not accept(d, e.value):
        validate_next(d)


def _reject(d: DialogueDraft, e: Rejected) -> None:
    d.set(pending=0)
    reject(d, e.reason)


def _end_action(d: DialogueDraft, e: ActionDone) -> None:
    """An action has returned: store its results and continue the flow. If the action still needs something, ask the
    user for it."""
    d.set(pending=0)
    at = d.flow.program[d.top.at]
    assert isinstance(at, PerformAction), at
    needs = tuple(slot for slot in e.needs if slot in d.domain.slots and d.top.filled(slot) is None)
    if needs:
        d.set_top(needs=needs)
    elif e.confirm and at.step not in d.top.confirmed:
        d.set_top(confirm=e.confirm)
    elif e.needs or e.confirm:
        fail(d, "ActionLoops", f"action {at.action} asks for something that it was already given")
        return
    else:
        finish_action(d, e.outputs, at)
    continue_flow(d)


def _fail(d: DialogueDraft, e: WorkFailed) -> None:
    d.set(pending=0)
    if d.s.is_doubtful:  # so that a retry asks for the message again
        d.set(heard="", values=d.s.values if d.s.reading_back else ())
    at = d.flow.program[d.top.at] if d.s.stack else None
    is_failure = e.type != UNKNOWN_OUTCOME  # otherwise it may have succeeded, so `on_failure` doesn't apply
    if is_failure and d.s.phase is P.EXECUTING_ACTION and isinstance(at, PerformAction) and at.on_failure is not None:
        d.note("action_failed", type=e.type)
        d.set_top(at=at.on_failure, is_acting=False, needs=(), confirm="")
        continue_flow(d)
        return
    fail(d, e.type, e.message)


ROWS: tuple[DialogueRow, ...] = (
    DialogueRow("a message when nothing is open", (P.IDLE,), UserMessage, _understand),
    DialogueRow("a reply to the question", (P.WAITING_FOR_SLOT,), UserMessage, _answer),
    DialogueRow("a reply to a confirmation", (P.CONFIRMING,), UserMessage, _answer_confirmation),
    DialogueRow("a message after an error", (P.ERROR,), UserMessage, _answer_error),
    DialogueRow("a message while a request is running", BUSY, UserMessage, _queue),
    DialogueRow("no reply", (P.WAITING_FOR_SLOT, P.CONFIRMING), NothingSaid, _note_silence),
    DialogueRow("the program starts a flow", (P.IDLE,), FlowRequested, _start),
    DialogueRow("a message was understood", (P.UNDERSTANDING,), Understood, _apply),
    DialogueRow("a value is valid", (P.VALIDATING_SLOT,), Validated, _accept),
    DialogueRow("a value is invalid", (P.VALIDATING_SLOT,), Rejected, _reject),
    DialogueRow("an action is done", (P.EXECUTING_ACTION,), ActionDone, _end_action),
    DialogueRow("a request failed", BUSY, WorkFailed, _fail),
)
_TABLE: dict[tuple[Phase, type], DialogueRow] = {(phase, row.event): row for row in ROWS for phase in row.phases}
assert len(_TABLE) == sum(len(row.phases) for row in ROWS), "two rows for the same event in the same phase"


def row_for(state: DialogueState, event: DialogueEvent) -> DialogueRow | None:
    """The row that says how to handle this event in this state; None if the event is ignored."""
    row = _TABLE.get((state.phase, type(event)))
    if row is None or getattr(event, "request", state.pending) != state.pending:
        return None
    return row


def step(
    domain: Domain, state: DialogueState, event: DialogueEvent
) -> tuple[DialogueState, tuple[DialogueEffect, ...]]:
    """The new state and the effects of an event. If the event is ignored, the same state object is returned. A bug in
    the dialogue raises an exception, so production code must use `guarded_step`."""
    row = row_for(state, event)
    if row is None:
        return state, ()
    draft = DialogueDraft(with_found_choices(domain, state), state, event.at, _today(state, event))
    if isinstance(event, UserMessage):
        event = _begin_turn(draft, event)
    draft = decide(draft, lambda d: row.action(d, event))
    _take_queue(draft)
    announce(draft)
    return draft.finish()


def guarded_step(
    domain: Domain, state: DialogueState, event: DialogueEvent
) -> tuple[DialogueState, tuple[DialogueEffect, ...]]:
    """Like `step`, but a bug in the dialogue leads to the error phase, where the user can retry or cancel. A bug in the
    error phase itself ends all open flows, so that the user is never stuck there."""
    try:
        return step(domain, state, event)
    except Exception as mistake:  # noqa: BLE001 - the user waits for an answer, whatever failed
        draft = DialogueDraft(with_found_choices(domain, state), state, event.at, _today(state, event))
        draft.set(queue=())  # a queued message may be the cause
        if state.phase is P.ERROR:
            end_all_flows(draft)
            draft.enter(P.IDLE)
            draft.say(domain.patterns.gave_up)
        else:
            fail(draft, type(mistake).__name__, f"bug in the dialogue: {mistake}"[:300])
        return draft.finish()


def _today(state: DialogueState, event: DialogueEvent) -> str:
    return event.today if isinstance(event, UserMessage) else dict(state.metadata).get("today", "")


def _begin_turn(d: DialogueDraft, e: UserMessage) -> UserMessage:
    """Begin a turn and record the user's message. Returns the event with its text cut to TEXT_MAX characters."""
    text, is_unclear = e.text[:TEXT_MAX], is_doubtful(d.domain, e)
    if d.s.phase not in BUSY:
        d.set(is_doubtful=is_unclear)
    if not is_unclear:
        accept_on_reply(d)
    said = DialogueMessage("user", text, e.at)
    d.set(turn_count=d.s.turn_count + 1, acts=0, messages=(*d.s.messages, said)[-MESSAGES_MAX:])
    d.set(metadata=tuple({**dict(d.s.metadata), "today": e.today}.items()))
    return replace(e, text=text)


def _take_queue(d: DialogueDraft) -> None:
    """Handle the queued messages one by one, until the queue is empty or a request is running."""
    if d.s.phase not in BUSY:
        d.set(is_doubtful=False)
    while d.s.queue and d.s.phase not in BUSY:
        text, rest = d.s.queue[0], d.s.queue[1:]
        d.set(queue=rest)
        handle_queued_message(d, text)
    if d.s.phase not in BUSY:
        d.set(is_aside=False)
