"""A dialogue that runs: messages in, words out, with the work in between done.

Holds the state of one conversation and performs what the pure step wants: understanding, validating, acting,
saving. Rule: work that has begun is finished, whoever stops listening; what it had to say is said with the next
reply.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from typing import Any, Protocol, TypeAlias

from duologue.core.errors import DuologueError
from duologue.dialogue.codec import from_json, to_json
from duologue.dialogue.effects import DialogueEffect, HandOver, Respond, RunAction, Save, Understand, Validate
from duologue.dialogue.english import Json
from duologue.dialogue.events import DialogueEvent, FlowRequested, NothingSaid, Understood, UserSaid, WorkFailed
from duologue.dialogue.flow import Domain
from duologue.dialogue.machine import guarded_step, row_for
from duologue.dialogue.requests import request_of, understanding
from duologue.dialogue.state import DialogueState
from duologue.nlu.cached import CachedNlu
from duologue.nlu.understanding import Nlu

from .intents import scope_of
from .nlu_commands import commands_of
from .registry import Once, Registry

Said: TypeAlias = Respond | HandOver
_log = logging.getLogger("duologue")
ROUNDS_MAX = 200  # requests for one message; a dialogue that makes more goes round
KEPT_MAX = 2_000  # dialogues that are remembered in memory: a process may run for a year


class CheckpointStore(Protocol):
    """Where checkpoints are kept."""

    async def load(self, conversation: str) -> dict[str, Any] | None: ...

    async def save(self, conversation: str, checkpoint: dict[str, Any], reasons: tuple[str, ...]) -> None: ...


class RecentCheckpoints:
    """Checkpoints for as long as the process lives, those of the newest dialogues."""

    def __init__(self) -> None:
        self.kept: dict[str, dict[str, Any]] = {}

    async def load(self, conversation: str) -> dict[str, Any] | None:
        return self.kept.get(conversation)

    async def save(self, conversation: str, checkpoint: dict[str, Any], reasons: tuple[str, ...]) -> None:  # noqa: ARG002
        self.kept.pop(conversation, None)
        self.kept[conversation] = checkpoint
        if len(self.kept) > KEPT_MAX:
            del self.kept[next(iter(self.kept))]


class DialogueSession:
    """One conversation about the tasks of a domain."""

    def __init__(
        self,
        domain: Domain,
        registry: Registry,
        nlu: Nlu,
        *,
        today: Callable[[], str],
        now: Callable[[], int],
        store: CheckpointStore | None = None,
        conversation: str = "",
        once: Once | None = None,
    ) -> None:
        registry.check(domain)
        self.domain = domain
        self.state = DialogueState()
        self._registry = registry
        self._nlu = CachedNlu(nlu, now)
        self._today = today
        self._now = now
        self._store = store
        self._conversation = conversation
        self._once = once
        self._unsaid: deque[Said] = deque()
        self._work: asyncio.Task[None] | None = None
        self._changed = asyncio.Event()
        self._is_abandoned = False
        self._owed: tuple[str, ...] = ()  # why it is to be saved, and was not
        self._preparing: asyncio.Future[None] | None = None

    async def restore(self) -> bool:
        """Go on from the last checkpoint, if there is one. An action that had begun is asked for again, with
        the same key (D-14)."""
        kept = await self._store.load(self._conversation) if self._store is not None else None
        if kept is None:
            return False
        self.state = from_json(self.domain, kept)
        effect = request_of(self.domain, self.state)
        if effect is not None:
            self._begin(lambda: self._perform_all((effect,)))
        return True

    # -- What people and programs do

    def hear(self, text: str) -> AsyncIterator[Said]:
        """A message, and what is said to it."""
        return self._told(UserSaid(text, self._now(), self._today()))

    def wait(self) -> AsyncIterator[Said]:
        """Nobody answered for a while."""
        return self._told(NothingSaid(self._now()))

    def start(self, flow: str, **slots: Json) -> AsyncIterator[Said]:
        """The program starts a flow, with values that it knows; they are checked like spoken ones. While the dialogue
        is busy with something else, that is refused."""
        check_flow(self.domain, flow)
        event = FlowRequested(flow, self._now(), tuple(slots.items()))
        if row_for(self.state, event) is None:
            raise DuologueError(f"flow {flow!r} can't be started now: the dialogue is {_doing(self.state)}")
        return self._told(event)

    @property
    def has_more(self) -> bool:
        """Is somebody at work, or is something still to be said or done?"""
        is_working = self._work is not None and not self._work.done()
        return bool(self._unsaid) or is_working or self._is_broken_off

    @property
    def _is_broken_off(self) -> bool:
        """Did work fail, such as keeping what must be kept before an action, that is still wanted?"""
        work = self._work
        if work is None or not work.done() or work.cancelled() or work.exception() is None:
            return False
        return request_of(self.domain, self.state) is not None

    async def _told(self, event: DialogueEvent) -> AsyncIterator[Said]:
        """Whatever is to be said, the first as soon as it is known. May be closed at any time."""
        if self._work is not None and not self._work.done():
            self._note(event)
        else:
            self._begin(lambda: self._happen(event))
        async for said in self.rest():
            yield said

    async def rest(self) -> AsyncIterator[Said]:
        """What was not said yet, and what comes of the work that goes on, or that broke off and is still wanted."""
        if self._is_broken_off:
            self._begin(lambda: self._perform_all(()))
        while True:
            while self._unsaid:
                yield self._unsaid.popleft()
            if self._work is None or self._work.done():
                break
            self._changed.clear()
            await self._changed.wait()
        if self._work is not None and (failure := self._work.exception()) is not None:
            raise failure

    def prepare(self) -> None:
        """Have NLU learn in a thread what may be meant next, while the person is still listening or thinking, so that
        the first message of its kind waits for nothing."""
        scope = scope_of(self.domain, understanding(self.domain, self.state), self.state.top is not None)
        if self._preparing is None or self._preparing.done():
            loop = asyncio.get_running_loop()
            self._preparing = loop.run_in_executor(None, self._nlu.prepare, scope)
            self._preparing.add_done_callback(_note_failure)

    def abandon(self) -> None:
        """Another process goes on with this dialogue. A function that runs may end; nothing follows from it."""
        self._is_abandoned = True

    async def settled(self) -> None:
        """Until nobody works any more."""
        if self._work is not None:
            await asyncio.shield(self._work)

    # -- One event after the other

    def _begin(self, work: Callable[[], Awaitable[None]]) -> None:
        async def run() -> None:
            await work()

        self._work = asyncio.ensure_future(run())
        self._work.add_done_callback(lambda _: self._changed.set())

    def _note(self, event: DialogueEvent) -> None:
        """Something happens while work goes on: the machine keeps it for later."""
        self.state, effects = guarded_step(self.domain, self.state, event)
        assert not any(isinstance(effect, Understand | Validate | RunAction) for effect in effects), effects
        self._say(effects)

    async def _happen(self, event: DialogueEvent) -> None:
        self.state, effects = guarded_step(self.domain, self.state, event)
        await self._perform_all(effects)

    async def _perform_all(self, effects: tuple[DialogueEffect, ...]) -> None:
        for _ in range(ROUNDS_MAX):
            await self._save(effects)
            self._say(effects)
            wanted = next((one for one in effects if isinstance(one, Understand | Validate | RunAction)), None)
            wanted = wanted or request_of(self.domain, self.state)  # asked for before, and nobody is at it any more
            if wanted is None:
                self.prepare()
                return
            if self._is_abandoned:
                return
            event = await self._perform(wanted)  # the state may change meanwhile: somebody may say something
            if self._is_abandoned:
                return
            self.state, effects = guarded_step(self.domain, self.state, event)
        raise RuntimeError(f"{ROUNDS_MAX} requests for one message: the flows go round")

    async def _save(self, effects: tuple[DialogueEffect, ...]) -> None:
        """What could not be saved is saved with the next."""
        self._owed += tuple(reason for effect in effects if isinstance(effect, Save) for reason in effect.reasons)
        if self._store is not None and self._owed:
            reasons = tuple(dict.fromkeys(self._owed))
            await self._store.save(self._conversation, to_json(self.domain, self.state), reasons)
        self._owed = ()

    def _say(self, effects: tuple[DialogueEffect, ...]) -> None:
        said = [effect for effect in effects if isinstance(effect, Respond | HandOver)]
        self._unsaid.extend(said)
        if said:
            self._changed.set()

    async def _perform(self, effect: Understand | Validate | RunAction) -> DialogueEvent:
        match effect:
            case Understand():
                return await self._understand(effect)
            case Validate():
                return await self._registry.validate(effect, self._now)
            case RunAction():
                key = f"{self._conversation}:{effect.key}" if self._conversation else effect.key
                return await self._registry.act(replace(effect, key=key), self._now, self._once)

    async def _understand(self, effect: Understand) -> Understood | WorkFailed:
        is_asking = self.state.top is not None
        try:
            found = await self._nlu.understand(effect.text, scope_of(self.domain, effect, is_asking))
            if found.error is not None:
                return WorkFailed(effect.request, found.error.value, "understanding failed", self._now())
            commands = commands_of(self.domain, self.state, effect, found, self._today())
        except Exception as failure:  # noqa: BLE001 - whoever understands may fail in any way
            return WorkFailed(effect.request, type(failure).__name__, "understanding failed", self._now())
        return Understood(effect.request, commands, self._now())


def check_flow(domain: Domain, name: str) -> None:
    """Is there such a flow? A program that asks for another has it misspelt."""
    if name not in domain.flows:
        raise DuologueError(f"no flow {name!r}; there are {', '.join(domain.flows)}")


def _doing(state: DialogueState) -> str:
    phase = state.phase.value
    return f"{phase}, in flow {state.top.flow!r}" if state.top is not None else phase


def _note_failure(preparing: asyncio.Future[None]) -> None:
    """It will fail again when a message comes, and is told then."""
    if not preparing.cancelled() and (failure := preparing.exception()) is not None:
        _log.debug("an NLU could not prepare: %s", failure)
