"""What facts of the conversation make the client hear of."""

from __future__ import annotations

from duologue.server.realtime import acts as do
from duologue.server.realtime import client_events as ce
from duologue.server.realtime import facts as fa
from duologue.server.realtime.session_config import SessionConfig, TranscriptWish
from tests.server.realtime.exchange_steps import Exchange

HEARS = SessionConfig(transcription=TranscriptWish())
TEXT = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hi"}]}


def test_a_turn_that_was_never_announced_is_announced_at_its_end() -> None:
    exchange = Exchange(config=HEARS)
    told = exchange.post(fa.UserEnded(1, "yes"))
    assert told[:3] == [
        "input_audio_buffer.speech_started",
        "input_audio_buffer.speech_stopped",
        "input_audio_buffer.committed",
    ]
    assert exchange.events[-1]["transcript"] == "yes"
    assert len({event["item_id"] for event in exchange.events[:3]}) == 1
    assert Exchange().post(fa.UserEnded(1, "yes"))[-1] == "conversation.item.done", "no text without transcription"


def test_a_turn_is_announced_once_and_noise_makes_no_item() -> None:
    exchange = Exchange()
    assert exchange.post(fa.UserBegan(1), fa.UserBegan(1)) == ["input_audio_buffer.speech_started"]
    assert exchange.post(fa.UserDropped(1), fa.UserDropped(2)) == ["input_audio_buffer.speech_stopped"]
    assert exchange.state.items == ()


def test_a_reply_that_is_made_again_belongs_to_the_same_response() -> None:
    exchange = Exchange()
    assert exchange.post(fa.ReplyStarted(1), fa.ReplyStarted(2)) == ["response.created"]
    assert exchange.post(fa.ReplyWorded(1, "old")) == []
    exchange.post(fa.ReplyWorded(2, "", "new"))
    assert exchange.events[-1]["delta"] == "new"
    assert exchange.post(fa.ReplyStarted(3))[-2:] == ["response.done", "response.created"]


def test_words_are_sent_once_and_sound_after_its_words() -> None:
    exchange = Exchange()
    exchange.post(fa.ReplyStarted(1), fa.ReplyWorded(1, "One"), fa.ReplyWorded(1, "One"), fa.ReplyWorded(1, "One two"))
    assert [event["delta"] for event in exchange.events if event["type"].endswith("delta")] == ["One", " two"]
    told = exchange.post(fa.SoundSent(1, 5, b"ab", 1), fa.SoundComplete(5))
    assert told[0] == "response.output_audio.delta"
    assert exchange.events[-1]["response"]["output"][0]["content"] == [
        {"type": "output_audio", "transcript": "One two"}
    ]


def test_a_text_response_gets_no_sound() -> None:
    exchange = Exchange(config=SessionConfig(output_modalities=("text",)))
    exchange.post(fa.ReplyStarted(1))
    assert exchange.post(fa.SoundSent(1, 5, b"ab", 1)) == []


def test_how_a_response_ends() -> None:
    for fact, status, reason in (
        (fa.SoundCut(5), "cancelled", "turn_detected"),
        (fa.SoundCut(5, by_client=True), "cancelled", "client_cancelled"),
        (fa.Rested(), "completed", None),
        (fa.SoundComplete(5), "completed", None),
    ):
        exchange = Exchange()
        exchange.post(fa.ReplyStarted(1), fa.ReplyWorded(1, "One"), fa.SoundSent(1, 5, b"ab", 1))
        assert exchange.post(fact)[-1] == "response.done"
        response = exchange.events[-1]["response"]
        assert response["status"] == status
        assert (response["status_details"] or {}).get("reason") == reason
    exchange = Exchange()
    exchange.post(fa.ReplyStarted(1))
    assert exchange.post(fa.FaultShown("brain", "server_error")) == ["response.done", "error"]
    exchange.post(fa.ReplyStarted(2))
    assert exchange.post(fa.ReplyDropped(1)) == []
    assert exchange.post(fa.ReplyDropped(2)) == ["response.done"]


def test_tokens_are_counted_in_their_response() -> None:
    exchange = Exchange()
    assert exchange.post(fa.TokensUsed(1, 0, 1)) == []
    exchange.post(fa.ReplyStarted(1), fa.TokensUsed(100, 40, 7), fa.TokensUsed(1, 0, 1), fa.ReplyComplete(1))
    usage = exchange.events[-1]["response"]["usage"]
    assert (usage["input_tokens"], usage["output_tokens"], usage["total_tokens"]) == (101, 8, 109)
    assert usage["input_token_details"]["cached_tokens"] == 40


def test_what_the_conversation_refuses_stays_to_be_answered() -> None:
    exchange = Exchange()
    exchange.post(ce.ItemCreate(None, TEXT), ce.ResponseCreate("mine", {}))
    assert exchange.acts == [do.TypeText("hi")]
    exchange.post(fa.AskRefused("rate_limit_exceeded", "Too fast."))
    assert exchange.events[0]["error"]["event_id"] == "mine"
    exchange.post(ce.ResponseCreate(None, {}))
    assert exchange.acts == [do.TypeText("hi")]


def test_sound_without_text_is_told_and_the_response_goes_on_without_it() -> None:
    exchange = Exchange(config=SessionConfig(turn_detection=None, transcription=TranscriptWish()))
    exchange.post(ce.AudioAppend(None, bytes(48_000)), ce.AudioCommit(None), ce.ResponseCreate(None, {}))
    item = exchange.state.items[0].id
    assert exchange.post(fa.AudioWritten(item, None)) == ["conversation.item.input_audio_transcription.failed"]
    assert exchange.acts == [do.SpeakNow()]
    assert exchange.post(fa.AudioWritten("nothing", "text")) == []
