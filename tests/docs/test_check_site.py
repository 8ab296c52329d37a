"""The check of the built site finds what a page would load from another host."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
sys.path.insert(0, str(ROOT / "tools"))

import check_site  # noqa: E402 (the tool is not a package)


@pytest.mark.parametrize(
    "page",
    [
        '<script src="https://cdn.example/a.js"></script>',
        '<link rel="stylesheet" href="//fonts.example/a.css">',
        '<img src="http://pictures.example/a.png">',
    ],
)
def test_a_page_that_loads_from_another_host_is_found(tmp_path: Path, page: str) -> None:
    (tmp_path / "index.html").write_text(page, encoding="utf-8")
    assert len(check_site.foreign_addresses(tmp_path)) == 1
    assert check_site.main(tmp_path) == 1


def test_a_style_that_imports_from_another_host_is_found(tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text("<p>", encoding="utf-8")
    (tmp_path / "a.css").write_text(
        '@import "https://fonts.example/a.css"; a { background: url(b.png) }', encoding="utf-8"
    )
    assert [address for _, address in check_site.foreign_addresses(tmp_path)] == ["https://fonts.example/a.css"]


def test_links_and_files_of_the_site_are_fine(tmp_path: Path) -> None:
    page = '<a href="https://example.org">there</a><script src="a.js"></script><link rel="canonical" href="https://x.example">'
    (tmp_path / "index.html").write_text(page, encoding="utf-8")
    assert check_site.main(tmp_path) == 0


def test_a_site_that_was_not_built_is_an_error(tmp_path: Path) -> None:
    assert check_site.main(tmp_path) == 1
