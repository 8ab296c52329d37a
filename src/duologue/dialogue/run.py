"""Going on with a flow: from one step to the next, until somebody has to be waited for.

Rule: a walk ends in a question, a request, an error or at rest, after a bounded number of steps: a flow that
goes round without asking is an error with the name of its step.
"""

from __future__ import annotations

from .depends import dependants, unconfirm, unconfirm_behind
from .draft import Draft
from .flow import Act, Assign, Call, Collect, Confirm, End, Jump, JumpUnless, Link, Say
from .phrases import either, spelled, spoken
from .requests import action
from .state import Filled, Instance, Phase, Trouble, put, values_of, without

ACTS_MAX = 100  # for one message
STEPS_MAX = 500  # without asking anybody
DEPTH_MAX = 20  # flows within flows


def go_on(d: Draft) -> None:
    """Walk on from where the open flow is."""
    for _ in range(STEPS_MAX):
        if not d.s.stack:
            d.enter(Phase.IDLE)
            return
        if not _take_step(d):
            return
    step = d.flow.program[d.top.at].step
    d.hush()
    fail(d, "FlowLoops", f"flow {d.top.flow} goes round at {step} without asking anything")


def _take_step(d: Draft) -> bool:
    """One step; False if it has to wait."""
    at = d.flow.program[d.top.at]
    if at.step not in d.top.visited:
        d.set_top(visited=(*d.top.visited, at.step))
    d.keep("step")
    if d.s.reading_back and d.s.values:
        ask_slot(d, Collect(at.step, d.s.values[0].slot))
        return False
    missing = next((slot for slot in d.top.needs if d.top.filled(slot) is None), None)
    if missing is not None:
        ask_slot(d, Collect(at.step, missing))
        return False
    match at:
        case Collect():
            if d.top.filled(at.slot) is not None:
                return _advance(d)
            ask_slot(d, at)
            return False
        case Say():
            d.say(at.text, barge_in=at.barge_in)
            return _advance(d)
        case Assign():
            for name, value in at.values:
                _assign(d, name, value)
            return _advance(d)
        case Jump():
            if at.to <= d.top.at:
                unconfirm_behind(d, at.to)
            d.set_top(at=at.to)
            return True
        case JumpUnless():
            d.set_top(at=d.top.at + 1 if at.condition.holds(_values(d)) else at.to)
            return True
        case Act():
            if d.top.failed:
                stay_in_error(d)
            elif d.top.confirm and at.step not in d.top.confirmed:
                ask_confirmation(d, None)
            else:
                act(d, at)
            return False
        case Confirm():
            if at.step in d.top.confirmed:
                return _advance(d)
            ask_confirmation(d, at)
            return False
        case Call():
            return _call(d, at)
        case Link():
            wanted = d.domain.flows[at.flow].slots
            given = tuple((name, filled) for name, filled in d.top.slots if name in wanted)
            called = d.top.called
            _keep_slots(d)
            d.set(stack=d.s.stack[:-1])
            return open_flow(d, at.flow, given, called=called)
        case End():
            return end_flow(d)


def _assign(d: Draft, name: str, value: object) -> None:
    """The flow itself writes a slot: what depended on another value goes with it."""
    before = d.top.filled(name)
    write(d, name, value, source="flow")
    if before is not None and before.value != value:
        emptied = dependants(d.domain, name)
        d.set_top(slots=without(d.top.slots, emptied))
        unconfirm(d, frozenset((*emptied, name)), emptied)


def _values(d: Draft) -> dict[str, object]:
    return dict(values_of(d.top.slots))


def _advance(d: Draft) -> bool:
    d.set_top(at=d.top.at + 1, needs=(), confirm="", is_acting=False, failed=False)
    d.set(misses=0, silences=0)
    return True


def write(d: Draft, name: str, value: object, source: str, raw: str = "", span: tuple[int, int] = (0, 0)) -> None:
    """Fill a slot of the open flow; None empties it."""
    if value is None:
        d.set_top(slots=without(d.top.slots, frozenset((name,))))
        return
    filled = Filled(value, raw, span, source, turn=d.s.turn_count)  # type: ignore[arg-type]
    d.set_top(slots=put(d.top.slots, name, filled))


# -- Asking


def ask_slot(d: Draft, at: Collect) -> None:
    """Ask for a slot: its prompt, or the next words of its ladder."""
    spec, patterns = d.spec(at.slot), d.domain.patterns
    if at.slot not in d.top.asked:
        d.set_top(asked=(*d.top.asked, at.slot))
    d.enter(Phase.WAITING_FOR_SLOT)
    d.set(waiting_for=at.slot, pending=0)
    prompt, more = at.prompt or spec.prompt, {"proposed": proposed(d, at)}
    if at.proposed and more["proposed"] is None:
        prompt = spec.prompt  # there is nothing to propose, or it was just refused
    if d.s.reading_back:
        value = next((item.value for item in d.s.values), None)
        prompt, more = patterns.read_back, {"value": spelled(str(value))}
    elif d.s.among:
        prompt, more = patterns.ambiguous, {"value": either([spoken(value) for value in d.s.among])}
    ladder, count = (spec.silence_prompts, d.s.silences) if d.s.silences else (spec.reprompts, d.s.misses)
    if count and not d.s.among and not d.s.reading_back:
        if ladder:
            prompt = ladder[min(count, len(ladder)) - 1]
        else:
            d.say(patterns.silence if d.s.silences else patterns.reprompt)
    d.set(last_question=d.say(prompt, asks=True, barge_in=spec.barge_in, **more))


def proposed(d: Draft, at: Collect) -> object:
    """The value that a question offers, if it still does."""
    if not at.proposed or d.s.unproposed:
        return None
    filled = d.top.filled(at.proposed)
    return filled.value if filled is not None else None


def ask_confirmation(d: Draft, at: Confirm | None) -> None:
    """Ask for a yes: a step's own question, or that of an action that wants one."""
    d.enter(Phase.CONFIRMING)
    d.set(waiting_for=None, pending=0)
    text = at.text if at is not None else d.top.confirm
    if d.s.misses:
        d.say(d.domain.patterns.unconfirmed)
    if d.s.silences:
        d.say(d.domain.patterns.silence)
    d.set(last_question=d.say(text, asks=True, barge_in=at.barge_in if at is not None else True))


def rest(d: Draft) -> None:
    """Wait for an answer to the question that was open, without asking it again."""
    if not d.s.stack:
        d.enter(Phase.IDLE)
    elif d.top.failed and not d.s.reading_back:
        d.enter(Phase.ERROR)
    elif d.s.waiting_for is not None:
        d.enter(Phase.WAITING_FOR_SLOT)
    else:
        d.enter(Phase.CONFIRMING)


def question_stands(d: Draft) -> bool:
    """Is what was asked last still what this step wants to know?"""
    slot, at = d.s.waiting_for, d.flow.program[d.top.at]
    if slot is None:
        return is_confirming(d)
    if d.s.reading_back and d.s.values:
        return d.s.values[0].slot == slot
    is_asked = slot in d.top.needs or (isinstance(at, Collect) and at.slot == slot)
    return is_asked and d.top.filled(slot) is None


def is_confirming(d: Draft) -> bool:
    """Is the open question one for a yes?"""
    at = d.flow.program[d.top.at]
    wants_yes = isinstance(at, Confirm) or (isinstance(at, Act) and bool(d.top.confirm))
    return wants_yes and d.s.waiting_for is None and at.step in d.top.visited


# -- Acting


def act(d: Draft, at: Act) -> None:
    """Run an action. The key is that of this visit of this step, however often it is tried."""
    if d.s.acts >= ACTS_MAX:
        d.hush()
        fail(d, "FlowLoops", f"flow {d.top.flow} acts {ACTS_MAX} times at {at.step} without asking anything")
        return
    d.enter(Phase.EXECUTING_ACTION)
    d.set(acts=d.s.acts + 1)
    if not d.top.is_acting:
        d.set_top(runs=d.top.runs + 1, is_acting=True)
        d.say(at.waiting)
    d.keep("before_action")
    d.set(waiting_for=None)
    d.request()
    d.effects.append(action(d.domain, d.s))


# -- Flows within flows


def open_flow(d: Draft, name: str, slots: tuple[tuple[str, Filled], ...] = (), *, called: bool = False) -> bool:
    """Put a flow on top of the others."""
    if len(d.s.stack) >= DEPTH_MAX:
        fail(d, "FlowsTooDeep", f"{DEPTH_MAX} flows are open within each other")
        return False
    d.set(instances=d.s.instances + 1)
    d.set(stack=(*d.s.stack, Instance(d.s.instances, name, slots=slots, called=called)))
    d.set(misses=0, silences=0, among=(), unproposed=False)
    d.note("flow_started", flow=name)
    return True


def _call(d: Draft, at: Call) -> bool:
    given = tuple((theirs, filled) for ours, theirs in at.gives if (filled := d.top.filled(ours)) is not None)
    return open_flow(d, at.flow, given, called=True)


def _keep_slots(d: Draft) -> None:
    for name, filled in d.top.slots:
        d.set(kept=put(d.s.kept, name, filled))


def leave_step(d: Draft, outputs: tuple[tuple[str, object], ...], at: Act) -> None:
    """An action is done: keep what it returned, and go on behind it."""
    names = dict(at.outputs)
    for name, value in outputs:
        if not names or name in names:
            write(d, names.get(name, name), value, source="action")
    _advance(d)


def end_flow(d: Draft, said: str = "", is_cancelled: bool = False) -> bool:
    """The open flow is over; its slots are kept, and the one below goes on."""
    ended, flow = d.top, d.flow
    words = said or ("" if is_cancelled else flow.completed or d.domain.patterns.completed)
    d.say(words)
    if len(d.s.stack) == 1 and not d.says_something:
        d.say(d.domain.patterns.ended)
    d.enter(Phase.COMPLETED)
    _keep_slots(d)
    d.set(stack=d.s.stack[:-1], waiting_for=None, pending=0, misses=0, silences=0)
    d.set(among=(), values=(), reading_back=False)
    d.note("flow_cancelled" if is_cancelled else "flow_completed", flow=ended.flow)
    if not d.s.stack:
        return True
    below = d.flow.program[d.top.at]
    if ended.called and isinstance(below, Call):
        for theirs, ours in below.takes:
            if (filled := ended.filled(theirs)) is not None:
                d.set_top(slots=put(d.top.slots, ours, filled))
        if is_cancelled:
            return end_flow(d, is_cancelled=True)
        _advance(d)
    else:
        d.say(d.domain.patterns.back_to)
    return True


def leave_all(d: Draft) -> None:
    """Every open flow is over, without a word; what they collected is kept."""
    if not d.s.stack:
        return
    d.enter(Phase.COMPLETED)
    for instance in d.s.stack:
        for name, filled in instance.slots:
            d.set(kept=put(d.s.kept, name, filled))
        d.note("flow_cancelled", flow=instance.flow)
    d.set(stack=(), waiting_for=None, pending=0, misses=0, silences=0)
    d.set(among=(), values=(), reading_back=False, trouble=None)


# -- Trouble


def fail(d: Draft, kind: str, message: str) -> None:
    """Something went wrong: say so, and remember where to go on (D-11)."""
    recovery = d.s.phase if d.s.phase not in (Phase.COMPLETED, Phase.ERROR) else Phase.UNDERSTANDING
    if d.s.phase is Phase.EXECUTING_ACTION:
        d.set_top(failed=True)
    d.enter(Phase.ERROR)
    d.set(trouble=Trouble(kind, message, d.at, recovery), pending=0)
    d.note("error", type=kind, message=message)
    d.say(d.domain.patterns.failed, asks=True)


def stay_in_error(d: Draft) -> None:
    """An action has failed, and nobody has said to try it again."""
    if d.s.trouble is None:
        d.set(trouble=Trouble("ActionFailed", "an action failed before", d.at, Phase.EXECUTING_ACTION))
    d.enter(Phase.ERROR)
    d.set(pending=0)
    d.say(d.domain.patterns.failed, asks=True)
