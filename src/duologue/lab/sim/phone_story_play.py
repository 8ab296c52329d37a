"""Plays a telephone story: a server with an agent, a simulated carrier with telephones, and a timeline of both.

Everything between them is real: the carrier's library, signed webhooks, tokens, streams. Only the network is missing,
so a story runs on the simulated clock. Rule: the timeline only records what happened. It never influences the story.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from urllib.parse import urlencode

from starlette.applications import Starlette

from duologue.core.errors import DuologueError
from duologue.lines.phone.call import inputs as on
from duologue.lines.phone.call.state import CallState
from duologue.observe import signals as sg
from duologue.ports.context import NotPossible
from duologue.runtime.agent_source import AgentOrMaker
from duologue.runtime.conversation import Conversation
from duologue.server.app import Server
from duologue.server.phone.exchange import PhoneExchange
from duologue.server.phone.phone_call import PhoneCall
from duologue.server.phone.routes import PhoneSettings, phone_routes
from duologue.server.settings import Limits, ServerSettings

from .call_script import PlayWav, Say
from .carrier_network import CarrierNetwork, Leg
from .carrier_wires import LoopWires, request_within
from .phone_menu import serve_menu
from .phone_story import OWN_NUMBER, PhoneStory
from .scripted_caller import NotAsExpected, ScriptedCaller
from .scripted_carrier import ScriptedCarrier

STEP_S_MAX = 120.0
SERVER_URL, API_URL = "http://127.0.0.1:1", "http://127.0.0.1:2"
Speech = Callable[[Say | PlayWav], Awaitable[bytes]]


class PhoneStoryLine(NamedTuple):
    """One line of a timeline."""

    at_ms: int
    who: str
    what: str

    def __str__(self) -> str:
        return f"{self.who}: {self.what}"


@dataclass
class PhoneStoryOutcome:
    """How a story went. `problem` is empty if everything that it expects has happened."""

    story: PhoneStory
    timeline: list[PhoneStoryLine] = field(default_factory=list)
    outcome: str = ""  # of the first call
    problem: str = ""
    refused: list[str] = field(default_factory=list)  # what the carrier has refused


class StoryTeller:
    """Plays one story."""

    def __init__(self, story: PhoneStory, agent: AgentOrMaker, speech: Speech) -> None:
        self._story = story
        self._speech = speech
        self.told = PhoneStoryOutcome(story)
        self._loop = asyncio.get_running_loop()
        self._began = self._loop.time()
        self._first: PhoneCall | None = None
        self._problems: list[str] = []
        self._done: dict[str, int] = {}  # by call: how many steps its telephone has taken
        book = {phone.number: phone.telephone for phone in story.telephones}
        self._network = CarrierNetwork(story.carrier, book, self._behave)
        self._network.log.heard = self._note_network
        self._network.url = SERVER_URL
        secrets = self._network.secrets
        self._settings = PhoneSettings(SERVER_URL, number=OWN_NUMBER, api_url=API_URL, **{**secrets, **story.settings})
        drain_s = story.stop.drain_s if story.stop is not None else 30.0
        self._server = Server(agent, ServerSettings(limits=Limits(drain_s_max=drain_s)))
        self._exchange = PhoneExchange(self._settings, request_within(Starlette(routes=self._network.routes())))
        self._exchange.observe = self._note_stage
        self._add_routes(agent)
        self._network.wires = LoopWires(self._server.app)

    def _add_routes(self, agent: AgentOrMaker) -> None:
        conversations = self._server.conversations
        conversations.stoppers.append(self._exchange.drain)
        conversations.observers.append(self._listen)
        self._server.add_routes(
            phone_routes(
                agent,
                self._settings,
                conversations.watch,
                lambda: not conversations.is_draining,
                exchange=self._exchange,
            )
        )

    async def play(self) -> PhoneStoryOutcome:
        """Play the story to its end."""
        story, stopping = self._story, None
        try:
            async with asyncio.timeout(story.limit_s):
                if story.stop is not None:
                    stopping = asyncio.ensure_future(self._stop(story.stop.after_ms))
                await self._call()
                if stopping is not None:
                    await stopping
                await self._until_quiet()
        except TimeoutError:
            self._problems.append(f"the story has not ended after {story.limit_s:g} s")
        except NotPossible as refusal:
            self._note("server", f"refuses: {refusal}")
            self.told.outcome = "refused"
        finally:
            if stopping is not None:
                stopping.cancel()
            await self._network.close()
        self.told.refused = self._network.refused
        self._check()
        return self.told

    async def _call(self) -> None:
        story, dial = self._story, self._story.dial
        if dial is None:
            caller = story.phone(story.call)
            assert caller is not None
            query = f"?{urlencode(story.query)}" if story.query else ""
            self._network.call_in(caller.number, OWN_NUMBER, query)
            while self._first is None and self._network.is_busy:
                await asyncio.sleep(0.02)
        else:
            phone = story.phone(dial.to)
            self._first = self._exchange.dial(
                phone.number if phone is not None else dial.to,
                machine_message=dial.machine_message,
                on_machine=dial.on_machine,
                ring_ms=round(dial.ring_s * 1000),
            )
        if self._first is not None:
            outcome = await self._first.over
            self.told.outcome = outcome.value
            if self._first.problem:
                self._note("server", self._first.problem)

    async def _until_quiet(self) -> None:
        """Wait until every telephone has hung up."""
        while self._network.is_busy:
            await asyncio.sleep(0.1)

    async def _stop(self, after_ms: int) -> None:
        await asyncio.sleep(after_ms / 1000)
        self._note("server", "stops")
        await self._server.conversations.drain()
        self._note("server", "has stopped")

    # -- The telephones

    async def _behave(self, leg: Leg, scripted: ScriptedCarrier) -> None:
        name = self._story.name_of(leg.number)
        phone = self._story.phone(name)
        if phone is None:
            return
        if phone.menu is not None:
            await serve_menu(phone.menu, scripted, self._speech, lambda what: self._note(name, what))
            return
        caller = ScriptedCaller(scripted, lambda: None, self._speech, STEP_S_MAX)
        caller.note = lambda what: self._note(name, what)
        done = self._done.get(leg.call, 0)  # a call that comes back goes on where the person was
        try:
            await caller.follow(phone.telephone.steps[done:])
        except NotAsExpected as different:
            self._problems.append(f"{name}: {different}")
        finally:
            self._done[leg.call] = done + len(caller.done)

    # -- The timeline

    def _note(self, who: str, what: str) -> None:
        self.told.timeline.append(PhoneStoryLine(round((self._loop.time() - self._began) * 1000), who, what))

    def _note_network(self, who: str, what: str) -> None:
        for phone in self._story.telephones:
            what = what.replace(phone.number, phone.name)
        self._note(self._story.name_of(who), what.replace(OWN_NUMBER, "the agent"))

    def _note_stage(self, call: PhoneCall, _: on.CallInput, state: CallState) -> None:
        if self._first is None:
            self._first = call
        name = self._story.name_of(call.number)
        ended = f", {state.outcome.value}" if state.outcome.value else ""
        self._note(f"call {name}", f"{state.stage.value}{ended}")

    def _listen(self, conversation: Conversation) -> None:
        info = conversation.call_context.info
        name = self._story.name_of(info.called if info.direction == "out" else info.caller)

        def show(caption: sg.Caption) -> None:
            if caption.final and caption.text.strip():
                who = "agent" if caption.role != "user" else f"agent hears {name}"
                cut = " —" if caption.unheard else ""
                self._note(who, f'"{caption.text.strip()}"{cut}')

        conversation.on(sg.Caption, show)

    # -- What was expected

    def _check(self) -> None:
        wanted, told = self._story.expect, self.told
        if wanted.outcome and told.outcome != wanted.outcome:
            self._problems.append(f"the outcome is {told.outcome or 'missing'}, not {wanted.outcome}")
        lines = iter(str(line) for line in told.timeline)
        missing = next((part for part in wanted.timeline if not any(part in line for line in lines)), "")
        if missing:
            self._problems.append(f"the timeline has no line {missing!r}, or not in this place")
        told.problem = "; ".join(self._problems)


async def play_story(story: PhoneStory, agent: AgentOrMaker, speech: Speech) -> PhoneStoryOutcome:
    """Play a story with this agent. If `agent` is a function, it makes the agents. Raises DuologueError if a setting is
    wrong."""
    try:
        return await StoryTeller(story, agent, speech).play()
    except ValueError as problem:
        raise DuologueError(f"settings: {problem}") from None


def outcome_as_json(told: PhoneStoryOutcome) -> dict[str, Any]:
    """The outcome and the whole timeline."""
    return {
        "story": told.story.story,
        "carrier": told.story.carrier,
        "result": "failed" if told.problem else "passed",
        "problem": told.problem or None,
        "outcome": told.outcome,
        "timeline": [line._asdict() for line in told.timeline],
    }
