"""Server events become what happened, and what we want becomes client events: tables and plain functions."""

from __future__ import annotations

import base64
from typing import Any, get_args

import pytest
from openai.types.realtime import RealtimeServerEvent

from duologue.brains.realtime import RealtimeSettings
from duologue.brains.realtime import client_events as ce
from duologue.brains.realtime import server_events as hp
from duologue.brains.realtime.failures import classify_code
from duologue.brains.realtime.item_audio import ItemAudio
from duologue.brains.realtime.utterances import UNTRANSCRIBED, Utterances
from duologue.core.leaves import Ask, ErrorClass, Outcome
from duologue.ports import CallOutput, Final, News, Partial, Request, SpeechBegan, SpeechEnded, Tool, ToolCall, TurnOver
from duologue.testing.realtime.protocol_types import problems_of_client_event

OF_ITEM = {"response_id": "r", "item_id": "i", "output_index": 0, "content_index": 0}
CALL = {"id": "i", "type": "function_call", "name": "look", "arguments": '{"a": 1}', "call_id": "c"}


@pytest.mark.req("L-24")
@pytest.mark.parametrize(
    ("event", "means"),
    [
        ({"type": "session.created", "session": {"expires_at": 99}}, hp.SessionBegan(99)),
        ({"type": "session.updated", "session": {}}, hp.SessionChanged()),
        ({"type": "input_audio_buffer.speech_started", "item_id": "i"}, hp.SpeechOn("i")),
        ({"type": "input_audio_buffer.speech_stopped", "item_id": "i"}, hp.SpeechOff("i")),
        ({"type": "input_audio_buffer.committed", "item_id": "i"}, hp.AudioCommitted("i")),
        (
            {"type": "conversation.item.input_audio_transcription.delta", "item_id": "i", "delta": "he"},
            hp.Transcribing("i", "he"),
        ),
        (
            {"type": "conversation.item.input_audio_transcription.completed", "item_id": "i", "transcript": "hello"},
            hp.Transcribed("i", "hello"),
        ),
        ({"type": "conversation.item.input_audio_transcription.failed", "item_id": "i"}, hp.Untranscribed("i")),
        (
            {"type": "response.created", "response": {"id": "r", "metadata": {hp.REQUEST_KEY: "q"}}},
            hp.ResponseBegan("r", "q"),
        ),
        ({"type": "response.created", "response": {"id": "r", "metadata": None}}, hp.ResponseBegan("r")),
        (
            {"type": "response.output_item.added", "response_id": "r", "item": {"id": "i", "type": "message"}},
            hp.ItemBegan("r", "i", True),
        ),
        ({"type": "response.output_audio.delta", "delta": "AAEC", **OF_ITEM}, hp.SoundCame("r", "i", b"\0\1\2")),
        ({"type": "response.output_audio_transcript.delta", "delta": "hi", **OF_ITEM}, hp.WordsCame("r", "i", "hi")),
        ({"type": "response.output_text.delta", "delta": "hi", **OF_ITEM}, hp.TextCame("r", "i", "hi")),
        (
            {"type": "response.output_item.done", "response_id": "r", "item": CALL},
            hp.ItemEnded("r", "i", ToolCall("look", '{"a": 1}', "c")),
        ),
        (
            {"type": "response.output_item.done", "response_id": "r", "item": {**CALL, "status": "incomplete"}},
            hp.ItemEnded("r", "i"),
        ),
        (
            {"type": "response.done", "response": {"id": "r", "status": "completed", "output": [CALL]}},
            hp.ResponseEnded("r", "completed", calls=(("i", ToolCall("look", '{"a": 1}', "c")),)),
        ),
        (
            {
                "type": "response.done",
                "response": {"id": "r", "status": "failed", "status_details": {"error": {"code": "rate_limit"}}},
            },
            hp.ResponseEnded("r", "failed", code="rate_limit"),
        ),
        (
            {"type": "rate_limits.updated", "rate_limits": [{"name": "tokens", "remaining": 5, "reset_seconds": 2.5}]},
            hp.LimitsUpdated((("tokens", 5, 2.5),)),
        ),
        (
            {"type": "error", "error": {"type": "invalid_request_error", "code": None, "event_id": "e"}},
            hp.RequestRefused("invalid_request_error", "e"),
        ),
    ],
    ids=lambda value: value["type"] if isinstance(value, dict) else "",
)
def test_what_a_server_event_says(event: dict[str, Any], means: hp.Happened) -> None:
    assert hp.read(event) == means


def test_every_type_of_the_protocol_is_read_or_ignored_on_purpose() -> None:
    union = get_args(get_args(RealtimeServerEvent)[0])
    kinds = {get_args(model.model_fields["type"].annotation)[0] for model in union}
    assert kinds == set(hp.TABLE) | hp.IGNORED
    assert not set(hp.TABLE) & hp.IGNORED


@pytest.mark.parametrize(
    "event",
    [
        None,
        [],
        {},
        {"type": 7},
        {"type": "response.created"},
        {"type": "response.created", "response": {"id": None}},
        {"type": "response.output_audio.delta", **OF_ITEM, "delta": "not base64!"},
        {"type": "response.output_audio.delta", **OF_ITEM, "delta": None},
        {"type": "response.done", "response": {"id": "r"}},
        {"type": "response.output_item.done", "response_id": "r", "item": None},
        {"type": "error", "error": "oops"},
        {"type": "rate_limits.updated", "rate_limits": 3},
    ],
)
def test_nonsense_is_unreadable_and_nothing_worse(event: object) -> None:
    assert isinstance(hp.read(event), hp.UnreadableEvent)


def test_a_type_that_nobody_knows_is_unknown() -> None:
    assert hp.read({"type": "response.telepathy.delta"}) == hp.UnknownEvent("response.telepathy.delta")


@pytest.mark.req("L-12")
@pytest.mark.parametrize(
    ("code", "error"),
    [
        ("rate_limit_exceeded", ErrorClass.RATE_LIMIT),
        ("insufficient_quota", ErrorClass.RATE_LIMIT),
        ("session_expired", ErrorClass.SESSION_EXPIRED),
        ("invalid_api_key", ErrorClass.AUTH_FAILURE),
        ("unknown_parameter", ErrorClass.INVALID_ARGS),
        ("invalid_request_error", ErrorClass.INVALID_ARGS),
        ("server_error", ErrorClass.SERVER_ERROR),
        ("request_timeout", ErrorClass.NETWORK_TIMEOUT),
        ("beta_api_shape_disabled", ErrorClass.INVALID_ARGS),
        ("something_else", ErrorClass.SERVER_ERROR),
        ("", ErrorClass.SERVER_ERROR),
    ],
)
def test_errors_are_classified_by_their_code(code: str, error: ErrorClass) -> None:
    assert classify_code(code) is error


# -- What we send


TOOL = Tool("look", "Look.", {"type": "object", "properties": {"a": {"type": "integer"}}})


@pytest.mark.req("L-24")
@pytest.mark.parametrize(
    "event",
    [
        ce.update_session(ce.session_settings(RealtimeSettings())),
        ce.update_session(
            ce.session_settings(RealtimeSettings(turn_detection="semantic_vad", turn_options={"eagerness": "high"}))
        ),
        ce.update_session(ce.session_settings(RealtimeSettings(turn_detection="none", noise_reduction="near_field"))),
        ce.update_session(ce.session_settings(RealtimeSettings(output="text", extra={"max_output_tokens": 500}))),
        ce.update_session(ce.task_settings("Be brief.", (TOOL,))),
        ce.append_audio(bytes(480)),
        ce.commit_audio(),
        ce.clear_audio(),
        ce.user_item("hello"),
        ce.agent_item("hello"),
        ce.system_item("hello"),
        ce.call_item(ToolCall("look", {"a": 1}), "call_1"),
        ce.output_item("call_1", "three"),
        ce.news_item(News(1, 'He said "stop".', tool="look")),
        ce.late_output_item(CallOutput(1, "", Outcome.CANCELLED)),
        ce.truncate_item("item_1", 1_250),
        ce.delete_item("item_1"),
        ce.create_reply(Request(1, "hello"), "request_1", "Be brief."),
        ce.create_reply(Request(1, "", ask=Ask.GOODBYE), "request_1", "Be brief."),
        ce.read_aloud("Good day.", "request_1"),
        ce.summarise("a long story", 100, "request_1"),
        ce.cancel(),
        ce.cancel("resp_1"),
    ],
    ids=lambda event: event["type"],
)
def test_what_we_send_is_of_the_protocol_to_the_last_field(event: Any) -> None:
    assert problems_of_client_event(event) == []


def test_the_server_never_answers_nor_interrupts_by_itself() -> None:
    for kind in ("server_vad", "semantic_vad"):
        rude = {"create_response": True, "interrupt_response": True}
        made = ce.session_settings(RealtimeSettings(turn_detection=kind, turn_options=rude))  # type: ignore[arg-type]
        detection = made["audio"]["input"]["turn_detection"]
        assert (detection["create_response"], detection["interrupt_response"]) == (False, False)
    assert ce.session_settings(RealtimeSettings(turn_detection="none"))["audio"]["input"]["turn_detection"] is None


def test_a_greeting_a_check_in_and_a_goodbye_say_what_to_do() -> None:
    def told(request: Request) -> str:
        return ce.create_reply(request, "q", "Be brief.")["response"].get("instructions", "")

    assert "Greet" in told(Request(1, ""))
    assert "still there" in told(Request(1, "", ask=Ask.CHECK_IN))
    assert "goodbye" in told(Request(1, "", ask=Ask.GOODBYE))
    assert told(Request(1, "hello")) == ""
    assert told(Request(1, "", outputs=(CallOutput(1, "three"),))) == ""
    assert told(Request(1, "", news=(News(1, "three"),), history=(News(1, "three"),))).startswith("Be brief.")


def test_wrong_settings_are_told_together() -> None:
    with pytest.raises(ValueError, match=r"turn_detection must be one of.*; .*ping_ms must be whole"):
        RealtimeSettings(turn_detection="psychic", ping_ms=0)  # type: ignore[arg-type]


# -- Sound and its words


def test_words_go_with_the_sound_and_the_last_ones_with_its_end() -> None:
    sounds = ItemAudio()
    sounds.add_words("One ")
    first = sounds.add(bytes(100 * 48))
    sounds.add_words("two")
    last = sounds.rest()
    assert first is not None
    assert last is not None
    assert (first.ms, first.text, first.more) == (90, "One ", True)
    assert (last.ms, last.text, last.more) == (10, "two", False)
    assert sounds.rest() is None


def test_no_sample_is_lost_however_the_sound_comes() -> None:
    sounds, pcm = ItemAudio(), bytes(range(256)) * 40
    got = b""
    for at in range(0, len(pcm), 1_111):
        piece = sounds.add(pcm[at : at + 1_111])
        got += piece.pcm if piece else b""
    last = sounds.rest()
    assert last is not None
    assert (got + last.pcm)[: len(pcm)] == pcm
    assert len(last.pcm) == last.ms * 48


# -- What was heard


def test_an_utterance_is_told_as_ears_tell_it() -> None:
    ears = Utterances(quiet_ms=500)
    told = [
        heard
        for happened in (
            hp.SpeechOn("i"),
            hp.SpeechOn("i"),
            hp.SpeechOff("i"),
            hp.AudioCommitted("i"),
            hp.Transcribing("i", "book "),
            hp.Transcribing("i", "it"),
            hp.Transcribed("i", "Book it."),
            hp.Transcribed("i", "Book it."),
        )
        for heard in ears.take(happened)
    ]
    assert told == [
        SpeechBegan(1),
        SpeechEnded(1, 500),
        TurnOver(1),
        Partial("book", utterance=1),
        Partial("book it", utterance=1),
        Final("Book it.", utterance=1),
    ]
    assert not ears.is_open


def test_events_in_the_wrong_order_still_begin_with_an_onset() -> None:
    ears = Utterances()
    assert ears.take(hp.AudioCommitted("i")) == [SpeechBegan(1), SpeechEnded(1), TurnOver(1)]
    assert ears.take(hp.SpeechOff("i")) == []
    assert ears.take(hp.SpeechOn("i")) == []


def test_what_has_no_text_was_said_all_the_same() -> None:
    ears = Utterances()
    ears.take(hp.SpeechOn("i"))
    assert ears.take(hp.Untranscribed("i")) == [Final(UNTRANSCRIBED, utterance=1)]


def test_a_lost_session_leaves_no_utterance_open() -> None:
    ears = Utterances()
    ears.take(hp.SpeechOn("i"))
    ears.take(hp.Transcribing("i", "book a"))
    assert ears.lose() == [SpeechEnded(1), Final("book a", utterance=1)]
    assert not ears.is_open
    assert ears.take(hp.SpeechOn("j")) == [SpeechBegan(2)]


def test_audio_that_we_commit_gets_its_text_by_the_item_that_it_becomes() -> None:
    ears = Utterances(server_decides=False)
    assert ears.begin_unnamed() == [SpeechBegan(1)]
    assert ears.end_unnamed() == [SpeechEnded(1)]
    assert ears.take(hp.AudioCommitted("i")) == []
    assert ears.take(hp.Transcribed("i", "hello")) == [Final("hello", utterance=1)]


def test_sound_survives_the_way_through_base64() -> None:
    pcm = bytes(range(200))
    assert base64.b64decode(ce.append_audio(pcm)["audio"]) == pcm
