"""Which source files of a folder have changed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from duologue.cli import watched_files
from duologue.cli.watched_files import changed_files, read_stamps


def test_a_file_that_is_new_changed_or_gone_is_named(tmp_path: Path) -> None:
    for name in ("agent.py", "flows.yaml", "gone.py"):
        (tmp_path / name).write_text("1")
    before = read_stamps(tmp_path)
    (tmp_path / "agent.py").write_text("22")
    (tmp_path / "gone.py").unlink()
    (tmp_path / "new.py").write_text("3")
    assert [path.name for path in changed_files(before, read_stamps(tmp_path))] == ["agent.py", "gone.py", "new.py"]


def test_a_save_without_a_new_size_is_noticed_by_its_time(tmp_path: Path) -> None:
    file = tmp_path / "agent.py"
    file.write_text("1")
    before = read_stamps(tmp_path)
    os.utime(file, ns=(1, 1))
    assert changed_files(before, read_stamps(tmp_path)) == (file,)


@pytest.mark.parametrize("place", [".git", "node_modules", "__pycache__", ".venv", "venv"])
def test_folders_of_other_programs_are_not_read(tmp_path: Path, place: str) -> None:
    (tmp_path / place).mkdir()
    (tmp_path / place / "x.py").write_text("1")
    (tmp_path / "notes.wav").write_text("1")
    assert read_stamps(tmp_path) == {}


def test_a_huge_folder_is_read_in_part(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watched_files, "FILES_MAX", 2)
    for name in "abc":
        (tmp_path / f"{name}.py").write_text("1")
    assert len(read_stamps(tmp_path)) == 2
