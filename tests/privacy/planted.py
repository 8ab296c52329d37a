"""Unmistakable words, conversations in which they are said, and a search for them in every byte on disk.

Rule: a word is looked for as UTF-8, as UTF-16 of both kinds and as JSON escapes it; each has a letter outside ASCII.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from duologue.flows import parse_flows
from duologue.flows.brain import FlowBrain
from duologue.flows.registry import Registry
from duologue.nlu.local import LocalNlu
from duologue.ports.brain import Request
from duologue.ports.store import Store
from duologue.ports.tool_call import ToolCall
from duologue.runtime.agent import Agent
from duologue.server.app import Server
from duologue.server.leases import Leases
from duologue.server.listening import bind_socket
from duologue.server.run import serving
from duologue.server.settings import Limits, ServerSettings
from duologue.testing import ScriptedBrain, ScriptedEars, ScriptedVoice
from duologue.workers.scripted import AskPerson, scripted_tool
from tests.limits import TEST_S
from tests.server.running_server import Client, RunningServer

SPOKEN = "gesprochenzürich"
TYPED = "getipptgenève"
SAID = "agentsaysmálaga"
ARGUMENT = "argumentkøbenhavn"
OUTPUT = "outputtromsø"
QUESTION = "questionreykjavík"
ANSWER = "answerłódź"
SEAT = "seatgöteborg"
CITY = "Pernambucõ"
PAID = "referencecuiabá"
TOKEN = "planted-token-4711"
OPERATORS = "planted-operators-4711"


def forms(word: str) -> list[bytes]:
    """Every way in which a word may lie on a disk; JSON may lie in JSON."""
    escaped = json.dumps(word)[1:-1]
    plain = [text.encode() for text in (word, escaped, escaped.replace("\\", "\\\\"))]
    return [*plain, word.encode("utf-16-le"), word.encode("utf-16-be")]


def found_in(folders: list[Path], words: tuple[str, ...]) -> list[tuple[str, str]]:
    """Which files hold which of the words."""
    seen = []
    for folder in folders:
        for file in sorted(path for path in folder.rglob("*") if path.is_file()):
            data = file.read_bytes()
            seen += [(file.name, word) for word in words if any(form in data for form in forms(word))]
    return seen


def pcm_of(text: str) -> bytes:
    """Sound that would be known again, as a client sends it."""
    return (text.encode() * 40)[:640]


# -- Agents that hear, say, call and ask


def talker(**more: Any) -> Agent:
    """It answers, calls a tool with arguments, and has a job that asks."""

    def answer(request: Request) -> Any:
        if "tool" in request.text:
            return [ToolCall("look_up", {"what": ARGUMENT}, "c1")]
        if "job" in request.text:
            return [ToolCall("long_job", {"what": ARGUMENT}, "c2")]
        return f"{SAID}, {request.text}." if request.text else f"{SAID} it is done."

    tools = [
        scripted_tool("look_up", f"found {OUTPUT}"),
        scripted_tool("long_job", AskPerson(QUESTION), mode="dispatch"),
    ]
    return Agent(ScriptedBrain(answer), ears=ScriptedEars(), voice=ScriptedVoice(), tools=tools, **more)


FLOWS = """
version: 1
slots:
  city: {type: name, prompt: "Which city?"}
flows:
  book:
    description: book a trip
    examples: [book a trip, I want to travel, plan my trip]
    steps:
      - collect: city
      - action: pay
        slots: [city]
        outputs: [reference]
    completed: "It is booked. The reference is {reference}."
"""


def booker(**more: Any) -> Agent:
    """It books by flows: a slot, an action, its output."""

    async def pay(city: str) -> dict[str, str]:
        return {"reference": f"{PAID} {city}"}

    brain = FlowBrain(parse_flows(FLOWS), Registry([pay]), LocalNlu(words_only=True), today=lambda: "2026-03-04")
    return Agent(brain, ears=ScriptedEars(), voice=ScriptedVoice(), **more)


# -- What is said to them


async def talk(running: RunningServer, client: Client) -> None:
    """Typed, spoken, with a tool, with a job that asks."""
    await client.send("type", text=f"hello {TYPED}", id="m1")
    await client.expect("typed", id="m1")
    await client.expect("caption", role="assistant", final=True)
    await client.raw_send(pcm_of(SPOKEN))
    await running.say(f"well {SPOKEN}")
    await client.expect("caption", after=1, role="assistant", final=True)
    await client.send("type", text="the tool please")
    await client.expect("work", event="ended", tool="look_up")
    await client.expect("caption", after=2, role="assistant", final=True)
    await client.send("type", text="the job please")
    asked = await client.expect("work", event="asked", question=QUESTION)
    await client.send("answer", call=asked["call"], text=ANSWER)
    await client.expect("work", event="ended", tool="long_job")
    await client.expect("caption", after=3, role="assistant", final=True)


async def book(running: RunningServer, client: Client) -> None:
    await client.send("type", text="book a trip")
    await client.expect("caption", role="assistant", final=True)
    await client.send("type", text=CITY)
    await client.until(lambda: PAID in client.heard, "the reference")


# -- A server that keeps


@dataclass
class Keeping:
    """Where a server of a test keeps what it keeps."""

    folder: Path
    store: Store

    @property
    def journals(self) -> Path:
        return self.folder / "journals"

    @property
    def log(self) -> Path:
        return self.folder / "server.log"


@asynccontextmanager
async def kept_house(
    make: Callable[[], Agent], keeping: Keeping, *, node: str = "one", ttl_ms: int = 120_000
) -> AsyncIterator[RunningServer]:
    """A server with a store, journals and a log at DEBUG, all in one folder."""
    agents: list[Agent] = []

    def remember() -> Agent:
        agents.append(make())
        return agents[-1]

    keeping.folder.mkdir(parents=True, exist_ok=True)
    handler = logging.FileHandler(keeping.log, encoding="utf-8")
    handler.setFormatter(logging.Formatter("%(name)s %(levelname)s %(message)s"))
    root, before = logging.getLogger(), logging.getLogger().level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    quiet = logging.getLogger("websockets.client")  # the client of the test: it knows what it sends
    quiet.setLevel(logging.INFO)
    listening = bind_socket("127.0.0.1", 0)
    limits = Limits(drain_s_max=0.05)
    settings = ServerSettings(port=0, token=TOKEN, operator_token=OPERATORS, journals=keeping.journals, limits=limits)
    server = Server(remember, settings, leases=Leases(keeping.store, node, ttl_ms=ttl_ms))
    running = RunningServer(server, listening.getsockname()[1], agents)
    leases = server.conversations.leases
    assert leases is not None
    await leases.open(server.conversations)
    try:
        async with serving(server, listening):
            try:
                yield running
            finally:
                await asyncio.gather(*(client.close() for client in running.clients), return_exceptions=True)
                await server.conversations.drain()
    finally:
        await leases.close()
        root.removeHandler(handler)
        root.setLevel(before)
        handler.close()


Scene = Callable[[RunningServer, Client], Any]


def play(
    make: Callable[[], Agent],
    keeping: Keeping,
    scene: Scene,
    looks: Callable[[RunningServer], Any] | None = None,
    ends: bool = True,
) -> dict[str, Any]:
    """A whole conversation. Returns its id and key, as its client got them. `looks` is called while it runs."""

    async def whole() -> dict[str, Any]:
        async with kept_house(make, keeping) as running:
            client = await running.connect()
            told = await client.begin(SEAT, token=TOKEN)
            await scene(running, client)
            if looks is not None:
                found = looks(running)
                if asyncio.iscoroutine(found):
                    await found
            if ends:
                await client.send("end")
                await client.expect("ended")
            return told

    return asyncio.run(asyncio.wait_for(whole(), TEST_S))
