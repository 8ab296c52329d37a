"""`duologue chat`: a dialogue by typing, its state, and options that are refused in one line."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import Result
from typer.testing import CliRunner

from duologue.cli.app import app
from duologue.cli.chat import ECHO_MAX

FLIGHTS = str(Path(__file__).parents[2] / "examples" / "flights.yaml")


def chat(typed: str, *options: str) -> Result:
    return CliRunner().invoke(app, ["chat", FLIGHTS, "--nlu", "words", "--today", "2025-12-02", *options], input=typed)


def test_the_state_is_shown_on_request() -> None:
    done = chat("I want to book a flight\nBoston\n/state\n/quit\nnever read\n")
    assert done.exit_code == 0
    assert "Where would you like to fly from?" in done.stdout
    assert "waiting for" in done.stdout
    assert "Boston" in done.stdout
    assert "never read" not in done.stdout


def test_the_state_is_shown_after_every_message_with_an_option() -> None:
    done = chat("I want to book a flight\nBoston\n", "--state")
    assert done.stdout.count("waiting for") == 2


def test_a_flow_can_be_started_at_once() -> None:
    assert "Where would you like to fly from?" in chat("", "--flow", "book_flight").stdout


def test_a_goodbye_ends_the_chat() -> None:
    done = chat("thanks, goodbye\nnever read\n")
    assert done.stdout.rstrip().endswith("agent  Goodbye!")
    assert done.exit_code == 0


def test_a_long_or_unprintable_message_is_echoed_in_part() -> None:
    done = chat("\x07" + "a" * 1_000 + "\n")
    assert "\x07" not in done.stdout
    assert "a" * (ECHO_MAX + 1) not in done.stdout.replace("\n", "")
    assert "…" in done.stdout


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (("--today", "tomorrow"), "--today 'tomorrow': write an ISO date like 2026-03-04"),
        (("--nlu", "psychic"), "unknown NLU 'psychic': use local, words or llm:MODEL"),
    ],
)
def test_a_wrong_option_is_refused_with_the_right_form(options: tuple[str, ...], problem: str) -> None:
    done = chat("", *options)
    assert done.exit_code == 1
    assert problem in str(done.exception)
