"""The table of docs/providers.md: LiveKit's plugins, and what was tried with each.

The plugins come from docs/providers.toml, which tools/survey_plugins.py writes. Rule: what was tried comes from the
tests: a test module that runs a real plugin names it in `TRIED`.
"""

from __future__ import annotations

import ast
import re
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
TESTS = ("tests/plugins", "tests/providers")
BEGIN, END = "<!-- The table is written by `make docs`. -->", "<!-- The end of the table. -->"
_WORDS = {"STT": "ears", "TTS": "voice", "LLM": "brain"}


def providers_page() -> str:
    """The page with its table as it is now. The text around the table is written by hand."""
    survey = tomllib.loads((ROOT / "docs" / "providers.toml").read_text(encoding="utf-8"))
    page = (ROOT / "docs" / "providers.md").read_text(encoding="utf-8")
    before, rest = page.split(BEGIN)
    _, after = rest.split(END)
    before = re.sub(r"wheels of version [\d.]+", f"wheels of version {survey['version']}", before)
    return "\n".join([before + BEGIN, "", *table(survey["plugins"]), "", END + after])


def table(plugins: dict[str, dict[str, str]]) -> list[str]:
    """One line for each plugin."""
    known = tried()
    counts = {part: sum(part in plugin["parts"].split() for plugin in plugins.values()) for part in _WORDS}
    lines = [
        f"{len(plugins)} plugins: {counts['STT']} with STT, {counts['TTS']} with TTS, {counts['LLM']} with an LLM.",
        "",
        "| plugin | STT | TTS | LLM | word times | tried |",
        "|---|---|---|---|---|---|",
    ]
    for name, plugin in sorted(plugins.items()):
        parts = plugin["parts"].split()
        marks = " | ".join("yes" if part in parts else "" for part in _WORDS)
        lines.append(f"| `{name}` | {marks} | {plugin['word_times']} | {_how(plugin, known.get(name, []))} |")
    return lines


def tried() -> dict[str, list[tuple[str, str]]]:
    """For each plugin, the parts that a test runs and the test module."""
    found: dict[str, list[tuple[str, str]]] = {}
    for folder in TESTS:
        for path in sorted((ROOT / folder).glob("test_*.py")):
            for name, part in _constant(path):
                found.setdefault(name, []).append((part, f"{path.parent.name}/{path.stem}"))
    return found


def _constant(path: Path) -> list[tuple[str, str]]:
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and any(
            isinstance(one, ast.Name) and one.id == "TRIED" for one in node.targets
        ):
            value: Any = ast.literal_eval(node.value)
            return list(value)
    return []


def _how(plugin: dict[str, str], known: list[tuple[str, str]]) -> str:
    if known:
        return "; ".join(f"{part}: real plugin, local server (`{where}`)" for part, where in known)
    if plugin["native"]:
        return f"no: needs {plugin['native']}; its events are mapped as all others"
    return "no"
