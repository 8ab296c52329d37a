"""The table of docs/providers.md: LiveKit's plugins, and what was tried with each.

The plugins come from docs/providers.toml, which tools/survey_plugins.py writes. Rule: what was tried comes from the
tests: a test module that runs a real plugin against a server names its parts in `TRIED`, and a test module that only
makes a plugin and maps its events names them in `MAPPED`.
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
PARTS = ("STT", "TTS", "LLM")
SERVER, EVENTS, UNTRIED = "server", "events", "not tried"


def providers_page() -> str:
    """The page with its table as it is now. The text around the table is written by hand."""
    survey = tomllib.loads((ROOT / "docs" / "providers.toml").read_text(encoding="utf-8"))
    page = (ROOT / "docs" / "providers.md").read_text(encoding="utf-8")
    before, rest = page.split(BEGIN)
    _, after = rest.split(END)
    before = re.sub(r"wheels of version [\d.]+", f"wheels of version {survey['version']}", before)
    return "\n".join([before + BEGIN, "", *table(survey["plugins"]), "", END + after])


def table(plugins: dict[str, dict[str, str]]) -> list[str]:
    """One line for each plugin. The cell of each part says how that part was tried."""
    known = tried()
    counts = {part: sum(part in plugin["parts"].split() for plugin in plugins.values()) for part in PARTS}
    cells = {
        name: [_cell(part, plugin, known.get(name, {})) for part in PARTS] for name, plugin in sorted(plugins.items())
    }
    every = [cell for row in cells.values() for cell in row if cell]
    lines = [
        f"{len(plugins)} plugins: {counts['STT']} with STT, {counts['TTS']} with TTS, {counts['LLM']} with an LLM. "
        f"Of these {len(every)} cells, {sum(cell.startswith(SERVER) for cell in every)} were tried against a server, "
        f"{sum(cell.startswith(EVENTS) for cell in every)} with recorded or scripted events only, and "
        f"{sum(cell == UNTRIED for cell in every)} not at all.",
        "",
        "| plugin | STT | TTS | LLM | word times | native SDK |",
        "|---|---|---|---|---|---|",
    ]
    for name, row in cells.items():
        plugin = plugins[name]
        lines.append(f"| `{name}` | {' | '.join(row)} | {plugin['word_times']} | {plugin['native']} |")
    return lines


def tried() -> dict[str, dict[str, list[str]]]:
    """For each plugin and part: how it was tried, and in which test module."""
    found: dict[str, dict[str, list[str]]] = {}
    for folder in TESTS:
        for path in sorted((ROOT / folder).glob("test_*.py")):
            for constant, how in (("TRIED", SERVER), ("MAPPED", EVENTS)):
                for name, part in _constant(path, constant):
                    part, _, variant = part.partition(" ")
                    cell = f"{how}{f' {variant}' if variant else ''} (`{path.parent.name}/{path.stem}`)"
                    found.setdefault(name, {}).setdefault(part, []).append(cell)
    return found


def _constant(path: Path, wanted: str) -> list[tuple[str, str]]:
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and any(isinstance(one, ast.Name) and one.id == wanted for one in node.targets):
            value: Any = ast.literal_eval(node.value)
            return list(value)
    return []


def _cell(part: str, plugin: dict[str, str], known: dict[str, list[str]]) -> str:
    """How this part of a plugin was tried; empty if the plugin doesn't have it."""
    if part not in plugin["parts"].split():
        return ""
    return "; ".join(sorted(known.get(part, []), key=lambda cell: not cell.startswith(SERVER))) or UNTRIED
