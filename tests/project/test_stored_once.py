"""What the machines know is stored once: in their state, which only their steps change.

Rule: the code outside a machine assigns no state to it, and keeps no copy of what the state says.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from duologue.core.leaves import Voice
from tests.project.test_layers import FILES, SRC, nodes_of, package_of

HELD = {"held", "is_held", "was_held", "is_on_hold", "is_holding"}
AROUND = ("core", "hearing", "turns", "runtime")


def targets_of(nodes: tuple[ast.AST, ...]) -> Iterator[ast.expr]:
    """Everything that is assigned to."""
    for node in nodes:
        if isinstance(node, ast.Assign):
            for target in node.targets:
                yield from target.elts if isinstance(target, ast.Tuple) else [target]
        elif isinstance(node, ast.AnnAssign | ast.AugAssign):
            yield node.target


def foreign_states(nodes: tuple[ast.AST, ...]) -> list[int]:
    """The lines that assign the state of another object, such as `engine.driver.state = …`."""
    return [
        target.lineno
        for target in targets_of(nodes)
        if isinstance(target, ast.Attribute)
        and target.attr in ("state", "_state")
        and not (isinstance(target.value, ast.Name) and target.value.id == "self")
    ]


def held_flags(nodes: tuple[ast.AST, ...]) -> list[int]:
    """The lines that store whether the agent's sound is held, in an attribute or in a field of a class."""
    fields = [node.body for node in nodes if isinstance(node, ast.ClassDef)]
    named = [
        *((target.attr, target.lineno) for target in targets_of(nodes) if isinstance(target, ast.Attribute)),
        *((one.id, one.lineno) for body in fields for one in targets_of(tuple(body)) if isinstance(one, ast.Name)),
    ]
    return [line for name, line in named if name.strip("_") in HELD]


def parsed(code: str) -> tuple[ast.AST, ...]:
    return tuple(ast.walk(ast.parse(code)))


@pytest.mark.parametrize("code", ["engine.driver.state = s", "a, d.state = 1, s", "d.state: int = 2"])
def test_a_state_that_is_assigned_from_outside_is_noticed(code: str) -> None:
    assert foreign_states(parsed(code)) == [1]
    assert foreign_states(parsed("self._state = s\nstate = s\nself.state = s")) == []


@pytest.mark.parametrize("code", ["self._held = True", "self.is_held: bool = False", "class A:\n  held: bool = False"])
def test_a_stored_flag_is_noticed(code: str) -> None:
    assert held_flags(parsed(code))
    assert held_flags(parsed("def held(s): return s.voice is Voice.HELD\nheld = 1")) == []


def test_only_a_machine_s_own_driver_assigns_its_state() -> None:
    product = [path for path in FILES if not package_of(path).startswith("lab")]
    assert [f"{path.relative_to(SRC)}:{line}" for path in product for line in foreign_states(nodes_of(path))] == []


def test_whether_the_sound_is_held_is_stored_in_the_state_and_nowhere_else() -> None:
    assert Voice.HELD.value == "held"
    around = [path for path in FILES if package_of(path) in AROUND]
    assert {path.parent.name for path in around} >= set(AROUND)
    assert [f"{path.relative_to(SRC)}:{line}" for path in around for line in held_flags(nodes_of(path))] == []


def test_the_driver_assigns_its_state_at_its_start_and_in_its_step() -> None:
    path = Path(SRC) / "runtime" / "driver.py"
    places = [
        function.name
        for function in nodes_of(path)
        if isinstance(function, ast.FunctionDef)
        for target in targets_of(tuple(ast.walk(function)))
        if isinstance(target, ast.Attribute) and target.attr == "_state"
    ]
    assert len(places) == 2
    assert places[0] == "__init__"
