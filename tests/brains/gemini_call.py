"""A whole conversation over the Live protocol, with a scripted server on a local port and scripted ears.

Rule: nothing here sleeps for a fixed time; everything waits for what has to happen, with a generous limit.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from duologue import Agent, Phrases, profile
from duologue.brains.gemini import GeminiLive, GeminiSettings
from duologue.ears.scripted import ScriptedEars
from duologue.lab.sim.jumping_clock import run_jumping
from duologue.ports import Final, Partial, SpeechBegan, SpeechEnded
from duologue.testing.gemini import GeminiServer
from tests.brains.realtime_call import QUIET, RealtimeCall
from tests.limits import TEST_S


class GeminiCall(RealtimeCall):
    """The conversation, its server, and every signal and step that was recorded."""

    server: GeminiServer  # type: ignore[assignment]
    model: GeminiLive  # type: ignore[assignment]
    ears: ScriptedEars
    spoken = 0

    async def begins(self, text: str, ms: int = 300) -> None:
        """Begin to say something: sound, then a partial text."""
        self.spoken += 1
        self.ears.tell(SpeechBegan(self.spoken))
        await self.until(lambda: self.conversation.machine_state.user.value == "talking")
        frames = self.ears.frames
        self.sound(ms, rate_hz=16_000)
        await self.until(lambda: self.ears.frames >= frames + ms // 20)
        if text:
            self.ears.tell(Partial(text, utterance=self.spoken))

    async def ends(self, text: str) -> None:
        """Stop speaking."""
        turn = self.conversation.machine_state.said
        self.ears.tell(SpeechEnded(self.spoken))
        self.ears.tell(Final(text, utterance=self.spoken))
        await self.until(lambda: self.conversation.machine_state.said > turn)

    async def says(self, text: str) -> None:
        await self.begins(text)
        await self.ends(text)

    @property
    def notes(self) -> list[str]:
        """What the server was told that neither side said."""
        return [turn["text"] for turn in self.server.session.turns if turn.get("text", "").startswith("[")]


def converse(
    act: Callable[[GeminiCall], Awaitable[None]],
    server: GeminiServer | None = None,
    *,
    settings: dict[str, Any] | None = None,
    machine: dict[str, Any] | None = None,
    journal: Path | None = None,
    has_ears: bool = True,
    **agent: Any,
) -> GeminiCall:
    """Hold a conversation with this server."""

    async def run() -> GeminiCall:
        async with asyncio.timeout(TEST_S), server or GeminiServer() as running:
            ears = ScriptedEars()
            model = GeminiLive(
                url=running.url, settings=GeminiSettings(**(settings or {})), ears=ears if has_ears else None
            )
            name = agent.pop("profile", "confirm")
            agent.setdefault("phrases", Phrases())
            made = Agent(model, profile=profile(name, **{**QUIET, **(machine or {})}), **agent)
            call = GeminiCall(running, model, made, journal)  # type: ignore[arg-type]
            call.ears = ears
            try:
                async with call.conversation:
                    await act(call)
            except TimeoutError as late:
                received = [
                    next(iter(one.get("realtimeInput", one)))
                    for one in running.received
                    if "audio" not in str(one)[:40]
                ]
                raise AssertionError(
                    f"it never happened; {call.conversation.snapshot()}; {call.troubles}; "
                    f"received {received[-30:]}; sent {[str(one)[:60] for one in running.sent][-30:]}; "
                    f"counts {dict(model.counts)}; problems {running.problems}"
                ) from late
            return call

    return run_jumping(run())
