"""The list of what tests need is complete, and a missing need never goes unnoticed in CI."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from duologue.models.catalogue import MODELS as CATALOGUE
from tests import needs

TESTS = Path(__file__).parent.parent
FILES = sorted(TESTS.rglob("*.py"))
ASKING = ("needs_model", "model_path", "is_present")


def models_named_in(path: Path) -> set[str]:
    """The models that a test file names where it asks for one."""
    calls = (node for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, ast.Call))
    names: set[str] = set()
    for call in calls:
        function = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
        if function in ASKING:
            names |= {value.value for value in call.args if isinstance(value, ast.Constant)}
    return names


def test_every_model_that_a_test_asks_for_is_in_the_list() -> None:
    asked = {
        name
        for path in FILES
        if path.parent.name != "models" and path != Path(__file__)
        for name in models_named_in(path)
    }
    assert asked, "no test names a model: is this test looking for the right calls?"
    assert asked <= set(needs.MODELS)


def test_the_list_names_models_of_the_catalogue() -> None:
    assert set(needs.MODELS) <= set(CATALOGUE)
    assert set(needs.LIBRARIES) <= set(needs.MODELS)


def test_only_the_list_decides_between_skipping_and_failing() -> None:
    allowed = {TESTS / "needs.py", Path(__file__)}
    deciding = [path for path in FILES if path not in allowed and 'environ.get("CI")' in path.read_text("utf-8")]
    assert not deciding, f"use tests/needs.py: {deciding}"


# -- Every skip is decided in one place

SKIPS = {
    "audio/test_g711.py": "audioop is gone from Python 3.13 on",
    "cli/test_serve_processes.py": "several processes share a port only on Linux",
    "lines/test_voice_sound.py": "only Linux has /proc",
    "models/test_compile.py": "libraries are compiled on Linux and macOS",
    "models/test_fetch.py": "Windows runs no scripts with a #! line",
    "voice/test_pico_process.py": "Windows has no sessions",
}
"""Test modules that skip by themselves, because of a system or a Python on which no command would help."""


def called_name(node: ast.AST) -> str:
    """The name of the function that is called or of the attribute that is read: `pytest.mark.skipif` is `skipif`."""
    function = node.func if isinstance(node, ast.Call) else node
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def run_at_import(tree: ast.AST) -> Iterator[ast.AST]:
    """The nodes that run when a module is imported: no bodies of functions, but their decorators and defaults."""
    for node in ast.iter_child_nodes(tree):
        yield node
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            for part in (*node.decorator_list, *node.args.defaults, *filter(None, node.args.kw_defaults)):
                yield from (part, *run_at_import(part))
        elif not isinstance(node, ast.Lambda):
            yield from run_at_import(node)


def asks_at_import(tree: ast.AST) -> list[int]:
    """The lines in which a module asks for a model while it is imported."""
    calls = (node for node in run_at_import(tree) if isinstance(node, ast.Call))
    return sorted({call.lineno for call in calls if called_name(call) in ASKING})


def skips_in(tree: ast.AST) -> list[int]:
    """The lines in which a module skips by itself."""
    read = (node for node in ast.walk(tree) if isinstance(node, ast.Attribute))
    skips = [node for node in read if node.attr in ("skip", "skipif") and called_name(node.value) in ("pytest", "mark")]
    return sorted({node.lineno for node in skips})


def imports_without_command(tree: ast.AST) -> list[int]:
    """The lines in which `importorskip` doesn't say how to get the package."""
    found = []
    for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
        if called_name(call) == "importorskip":
            (reason, *_) = [one.value for one in call.keywords if one.arg == "reason"] or [None]
            said = reason.value if isinstance(reason, ast.Constant) else ""
            if not ("pip install '" in said or said.endswith("make oracles")):
                found.append(call.lineno)
    return found


def lines_found(find: Callable[[ast.AST], list[int]]) -> set[str]:
    """Where a rule is broken: `folder/file.py:line`."""
    return {
        f"{path.relative_to(TESTS)}:{line}"
        for path in FILES
        if path not in (TESTS / "needs.py", Path(__file__))
        for line in find(ast.parse(path.read_text(encoding="utf-8")))
    }


def test_no_test_module_asks_for_a_model_while_it_is_imported() -> None:
    assert not lines_found(asks_at_import)


def test_a_test_skips_by_itself_only_where_no_command_would_help() -> None:
    assert {place.partition(":")[0] for place in lines_found(skips_in)} == set(SKIPS)


def test_a_package_that_is_missing_is_named_with_the_command_that_gets_it() -> None:
    assert not lines_found(imports_without_command)


@pytest.mark.parametrize(
    ("find", "code", "lines"),
    [
        (asks_at_import, "A = needs_model('x')\ndef f():\n    needs_model('x')", [1]),
        (asks_at_import, "class A:\n    B = model_path('x')\n@mark(needs.needs_model('x'))\ndef f(): ...", [2, 3]),
        (asks_at_import, "if x:\n    y = [model_path(n) for n in x]\nz = lambda: model_path('x')", [2]),
        (asks_at_import, "def f(folder=model_path('x')): ...", [1]),
        (
            skips_in,
            "pytest.skip('x')\n@pytest.mark.skipif(x)\ndef f(): ...\n@pytest.mark.skip\ndef g(): ...",
            [1, 2, 4],
        ),
        (skips_in, "a.skip()\nraises(pytest.fail.Exception)", []),
        (imports_without_command, "pytest.importorskip('x')\npytest.importorskip('x', reason='no')", [1, 2]),
        (imports_without_command, "pytest.importorskip('x', reason=\"pip install 'x'\")", []),
    ],
)
def test_what_breaks_these_rules_is_noticed(find: Callable[[ast.AST], list[int]], code: str, lines: list[int]) -> None:
    assert find(ast.parse(code)) == lines


# -- What is missing


def test_a_missing_model_skips_with_the_command_that_gets_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.setenv("DUOLOGUE_MODELS", str(tmp_path))
    with pytest.raises(pytest.skip.Exception, match="model espeak-ng is missing: duologue models pull espeak-ng"):
        needs.needs_model("espeak-ng")


def test_a_missing_model_fails_in_ci(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("CI", "true")
    monkeypatch.setenv("DUOLOGUE_MODELS", str(tmp_path))
    with pytest.raises(pytest.fail.Exception, match="duologue models pull espeak-ng"):
        needs.needs_model("espeak-ng")


def test_a_missing_package_fails_in_ci(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", "true")
    with pytest.raises(pytest.fail.Exception, match="package no_such_package is missing: pip install it"):
        needs.needs_package("no_such_package", "pip install it")


def test_a_model_outside_the_list_is_refused() -> None:
    with pytest.raises(AssertionError, match=r"add nonsense to MODELS in tests/needs\.py"):
        needs.needs_model("nonsense")


def test_a_missing_package_is_an_error_in_ci_wherever_it_is_imported() -> None:
    with pytest.raises(ModuleNotFoundError):
        needs.require("no_such_package", reason="pip install it")
    assert (pytest.importorskip is needs.require) == needs.is_ci()
