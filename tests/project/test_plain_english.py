"""Docstrings, comments and messages of the product name the actor and the fact; requirement ids are only in tests."""

from __future__ import annotations

import io
import re
import tokenize
from functools import cache
from pathlib import Path

SRC = Path(__file__).parents[2] / "src" / "duologue"
IDIOM = re.compile(r"\b[Nn]obody\b|\b[Ss]omebody\b|\b[Ww]hoever\b|\b[Aa]nybody\b|\banew\b|\b(?:is|are) none\b")
REQUIREMENT = re.compile(r"\b(?:L|T|V|M|D|H)-\d{2}\b|\bC-[A-Z]{2,3}(?:-\d{3})?\b")
FILES = [path for path in sorted(SRC.rglob("*.py")) if "english" not in path.parts]
PAGES = sorted(path for path in (SRC / "server" / "web").rglob("*") if path.suffix in (".js", ".html", ".css"))


UNIX_USER = re.compile(r'"nobody"|the user nobody')


@cache
def prose_of(path: Path) -> tuple[tuple[int, str], ...]:
    """The comments and strings of a Python file, with their lines."""
    source = io.StringIO(path.read_text(encoding="utf-8"))
    kinds = (tokenize.COMMENT, tokenize.STRING, getattr(tokenize, "FSTRING_MIDDLE", tokenize.STRING))
    return tuple(
        (token.start[0], UNIX_USER.sub("", token.string))
        for token in tokenize.generate_tokens(source.readline)
        if token.type in kinds
    )


def found_in_modules(pattern: re.Pattern[str]) -> list[str]:
    """Where the prose of the modules has this pattern."""
    return [
        f"{path.relative_to(SRC)}:{line} {match.group()}"
        for path in FILES
        if pattern.search(path.read_text(encoding="utf-8"))  # few files have it anywhere, and reading prose is slow
        for line, text in prose_of(path)
        for match in pattern.finditer(text)
    ]


def found_in_pages(pattern: re.Pattern[str]) -> list[str]:
    """Where the files of the panel have this pattern."""
    return [
        f"{path.relative_to(SRC)} {found}"
        for path in PAGES
        for found in pattern.findall(path.read_text(encoding="utf-8"))
    ]


def test_modules_are_written_in_plain_english() -> None:
    assert not found_in_modules(IDIOM)


def test_modules_name_no_requirement() -> None:
    assert not found_in_modules(REQUIREMENT)


def test_the_files_of_the_panel_are_written_in_plain_english() -> None:
    assert not found_in_pages(IDIOM)
    assert not found_in_pages(REQUIREMENT)
