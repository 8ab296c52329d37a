"""What events of a client do, step by step."""

from __future__ import annotations

import pytest

from duologue.server.realtime import acts as do
from duologue.server.realtime import client_events as ce
from duologue.server.realtime import facts as fa
from duologue.server.realtime.session_config import SessionConfig
from tests.server.realtime.client_script import WEATHER
from tests.server.realtime.exchange_steps import Exchange

TEXT = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hi"}]}


def update(**session: object) -> ce.SessionUpdate:
    return ce.SessionUpdate("u", {"type": "realtime", **session})


def speaking(exchange: Exchange) -> str:
    """Let a reply speak. Returns its item's id."""
    exchange.post(fa.ReplyStarted(1), fa.ReplyWorded(1, "Yes."), fa.SoundSent(1, 7, bytes(4_800), 100))
    assert exchange.state.response is not None
    return exchange.state.response.output[0].id


def test_an_update_is_used_and_shown() -> None:
    exchange = Exchange()
    assert exchange.post(update(instructions="Be kind.")) == ["session.updated"]
    assert exchange.acts == [do.UseConfig(exchange.state.config)]
    exchange.post(update(voice="x"))
    assert exchange.error == "beta_api_shape_disabled"
    assert exchange.acts == []


def test_a_tool_cant_have_the_name_of_one_of_the_agents() -> None:
    exchange = Exchange(own_tools=("get_weather",))
    exchange.post(update(tools=[WEATHER]))
    assert exchange.error == "invalid_value"


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"instructions": "Be kind."}, "instructions"),
        ({"tools": [WEATHER]}, "tools"),
        ({"tool_choice": "none"}, "tool_choice"),
        ({"audio": {"input": {"turn_detection": {"type": "server_vad"}}}}, "audio.input.turn_detection"),
        ({"audio": {"output": {"voice": "low"}}}, "audio.output.voice"),
    ],
)
def test_a_model_that_cant_be_changed_is_not_changed(fields: dict[str, object], param: str) -> None:
    exchange = Exchange(is_fixed=True, voices=("low",))
    exchange.post(update(**fields))
    assert exchange.error == "unsupported_parameter"
    assert exchange.events[0]["error"]["param"] == f"session.{param}"
    same = {"turn_detection": {"type": "semantic_vad"}, "transcription": {"model": "whisper-1"}}
    assert exchange.post(update(audio={"input": same, "output": {"voice": "marin"}})) == ["session.updated"]


def test_sound_is_heard_or_kept() -> None:
    exchange = Exchange()
    exchange.post(ce.AudioAppend(None, bytes(960)))
    assert exchange.acts == [do.PassSound(bytes(960), 24_000)]
    exchange.post(ce.AudioAppend(None, bytes(961)))
    assert exchange.error == "invalid_value"
    exchange.post(update(audio={"input": {"turn_detection": None}}), ce.AudioAppend(None, bytes(9_600)))
    assert do.KeepSound(bytes(9_600), 24_000) in exchange.acts
    assert exchange.post(ce.AudioCommit(None))[0] == "input_audio_buffer.committed"
    assert exchange.acts == [do.Transcribe(exchange.events[0]["item_id"])]
    exchange.post(ce.AudioCommit(None))
    assert exchange.error == "input_audio_buffer_commit_empty"


def test_no_more_than_two_minutes_are_kept() -> None:
    exchange = Exchange(config=SessionConfig(turn_detection=None))
    for _ in range(120):
        exchange.post(ce.AudioAppend(None, bytes(48_000)))
    exchange.post(ce.AudioAppend(None, bytes(48_000)))
    assert exchange.error == "invalid_value"


def test_items_are_added_where_the_client_wants_them() -> None:
    exchange = Exchange()
    for id_, previous in (("b", None), ("a", "root"), ("c", "b"), ("ab", "a")):
        assert exchange.post(ce.ItemCreate(None, {**TEXT, "id": id_}, previous)) == [
            "conversation.item.added",
            "conversation.item.done",
        ]
    assert [item.id for item in exchange.state.items] == ["a", "ab", "b", "c"]
    exchange.post(ce.ItemCreate(None, {**TEXT, "id": "a"}))
    assert exchange.error == "invalid_value"
    exchange.post(ce.ItemCreate(None, TEXT, "nowhere"))
    assert exchange.error == "invalid_value"


def test_a_client_cant_create_items_without_end() -> None:
    exchange = Exchange()
    for _ in range(200):
        exchange.post(ce.ItemCreate(None, TEXT))
    exchange.post(ce.ItemCreate(None, TEXT))
    assert exchange.error == "invalid_value"


def test_items_that_arent_there_are_refused() -> None:
    exchange = Exchange()
    for event, code in (
        (ce.ItemRetrieve(None, "x"), "item_retrieve_invalid_item_id"),
        (ce.ItemDelete(None, "x"), "item_delete_invalid_item_id"),
        (ce.ItemTruncate(None, "x", 0, 0), "item_truncate_invalid_item_id"),
    ):
        exchange.post(event)
        assert exchange.error == code


def test_a_truncation_is_believed_as_far_as_it_can_be() -> None:
    exchange = Exchange()
    item = speaking(exchange)
    exchange.post(ce.ItemTruncate(None, item, 1, 50, 80))
    assert exchange.error == "invalid_value"
    exchange.post(ce.ItemTruncate(None, item, 0, 101, 80))
    assert exchange.error == "invalid_value"
    assert exchange.post(ce.ItemTruncate(None, item, 0, 100, 80, 20)) == ["conversation.item.truncated"]
    assert exchange.events[0]["audio_end_ms"] == 80
    assert exchange.acts == [do.StopPlayer(7, 80)]
    exchange.post(ce.ItemTruncate(None, item, 0, 90, 90))
    assert exchange.events[0]["audio_end_ms"] == 80, "it never grows"
    assert exchange.acts == []
    exchange.post(ce.ItemCreate(None, {**TEXT, "id": "mine"}), ce.ItemTruncate(None, "mine", 0, 0))
    assert exchange.events[-1]["error"]["code"] == "item_truncate_invalid_item_id"


def test_an_item_in_progress_cant_be_deleted() -> None:
    exchange = Exchange()
    item = speaking(exchange)
    exchange.post(ce.ItemDelete(None, item))
    assert exchange.error == "item_delete_invalid_item_id"
    exchange.post(fa.SoundComplete(7))
    assert exchange.post(ce.ItemDelete(None, item)) == ["conversation.item.deleted"]
    assert [one.id for one in exchange.state.deleted] == [item]


def test_a_response_has_settings_of_its_own_and_then_those_of_the_session() -> None:
    exchange = Exchange()
    exchange.post(ce.ResponseCreate(None, {"instructions": "Whisper.", "tools": [WEATHER]}))
    used, spoken = exchange.acts
    assert isinstance(used, do.UseConfig)
    assert (used.config.instructions, spoken) == ("Whisper.", do.SpeakNow())
    exchange.post(fa.ReplyStarted(1), fa.ReplyComplete(1))
    assert exchange.acts == [do.UseConfig(exchange.state.config)]


def test_what_a_response_cant_be_is_refused() -> None:
    for response, code in (
        ({"conversation": "none"}, "unsupported_parameter"),
        ({"input": []}, "unsupported_parameter"),
        ({"audio": {"output": {"format": {"type": "audio/pcmu"}}}}, "unsupported_parameter"),
        ({"max_output_tokens": 5}, "unsupported_parameter"),
        ({"modalities": ["text"]}, "beta_api_shape_disabled"),
        ({"metadata": {"a": 1}}, "invalid_value"),
        ({"colour": 1}, "unknown_parameter"),
    ):
        exchange = Exchange()
        exchange.post(ce.ResponseCreate("r", response))
        assert exchange.error == code, response
        assert exchange.events[0]["error"]["event_id"] == "r"


def test_outputs_wait_for_the_response_even_while_one_speaks() -> None:
    exchange = Exchange()
    speaking(exchange)
    exchange.post(fa.CallMade(3, "get_weather", "{}"))
    call_id = next(event["call_id"] for event in exchange.events if "call_id" in event)
    output = {"type": "function_call_output", "call_id": call_id, "output": "sunny"}
    exchange.post(ce.ItemCreate(None, output))
    assert exchange.acts == []
    exchange.post(ce.ResponseCreate(None, {}))
    assert exchange.acts == [do.GiveOutputs(((3, "sunny"),))]
    exchange.post(ce.ItemCreate(None, output))
    assert exchange.error == "invalid_tool_call_id"
    exchange.post(ce.ItemCreate(None, {**output, "call_id": "unknown"}))
    assert exchange.error == "invalid_tool_call_id"


def test_a_call_and_its_output_can_be_created_as_history() -> None:
    exchange = Exchange()
    call = {"type": "function_call", "call_id": "old", "name": "f", "arguments": "{}"}
    exchange.post(ce.ItemCreate(None, call))
    exchange.post(ce.ItemCreate(None, {"type": "function_call_output", "call_id": "old", "output": "42"}))
    assert exchange.post(ce.ResponseCreate(None, {})) == []
    assert exchange.acts == [do.SpeakNow()]


def test_another_response_cant_be_cancelled() -> None:
    exchange = Exchange()
    speaking(exchange)
    exchange.post(ce.ResponseCancel(None, "resp_other"))
    assert exchange.error == "response_cancel_not_active"
    exchange.post(ce.ResponseCancel(None))
    assert exchange.acts == [do.Interrupt()]


def waiting_for_text() -> Exchange:
    """A response was asked for, and waits for the text of what was committed."""
    exchange = Exchange(config=SessionConfig(turn_detection=None))
    exchange.post(ce.AudioAppend(None, bytes(48_000)), ce.AudioCommit(None))
    exchange.post(ce.ResponseCreate(None, {"instructions": "Whisper.", "metadata": {"a": "b"}}))
    return exchange


def test_what_the_agent_says_by_itself_isnt_the_response_that_waits_for_a_text() -> None:
    exchange = waiting_for_text()
    assert exchange.post(fa.ReplyStarted(1, answers=False)) == ["response.created"]
    assert exchange.events[0]["response"]["metadata"] is None
    assert exchange.post(fa.ReplyStarted(2, answers=False)) == [], "it is made again"
    exchange.post(fa.AudioWritten(exchange.state.items[0].id, "hi"))
    assert exchange.acts == [do.TypeText("hi")]
    assert exchange.post(fa.ReplyDropped(2), fa.ReplyStarted(3)) == ["response.done", "response.created"]
    assert exchange.events[1]["response"]["metadata"] == {"a": "b"}


def test_a_response_that_hasnt_begun_can_be_cancelled() -> None:
    exchange = waiting_for_text()
    assert exchange.post(ce.ResponseCancel(None)) == ["response.created", "response.done"]
    assert exchange.events[1]["response"]["status_details"] == {"type": "cancelled", "reason": "client_cancelled"}
    assert exchange.acts == [do.UseConfig(exchange.state.config), do.Interrupt()]
    exchange.post(fa.AudioWritten(exchange.state.items[0].id, "hi"))
    assert exchange.acts == [], "it isn't answered"
    exchange.post(ce.ResponseCreate(None, {}))
    assert exchange.acts == [do.TypeText("hi")], "until the client asks again"


def test_a_response_keeps_its_settings_when_another_one_ends_for_it() -> None:
    exchange = Exchange()
    exchange.post(fa.ReplyStarted(1, answers=False), update(instructions="Be kind."))
    exchange.post(ce.ItemCreate(None, TEXT), ce.ResponseCreate(None, {"instructions": "Whisper."}))
    exchange.post(fa.ReplyDropped(1), fa.ReplyStarted(2))
    assert [act.config.instructions for act in exchange.acts if isinstance(act, do.UseConfig)][-1:] == ["Whisper."]
    exchange.post(fa.ReplyComplete(2))
    assert exchange.acts == [do.UseConfig(exchange.state.config)]


def test_with_a_track_sound_is_not_in_events() -> None:
    exchange = Exchange(has_track=True)
    exchange.post(fa.ReplyStarted(1), fa.ReplyWorded(1, "Yes."))
    assert exchange.post(fa.SoundSent(1, 7, b"", 100)) == ["output_audio_buffer.started"]
    assert exchange.post(fa.SoundSent(1, 7, b"", 100)) == []
    exchange.post(ce.OutputClear("c"))
    assert exchange.acts == [do.Interrupt()]
    assert exchange.post(fa.TrackEnded(8, True)) == []
    assert exchange.post(fa.TrackEnded(7, True)) == ["output_audio_buffer.cleared"]
    exchange.post(ce.OutputClear("c"))
    assert exchange.acts == []
    exchange.post(ce.AudioAppend("a", bytes(960)))
    assert exchange.error == "unsupported_parameter"


def test_without_a_track_there_is_no_output_buffer_to_clear() -> None:
    exchange = Exchange()
    exchange.post(ce.OutputClear("c"))
    assert exchange.error == "unsupported_parameter"


def test_sound_of_a_track_is_passed_on_or_kept() -> None:
    exchange = Exchange(has_track=True)
    exchange.post(fa.TrackHeard(bytes(640), 20, 16_000))
    assert exchange.acts == [do.PassSound(bytes(640), 16_000)]
    exchange.post(update(audio={"input": {"turn_detection": None}}), fa.TrackHeard(bytes(640), 20, 16_000))
    assert exchange.acts[-1] == do.KeepSound(bytes(640), 16_000)
    assert exchange.state.kept_ms == 20
    deaf = Exchange(has_track=True, has_ears=False)
    deaf.post(fa.TrackHeard(bytes(640), 20, 16_000))
    assert deaf.acts == []
