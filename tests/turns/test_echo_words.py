"""Text that repeats the agent's words in order is its echo."""

from __future__ import annotations

import pytest

from duologue.turns.echo_words import is_echo

SPOKEN = "There are two flights. One leaves at nine, and one at noon."


@pytest.mark.req("V-02")
@pytest.mark.parametrize("heard", ["two flights", "One leaves at nine", "flights one", "ONE, at noon!", SPOKEN])
def test_two_or_more_words_in_the_same_order_are_an_echo(heard: str) -> None:
    assert is_echo(heard, SPOKEN)


@pytest.mark.req("V-02")
@pytest.mark.parametrize("heard", ["", "noon", "noon at", "two flights please", f"{SPOKEN} yes", "two one"])
def test_one_word_another_order_or_more_words_are_the_user(heard: str) -> None:
    assert not is_echo(heard, SPOKEN)


def test_while_the_agent_is_silent_nothing_is_an_echo() -> None:
    assert not is_echo("two flights", "")
