"""Loading a flow file: files that can't be read, and files that aren't flows."""

from __future__ import annotations

from pathlib import Path

import pytest

from duologue.core.errors import DuologueError
from duologue.flows import InvalidFlows, load_flows
from tests.flows.flow_problems import problems_of

NOT_FLOWS = [
    (
        "",
        "1: the file is empty; a flow file has `version: 1`, `slots` and `flows`",
    ),
    (
        "# nothing\n",
        "1: the file is empty; a flow file has `version: 1`, `slots` and `flows`",
    ),
    (
        "just words",
        "1: the file isn't a mapping; a flow file has `version: 1`, `slots` and `flows`",
    ),
    (
        "- a\n- b",
        "1: the file isn't a mapping; a flow file has `version: 1`, `slots` and `flows`",
    ),
]


@pytest.mark.parametrize(("text", "expected"), NOT_FLOWS, ids=["empty", "comment", "text", "list"])
def test_a_file_without_flows_is_refused_in_one_line(text: str, expected: str) -> None:
    assert problems_of(text) == [expected]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"\xff\xfe\x00binary", "the file isn't UTF-8 text; save it in this encoding"),
        (b"x" * 1_000_001, "the file is too large; at most 1,000,000 bytes are allowed"),
    ],
)
def test_a_file_that_is_not_text_is_refused_in_one_line(content: bytes, expected: str, tmp_path: Path) -> None:
    file = tmp_path / "f.yaml"
    file.write_bytes(content)
    with pytest.raises(InvalidFlows) as caught:
        load_flows(file)
    assert str(caught.value) == f"{file}: {expected}"


def test_a_missing_file_is_reported(tmp_path: Path) -> None:
    for file in (tmp_path / "none.yaml", tmp_path):
        with pytest.raises(DuologueError, match="directory"):
            load_flows(file)
