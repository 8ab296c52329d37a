"""`duologue replay`: a good journal is confirmed, a bad one is one line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from duologue.lab.sim.stage import Stage
from duologue.observe.recorder import ears_path
from duologue.replay.ears_file import InvalidEars
from duologue.runtime.find_agent import find_agent
from tests.cli.command_line import run
from tests.lab.tune.made_calls import Caller, record


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    stage = Stage()
    stage.start()
    stage.say()
    stage.answer()
    path = tmp_path / "call.journal"
    with path.open("w", encoding="utf-8") as out:
        stage.write_journal(out)
    return path


def test_a_good_journal_is_confirmed_and_shown(journal: Path) -> None:
    done = run("replay", str(journal))
    assert done.returncode == 0
    assert "every digest agrees" in done.stdout


def test_a_good_journal_is_confirmed_as_json(journal: Path) -> None:
    data = json.loads(run("replay", str(journal), "--json").stdout)
    assert data["agrees"] is True
    assert data["events"] > 10


def _unfinished(lines: list[str]) -> list[str]:
    return [*lines[:2], lines[2][:9] + "\n", *lines[3:]]


def _edited(lines: list[str]) -> list[str]:
    return [line.replace('"words":3', '"words":0').replace('"substantial":3', '"substantial":0') for line in lines]


def _other_version(lines: list[str]) -> list[str]:
    return [lines[0].replace('"schema":1', '"schema":99'), *lines[1:]]


def _garbage(_: list[str]) -> list[str]:
    return ["\x00nonsense"]


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (_unfinished, "line 3: not JSON"),
        (_edited, "the state has the digest"),
        (_other_version, "line 1: the file has schema 99, but this version reads only 1"),
        (_garbage, "line 1: not JSON"),
    ],
)
def test_a_bad_journal_is_one_line_that_names_the_place(journal: Path, spoil: object, says: str) -> None:
    lines = journal.read_text(encoding="utf-8").splitlines(keepends=True)
    journal.write_text("".join(spoil(lines)), encoding="utf-8")  # type: ignore[operator]
    done = run("replay", str(journal))
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert done.stderr.startswith(f"error: {journal}: ")
    assert says in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert done.stdout == ""


@pytest.mark.parametrize("letters", [0, 9], ids=["between lines", "within a line"])
def test_a_journal_that_a_crash_has_cut_off_is_verified_up_to_there(journal: Path, letters: int) -> None:
    lines = journal.read_text(encoding="utf-8").splitlines(keepends=True)
    journal.write_text("".join([*lines[:3], lines[3][:letters]]), encoding="utf-8")
    done = run("replay", str(journal))
    assert (done.returncode, done.stderr) == (0, "")
    assert "2 events, every digest agrees" in done.stdout
    assert "The recording has no end: its process was killed, or the call is still running." in done.stdout
    data = json.loads(run("replay", str(journal), "--json").stdout)
    assert (data["complete"], data["events"]) == (False, 2)


def test_a_missing_journal_is_one_line() -> None:
    done = run("replay", "/nowhere/at.all")
    assert (done.returncode, done.stderr.strip()) == (1, "error: /nowhere/at.all: No such file or directory")


# -- With its ear journal


async def _pauses(caller: Caller) -> None:
    await caller.say("I would like")
    await caller.wait(500)
    await caller.say("two tickets to Rome")
    await caller.wait(1_600)
    await caller.say("stop it please I meant Paris")
    await caller.wait(3_000)


@pytest.fixture
def call(tmp_path: Path) -> Path:
    path = tmp_path / "call.jsonl"
    record(path, _pauses)
    return path


OWN_POLICY = """
from duologue import Agent
from duologue.testing import ScriptedBrain
from duologue.turns.endpoint import FixedSilence


class HalfASecond:
    def wait(self, pause):
        return FixedSilence(500).wait(pause)


agent = Agent(ScriptedBrain([]), endpoint=HalfASecond())
plain = Agent(ScriptedBrain([]))
"""


def test_a_call_with_a_policy_of_its_own_is_verified_with_its_agent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "own_desk.py").write_text(OWN_POLICY, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "call.jsonl"
    with pytest.raises(InvalidEars):
        record(path, _pauses, endpoint=find_agent("own_desk:agent").hearing.endpoint)
    without = run("replay", str(path))
    assert without.returncode == 1
    assert "the policy 'HalfASecond' isn't part of Duologue: name an agent that has it" in without.stderr
    assert run("replay", str(path), "--agent", "own_desk:plain").stderr == without.stderr
    done = run("replay", str(path), "--agent", "own_desk:agent")
    assert (done.returncode, done.stderr) == (0, "")
    assert "inputs of the ears, every decision is the same" in done.stdout


def test_both_files_are_verified(call: Path) -> None:
    done = run("replay", str(call))
    assert (done.returncode, done.stderr) == (0, "")
    assert "inputs of the ears, every decision is the same" in done.stdout
    data = json.loads(run("replay", str(call), "--json").stdout)
    assert (data["agrees"], data["redacted"], data["unverified"]) == (True, False, 0)
    assert data["ears"] > 5


@pytest.mark.parametrize("events", [5, 8, 11, 14])
def test_a_pair_of_files_that_a_crash_has_cut_off_is_verified_up_to_there(call: Path, events: int) -> None:
    """What the ears reported last may have led to events that were never written."""
    lines = call.read_text("utf-8").splitlines(keepends=True)
    call.write_text("".join(lines[: events + 1]), "utf-8")
    ears = ears_path(call).read_text("utf-8").splitlines(keepends=True)
    known = [line for line in ears[1:-1] if json.loads(line)["n"] <= events]
    ears_path(call).write_text("".join([ears[0], *known]), "utf-8")
    data = json.loads(run("replay", str(call), "--json").stdout)
    assert (data["events"], data["ears"], data["complete"]) == (events, len(known), False)


def test_a_changed_ear_journal_is_one_line_that_names_its_file_and_line(call: Path) -> None:
    ears = ears_path(call)
    ears.write_text(ears.read_text("utf-8").replace("tickets", "rackets"), "utf-8")
    done = run("replay", str(call))
    assert done.returncode == 1
    assert done.stderr.startswith(f"error: {ears}: line ")
    assert "the line was changed" in done.stderr


def test_a_call_is_decided_again_with_another_setting_side_by_side(call: Path) -> None:
    done = run("replay", str(call), "--policy", "silence 300")
    assert done.returncode == 0, done.stderr
    assert "300 ms, cut-in" in done.stdout
    data = json.loads(run("replay", str(call), "--policy", "silence 300", "--json").stdout)
    first, second = data["pauses"][:2]
    assert (first["recorded"]["cut_in"], first["other"]["cut_in"], first["changed"]) == (False, True, True)
    assert (second["recorded"]["wait_ms"], second["other"]["wait_ms"]) == (700, 300)
    assert [one["recorded"] for one in data["overlaps"]] == ["interrupts after 600 ms"]


def test_an_unknown_setting_is_one_line(call: Path) -> None:
    done = run("replay", str(call), "--policy", "psychic")
    assert done.returncode == 1
    assert done.stderr.startswith("error: unknown policy 'psychic': use one of")


@pytest.mark.req("C-SEC-002")
def test_a_redacted_copy_has_no_words_and_replays(call: Path, tmp_path: Path) -> None:
    out = tmp_path / "report" / "call.jsonl"
    done = run("replay", str(call), "--redact", str(out))
    assert done.returncode == 0, done.stderr
    assert sorted(one.name for one in out.parent.iterdir()) == ["call.ears.jsonl", "call.jsonl"]
    for path in (out, ears_path(out)):
        assert "tickets" not in path.read_text("utf-8")
        assert path.stat().st_mode & 0o077 == 0
    data = json.loads(run("replay", str(out), "--json").stdout)
    assert data["redacted"] is True
    again = run("replay", str(call), "--redact", str(call))
    assert (again.returncode, "name another file" in again.stderr) == (1, True)
