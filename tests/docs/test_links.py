"""Every relative link and anchor in docs/, README.md and the other pages leads somewhere, without building the site."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parent.parent.parent
DOCS = ROOT / "docs"
PAGES = sorted([*DOCS.rglob("*.md"), *ROOT.glob("*.md")])
LINK = re.compile(r"!?\[(?:[^\[\]]|\[[^\]]*\])*\]\(([^()\s]+(?:\([^()]*\))?)\)")
FENCE = re.compile(r"^(```|~~~).*?^\1", re.DOTALL | re.MULTILINE)


def links(path: Path) -> Iterator[str]:
    """The targets of the links on a page that lead into the project; code is left out."""
    text = FENCE.sub("", path.read_text(encoding="utf-8"))
    text = re.sub(r"``[^`]+``|`[^`\n]+`", lambda code: re.sub(r"[\[\]()]", "·", code.group()), text)
    for target in LINK.findall(text):
        if not re.match(r"[a-z]+:", target):
            yield target


@cache
def anchors(path: Path) -> set[str]:
    """The anchors of a page: its headings, as the site and code hosts name them, and explicit ones."""
    text = FENCE.sub("", path.read_text(encoding="utf-8"))
    found = set(re.findall(r"\{#([\w-]+)\}", text))
    for heading in re.findall(r"^#{1,6} +(.+?) *#*$", text, re.MULTILINE):
        anchor = anchor_of(heading)
        number = 1
        while anchor in found:
            anchor, number = f"{anchor_of(heading)}_{number}", number + 1
        found.add(anchor)
    return found


def anchor_of(heading: str) -> str:
    """As Python-Markdown's toc makes it."""
    plain = re.sub(r"`|\*|\[([^\]]*)\]\([^)]*\)", lambda match: match.group(1) or "", heading)
    plain = re.sub(r"[^\w\s-]", "", plain).strip().lower()
    return re.sub(r"[-\s]+", "-", plain)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_leads_to_a_file_and_a_heading(page: Path) -> None:
    broken = []
    for target in links(page):
        place, _, anchor = target.partition("#")
        path = (page.parent / place).resolve() if place else page
        is_generated_reference = "reference" in path.parts
        if not path.exists():
            broken.append(f"{target}: there is no {place}")
        elif anchor and path.suffix == ".md" and not is_generated_reference and anchor not in anchors(path):
            broken.append(f"{target}: {path.name} has no heading #{anchor}")
    assert not broken, "\n".join(broken)


@pytest.mark.parametrize("page", sorted(DOCS.rglob("*.md")), ids=lambda page: str(page.relative_to(DOCS)))
def test_a_page_of_the_site_links_only_to_the_site(page: Path) -> None:
    outside = [target for target in links(page) if target.startswith("..") and not _is_inside(page, target)]
    assert not outside, f"not part of the site, so write the path as code: {outside}"


def _is_inside(page: Path, target: str) -> bool:
    return (page.parent / target.partition("#")[0]).resolve().is_relative_to(DOCS)


def test_every_page_is_in_the_navigation_once() -> None:
    outline = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))["nav"]
    listed = list(_pages_of(outline))
    assert sorted(listed) == sorted(str(page.relative_to(DOCS)) for page in DOCS.rglob("*.md"))


def test_every_page_is_in_the_index_for_language_models() -> None:
    index = (DOCS / "llms.txt").read_text(encoding="utf-8")
    missing = [page for page in DOCS.rglob("*.md") if f"({page.relative_to(DOCS)})" not in index]
    assert not missing
    broken = [target for target in LINK.findall(index) if not (DOCS / target).exists()]
    assert not broken


def test_every_snippet_exists() -> None:
    for page in DOCS.rglob("*.md"):
        for path in re.findall(r'--8<-- "([^"]+)"', page.read_text(encoding="utf-8")):
            assert (ROOT / path).exists(), f"{page.name} shows {path}"


def _pages_of(outline: object) -> Iterator[str]:
    if isinstance(outline, str):
        yield outline
    elif isinstance(outline, list):
        for part in outline:
            yield from _pages_of(part)
    elif isinstance(outline, dict):
        for part in outline.values():
            yield from _pages_of(part)
