"""Signals of a conversation as messages of the protocol."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from duologue.core.leaves import ErrorClass
from duologue.observe.prices import PriceTable
from duologue.observe.usage import UsageRow
from duologue.ports.history import AgentSaid, UserSaid
from duologue.runtime.agent import Phrases
from duologue.server import server_messages
from duologue.testing import Fail
from tests.server.running_server import RunningServer, agent_that_says, serve, talk


@pytest.mark.req("H-11.language")
@pytest.mark.req("C-INT-003", "C-CON-001")
def test_a_client_gets_every_state_in_its_language() -> None:
    async def script(running: RunningServer) -> None:
        client = await running.connect()
        await client.begin("alice", language="de-AT")
        ready = client.told("ready")[0]
        assert ready["language"] == "de"
        assert ready["agent"] == {"name": "", "hears": True, "speaks": True, "suggestions": []}
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


@pytest.mark.req("C-API.messages", "C-INT-003")
def test_the_messages_of_states_and_turns_have_the_fields_of_their_contract() -> None:
    async def script(running: RunningServer) -> None:
        client = await running.connect()
        await client.begin("alice")
        await talk(client, "hello")
        state = client.told("state", state="speaking")[0]
        assert set(state["metadata"]) == {
            "sessionId", "turn", "replyId", "transcriptId", "pendingCalls", "pendingActions", "reason",
            "interruptionCount", "retryCount", "lastError", "queuedTurns",
        }  # fmt: skip
        assert (state["turnId"], state["metadata"]["transcriptId"], state["metadata"]["interruptionCount"]) == (
            "turn-1", 1, 0,
        )  # fmt: skip
        assert datetime.fromisoformat(state["since"]).tzinfo is not None
        turn = client.told("turn", event="turn-completed", role="assistant")[0]
        assert set(turn) == {"event", "turnId", "role", "durationMs", "confidence", "interruptions", "why"}

    serve(script)


@pytest.mark.req("C-API.messages", "C-API.interrupted")
def test_a_client_is_told_who_interrupted_and_why_it_waits() -> None:
    async def script(running: RunningServer) -> None:
        client = await running.connect(plays=False)
        await client.begin("alice")
        await client.send("type", text="hello")
        await client.expect("state", state="speaking")
        await client.send("interrupt")
        turn = await client.expect("turn", event="turn-interrupted")
        assert (turn["why"], turn["interruptions"]) == ("button", 1)
        running.conversations.served[client.told("conversation")[0]["conversation"]].conversation.suspend("lunch")
        paused = await client.expect("state", state="suspended")
        assert (paused["metadata"]["reason"], paused["metadata"]["interruptionCount"]) == ("lunch", 1)

    serve(script)


def test_times_of_a_conversation_are_utc_with_milliseconds() -> None:
    time = datetime(2026, 1, 2, 3, 5, 6, 1_000, tzinfo=UTC)
    assert server_messages.iso(time) == "2026-01-02T03:05:06.001Z"


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


@pytest.mark.req("H-11.language")
def test_a_fault_is_told_in_each_clients_language_and_works_again_only_after_an_answer() -> None:
    async def script(running: RunningServer) -> None:
        client = await running.connect()
        began = await client.begin("alice", language="de")
        await client.send("type", text="fail")
        fault = await client.expect("notification", level="error")
        assert fault["message"].startswith("Der Antwortdienst ist aus unbekanntem Grund ausgefallen.")
        again = await running.connect()
        await again.hello("alice", language="fr", conversation=began["conversation"], key=began["key"])
        assert (await again.expect("notification", level="error"))["message"].startswith("Le service de réponse")
        await again.send("dismiss")
        await again.expect("state", state="listening")
        assert await talk(again, "hello") == "You said hello."
        assert again.told("notification", level="info") == []

    serve(script, agent_that_says(lambda r: [Fail(ErrorClass.UNKNOWN)] if r.text == "fail" else f"You said {r.text}."))


def test_texts_of_the_agent_replace_those_of_the_language() -> None:
    phrases = Phrases(shown={"listening": "Ganz Ohr", "fault_unknown": "{part}: kaputt"})

    async def script(running: RunningServer) -> None:
        client = await running.connect()
        await client.begin("alice", language="de")
        assert (await client.expect("state", state="listening"))["localizedLabel"] == "Ganz Ohr"
        await client.send("type", text="fail")
        assert (await client.expect("notification", level="error"))["message"] == "Der Antwortdienst: kaputt"

    serve(script, agent_that_says({"fail": [Fail(ErrorClass.UNKNOWN)]}, phrases=phrases))


USED = (
    UsageRow("llm", "api.example.com", "small", input_tokens=1_000, output_tokens=500),
    UsageRow("stt", "LocalEars", heard_ms=90_000),
    UsageRow("tts", "my-tts", characters=2_000, spoken_ms=60_000),
)


def test_usage_has_the_cost_of_each_row_that_has_a_price_and_their_sum() -> None:
    prices = {
        "small": {"input_tokens": 2.0, "output_tokens": 4.0},
        "my-tts": {"characters": 15, "spoken_minutes": 0.01},
    }
    told = server_messages.usage(USED, PriceTable("EUR", prices))
    amounts = {name: told[name] for name in ("tokens", "characters", "heardMs", "spokenMs", "currency")}
    assert amounts == {"tokens": 1_500, "characters": 2_000, "heardMs": 90_000, "spokenMs": 60_000, "currency": "EUR"}
    assert [row["provider"] for row in told["rows"]] == ["api.example.com", "LocalEars", "my-tts"]
    llm, stt, tts = (row["cost"] for row in told["rows"])
    assert (llm, tts) == (pytest.approx(0.004), pytest.approx(0.04))
    assert stt is None, "what has no price isn't shown as free"
    assert told["cost"] == pytest.approx(0.044)


def test_without_prices_the_cost_of_usage_is_unknown() -> None:
    told = server_messages.usage(USED, None)
    assert (told["cost"], told["currency"]) == (None, "")
    assert [row["cost"] for row in told["rows"]] == [None] * 3
    assert told["rows"][1] == {"part": "stt", "provider": "LocalEars", "model": "", "heard_ms": 90_000, "cost": None}
