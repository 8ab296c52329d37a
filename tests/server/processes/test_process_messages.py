"""Messages between the parent and its processes, as packets."""

from __future__ import annotations

from typing import Any

import pytest

from duologue.server.processes import process_messages as pm

EXAMPLES: list[Any] = [
    pm.Welcome(1, 2, "http://127.0.0.1:8765/", "secret", "00ff", "/tmp/x", True),
    pm.ConnectionPassed(True),
    pm.ConnectionPassed(True, b"GET / HTTP/1.1\r\n\r\n\x81\x00\n\xff", 18, "alice", True),
    pm.ClientFound(7, 1),
    pm.SendMetrics(),
    pm.MetricsSummed(7, "größer\n".encode()),
    pm.ShareCalls(True),
    pm.CallsPart(1, ({"id": "x", "own": False}, {"id": "y", "own": False}), True, False),
    pm.TellLimits(2),
    pm.LimitsPart(1, None, (["BucketUsed", "starts", "192.0.2.1"], ["PlaceLeft", 7])),
    pm.LimitsPart(1, 2, (["RoomWanted", 7],)),
    pm.ProcessGone(1),
    pm.WantLimits(),
    pm.StopServing(),
    pm.Serving(("Tester", "webhook  http://…")),
    pm.Leaving(),
    pm.LoadReport(3, 4),
    pm.FindClient(7, "ali\nce", "0" * 32),
    pm.HandOn(1, False, b"\n\n", 2, "alice", False),
    pm.SeatLeft("alice"),
    pm.ConversationBegun("0" * 32, "alice"),
    pm.ConversationOver("0" * 32),
    pm.ConversationForgotten("0" * 32),
    pm.SumMetrics(7),
    pm.OwnMetrics(b"duologue_turns_total 1\n"),
    pm.WantCalls(False),
]


@pytest.mark.parametrize("message", EXAMPLES, ids=lambda message: type(message).__name__)
def test_a_message_arrives_as_it_was_sent(message: Any) -> None:
    assert pm.decode(pm.encode(message)) == message


def test_every_message_has_an_example() -> None:
    assert {type(example).__name__ for example in EXAMPLES} == set(pm.MESSAGES)


@pytest.mark.parametrize(
    "packet", [b"", b"{", b"[1]", b'["Nothing",{}]', b'["ClientFound",{"wrong":1}]', b'["ClientFound",[]]']
)
def test_what_is_not_a_message_is_refused(packet: bytes) -> None:
    with pytest.raises(ValueError):  # noqa: PT011
        pm.decode(packet)
