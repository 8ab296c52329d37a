"""One conversation with a client of the RTVI protocol: passes inputs to the translation and performs its acts.

The line transports the sound, and the carrier transports the messages, so this class is the same for all kinds of
connections. Rule: this class decides nothing about the protocol. It passes messages and facts to the translation, one
after another, and performs the acts that the translation returns.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Any

from duologue import __version__
from duologue.core.errors import DuologueError
from duologue.core.leaves import Outcome
from duologue.core.step_record import StepRecord
from duologue.observe import signals as sg
from duologue.ports.client_channel import ProgramMessage
from duologue.ports.context import Context, NotPossible
from duologue.ports.history import AgentSaid, Item, UserSaid
from duologue.ports.line import Line
from duologue.ports.worker import Tool
from duologue.runtime.agent import Agent
from duologue.runtime.conversation import Conversation
from duologue.workers.client_tools import ClientTool

from ..caller_budget import Refused
from ..close_codes import CloseCode
from ..conversations import Conversations
from ..latency import LatencyStages
from ..limited_caller import unanswered_of
from ..protocols.closes import REFUSED
from ..protocols.translated_call import TranslatedCall, begin_counted
from ..realtime import facts as fa
from ..realtime.client_function import ClientCalls
from ..realtime.conversation_facts import facts_of
from ..settings import ServerSettings
from . import acts as do
from . import facts as fc
from .carrier import RtviCarrier
from .exchange import RtviState
from .incoming import LABEL, JsonObject
from .sound_facts import sound_facts_of
from .translation import RtviInput, step

LOG = logging.getLogger("duologue.rtvi")
LOG.addHandler(logging.NullHandler())
ADDED_MAX = 100  # texts that a client adds to the history


@dataclass(frozen=True, slots=True)
class AddedItem:
    """An entry that a client has added to the history. `place` says how many of the conversation's own entries come
    before it."""

    place: int
    item: Item


class RtviCall(TranslatedCall[RtviInput]):
    """One conversation with an RTVI client. The agent's program also uses this object to send messages to the
    client."""

    def __init__(
        self,
        agent: Agent,
        context: Context[Any],
        conversations: Conversations,
        settings: ServerSettings,
        line: Line,
        carrier: RtviCarrier,
        address: str = "",
    ) -> None:
        super().__init__(context, settings.limits, conversations.note_refused, address)
        self._agent = agent
        self._conversations = conversations
        self._settings = settings
        self._line = line
        self._carrier = carrier
        self._calls = ClientCalls(self.post)
        self._stages = LatencyStages()
        self._measured: object = self._stages.newest
        self._added: list[AddedItem] = []
        about = {"library": "duologue", "library_version": __version__, "name": agent.name}
        self.state = RtviState(tuple(about.items()))
        context.attach_client(self)

    # -- Beginning and end

    async def begin(self) -> None:
        """Start the conversation. If that isn't allowed or fails, the client is told, and disconnected."""
        here = self._conversations
        begin = partial(self._open, self._agent, self._line, self._settings.journals, here.watch)
        if await begin_counted(self, here, begin, self.disconnect, self._carrier.disconnect):
            self.post(fc.TalkBegan())

    def _listen(self, made: Conversation) -> None:
        engine = made.engine
        history = engine.requests.history
        engine.requests.history = lambda: self._with_added(history())
        engine.replies.on_shown = self.note_words
        engine.watchers.append(self._follow)
        made.on(sg.Used, self._note_used)
        made.on(sg.Caption, self._note_caption)
        made.on(sg.WorkStarted, self._note_work)
        made.on(sg.WorkEnded, self._note_work_end)

    async def end(self, reason: str) -> None:
        """End the conversation, because the client has disconnected or the server is stopping."""
        self._conversations.starts.uncount(self)
        await super().end(reason)

    def disconnect(self, code: CloseCode) -> None:
        """Disconnect the client, with an error that says why."""
        LOG.warning("a client is disconnected: %s (%d)", code.name, code.code)
        self._send(do.SendToClient("error", {"error": code.reason, "message": code.reason, "fatal": True}, "closing"))
        self._carrier.disconnect(code)

    # -- What the agent's program does

    def send(self, data: object) -> None:
        self.post(fc.ProgramSent(data))

    async def run(self, tool: Tool, arguments: dict[str, Any], call: int) -> str:
        return await self._calls.run(tool, arguments, call)

    # -- Inputs

    def take_sound(self, ms: int) -> bool:
        """Count this much sound from the client. Returns whether the limits allow the agent to hear it."""
        return self.has_begun and not self.is_over and self._caller.hear(ms, self._tell_left_out)

    def _tell_left_out(self, refused: Refused) -> None:
        self.post(fc.InputRefused(refused.message))

    def _step(self, given: RtviInput) -> tuple[do.RtviAct, ...]:
        self.state, acts = step(self.state, given)
        return acts

    def _follow(self, record: StepRecord) -> None:
        signals, self._signals[:] = tuple(self._signals), []
        shared: Iterator[Any] = facts_of(record, signals, self._heard_of)
        for fact in shared:
            self.post(fact)
        self.note_words()
        for sound in sound_facts_of(record):
            self.post(sound)
        self._stages.follow(record)
        newest = self._stages.newest
        if newest is not self._measured and newest["audioToPlayed"] is not None:
            self._measured = newest
            self.post(fc.AnswerMeasured(newest["textToToken"], newest["tokenToAudio"]))

    def note_words(self) -> None:
        """Report the words of the current reply so far. If the reply is complete, report that, too."""
        speech = self.conversation.engine.replies.current if self.conversation is not None else None
        if speech is not None:
            self.post(fa.ReplyWorded(speech.reply, speech.ledger.text, speech.ledger.shown))
            if speech.complete:
                self.post(fa.ReplyComplete(speech.reply))

    def _note_caption(self, caption: sg.Caption) -> None:
        if caption.role == "user":
            if not caption.final:
                self.post(fc.PartialHeard(caption.turn, caption.text))
            return
        self.note_words()
        self.post(fc.PlayedSoFar(caption.reply, common_length(self.state.spoken, caption.text)))

    def _note_used(self, used: sg.Used) -> None:
        if used.part == "llm":
            self.post(fa.TokensUsed(used.input_tokens, used.cached_tokens, used.output_tokens))
        elif used.part == "tts" and used.characters:
            self.post(fc.CharactersUsed(used.characters))

    def _note_work(self, work: sg.WorkStarted) -> None:
        workers = self._talk.agent.workers
        if not any(isinstance(worker, ClientTool) and worker.tool.name == work.tool for worker in workers):
            self.post(fc.OwnCallBegan(work.call))

    def _note_work_end(self, work: sg.WorkEnded) -> None:
        self.post(fc.OwnCallEnded(work.call, work.outcome is Outcome.CANCELLED))

    def _with_added(self, history: tuple[Item, ...]) -> tuple[Item, ...]:
        merged = list(history)
        for count, added in enumerate(self._added):
            merged.insert(min(added.place, len(history)) + count, added.item)
        return tuple(merged)

    # -- Acts

    def _table(self) -> dict[type, Callable[[Any], object]]:
        return {
            do.SendToClient: self._send,
            do.BeginTalk: lambda _: self._start(self.begin()),
            do.EndTalk: lambda _: self.give_way("the client has ended it"),
            do.Disconnect: lambda act: self._carrier.disconnect(CloseCode(REFUSED, "refused", act.reason[:120])),
            do.DropHeldSound: lambda _: self._carrier.drop_sound(),
            do.TypeForUser: self._type,
            do.AddToHistory: self._add,
            do.SpeakReplies: lambda act: self._talk.engine.speak(act.is_on),
            do.AskProgram: lambda act: self._start(self._ask(act)),
            do.ReturnResult: lambda act: self._calls.give(act.call, act.result),
        }

    def _send(self, act: do.SendToClient) -> None:
        message: JsonObject = {"label": LABEL, "type": act.type, "id": act.id}
        if act.is_stamped:
            message["data"] = {**act.data, "timestamp": datetime.now(UTC).isoformat(timespec="milliseconds")}
        elif act.data is not None:
            message["data"] = act.data
        self._carrier.send_message(message)

    def _why_not_typed(self, text: str) -> str:
        most = self._settings.limits.text_chars_max
        if len(text) > most:
            return f"At most {most} characters can be sent at once."
        refused = self._caller.type(len(text), unanswered_of(self._talk))
        return refused.message if refused is not None else ""

    def _type(self, act: do.TypeForUser) -> None:
        why = self._why_not_typed(act.text)
        if not why:
            try:
                self._talk.type(act.text)
            except (DuologueError, ValueError) as problem:
                why = str(problem)
        if why:
            self.post(fc.InputRefused(why, act.id))

    def _add(self, act: do.AddToHistory) -> None:
        why = self._why_not_typed(act.text)
        if not why and len(self._added) >= ADDED_MAX:
            why = f"At most {ADDED_MAX} texts can be added to the conversation."
        if why:
            self.post(fc.InputRefused(why, act.id))
            return
        item = AgentSaid(0, act.text) if act.is_agents else UserSaid(0, act.text)
        self._added.append(AddedItem(len(self._talk.history), item))

    async def _ask(self, act: do.AskProgram) -> None:
        try:
            value = await self._talk.hooks.answer(ProgramMessage(act.kind, act.data))
        except NotPossible as why:
            self.post(fc.ProgramAnswered(act.id, act.kind, why=str(why)))
        else:
            self.post(fc.ProgramAnswered(act.id, act.kind, value))


def common_length(text: str, other: str) -> int:
    """The number of characters at the beginning that are the same in both texts."""
    pairs = zip(text, other, strict=False)
    return next((at for at, (one, two) in enumerate(pairs) if one != two), min(len(text), len(other)))
