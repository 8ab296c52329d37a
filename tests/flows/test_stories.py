"""Stories of the examples are played, and stories that go wrong or can't be read say where."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from duologue.cli.app import app
from duologue.flows.stories import InvalidStories, read_stories

EXAMPLES = Path(__file__).parent.parent.parent / "examples"
pytest_plugins = ["pytester"]
STORIES = sorted(EXAMPLES.glob("*.stories.yaml"))


@pytest.mark.req("D-16", "D-03")
@pytest.mark.parametrize("path", STORIES, ids=lambda path: path.name)
def test_the_stories_of_the_examples_go_well(path: Path) -> None:
    done = CliRunner().invoke(app, ["flows", "test", str(path), "--json"])
    expected = json.loads(done.stdout)
    assert done.exit_code == 0, expected
    assert expected["played"] >= 2
    assert expected["wrong"] == 0


WRONG = {
    "says": ("says: Where to?", "the agent said ['Where would you like to fly from?']"),
    "contains": ("contains: Rome", "the agent said 'Where would you like to fly from?'"),
    "slots": ("slots: {origin: Rome}", "slots are {}"),
    "waiting": ("waiting_for: destination", "the dialogue waits for origin"),
    "started": ("started: cancel_flight", "started: book_flight"),
    "completed": ("completed: book_flight", "completed: nothing"),
    "state": ("state: idle", "the dialogue is waiting_for_slot"),
    "nlu": ("nlu: false", "NLU was called 1 times"),
    "handoff": ("handoff: true", "there was no handoff"),
}


@pytest.mark.parametrize(("wanted", "expected"), WRONG.values(), ids=WRONG)
def test_a_story_that_fails_names_its_line_and_what_came_instead(tmp_path: Path, wanted: str, expected: str) -> None:
    path = tmp_path / "wrong.stories.yaml"
    path.write_text(
        f"flows: {EXAMPLES / 'flights.yaml'}\nstories:\n  - story: a test\n    turns:\n"
        f"      - user: I want to book a flight\n        {wanted}\n",
        encoding="utf-8",
    )
    done = CliRunner().invoke(app, ["flows", "test", str(path)])
    assert done.exit_code == 1
    assert f"{path}:5: {expected}" in done.stdout


BAD = {
    "no flows": ("stories: []\n", "`flows` is missing"),
    "no stories": ("flows: a.yaml\n", "`stories` is missing"),
    "an unknown key": (
        "flows: a.yaml\nstories:\n  - story: x\n    turns:\n      - user: hi\n        sayz: ho\n",
        ":6: unknown key 'sayz'",
    ),
    "no user": (
        "flows: a.yaml\nstories:\n  - story: x\n    turns:\n      - says: hi\n",
        ":5: a turn needs either `user: …` or `silence: true`",
    ),
    "no turns": ("flows: a.yaml\nstories:\n  - story: x\n", ":3: a story needs a name"),
    "a list": ("- 1\n", "expected a mapping"),
    "not YAML": ("flows: [\n", "not valid YAML"),
}


@pytest.mark.parametrize(("text", "expected"), BAD.values(), ids=BAD)
def test_a_file_that_can_not_be_played_is_refused_with_its_lines(tmp_path: Path, text: str, expected: str) -> None:
    path = tmp_path / "bad.stories.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InvalidStories) as refusal:
        read_stories(path)
    assert expected in str(refusal.value)
    assert str(path) in str(refusal.value)


def test_a_file_that_is_not_there_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(InvalidStories, match="No such file"):
        read_stories(tmp_path / "none.stories.yaml")


def test_pytest_plays_stories_too(pytester: pytest.Pytester) -> None:
    pytester.makefile(
        ".stories.yaml",
        flights=f"flows: {EXAMPLES / 'flights.yaml'}\nstories:\n"
        "  - story: it goes well\n    turns: [{user: I want to book a flight, started: book_flight}]\n"
        "  - story: it goes wrong\n    turns: [{user: I want to book a flight, state: idle}]\n",
    )
    result = pytester.runpytest_subprocess("-q", "-p", "no:cacheprovider")
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["*flights.stories.yaml:6: the dialogue is waiting_for_slot*"])


# -- duologue chat


@pytest.mark.req("D-16")
def test_the_flight_is_booked_by_typing() -> None:
    typed = (
        "I want to book a flight\nNew York\nActually, change the origin to Boston\nLos Angeles\nNext Friday\n/state\n"
    )
    done = CliRunner().invoke(
        app, ["chat", str(EXAMPLES / "flights.yaml"), "--today", "2025-12-02", "--nlu", "words"], input=typed
    )
    assert done.exit_code == 0
    for words in (
        "Where would you like to fly from?",
        "Got it, I've updated your origin to Boston.",
        "Your flight is booked! Booking reference: BK-98765",
        "2025-12-12",
    ):
        assert words in done.stdout


def test_chat_without_its_functions_says_which_are_missing(tmp_path: Path) -> None:
    file = tmp_path / "flights.yaml"
    text = (EXAMPLES / "flights.yaml").read_text(encoding="utf-8").replace("names: cities.txt", "open: true")
    file.write_text(text, encoding="utf-8")
    done = CliRunner().invoke(app, ["chat", str(file)])
    assert done.exit_code != 0
    assert "search_flights" in str(done.exception)
