"""A brain (the part of an agent that produces its replies) whose replies come from flows, in text and by voice.

The brain holds one dialogue per conversation and passes each user turn to that dialogue exactly once, even if the
runtime requests several replies to that turn. Rule: a step of the dialogue is never undone because its audio was
interrupted. Responses that weren't said yet come first in the next reply.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Sequence
from copy import copy
from dataclasses import replace
from functools import partial
from inspect import signature
from typing import Any, TypeAlias

from duologue.core.leaves import Ask
from duologue.dialogue.completeness import completeness, is_bare_value
from duologue.dialogue.effects import HandOver, Respond
from duologue.dialogue.events import UserMessage
from duologue.dialogue.flow import Domain
from duologue.dialogue.language.readings import ConfirmationAnswer
from duologue.dialogue.requests import understanding
from duologue.dialogue.state import DialogueState, Phase
from duologue.nlu.understanding import Nlu
from duologue.ports.brain import Brain, Firm, Form, LastWords, Memory, OpenQuestion, Part, Request, Working
from duologue.ports.history import AgentSaid, Item, UserSaid
from duologue.ports.spoken_words import count_words, new_words
from duologue.ports.streams import with_heartbeats
from duologue.ports.tool_call import ToolCall
from duologue.turns.completeness import Completeness

from .caller_clock import now_ms, today_in
from .dialogue_session import CheckpointStore, DialogueSession, RecentCheckpoints, Said, check_flow
from .form import form_of
from .intents import scope_of
from .registry import Registry
from .rephrase import rephrased

WORKING_S = 0.25  # interval of progress signals while a function runs
TALKS_MAX = 1_000  # dialogues held in memory; the others are loaded from the store when they continue


class FlowBrain:
    """A brain whose replies come from flows. If a reply is requested before the user has said anything, the brain
    starts `flow`; without a `flow`, it says `opening`. `beside` is another brain, such as an LLM, with two tasks. It
    answers what the flows don't understand; after its answer, the open question is asked again. And it rephrases texts
    where the file says `rephrase: true`. `today` returns the caller's date and time; the default is the current time in
    the file's time zone."""

    can_guess = True  # asked early, it answers from a copy of its state, and its functions wait

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
        on_handover: Callable[[str], object] | Callable[[str, str], object] | None = None,
        beside: Brain | None = None,
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
        self._on_handover: Callable[..., object] | None = on_handover
        self._tells_reason = on_handover is not None and len(signature(on_handover).parameters) > 1
        self._beside = beside
        self._memory: Memory | None = None
        self._talks: OrderedDict[str, _DialogueTurns] = OrderedDict()

    def with_beside(self, beside: Brain) -> FlowBrain:
        """A copy of this brain with another brain beside its flows, such as a scripted one, and with no dialogue in
        memory."""
        copied = copy(self)
        copied._beside, copied._talks = beside, OrderedDict()
        return copied

    def remember(self, memory: Memory) -> None:
        """Store dialogues in `memory` from now on, and run actions through it, so that each action runs only once."""
        self._store = self._memory = memory

    async def has_more(self, conversation: str) -> bool:
        """Is a function running for this conversation, or is a response still to be said? Loads the dialogue again
        first, because another process may have continued it."""
        self.forget(conversation)
        return (await self._turns_of(conversation)).talk.has_more

    def forget(self, conversation: str) -> None:
        turns = self._talks.pop(conversation, None)
        if turns is not None:
            turns.talk.abandon()

    def load(self) -> None:
        """Prepare NLU now, so that the first message doesn't have to wait for it."""
        prepare = getattr(self._nlu, "prepare", None)
        if prepare is not None:
            prepare(scope_of(self._domain, understanding(self._domain, DialogueState()), False))

    def talk_of(self, conversation: str) -> DialogueSession | None:
        """The dialogue of a conversation; None if it isn't in memory."""
        turns = self._talks.get(conversation)
        return turns.talk if turns is not None else None

    def form(self, conversation: str) -> Form | None:
        """The form of the open flow: its slots and their values. If no flow is open, the form of the flow that was
        completed last, with its results. None if neither of these flows exists, or if the dialogue isn't in memory."""
        talk = self.talk_of(conversation)
        return form_of(self._domain, talk.state) if talk is not None else None

    @property
    def language(self) -> str:
        """The language of the flows."""
        return self._domain.language

    def completeness(self, conversation: str, said: tuple[UserSaid, ...]) -> Completeness:
        """How complete the user's words are as a reply to the agent. Only the grammars of the flows judge this; NLU
        isn't asked."""
        turns = self._talks.get(conversation)
        if turns is not None and turns.talk.has_more:
            return Completeness.UNKNOWN
        given, state = (turns.given, turns.talk.state) if turns is not None else ({}, DialogueState())
        text, confidence = _unprocessed(said, given)
        if not confidence >= self._domain.confidence_min:
            return Completeness.UNKNOWN
        return Completeness(completeness(self._domain, state, text, self._today()))

    @property
    def suggestions(self) -> tuple[str, ...]:
        """What a user could say: the first example of each task."""
        return tuple(flow.examples[0] for flow in self._domain.offered if flow.examples)

    async def reply(self, request: Request) -> AsyncIterator[Part]:
        turns = await self._turns_of(request.conversation)
        if request.heard_turn:
            async for part in self._catch_up(turns, request):
                yield part
        text, confidence = turns.new_text(request)
        turns.note_asking()
        turns.talk.context = request.context
        if self._beside is not None and request.outputs and not text:  # outputs of tools that `beside` called
            async for part in self._aside(self._beside, turns.talk, request):
                yield part
            return
        before = turns.talk.state
        message = turns.talk.message(text, confidence)
        early: list[Respond] = []
        if request.confirmed is not None:
            if not self._is_too_early(turns, request, text):
                responses, state = await turns.talk.preview(message)
                is_aside = self._beside is not None and turns.talk.is_unclear
                for response in () if is_aside else responses:
                    early.append(response)
                    yield self._part(response, state)
            await request.confirmed()
        turns.mark_processed(request)  # saved together with the step, so a restart doesn't process the turn again
        said = bool(early)
        async for item in with_heartbeats(self._respond(turns, request, message), WORKING_S):
            if item is None:
                yield Working(round(WORKING_S * 1000))
                continue
            if self._beside is not None and turns.talk.is_unclear and text:
                await turns.talk.take_back(before)
                async for part in self._aside(self._beside, turns.talk, request):
                    yield part
                return
            if isinstance(item, HandOver):
                if self._on_handover is not None:
                    self._on_handover(*(request.conversation, item.reason)[: 1 + self._tells_reason])
                continue
            said = True
            if early and item == early[0]:  # said already, before it was certain
                early.pop(0)
                continue
            if self._beside is not None:
                item = await rephrased(self._beside, item, request)
            yield self._part(item, turns.talk.state)
        if not said and (last := turns.talk.state.last_response or self._opening):
            # The user didn't hear the answer, or answered too early.
            yield self._again(_unheard(last, turns.talk.state.last_question, request), turns.talk.state)

    async def _catch_up(self, turns: _DialogueTurns, request: Request) -> AsyncIterator[Part]:
        """Process the user turns up to `heard_turn` by themselves, unless this dialogue has already processed them. The
        user heard the answers to these turns from an earlier process. Without this step, words that the user said later
        would be treated as a part of these turns."""
        known = tuple(one for one in request.history if not isinstance(one, UserSaid) or one.turn <= request.heard_turn)
        earlier = replace(request, history=known, premature=False, heard_turn=0)
        if turns.new_text(earlier)[0]:
            async for part in self.reply(earlier):
                yield part

    async def _aside(self, brain: Brain, talk: DialogueSession, request: Request) -> AsyncIterator[Part]:
        """Yield the answer of the brain `beside`. If that brain called no tool, then also yield the dialogue's open
        question again. After a tool call, the open question follows the answer to the tool's output instead."""
        has_called = False
        async for part in brain.reply(request):
            has_called = has_called or isinstance(part, ToolCall)
            yield part
        if not has_called and talk.state.top is not None and talk.state.last_question:
            yield OpenQuestion(f" {talk.state.last_question}")

    def _part(self, item: Respond, state: DialogueState) -> Part:
        text = f"{item.text} "
        if item.ends:
            return LastWords(text)
        if item.asks:
            return OpenQuestion(text, self._values_to_confirm(state), firm=not item.barge_in)
        return text if item.barge_in else Firm(text)

    def _again(self, text: str, state: DialogueState) -> Part:
        """The last response again, as a part of a reply. It is an OpenQuestion if a question is open."""
        is_open = state.top is not None and bool(state.last_question)
        return OpenQuestion(text, self._values_to_confirm(state)) if is_open else text

    def _values_to_confirm(self, state: DialogueState) -> tuple[str, ...]:
        """The values that the open confirmation asks about. The user must have heard them before answering."""
        form = form_of(self._domain, state) if state.phase is Phase.CONFIRMING else None
        return tuple(slot.value for slot in form.slots if slot.value) if form is not None else ()

    def _respond(self, turns: _DialogueTurns, request: Request, message: UserMessage) -> AsyncIterator[Said]:
        talk = turns.talk
        if self._is_too_early(turns, request, message.text):
            return talk.remaining() if talk.has_more else _nothing()  # the question is said, or said again
        if message.text:
            return talk.process(message)
        if talk.has_more:
            return talk.remaining()
        if request.ask is Ask.CHECK_IN:
            return talk.wait()
        if self._flow and talk.state.turn_count == 0 and talk.state.phase is Phase.IDLE:
            return talk.start(self._flow)
        return _nothing()

    def _is_too_early(self, turns: _DialogueTurns, request: Request, text: str) -> bool:
        """Does the user answer a question that the agent had not yet asked when the user spoke? This is so for a yes to
        a confirmation, and for a value that was spoken before the question for it was heard."""
        state = turns.talk.state
        if state.phase is Phase.WAITING_FOR_SLOT:
            return self._is_value_too_early(turns, request, text)
        if state.phase is not Phase.CONFIRMING or not (request.premature or turns.talk.has_more):
            return False
        plain_answer = self._domain.pack.replies.plain_answer
        return plain_answer(state.last_question, text, self._today(), ()) is ConfirmationAnswer.YES

    def _is_value_too_early(self, turns: _DialogueTurns, request: Request, text: str) -> bool:
        """Is this a spoken value for a question that the user has not heard yet? Example: the agent is about to ask
        "Where do you want to fly from?", and "Boston" comes late from the user's "I want to fly to Boston". False if
        the user types the value, says which slot it is for, or says it a second time."""
        state = turns.talk.state
        if not request.premature or request.typed or not state.last_question:
            return False
        since = turns.since_asking(request)
        was_heard = any(isinstance(one, AgentSaid) and state.last_question in one.text for one in since)
        said = [one.text.casefold() for one in since if isinstance(one, UserSaid)]
        is_again = text.casefold() in said[:-1]
        return not was_heard and not is_again and is_bare_value(self._domain, state, text, self._today())

    async def _turns_of(self, conversation: str) -> _DialogueTurns:
        if conversation not in self._talks:
            checkpoints = _TurnCheckpoints(self._store)
            talk = DialogueSession(
                self._domain,
                self._registry,
                self._nlu,
                today=self._today,
                now=self._now,
                store=checkpoints,
                conversation=conversation,
                once=partial(self._memory.once, conversation) if self._memory is not None else None,
            )
            await talk.restore()
            talk.prepare()
            self._talks[conversation] = _DialogueTurns(talk, checkpoints)
            while len(self._talks) > TALKS_MAX:
                self._talks.popitem(last=False)
        self._talks.move_to_end(conversation)
        return self._talks[conversation]


# The number of the flow and the slot that are asked about, and the last user turn before that.
_Asking: TypeAlias = tuple[int, str, int]


class _TurnCheckpoints:
    """Saves and loads the checkpoints of one dialogue. Each checkpoint also holds how many words of each user turn were
    processed, and which question was open since which turn."""

    def __init__(self, store: CheckpointStore) -> None:
        self._store = store
        self.given: dict[int, int] = {}  # by turn: how many of its words the dialogue has processed
        self.asking: _Asking = (0, "", 0)

    async def load(self, conversation: str) -> dict[str, Any] | None:
        saved = await self._store.load(conversation)
        if saved is None or "dialogue" not in saved:
            return saved
        self.given = {int(turn): _known(given) for turn, given in saved["given"].items()}
        flow, slot, turn = saved.get("asking", self.asking)
        self.asking = (flow, slot, turn)
        found: dict[str, Any] = saved["dialogue"]
        return found

    async def save(self, conversation: str, checkpoint: dict[str, Any], reasons: tuple[str, ...]) -> None:
        given = {str(turn): known for turn, known in self.given.items()}
        await self._store.save(
            conversation, {"dialogue": checkpoint, "given": given, "asking": list(self.asking)}, reasons
        )


class _DialogueTurns:
    """A dialogue, and how many words of each user turn it has processed."""

    def __init__(self, talk: DialogueSession, checkpoints: _TurnCheckpoints) -> None:
        self.talk = talk
        self._checkpoints = checkpoints

    def new_text(self, request: Request) -> tuple[str, float]:
        """The user's words since the last request, and the lowest confidence of the turns with these words. If a turn
        went on after the last request, only its later words are returned."""
        return _unprocessed(_user_turns(request), self.given)

    @property
    def given(self) -> dict[int, int]:
        """For each turn, the number of its words that the dialogue has processed."""
        return self._checkpoints.given

    def note_asking(self) -> None:
        """If another question is open than before the last turn, note that it is open since that turn. Called before a
        turn is processed."""
        state = self.talk.state
        open_now = (state.top.id if state.top is not None else 0, state.waiting_for or "")
        if open_now != self._checkpoints.asking[:2]:
            self._checkpoints.asking = (*open_now, max(self.given, default=0))

    def since_asking(self, request: Request) -> list[Item]:
        """The part of the history since the open question was asked for the first time. The same question in an earlier
        task isn't in it."""
        turn = self._checkpoints.asking[2]
        items = list(request.history)
        before = [place for place, one in enumerate(items) if isinstance(one, UserSaid) and one.turn <= turn]
        return items[before[-1] + 1 :] if before else items

    def mark_processed(self, request: Request) -> None:
        self._checkpoints.given |= {turn.turn: count_words(turn.text) for turn in _user_turns(request)}


def _unprocessed(turns: Sequence[UserSaid], given: dict[int, int]) -> tuple[str, float]:
    """The words of these turns that the dialogue hasn't processed, and the lowest confidence of the turns with such
    words (1 if there is no such turn). `given` holds, for each turn, how many of its words were processed."""
    parts = [(new_words(turn.text, given.get(turn.turn, 0)), turn.confidence) for turn in turns]
    new = [(words, confidence) for words, confidence in parts if words]
    return " ".join(words for words, _ in new), min((confidence for _, confidence in new), default=1.0)


def _known(given: int | str) -> int:
    """How many words of a turn were processed, according to a checkpoint. A checkpoint from an earlier version contains
    the words themselves, which are then counted."""
    return count_words(given) if isinstance(given, str) else int(given)


def _user_turns(request: Request) -> list[UserSaid]:
    return [item for item in request.history if isinstance(item, UserSaid) and not item.overheard]


def _unheard(response: str, question: str, request: Request) -> str:
    """The part of the last response that has to be said again: only its question, if the person has heard everything
    before the question; otherwise the whole response."""
    before, found, _ = response.rpartition(question) if question else ("", "", "")
    heard = next((one.text for one in reversed(request.history) if isinstance(one, AgentSaid)), "")
    return question if found and before.strip() and before.strip() in heard else response


async def _nothing() -> AsyncIterator[Said]:
    return
    yield
