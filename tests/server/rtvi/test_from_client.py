"""What each message of a client does."""

from __future__ import annotations

import pytest

from duologue.server.realtime import facts as fa
from duologue.server.rtvi import acts as do
from duologue.server.rtvi import facts as fc
from duologue.server.rtvi import incoming as im
from tests.server.rtvi.rtvi_steps import Translation


def test_the_conversation_begins_when_the_client_is_ready_and_then_the_client_is_told() -> None:
    talk = Translation(is_ready=False)
    assert talk.post(im.ClientReady("r1", "2.1.0")) == [do.BeginTalk()]
    assert talk.post(fc.TalkBegan()) == [("bot-ready", {"version": "2.1.0", "about": {}})]
    assert talk.acts[-1] == do.SendToClient("bot-ready", {"version": "2.1.0", "about": {}}, "r1")
    assert talk.kinds(im.ClientReady("r2", "2.3.0")) == ["bot-ready"], "a second one begins nothing"


def test_a_client_that_is_ready_twice_begins_one_conversation() -> None:
    talk = Translation(is_ready=False)
    assert talk.post(im.ClientReady("r1", "2.1.0")) == [do.BeginTalk()]
    assert talk.post(im.ClientReady("r2", "2.1.0")) == []
    talk.post(fc.TalkBegan())
    assert talk.acts[1:] == [do.SendToClient("bot-ready", {"version": "2.1.0", "about": {}}, "r2")]


@pytest.mark.parametrize(("given", "told"), [("2.3.9", "2.1.0"), ("1.4.0", "1.4.0")])
def test_a_client_of_the_former_version_is_answered_in_it(given: str, told: str) -> None:
    talk = Translation(is_ready=False)
    talk.post(im.ClientReady("r", given))
    assert talk.post(fc.TalkBegan())[0][1]["version"] == told


@pytest.mark.parametrize("version", ["", "3.0.0", "0.3.5", "2", "2.1", "two.one.zero", "2.1.0.0", "²." * 3])
def test_another_version_is_refused_and_the_client_disconnected(version: str) -> None:
    talk = Translation(is_ready=False)
    answered, error, closed = talk.post(im.ClientReady("r", version))
    assert answered[0] == "error-response"
    assert (error[0], error[1]["fatal"]) == ("error", True)
    assert isinstance(closed, do.Disconnect)
    assert talk.state.ready_id == ""


def test_nothing_else_is_taken_before_that() -> None:
    talk = Translation(is_ready=False)
    for message in (
        im.SendText("a", "hi"),
        im.DisconnectBot("b"),
        im.SendProgramMessage("c", "x"),
        im.GiveResult("d", "call_1", "f", "1"),
        im.PressKeys("e", "1"),
    ):
        assert talk.post(message) == [("error-response", {"error": "Send 'client-ready' first."})]


def test_text_is_typed_or_only_added() -> None:
    talk = Translation()
    assert talk.post(im.SendText("a", "hi")) == [do.TypeForUser("hi", "a")]
    assert talk.post(im.SendText("a", "hi", runs=False, is_agents=True)) == [do.AddToHistory("hi", True, "a")]
    assert talk.post(im.PressKeys("a", "12#")) == [do.TypeForUser("12#", "a")]


@pytest.mark.parametrize("end", [fa.Rested(), fa.UserBegan(2), fc.InputRefused("Too much.", "a")])
def test_an_answer_that_is_only_shown_is_the_only_one(end: fc.RtviFact) -> None:
    talk = Translation()
    assert talk.post(im.SendText("a", "hi", speaks=False)) == [do.SpeakReplies(False), do.TypeForUser("hi", "a")]
    assert do.SpeakReplies(True) in talk.post(end)
    assert do.SpeakReplies(True) not in talk.post(end)


def test_a_result_is_taken_once_and_only_for_an_open_call() -> None:
    talk = Translation()
    talk.post(fa.CallMade(3, "get_weather", "{}"))
    for wrong in (im.GiveResult("a", "call_4", "get_weather", "x"), im.GiveResult("a", "call_3", "other", "x")):
        assert talk.kinds(wrong) == ["error-response"]
    assert talk.post(im.GiveResult("a", "call_3", "get_weather", "sun")) == [do.ReturnResult(3, "sun")]
    assert talk.kinds(im.GiveResult("a", "call_3", "get_weather", "rain")) == ["error-response"]


def test_messages_and_goodbyes_are_passed_on() -> None:
    talk = Translation()
    assert talk.post(im.SendProgramMessage("a", "x", 1)) == [do.AskProgram("a", "x", 1)]
    assert talk.post(im.DisconnectBot("a")) == [do.EndTalk()]
