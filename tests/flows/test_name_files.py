"""Lists of names in files."""

from __future__ import annotations

from pathlib import Path

import pytest

from duologue.flows import InvalidFlows, load_flows
from tests.flows.flow_problems import FILE, problems_of


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        ("none.txt", "file 'none.txt' can't be read: No such file or directory"),
        ("../secret.txt", "file '../secret.txt' is outside the folder of the flow file; move it there"),
        ("/etc/passwd", "file '/etc/passwd' is outside the folder of the flow file; move it there"),
        ("empty.txt", "file 'empty.txt' contains no names; write one name per line"),
        ("binary.txt", "file 'binary.txt' isn't UTF-8 text; save it in this encoding"),
    ],
)
def test_a_list_of_names_that_cannot_be_read_is_reported(names: str, expected: str, tmp_path: Path) -> None:
    folder = tmp_path / "flows"
    folder.mkdir()
    (tmp_path / "secret.txt").write_text("Paris", encoding="utf-8")
    (folder / "empty.txt").write_text("# nothing\n", encoding="utf-8")
    (folder / "binary.txt").write_bytes(b"\xff\xfe")
    file = folder / "f.yaml"
    file.write_text(FILE + f"slots:\n  city: {{type: name, names: {names}}}", encoding="utf-8")
    with pytest.raises(InvalidFlows) as caught:
        load_flows(file)
    assert str(caught.value) == f"{file}:4: slots.city.names: {expected}"


def test_a_file_of_names_needs_a_folder_to_be_read_from() -> None:
    assert problems_of(FILE + "slots:\n  a: {type: name, names: x.txt}") == [
        "4: slots.a.names: file 'x.txt' can't be found, because the flows aren't in a file; write the names as a list"
    ]


def test_names_are_read_from_a_file_next_to_the_flows(tmp_path: Path) -> None:
    (tmp_path / "cities.txt").write_text("# cities\nParis\nNew York | NYC | Big Apple\n\n", encoding="utf-8")
    file = tmp_path / "trip.yaml"
    slots = "city: {type: name, prompt: x, names: cities.txt}"
    file.write_text(f"version: 1\nslots:\n  {slots}\nflows: {{go: {{steps: [{{collect: city}}]}}}}\n", encoding="utf-8")
    names = load_flows(file).slots["city"].names
    assert names is not None
    assert sorted(names.values.values()) == ["New York", "New York", "New York", "Paris"]
