"""Wrong tokens are slowed."""

from __future__ import annotations

from duologue.server.wrong_credentials import (
    ADDRESSES_MAX,
    FIRST_WAIT_S,
    FORGET_S,
    WAIT_S_MAX,
    WrongCredentials,
    address_hash,
)


def test_each_wrong_attempt_of_an_address_waits_longer_up_to_a_limit() -> None:
    wrong = WrongCredentials()
    waits = [wrong.note("a", 0.0) for _ in range(12)]
    assert waits[0] == FIRST_WAIT_S
    assert waits == sorted(waits)
    assert waits[-1] == WAIT_S_MAX
    assert wrong.note("b", 0.0) == FIRST_WAIT_S, "another address doesn't wait for it"


def test_an_address_starts_over_after_a_while() -> None:
    wrong = WrongCredentials()
    wrong.note("a", 0.0)
    wrong.note("a", 0.0)
    assert wrong.note("a", FORGET_S + 1) == FIRST_WAIT_S


def test_the_table_of_addresses_is_limited() -> None:
    wrong = WrongCredentials()
    for number in range(ADDRESSES_MAX + 10):
        wrong.note(str(number), 0.0)
    assert len(wrong) == ADDRESSES_MAX
    assert wrong.count("0") == 0


def test_the_log_shows_no_address() -> None:
    assert "192" not in address_hash("192.0.2.7")
    assert address_hash("a") != address_hash("b")


def test_attempts_that_another_process_has_counted_are_taken_over_if_they_are_more() -> None:
    wrong = WrongCredentials()
    wrong.note("a", 0.0)
    wrong.raise_to("a", 3, 0.0)
    wrong.raise_to("a", 2, 0.0)
    wrong.raise_to("b", 1, 0.0)
    assert wrong.counts(0.0) == {"a": 3, "b": 1}
    assert wrong.note("a", 1.0) == 8 * FIRST_WAIT_S
    assert wrong.counts(FORGET_S + 1) == {"a": 4}, "old ones don't count"
