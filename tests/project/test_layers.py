"""Imports point down, the pure packages stay pure, and modules stay small."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

SRC = Path(__file__).parent.parent.parent / "src" / "duologue"

# Lowest first. Packages in one layer don't import each other, but for the pairs below.
LAYERS: tuple[tuple[str, ...], ...] = (
    ("core", "turns", "dialogue", "audio", "models"),
    ("check", "draw", "ports"),
    ("observe",),
    ("flows", "nlu", "ears", "brains", "workers", "voice", "lines", "store"),
    ("runtime",),
    ("replay", "sim", "testing", "recordings"),
    ("server", "starter"),
    ("bench", "torture"),
    ("cli",),
)
# A simulation writes and tells journals; the test kit is played by simulations. Models raise the one error that
# callers of Duologue catch.
SIDEWAYS = {
    ("models", "core"),
    ("sim", "replay"),
    ("testing", "sim"),
    ("testing", "replay"),
    ("flows", "nlu"),
}
LEVEL = {name: level for level, names in enumerate(LAYERS) for name in names}
STANDARD_ONLY = ("core", "turns", "dialogue", "draw", "ports", "runtime", "replay", "sim", "check", "models")
PURE = ("core", "turns", "dialogue")
IMPURE = {"asyncio", "time", "random", "logging", "datetime", "threading", "socket", "os", "secrets", "uuid"}
LINES_MAX = 600
FUNCTION_LINES_MAX = 70

FILES = sorted(SRC.rglob("*.py"))


def package_of(path: Path) -> str:
    parts = path.relative_to(SRC).parts
    return parts[0] if len(parts) > 1 else "duologue"


def imports_of(path: Path) -> Iterator[str]:
    """Every module that a file imports, by its full name."""
    here = ("duologue", *path.relative_to(SRC).with_suffix("").parts)
    package = here if path.stem == "__init__" else here[:-1]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else ()
            yield ".".join((*above, *([node.module] if node.module else ())))


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SRC)))
def test_imports_point_down(path: Path) -> None:
    mine = package_of(path)
    if mine == "duologue":
        return
    for name in imports_of(path):
        parts = name.split(".")
        if parts[0] != "duologue" or len(parts) == 1 or parts[1] == mine:
            continue
        other = parts[1]
        assert LEVEL[other] < LEVEL[mine] or (mine, other) in SIDEWAYS, f"{mine} imports {other}"


@pytest.mark.parametrize("path", [path for path in FILES if package_of(path) in STANDARD_ONLY], ids=str)
def test_the_lower_packages_need_the_standard_library_only(path: Path) -> None:
    outside = {name.split(".")[0] for name in imports_of(path)} - sys.stdlib_module_names - {"duologue"}
    assert not outside


@pytest.mark.parametrize("path", [path for path in FILES if package_of(path) in PURE], ids=str)
def test_the_pure_packages_have_no_clock_no_randomness_and_no_await(path: Path) -> None:
    assert not {name.split(".")[0] for name in imports_of(path)} & IMPURE
    awaits = (ast.AsyncFunctionDef, ast.Await)
    assert not any(isinstance(node, awaits) for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))))


def test_importing_duologue_imports_nothing_from_outside() -> None:
    code = (
        "import sys; before = set(sys.modules); import duologue;"
        "new = {name.split('.')[0] for name in set(sys.modules) - before} - set(sys.stdlib_module_names);"
        "sys.exit(0 if new == {'duologue'} else str(new))"
    )
    done = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_modules_and_functions_stay_small(record_property: pytest.FixtureRequest) -> None:
    sizes = sorted(((len(path.read_text(encoding="utf-8").splitlines()), path) for path in FILES), reverse=True)
    record_property("largest", [f"{size} {path.relative_to(SRC)}" for size, path in sizes[:5]])  # type: ignore[operator]
    assert sizes[0][0] <= LINES_MAX, f"{sizes[0][1]} has {sizes[0][0]} lines: cut it at its seam"
    for path in FILES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                size = (node.end_lineno or node.lineno) - node.lineno + 1
                assert size <= FUNCTION_LINES_MAX, f"{path}:{node.lineno} {node.name} has {size} lines"


def test_no_module_is_named_after_nothing() -> None:
    empty = {"utils", "helpers", "common", "base", "manager", "misc"}
    assert not empty & {path.stem for path in FILES}
