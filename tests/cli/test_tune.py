"""`duologue tune`: a table and a recommendation, and a clear line for what can't be used."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from duologue.observe.recorder import ears_path
from tests.cli.command_line import run
from tests.lab.tune.made_calls import Caller, record


async def _pauses(caller: Caller) -> None:
    await caller.say("I would like")
    await caller.wait(500)
    await caller.say("two tickets to Rome")
    await caller.wait(3_000)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    calls = tmp_path / "calls"
    for name in ("one", "two", "three"):
        record(calls / f"{name}.jsonl", _pauses, silence_ms=300, thinks_ms=600)
    return calls


def test_calls_of_a_folder_are_compared_as_json_as_a_page_and_as_a_picture(folder: Path, tmp_path: Path) -> None:
    page, picture = tmp_path / "page.html", tmp_path / "picture.svg"
    done = run("tune", str(folder), "--policy", "silence 650", "--html", str(page), "--picture", str(picture), "--json")
    assert done.returncode == 0, done.stderr
    data = json.loads(done.stdout)
    assert (data["calls"], data["unusable"]) == (3, [])
    settings = {one["name"]: one for one in data["settings"]}
    assert (settings["as recorded"]["cut_ins"], settings["as recorded"]["pauses"]) == (3, 3)
    assert (settings["silence 650"]["cut_ins"], settings["silence 650"]["wait_ms"]) == (0, 650)
    assert data["recommended"]["setting"] == "silence 600 ms"
    assert data["recommended"]["clear"] is True
    assert {(one["call"], one["what"]) for one in data["changed"]} >= {("one", "would not cut in any more")}
    assert "isn't known" in data["unknown"]
    assert page.read_text("utf-8").startswith("<!doctype html>")
    assert picture.read_text("utf-8").startswith("<svg")
    assert "Rome" not in page.read_text("utf-8")


def test_the_table_fits_a_terminal_and_says_what_was_not_used(folder: Path) -> None:
    ears_path(folder / "two.jsonl").unlink()
    done = run("tune", str(folder))
    assert done.returncode == 0, done.stderr
    assert "not used: two: there is no ear journal (two.ears.jsonl)" in done.stdout
    assert re.search(r"silence 600 ms +│ +0 \(0 %\) │ +600 ms │", done.stdout)
    assert max(map(len, done.stdout.splitlines())) <= 80
    assert "…" not in done.stdout
    assert "Recommended: silence 600 ms" in done.stdout


def test_simulated_calls_are_compared(tmp_path: Path) -> None:
    done = run("tune", "--simulate", "3", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["calls"] == 3


def test_what_cannot_be_tuned_is_one_line(folder: Path, tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    for name in ("one", "two", "three"):
        ears_path(folder / f"{name}.jsonl").write_text("nonsense", "utf-8")
    for options, problem in (
        ((), "name a folder with recorded calls, or use --simulate N"),
        ((str(folder), "--simulate", "2"), "name a folder with recorded calls, or use --simulate N"),
        (("/nowhere/at/all",), "/nowhere/at/all: there is no such folder"),
        ((str(empty),), f"{empty}: there are no recorded calls"),
        ((str(folder),), f"{folder}: none of 3 calls can be used. one: line 1: not JSON"),
        (("--simulate", "1", "--policy", "psychic"), "unknown policy 'psychic'"),
        (("--simulate", "1", "--html", "/nowhere/page.html"), "/nowhere/page.html: No such file or directory"),
    ):
        done = run("tune", *options)
        assert done.returncode == 1
        assert done.stderr.strip().splitlines()[-1].startswith(f"error: {problem}")
        assert "Traceback" not in done.stderr
