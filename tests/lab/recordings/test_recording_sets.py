"""Sets of recordings: a list is read or refused in one line, and every decision becomes a line."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from duologue.core.errors import DuologueError
from duologue.lab.recordings.listener import RATE_HZ
from duologue.lab.recordings.recording_sets import RecordingRow, decide, read_rows
from tests.lab.recordings.made_up_speech import (
    joined,
    listener,
    say,
    silence,
    wav,
)

KINDS = {"end_of_turn", "hold", "barge_in", "resume", "noise"}


def test_a_set_gives_a_line_for_every_decision(tmp_path: Path) -> None:
    wav(tmp_path / "one.wav", joined(silence(0.2), say(3, 5), silence(0.2)))
    wav(tmp_path / "two.wav", joined(silence(0.2), say(4, 6), silence(1), say(7), silence(0.2)))
    wav(tmp_path / "agent.wav", np.full(2 * RATE_HZ, 0.001, np.float32))
    labels = tmp_path / "labels.jsonl"
    rows: list[dict[str, object]] = [
        {"id": "a", "wav": "one.wav", "end_ms": 600},
        {"id": "b", "wav": "two.wav", "agent_wav": "agent.wav"},
    ]
    labels.write_text("\n\n".join(json.dumps(row) for row in rows) + "\n", encoding="utf-8")
    done: list[int] = []
    lines = list(decide(listener(), read_rows(labels), lambda: done.append(1)))
    assert {line["id"] for line in lines} == {"a", "b"}
    assert len(done) == 2
    for line in lines:
        assert set(line) == {"id", "t_ms", "kind", "reasons", "confidence"}
        assert line["kind"] in KINDS
        assert type(line["t_ms"]) is int
        assert json.loads(json.dumps(line)) == line
    for name in "ab":
        times = [line["t_ms"] for line in lines if line["id"] == name]
        assert times == sorted(times)
    assert [line["kind"] for line in lines if line["id"] == "a"] == ["end_of_turn"]


def test_file_names_are_relative_to_the_folder_of_the_list(tmp_path: Path) -> None:
    labels = tmp_path / "labels.jsonl"
    labels.write_text('{"id": "a", "wav": "x/one.wav", "agent_wav": "/y/two.wav"}', encoding="utf-8")
    assert read_rows(labels) == [RecordingRow("a", tmp_path / "x" / "one.wav", Path("/y/two.wav"))]


BAD_LISTS: dict[str, tuple[bytes, str]] = {
    "empty": (b"", "is empty: expected"),
    "blank": (b"\n \n", "is empty: expected"),
    "not json": (b'{"id": "a", "wav": "a.wav"}\nid,wav\n', ":2: not JSON"),
    "cut": (b'{"id": "a", "wav": "a.w', ":1: not JSON"),
    "no id": (b'{"wav": "a.wav"}', 'expected an object with the strings "id" and "wav"'),
    "no wav": (b'{"id": "a"}', 'expected an object with the strings "id" and "wav"'),
    "number": (b'{"id": 7, "wav": "a.wav"}', 'expected an object with the strings "id" and "wav"'),
    "list": (b'["a", "a.wav"]', 'expected an object with the strings "id" and "wav"'),
    "binary": (b"\xff\xfe\x00R", "can't be read: not UTF-8 text"),
    "agent is a number": (b'{"id": "a", "wav": "a.wav", "agent_wav": 7}', ""),
}


@pytest.mark.parametrize("name", [name for name in BAD_LISTS if name != "agent is a number"])
def test_a_list_that_cant_be_used_is_refused_in_one_line(tmp_path: Path, name: str) -> None:
    content, why = BAD_LISTS[name]
    labels = tmp_path / "labels.jsonl"
    labels.write_bytes(content)
    with pytest.raises(DuologueError) as refusal:
        read_rows(labels)
    message = str(refusal.value)
    assert message.startswith(str(labels))
    assert why in message
    assert "\n" not in message


# A past bug: an `agent_wav` that isn't a string was ignored, as if the agent were silent.
def test_a_row_with_a_nonsensical_agent_side_is_refused(tmp_path: Path) -> None:
    labels = tmp_path / "labels.jsonl"
    labels.write_bytes(BAD_LISTS["agent is a number"][0])
    with pytest.raises(DuologueError):
        read_rows(labels)


def test_a_list_that_is_missing_or_a_folder_is_one_line(tmp_path: Path) -> None:
    for path in (tmp_path / "none.jsonl", tmp_path):
        with pytest.raises(DuologueError, match="can't be read") as refusal:
            read_rows(path)
        assert "\n" not in str(refusal.value)


# A past bug: `splitlines` also splits at U+2028, U+0085 and the like, which JSON allows inside a string.
@pytest.mark.parametrize("sign", ["\u2028", "\u0085", "é"])
def test_a_row_may_hold_any_text(tmp_path: Path, sign: str) -> None:
    labels = tmp_path / "labels.jsonl"
    row = {"id": "a", "wav": "a.wav", "text": f"one{sign}two"}
    labels.write_text(json.dumps(row, ensure_ascii=False) + "\n", encoding="utf-8")
    assert [found.id for found in read_rows(labels)] == ["a"]


def test_a_recording_of_a_set_that_is_missing_is_named(tmp_path: Path) -> None:
    labels = tmp_path / "labels.jsonl"
    labels.write_text('{"id": "a", "wav": "none.wav"}', encoding="utf-8")
    with pytest.raises(ValueError, match=r"none\.wav: No such file"):
        list(decide(listener(), read_rows(labels), lambda: None))
