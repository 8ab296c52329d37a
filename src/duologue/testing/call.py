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
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any, Self, TypeVar

from duologue.core.effects import StartReply
from duologue.core.leaves import Ask, Link, Reply, User, Voice
from duologue.core.state import floor_is_free, is_owed
from duologue.core.step_record import StepRecord
from duologue.core.views import PHASES
from duologue.ears.scripted import ScriptedEars
from duologue.lines.scripted import ScriptedLine
from duologue.observe import signals as sg
from duologue.ports.context import CallInfo, Context
from duologue.ports.ears import Final, Heard, Partial, SpeechBegan, SpeechEnded
from duologue.ports.history import AgentSaid, CallOutput, Item, UserSaid
from duologue.runtime.agent import Agent
from duologue.runtime.conversation import Conversation
from duologue.runtime.seats import Seats
from duologue.runtime.simulated_clock import SimulatedLoop, end
from duologue.voice.scripted import ScriptedVoice

from .call_story import call_story
from .person import Person, SpeakingPace

T = TypeVar("T")
SETTLE_MS_MAX = 120_000
READY_ROUNDS = 20  # rounds of the event loop, so that every task that is ready has run


_NUMBERS = count(1)  # for the conversation ids


class Call:
    """A call to an agent. Use it as a context manager, or through the fixture `call`. The voice (TTS) is simulated too.
    With `own_voice`, the agent's own voice speaks instead; it must not need a network."""

    def __init__(
        self,
        agent: Agent | Callable[..., Any],
        *,
        pace: SpeakingPace | None = None,
        journal: Path | str | None = None,
        line: ScriptedLine | None = None,
        own_voice: bool = False,
        info: CallInfo | None = None,
    ) -> None:
        _check_no_loop()
        if not isinstance(agent, Agent):
            agent = Agent(agent)
        self._loop = SimulatedLoop()
        self._moved = asyncio.Event()
        self.records: list[StepRecord] = []
        self.signals: list[sg.Signal] = []
        self._reply_mark = 0  # the newest reply before the user last acted
        self._speaking_mark = 0  # the reply that was playing when the user last acted
        self._steps_mark = 0
        self._closed = False
        voice = agent.voice if own_voice and agent.voice is not None else ScriptedVoice()
        self._agent = replace(agent, ears=ScriptedEars(), voice=voice, agents=tuple(map(_without_sound, agent.agents)))
        self._info = info or CallInfo(line="test")
        try:
            self.run(self._dial(line, pace, journal))
        except BaseException:
            end(self._loop)
            raise

    async def _dial(self, line: ScriptedLine | None, pace: SpeakingPace | None, journal: Path | str | None) -> None:
        self.line = line or ScriptedLine()
        assert isinstance(self._agent.ears, ScriptedEars)
        self.person = Person(self._agent.ears, self.line, pace)
        self.conversation = Conversation(
            self._agent,
            self.line,
            journal=journal,
            conversation_id=f"test {next(_NUMBERS)}",
            seats=Seats(),
            context=Context(self._info),
        )
        self.conversation.engine.watchers.append(self._see)
        self.conversation.on(sg.Signal, self.signals.append)
        await self.conversation.start()

    def __enter__(self) -> Call:
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

    def user(self, text: str) -> Call:
        """Wait until the agent has finished, then say this text. Returns when the user's turn is over."""
        __tracebackhide__ = True
        self.settles()
        return self.says(text)

    def says(self, text: str) -> Call:
        """Say this text now, even while the agent speaks. Returns when the user's turn is over."""
        __tracebackhide__ = True
        self._note_act()
        self.run(self.person.say(text))
        turn = self.conversation.machine_state.turn
        self._wait_for(lambda: self._is_over(turn), SETTLE_MS_MAX, "the turn never ends")
        return self

    def interrupts(self, text: str, after_ms: int = 700) -> Call:
        """Wait until the agent has spoken for `after_ms`, then say this text over the agent's speech."""
        __tracebackhide__ = True
        self.hears_agent(after_ms)
        return self.says(text)

    def coughs(self, for_ms: int = 200, after_ms: int | None = None) -> Call:
        """Make a sound without words. With `after_ms`, first wait until the agent has spoken for this long."""
        if after_ms is not None:
            self.hears_agent(after_ms)
        self._check_on()
        self.run(self.person.cough(for_ms))
        return self

    def types(self, text: str) -> Call:
        """Type a whole turn now, even while the agent speaks."""
        self._note_act()
        self.does(lambda: self.conversation.type(text))
        return self

    def waits(self, ms: int) -> Call:
        """Let this much time pass."""
        self.run(asyncio.sleep(ms / 1000))
        return self

    def hangs_up(self) -> Call:
        """Hang up. Returns when the call is over."""
        self.does(self.person.hang_up)
        self._wait_for(lambda: self.conversation.phase == "idle", SETTLE_MS_MAX, "the call never ends")
        return self

    def line_drops(self, ms: int) -> Call:
        """Interrupt the connection for `ms`. If `ms` is at most the setting `heal_ms_max` (two seconds), the connection
        recovers by itself. Otherwise it breaks, and the user reconnects after `ms`."""
        self._check_on()
        wobbles = ms <= self.conversation.machine_state.settings.heal_ms_max
        self.run(self.person.lose_line(ms, wobbles))
        return self

    def settles(self) -> Call:
        """Let time pass until the call is at rest: neither side speaks, and no answer is pending."""
        __tracebackhide__ = True
        self._wait_for(self._is_at_rest, SETTLE_MS_MAX, "the call never comes to rest")
        return self

    # -- For tests that need more control

    def hears_agent(self, for_ms: int) -> Self:
        """Wait until the agent has spoken for `for_ms`. Fails if the call comes to rest before that."""
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
        """Run a function inside the call's event loop, such as `call.does(call.conversation.retry)`. When `does`
        returns, all consequences that take no time have happened."""

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
        return self._loop.run_until_complete(work)

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
        """Make the ears report the final text of the newest sound, or of the sound whose number is `utterance`."""
        return self.ears_report(Final(text, utterance=utterance or self.person.utterance))

    # -- What was heard and done

    @property
    def heard(self) -> list[str]:
        """What the user heard, reply by reply."""
        return [item.text for item in self.conversation.history if isinstance(item, AgentSaid) and item.text]

    @property
    def said(self) -> list[str]:
        """What the agent understood of the user's words, turn by turn."""
        return [item.text for item in self.conversation.history if isinstance(item, UserSaid)]

    @property
    def history(self) -> tuple[Item, ...]:
        """Everything that was said and done. Of the agent's replies, it contains only what the user heard."""
        return self.conversation.history

    @property
    def phases(self) -> list[str]:
        """The phases that the conversation went through so far, in order."""
        moves = [s for s in self.signals if isinstance(s, sg.Transitioned) and s.view == "phase"]
        return [moves[0].source, *(move.target for move in moves)] if moves else [self.conversation.phase]

    @property
    def context(self) -> Context[Any]:
        """The context that the agent's tools, brain and hooks get, with its data."""
        return self.conversation.call_context

    @property
    def now_ms(self) -> int:
        """Milliseconds since the call began, on the simulated clock."""
        return self.conversation.engine.driver.now()

    def expect_heard(self, text: str | re.Pattern[str]) -> Call:
        """Check that the user has heard this text, or a match of this compiled pattern, since the user last acted."""
        __tracebackhide__ = True
        self.settles()
        replies = [item for item in self.history if isinstance(item, AgentSaid) and item.text]
        heard = " ".join(item.text for item in replies if self._is_fresh(item))
        found = text.search(heard) if isinstance(text, re.Pattern) else text in heard
        return self._expect(bool(found), f"{text!r} was not heard; the user heard {heard!r}")

    def expect_never_heard(self, text: str) -> Call:
        """Check that the user hasn't heard this text in the whole call so far."""
        __tracebackhide__ = True
        self.settles()
        return self._expect(not any(text in heard for heard in self.heard), f"{text!r} was heard")

    def expect_cut_off(self, heard: str) -> Call:
        """Check that the user heard exactly this text of the newest interrupted reply."""
        __tracebackhide__ = True
        cut = [item for item in self.history if isinstance(item, AgentSaid) and item.interrupted]
        last = cut[-1].text if cut else None
        return self._expect(last == heard, f"the agent was cut off after {last!r}, not after {heard!r}")

    def expect_phase(self, name: str) -> Call:
        """Check that the call is in this phase now. `duologue.core.views.PHASES` lists all phases."""
        __tracebackhide__ = True
        if name not in PHASES:
            raise ValueError(f"{name!r} is not a phase; the phases are {', '.join(PHASES)}")
        now = self.conversation.phase
        return self._expect(now == name, f"the phase is {now!r}, not {name!r}")

    def expect_asked_once(self) -> Call:
        """Check that the user's last words led to exactly one request to the brain. Retries don't count."""
        __tracebackhide__ = True
        self.settles()
        count = sum(_is_request(step) for step in self.records[self._steps_mark :])
        return self._expect(count == 1, f"the brain was asked {count} times")

    def expect_called(self, tool: str, /, **arguments: Any) -> Call:
        """Check that this tool was called with at least these arguments, and that the call got its output."""
        __tracebackhide__ = True
        self.settles()
        calls = [pair for item in self.history if isinstance(item, AgentSaid) for pair in item.calls]
        fits = [number for number, call in calls if call.name == tool and _has(call.arguments, arguments)]
        outputs = {item.call for item in self.history if isinstance(item, CallOutput)}
        made = [f"{call.name}({call.arguments})" for _, call in calls]
        return self._expect(
            any(number in outputs for number in fits), f"{tool} was not called like this; the calls were {made}"
        )

    def expect_nothing_lost(self) -> Call:
        """Check that nothing that the user said was dropped without an answer."""
        __tracebackhide__ = True
        lost = [s for s in self.signals if isinstance(s, sg.Lost)]
        return self._expect(not lost, f"got no answer: {[text for s in lost for text in s.texts]}")

    def expect_ended(self) -> Call:
        """Check that the call is over."""
        __tracebackhide__ = True
        return self._expect(self.conversation.phase == "idle", f"the call goes on ({self.conversation.phase})")

    # -- Inside

    def _is_fresh(self, item: AgentSaid) -> bool:
        """Was this reply heard after the user last acted? A reply that was playing at that time counts too, unless it
        was interrupted."""
        return item.reply > self._reply_mark or (item.reply == self._speaking_mark and not item.interrupted)

    def _expect(self, holds: bool, complaint: str) -> Call:
        __tracebackhide__ = True
        if not holds:
            raise AssertionError(f"{complaint}\n\n{call_story(self)}")
        return self

    def _note_act(self) -> None:
        __tracebackhide__ = True
        self._check_on()
        self._reply_mark = self.conversation.machine_state.reply_id
        speech = self.conversation.engine.playback.speech
        self._speaking_mark = speech.reply if speech is not None else 0
        self._steps_mark = len(self.records)

    def _check_on(self) -> None:
        __tracebackhide__ = True
        self._expect(self.conversation.phase != "idle", "the call is over: the user can't act any more")

    def _see(self, record: StepRecord) -> None:
        self.records.append(record)
        self._moved.set()

    def _is_over(self, turn: int) -> bool:
        s = self.conversation.machine_state
        return s.turn > turn or s.user.value == "quiet" or s.link is Link.IDLE

    def _is_at_rest(self) -> bool:
        s = self.conversation.machine_state
        if self.conversation.engine.program.listens and s.user is User.QUIET and s.voice is Voice.SILENT:
            return s.reply is Reply.NONE  # a question of the program waits for an answer
        return s.link is Link.IDLE or (floor_is_free(s) and not is_owed(s) and not s.says)

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


def _is_request(step: StepRecord) -> bool:
    """Did this step ask the brain to answer a turn? A retry after a failure doesn't count."""
    asks = [effect for effect in step.effects if isinstance(effect, StartReply) and effect.last >= effect.first]
    return bool(asks) and asks[0].ask is Ask.ANSWER and step.before.reply is not Reply.RETRYING


def _has(given: dict[str, Any] | str, wanted: dict[str, Any]) -> bool:
    if isinstance(given, str):
        import json

        given = json.loads(given or "{}")
    assert isinstance(given, dict)
    return all(name in given and given[name] == value for name, value in wanted.items())


def _without_sound(agent: Agent) -> Agent:
    """The agent without ears and voice of its own: it gets those of the call."""
    return replace(agent, ears=None, voice=None, agents=tuple(map(_without_sound, agent.agents)))
