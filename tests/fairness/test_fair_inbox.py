"""One thread takes from the inbox: conversations take turns, and the last piece comes last."""

from __future__ import annotations

import pytest

from duologue.fairness.fair_inbox import FairInbox
from duologue.fairness.fair_queue import QueueFull


def test_a_conversation_that_writes_much_waits_for_itself() -> None:
    inbox: FairInbox[str] = FairInbox(100, 50)
    for number in range(3):
        inbox.put("greedy", f"g{number}")
    inbox.put("honest", "h0")
    assert [inbox.get() for _ in range(4)] == ["g0", "h0", "g1", "g2"]
    assert inbox.get_now() is None


def test_the_last_piece_comes_after_all_that_waits() -> None:
    inbox: FairInbox[str] = FairInbox(100, 50)
    inbox.put("a", "1")
    inbox.finish("close")
    inbox.put("b", "2")
    assert [inbox.get(), inbox.get_now(), inbox.get_now()] == ["1", "2", None]
    assert [inbox.get(), inbox.get()] == ["close", None]


def test_what_doesnt_fit_is_refused() -> None:
    inbox: FairInbox[str] = FairInbox(2, 1)
    inbox.put("a", "1")
    with pytest.raises(QueueFull, match=r"this conversation .*limit: 1"):
        inbox.put("a", "2")
    inbox.put("b", "1")
    with pytest.raises(QueueFull, match=r"the inbox .*limit: 2"):
        inbox.put("c", "1")
    assert len(inbox) == 2
