"""The functions of a flow file are found in a module or next to the file."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from duologue.dialogue.flow import (
    Domain,
    PerformAction,
)
from duologue.flows import read_flows

ROOT = Path(__file__).parent.parent.parent


# Without stories such as flights.stories.yaml, which are in the same folder.
EXAMPLES = [path for path in sorted((ROOT / "examples").glob("*.yaml")) if "." not in path.stem]


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_every_example_has_its_functions_next_to_it(path: Path) -> None:
    file = read_flows(path)
    tree = ast.parse(path.with_suffix(".py").read_text(encoding="utf-8"))
    functions = {
        node.name: {argument.arg for argument in node.args.args}
        for node in tree.body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }
    assert {*file.actions, *file.validators, *file.normalisers} <= set(functions)
    known = {*file.domain.slots, *_outputs(file.domain), "key"}
    for name in {*file.actions, *file.validators, *file.normalisers}:
        assert functions[name] <= known, name


def _outputs(domain: Domain) -> set[str]:
    programs = [flow.program for flow in domain.flows.values()]
    return {ours for program in programs for at in program if isinstance(at, PerformAction) for _, ours in at.outputs}
