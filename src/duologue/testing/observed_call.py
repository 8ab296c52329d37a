"""What a test can see of a call: what was said, heard and done, and the checks on it.

`Call` plays on a simulated clock, `LiveCall` on the real clock; this module is the part that they share. Rule: no
function in this module lets time pass.
"""

from __future__ import annotations

import asyncio
import json
import re
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple, Self

from duologue.core.effects import StartReply
from duologue.core.leaves import Ask, Ending, Link, Reply
from duologue.core.step_record import StepRecord
from duologue.core.views import PHASES
from duologue.ears.scripted import ScriptedEars
from duologue.lines.scripted import ScriptedLine
from duologue.observe import signals as sg
from duologue.ports.context import CallInfo, Context
from duologue.ports.history import AgentSaid, CallOutput, Item, UserSaid
from duologue.ports.voice import Voice
from duologue.runtime.agent import Agent
from duologue.runtime.agent_source import AgentOrMaker, AgentSource, makes_agents
from duologue.runtime.conversation import Conversation
from duologue.runtime.seats import Seats
from duologue.runtime.snapshot import is_at_rest
from duologue.voice.scripted import ScriptedVoice

from .call_story import call_story
from .person import Person, SpeakingPace

_NUMBERS = count(1)  # for the conversation ids


class SoundedWord(NamedTuple):
    """A word of the agent that the user heard, and when it ended, in milliseconds since the call began."""

    text: str
    reply: int
    end_ms: int


class ObservedCall:
    """A call, as a test sees it. Tests use its subclasses `Call` and `LiveCall`."""

    conversation: Conversation
    line: ScriptedLine
    person: Person

    def __init__(self) -> None:
        self._moved = asyncio.Event()
        self.records: list[StepRecord] = []
        self.signals: list[sg.Signal] = []
        self._reply_mark = 0  # the newest reply before the user last acted
        self._speaking_mark = 0  # the reply that was playing when the user last acted
        self._steps_mark = 0

    async def _dial(
        self,
        given: AgentOrMaker,
        voice: Voice | None,
        line: ScriptedLine | None,
        pace: SpeakingPace | None,
        journal: Path | str | None,
        info: CallInfo | None = None,
    ) -> None:
        """Make the agent, and call it. If `voice` isn't None, it speaks instead of the agent's own voice."""
        ears = ScriptedEars()
        context: Context[Any] = Context(
            replace(info or CallInfo(line="test"), conversation=f"test {next(_NUMBERS)}"),
        )
        agent = await _source_of(given).try_to_make(context)
        voice = voice or agent.voice or ScriptedVoice()
        self.line = line or ScriptedLine()
        self.person = Person(ears, self.line, pace)
        self.conversation = Conversation(
            replace(agent, ears=ears, voice=voice, agents=tuple(map(_without_sound, agent.agents))),
            self.line,
            journal=journal,
            conversation_id=context.conversation,
            seats=Seats(),
            context=context,
        )
        self.conversation.engine.watchers.append(self._see)
        self.conversation.on(sg.Signal, self.signals.append)
        await self.conversation.start()

    # -- What was heard and done

    @property
    def heard(self) -> list[str]:
        """What the user heard, reply by reply."""
        return [item.text for item in self.conversation.history if isinstance(item, AgentSaid) and item.text]

    @property
    def said(self) -> list[str]:
        """What the user said as the agent understood it, turn by turn."""
        return [item.text for item in self.conversation.history if isinstance(item, UserSaid)]

    @property
    def history(self) -> tuple[Item, ...]:
        """Everything that was said and done. A reply of the agent is included only as far as the user heard it."""
        return self.conversation.history

    @property
    def phases(self) -> list[str]:
        """The phases that the conversation went through so far, in order."""
        moves = [s for s in self.signals if isinstance(s, sg.Transitioned) and s.view == "phase"]
        return [moves[0].source, *(move.target for move in moves)] if moves else [self.conversation.phase]

    @property
    def context(self) -> Context[Any]:
        """The context of this call, with its data. The agent's tools, brain and hooks get the same context."""
        return self.conversation.call_context

    @property
    def now_ms(self) -> int:
        """Milliseconds since the call began, on the clock of the call."""
        return self.conversation.engine.driver.now()

    @property
    def sounded_words(self) -> list[SoundedWord]:
        """The agent's words that the user heard, in order. Each has the time at which the line reported it as heard."""
        words: list[SoundedWord] = []
        counts: dict[int, int] = {}
        for signal in self.signals:
            if isinstance(signal, sg.Caption) and signal.role == "assistant":
                heard = signal.text.split()
                known = counts.get(signal.reply, 0)
                words += [SoundedWord(word, signal.reply, signal.at) for word in heard[known:]]
                counts[signal.reply] = max(known, len(heard))
        return words

    @property
    def is_at_rest(self) -> bool:
        """True if neither side speaks and no answer is pending, or if the call is over."""
        return self._is_at_rest()

    @property
    def is_about_to_end(self) -> bool:
        """Is the call being ended, or will the agent end it as soon as everything is said, if the person says nothing
        more?"""
        s = self.conversation.machine_state
        return s.link is Link.TERMINATING or (s.link is not Link.IDLE and s.ending is not Ending.NO)

    @property
    def is_over(self) -> bool:
        """Has the call ended?"""
        return self.conversation.phase == "idle"

    # -- Checks

    def _check_heard(self, text: str | re.Pattern[str]) -> Self:
        """Check that the user has heard this text (or text that matches this compiled pattern) since the user last
        spoke or typed."""
        __tracebackhide__ = True
        replies = [item for item in self.history if isinstance(item, AgentSaid) and item.text]
        heard = " ".join(item.text for item in replies if self._is_fresh(item))
        found = text.search(heard) if isinstance(text, re.Pattern) else text in heard
        return self._expect(bool(found), f"{text!r} was not heard; the user heard {heard!r}")

    def _check_never_heard(self, text: str) -> Self:
        """Check that the user hasn't heard this text in the whole call so far."""
        __tracebackhide__ = True
        return self._expect(not any(text in heard for heard in self.heard), f"{text!r} was heard")

    def _check_cut_off(self, heard: str) -> Self:
        """Check that the user heard exactly this text of the newest interrupted reply, and no more."""
        __tracebackhide__ = True
        cut = [item for item in self.history if isinstance(item, AgentSaid) and item.interrupted]
        last = cut[-1].text if cut else None
        return self._expect(last == heard, f"the agent was cut off after {last!r}, not after {heard!r}")

    def _check_phase(self, name: str) -> Self:
        """Check that the call is in this phase now. `duologue.core.views.PHASES` lists all phases."""
        __tracebackhide__ = True
        if name not in PHASES:
            raise ValueError(f"{name!r} is not a phase; the phases are {', '.join(PHASES)}")
        now = self.conversation.phase
        return self._expect(now == name, f"the phase is {now!r}, not {name!r}")

    def _check_asked_once(self) -> Self:
        """Check that the user's last words led to exactly one request to the brain. Retries don't count."""
        __tracebackhide__ = True
        count = sum(_is_request(step) for step in self.records[self._steps_mark :])
        return self._expect(count == 1, f"the brain was asked {count} times")

    def _check_called(self, tool: str, /, **arguments: Any) -> Self:
        """Check that this tool was called with at least these arguments, and that the tool call got an output."""
        __tracebackhide__ = True
        calls = [pair for item in self.history if isinstance(item, AgentSaid) for pair in item.calls]
        fits = [number for number, call in calls if call.name == tool and _has(call.arguments, arguments)]
        outputs = {item.call for item in self.history if isinstance(item, CallOutput)}
        made = [f"{call.name}({call.arguments})" for _, call in calls]
        return self._expect(
            any(number in outputs for number in fits), f"{tool} was not called like this; the calls were {made}"
        )

    def _check_nothing_lost(self) -> Self:
        """Check that none of the user's words were dropped without an answer."""
        __tracebackhide__ = True
        lost = [s for s in self.signals if isinstance(s, sg.Lost)]
        return self._expect(not lost, f"got no answer: {[text for s in lost for text in s.texts]}")

    def _check_ended(self) -> Self:
        """Check that the call is over."""
        __tracebackhide__ = True
        return self._expect(self.is_over, f"the call goes on ({self.conversation.phase})")

    # -- Inside

    def _is_fresh(self, item: AgentSaid) -> bool:
        """Was this reply heard after the user last spoke or typed? A reply that was already playing at that moment
        counts too, unless it was interrupted."""
        return item.reply > self._reply_mark or (item.reply == self._speaking_mark and not item.interrupted)

    def _expect(self, holds: bool, complaint: str) -> Self:
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
        self._expect(not self.is_over, "the call is over: the user can't act any more")

    def _see(self, record: StepRecord) -> None:
        self.records.append(record)
        self._moved.set()

    def _is_turn_over(self, turn: int) -> bool:
        s = self.conversation.machine_state
        return s.turn > turn or s.user.value == "quiet" or s.link is Link.IDLE

    def _is_at_rest(self) -> bool:
        return self.conversation.machine_state.link is Link.IDLE or is_at_rest(self.conversation.engine)


def _source_of(given: AgentOrMaker) -> AgentSource:
    """Make the AgentSource for a call. `given` is an agent, a function that makes an agent from the context, or a
    brain, which is wrapped in an agent."""
    return AgentSource(given if isinstance(given, Agent) or makes_agents(given) else Agent(given))


def _is_request(step: StepRecord) -> bool:
    """Did this step ask the brain to answer a turn? False if it only repeated a request that had failed."""
    asks = [effect for effect in step.effects if isinstance(effect, StartReply) and effect.last >= effect.first]
    return bool(asks) and asks[0].ask is Ask.ANSWER and step.before.reply is not Reply.RETRYING


def _has(given: dict[str, Any] | str, wanted: dict[str, Any]) -> bool:
    if isinstance(given, str):
        given = json.loads(given or "{}")
    assert isinstance(given, dict)
    return all(name in given and given[name] == value for name, value in wanted.items())


def _without_sound(agent: Agent) -> Agent:
    """The agent without its own ears and voice. The agents to which it can hand over lose theirs too. All of them use
    the ears and voice of the call."""
    return replace(agent, ears=None, voice=None, agents=tuple(map(_without_sound, agent.agents)))
