"""The starter project and the examples are written whole, and never over something that is there."""

from __future__ import annotations

from pathlib import Path

import pytest

from duologue.core.errors import DuologueError
from duologue.starter.write_project import FILES, example_files, example_names, write_example, write_project


def test_the_project_is_written_whole(tmp_path: Path) -> None:
    files = write_project(tmp_path / "mine")
    assert [file.name for file in files] == list(FILES)
    assert all(file.stat().st_size for file in files)


def test_a_file_that_exists_is_never_overwritten(tmp_path: Path) -> None:
    (tmp_path / "agent.py").write_text("mine", encoding="utf-8")
    with pytest.raises(DuologueError, match=r"already has agent\.py; choose another folder"):
        write_project(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["agent.py"]


@pytest.mark.parametrize("name", example_names())
def test_an_example_comes_with_every_file_that_it_names(name: str, tmp_path: Path) -> None:
    files = write_example(name, tmp_path)
    assert files
    assert all(file.read_text(encoding="utf-8").strip() for file in files)


def test_an_example_brings_the_list_of_names_that_its_flows_use() -> None:
    assert {"flights.yaml", "flights.py", "cities.txt"} <= {path.name for path in example_files("flights")}


def test_an_unknown_example_is_refused_with_the_known_ones() -> None:
    with pytest.raises(DuologueError, match=r"unknown example 'unicorn'; use one of .*flights.*table"):
        example_files("unicorn")


def test_a_folder_that_cant_be_made_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(DuologueError, match="can't be written"):
        write_project(tmp_path / "file" / "folder")
