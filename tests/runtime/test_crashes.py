"""A process dies at every possible write; another process continues from what was saved."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from duologue.brains.scripted import ScriptedBrain
from duologue.lines.scripted import ScriptedLine
from duologue.ports.history import AgentSaid, UserSaid
from duologue.ports.line import Played
from duologue.ports.scripted_steps import Delay
from duologue.ports.store import StoreWrite
from duologue.ports.tool_call import ToolCall
from duologue.runtime.agent import Agent
from duologue.runtime.checkpoint import read_checkpoint
from duologue.runtime.checkpoint_writer import CheckpointWriter
from duologue.runtime.conversation import Conversation
from duologue.runtime.simulated_clock import run_simulated
from duologue.store.memory import MemoryStore
from duologue.voice.scripted import ScriptedVoice
from duologue.workers.function_tools import tool

NEVER = 10_000


class Crash(Exception):
    """The process is gone."""


@dataclass
class CrashingStore(MemoryStore):
    """After so many writes, nothing is written any more and the process is dead."""

    writes_left: int = NEVER
    writes: int = 0
    is_dead: asyncio.Event = field(default_factory=asyncio.Event)

    def __init__(self, writes_left: int, takes_s: float) -> None:
        super().__init__()
        self.writes_left, self.writes, self.is_dead = writes_left, 0, asyncio.Event()
        self.takes_s = takes_s

    async def write(self, *given: Any) -> int:
        if self.is_dead.is_set():
            await asyncio.Event().wait()
        await asyncio.sleep(self.takes_s / 2)
        if self.is_dead.is_set():
            await asyncio.Event().wait()
        self.writes += 1
        done = await super().write(*given)
        await asyncio.sleep(self.takes_s / 2)
        if self.writes == self.writes_left:
            self.is_dead.set()
        return done

    def revive(self) -> None:
        self.writes_left = NEVER
        self.is_dead.clear()


@dataclass
class Process:
    conversation: Conversation
    writer: CheckpointWriter
    line: ScriptedLine

    def die(self) -> None:
        """kill -9: nothing says goodbye."""
        self.conversation.crash()

    def heard(self) -> Played | None:
        self.line.clear(0)  # the loudspeaker stops where it is
        voice = max(self.line.played, default=0)
        return Played(voice, self.line.played[voice]) if voice else None


async def begin(store: MemoryStore, agent: Agent, played: Played | None = None) -> Process:
    lease, kept = await store.claim("call", "node", 10_000, force=True)
    saved = read_checkpoint(kept.parts, agent.settings) if kept.parts else None
    line = ScriptedLine()
    conversation = Conversation(agent, line, conversation_id="call", checkpoint=saved)
    writer = CheckpointWriter(store, lease, kept.revision, lambda: None, lambda problem: None)
    conversation.engine.save_with(writer)
    if saved is None:
        await conversation.start()
    else:
        await conversation.restore(played)
    return Process(conversation, writer, line)


async def at_rest(process: Process, store: CrashingStore) -> bool:
    """Until nothing is owed, and nothing that was cut off is taken up; False if the process died first."""
    for _ in range(2_000):
        if store.is_dead.is_set():
            return False
        s = process.conversation.machine_state
        quiet = s.voice.value == "silent" and s.reply.value == "none" and not s.jobs
        if quiet and s.answered == s.said and not s.news and not s.cut and s.link.value == "up":
            return True
        await asyncio.sleep(0.05)
    raise AssertionError(f"never comes to rest: {process.conversation.machine_state}")


@dataclass
class Outcome:
    history: list[Any]
    writes: int
    took_s: float
    heard: list[str]


async def call(
    make: Callable[[], Agent], texts: list[str], dies_at: int = NEVER, dies_s: float = 0.0, takes_s: float = 0.0
) -> Outcome:
    """A person types these, each when the last was answered; the process dies at this write or at this time. What was
    not kept of what was typed is typed again, as a page does."""
    store = CrashingStore(dies_at, takes_s)
    if dies_s:
        asyncio.get_running_loop().call_later(dies_s, store.is_dead.set)
    process = await begin(store, make())
    pending = list(texts)
    while True:
        if await at_rest(process, store):
            if not pending:
                break
            process.conversation.type(pending[0])
            try:
                async with asyncio.timeout(60):
                    saving = asyncio.ensure_future(process.writer.wait_until_saved())
                    dying = asyncio.ensure_future(store.is_dead.wait())
                    await asyncio.wait([saving, dying], return_when=asyncio.FIRST_COMPLETED)
                    saving.cancel()
                    dying.cancel()
            finally:
                pass
        if store.is_dead.is_set():
            heard = process.heard()
            process.die()
            store.revive()
            process = await begin(store, make(), heard)
        said = [item.text for item in process.conversation.history if isinstance(item, UserSaid)]
        pending = [text for text in texts if text not in " ".join(said)]
    await process.writer.wait_until_saved()
    history = list(process.conversation.history)
    process.die()
    return Outcome(
        history,
        store.writes,
        asyncio.get_running_loop().time(),
        [item.text for item in history if isinstance(item, AgentSaid)],
    )


def every_crash(make: Callable[[], Agent], texts: list[str], check: Callable[[Outcome, int], None]) -> None:
    whole = run_simulated(call(make, texts, NEVER))
    check(whole, 0)
    assert whole.writes > 3
    for dies_at in range(1, whole.writes + 1):
        check(run_simulated(call(make, texts, dies_at)), dies_at)
    for takes_s in (0.0, 0.03, 0.2):
        for dies_ms in range(10, round(whole.took_s * 1000), 70):
            outcome = run_simulated(call(make, texts, dies_s=dies_ms / 1000, takes_s=takes_s))
            check(outcome, -dies_ms)


@pytest.mark.req("D-14", "L-14")
def test_whenever_a_process_dies_every_turn_is_answered_once():
    def make() -> Agent:
        answers = {"weather": "It is sunny. It will stay so.", "time": "It is noon now."}
        return Agent(ScriptedBrain(answers, first_ms=200, token_ms=150), voice=ScriptedVoice(first_ms=100))

    def check(outcome: Outcome, dies_at: int) -> None:
        said = [item.text for item in outcome.history if isinstance(item, UserSaid)]
        assert said == ["weather please", "time please"], dies_at
        answers = " ".join(outcome.heard)
        for sentence in ("It is sunny.", "It will stay so.", "It is noon now."):
            assert answers.count(sentence) <= 1, (dies_at, "it was heard twice", outcome.history)
            is_offered = any(heard.endswith("?") for heard in outcome.heard)
            assert sentence in answers or is_offered, (dies_at, "it was not taken up", outcome.history)

    every_crash(make, ["weather please", "time please"], check)


@pytest.mark.req("D-14")
@pytest.mark.graveyard(25)
@pytest.mark.parametrize("idempotent", [False, True])
def test_whenever_a_process_dies_a_tool_that_may_run_once_runs_at_most_once(idempotent):
    ran: list[str] = []

    @tool(idempotent=idempotent)
    async def pay(amount: int) -> str:
        """Pays."""
        ran.append("begun")
        await asyncio.sleep(0.5)
        ran.append("done")
        return f"paid {amount}"

    def answer(request: Any) -> Any:
        if request.outputs:
            return f"The output was: {request.outputs[-1].output}."
        return [Delay(100), ToolCall("pay", {"amount": 5})]

    def make() -> Agent:
        return Agent(ScriptedBrain(answer), tools=[pay], voice=ScriptedVoice())

    def check(outcome: Outcome, dies_at: int) -> None:
        runs = ran.count("begun")
        ran.clear()
        if not idempotent:
            assert runs <= 1, dies_at
        assert runs >= 1, dies_at
        outputs = [item for item in outcome.history if type(item).__name__ == "CallOutput"]
        assert len(outputs) == 1, (dies_at, outcome.history)
        paid = "paid 5" in outputs[0].output
        assert paid or "outcome is unknown" in outputs[0].output, (dies_at, outputs)
        if idempotent:
            assert paid

    every_crash(make, ["pay five"], check)


@pytest.mark.req("D-14")
def test_a_voice_that_was_heard_and_never_written_down_keeps_its_number():
    """Else the client takes the next voice for one that it knows, and says that it has heard it."""

    async def scene() -> None:
        store = CrashingStore(NEVER, 0.0)
        process = await begin(store, Agent(ScriptedBrain(["One.", "Two.", "Three."]), voice=ScriptedVoice()))
        process.conversation.type("one")
        assert await at_rest(process, store)
        await process.writer.wait_until_saved()
        known = process.conversation.machine_state.voice_id
        process.die()
        heard = Played(known + 4, 500)  # said while the store was away
        process = await begin(store, Agent(ScriptedBrain(["Four."]), voice=ScriptedVoice()), heard)
        process.conversation.type("two")
        assert await at_rest(process, store)
        assert max(process.line.played) > known + 4

    run_simulated(scene())


@pytest.mark.req("D-14")
def test_a_reply_of_which_more_was_heard_than_was_written_down_is_not_said_again():
    async def scene() -> None:
        store = CrashingStore(NEVER, 0.0)
        answer = "This answer is long enough to be heard in part."
        process = await begin(store, Agent(ScriptedBrain([answer]), voice=ScriptedVoice(first_ms=100)))
        process.conversation.type("tell me")
        await asyncio.sleep(0.3)
        await process.writer.wait_until_saved()
        lease, kept = await store.claim("call", "editor", 10_000, force=True)
        words = dict(kept.parts["words"])
        reply, voice, ledger = words["speech"]
        (text, start_ms, _, _, _, glued), *_ = ledger["passages"]
        ledger |= {"passages": [[text, start_ms, 200, [], False, glued]], "total_ms": 200, "heard_ms": 0}
        await store.write(lease, kept.revision, StoreWrite({"words": {**words, "speech": [reply, voice, ledger]}}))
        process.die()
        process = await begin(store, Agent(ScriptedBrain(["Again?"]), voice=ScriptedVoice()), Played(voice, 1_500))
        assert await at_rest(process, store)
        said, then = [item.text for item in process.conversation.history if isinstance(item, AgentSaid)]
        assert said
        assert answer.startswith(said)
        assert then in (answer, "The connection is back. Shall I go on?"), "the brain isn't asked again"

    run_simulated(scene())
