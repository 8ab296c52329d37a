"""Signals of a conversation as messages of the protocol."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from duologue.ports.history import AgentSaid, UserSaid
from duologue.server import server_messages
from tests.server.running_server import RunningServer, serve, talk


@pytest.mark.req("C-INT-003", "C-CON-001")
def test_a_client_gets_every_state_in_its_language() -> None:
    async def script(running: RunningServer) -> None:
        client = await running.connect()
        await client.begin("alice", language="de-AT")
        ready = client.told("ready")[0]
        assert ready["language"] == "de"
        assert ready["agent"] == {"name": "", "hears": True, "speaks": True}
        assert await talk(client, "hello") == "You said hello."
        await client.expect("state", after=1, state="listening")
        states = [told["state"] for told in client.told("state")]
        assert states == ["preparing", "listening", "processing", "waitingForCopilot", "speaking", "listening"]
        assert client.told("state", state="listening")[0]["localizedLabel"] == "Ich höre zu"
        assert set(client.told("state")[0]) == {
            "state", "previous", "localizedLabel", "cause", "phase", "previousPhase", "at", "since",
            "turnId", "turnRole", "metadata",
        }  # fmt: skip

    serve(script)


def test_times_of_a_conversation_are_utc_with_milliseconds() -> None:
    began = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    assert server_messages.iso(began, 61_001) == "2026-01-02T03:05:06.001Z"


def test_the_history_marks_lost_turns_and_leaves_out_empty_answers() -> None:
    items = (UserSaid(1, "hello"), AgentSaid(1, ""), UserSaid(2, "anybody?"), AgentSaid(2, "Here", unheard="I am."))
    shown = server_messages.history(items, lost=[2])["payload"]["items"]
    assert [(item["role"], item["text"]) for item in shown] == [
        ("user", "hello"),
        ("user", "anybody?"),
        ("assistant", "Here"),
    ]
    assert [item["lost"] for item in shown if item["role"] == "user"] == [False, True]
    assert shown[-1]["unheard"] == "I am."
