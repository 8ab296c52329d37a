"""The list of what tests need is complete, and a missing need never goes unnoticed in CI."""

from __future__ import annotations

import ast
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
