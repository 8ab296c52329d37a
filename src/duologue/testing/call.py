"""A phone call in a test: the user's side as method calls, on a simulated clock.

    call.user("book a flight").interrupts("no wait", after_ms=700)
    call.expect_heard("Which one?")

The clock, the user and the line (the connection to the user) are simulated. The agent's own brain and tools run in the
real driver. Rule: no test sleeps. What the user does takes simulated time, and most expectations first wait until
neither side speaks and no answer is pending.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, Self, TypeVar

from duologue.lines.scripted import ScriptedLine
from duologue.ports.context import CallInfo
from duologue.ports.ears import Final, Heard, Partial, SpeechBegan, SpeechEnded
from duologue.runtime.agent_source import AgentOrMaker
from duologue.runtime.simulated_clock import SimulatedLoop, end
from duologue.voice.scripted import ScriptedVoice

from .observed_call import ObservedCall
from .person import SpeakingPace

T = TypeVar("T")
SETTLE_MS_MAX = 120_000
READY_ROUNDS = 20  # rounds of the event loop, so that every task that is ready has run


class Call(ObservedCall):
    """A call to an agent in a test. `agent` is an agent, a brain, or a function that makes an agent from the context of
    the call. `info` has the facts about the call. Use Call as a context manager, or through the fixture `call`. The
    agent's voice (TTS) is simulated too, unless `own_voice` is set: then the agent's own voice speaks, and it must not
    need a network."""

    def __init__(
        self,
        agent: AgentOrMaker,
        *,
        pace: SpeakingPace | None = None,
        journal: Path | str | None = None,
        line: ScriptedLine | None = None,
        own_voice: bool = False,
        info: CallInfo | None = None,
    ) -> None:
        _check_no_loop()
        super().__init__()
        self._loop = SimulatedLoop(raises_at_network=True)
        self._closed = False
        try:
            self.run(self._dial(agent, None if own_voice else ScriptedVoice(), line, pace, journal, info))
        except BaseException:
            end(self._loop)
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *rest: object) -> None:
        self.close()

    def close(self) -> None:
        """End the call, unless it is already over, and close its event loop."""
        if self._closed:
            return
        self._closed = True
        try:
            self.run(self.conversation.end("the test is over"))
        finally:
            end(self._loop)

    # -- What the user does. Every method returns the call, so that calls can be chained.

    def user(self, text: str) -> Self:
        """Wait until the agent has finished, then say this text. Returns when the user's turn is over."""
        __tracebackhide__ = True
        self.settles()
        return self.says(text)

    def says(self, text: str) -> Self:
        """Say this text now, even while the agent speaks. Returns when the user's turn is over."""
        __tracebackhide__ = True
        self._note_act()
        self.run(self.person.say(text))
        turn = self.conversation.machine_state.turn
        self._wait_for(lambda: self._is_turn_over(turn), SETTLE_MS_MAX, "the turn never ends")
        return self

    def interrupts(self, text: str, after_ms: int = 700) -> Self:
        """Wait until the agent has spoken for `after_ms`, then say this text over the agent's speech."""
        __tracebackhide__ = True
        self.hears_agent(after_ms)
        return self.says(text)

    def coughs(self, for_ms: int = 200, after_ms: int | None = None) -> Self:
        """Make a sound without words. With `after_ms`, first wait until the agent has spoken for `after_ms`."""
        if after_ms is not None:
            self.hears_agent(after_ms)
        self._check_on()
        self.run(self.person.cough(for_ms))
        return self

    def types(self, text: str) -> Self:
        """Type a whole turn now, even while the agent speaks."""
        self._note_act()
        self.does(lambda: self.conversation.type(text))
        return self

    def waits(self, ms: int) -> Self:
        """Let this much time pass."""
        self.run(asyncio.sleep(ms / 1000))
        return self

    def hangs_up(self) -> Self:
        """Hang up. Returns when the call is over."""
        self.does(self.person.hang_up)
        self._wait_for(lambda: self.is_over, SETTLE_MS_MAX, "the call never ends")
        return self

    def line_drops(self, ms: int) -> Self:
        """Interrupt the connection for `ms`. If `ms` is at most the setting `heal_ms_max` (two seconds), the connection
        recovers by itself. If `ms` is longer, the connection breaks, and the user reconnects after `ms`."""
        self._check_on()
        wobbles = ms <= self.conversation.machine_state.settings.heal_ms_max
        self.run(self.person.lose_line(ms, wobbles))
        return self

    def settles(self) -> Self:
        """Let time pass until neither side speaks and no answer is pending."""
        __tracebackhide__ = True
        self._wait_for(self._is_at_rest, SETTLE_MS_MAX, "the call never comes to rest")
        return self

    # -- For tests that need more control

    def hears_agent(self, for_ms: int) -> Self:
        """Wait until the agent has spoken for `for_ms`. Fails if the agent stops earlier and no answer is pending."""
        __tracebackhide__ = True

        async def listen() -> bool:
            listening = asyncio.ensure_future(self.person.hear_agent(for_ms))
            while not listening.done() and not self._is_at_rest():
                await asyncio.sleep(0.01)
            listening.cancel()
            return listening.done()

        if not self.run(listen()):
            self._expect(False, f"the agent did not speak for {for_ms} ms")
        return self

    def does(self, act: Callable[[], object]) -> Self:
        """Run a function inside the call's event loop, such as `call.does(call.conversation.retry)`. Returns when the
        immediate effects of the function are done; no simulated time passes."""

        async def acting() -> None:
            act()
            await _let_ready_tasks_run()

        self.run(acting())
        return self

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine in the call's event loop and in simulated time. Returns its result."""
        if self._loop.is_closed():
            work.close()
            raise RuntimeError("this call was closed; make a new one")
        return self._loop.run_checked(work)

    def until(self, holds: Callable[[], object], limit_ms: int = SETTLE_MS_MAX) -> Self:
        """Let time pass, one millisecond at a time, until `holds()` is true. Fails after `limit_ms`."""
        __tracebackhide__ = True

        async def wait() -> bool:
            for _ in range(limit_ms):
                if holds():
                    return True
                await asyncio.sleep(0.001)
            return bool(holds())

        self._expect(self.run(wait()), f"the condition is still false after {limit_ms} ms")
        return self

    def ears_report(self, *reports: Heard) -> Self:
        """Make the ears (STT and VAD) report exactly these events now."""

        def report() -> None:
            for one in reports:
                self.person.ears.tell(one)

        return self.does(report)

    def begins_speaking(self) -> Self:
        """Let the user begin to make a sound, so far without words: the ears report an onset."""
        self.person.utterance += 1
        return self.ears_report(SpeechBegan(self.person.utterance))

    def stops_speaking(self) -> Self:
        """Make the ears report that the newest sound has ended."""
        return self.ears_report(SpeechEnded(self.person.utterance))

    def partial_text(self, text: str) -> Self:
        """Make the ears report a partial text of the newest sound."""
        return self.ears_report(Partial(text, utterance=self.person.utterance))

    def final_text(self, text: str, utterance: int = 0) -> Self:
        """Make the ears report the final text of a sound. `utterance` is the number of the sound; by default, it is the
        newest sound."""
        return self.ears_report(Final(text, utterance=utterance or self.person.utterance))

    # -- What can be expected. Most expectations first let time pass until the call is at rest.

    def expect_heard(self, text: str | re.Pattern[str]) -> Self:
        """Check that the user has heard this text (or text that matches this compiled pattern) since the user last
        spoke or typed."""
        __tracebackhide__ = True
        self.settles()
        return self._check_heard(text)

    def expect_never_heard(self, text: str) -> Self:
        """Check that the user hasn't heard this text in the whole call so far."""
        __tracebackhide__ = True
        self.settles()
        return self._check_never_heard(text)

    def expect_cut_off(self, heard: str) -> Self:
        """Check that the user heard exactly this text of the newest interrupted reply, and no more."""
        __tracebackhide__ = True
        return self._check_cut_off(heard)

    def expect_phase(self, name: str) -> Self:
        """Check that the call is in this phase now. `duologue.core.views.PHASES` lists all phases."""
        __tracebackhide__ = True
        return self._check_phase(name)

    def expect_asked_once(self) -> Self:
        """Check that the user's last words led to exactly one request to the brain. Retries don't count."""
        __tracebackhide__ = True
        self.settles()
        return self._check_asked_once()

    def expect_called(self, tool: str, /, **arguments: Any) -> Self:
        """Check that this tool was called with at least these arguments, and that the tool call got an output."""
        __tracebackhide__ = True
        self.settles()
        return self._check_called(tool, **arguments)

    def expect_nothing_lost(self) -> Self:
        """Check that none of the user's words were dropped without an answer."""
        __tracebackhide__ = True
        return self._check_nothing_lost()

    def expect_ended(self) -> Self:
        """Check that the call is over. If the agent is about to end it, first wait for the end."""
        __tracebackhide__ = True
        self._wait_for(lambda: not self.is_about_to_end, SETTLE_MS_MAX, "the agent doesn't end the call")
        return self._check_ended()

    # -- Inside

    def _wait_for(self, holds: Callable[[], bool], limit_ms: int, complaint: str) -> None:
        __tracebackhide__ = True

        async def wait() -> bool:
            try:
                async with asyncio.timeout(limit_ms / 1000):
                    while not holds():
                        self._moved.clear()
                        await self._moved.wait()
            except TimeoutError:
                return False
            return True

        if not self.run(wait()):
            self._expect(False, f"{complaint} (waited {limit_ms} ms)")


def _check_no_loop() -> None:
    """Raise RuntimeError if an event loop is already running, because a call runs its own loop."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return
    raise RuntimeError("a Call runs its own event loop: use it in a plain function, not in async code")


async def _let_ready_tasks_run() -> None:
    for _ in range(READY_ROUNDS):
        await asyncio.sleep(0)
