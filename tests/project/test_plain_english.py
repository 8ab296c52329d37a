"""Docstrings, comments and messages of the product name the actor and the fact; requirement ids are only in tests."""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

SRC = Path(__file__).parents[2] / "src" / "duologue"
IDIOM = re.compile(r"\b[Nn]obody\b|\b[Ss]omebody\b|\b[Ww]hoever\b|\b[Aa]nybody\b|\banew\b|\b(?:is|are) none\b")
REQUIREMENT = re.compile(r"\b(?:L|T|V|M|D|H)-\d{2}\b|\bC-[A-Z]{2,3}(?:-\d{3})?\b")
FILES = [path for path in sorted(SRC.rglob("*.py")) if "english" not in path.parts]
PAGES = sorted(path for path in (SRC / "server" / "web").rglob("*") if path.suffix in (".js", ".html", ".css"))


UNIX_USER = re.compile(r'"nobody"|the user nobody')


def prose_of(path: Path) -> Iterator[tuple[int, str]]:
    """The comments and strings of a Python file, with their lines."""
    source = io.StringIO(path.read_text(encoding="utf-8"))
    for token in tokenize.generate_tokens(source.readline):
        if token.type in (tokenize.COMMENT, tokenize.STRING, getattr(tokenize, "FSTRING_MIDDLE", tokenize.STRING)):
            yield token.start[0], UNIX_USER.sub("", token.string)


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SRC)))
def test_a_module_is_written_in_plain_english(path: Path) -> None:
    found = [(line, match.group()) for line, text in prose_of(path) for match in IDIOM.finditer(text)]
    assert not found


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SRC)))
def test_a_module_names_no_requirement(path: Path) -> None:
    found = [(line, match.group()) for line, text in prose_of(path) for match in REQUIREMENT.finditer(text)]
    assert not found


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(SRC)))
def test_a_file_of_the_panel_is_written_in_plain_english(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert not IDIOM.findall(text)
    assert not REQUIREMENT.findall(text)
