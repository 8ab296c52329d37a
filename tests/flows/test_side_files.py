"""Files beside a flow file."""

from __future__ import annotations

from pathlib import Path

import pytest

from duologue.flows.side_files import UnreadableSideFile, read_side_file


def test_a_file_in_the_folder_is_read(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("hello", encoding="utf-8")
    assert read_side_file("a.txt", tmp_path, 10, "") == (tmp_path / "a.txt", "hello")


@pytest.mark.parametrize(
    ("name", "why"),
    [("../b.txt", "outside"), ("none.txt", "can't be read"), ("large.txt", "too large"), ("odd.txt", "UTF-8")],
)
def test_other_files_are_refused(name: str, why: str, tmp_path: Path) -> None:
    folder = tmp_path / "flows"
    folder.mkdir()
    (tmp_path / "b.txt").write_text("secret", encoding="utf-8")
    (folder / "large.txt").write_text("x" * 11, encoding="utf-8")
    (folder / "odd.txt").write_bytes(b"\xff")
    with pytest.raises(UnreadableSideFile, match=why):
        read_side_file(name, folder, 10, "")


def test_flows_without_a_folder_have_no_files() -> None:
    with pytest.raises(UnreadableSideFile, match="write it here"):
        read_side_file("a.txt", None, 10, "write it here")
