"""A place for a slow request is free again only when its answer was read."""

from __future__ import annotations

import asyncio
from collections.abc import MutableMapping
from typing import Any

import pytest
from starlette.requests import Request
from starlette.responses import Response

from duologue.runtime.simulated_clock import run_simulated
from duologue.server.slow_answers import EACH_MAX, LIMIT, PIECE_BYTES, SlowAnswers


class Reader:
    """A client that reads the parts of an answer as long as `reads` is set."""

    def __init__(self) -> None:
        self.reads = asyncio.Event()
        self.status = 0
        self.pieces: list[bytes] = []
        self.is_whole = False

    async def send(self, message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            return
        await self.reads.wait()
        self.pieces.append(message.get("body", b""))
        self.is_whole = not message.get("more_body", False)


async def receive() -> dict[str, Any]:
    return {"type": "http.disconnect"}


def ask(slow: SlowAnswers, body: bytes = b"") -> tuple[Reader, asyncio.Task[None]]:
    async def answer(_: Request) -> Response:
        return Response(body)

    async def served() -> None:
        scope = {"type": "http", "method": "GET", "headers": []}
        response = await slow.bounded(answer)(Request(scope, receive))
        await response(scope, receive, reader.send)

    reader = Reader()
    return reader, asyncio.ensure_future(served())


@pytest.mark.parametrize("size", [0, 1, PIECE_BYTES, PIECE_BYTES + 1, 3 * PIECE_BYTES])
def test_an_answer_comes_whole_and_in_small_pieces(size: int) -> None:
    async def scene() -> None:
        body = bytes(at % 251 for at in range(size))
        reader, task = ask(SlowAnswers(lambda _: "a", lambda _: None), body)
        reader.reads.set()
        await task
        assert (reader.status, reader.is_whole, b"".join(reader.pieces)) == (200, True, body)
        assert len(reader.pieces) == max(1, -(-size // PIECE_BYTES))

    run_simulated(scene())


def test_a_client_that_doesnt_read_keeps_its_place_and_others_have_theirs() -> None:
    async def scene() -> None:
        addresses = ["a"] * (EACH_MAX + 1) + ["b", "a"]
        refused: list[str] = []
        slow = SlowAnswers(lambda _: addresses.pop(0), refused.append)
        asked = [ask(slow, b"x" * 9 * PIECE_BYTES) for _ in range(EACH_MAX + 2)]
        await asyncio.sleep(1)
        assert [reader.status for reader, _ in asked] == [200] * EACH_MAX + [429, 200]
        assert refused == [LIMIT]
        asked[0][0].reads.set()
        await asked[0][1]
        reader, _ = ask(slow)
        await asyncio.sleep(1)
        assert reader.status == 200
        for _, task in asked:
            task.cancel()

    run_simulated(scene())


def test_a_place_is_free_again_after_a_failure() -> None:
    async def scene() -> None:
        slow = SlowAnswers(lambda _: "a", lambda _: None)

        async def fail(_: Request) -> Response:
            raise ConnectionError

        scope = {"type": "http", "method": "GET", "headers": []}
        for _ in range(2 * EACH_MAX):
            with pytest.raises(ConnectionError):
                await (await slow.bounded(fail)(Request(scope, receive)))(scope, receive, Reader().send)

    run_simulated(scene())
