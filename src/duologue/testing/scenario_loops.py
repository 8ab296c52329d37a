"""Loops in scenario files: steps that are played several times.

    - repeat: 3
      steps:
        - user: what about day {n}
    - for_each: [Rome, Paris]
      steps:
        - user: fly to {it}
        - expect_heard: "{it}"

Loops are unrolled when a file is read: their steps are copied once for each round. A step that fails is reported with
the line in which it is written. Rule: after unrolling, a file has at most STEPS_MAX steps, and loops are nested at most
LOOPS_MAX deep.
"""

from __future__ import annotations

from dataclasses import replace

from .scenario_steps import Note, ScenarioAct, YamlNode, hint, read_steps

STEPS_MAX = 1_000
LOOPS_MAX = 3
_LOOPS = ("repeat", "for_each")
_KEYS = (*_LOOPS, "steps")


def read_call(node: YamlNode, note: Note) -> tuple[ScenarioAct, ...]:
    """Read the steps of a call, with its loops unrolled. A problem inside a loop is noted only one time, not for each
    round."""
    noted: list[tuple[int, str]] = []

    def note_once(line: int, text: str) -> None:
        if (line, text) not in noted:
            noted.append((line, text))
            note(line, text)

    if not node.items:
        return read_steps(node, note_once)
    unrolled = _unrolled(node.items, note_once, 0)
    if len(unrolled) > STEPS_MAX:
        note(node.line, f"the loops make {len(unrolled)} steps; at most {STEPS_MAX} are allowed")
        return ()
    return read_steps(replace(node, items=unrolled), note_once) if unrolled else ()


def _unrolled(items: tuple[YamlNode, ...], note: Note, depth: int) -> tuple[YamlNode, ...]:
    found: list[YamlNode] = []
    for item in items:
        if len(found) > STEPS_MAX:
            break
        found += _rounds(item, note, depth) if _is_loop(item) else [item]
    return tuple(found)


def _is_loop(node: YamlNode) -> bool:
    return node.entries is not None and any(key in node.entries for key in _LOOPS)


def _rounds(node: YamlNode, note: Note, depth: int) -> list[YamlNode]:
    """The steps of all rounds of a loop. If the loop is invalid, the problem is noted and the result is empty."""
    entries = node.entries or {}
    for key in entries:
        if key not in _KEYS:
            note(entries[key].line, f"a loop: unknown key {key!r}{hint(key, _KEYS)}")
    steps = entries.get("steps")
    if depth >= LOOPS_MAX:
        note(node.line, f"loops are at most {LOOPS_MAX} deep")
        return []
    if steps is None or not steps.items:
        note(node.line, "a loop needs `steps`: a list of at least one step")
        return []
    names = _names(entries, note)
    found: list[YamlNode] = []
    for number, name in enumerate(names, 1):
        if len(found) > STEPS_MAX:
            break
        inner = tuple(_filled(step, str(number), name) for step in steps.items)
        found += _unrolled(inner, note, depth + 1)
    return found


def _names(entries: dict[str, YamlNode], note: Note) -> tuple[str, ...]:
    """The text that replaces `{it}`, for each round of the loop."""
    if "repeat" in entries and "for_each" in entries:
        note(entries["for_each"].line, "a loop has `repeat` or `for_each`, not both")
        return ()
    if (times := entries.get("repeat")) is not None:
        if type(times.value) is not int or not 1 <= times.value <= STEPS_MAX:
            note(times.line, f"repeat must be a whole number from 1 to {STEPS_MAX}, not {times.shown}")
            return ()
        return tuple(str(number) for number in range(1, times.value + 1))
    each = entries["for_each"]
    if not each.items or not all(item.is_scalar and item.text for item in each.items):
        note(each.line, "for_each must be a list of texts")
        return ()
    return tuple(item.text for item in each.items)


def _filled(node: YamlNode, number: str, name: str) -> YamlNode:
    """The node with `{n}` and `{it}` replaced in its texts. Inside a nested loop nothing is replaced, because there the
    placeholders belong to that loop."""
    if node.items is not None:
        return replace(node, items=tuple(_filled(item, number, name) for item in node.items))
    if node.entries is not None:
        if _is_loop(node):
            return node
        return replace(node, entries={key: _filled(entry, number, name) for key, entry in node.entries.items()})
    text = node.text.replace("{n}", number).replace("{it}", name)
    return node if text == node.text else replace(node, text=text, value=text)
