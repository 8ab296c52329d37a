"""Runs a dialogue: takes messages, calls NLU, validators and actions, and yields the responses.

Holds the state of one conversation and performs the effects that each step of the dialogue returns. Rule: work that has
started is finished even if its responses are no longer awaited. These responses come first in the next reply.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any, Protocol, TypeAlias

from duologue.core.errors import DuologueError
from duologue.dialogue.codec import from_json, to_json
from duologue.dialogue.commands import AnswerQuestion, ChitChat
from duologue.dialogue.effects import DialogueEffect, HandOver, Respond, RunAction, Save, Understand, Validate
from duologue.dialogue.events import DialogueEvent, FlowRequested, NothingSaid, Understood, UserMessage, WorkFailed
from duologue.dialogue.flow import Domain
from duologue.dialogue.found_choices import with_found_choices
from duologue.dialogue.language.readings import Json
from duologue.dialogue.machine import guarded_step, row_for
from duologue.dialogue.requests import request_of, understanding
from duologue.dialogue.state import DialogueState
from duologue.fairness.fair_queue import QueueFull
from duologue.fairness.fair_threads import PREPARATION
from duologue.nlu.cached import CachedNlu
from duologue.nlu.understanding import Nlu
from duologue.ports.answering import go_on_answering
from duologue.ports.context import Context
from duologue.ports.failure_report import report_failure

from .faq_search import faq_scope, search_faq, with_faq, with_leading_yes
from .intents import scope_of, surroundings_of
from .nlu_commands import commands_of
from .opening_messages import offered_task, understand_clauses
from .registry import Once, Registry

Said: TypeAlias = Respond | HandOver
_log = logging.getLogger("duologue")
ROUNDS_MAX = 200  # requests per message; a higher number means that the flows are in a loop
CHECKPOINTS_MAX = 2_000  # checkpoints held in memory; the oldest are dropped, because a process may run for a year


class CheckpointStore(Protocol):
    """Stores the checkpoints of dialogues (the interface)."""

    async def load(self, conversation: str) -> dict[str, Any] | None: ...

    async def save(self, conversation: str, checkpoint: dict[str, Any], reasons: tuple[str, ...]) -> None: ...


class RecentCheckpoints:
    """Stores checkpoints in memory, but only those of the most recent dialogues."""

    def __init__(self) -> None:
        self.saved: dict[str, dict[str, Any]] = {}

    async def load(self, conversation: str) -> dict[str, Any] | None:
        return self.saved.get(conversation)

    async def save(self, conversation: str, checkpoint: dict[str, Any], reasons: tuple[str, ...]) -> None:  # noqa: ARG002
        self.saved.pop(conversation, None)
        self.saved[conversation] = checkpoint
        if len(self.saved) > CHECKPOINTS_MAX:
            del self.saved[next(iter(self.saved))]


class DialogueSession:
    """One dialogue between a user and the flows of a domain (a compiled flow file)."""

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
        self.context: Context[Any] | None = None  # of the call, for actions and validators
        self.is_unclear = False  # the newest message was not understood, or is about no task
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
        self._unsaved_reasons: tuple[str, ...] = ()  # reasons of a save that failed and has to be repeated
        self._preparing: asyncio.Future[None] | None = None

    async def restore(self) -> bool:
        """Continue from the last checkpoint. Returns False if there is no checkpoint. An action that was running at the
        checkpoint is requested again, with the same key."""
        saved = await self._store.load(self._conversation) if self._store is not None else None
        if saved is None:
            return False
        self.state = from_json(self.domain, saved)
        effect = request_of(self.domain, self.state)
        if effect is not None:
            self._begin(lambda: self._perform_all((effect,)))
        return True

    # -- Input

    def hear(self, text: str, confidence: float = 1.0) -> AsyncIterator[Said]:
        """Process a user message and yield the responses. `confidence` says how sure speech recognition is of the
        words."""
        return self.process(self.message(text, confidence))

    def message(self, text: str, confidence: float = 1.0) -> UserMessage:
        """Make an event from this text, with the current time, for `preview` and `process`."""
        return UserMessage(text, self._now(), self._today(), confidence)

    def process(self, message: UserMessage) -> AsyncIterator[Said]:
        """Process a message and yield the responses."""
        self.is_unclear = False
        return self._responses_to(message)

    async def preview(self, message: UserMessage) -> tuple[tuple[Respond, ...], DialogueState]:
        """Find out what this message would lead to, without changing anything. Returns the responses and the state
        after them. Returns no responses and the current state if this can't be found out, because work is running or
        because a function would have to run first."""
        self.is_unclear = False
        said: list[Respond] = []
        state, effects = guarded_step(self.domain, self.state, message)
        while not self.has_more and not any(isinstance(one, HandOver | RunAction | Validate) for one in effects):
            said += [one for one in effects if isinstance(one, Respond)]
            wanted = next((one for one in effects if isinstance(one, Understand)), None)
            if wanted is None:
                return tuple(said), state
            state, effects = guarded_step(self.domain, state, await self._understand(wanted, state))
        return (), self.state

    async def take_back(self, before: DialogueState) -> None:
        """Go back to the state `before`, as if the newest message had never reached this dialogue. Used for messages
        that the dialogue didn't understand."""
        self.state = before
        self.is_unclear = False
        self._unsaid.clear()
        if self._store is not None:
            await self._store.save(self._conversation, to_json(self.domain, self.state), ("taken back",))

    def wait(self) -> AsyncIterator[Said]:
        """Process a silence (the user didn't answer in time), and yield the responses."""
        return self._responses_to(NothingSaid(self._now()))

    def start(self, flow: str, **slots: Json) -> AsyncIterator[Said]:
        """Start a flow with values that your program already has. The values are validated like values from the user.
        Raises DuologueError if there is no such flow, if another flow is open, or if NLU or a function is running."""
        check_flow(self.domain, flow)
        event = FlowRequested(flow, self._now(), tuple(slots.items()))
        if row_for(self.state, event) is None:
            raise DuologueError(
                f"flow {flow!r} can't be started now: the dialogue is {_doing(self.state)}; wait until it is idle"
            )
        return self._responses_to(event)

    @property
    def has_more(self) -> bool:
        """Is there more to come? True if work is running, if a response is still to be said, or if failed work has to
        be done again."""
        is_working = self._work is not None and not self._work.done()
        return bool(self._unsaid) or is_working or self._has_failed_work

    @property
    def _has_failed_work(self) -> bool:
        """Did the last work fail before its request was completed? This happens, for example, if the state couldn't be
        saved before an action."""
        work = self._work
        if work is None or not work.done() or work.cancelled() or work.exception() is None:
            return False
        return request_of(self.domain, self.state) is not None

    async def _responses_to(self, event: DialogueEvent) -> AsyncIterator[Said]:
        """Process an event and yield each response as soon as it is known. The iterator may be closed at any time."""
        if self._work is not None and not self._work.done():
            self._note(event)
        else:
            self.state, effects = guarded_step(self.domain, self.state, event)  # at once: the next event comes after it
            self._begin(lambda: self._perform_all(effects))
        async for said in self.remaining():
            yield said

    async def remaining(self) -> AsyncIterator[Said]:
        """Yield the responses that weren't said yet and, if work is running, its responses until it ends. Failed work
        is done again first; if it fails again, its exception is raised."""
        if self._has_failed_work:
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
        """Let NLU prepare, in a thread, for what the user may say next. This is done while the user still listens or
        thinks, so that the next message doesn't have to wait."""
        scope = scope_of(self.domain, understanding(self.domain, self.state), self.state.top is not None)
        if self._preparing is None or self._preparing.done():
            loop = asyncio.get_running_loop()
            scopes = (scope, faq_scope(self.domain.faq)) if self.domain.faq else (scope,)
            with suppress(QueueFull):  # the next message is understood without it, a little later
                self._preparing = loop.run_in_executor(PREPARATION, partial(self._nlu.prepare, *scopes))
                self._preparing.add_done_callback(_note_failure)

    def abandon(self) -> None:
        """Stop this dialogue, because another process continues it. A running function may finish, but its result is
        ignored."""
        self._is_abandoned = True

    async def settled(self) -> None:
        """Wait until no work is running."""
        if self._work is not None:
            await asyncio.shield(self._work)

    # -- Processing events

    def _begin(self, work: Callable[[], Awaitable[None]]) -> None:
        async def run() -> None:
            go_on_answering()
            await work()

        self._work = asyncio.ensure_future(run())
        self._work.add_done_callback(lambda _: self._changed.set())

    def _note(self, event: DialogueEvent) -> None:
        """Process an event while work is running. It starts no other work: the dialogue only puts a message into its
        queue, or refuses it."""
        self.state, effects = guarded_step(self.domain, self.state, event)
        assert not any(isinstance(effect, Understand | Validate | RunAction) for effect in effects), effects
        self._say(effects)

    async def _perform_all(self, effects: tuple[DialogueEffect, ...]) -> None:
        for _ in range(ROUNDS_MAX):
            await self._save(effects)
            self._say(effects)
            wanted = next((one for one in effects if isinstance(one, Understand | Validate | RunAction)), None)
            wanted = wanted or request_of(self.domain, self.state)  # an earlier request that isn't running any more
            if wanted is None:
                self.prepare()
                return
            if self._is_abandoned:
                return
            event = await self._perform(wanted)  # the state may change meanwhile: the user may say something
            if self._is_abandoned:
                return
            self.state, effects = guarded_step(self.domain, self.state, event)
        raise RuntimeError(f"endless loop in the flows: one message led to {ROUNDS_MAX} requests to NLU or functions")

    async def _save(self, effects: tuple[DialogueEffect, ...]) -> None:
        """Save the state, together with the reasons for saving it. If the save fails, the next save includes these
        reasons."""
        self._unsaved_reasons += tuple(
            reason for effect in effects if isinstance(effect, Save) for reason in effect.reasons
        )
        if self._store is not None and self._unsaved_reasons:
            reasons = tuple(dict.fromkeys(self._unsaved_reasons))
            await self._store.save(self._conversation, to_json(self.domain, self.state), reasons)
        self._unsaved_reasons = ()

    def _say(self, effects: tuple[DialogueEffect, ...]) -> None:
        said = [effect for effect in effects if isinstance(effect, Respond | HandOver)]
        self._unsaid.extend(said)
        if said:
            self._changed.set()

    async def _perform(self, effect: Understand | Validate | RunAction) -> DialogueEvent:
        match effect:
            case Understand():
                return await self._understand(effect, self.state)
            case Validate():
                return await self._registry.validate(effect, self._now, self.context)
            case RunAction():
                key = f"{self._conversation}:{effect.key}" if self._conversation else effect.key
                return await self._registry.act(replace(effect, key=key), self._now, self._once, self.context)

    async def _understand(self, effect: Understand, state: DialogueState) -> Understood | WorkFailed:
        is_asking = state.top is not None
        try:
            around = surroundings_of(state, self._today())
            domain = with_found_choices(self.domain, state)
            if effect.only_faq:
                entry = await search_faq(self._nlu, domain, effect.text)
                answer = (AnswerQuestion(entry),) if entry is not None else ()
                return Understood(effect.request, answer, self._now())
            scope = scope_of(domain, effect, is_asking, around)
            found = await self._nlu.understand(effect.text, scope)
            if found.error is not None:
                return WorkFailed(effect.request, found.error.value, "understanding failed", self._now())
            commands = commands_of(domain, state, effect, found, self._today())
            commands = await with_faq(self._nlu, domain, effect.text, commands, found.confidence)
            commands = with_leading_yes(domain, effect, state, commands, self._today())
            if not commands and not is_asking and found.by != "llm":
                task = await understand_clauses(self._nlu, domain, effect.text, scope)
                commands = commands_of(domain, state, effect, task, self._today()) if task is not None else ()
                commands = commands or offered_task(domain, state, effect.text, found)
            self.is_unclear = all(isinstance(command, ChitChat) for command in commands)
        except Exception as failure:  # noqa: BLE001 - an NLU may raise anything
            report_failure("nlu", failure)
            return WorkFailed(effect.request, type(failure).__name__, "understanding failed", self._now())
        return Understood(effect.request, commands, self._now())


def check_flow(domain: Domain, name: str) -> None:
    """Raise DuologueError if the domain has no such flow."""
    if name not in domain.flows:
        raise DuologueError(f"unknown flow {name!r}; known: {', '.join(domain.flows)}")


def _doing(state: DialogueState) -> str:
    phase = state.phase.value
    return f"{phase}, in flow {state.top.flow!r}" if state.top is not None else phase


def _note_failure(preparing: asyncio.Future[None]) -> None:
    """Log that the NLU failed to prepare. This is enough, because the NLU will fail again with the next message, and
    that failure is reported."""
    if not preparing.cancelled() and (failure := preparing.exception()) is not None:
        _log.debug("the NLU failed to prepare: %s", failure)
