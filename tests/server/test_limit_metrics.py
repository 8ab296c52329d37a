"""Limits and pools are visible in the metrics."""

from __future__ import annotations

import json

from duologue.server.limit_metrics import limit_metrics

from .running_server import RunningServer, serve


def test_every_limit_and_every_pool_has_a_series() -> None:
    text = limit_metrics({"sound": 3}, 2)
    assert "duologue_unspoken 2\n" in text
    assert 'duologue_refused_total{limit="sound"} 3\n' in text
    assert 'duologue_refused_total{limit="typed_turns"} 0\n' in text
    for pool in ("tools", "brains", "nlu", "replays"):
        assert f'duologue_pool_waiting{{pool="{pool}"}} ' in text


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
