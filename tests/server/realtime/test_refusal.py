"""Refusals: the fields of the protocol's error."""

from __future__ import annotations

from duologue.server.realtime.refusal import EventRefused, removed, renamed, unknown, unsupported
from duologue.testing.realtime.protocol_types import problems_of_server_event


def test_a_refusal_is_an_error_of_the_protocol() -> None:
    made = (unknown("a.b"), unsupported("a", "no"), renamed("old", "new"), removed("old"))
    for why in (EventRefused("code", "message"), *made):
        error = why.as_error("mine")
        assert problems_of_server_event({"type": "error", "event_id": "e", "error": error}) == []
        assert error["event_id"] == "mine"
        assert error["message"].endswith(".") or error["message"] == "message"
