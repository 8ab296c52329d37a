"""Recorded calls in a folder: those that replay are used, and of the others the reason is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from duologue.lab.tune.calls import RecordedCall, UnusableCall, find_calls, read_call
from duologue.lab.tune.policies import RECORDED
from duologue.observe.recorder import ears_path
from duologue.replay.redact import redact_ears
from tests.lab.tune.made_calls import Caller, record


async def _asks(caller: Caller) -> None:
    await caller.say("what is the weather like")
    await caller.wait(3_000)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "monday").mkdir()
    record(tmp_path / "monday" / "call.jsonl", _asks)
    return tmp_path


def test_calls_in_folders_are_found_with_their_names(folder: Path) -> None:
    (call,) = find_calls(folder)
    assert isinstance(call, RecordedCall)
    assert call.name == "monday/call"
    assert not call.has_sound
    assert [pause.wait_ms for pause in call.decide(RECORDED).pauses] == [700]


def _cut(path: Path) -> None:
    path.write_text("".join(path.read_text("utf-8").splitlines(keepends=True)[:4])[:-20], "utf-8")


def test_a_call_whose_recording_was_cut_off_is_used_up_to_there(folder: Path) -> None:
    path = folder / "monday" / "call.jsonl"
    whole = read_call(path)
    _cut(ears_path(path))
    path.write_text("".join(path.read_text("utf-8").splitlines(keepends=True)[: whole.ears.entries[2].events + 1]))
    assert 0 < len(read_call(path).ears.entries) < len(whole.ears.entries)


def _without_ears(path: Path) -> None:
    ears_path(path).unlink()


def _not_text(path: Path) -> None:
    ears_path(path).write_bytes(b"\xff\xfe\x00")


def _edited(path: Path) -> None:
    ears_path(path).write_text(ears_path(path).read_text("utf-8").replace("weather", "traffic"), "utf-8")


def _redacted(path: Path) -> None:
    lines = ears_path(path).read_text("utf-8").splitlines(keepends=True)
    ears_path(path).write_text("".join(redact_ears(lines)), "utf-8")


@pytest.mark.parametrize(
    ("spoil", "why"),
    [
        (_without_ears, "there is no ear journal (call.ears.jsonl) next to this journal"),
        (_not_text, "not a text file"),
        (_edited, "line 4: the line was changed"),
        (_redacted, "its ear journal is redacted"),
    ],
)
def test_a_call_that_cannot_be_used_has_its_reason(folder: Path, spoil: object, why: str) -> None:
    spoil(folder / "monday" / "call.jsonl")  # type: ignore[operator]
    (call,) = find_calls(folder)
    assert isinstance(call, UnusableCall)
    assert why in call.why
