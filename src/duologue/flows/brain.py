"""Flows as a brain: the same file that is typed to can be spoken to.

Keeps one dialogue for each conversation and gives it every turn once, however often the runtime asks. Rule: a
step that was committed stays committed, whatever the audio does; what an interrupted reply had left to say
comes first in the next.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import AsyncIterator, Callable
from functools import partial
from typing import Any

from duologue.core.leaves import Ask
from duologue.dialogue.effects import HandOver
from duologue.dialogue.flow import Domain
from duologue.dialogue.requests import understanding
from duologue.dialogue.state import DialogueState, Phase
from duologue.nlu.understanding import Nlu
from duologue.ports.brain import Firm, Form, Memory, Part, Request, Working
from duologue.ports.history import UserSaid
from duologue.ports.streams import with_heartbeats

from .caller_clock import now_ms, today_in
from .dialogue_session import CheckpointStore, DialogueSession, RecentCheckpoints, Said, check_flow
from .form import form_of
from .intents import scope_of
from .registry import Registry

WORKING_S = 0.25  # between signs of life while a function runs
TALKS_MAX = 1_000  # conversations whose dialogue is kept in memory; others come back from the store


class FlowBrain:
    """Answers by flows. `opening` is said first, if the conversation greets; `flow` is started by itself. `today` tells
    the day and the time of whoever calls; unless it is given, those of the file's time zone."""

    def __init__(
        self,
        domain: Domain,
        registry: Registry,
        nlu: Nlu,
        *,
        opening: str = "",
        flow: str = "",
        store: CheckpointStore | None = None,
        today: Callable[[], str] | None = None,
        now: Callable[[], int] = now_ms,
        on_handover: Callable[[str], object] | None = None,
    ) -> None:
        registry.check(domain)
        if flow:
            check_flow(domain, flow)
        self._domain = domain
        self._registry = registry
        self._nlu = nlu
        self._opening = opening
        self._flow = flow
        self._store = store or RecentCheckpoints()
        self._today = today or today_in(domain.time_zone)
        self._now = now
        self._on_handover = on_handover
        self._memory: Memory | None = None
        self._talks: OrderedDict[str, _Heard] = OrderedDict()

    def remember(self, memory: Memory) -> None:
        """Keep dialogues there, and do there once what may be done once."""
        self._store = self._memory = memory

    async def has_more(self, conversation: str) -> bool:
        """Is a function running for it, or something unsaid? What this process may know from an earlier time is old:
        the memory knows better."""
        self.forget(conversation)
        return (await self._heard(conversation)).talk.has_more

    def forget(self, conversation: str) -> None:
        heard = self._talks.pop(conversation, None)
        if heard is not None:
            heard.talk.abandon()

    def load(self) -> None:
        """Load what understanding needs now rather than with the first message."""
        prepare = getattr(self._nlu, "prepare", None)
        if prepare is not None:
            prepare(scope_of(self._domain, understanding(self._domain, DialogueState()), False))

    def talk_of(self, conversation: str) -> DialogueSession | None:
        """The dialogue of a conversation, for whoever wants to look."""
        heard = self._talks.get(conversation)
        return heard.talk if heard is not None else None

    def form(self, conversation: str) -> Form | None:
        """What is filled in so far; None while no flow is open."""
        talk = self.talk_of(conversation)
        return form_of(self._domain, talk.state) if talk is not None else None

    async def reply(self, request: Request) -> AsyncIterator[Part]:
        heard = await self._heard(request.conversation)
        text = heard.fresh(request)
        heard.take(request)  # with the step that hears it, so that a restart doesn't hear it again
        said = False
        async for item in with_heartbeats(self._respond(heard.talk, request, text), WORKING_S):
            if item is None:
                yield Working(round(WORKING_S * 1000))
                continue
            if isinstance(item, HandOver):
                if self._on_handover is not None:
                    self._on_handover(request.conversation)
                continue
            said = True
            yield f"{item.text} " if item.barge_in else Firm(f"{item.text} ")
        if not said and (last := heard.talk.state.last_response or self._opening):
            yield last  # asked again for what was answered: the answer was not heard

    def _respond(self, talk: DialogueSession, request: Request, text: str) -> AsyncIterator[Said]:
        if text:
            return talk.hear(text)
        if talk.has_more:
            return talk.rest()
        if request.ask is Ask.CHECK_IN:
            return talk.wait()
        if self._flow and talk.state.turn_count == 0 and talk.state.phase is Phase.IDLE:
            return talk.start(self._flow)
        return _nothing()

    async def _heard(self, conversation: str) -> _Heard:
        if conversation not in self._talks:
            notes = _Notes(self._store)
            talk = DialogueSession(
                self._domain,
                self._registry,
                self._nlu,
                today=self._today,
                now=self._now,
                store=notes,
                conversation=conversation,
                once=partial(self._memory.once, conversation) if self._memory is not None else None,
            )
            await talk.restore()
            talk.prepare()
            self._talks[conversation] = _Heard(talk, notes)
            while len(self._talks) > TALKS_MAX:
                self._talks.popitem(last=False)
        self._talks.move_to_end(conversation)
        return self._talks[conversation]


class _Notes:
    """Checkpoints of one dialogue, each with the turns that it has been given."""

    def __init__(self, store: CheckpointStore) -> None:
        self._store = store
        self.given: dict[int, str] = {}

    async def load(self, conversation: str) -> dict[str, Any] | None:
        kept = await self._store.load(conversation)
        if kept is None or "dialogue" not in kept:
            return kept
        self.given = {int(turn): text for turn, text in kept["given"].items()}
        found: dict[str, Any] = kept["dialogue"]
        return found

    async def save(self, conversation: str, checkpoint: dict[str, Any], reasons: tuple[str, ...]) -> None:
        given = {str(turn): text for turn, text in self.given.items()}
        await self._store.save(conversation, {"dialogue": checkpoint, "given": given}, reasons)


class _Heard:
    """A dialogue, and which words of which turns it has been given."""

    def __init__(self, talk: DialogueSession, notes: _Notes) -> None:
        self.talk = talk
        self._notes = notes

    def fresh(self, request: Request) -> str:
        """What was said since. A turn that went on after it was given brings only the rest."""
        parts = [self._rest(turn.turn, turn.text) for turn in _turns(request)]
        return " ".join(part for part in parts if part)

    def take(self, request: Request) -> None:
        self._notes.given |= {turn.turn: turn.text for turn in _turns(request)}

    def _rest(self, turn: int, text: str) -> str:
        """Words that were given stay given, even if they are written differently by now."""
        given = self._notes.given.get(turn, "")
        return " ".join(text.split()[len(given.split()) :]) if given else text


def _turns(request: Request) -> list[UserSaid]:
    return [item for item in request.history if isinstance(item, UserSaid) and not item.overheard]


async def _nothing() -> AsyncIterator[Said]:
    return
    yield
