"""When a client tries again: soon at first, then more rarely, for 45 s; and never after a refusal."""

from __future__ import annotations

import pytest

from duologue.client.reconnecting import GIVE_UP_MS, LATER_MS, REFUSALS, LostConnection, NextAttempt, after_close
from duologue.server import close_codes
from duologue.server.close_codes import CloseCode


def test_it_tries_for_45_seconds_and_then_gives_up() -> None:
    lost, now_ms, waits = LostConnection(), 1_000, []
    while True:
        lost, plan = after_close(lost, 1006, now_ms)
        if plan.phase != "waiting":
            break
        waits.append(plan.in_ms)
        now_ms += plan.in_ms
    assert waits[:5] == [300, 1_000, 3_000, 5_000, 5_000]
    assert plan == NextAttempt("lost")
    assert GIVE_UP_MS - 5_000 < now_ms - 1_000 <= GIVE_UP_MS
    assert lost == LostConnection()


@pytest.mark.parametrize("code", sorted(REFUSALS))
def test_a_refusal_is_final(code: int) -> None:
    assert after_close(LostConnection(5, 2), code, 9)[1] == NextAttempt("refused")


def test_a_full_server_is_tried_later() -> None:
    assert after_close(LostConnection(), 4429, 0)[1] == NextAttempt("waiting", LATER_MS)


def test_it_knows_every_close_code_of_the_server() -> None:
    """Refused are those that the same client would get again."""
    again = {"no_hello", "silent", "too_fast", "too_many", "slow_reader", "stopping", "moved", "store"}
    for code in (value for value in vars(close_codes).values() if isinstance(value, CloseCode)):
        phase = after_close(LostConnection(), code.code, 0)[1].phase
        assert phase == ("waiting" if code.name in again else "refused"), code
