"""Generated docs say what the code says today."""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
sys.path.insert(0, str(ROOT / "tools"))

import write_docs  # noqa: E402 (the tool is not a package)

PAGES = dict(write_docs.pages())


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_a_generated_page_is_up_to_date(path: Path) -> None:
    assert path.read_text(encoding="utf-8") == PAGES[path](), "run `make docs`"


def test_every_id_that_a_test_carries_is_a_requirement() -> None:
    data = tomllib.loads((ROOT / "docs" / "requirements.toml").read_text(encoding="utf-8"))
    known = {entry["id"] for entry in data["requirement"]}
    assert set(write_docs.proven()) <= known


def test_no_requirement_is_listed_twice() -> None:
    data = tomllib.loads((ROOT / "docs" / "requirements.toml").read_text(encoding="utf-8"))
    ids = [entry["id"] for entry in data["requirement"]]
    assert len(ids) == len(set(ids))
