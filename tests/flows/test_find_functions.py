"""The functions of a flow file are found in a module or next to the file."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from duologue.core.errors import DuologueError
from duologue.dialogue.flow import (
    Domain,
    PerformAction,
)
from duologue.flows import parse_flows, read_flows
from duologue.flows.find_functions import find_functions
from duologue.flows.registry import MissingFunctions

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


def test_the_functions_are_those_of_the_file_with_the_same_name(tmp_path: Path) -> None:
    flows = tmp_path / "found_next_to_it.yaml"
    flows.with_suffix(".py").write_text("def send():\n    return {}\n\n\ndef _hidden():\n    pass\n", encoding="utf-8")
    domain = parse_flows("version: 1\nflows: {pay: {steps: [{action: send}]}}")
    find_functions(flows, None).check(domain)
    find_functions(str(flows)).check(domain)  # as a text, like the path of load_flows
    with pytest.raises(MissingFunctions, match="'send' isn't registered"):
        find_functions(tmp_path / "alone.yaml", None).check(domain)


def test_a_module_that_cannot_be_imported_is_reported_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "breaks_at_import.py").write_text("raise RuntimeError('not\\ntoday')", encoding="utf-8")
    with pytest.raises(DuologueError) as failure:
        find_functions(tmp_path / "any.yaml", "breaks_at_import")
    expected = "module 'breaks_at_import' with the actions can't be imported: RuntimeError: not today"
    assert str(failure.value) == expected
