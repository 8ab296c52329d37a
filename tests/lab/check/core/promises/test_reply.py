"""Every promise about the reply applies somewhere, holds there, and notices a missing row."""

from __future__ import annotations

import pytest

from duologue.lab.check.core.promises.reply import REPLY_PROMISES
from tests.lab.check.core.promises.walks import applied_and_broken, is_broken, walk, without_row


def test_every_promise_about_the_reply_applies_and_holds() -> None:
    tested, broken = applied_and_broken(walk(), REPLY_PROMISES)
    assert tested == {promise.name for promise in REPLY_PROMISES}
    assert broken == set()


@pytest.mark.parametrize(
    ("row", "promise"),
    [
        ("reply: committing + ReplyAccepted", "an accepted request waits for its first token"),
        ("[may_retry] -> retrying", "a failed request is retried while retries are left"),
    ],
)
def test_a_machine_without_a_row_breaks_the_promise_about_it(row: str, promise: str) -> None:
    assert is_broken(promise, walk(without_row(row)), REPLY_PROMISES)
