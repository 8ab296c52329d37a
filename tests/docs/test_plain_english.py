"""Pages are written in plain English, and requirement ids are in pages for authors only."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
GENERATED = (
    "machine.md",
    "promises.md",
    "requirements.md",
    "views.md",
    "commands.md",
    "troubleshooting.md",
    "mutants.md",
)
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").rglob("*.md"))]
IDIOM = re.compile(r"\b[Nn]obody\b|\b[Ss]omebody\b|\b[Ww]hoever\b|\b[Aa]nybody\b|\banew\b|\b(?:is|are) none\b")
REQUIREMENT = re.compile(r"\b(?:L|T|V|M|D|H|C-[A-Z]{3})-\d{2,3}\b")


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_a_page_names_the_actor_and_the_fact(path: Path) -> None:
    if path.name not in GENERATED:  # these take their sentences from the code
        assert not [match.group() for match in IDIOM.finditer(path.read_text(encoding="utf-8"))]


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_requirement_ids_are_in_pages_for_authors_only(path: Path) -> None:
    if path.name not in ("requirements.md", "CONTRIBUTING.md"):
        assert not REQUIREMENT.findall(path.read_text(encoding="utf-8"))
