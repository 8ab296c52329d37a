"""Imports point down, the pure packages stay pure, and modules stay small."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import pytest

SRC = Path(__file__).parent.parent.parent / "src" / "duologue"

# Lowest first. Packages in one layer don't import each other, but for the pairs below.
LAYERS: tuple[tuple[str, ...], ...] = (
    ("core", "turns", "dialogue", "audio", "models"),
    ("draw", "ports", "phrases", "spoken", "fairness"),
    ("hearing",),
    ("observe",),
    ("flows", "nlu", "ears", "brains", "workers", "voice", "lines", "store", "client"),
    ("plugins", "failover"),
    ("runtime",),
    ("replay", "testing"),
    ("server", "starter"),
    ("lab.check", "lab.recordings", "lab.tune"),
    ("lab.sim",),
    ("lab.bench", "lab.torture", "lab.tune"),
    ("cli",),
)
# The test kit replays journals. Models raise the one error that callers of Duologue catch.
SIDEWAYS = {
    ("models", "core"),
    ("testing", "replay"),
    ("flows", "nlu"),
}
LEVEL = {name: level for level, names in enumerate(LAYERS) for name in names}
PURE = ("core", "turns", "dialogue", "phrases", "hearing", "spoken")
STANDARD_ONLY = (*PURE, "draw", "ports", "fairness", "runtime", "replay", "lab.check", "models")
IMPURE = {"asyncio", "time", "random", "logging", "threading", "socket", "os", "secrets", "uuid"}
CLOCK_CALLS = {"now", "today", "utcnow"}  # of `datetime`, which the pure packages may use to count days
LINES_MAX = 600
FUNCTION_LINES_MAX = 70

FILES = sorted(SRC.rglob("*.py"))


def package_of(path: Path) -> str:
    """The name of a file's package in `LAYERS`."""
    return area_of(("duologue", *path.relative_to(SRC).parts[:-1]))


def area_of(module: Sequence[str]) -> str:
    """`duologue.server.app` belongs to `server`, `duologue.lab.sim.stage` to `lab.sim`."""
    if len(module) == 1:
        return "duologue"
    area = module[1:3] if module[1] == "lab" else module[1:2]
    return ".".join(area)


@cache
def nodes_of(path: Path) -> tuple[ast.AST, ...]:
    """The syntax tree of a file, parsed once for all tests."""
    return tuple(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))


@cache
def imports_of(path: Path) -> tuple[str, ...]:
    """Every module that a file imports, by its full name."""
    here = ("duologue", *path.relative_to(SRC).with_suffix("").parts)
    package = here if path.stem == "__init__" else here[:-1]
    found: list[str] = []
    for node in nodes_of(path):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else ()
            found.append(".".join((*above, *([node.module] if node.module else ()))))
    return tuple(found)


def is_upward(mine: str, name: str) -> bool:
    """Does this import of the package `mine` break the order of the layers?"""
    parts = name.split(".")
    other = area_of(parts)
    if parts[0] != "duologue" or len(parts) == 1 or other == mine:
        return False
    return LEVEL[other] >= LEVEL[mine] and (mine, other) not in SIDEWAYS


def test_imports_point_down() -> None:
    layered = [path for path in FILES if package_of(path) not in ("duologue", "lab")]
    upward = [
        f"{path.relative_to(SRC)} imports {name}"
        for path in layered
        for name in imports_of(path)
        if is_upward(package_of(path), name)
    ]
    assert not upward


def test_an_import_that_points_up_or_sideways_is_noticed() -> None:
    assert is_upward("core", "duologue.runtime.agent")
    assert is_upward("core", "duologue.turns.endpoint")
    assert not is_upward("runtime", "duologue.core.state")
    assert not is_upward("models", "duologue.core.errors")


def test_the_lower_packages_need_the_standard_library_only() -> None:
    known = {*sys.stdlib_module_names, "duologue"}
    outside = [
        f"{path.relative_to(SRC)} imports {name}"
        for path in FILES
        if package_of(path) in STANDARD_ONLY
        for name in imports_of(path)
        if name.split(".")[0] not in known
    ]
    assert not outside


def clock_reads(nodes: Sequence[ast.AST]) -> list[int]:
    """The lines of a module that imports `datetime` and asks it, or anything else, for the time: `date.today()`."""
    imported = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    imported += [node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)]
    calls = [node.func for node in nodes if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)]
    return [call.lineno for call in calls if call.attr in CLOCK_CALLS] if "datetime" in imported else []


def test_a_clock_is_noticed() -> None:
    uses = "days.today()\nself.today\ntoday_of(text)\ndays(2026, 3, 4)\nx.now()"
    parsed = [
        list(ast.walk(ast.parse(code)))
        for code in (f"from datetime import date as days\n{uses}", f"import datetime\n{uses}", uses)
    ]
    assert [clock_reads(nodes) for nodes in parsed] == [[2, 6], [2, 6], []]


def test_the_pure_packages_have_no_clock_no_randomness_and_no_await() -> None:
    impure: list[str] = []
    for path in (path for path in FILES if package_of(path) in PURE):
        name, nodes = path.relative_to(SRC), nodes_of(path)
        impure += [f"{name} imports {one}" for one in imports_of(path) if one.split(".")[0] in IMPURE]
        impure += [f"{name}:{node.lineno}" for node in nodes if isinstance(node, ast.AsyncFunctionDef | ast.Await)]
        impure += [f"{name}:{line}" for line in clock_reads(nodes)]
    assert not impure


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
        for node in nodes_of(path):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                size = (node.end_lineno or node.lineno) - node.lineno + 1
                assert size <= FUNCTION_LINES_MAX, f"{path}:{node.lineno} {node.name} has {size} lines"


def test_no_module_is_named_after_nothing() -> None:
    empty = {"utils", "helpers", "common", "base", "manager", "misc"}
    assert not empty & {path.stem for path in FILES}


def late_imports_of(start: Path) -> list[Path]:
    """The modules of the command line that this one imports, at once or late, with all that they import themselves."""
    found: list[Path] = [start]
    for path in found:  # grows meanwhile
        names = [name.removeprefix("duologue.cli.") for name in imports_of(path) if name.startswith("duologue.cli.")]
        found += [there for name in names if (there := SRC / "cli" / f"{name}.py") not in found]
    return found


def test_a_served_agent_imports_nothing_of_the_lab() -> None:
    """No module outside the lab and the command line imports it, not even late; no module that `duologue serve` uses
    does either."""
    outside = [path for path in FILES if package_of(path).split(".")[0] not in ("lab", "cli")]
    serving = late_imports_of(SRC / "cli" / "serve.py")
    names = {path.stem for path in serving}
    assert names >= {path.stem for path in (SRC / "cli").glob("serve*.py")} | {"models", "requirements"}
    for path in (*outside, *serving):
        assert not [name for name in imports_of(path) if name.startswith("duologue.lab")], path
    code = (
        "import sys, duologue.cli.app, duologue.cli.serve, duologue.server.app, duologue.server.phone;"
        "sys.exit(str([name for name in sys.modules if name.startswith('duologue.lab')] or ''))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert not done.stderr.strip(), done.stderr
