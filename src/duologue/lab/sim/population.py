"""Many simulated calls: each is drawn from a seed, played through the real driver, and checked.

Rule: a call depends only on its seed and its number, so `--seed S --call N` plays it again.
"""

from __future__ import annotations

import asyncio
import io
import random
import time
from collections.abc import Coroutine, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from duologue.core.leaves import Link
from duologue.core.settings import PROFILES
from duologue.core.state import floor_is_free, is_owed
from duologue.ears.scripted import ScriptedEars
from duologue.lines.scripted import ScriptedLine
from duologue.observe import signals as sg
from duologue.observe.journal_writer import JournalWriter
from duologue.ports.context import CallInfo, Context
from duologue.ports.ears import Final, Heard, Partial, SpeechEnded
from duologue.ports.voice import Voice
from duologue.runtime.agent import Agent
from duologue.runtime.agent_source import AgentOrMaker, AgentSource
from duologue.runtime.conversation import Conversation, StartRefused
from duologue.runtime.seats import Seats
from duologue.runtime.simulated_clock import SimulatedLoop, SimulationStuck, end
from duologue.testing.person import Person, SpeakingPace
from duologue.testing.scripted_session import ScriptedSession
from duologue.voice.scripted import ScriptedVoice

from .audible_sounds import audible_sounds
from .caller_account import now_ms
from .faulty_services import (
    NO_FAULTS,
    FaultDice,
    FaultRates,
    FaultyBrain,
    FaultyEars,
    FaultyLine,
    FaultySession,
    FaultyVoice,
    FaultyWorker,
)
from .invariants import Evidence, complaints_about, nothing_untrue_is_shown, silence_from_voice, silence_of
from .seeded_callers import SeededCaller, draw_acts
from .silence import Silence
from .simulated_agent import make_brain, make_tools

SAMPLES_HZ = 8_000  # of simulated voices
REST_S_MAX = 1_000  # a turn whose end is lost may take ten minutes, and faults and retries may follow
END_S_MAX = 5


@dataclass(frozen=True, slots=True)
class CallResult:
    """How one call went. `complaints` says which invariants the call broke, and how."""

    seed: int
    call: int
    profile: str
    complaints: tuple[str, ...]
    simulated_ms: int
    events: int
    turns: int
    faults: int
    silence: Silence
    from_voice: Silence  # the same, always counted from the moment at which the caller fell silent
    untrue: int  # notices that were not true
    cpu_ms: float

    @property
    def is_well(self) -> bool:
        return not self.complaints


def simulate(
    calls: int, seed: int, faults: bool, first: int = 1, agent: AgentOrMaker | None = None
) -> Iterator[CallResult]:
    """Play this many calls, one after the other. `first` is the number of the first call."""
    for number in range(first, first + calls):
        yield play_call(seed, number, faults, agent=agent)


def play_call(
    seed: int, number: int, faults: bool, journal: Path | None = None, agent: AgentOrMaker | None = None
) -> CallResult:
    """Play one call and check it. Without an agent, the built-in simulated agent answers. If `agent` is a function, it
    is called with the context of this call. Raises what that function raises."""
    began = time.process_time()
    dice = random.Random(f"{seed}:{number}:{faults}")
    given = agent or _make_agent(dice, dice.choice(list(PROFILES)))
    evidence = Evidence()
    loop = SimulatedLoop()
    context: Context[Any] = Context(CallInfo(f"{seed}", line="test"))
    try:
        made = loop.run_until_complete(AgentSource(given).try_to_make(context))
        _run(loop, _play(dice, made, context, faults, evidence, journal, seed), evidence)
    finally:
        end(loop)
    complaints = tuple(complaints_about(evidence))
    last = evidence.records[-1] if evidence.records else None
    return CallResult(
        seed,
        number,
        made.settings.name,
        complaints,
        last.event.at if last else 0,
        len(evidence.records),
        last.after.turn if last else 0,
        sum(isinstance(s, sg.Failed) for s in evidence.signals),
        silence_of(evidence),
        silence_from_voice(evidence),
        len(nothing_untrue_is_shown(evidence)),
        (time.process_time() - began) * 1000,
    )


def _run(loop: SimulatedLoop, call: Coroutine[Any, Any, None], evidence: Evidence) -> None:
    try:
        loop.run_until_complete(call)
        evidence.tasks_left = [task.get_name() for task in asyncio.all_tasks(loop)]
    except SimulationStuck:
        evidence.came_to_rest = False


def _make_agent(dice: random.Random, profile: str) -> Agent:
    return Agent(
        make_brain(dice),
        tools=make_tools(dice),
        voice=ScriptedVoice(first_ms=80, times=dice.random() < 0.7),
        session=lambda: ScriptedSession(open_ms=dice.choice((0, 40, 900))),
        profile=profile,
    )


def agent_with_faults(agent: Agent, ears: ScriptedEars, dice: FaultDice, evidence: Evidence) -> Agent:
    """The same agent, but its services misbehave at random, as `dice` decides, and note when they work."""
    session = agent.session or ScriptedSession
    requests, account = evidence.requests, evidence.account
    return replace(
        agent,
        brain=FaultyBrain(agent.thinker, dice, requests, account),
        tools=[FaultyWorker(worker, dice, account) for worker in agent.workers],
        voice=FaultyVoice(_with_samples(agent.voice or ScriptedVoice(first_ms=80)), dice, account),
        ears=FaultyEars(ears, dice, account),
        session=lambda: FaultySession(session(), dice, account),
    )


def _with_samples(voice: Voice) -> Voice:
    """The same voice. If it is simulated, its sounds have samples, so that silence is measured with what was played."""
    return replace(voice, rate_hz=SAMPLES_HZ) if isinstance(voice, ScriptedVoice) else voice


async def _play(
    random: random.Random,
    agent: Agent,
    context: Context[Any],
    faults: bool,
    evidence: Evidence,
    journal: Path | None,
    seed: int,
) -> None:
    dice = FaultDice(random, FaultRates() if faults else NO_FAULTS)
    ears, line = ScriptedEars(), ScriptedLine(ack_ms=random.choice((20, 100, 200)))
    evidence.line, evidence.played, evidence.connections = line.log, line.played, line.connections
    conversation = Conversation(
        agent_with_faults(agent, ears, dice, evidence),
        FaultyLine(line, dice, evidence.account),
        journal=journal,
        seed=seed,
        conversation_id=context.conversation,
        seats=Seats(),
        context=context,
    )
    conversation.engine.watchers.append(evidence.records.append)
    written = io.StringIO()
    writer = JournalWriter(written, conversation.machine_state.settings, seed)
    conversation.engine.watchers.append(lambda record: writer.add(record.event, record.after))
    conversation.on(sg.Signal, evidence.signals.append)
    note_finals(conversation, evidence)
    person = Person(ears, line, _draw_pace(random))
    caller = SeededCaller(person, conversation, draw_acts(random, faults), evidence.account)
    try:
        await conversation.start()
        await caller.run()
        evidence.came_to_rest = await _rests(conversation)
    except StartRefused:
        pass
    evidence.ended = await _ends(conversation)
    evidence.journal = (journal.read_text() if journal is not None else written.getvalue()).splitlines()
    evidence.sounded = audible_sounds(line.recorded, evidence.account.speech)
    evidence.history = conversation.history


def _draw_pace(dice: random.Random) -> SpeakingPace:
    return SpeakingPace(
        dice.choice((120, 250, 400)), dice.choice((30, 150)), dice.choice((20, 120, 500, 1_600)), dice.random()
    )


def note_finals(conversation: Conversation, evidence: Evidence) -> None:
    """Record which final texts the conversation got while it was open."""

    def note(heard: Heard) -> None:
        is_open = conversation.machine_state.link not in (Link.IDLE, Link.TERMINATING)
        if is_open and isinstance(heard, Final) and heard.text:
            evidence.heard_finals.append(heard.text)
        if isinstance(heard, Final | Partial) and heard.text:
            evidence.account.delivered.append((now_ms(), heard.text))
        if isinstance(heard, Final | SpeechEnded):
            evidence.account.ends.append((now_ms(), heard.utterance))

    conversation.engine.taps.append(note)


async def _rests(conversation: Conversation) -> bool:
    """Does the call come to rest within REST_S_MAX seconds? It rests if it has ended, if it is paused, or if nothing is
    left to do in it."""
    for _ in range(REST_S_MAX):
        s = conversation.machine_state
        if s.link in (Link.IDLE, Link.SUSPENDED) or (floor_is_free(s) and not is_owed(s)):
            return True
        await asyncio.sleep(1)
    return False


async def _ends(conversation: Conversation) -> bool:
    try:
        async with asyncio.timeout(END_S_MAX):
            await conversation.end("simulated")
    except TimeoutError:
        return False
    return True
