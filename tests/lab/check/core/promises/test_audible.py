"""Every promise about what the user hears applies somewhere, holds there, and notices a missing row."""

from __future__ import annotations

import pytest

from duologue.lab.check.core.promises.audible import AUDIBLE_PROMISES
from tests.lab.check.core.promises.walks import applied_and_broken, is_broken, walk, without_row


def test_every_promise_about_what_the_user_hears_applies_and_holds() -> None:
    tested, broken = applied_and_broken(walk(), AUDIBLE_PROMISES)
    assert tested == {promise.name for promise in AUDIBLE_PROMISES}
    assert broken == set()


@pytest.mark.parametrize(
    ("row", "promise"),
    [
        ("+ timer:cue", "the first cue of a wait is a sound, and the next ones are words"),
        (
            "+ EndAfterSpeaking -> terminating",
            "a request to end the call after speaking ends it immediately if nothing can be said now",
        ),
        ("+ timer:last_words", "when everything has been said, the conversation ends"),
    ],
)
def test_a_machine_without_a_row_breaks_the_promise_about_it(row: str, promise: str) -> None:
    assert is_broken(promise, walk(without_row(row)), AUDIBLE_PROMISES)
