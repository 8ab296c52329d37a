"""Helpers for tests of chat brains: one reply against a scripted server, and the calls it streams."""

from __future__ import annotations

from typing import Any

from duologue.brains import ChatBrain
from duologue.lab.sim.jumping_clock import run_jumping
from duologue.ports import Part, Request, ServiceError
from tests.brains.chat_server import Script, Wire, talking

ASKED = Request(reply=1, text="How is the weather?")


async def all_parts(brain: ChatBrain, request: Request = ASKED) -> list[Part]:
    return [part async for part in brain.reply(request)]


def reply_to(script: Script, request: Request = ASKED, **options: Any) -> list[Part]:
    """What one reply yields, with a server that behaves like this."""

    async def run() -> list[Part]:
        async with talking(script, **options) as (_, brain):
            return await all_parts(brain, request)

    return run_jumping(run())


def failure_of(script: Script, **options: Any) -> tuple[list[Part], ServiceError]:
    """What one reply yields before it fails, and how it fails."""

    async def run() -> tuple[list[Part], ServiceError]:
        parts: list[Part] = []
        async with talking(script, **options) as (server, brain):
            reply = brain.reply(ASKED)
            try:
                async for part in reply:
                    parts.append(part)
            except ServiceError as failure:
                assert len(server.bodies) == 1, "the conversation retries, not the SDK"
                return parts, failure
        raise AssertionError("it did not fail")

    return run_jumping(run())


def tool_piece(index: int | None, call: str | None = None, name: str | None = None, arguments: str = "") -> dict:
    """A delta of a call; what is None is left out."""
    piece: dict[str, Any] = {"function": {"arguments": arguments}}
    if name is not None:
        piece["function"]["name"] = name
    if index is not None:
        piece["index"] = index
    if call is not None:
        piece["id"] = call
    return piece


def calls(*pieces: dict[str, Any], finish: str = "tool_calls", text: str = "") -> Script:
    """A reply that makes calls, one piece at a time."""

    async def script(wire: Wire) -> None:
        await wire.begin()
        await wire.delta(role="assistant", content=text or None)
        for piece in pieces:
            await wire.delta(tool_calls=[piece])
        await wire.finish(finish)

    return script


async def breaks_off(wire: Wire) -> None:
    wire.break_off()
