"""The files of a conversation: which they are, and that nothing else is touched."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from duologue.observe.conversation_files import delete, files_of, names_of, old_files, search
from duologue.observe.diagnostics import correlation_id

ID = "0123456789abcdef0123456789abcdef"
HASH = correlation_id(ID)
OTHER = "f" * 32


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "backup").mkdir()
    for name in (
        f"{HASH}.jsonl",
        f"{HASH}.words.jsonl",
        f"{HASH}.ears.jsonl",
        f"{HASH}-2.jsonl",
        f"{HASH}.wav",
        f"backup/{HASH}.words.jsonl.bak",
        f"{ID}.jsonl",
        f"{OTHER}.jsonl",
        f"{HASH}0.jsonl",
        "notes.txt",
    ):
        (tmp_path / name).write_text("said")
    return tmp_path


@pytest.mark.parametrize("name", [ID, HASH])
def test_all_files_of_a_conversation_are_found_and_no_other(folder: Path, name: str) -> None:
    found = [path.name for path in files_of(folder, name)]
    assert f"backup/{HASH}.words.jsonl.bak" in [str(path.relative_to(folder)) for path in files_of(folder, name)]
    assert len(found) == (7 if name == ID else 6)
    assert not {f"{OTHER}.jsonl", f"{HASH}0.jsonl", "notes.txt"} & set(found)


def test_old_files_of_conversations_are_found_by_their_time(folder: Path) -> None:
    for path in folder.rglob("*"):
        os.utime(path, (1_000, 1_000))
    os.utime(folder / f"{HASH}.words.jsonl", (5_000, 5_000))
    old = [path.name for path in old_files(folder, 2_000, 6_000)]
    assert f"{HASH}.jsonl" in old
    assert f"{OTHER}.jsonl" in old
    assert f"{HASH}.words.jsonl" not in old, "written since"
    assert "notes.txt" not in old, "not ours"
    assert delete(folder / name for name in [f"{HASH}.jsonl"]) == 1
    assert not (folder / f"{HASH}.jsonl").exists()


def test_a_search_finds_names_and_contents_across_chunks(tmp_path: Path) -> None:
    (tmp_path / "large").write_bytes(b"x" * ((1 << 20) - 4) + b"the secret words" + b"x" * 100)
    (tmp_path / f"{HASH}.gz").write_bytes(b"")
    (tmp_path / "other").write_bytes(b"the secret word")
    assert search([tmp_path], [b"the secret words"]) == [tmp_path / "large"]
    assert search([tmp_path], [HASH.encode()]) == [tmp_path / f"{HASH}.gz"]
    assert search([tmp_path / "large", tmp_path / "gone"], [b"nothing", b""]) == []


def test_the_names_of_a_conversation_are_its_id_and_its_hash() -> None:
    assert names_of(ID) == (ID, HASH)
    assert names_of(HASH) == (HASH,)
