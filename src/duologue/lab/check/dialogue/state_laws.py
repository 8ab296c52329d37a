"""The laws that the state of a dialogue must keep after every event.

Rule: the state alone shows what is open and what comes next.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import TypeAlias

from duologue.dialogue.codec import BadCheckpoint, from_json, to_json
from duologue.dialogue.flow import Assign, Collect, Confirm, Domain, PerformAction
from duologue.dialogue.item_lists import draft_in, items_in
from duologue.dialogue.requests import request_of
from duologue.dialogue.run_flow import DEPTH_MAX
from duologue.dialogue.state import BUSY, MESSAGES_MAX, TRACE_MAX, DialogueState, Phase

from .laws import name_of
from .observed_step import at_of
from .program_paths import slots_before

StateLaw: TypeAlias = Callable[[Domain, DialogueState], Iterator[str]]


def never_stuck(domain: Domain, state: DialogueState) -> Iterator[str]:
    """Check three things. A request is running in exactly those phases that wait for the result of a request. Messages
    are queued only in those phases. The dialogue doesn't stay in the phase "completed"."""
    if state.phase is Phase.COMPLETED:
        yield "the dialogue stays in completed"
    if state.phase in BUSY:
        if not state.pending or request_of(domain, state) is None:
            yield f"the phase is {state.phase}, but no request is running"
    elif state.pending or state.queue:
        yield f"the phase is {state.phase}, but a request or queued messages are left"


def the_question_fits_the_step(domain: Domain, state: DialogueState) -> Iterator[str]:
    top = state.top
    at = at_of(domain, top) if top is not None else None
    if state.phase is Phase.WAITING_FOR_SLOT:
        slot = state.waiting_for
        reads_back = state.reading_back and bool(state.values) and state.values[0].slot == slot
        collects = isinstance(at, Collect) and at.slot == slot
        needed = top is not None and slot in top.needs
        if top is None or slot is None or not (reads_back or collects or needed):
            yield f"{slot} is awaited, but the step is {at.step if at else 'none'}"
        elif top.filled(slot) is not None and not reads_back:
            yield f"{slot} is awaited, but already filled"
    if state.phase is Phase.CONFIRMING:
        asks = isinstance(at, Confirm) or (isinstance(at, PerformAction) and top is not None and bool(top.confirm))
        if not asks or state.waiting_for is not None:
            yield f"a confirmation is awaited, but the step is {at.step if at else 'none'}"
    if state.phase is Phase.EXECUTING_ACTION and not (
        isinstance(at, PerformAction) and top is not None and top.is_acting
    ):
        yield "an action runs that the step doesn't have"
    if state.phase is Phase.IDLE and state.stack:
        yield "idle, but a flow is open"


def nothing_is_left_over(domain: Domain, state: DialogueState) -> Iterator[str]:
    """Check that data about a question, an action or an error is removed when the question, action or error is over."""
    if state.phase is Phase.IDLE:
        for name in ("waiting_for", "among", "reading_back", "values", "misses", "silences", "tries"):
            if getattr(state, name):
                yield f"{name} is left over after the last flow"
    for one in state.stack:
        if not isinstance(at_of(domain, one), PerformAction):
            for name in ("needs", "confirm", "is_acting"):
                if getattr(one, name):
                    yield f"{name} of an action is left over at another step"
    if state.reading_back and not state.values:
        yield "a read-back without a value"
    if state.reading_back and state.phase is Phase.CONFIRMING:
        yield "a read-back while another confirmation is awaited"
    if state.phase is Phase.ERROR and state.trouble is None:
        yield "the error phase without an error"
    if state.trouble is not None and state.phase not in (Phase.ERROR, *BUSY):
        yield f"an error is left over in {state.phase}"
    if state.trouble is not None and state.trouble.recovery is Phase.ERROR:
        yield "the recovery phase of an error is the error phase"


def candidates_belong_to_the_open_question(domain: Domain, state: DialogueState) -> Iterator[str]:
    if not state.among:
        return
    if state.waiting_for is None:
        yield "candidates without a question"
        return
    spec = domain.slots[state.waiting_for]
    if spec.choices and any(value not in [choice.value for choice in spec.choices] for value in state.among):
        yield f"the candidates are not values of {spec.name}"
    shapes = {"time": ":", "date": "-"}
    sign = shapes.get(spec.kind.value)
    if sign is not None and any(sign not in str(value) for value in state.among):
        yield f"the candidates are not values of {spec.name}"
    if spec.kind.value in ("number", "yes_no") and any(isinstance(value, str) for value in state.among):
        yield f"the candidates are not values of {spec.name}"


def an_action_has_what_its_flow_asked_for(domain: Domain, state: DialogueState) -> Iterator[str]:
    """Check that, if every path to an action passes a question, the slot of that question is filled when the action
    runs."""
    if state.phase is not Phase.EXECUTING_ACTION or state.top is None:
        return
    top, program = state.top, domain.flows[state.top.flow].program
    emptied = {name for at in program if isinstance(at, Assign) for name, value in at.values if value is None}
    for slot in slots_before(program, top.at):
        if top.filled(slot) is None and slot not in emptied:
            yield f"{at_of(domain, top).step} runs without {slot}"


def a_checkpoint_restores_the_same_state(domain: Domain, state: DialogueState) -> Iterator[str]:
    """Check that a checkpoint restores the same state, and that the restored state waits for the same request."""
    try:
        again = from_json(domain, json.loads(json.dumps(to_json(domain, state))))
    except BadCheckpoint as refusal:
        yield f"a checkpoint is refused: {refusal}"
        return
    if again != state:
        yield "a checkpoint restores a different state"
    elif request_of(domain, again) != request_of(domain, state):
        yield "a restored checkpoint waits for another request"


def everything_is_bounded(domain: Domain, state: DialogueState) -> Iterator[str]:
    sizes: tuple[tuple[str, int, int], ...] = (
        ("messages", len(state.messages), MESSAGES_MAX),
        ("trace", len(state.trace), TRACE_MAX),
        ("queue", len(state.queue), domain.queue_max),
        ("stack", len(state.stack), DEPTH_MAX),
        ("misses", state.misses, domain.misses_max),
        ("silences", state.silences, domain.misses_max),
        ("tries", state.tries, domain.tries_max),
    )
    for one in state.stack:
        for name, filled in (*one.slots, *one.lists):
            if name in domain.slots and domain.slots[name].items:
                held = (
                    draft_in(one, name).size
                    if (name, filled) in one.lists
                    else len(items_in(filled.value, domain.slots[name]))
                )
                sizes = (*sizes, (f"items in {name}", held, domain.slots[name].items_max))
    for name, size, most in sizes:
        if size > most:
            yield f"{size} {name}, more than the limit of {most}"


def a_flow_is_started_once(domain: Domain, state: DialogueState) -> Iterator[str]:  # noqa: ARG001
    """Check that a flow is on the stack only once, unless another flow calls it."""
    begun = [one.flow for one in state.stack if not one.called]
    if len(set(begun)) < len(begun):
        yield f"a flow is open twice: {', '.join(begun)}"


STATE_LAWS: tuple[StateLaw, ...] = (
    never_stuck,
    the_question_fits_the_step,
    nothing_is_left_over,
    candidates_belong_to_the_open_question,
    an_action_has_what_its_flow_asked_for,
    a_checkpoint_restores_the_same_state,
    everything_is_bounded,
    a_flow_is_started_once,
)


def state_complaints(
    domain: Domain, state: DialogueState, without: tuple[StateLaw, ...] = ()
) -> Iterator[tuple[str, str]]:
    """Check all laws about one state, except those in `without`. Yields (name of the law, what is wrong)."""
    for law in STATE_LAWS:
        if law in without:
            continue
        for message in law(domain, state):
            yield name_of(law), message
