"""Draws flow charts: chooses the format, and writes the Mermaid charts.

Mermaid charts show the compiled program; SVG charts are laid out in `svg_chart`. Rule: a chart is derived from the
file and never edited by hand, so it can't be out of date.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import NamedTuple

from duologue.core.errors import DuologueError
from duologue.dialogue.flow import (
    AnswerFromFaq,
    Assign,
    CallFlow,
    Collect,
    Confirm,
    Domain,
    End,
    Flow,
    HandOff,
    Instruction,
    Jump,
    JumpUnless,
    LinkFlow,
    PerformAction,
    SayText,
)
from duologue.dialogue.templates import first_of
from duologue.draw import FORMATS

from .load import FlowFile
from .problems import hint

_INDENT = "    "
_CHARS_MAX = 70
_ODD = re.compile(r"[^A-Za-z0-9_ ,.()\[\]'/?!=+*-]")


class Arrow(NamedTuple):
    """An arrow from one instruction to another. `label` says in which case the flow follows this arrow."""

    source: int
    target: int
    label: str = ""


def draw_flows(file: FlowFile, flow: str | None = None, format: str = "mermaid") -> str:  # noqa: A002 (the option's name)
    """The chart of one flow, or of all flows if `flow` is None, as text in the given format."""
    if format not in FORMATS:
        raise DuologueError(f"unknown format {format!r}; known: {', '.join(FORMATS)}")
    known = tuple(one.name for one in file.domain.written_flows)
    if flow is not None and flow not in known:
        raise DuologueError(f"{file.name}: unknown flow {flow!r}{hint(flow, known)}")
    names = known if flow is None else (flow,)
    if format == "svg":
        from .svg_chart import charts_svg

        return charts_svg(file.written, names, file.name if flow is None else flow)
    return to_mermaid(file.domain, names)


def to_mermaid(domain: Domain, names: tuple[str, ...]) -> str:
    """The Mermaid chart of these flows. If there are several, each flow is drawn in its own frame, and arrows show
    which flow calls or links to which."""
    title = names[0] if len(names) == 1 else "flows"
    lines = ["---", f"title: {json.dumps(title)}", "---", "flowchart TD"]
    flows = [domain.flows[name] for name in names]
    for number, flow in enumerate(flows):
        if len(flows) == 1:
            lines += _body(flow, domain, number)
            continue
        lines.append(f'{_INDENT}subgraph flow{number}["{_escaped(flow.name)}"]')
        lines += [f"{_INDENT}{line}" for line in _body(flow, domain, number)]
        lines.append(f"{_INDENT}end")
    for number, flow in enumerate(flows):
        for place in reached(flow):
            at = flow.program[place]
            if isinstance(at, CallFlow | LinkFlow) and at.flow in names and len(flows) > 1:
                lines.append(f"{_INDENT}n{number}_{place} -.-> flow{names.index(at.flow)}")
    return "\n".join([*lines, ""])


def _body(flow: Flow, domain: Domain, number: int) -> Iterator[str]:
    places = reached(flow)
    yield f'{_INDENT}start{number}(["{_escaped(flow.description)}"])'
    for place in places:
        yield f"{_INDENT}n{number}_{place}{_node(flow.program[place], domain)}"
    yield f"{_INDENT}start{number} --> n{number}_{places[0]}"
    for place in places:
        for arrow in arrows_from(flow, place):
            label = f'|"{_escaped(arrow.label)}"|' if arrow.label else ""
            yield f"{_INDENT}n{number}_{arrow.source} -->{label} n{number}_{arrow.target}"


# -- The program as a graph


def reached(flow: Flow) -> tuple[int, ...]:
    """The positions of all reachable instructions except jumps, in the order of the program."""
    found: set[int] = set()
    waiting = [landing(flow, 0)]
    while waiting:
        place = waiting.pop()
        if place not in found:
            found.add(place)
            waiting += [arrow.target for arrow in arrows_from(flow, place)]
    return tuple(sorted(found))


def landing(flow: Flow, place: int) -> int:
    """The position where the program continues from `place`: `place` itself or, if there is a jump, its target. A jump
    to another jump is followed, too."""
    for _ in flow.program:
        at = flow.program[place]
        if not isinstance(at, Jump):
            break
        place = at.to
    return place


def arrows_from(flow: Flow, place: int) -> tuple[Arrow, ...]:
    """The arrows from the instruction at `place` to the instructions that may follow it."""
    at = flow.program[place]

    def to(target: int, label: str = "") -> Arrow:
        return Arrow(place, landing(flow, target), label)

    match at:
        case End() | LinkFlow() | HandOff():
            return ()
        case JumpUnless():
            return to(place + 1, "yes"), to(at.to, "no")
        case Confirm(on_no=int(no)):
            return to(place + 1, "yes"), to(no, "no")
        case AnswerFromFaq(on_none=int(nothing)):
            return to(place + 1), to(nothing, "no answer")
        case PerformAction(on_failure=int(failed)):
            return to(place + 1), to(failed, "fails")
    return (to(place + 1),)


# -- Labels


def _node(at: Instruction, domain: Domain) -> str:
    match at:
        case Collect():
            spec = domain.slots[at.slot]
            found = f"choices from {spec.choices_from}" if spec.choices_from else ""
            if spec.items:
                found = f"up to {spec.items_max}, each with {', '.join(spec.items)}"
            return f'[/"{_lines(f"collect {at.slot}", first_of(at.prompt or spec.prompt), found)}"/]'
        case SayText():
            return f'["{_lines(first_of(at.text))}"]'
        case Assign():
            return f'["{_lines("set " + ", ".join(f"{name} = {json.dumps(value)}" for name, value in at.values))}"]'
        case JumpUnless():
            return f'{{"{_lines(at.condition.text)}"}}'
        case PerformAction():
            changed = f"after a change: {at.on_change}" if at.on_change else ""
            name = f"{'final ' if at.is_final else ''}action {at.action}"
            return f'[["{_lines(name, ", ".join(ours for _, ours in at.outputs), changed)}"]]'
        case Confirm():
            return f'{{{{"{_lines("confirm", first_of(at.text))}"}}}}'
        case CallFlow():
            return f'[["{_lines(f"call {at.flow}")}"]]'
        case LinkFlow():
            return f'(["{_lines(f"link {at.flow}")}"])'
        case AnswerFromFaq():
            return f'["{_lines(f"answer {at.slot} from the FAQ")}"]'
        case HandOff():
            return f'(["{_lines("hand over to a person", at.reason)}"])'
    return '(["end"])'


def _lines(*texts: str) -> str:
    return "<br/>".join(_escaped(_short(text)) for text in texts if text)


def _short(text: str) -> str:
    return text if len(text) <= _CHARS_MAX else f"{text[: _CHARS_MAX - 1].rstrip()}…"


def _escaped(text: str) -> str:
    """Replace special characters by Mermaid's entities, `#code;`."""
    return _ODD.sub(lambda found: f"#{ord(found[0])};", " ".join(text.split()))
