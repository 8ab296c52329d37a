"""Flow charts as SVG: the steps of a flow from top to bottom, laid out as they are nested.

A vertical line runs through every block from its top to its bottom, and every block knows how far it extends to the
left and right of this line. Larger blocks are made of smaller ones. Rule: lines are straight and meet at right angles,
and no line crosses a box.
"""

from __future__ import annotations

import json
import textwrap
from collections.abc import Callable, Sequence
from math import fsum  # every version of Python gives the same result
from typing import NamedTuple

from duologue.draw import typography
from duologue.draw.shapes import Box, Point

from .schema import (
    ActionStep,
    BranchStep,
    CallStep,
    CollectStep,
    ConfirmStep,
    EndStep,
    FaqStep,
    FileEntry,
    FlowEntry,
    HandoffStep,
    IfCase,
    LinkStep,
    SayStep,
    SetStep,
    Step,
    WhileStep,
)

_GAP = 26.0  # between two blocks, with an arrow in it
_ASIDE = 24.0  # between columns, and around blocks for lines that pass them
_DETOUR = 52.0  # between a step and its on_no or on_failure block
_PADDING = 14.0
_MARGIN = 30.0
_HEAD = 54.0
_ROW_WIDTH_MAX = 1_800.0
_NOTE_CHARS = 38
_NOTE_LINES = 3
_HEIGHTS = {"small": 14.0, "name": 17.0, "note": 14.0, "label": 15.0}


class Block(NamedTuple):
    """A part of a chart: how far it extends to the left and right of its vertical line, its height, and the function
    that paints it."""

    left: float
    right: float
    height: float
    paint: Callable[[float, float], list[str]]
    is_open: bool = True  # does the flow continue after the block?
    begins_in_line: bool = False  # does the block begin with a line, not a box?


def charts_svg(file: FileEntry, names: Sequence[str], title: str) -> str:
    """An SVG with the charts of these flows side by side, in several rows if there are many."""
    body: list[str] = []
    x, y, row_height, width = _MARGIN, _MARGIN, 0.0, 0.0
    for name in names:
        flow = file.flows[name]
        about = flow.description or name.replace("_", " ")
        block = _flow(file, flow)
        room = max(
            block.left + block.right,
            typography.text_width(name, "title"),
            min(typography.text_width(about, "about"), 420.0),
        )
        if x > _MARGIN and x + room > _ROW_WIDTH_MAX:
            x, y, row_height = _MARGIN, y + row_height + 2 * _ASIDE, 0.0
        body.append(typography.text(Point(x, y + 16), name, "title"))
        body.append(typography.text(Point(x, y + 38), textwrap.shorten(about, 70, placeholder="…"), "about"))
        body += block.paint(x + max(block.left, (room - block.right + block.left) / 2), y + _HEAD)
        row_height = max(row_height, _HEAD + block.height)
        x += room + 2 * _ASIDE
        width = max(width, x - 2 * _ASIDE)
    sizes = "; ".join(f"{name}: {len(file.flows[name].steps)} steps" for name in names)
    return typography.document(title, f"Flow charts. {sizes}.", width + _MARGIN, y + row_height + _MARGIN, body)


def _flow(file: FileEntry, flow: FlowEntry) -> Block:
    parts = [_box("", "start", (), "blue", round=17), *(_step(file, step) for step in flow.steps)]
    if words := flow.completed or file.patterns.completed:  # type: ignore[attr-defined]
        parts.append(_box("say", "", _texts(words), "teal"))
    if parts[-1].is_open:
        parts.append(_ending("end"))
    return _stack(parts)


# -- Steps


def _step(file: FileEntry, step: Step) -> Block:
    named = f" · {step.id}" if step.id else ""
    match step:
        case CollectStep():
            slot = file.slots[step.collect]
            found = (f"choices from {slot.choices_from}",) if slot.choices_from else ()
            if slot.items:
                found = (f"up to {slot.at_most}, each with {', '.join(slot.items)}",)
            return _box(f"collect{named}", step.collect, (*_texts(step.prompt or slot.prompt), *found), "blue")
        case SayStep():
            return _box(f"say{named}", "", _texts(step.say), "teal")
        case SetStep():
            values = [f"{name} = {json.dumps(value, ensure_ascii=False)}" for name, value in step.values.items()]
            return _box(f"set{named}", "", values, "violet")
        case BranchStep():
            return _branch(file, step)
        case WhileStep():
            return _loop(_test(f"while {step.condition}"), _steps(file, step.steps))
        case ActionStep():
            results = ", ".join(step.outputs.values() if isinstance(step.outputs, dict) else step.outputs)
            box = _box(f"action{named}", step.action, (f"→ {results}",) if results else (), "violet")
            return _detour(file, box, step.on_failure, step.then, "fails")
        case ConfirmStep():
            notes = (*_texts(step.confirm), *(() if step.on_no else ("(no: cancelled)",)))
            return _detour(file, _box(f"confirm{named}", "", notes, "amber"), step.on_no, step.then, "no")
        case CallStep():
            return _box(f"call{named}", step.call, (), "rose")
        case LinkStep():
            return _box(f"link{named}", step.link, (), "rose", is_open=False)
        case FaqStep():
            box = _box(f"faq{named}", step.faq, ("answered from the FAQ",), "teal")
            return _detour(file, box, step.on_no_answer, step.then, "no answer")
        case HandoffStep():
            return _box(f"handoff{named}", "", (step.handoff,), "rose", is_open=False)
        case EndStep():
            ending = _ending("end")
            return ending if step.end is True else _stack([_box("say", "", (str(step.end),), "teal"), ending])


def _texts(written: str | list[str]) -> tuple[str, ...]:
    """The text to show. If there are several texts, this is the first of them, with a remark that says how many more
    there are."""
    if isinstance(written, str):
        return (written,)
    return (written[0], f"(or {len(written) - 1} more)") if len(written) > 1 else (written[0],)


def _steps(file: FileEntry, steps: Sequence[Step]) -> Block:
    return _stack([_step(file, step) for step in steps])


def _branch(file: FileEntry, step: BranchStep) -> Block:
    columns = [
        _stack([_test(f"if {case.condition}" if isinstance(case, IfCase) else "otherwise"), _steps(file, case.steps)])
        for case in step.branch
    ]
    if isinstance(step.branch[-1], IfCase):
        columns.append(_test("otherwise"))
    return _side_by_side(columns)


def _detour(file: FileEntry, box: Block, steps: Sequence[Step], then: str, when: str) -> Block:
    if not steps:
        return box
    parts = [_step(file, step) for step in steps]
    if parts[-1].is_open and then not in ("again", "go_on"):
        parts.append(_ending("end" if then == "end" else f"to {then}"))
    return _with_detour(box, _stack(parts), when, goes_again=then == "again")


def _test(text: str) -> Block:
    return _box("", "", (), "amber", label=text, round=6)


def _ending(text: str) -> Block:
    return _box("", text, (), "blue", round=17, is_open=False)


# -- Blocks


def _box(
    kind: str,
    name: str,
    notes: Sequence[str],
    hue: str,
    *,
    label: str = "",
    round: float = 8,  # noqa: A002 (of its corners)
    is_open: bool = True,
) -> Block:
    """A box that shows the kind of a step, its name, its label and its notes."""
    lines = [(face, text) for face, text in (("small", kind), ("name", name)) if text]
    lines += [("label", line) for line in _wrapped(label)]
    lines += [("note", line) for note in notes for line in _wrapped(note)]
    width = max(typography.text_width(text, face) for face, text in lines) + 2 * _PADDING
    height = fsum(_HEIGHTS[face] for face, _ in lines) + 16
    whole = " ".join((kind, name, label, *notes)).strip()

    def paint(x: float, y: float) -> list[str]:
        inner = Box(x - width / 2, y, width, height)
        body = [
            f'<g class="{hue}">',
            typography.title(whole),
            typography.rect(inner, "state start", min(round, height / 2)),
        ]
        baseline = y + 6
        for face, text in lines:
            baseline += _HEIGHTS[face]
            body.append(typography.text(Point(x, baseline - 1), text, face, "middle"))
        return [*body, "</g>"]

    return Block(width / 2, width / 2, height, paint, is_open)


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(" ".join(text.split()), _NOTE_CHARS, max_lines=_NOTE_LINES, placeholder=" …")


def _stack(blocks: Sequence[Block]) -> Block:
    """One block made of these blocks, placed one below the other."""
    height = fsum(block.height for block in blocks) + _GAP * (len(blocks) - 1)

    def paint(x: float, y: float) -> list[str]:
        body: list[str] = []
        for number, block in enumerate(blocks):
            body += block.paint(x, y)
            y += block.height
            if number < len(blocks) - 1 and block.is_open:
                body += _way((x, y), (x, y + _GAP), has_head=not blocks[number + 1].begins_in_line)
            y += _GAP
        return body

    left, right = max(block.left for block in blocks), max(block.right for block in blocks)
    return Block(left, right, height, paint, blocks[-1].is_open, blocks[0].begins_in_line)


def _side_by_side(columns: Sequence[Block]) -> Block:
    """The cases of a branch side by side, the first on the left. A line leads down from every case after which the flow
    continues, and all these lines meet in one point."""
    width = fsum(column.left + column.right for column in columns) + _ASIDE * (len(columns) - 1)
    tallest = max(column.height for column in columns)
    top, height = 10 + _GAP, 10 + _GAP + tallest + 20

    def paint(x: float, y: float) -> list[str]:
        body: list[str] = []
        at = x - width / 2
        for column in columns:
            at += column.left
            body += _way((x, y), (x, y + 10), (at, y + 10), (at, y + top))
            body += column.paint(at, y + top)
            if column.is_open:
                end = y + top + column.height
                body += _way((at, end), (at, y + height - 6), (x, y + height - 6), (x, y + height), has_head=False)
            at += column.right + _ASIDE
        return body

    is_open = any(column.is_open for column in columns)
    return Block(width / 2, width / 2, height, paint, is_open, begins_in_line=True)


def _loop(test: Block, body: Block) -> Block:
    """A block for a loop. A line on the left leads back to the test, and a line on the right leaves the loop."""
    left, right = (max(sides) + _ASIDE for sides in ((test.left, body.left), (test.right, body.right)))
    height = test.height + _GAP + body.height + 34

    def paint(x: float, y: float) -> list[str]:
        middle, start, end = y + test.height / 2, y + test.height, y + height
        painted = [*test.paint(x, y), *_way((x, start), (x, start + _GAP)), *body.paint(x, start + _GAP)]
        if body.is_open:
            low = end - 22
            back = ((x, end - 34), (x, low), (x - left, low), (x - left, middle), (x - test.left, middle))
            painted += _way(*back)
        out = ((x + test.right, middle), (x + right, middle), (x + right, end - 6), (x, end - 6), (x, end))
        return [*painted, *_way(*out, has_head=False)]

    return Block(left, right, height, paint)


def _with_detour(box: Block, body: Block, when: str, *, goes_again: bool) -> Block:
    """A step with its on_no or on_failure block on the right. If the flow continues after that block, a line leads from
    the block back to the step (with `goes_again`) or on to the rest of the flow."""
    off = box.right + _DETOUR + body.left
    top = box.height + 14
    height = top + body.height + (30 if body.is_open else 0)

    def paint(x: float, y: float) -> list[str]:
        at, middle, low = x + off, y + box.height / 2 + 6, y + top + body.height
        painted = [*box.paint(x, y), *body.paint(at, y + top)]
        painted += _way((x, y + box.height), (x, y + height), has_head=False)
        painted += _way((x + box.right, middle), (at, middle), (at, y + top))
        painted.append(typography.text(Point(x + box.right + 8, middle - 4), when, "small"))
        if body.is_open and goes_again:
            side, enter = at + body.right + _ASIDE, y + 9
            painted += _way((at, low), (at, low + 14), (side, low + 14), (side, enter), (x + box.right, enter))
        elif body.is_open:
            painted += _way((at, low), (at, y + height - 6), (x, y + height - 6), has_head=False)
        return painted

    return Block(box.left, off + body.right + _ASIDE, height, paint)


def _way(*points: tuple[float, float], has_head: bool = True) -> list[str]:
    """A line through these points, with an arrowhead at the last one if `has_head` is True."""
    corners = [Point(*point) for number, point in enumerate(points) if not number or point != points[number - 1]]
    body = []
    if has_head:
        tip, before = corners[-1], corners[-2]
        length = abs(before.x - tip.x) + abs(before.y - tip.y)
        back = Point((before.x - tip.x) / length, (before.y - tip.y) / length)
        corners[-1] = tip.along(back, 6)
        body.append(typography.arrow_head(tip, back, "arrow"))
    path = " L ".join(f"{typography.number(x)} {typography.number(y)}" for x, y in corners)
    return [f'<path class="line" d="M {path}"/>', *body]
