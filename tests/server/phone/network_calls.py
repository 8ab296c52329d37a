"""Calls in a simulated network with an API, against a real server: both on 127.0.0.1."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from duologue.lab.sim.call_script import Hear, Listen, PlayWav, Press, Say, Step, Wait
from duologue.lab.sim.carrier_network import CarrierNetwork, Leg
from duologue.lab.sim.loopback_server import serving
from duologue.lab.sim.scripted_caller import ScriptedCaller
from duologue.lab.sim.scripted_carrier import ScriptedCarrier
from duologue.lab.sim.telephones import Telephone
from duologue.ports.brain import Request, ToolCall
from duologue.ports.context import Context, NotPossible
from duologue.ports.history import AgentSaid
from duologue.runtime.agent import Agent, Phrases
from duologue.runtime.conversation import Conversation
from duologue.server.phone.exchange import PhoneExchange
from duologue.server.phone.routes import PhoneSettings, phone_routes
from duologue.voice.scripted import ScriptedVoice
from tests.limits import WAIT_S

OWN, CALLER, DESK = "+4930555000", "+4930555111", "+4930555222"


@dataclass
class Office:
    """A server with an agent, and the network that calls it."""

    network: CarrierNetwork
    exchange: PhoneExchange
    conversations: list[Conversation] = field(default_factory=list)

    def said(self, number: int = 0) -> list[str]:
        if number >= len(self.conversations):
            return []
        return [item.text for item in self.conversations[number].history if isinstance(item, AgentSaid)]


async def _silent(step: Say | PlayWav) -> bytes:
    return b""


async def behave(leg: Leg, scripted: ScriptedCarrier, book: Mapping[str, Telephone]) -> None:
    steps = book[leg.number].steps
    caller = ScriptedCaller(scripted, lambda: None, _silent, WAIT_S)
    await caller.follow(steps)


@asynccontextmanager
async def office(carrier: str, agent: Any, book: Mapping[str, Telephone], **changes: Any) -> AsyncIterator[Office]:
    network = CarrierNetwork(carrier, book, lambda leg, scripted: behave(leg, scripted, book))
    async with serving(lambda _: network.routes()) as api:
        found: list[Office] = []

        def routes(url: str) -> Any:
            given = {"public_url": url, "number": OWN, "api_url": api, **network.secrets, **changes}
            settings = PhoneSettings(**given)
            found.append(Office(network, PhoneExchange(settings)))
            watch = found[0].conversations.append
            return phone_routes(agent, settings, watch, exchange=found[0].exchange)

        async with serving(routes) as url:
            network.url = url
            try:
                yield found[0]
            finally:
                await network.close()


def desk_agent(action: Any, greeting: str = "Hello.") -> Agent:
    """An agent that does this with the context of its call as soon as a key is pressed, and says how it went."""

    async def act(context: Context[Any]) -> str:
        """Do it."""
        try:
            await action(context)
        except NotPossible as refusal:
            return f"refused: {refusal}"
        return "done"

    async def brain(request: Request) -> AsyncIterator[Any]:
        if request.outputs:
            yield f"It is {request.outputs[0].output}."
        else:
            yield "One moment. "
            yield ToolCall("act", {})

    return Agent(
        brain, tools=[act], voice=ScriptedVoice(char_ms=3), profile="words", phrases=Phrases(greeting=greeting)
    )


PRESSES: tuple[Step, ...] = (Hear(20), Wait(100), Press("1#"))
ACCEPTS: tuple[Step, ...] = (Listen(), Press("1#"))
DECLINES: tuple[Step, ...] = (Hear(100), Press("2#"))


async def until(what: Any, wait_s: float = WAIT_S) -> None:
    async with asyncio.timeout(wait_s):
        while not what():
            await asyncio.sleep(0.01)
