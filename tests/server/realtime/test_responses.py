"""Responses: their items in order, and their end."""

from __future__ import annotations

from duologue.server.realtime import facts as fa
from tests.server.realtime.exchange_steps import Exchange


def test_a_response_with_words_and_two_calls_has_three_items() -> None:
    exchange = Exchange()
    exchange.post(
        fa.ReplyStarted(1),
        fa.ReplyWorded(1, "One moment."),
        fa.CallMade(1, "f", '{"a": 1}'),
        fa.CallMade(2, "f", "{}"),
        fa.SoundSent(1, 4, b"ab", 120),
        fa.SoundComplete(4),
    )
    done = exchange.events[-1]["response"]
    assert [item["type"] for item in done["output"]] == ["message", "function_call", "function_call"]
    added = [event for event in exchange.events if event["type"] == "response.output_item.added"]
    indexes = {event["item"]["id"]: event["output_index"] for event in added}
    assert [indexes[item["id"]] for item in done["output"]] == [0, 1, 2]
    assert len({item["call_id"] for item in done["output"][1:]}) == 2
    told = [event for event in exchange.events if event["type"] == "conversation.item.added"]
    previous = {event["item"]["id"]: event["previous_item_id"] for event in told}
    ids = [item["id"] for item in done["output"]]
    assert [previous[id_] for id_ in ids] == [None, *ids[:-1]]


def test_a_call_without_a_response_opens_one() -> None:
    assert Exchange().post(fa.CallMade(1, "f", "{}"))[0] == "response.created"
