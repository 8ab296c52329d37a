"""What each fact makes the client hear of."""

from __future__ import annotations

from duologue.server.realtime import facts as fa
from duologue.server.rtvi import acts as do
from duologue.server.rtvi import facts as fc
from duologue.server.rtvi import incoming as im
from tests.server.rtvi.rtvi_steps import Translation


def test_a_spoken_turn() -> None:
    talk = Translation()
    assert talk.kinds(fa.UserBegan(1)) == ["user-started-speaking"]
    assert talk.kinds(fa.UserBegan(1)) == []
    assert talk.post(fc.PartialHeard(1, "good"))[0] == (
        "user-transcription",
        {"text": "good", "user_id": "user", "final": False},
    )
    assert talk.kinds(fc.PartialHeard(1, "good")) == []
    ended = talk.post(fa.UserEnded(1, "good morning"))
    assert [kind for kind, _ in ended] == ["user-transcription", "user-stopped-speaking", "user-llm-text"]
    assert ended[0][1] == {"text": "good morning", "user_id": "user", "final": True}


def test_a_typed_turn_is_no_speech_and_a_noise_stops() -> None:
    talk = Translation()
    assert talk.kinds(fa.UserEnded(1, "typed", typed=True)) == ["user-llm-text"]
    assert talk.kinds(fa.UserDropped(2)) == []
    talk.post(fa.UserBegan(2))
    assert talk.kinds(fa.UserDropped(2)) == ["user-stopped-speaking"]


def spoken(talk: Translation) -> None:
    talk.post(fa.ReplyStarted(5))
    talk.post(fa.ReplyWorded(5, "Hello there. "))
    talk.post(fc.AgentSounded(9))
    talk.post(fa.ReplyWorded(5, "Hello there. How are you?"))


def test_a_reply_is_text_then_segments_then_progress() -> None:
    talk = Translation()
    assert talk.kinds(fa.ReplyStarted(5)) == ["bot-llm-started"]
    text, segment = talk.post(fa.ReplyWorded(5, "Hello there. "))
    assert text == ("bot-llm-text", {"text": "Hello there. "})
    assert (segment[1]["text"], segment[1]["spoken_status"]) == ("Hello there.", "new")
    assert segment[1]["spoken_progress"] == {"accumulated_text": "", "remaining_text": "Hello there."}
    assert talk.kinds(fc.AgentSounded(9)) == ["bot-tts-started", "bot-started-speaking"]
    talk.post(fa.ReplyWorded(5, "Hello there. How are you?"))
    words, progress = talk.post(fc.PlayedSoFar(5, 5))
    assert words == ("bot-tts-text", {"text": "Hello"})
    assert progress[1]["spoken_progress"] == {"accumulated_text": "Hello", "remaining_text": " there."}
    told = talk.post(fc.PlayedSoFar(5, 16))
    assert [kind for kind, _ in told] == [
        "bot-tts-text",
        "bot-output",
        "bot-transcription",
        "bot-tts-text",
        "bot-output",
    ]
    assert (told[1][1]["spoken_status"], told[4][1]["spoken_status"]) == ("completed", "in-progress")
    assert told[1][1]["segment_id"] == segment[1]["segment_id"] != told[4][1]["segment_id"]
    assert talk.kinds(fc.PlayedSoFar(5, 4)) == [], "never back"
    assert talk.kinds(fa.ReplyComplete(5)) == ["bot-llm-stopped"]
    assert talk.kinds(fc.AgentFellSilent()) == ["bot-tts-stopped", "bot-stopped-speaking"]


def test_an_interruption_tells_what_was_heard_and_no_more() -> None:
    talk = Translation()
    spoken(talk)
    assert talk.post(fa.SoundCut(9)) == [do.DropHeldSound(), ("bot-interrupted", None)]
    told = talk.post(fa.SoundHeard(9, 400, "Hello there. How"))
    assert told[-1] == ("bot-transcription", {"text": "How"})
    assert ("bot-transcription", {"text": "Hello there."}) in told
    assert talk.kinds(fc.AgentFellSilent()) == ["bot-tts-stopped", "bot-stopped-speaking"]
    assert talk.kinds(fa.SoundHeard(9, 400, "Hello there. How are")) == []
    assert talk.kinds(fa.SoundCut(9)) == []


def test_a_client_of_the_former_version_gets_segments_as_it_knows_them() -> None:
    talk = Translation("1.4.0")
    talk.post(fa.ReplyStarted(5))
    assert talk.post(fa.ReplyWorded(5, "Hello."))[1][1] == {
        "text": "Hello.",
        "aggregated_by": "sentence",
        "spoken": False,
    }
    assert talk.kinds(fc.PlayedSoFar(5, 2)) == ["bot-tts-text"]
    assert talk.post(fc.PlayedSoFar(5, 6))[1][1]["spoken"] is True


def test_words_that_are_only_shown_are_output_that_isnt_spoken() -> None:
    talk = Translation()
    talk.post(fa.ReplyStarted(5))
    told = talk.post(fa.ReplyWorded(5, "", "A picture."))
    assert told[1][1]["will_be_spoken"] is False
    assert talk.kinds(fa.ReplyWorded(4, "old")) == []


def test_a_reply_that_is_made_again_starts_again() -> None:
    talk = Translation()
    talk.post(fa.ReplyStarted(5))
    assert talk.kinds(fa.ReplyStarted(6)) == ["bot-llm-stopped", "bot-llm-started"]
    assert talk.kinds(fa.ReplyDropped(5)) == []
    assert talk.kinds(fa.ReplyDropped(6)) == ["bot-llm-stopped"]


def test_the_next_voice_ends_the_one_before() -> None:
    talk = Translation()
    talk.post(fc.AgentSounded(1))
    assert talk.kinds(fc.AgentSounded(2)) == [
        "bot-tts-stopped",
        "bot-stopped-speaking",
        "bot-tts-started",
        "bot-started-speaking",
    ]


def test_a_call_of_the_client_has_name_and_arguments_and_an_own_one_hasnt() -> None:
    talk = Translation()
    started, running = talk.post(fa.CallMade(1, "get_weather", '{"city": "Bonn"}'))
    assert started == ("llm-function-call-started", {"function_name": "get_weather"})
    assert running[1] == {"function_name": "get_weather", "tool_call_id": "call_1", "arguments": {"city": "Bonn"}}
    talk.post(im.GiveResult("a", "call_1", "get_weather", "sun"))
    stopped = {"function_name": "get_weather", "tool_call_id": "call_1", "cancelled": False, "result": "sun"}
    assert talk.post(fa.CallEnded(1)) == [("llm-function-call-stopped", stopped)]
    assert talk.post(fa.CallEnded(1)) == []
    assert talk.post(fc.OwnCallBegan(2)) == [
        ("llm-function-call-started", {}),
        ("llm-function-call-in-progress", {"tool_call_id": "call_2"}),
    ]
    ended = {"tool_call_id": "call_2", "cancelled": True}
    assert talk.post(fc.OwnCallEnded(2, is_cancelled=True)) == [("llm-function-call-stopped", ended)]


def test_a_call_without_a_result_is_cancelled() -> None:
    talk = Translation()
    talk.post(fa.CallMade(1, "f", "{}"))
    assert talk.post(fa.CallEnded(1))[0][1] == {"function_name": "f", "tool_call_id": "call_1", "cancelled": True}


def test_programs_answer_and_send() -> None:
    talk = Translation()
    assert talk.post(fc.ProgramAnswered("q", "x", [1])) == [("server-response", {"t": "x", "d": [1]})]
    assert talk.acts[-1].id == "q"  # type: ignore[union-attr]
    assert talk.post(fc.ProgramAnswered("q", "x", why="No.")) == [("error-response", {"error": "No."})]
    assert talk.post(fc.ProgramSent("hello")) == [("server-message", "hello")]


def test_measures_and_faults() -> None:
    talk = Translation()
    assert talk.post(fc.AnswerMeasured(250, None)) == [("metrics", {"ttfb": [{"processor": "brain", "value": 0.25}]})]
    assert talk.post(fc.AnswerMeasured(None, None)) == []
    assert talk.post(fc.CharactersUsed(12)) == [("metrics", {"characters": [{"processor": "voice", "value": 12}]})]
    assert talk.post(fa.TokensUsed(10, 4, 3))[0][1]["tokens"][0]["total_tokens"] == 13
    talk.post(fa.ReplyStarted(1))
    stopped, error = talk.post(fa.FaultShown("brain", "server_error"))
    assert stopped[0] == "bot-llm-stopped"
    assert error[1]["fatal"] is False
    assert "brain" in error[1]["error"]
