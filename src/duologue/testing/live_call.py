"""A phone call in a test, on the real clock: for agents whose brain or tools need a network.

    async with LiveCall(agent) as call:
        await call.user("are you open on Sunday?")
        await call.expect_heard(re.compile("closed"))

The user, the line and the voice are simulated, and faster than real ones, so that a test waits mostly for the services.
Rule: no wait is longer than `limit_ms`. A wait that reaches this limit fails with a description of the call.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

from duologue.lines.scripted import ScriptedLine
from duologue.ports.context import CallInfo
from duologue.ports.ears import Heard
from duologue.runtime.agent_source import AgentOrMaker
from duologue.voice.scripted import ScriptedVoice

from .observed_call import ObservedCall
from .person import SpeakingPace

LIMIT_MS = 60_000
FAST_PACE = SpeakingPace(word_ms=20, partial_lag_ms=5, final_lag_ms=10)
FAST_VOICE = ScriptedVoice(chunk_ms=100, char_ms=4)
POLL_S = 0.005


class LiveCall(ObservedCall):
    """A call on the real clock, to anything that `Call` accepts. Use it with `async with`. `pace` says how fast the
    user speaks. With `own_voice`, the agent's own voice speaks, in real time. No wait is longer than `limit_ms`."""

    def __init__(
        self,
        agent: AgentOrMaker,
        *,
        pace: SpeakingPace = FAST_PACE,
        journal: Path | str | None = None,
        own_voice: bool = False,
        limit_ms: int = LIMIT_MS,
        info: CallInfo | None = None,
    ) -> None:
        super().__init__()
        self._agent, self._info = agent, info
        self._voice = None if own_voice else FAST_VOICE
        self._pace, self._journal, self._limit_ms = pace, journal, limit_ms

    async def __aenter__(self) -> Self:
        await self._dial(self._agent, self._voice, ScriptedLine(ack_ms=20), self._pace, self._journal, self._info)
        return self

    async def __aexit__(self, *failure: object) -> None:
        await self.conversation.end("the test is over")

    # -- What the user does

    async def user(self, text: str) -> None:
        """Wait until the agent has finished, then say this text. Returns when the user's turn is over."""
        __tracebackhide__ = True
        await self.settles()
        await self.says(text)

    async def says(self, text: str) -> None:
        """Say this text now, even while the agent speaks. Returns when the user's turn is over."""
        __tracebackhide__ = True
        self._note_act()
        await self.person.say(text)
        turn = self.conversation.machine_state.turn
        await self.until(lambda: self._is_turn_over(turn), "the turn never ends")

    async def interrupts(self, text: str, after_ms: int = 40) -> None:
        """Wait until the agent has spoken for `after_ms`, then say this text over the agent's speech."""
        __tracebackhide__ = True
        await self.hears_agent(after_ms)
        await self.says(text)

    async def types(self, text: str) -> None:
        """Type a whole turn now, even while the agent speaks."""
        __tracebackhide__ = True
        self._note_act()
        self.conversation.type(text)
        await asyncio.sleep(0)

    async def hangs_up(self) -> None:
        """Hang up. Returns when the call is over."""
        __tracebackhide__ = True
        self.person.hang_up()
        await self.until(lambda: self.is_over, "the call never ends")

    async def hears_agent(self, for_ms: int) -> None:
        """Wait until the agent has spoken for `for_ms`. Fails if the agent stops earlier and no answer is pending."""
        __tracebackhide__ = True
        await self.until(lambda: self._hears(for_ms) or self._is_at_rest(), "the agent never speaks")
        self._expect(self._hears(for_ms), f"the agent did not speak for {for_ms} ms")

    def ears_report(self, *reports: Heard) -> None:
        """Make the ears (STT and VAD) report exactly these events now."""
        for one in reports:
            self.person.ears.tell(one)

    async def settles(self) -> None:
        """Wait until neither side speaks and no answer is pending."""
        __tracebackhide__ = True
        await self.until(self._is_at_rest, "the call never comes to rest")

    async def until(self, holds: Callable[[], object], complaint: str = "the condition is still false") -> None:
        """Wait until `holds()` is true. Fails after `limit_ms`."""
        __tracebackhide__ = True
        try:
            async with asyncio.timeout(self._limit_ms / 1000):
                while not holds():
                    await asyncio.sleep(POLL_S)
        except TimeoutError:
            self._expect(bool(holds()), f"{complaint} (waited {self._limit_ms} ms)")

    def _hears(self, for_ms: int) -> bool:
        return self.line.heard_ms >= for_ms and self.line.is_sounding

    # -- What can be expected. Most expectations first wait until the call is at rest.

    async def expect_heard(self, text: str | re.Pattern[str]) -> None:
        """Check that the user has heard this text (or text that matches this compiled pattern) since the user last
        spoke or typed."""
        __tracebackhide__ = True
        await self.settles()
        self._check_heard(text)

    async def expect_never_heard(self, text: str) -> None:
        """Check that the user hasn't heard this text in the whole call so far."""
        __tracebackhide__ = True
        await self.settles()
        self._check_never_heard(text)

    async def expect_called(self, tool: str, /, **arguments: Any) -> None:
        """Check that this tool was called with at least these arguments, and that the tool call got an output."""
        __tracebackhide__ = True
        await self.settles()
        self._check_called(tool, **arguments)

    async def expect_asked_once(self) -> None:
        """Check that the user's last words led to exactly one request to the brain. Retries don't count."""
        __tracebackhide__ = True
        await self.settles()
        self._check_asked_once()

    async def expect_nothing_lost(self) -> None:
        """Check that none of the user's words were dropped without an answer."""
        __tracebackhide__ = True
        await self.settles()
        self._check_nothing_lost()

    async def expect_ended(self) -> None:
        """Check that the call is over. If the agent is about to end it, first wait for the end."""
        __tracebackhide__ = True
        await self.settles()
        await self.until(lambda: not self.is_about_to_end, "the agent doesn't end the call")
        self._check_ended()
