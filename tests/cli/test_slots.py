"""`duologue slots`: one line in, one line out; a problem is one line and exit code 1."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.command_line import Done
from tests.cli.command_line import run as run_command


def run(lines: str, *args: str | Path) -> Done:
    return run_command("slots", *args, stdin=lines)


def row(number: int, kind: str, reply: str, **more: Any) -> dict[str, Any]:
    asked = {"ask": "slot", "type": kind, "slot": "it", "choices": [], "question": "And?", "today": "2026-03-04"}
    return {"id": number, "service": "Courts_1", "reply": reply, **asked, **more}


@pytest.mark.req("D-04", "D-05", "D-09")
def test_rows_are_answered_one_by_one(tmp_path: Path) -> None:
    names = tmp_path / "names.json"
    names.write_text(json.dumps({"city": ["Lyon", "Paris"], "player": ["Ada"]}), encoding="utf-8")
    rows = [
        row(1, "date", "tomorrow please"),
        row(2, "time", "half past six"),
        row(3, "number", "the two of us"),
        row(4, "boolean", "yes please"),
        row(5, "choice", "clay", choices=["Clay", "Grass"]),
        row(6, "text", "somewhere in lyon", slot="city"),
        row(7, "text", "with the one from ada's club", slot="player"),
        row(8, "confirm", "no, at 7 pm", ask="confirm", slot=None),
        row(9, "date", "go back"),
        row(10, "date", "that works", proposed="2026-03-06"),
    ]
    done = run("\n".join(map(json.dumps, rows)) + "\n\n", "--names", names)
    assert done.returncode == 0, done.stderr
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert [answer["id"] for answer in answers] == list(range(1, 11))
    values = {answer["id"]: answer["value"] for answer in answers if answer["direct"]}
    assert values == {1: "2026-03-05", 3: "2", 4: "True", 5: "Clay", 6: "Lyon", 8: "change", 10: "2026-03-06"}
    assert answers[1] == {"id": 2, "direct": False, "why": "ambiguous", "candidates": ["06:30", "18:30"]}
    assert answers[6]["leftover"] == ["club"]
    assert answers[8] == {"id": 9, "direct": False, "why": "command", "command": "back"}


def test_a_slot_without_a_list_knows_the_names_of_all_lists(tmp_path: Path) -> None:
    names = tmp_path / "names.json"
    names.write_text(json.dumps({"town": ["lyon"]}), encoding="utf-8")
    done = run(json.dumps(row(1, "text", "I'd like to play in lyon", slot="place")) + "\n", "--names", names)
    assert json.loads(done.stdout) == {"id": 1, "direct": True, "value": "lyon"}


@pytest.mark.parametrize(
    ("line", "problem"),
    [("{", "line 1: JSONDecodeError"), ('{"id": 1}', "line 1: KeyError: 'ask'"), ("[1]", "line 1: TypeError")],
)
def test_a_bad_line_is_one_line_of_error(line: str, problem: str) -> None:
    done = run(line + "\n")
    assert done.returncode == 1
    assert problem in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_bad_list_of_names_is_one_line_of_error(tmp_path: Path) -> None:
    missing = run("", "--names", tmp_path / "none.json")
    assert (missing.returncode, len(missing.stderr.splitlines())) == (1, 1)
    broken = tmp_path / "broken.json"
    broken.write_text("[]", encoding="utf-8")
    assert "expected a JSON object that maps each slot to a list of names" in run("", "--names", broken).stderr


@pytest.mark.req("D-09")
def test_with_parts_a_yes_counts_although_a_question_follows() -> None:
    lines = json.dumps(row(1, "confirm", "Yes, that's right. What's the address?", ask="confirm", slot=None)) + "\n"
    alone, in_parts = json.loads(run(lines).stdout), json.loads(run(lines, "--parts").stdout)
    assert (alone["direct"], in_parts["direct"], in_parts["value"]) == (False, True, "yes")


@pytest.mark.parametrize(
    ("language", "replies"),
    {
        "de": {"am nächsten Dienstag": "2026-03-10", "ja bitte": "True", "halb fünf nachmittags": "16:30"},
        "es": {"el martes": "2026-03-10", "sí, por favor": "True", "a las cuatro y media de la tarde": "16:30"},
    }.items(),
)
def test_replies_in_another_language(language: str, replies: dict[str, str]) -> None:
    kinds = ("date", "boolean", "time")
    rows = [row(number, *given) for number, given in enumerate(zip(kinds, replies, strict=True))]
    rows.append(row(9, "confirm", "nein" if language == "de" else "no", ask="confirm", slot=None))
    done = run("\n".join(map(json.dumps, rows)), "--language", language)
    assert done.returncode == 0, done.stderr
    assert [json.loads(line).get("value") for line in done.stdout.splitlines()] == [*replies.values(), "no"]


def test_an_unknown_language_is_refused_with_those_that_exist() -> None:
    done = run("", "--language", "xx")
    assert done.returncode == 1
    assert "no language pack for 'xx'. There are packs for: de, en, es." in done.stderr
