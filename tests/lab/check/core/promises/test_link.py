"""Every promise about the link applies somewhere, holds there, and notices a missing row."""

from __future__ import annotations

import pytest

from duologue.lab.check.core.promises.link import LINK_PROMISES
from tests.lab.check.core.promises.walks import applied_and_broken, is_broken, walk, without_row


def test_every_promise_about_the_link_applies_and_holds() -> None:
    tested, broken = applied_and_broken(walk(), LINK_PROMISES)
    assert tested == {promise.name for promise in LINK_PROMISES}
    assert broken == set()


@pytest.mark.parametrize(
    ("row", "promise"),
    [
        ("+ VoicesPlayed", "a new voice never gets the number of a voice that a returning client has already played"),
        ("link: up + LinkWobbled", "after a wobble the line gets time to heal"),
        ("+ EndRequested -> terminating", "an end request closes the session from any state"),
    ],
)
def test_a_machine_without_a_row_breaks_the_promise_about_it(row: str, promise: str) -> None:
    assert is_broken(promise, walk(without_row(row)), LINK_PROMISES)
