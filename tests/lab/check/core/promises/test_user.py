"""Every promise about the user's turns applies somewhere, holds there, and notices a missing row."""

from __future__ import annotations

import pytest

from duologue.lab.check.core.promises.user import USER_PROMISES
from tests.lab.check.core.promises.walks import applied_and_broken, is_broken, walk, without_row


def test_every_promise_about_the_users_turns_applies_and_holds() -> None:
    tested, broken = applied_and_broken(walk(), USER_PROMISES)
    assert tested == {promise.name for promise in USER_PROMISES}
    assert broken == set()


@pytest.mark.parametrize(
    ("row", "promise"),
    [
        ("user: talking + SpeechStopped", "when speech stops, the turn waits for its endpoint"),
        ("user: talking/settling + timer:commit", "the audio of a long turn is committed, and nothing else changes"),
        (
            "user: talking/settling + SoundDismissed",
            "if turn-taking dismisses a sound without words, the turn ends, even if the sound goes on",
        ),
        ("+ AnswerOverheard", "an overheard turn that proves to be an answer is owed an answer"),
        ("user: transcribing + timer:text", "the final text or its deadline ends the wait for the text"),
    ],
)
def test_a_machine_without_a_row_breaks_the_promise_about_it(row: str, promise: str) -> None:
    assert is_broken(promise, walk(without_row(row)), USER_PROMISES)
