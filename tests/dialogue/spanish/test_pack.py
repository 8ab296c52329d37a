"""Replies in Spanish: each is read as it is written down, or isn't taken directly."""

from __future__ import annotations

from pathlib import Path

import pytest

from duologue.dialogue.spanish.pack import SPANISH
from tests.dialogue.written_replies import WrittenReply, meaning, replies_in

REPLIES = list(replies_in(Path(__file__).with_name("replies.txt")))


@pytest.mark.parametrize("written", REPLIES, ids=str)
def test_a_reply_means_what_is_written_beside_it(written: WrittenReply) -> None:
    assert meaning(SPANISH, written) == written.expected
