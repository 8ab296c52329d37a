"""docs/requirements.md: what Duologue must do, from docs/requirements.toml, and the tests that show it.

A test names what it shows with `@pytest.mark.req("L-06")`. A requirement of several claims has parts, and a test names
the part: `@pytest.mark.req("L-16.summary")`. Rule: a requirement with parts counts as shown only if each of its parts
has a test.
"""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
_INTRODUCTION = (
    "What Duologue must do, and the tests that show it. A requirement that makes several claims has parts. It is shown",
    "when each part has a test. *Amended* gives the reason why a requirement differs from its source.",
)


def requirements_page(notice: str) -> str:
    """The text of the page."""
    data, proofs = read_requirements(), proven()
    lines = ["# Requirements", "", notice, "", *_INTRODUCTION, ""]
    for part in data["part"]:
        mine = [entry for entry in data["requirement"] if entry["id"].split("-")[0] == part["key"]]
        shown = sum(is_shown(entry, proofs) for entry in mine)
        lines += [f"## {part['key']} · {part['title']}", "", f"{shown} of {len(mine)} shown by tests.", ""]
        lines += ["| id | requirement | shown by |", "|---|---|---|"]
        lines += [f"| {entry['id']} | {_text(entry)} | {_proof(entry, proofs)} |" for entry in mine]
        lines.append("")
    return "\n".join(lines)


def read_requirements() -> dict[str, Any]:
    return tomllib.loads((ROOT / "docs" / "requirements.toml").read_text(encoding="utf-8"))


def ids_of(entry: Mapping[str, Any]) -> Iterator[str]:
    """The ids that a test of this requirement may carry."""
    yield entry["id"]
    yield from (f"{entry['id']}.{part}" for part in entry.get("parts", {}))


def is_shown(entry: Mapping[str, Any], proofs: Mapping[str, list[str]]) -> bool:
    """Does a test show this requirement or, if it has parts, each of them?"""
    _, *parts = ids_of(entry)
    return all(part in proofs for part in parts) if parts else entry["id"] in proofs


def _text(entry: Mapping[str, Any]) -> str:
    amended = f"<br>*Amended:* {entry['amended']}" if "amended" in entry else ""
    return f"{entry['text']}{amended}".replace("|", "/")


def _proof(entry: Mapping[str, Any], proofs: Mapping[str, list[str]]) -> str:
    lines = [f"`{test}`" for test in sorted(proofs.get(entry["id"], ()))]
    for part, claim in entry.get("parts", {}).items():
        tests = [f"`{test}`" for test in sorted(proofs.get(f"{entry['id']}.{part}", ()))]
        lines.append(f"*{claim}:*" if tests else f"**Not shown yet:** {claim}")
        lines += tests
    return "<br>".join(lines).replace("|", "/")


# -- The marks in the tests


@cache
def proven() -> dict[str, list[str]]:
    """The ids of requirements and of their parts, each with the tests that carry it."""
    found: dict[str, list[str]] = {}
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        module = ast.parse(path.read_text(encoding="utf-8"))
        everywhere = [name for node in module.body if isinstance(node, ast.Assign) for name in _ids(node.value)]
        for node in ast.walk(module):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
                ids = [*everywhere, *(name for mark in node.decorator_list for name in _ids(mark))]
                for name in ids:
                    found.setdefault(name, []).append(f"{path.stem}::{node.name}")
    return found


def _ids(node: ast.expr) -> Iterator[str]:
    """The ids in `pytest.mark.req("L-01", ...)`, wherever it stands in this expression."""
    for call in ast.walk(node):
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "req":
            yield from (str(arg.value) for arg in call.args if isinstance(arg, ast.Constant))
