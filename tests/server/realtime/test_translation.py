"""The table of the translation, and what holds for every sequence of inputs."""

from __future__ import annotations

from collections import Counter
from typing import Any, get_args

from hypothesis import given, settings
from hypothesis import strategies as st

from duologue.server.realtime import acts as do
from duologue.server.realtime import client_events as ce
from duologue.server.realtime import facts as fa
from duologue.server.realtime.exchange import ExchangeState
from duologue.server.realtime.refusal import EventRefused
from duologue.server.realtime.translation import TABLE, greet, step
from duologue.testing.realtime.protocol_types import problems_of_server_event
from tests.server.realtime.client_script import WEATHER
from tests.server.realtime.exchange_steps import Exchange

TEXT = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hi"}]}


def test_every_kind_of_input_has_its_place() -> None:
    kinds = [one for one in vars(ce).values() if isinstance(one, type) and issubclass(one, ce.ClientEvent)]
    events = set(kinds) - {ce.ClientEvent}
    assert set(TABLE) == events | set(get_args(fa.Fact))


def test_a_client_gets_its_session_and_its_conversation_first() -> None:
    _, acts = greet(ExchangeState("sess_1", "conv_1"))
    events = [act.event for act in acts if isinstance(act, do.Send)]
    assert [event["type"] for event in events] == ["session.created", "conversation.created"]
    assert [problems_of_server_event(event) for event in events] == [[], []]


def test_a_refused_event_changes_nothing_but_the_count_of_events() -> None:
    exchange = Exchange()
    exchange.post(ce.ItemCreate("a", TEXT))
    before = exchange.state
    assert exchange.post(ce.ItemDelete("mine", "nothing")) == ["error"]
    assert exchange.events[0]["error"]["event_id"] == "mine"
    assert exchange.state.items == before.items
    assert exchange.post(EventRefused("code", "message")) == ["error"]


PLAUSIBLE: list[Any] = [
    ce.SessionUpdate(None, {"type": "realtime", "tools": [WEATHER]}),
    ce.SessionUpdate(None, {"type": "realtime", "output_modalities": ["text"]}),
    ce.SessionUpdate(None, {"type": "realtime", "audio": {"input": {"turn_detection": None}}}),
    ce.SessionUpdate(None, {"type": "realtime", "audio": {"input": {"transcription": {"model": "x"}}}}),
    ce.AudioAppend(None, bytes(9_600)),
    ce.AudioCommit(None),
    ce.AudioClear(None),
    ce.ItemCreate(None, TEXT),
    ce.ItemCreate(None, {"type": "function_call_output", "call_id": "call_00000000000009", "output": "x"}),
    ce.ResponseCreate(None, {}),
    ce.ResponseCreate(None, {"output_modalities": ["text"], "metadata": {"a": "b"}}),
    ce.ResponseCancel(None),
    *(ce.ItemTruncate(None, f"item_000000000000{n:02d}", 0, 100, 500) for n in range(4, 30, 3)),
    *(ce.ItemRetrieve(None, f"item_000000000000{n:02d}") for n in range(4, 30, 5)),
    *(ce.ItemDelete(None, f"item_000000000000{n:02d}") for n in range(4, 30, 7)),
    *(fa.UserBegan(turn) for turn in (1, 2)),
    *(fa.UserEnded(turn, "words", turn == 3) for turn in (1, 2, 3)),
    fa.UserDropped(2),
    *(fa.ReplyStarted(reply, answers=reply == 2) for reply in (1, 2)),
    *(fa.ReplyWorded(reply, "Yes. ", "shown") for reply in (1, 2)),
    *(fa.SoundSent(reply, reply, bytes(4_800), 100) for reply in (1, 2)),
    *(fa.SoundComplete(voice) for voice in (1, 2)),
    *(fa.SoundCut(voice, voice == 2) for voice in (1, 2)),
    *(fa.SoundHeard(voice, 50, "Yes.") for voice in (1, 2)),
    *(fa.ReplyDropped(reply) for reply in (1, 2)),
    *(fa.ReplyComplete(reply) for reply in (1, 2)),
    *(fa.CallMade(call, "get_weather", "{}") for call in (1, 2)),
    *(fa.CallEnded(call) for call in (1, 2)),
    fa.Rested(),
    fa.FaultShown("brain", "server_error"),
    fa.TokensUsed(10, 5, 3),
    *(fa.AudioWritten(f"item_000000000000{n:02d}", "text") for n in range(4, 30, 3)),
    fa.AskRefused("rate_limit_exceeded", "Too much."),
]


@settings(max_examples=150, deadline=None)
@given(st.lists(st.sampled_from(PLAUSIBLE), max_size=40))
def test_whatever_happens_the_events_are_valid_and_each_response_and_item_ends_once(inputs: list[Any]) -> None:
    state = ExchangeState("sess_00000000", "conv_1")
    events: list[dict[str, Any]] = []
    for one in inputs:
        state, acts = step(state, one)
        events += [act.event for act in acts if isinstance(act, do.Send)]
    assert [problem for event in events for problem in problems_of_server_event(event)] == []
    count = Counter(event["type"] for event in events)
    is_open = state.response is not None
    assert count["response.created"] == count["response.done"] + is_open
    open_items = sum(item.status == "in_progress" for item in state.response.output) if state.response else 0
    assert count["response.output_item.added"] == count["response.output_item.done"] + open_items
    assert count["conversation.item.added"] == count["conversation.item.done"] + open_items
    ids = [event["event_id"] for event in events]
    assert len(set(ids)) == len(ids)
    truncated = [event["item_id"] for event in events if event["type"] == "conversation.item.truncated"]
    sent: Counter[str] = Counter()
    for event in events:
        if event["type"] == "response.output_audio.delta":
            sent[event["item_id"]] += 100
    assert all(sent[item] for item in truncated), "only what was sent is truncated"
