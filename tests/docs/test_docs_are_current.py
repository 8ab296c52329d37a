"""Generated docs say what the code says today."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
sys.path.insert(0, str(ROOT / "tools"))

import requirements_page as page  # noqa: E402 (the tools are not a package)
import write_docs  # noqa: E402

PAGES = dict(write_docs.pages())


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_a_generated_page_is_up_to_date(path: Path) -> None:
    assert path.read_text(encoding="utf-8") == PAGES[path](), "run `make docs`"


def test_every_id_that_a_test_carries_is_a_requirement_or_a_part_of_one() -> None:
    known = {name for entry in page.read_requirements()["requirement"] for name in page.ids_of(entry)}
    assert set(page.proven()) <= known


def test_no_requirement_is_listed_twice() -> None:
    ids = [entry["id"] for entry in page.read_requirements()["requirement"]]
    assert len(ids) == len(set(ids))


# Rules of the machine and of what the user hears that have several sentences and no parts: their tests aren't told
# apart by claim. A new requirement of several sentences has parts.
NOT_DIVIDED = {
    *("M-01", "M-03", "M-04", "M-05", "M-06", "M-09", "M-13", "M-14", "M-15", "M-18", "M-19", "M-20", "M-21"),
    *("H-15", "H-16", "H-17"),
}


def test_a_requirement_of_several_sentences_has_parts_or_is_listed() -> None:
    entries = [one for one in page.read_requirements()["requirement"] if one["id"][0] in "HM"]
    several = {one["id"] for one in entries if re.search(r"[.?!] [A-Z]", one["text"]) and "parts" not in one}
    assert several == NOT_DIVIDED


def test_a_test_names_the_parts_that_it_shows_of_a_rule_with_parts() -> None:
    """A mark of the whole requirement would hide which claim a test shows."""
    divided = {one["id"] for one in page.read_requirements()["requirement"] if one["id"][0] in "HM" and "parts" in one}
    assert divided >= {"H-01", "H-11", "M-08"}
    assert not divided & set(page.proven())


def test_a_requirement_is_shown_only_if_each_of_its_parts_is() -> None:
    entry = {"id": "X-01", "text": "Both.", "parts": {"one": "the first half", "two": "the second half"}}
    assert list(page.ids_of(entry)) == ["X-01", "X-01.one", "X-01.two"]
    half = {"X-01": ["test_a::test_both"], "X-01.one": ["test_a::test_one"]}
    assert not page.is_shown(entry, half)
    assert page.is_shown(entry, {**half, "X-01.two": ["test_a::test_two"]})
    assert page.is_shown({"id": "X-02", "text": "One."}, {"X-02": ["test_a::test_b"]})
    assert not page.is_shown({"id": "X-02", "text": "One."}, {})
