"""Signed tickets for callers."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from duologue import make_ticket
from duologue.server.tickets import TICKET_CHARS_MAX, InvalidTicket, Ticket, read_ticket

KEY = "the-key-that-signs-tickets"
NOW_S = 1_000_000.0


def test_a_ticket_says_what_it_was_made_for() -> None:
    text = make_ticket(KEY, minutes=5, user="anna", agent="Flight desk", origin="https://shop.example", now_s=NOW_S)
    assert read_ticket(KEY, text) == Ticket(1_000_300, "anna", "Flight desk", "https://shop.example")
    assert len(text) < TICKET_CHARS_MAX


def test_a_ticket_is_over_after_its_minutes() -> None:
    ticket = read_ticket(KEY, make_ticket(KEY, minutes=5, now_s=NOW_S))
    assert ticket is not None
    assert not ticket.is_over(NOW_S + 299)
    assert ticket.is_over(NOW_S + 300)


def test_a_changed_ticket_is_no_ticket() -> None:
    text = make_ticket(KEY, user="anna", now_s=NOW_S)
    prefix, body, signature = text.split(".")
    content = json.loads(base64.urlsafe_b64decode(body + "=="))
    forged = base64.urlsafe_b64encode(json.dumps({**content, "user": "bob"}).encode()).decode().rstrip("=")
    assert read_ticket(KEY, f"{prefix}.{forged}.{signature}") is None
    for at in range(len(text)):
        changed = text[:at] + ("A" if text[at] != "A" else "B") + text[at + 1 :]
        read = read_ticket(KEY, changed)
        assert read is None or read == read_ticket(KEY, text), "only unused bits of base64 may differ"


@pytest.mark.parametrize("text", ["", "dt1", "dt1..", "dt1.e30.", "dt1.ä.ä", "x.y.z", "dt1." + "A" * 5_000])
def test_anything_else_is_no_ticket(text: str) -> None:
    assert read_ticket(KEY, text) is None
    assert read_ticket("", text) is None


def test_without_a_key_nothing_is_a_ticket() -> None:
    assert read_ticket("", make_ticket(KEY, now_s=NOW_S)) is None
    assert read_ticket(KEY + "x", make_ticket(KEY, now_s=NOW_S)) is None


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"key": "short"}, "at least 16 characters"),
        ({"key": KEY, "minutes": 0}, "minutes must be"),
        ({"key": KEY, "minutes": 100_000}, "at most 1440"),
        ({"key": KEY, "user": "x" * 300}, "user must have"),
        ({"key": KEY, "agent": "a\nb"}, "agent must have"),
    ],
)
def test_a_ticket_that_cannot_be_is_refused_without_its_key(given: dict[str, Any], says: str) -> None:
    with pytest.raises(InvalidTicket, match=says) as refused:
        make_ticket(given.pop("key"), **given)
    assert "short" not in str(refused.value)
