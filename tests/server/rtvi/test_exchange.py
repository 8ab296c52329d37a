"""The state of an exchange, and the draft of a step."""

from __future__ import annotations

from duologue.server.rtvi.acts import SendToClient
from duologue.server.rtvi.exchange import GivenCall, RtviDraft, RtviState, SpokenSegment


def test_messages_of_the_server_have_ids_of_their_own_and_answers_have_the_clients() -> None:
    draft = RtviDraft(RtviState())
    draft.send("bot-llm-started")
    draft.send("bot-llm-text", text="a")
    draft.reply_to("mine", "server-response", t="x", d=None)
    draft.send_any("server-message", [1])
    draft.send_stamped("user-transcription", text="a")
    assert draft.acts == [
        SendToClient("bot-llm-started", None, "s1"),
        SendToClient("bot-llm-text", {"text": "a"}, "s2"),
        SendToClient("server-response", {"t": "x", "d": None}, "mine"),
        SendToClient("server-message", [1], "s3"),
        SendToClient("user-transcription", {"text": "a"}, "s4", is_stamped=True),
    ]
    assert draft.s.counted == 4


def test_a_refusal_answers_its_message_or_is_an_error_of_its_own() -> None:
    draft = RtviDraft(RtviState())
    draft.refuse("No.", "mine")
    draft.refuse("No.")
    assert draft.acts == [
        SendToClient("error-response", {"error": "No."}, "mine"),
        SendToClient("error", {"error": "No.", "message": "No.", "fatal": False}, "s1"),
    ]


def test_small_facts() -> None:
    assert RtviState(version="1.4.0").is_old
    assert not RtviState().is_old
    assert GivenCall(7, "f").id == "call_7"
    assert SpokenSegment(1, 0, 4, 4).is_heard
