"""The same receptionist for three frameworks, with the lines that docs/comparison.md counts."""

from __future__ import annotations

import ast
import importlib.util
import re
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from duologue import ToolCall
from duologue.testing import Call, ScriptedBrain

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "examples" / "receptionists"
PAGE = (ROOT / "docs" / "comparison.md").read_text(encoding="utf-8")
NAMES = {"with_duologue": "Duologue", "with_livekit": "LiveKit Agents", "with_pipecat": "Pipecat"}


def code_lines(path: Path) -> int:
    """Lines of code: without empty lines, comments and docstrings."""
    text = path.read_text(encoding="utf-8")
    described = [
        node
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Module | ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
    ]
    first = [node.body[0] for node in described if ast.get_docstring(node) is not None]
    hidden = {line for node in first for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)}
    lines = enumerate(text.splitlines(), 1)
    return sum(
        1 for number, line in lines if line.strip() and not line.strip().startswith("#") and number not in hidden
    )


def module(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"receptionists_{name}", FOLDER / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


@pytest.mark.parametrize("name", NAMES)
def test_the_page_has_the_code_and_counts_its_lines(name: str) -> None:
    path = FOLDER / f"{name}.py"
    assert f'--8<-- "examples/receptionists/{name}.py"' in PAGE
    (row,) = re.findall(rf"^\| {NAMES[name]}[^|]*\| (\d+) \|", PAGE, re.MULTILINE)
    assert int(row) == code_lines(path)


def test_ours_signs_a_visitor_in(monkeypatch: pytest.MonkeyPatch) -> None:
    for key in ("OPENAI_API_KEY", "DEEPGRAM_API_KEY", "CARTESIA_API_KEY"):
        monkeypatch.setenv(key, "any text")
    pytest.importorskip("openai", reason="pip install 'duologue[llm]'")
    pytest.importorskip("websockets", reason="pip install 'duologue[server]'")
    found: Any = module("with_duologue").agent
    script = ScriptedBrain(
        [ToolCall("find_host", {"name": "Ada"}), ToolCall("sign_in", {"guest": "Grace"}), "Welcome, Grace."]
    )
    with Call(replace(found, brain=script)) as call:
        call.settles().expect_heard("Whom would you like to see?")
        call.user("I am Grace, for Ada").expect_heard("Welcome, Grace.")
        assert (call.context.data.guest, call.context.data.host) == ("Grace", "Ada")


def test_the_one_for_livekit_uses_names_that_exist() -> None:
    pytest.importorskip("livekit.agents", reason="pip install 'duologue[livekit]'")
    agent = module("with_livekit").Receptionist()
    assert sorted(tool.info.name for tool in agent.tools) == ["find_host", "sign_in"]
