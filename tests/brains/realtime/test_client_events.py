"""Everything that is sent to a Realtime server follows the protocol."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from duologue.brains.realtime import RealtimeSettings
from duologue.brains.realtime import client_events as ce
from duologue.core.leaves import Ask, Outcome
from duologue.ports import CallOutput, News, Request, Tool, ToolCall
from duologue.testing.realtime.protocol_types import problems_of_client_event

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
def test_every_field_that_is_sent_follows_the_protocol(event: Any) -> None:
    assert problems_of_client_event(event) == []


def test_the_server_never_answers_nor_interrupts_by_itself() -> None:
    for kind in ("server_vad", "semantic_vad"):
        rude = {"create_response": True, "interrupt_response": True}
        made = ce.session_settings(RealtimeSettings(turn_detection=kind, turn_options=rude))  # type: ignore[arg-type]
        detection = made["audio"]["input"]["turn_detection"]
        assert (detection["create_response"], detection["interrupt_response"]) == (False, False)
    assert ce.session_settings(RealtimeSettings(turn_detection="none"))["audio"]["input"]["turn_detection"] is None


def test_a_greeting_a_check_in_and_a_goodbye_carry_a_task() -> None:
    def task(request: Request) -> str:
        return ce.create_reply(request, "q", "Be brief.")["response"].get("instructions", "")

    assert "Greet" in task(Request(1, ""))
    assert "still there" in task(Request(1, "", ask=Ask.CHECK_IN))
    assert "goodbye" in task(Request(1, "", ask=Ask.GOODBYE))
    assert task(Request(1, "hello")) == ""
    assert task(Request(1, "", outputs=(CallOutput(1, "three"),))) == ""
    assert task(Request(1, "", news=(News(1, "three"),), history=(News(1, "three"),))).startswith("Be brief.")


def test_audio_is_sent_as_base64() -> None:
    pcm = bytes(range(200))
    assert base64.b64decode(ce.append_audio(pcm)["audio"]) == pcm
