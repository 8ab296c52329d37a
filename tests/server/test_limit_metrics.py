"""Limits and pools are visible in the metrics."""

from __future__ import annotations

import json

import pytest

from duologue.ears.model_threads import shared_threads
from duologue.server.limit_metrics import LIMITS, limit_metrics

from .running_server import RunningServer, serve


def test_every_limit_and_every_pool_has_a_series() -> None:
    shared_threads()
    text = limit_metrics({"sound": 3}, 2)
    assert "duologue_unspoken 2\n" in text
    assert 'duologue_refused_total{limit="sound"} 3\n' in text
    assert 'duologue_refused_total{limit="typed_turns"} 0\n' in text
    for pool in ("tools", "brains", "nlu", "replays", "ears"):
        assert f'duologue_pool_waiting{{pool="{pool}"}} ' in text


def test_a_refusal_by_a_limit_that_the_metrics_dont_have_is_a_mistake_in_the_program() -> None:
    async def script(made: RunningServer) -> None:
        for limit in LIMITS:
            made.conversations.note_refused(limit)
        with pytest.raises(AssertionError, match="no such limit isn't in LIMITS"):
            made.conversations.note_refused("no such limit")

    serve(script)


def test_what_a_server_refuses_is_told_and_counted() -> None:
    async def script(made: RunningServer) -> None:
        client = await made.connect()
        await client.begin("alice")
        assert "duologue_unspoken 1\n" in (await made.get("/metrics")).body.decode()
        for number in range(30):
            await client.raw_send(json.dumps({"type": "type", "payload": {"text": "hi", "id": str(number)}}))
        told = await client.expect("error", code="refused", after=9)
        assert told["message"].startswith("type: ")
        assert told["id"] == "29"
        await client.raw_send(bytes(6_400) * 1)
        for _ in range(60):
            await client.raw_send(bytes(6_400))  # 200 ms at 16 kHz
        told = await client.expect("error", code="sound_left_out")
        assert "ms of it were left out" in told["message"]
        metrics = (await made.get("/metrics")).body.decode()
        refused = sum(int(line.split()[-1]) for line in metrics.splitlines() if line.startswith("duologue_refused_t"))
        assert refused >= 20
        assert "duologue_unspoken 0\n" in metrics

    serve(script)


def test_commands_that_come_too_fast_are_refused_and_reports_and_the_end_never_are() -> None:
    async def script(made: RunningServer) -> None:
        client = await made.connect()
        await client.begin("alice")
        await client.send("type", text="hello", id="1")
        await client.expect("typed", id="1")
        for _ in range(20):
            await client.send("suspend")
            await client.send("played", voice=1, ms=1)
        for _ in range(40):
            await client.send("type", text="hello", id="1")  # it was saved already
        told = await client.expect("error", code="refused", after=19)
        assert told == {
            "code": "refused",
            "message": "type: too many commands at once: send it again in 1 s",
            "id": "1",
        }
        assert len(client.told("error")) == 20
        assert made.conversations.refused == {"commands": 20}
        await client.send("end")
        await client.expect("ended")

    serve(script, messages_per_s_max=1_000)
