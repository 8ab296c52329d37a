"""A conversation on disk: a journal that replays, and its words next to it, for the owner's eyes alone."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from duologue.core.state import initial
from duologue.lab.sim.stage import Stage
from duologue.observe.recorder import Recorder, earlier_journals, ears_path, is_journal, new_journal_path, words_path
from duologue.observe.signals import Caption
from duologue.replay.journal import read_journal, replay
from duologue.replay.words_file import Spoken, read_words


def played() -> Stage:
    stage = Stage()
    stage.start()
    stage.say()
    stage.answer()
    return stage


def read_lines(path: Path) -> list[str]:
    return path.read_text("utf-8").splitlines(keepends=True)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.req("C-SEC-002")
def test_what_is_recorded_replays_and_has_its_words(tmp_path: Path) -> None:
    stage, path = played(), tmp_path / "call.jsonl"
    recorder = Recorder(path, initial(stage.settings), seed=3)
    for record in stage.records:
        recorder.add(record)
    recorder.add_words(Caption(900, "user", "hello", final=True, turn=1))
    recorder.add_words(Caption(950, "agent", "Good", "morning", final=True, reply=1, voice=1))
    recorder.close()
    journal = read_journal(read_lines(path))
    assert [record.after for record in replay(journal)] == [record.after for record in stage.records]
    assert journal.seed == 3
    assert read_words(read_lines(words_path(path))) == (
        Spoken("user", 900, "hello", turn=1),
        Spoken("agent", 950, "Good", "morning", reply=1, voice=1),
    )


def test_words_that_may_still_change_and_empty_ones_are_not_written(tmp_path: Path) -> None:
    path = tmp_path / "call.jsonl"
    recorder = Recorder(path, initial(played().settings))
    recorder.add_words(Caption(1, "user", "hel", turn=1))
    recorder.add_words(Caption(2, "user", "", final=True, turn=1))
    recorder.close()
    assert read_words(read_lines(words_path(path))) == ()


@pytest.mark.req("C-SEC-002")
def test_a_private_conversation_has_a_journal_and_no_words(tmp_path: Path) -> None:
    stage, path = played(), tmp_path / "call.jsonl"
    recorder = Recorder(path, initial(stage.settings), private=True)
    recorder.add(stage.records[0])
    recorder.add_words(Caption(900, "user", "hello", final=True, turn=1))
    recorder.close()
    assert [each.name for each in tmp_path.iterdir()] == ["call.jsonl"]
    assert "hello" not in path.read_text("utf-8")


@pytest.mark.req("C-SEC-002")
def test_files_and_a_new_folder_are_for_their_owner_alone_even_if_a_file_was_there(tmp_path: Path) -> None:
    path = tmp_path / "calls" / "call.jsonl"
    Recorder(path, initial(played().settings)).close()
    assert (mode(path.parent), mode(path), mode(words_path(path))) == (0o700, 0o600, 0o600)
    path.chmod(0o644)
    Recorder(path, initial(played().settings)).close()
    assert mode(path) == 0o600


def test_every_step_is_on_disk_before_the_next_one(tmp_path: Path) -> None:
    stage, path = played(), tmp_path / "call.jsonl"
    recorder = Recorder(path, initial(stage.settings))
    for count, record in enumerate(stage.records, start=1):
        recorder.add(record)
        assert len(read_journal(read_lines(path), complete=False).entries) == count
    recorder.close()


def test_a_lone_surrogate_is_written_as_an_escape_and_read_back_as_a_space(tmp_path: Path) -> None:
    path = tmp_path / "call.jsonl"
    recorder = Recorder(path, initial(played().settings))
    recorder.add_words(Caption(1, "user", "a\udcff", final=True, turn=1))
    recorder.close()
    (spoken,) = read_words(read_lines(words_path(path)))
    assert spoken.text == "a "


def test_the_files_beside_a_journal_are_no_journals() -> None:
    journal = Path("folder/call.jsonl")
    assert [is_journal(path) for path in (journal, words_path(journal), ears_path(journal))] == [True, False, False]


def test_a_process_that_takes_over_writes_the_next_file(tmp_path: Path) -> None:
    names = []
    for _ in range(3):
        path = new_journal_path(tmp_path, "call")
        path.write_text("")
        names.append(path.name)
    assert names == ["call.jsonl", "call-2.jsonl", "call-3.jsonl"]


def test_the_journals_before_one_are_found_the_newest_first(tmp_path: Path) -> None:
    for name in ("call", "call-2", "call-4", "call-12", "other-1"):
        (tmp_path / f"{name}.jsonl").write_text("")
    found = {name: [one.stem for one in earlier_journals(tmp_path / f"{name}.jsonl")] for name in ("call", "call-4")}
    assert found == {"call": [], "call-4": ["call-2", "call"]}
    assert [one.stem for one in earlier_journals(tmp_path / "call-12.jsonl")] == ["call-4", "call-2", "call"]
    assert earlier_journals(tmp_path / "other-1.jsonl") == []
