"""The hard assertions on a call: which tools were called, what was said, and which data the call ended with.

Rule: each assertion that doesn't hold is reported in one sentence. If nothing is reported, all assertions hold.
"""

from __future__ import annotations

import json
from typing import Any

from duologue.observe import signals as sg
from duologue.ports.brain import ShowsForm
from duologue.ports.history import AgentSaid, CallOutput, UserSaid
from duologue.ports.tool_call import ToolCall
from duologue.runtime.call_data import data_to_json

from ..observed_call import ObservedCall
from .suite import HardAssertions


def broken_assertions(call: ObservedCall, wanted: HardAssertions) -> list[str]:
    """A sentence for each assertion that doesn't hold after this call."""
    calls, heard = calls_of(call), " ".join(call.heard)
    names = [one.name for one in calls]
    broken = [
        f"{one.tool} was not called with {json.dumps(one.arguments)}"
        for one in wanted.called
        if not any(made.name == one.tool and _has(made, one.arguments) for made in calls)
    ]
    broken += [f"{name} was called" for name in wanted.not_called if name in names]
    broken += [f"never heard: {pattern.pattern}" for pattern in wanted.heard if not pattern.search(heard)]
    broken += [f"said: {pattern.pattern}" for pattern in wanted.never_said if pattern.search(heard)]
    for name, value in (wanted.data or {}).items():
        reached = data_of(call).get(name, "")
        broken += [] if reached == value else [f"{name} is {reached!r}, not {value!r}"]
    broken += [
        f"promised ({promise.said.pattern}), but {promise.then_called} was not called"
        for promise in wanted.promises
        if promise.said.search(heard) and promise.then_called not in names
    ]
    if wanted.ended is not None and (call.conversation.phase == "idle") is not wanted.ended:
        broken.append("the agent did not end the call" if wanted.ended else "the agent ended the call")
    lost = [text for signal in call.signals if isinstance(signal, sg.Lost) for text in signal.texts]
    broken += [f"got no answer: {lost}"] if wanted.nothing_lost and lost else []
    return broken


def calls_of(call: ObservedCall) -> list[ToolCall]:
    """The tool calls that got an output."""
    outputs = {item.call for item in call.history if isinstance(item, CallOutput)}
    said = [item for item in call.history if isinstance(item, AgentSaid)]
    return [made for item in said for number, made in item.calls if number in outputs]


def data_of(call: ObservedCall) -> dict[str, str]:
    """The data of the call as text: the fields of the program's own data, by their paths (such as `order.day`), and the
    slots of the form that a flow fills in."""
    brain = call.conversation.agent.thinker
    form = brain.form(call.conversation.id) if isinstance(brain, ShowsForm) else None
    slots = {slot.name: slot.value for slot in form.slots} if form is not None else {}
    return {**_fields_of(data_to_json(call.context.data)), **slots}


def _fields_of(data: Any, place: str = "") -> dict[str, str]:
    """Every field of this JSON as text, by its path, such as `order.day`. A list becomes one text: its items, separated
    by commas."""
    if isinstance(data, dict):
        inner = [_fields_of(value, f"{place}.{name}" if place else name) for name, value in data.items()]
        return {name: text for one in inner for name, text in one.items()}
    return {place: _as_text(data)}


def _as_text(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(_as_text, value))
    return value if isinstance(value, str) else "" if value is None else json.dumps(value, ensure_ascii=False)


def transcript_of(call: ObservedCall) -> str:
    """The transcript of the call, for a judge and for reports."""
    lines = []
    for item in call.history:
        match item:
            case UserSaid():
                lines.append(f"caller: {item.text}")
            case AgentSaid():
                cut = " [interrupted]" if item.interrupted else ""
                lines += [f"agent: {item.text}{cut}"] if item.text else []
                lines += [f"agent calls {made.name}({_arguments(made)})" for _, made in item.calls]
            case CallOutput():
                lines.append(f"{item.tool or 'tool'} returns: {item.output[:500]}")
    return "\n".join(lines)


def _arguments(made: ToolCall) -> str:
    return made.arguments if isinstance(made.arguments, str) else json.dumps(made.arguments)


def _has(made: ToolCall, wanted: dict[str, Any]) -> bool:
    given = made.arguments
    if isinstance(given, str):
        try:
            given = json.loads(given or "{}")
        except ValueError:
            return False
    return isinstance(given, dict) and all(given.get(name, wanted) == value for name, value in wanted.items())
