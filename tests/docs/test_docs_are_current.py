"""Generated docs say what the code says today."""

from __future__ import annotations

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


def test_a_requirement_is_shown_only_if_each_of_its_parts_is() -> None:
    entry = {"id": "X-01", "text": "Both.", "parts": {"one": "the first half", "two": "the second half"}}
    assert list(page.ids_of(entry)) == ["X-01", "X-01.one", "X-01.two"]
    half = {"X-01": ["test_a::test_both"], "X-01.one": ["test_a::test_one"]}
    assert not page.is_shown(entry, half)
    assert page.is_shown(entry, {**half, "X-01.two": ["test_a::test_two"]})
    assert page.is_shown({"id": "X-02", "text": "One."}, {"X-02": ["test_a::test_b"]})
    assert not page.is_shown({"id": "X-02", "text": "One."}, {})
