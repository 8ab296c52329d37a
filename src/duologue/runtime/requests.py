"""Makes the requests to the brain: the words, tool outputs and job news that no reply has handled yet.

The state machine asks for an answer to everything unanswered, and the brain needs to know what is new since its last
reply. A reply has handled its input when the reply was heard, was shown or has called a tool. Rule: handled input is
never passed as new again. After `tool_rounds_max` replies in a row that called tools, the next request offers no tools.
If the brain calls a tool in spite of that, the reply fails.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Any, NamedTuple

from duologue.core.effects import GuessReply, StartReply
from duologue.core.events import PlaybackFinished, ReplyFinished, ToolCalled
from duologue.core.leaves import Ask, ErrorClass
from duologue.core.step_record import StepRecord
from duologue.ports.brain import Part, Request
from duologue.ports.context import Context
from duologue.ports.failure import BrokenContract
from duologue.ports.history import CallOutput, Item, News, UserSaid
from duologue.ports.worker import Tool

from .request_text import request_text
from .transcript import Transcript
from .validation import reading, whole

_HANDLING = (ToolCalled, ReplyFinished, PlaybackFinished)  # after these, the input of a request is handled


class _Open(NamedTuple):
    """The newest request."""

    reply: int = 0  # the number of the reply that it asks for
    last: int = 0  # the newest turn in the request
    items: int = 0  # length of the transcript when the request was made


class WordFacts(NamedTuple):
    """What a request tells the brain about the person's new words, apart from the words themselves. The fields are
    explained in `Request`."""

    premature: bool = False
    typed: bool = False


NO_FACTS = WordFacts()


class Requests:
    """Makes the requests of one conversation to its brain."""

    def __init__(self, transcript: Transcript, instructions: str, rounds_max: int, conversation: str) -> None:
        self._transcript = transcript
        self._conversation = conversation
        self.instructions = instructions
        self.history: Callable[[], tuple[Item, ...]] = lambda: transcript.items  # as far as the agent knows it
        self.rounds_max = rounds_max
        self.context: Context[Any] | None = None  # of the call
        self._handled_items = 0  # how many items of the transcript a reply has handled
        self._open = _Open()
        self._early = _Open()  # the newest request that was sent before its turn was over
        self._late = 0  # the newest turn whose answer was heard, according to a late report
        self._calling = 0  # the newest reply that called a tool
        self._rounds = 0  # requests in a row that only called tools

    def make(self, effect: StartReply, tools: tuple[Tool, ...], words: WordFacts = NO_FACTS) -> Request:
        """Make the request that this effect asks for. It becomes the current request."""
        self._note(_Open(effect.reply, effect.last, len(self._transcript)))
        return self._request(effect, tools, self.history(), effect.ask, words)

    def guess(self, effect: GuessReply, tools: tuple[Tool, ...], words: WordFacts = NO_FACTS) -> Request:
        """Make a request early, while the last of its turns may still go on. The request becomes the current one when
        `confirm` is called."""
        self._early = _Open(effect.reply, effect.last, len(self._transcript))
        said = self._transcript.turns(effect.first, effect.last)
        known = {item.turn for item in self._transcript.items if isinstance(item, UserSaid)}
        new = tuple(UserSaid(one.turn, one.text, False, one.confidence) for one in said if one.turn not in known)
        rounds, self._rounds = self._rounds, 0  # the user has said something new
        request = self._request(effect, tools, (*self.history(), *new), Ask.ANSWER, words)
        self._rounds = rounds
        return request

    def confirm(self, effect: StartReply) -> None:
        """Make the early request the current one, because its turn has ended."""
        assert self._early.reply == effect.reply, effect
        self._note(self._early)

    def _note(self, opened: _Open) -> None:
        if opened.last > self._open.last:
            self._rounds = 0  # the user has said something new
        self._open = opened

    def _request(
        self,
        effect: StartReply | GuessReply,
        tools: tuple[Tool, ...],
        history: tuple[Item, ...],
        ask: Ask,
        words: WordFacts,
    ) -> Request:
        fresh = self._transcript.since(self._handled_items)
        turns = self._transcript.turns(effect.first, effect.last)
        return Request(
            reply=effect.reply,
            text=request_text([said.text for said in turns if said.handled != said.text]),
            history=history,
            tools=tools if self._rounds < self.rounds_max else (),
            instructions=self.instructions,
            ask=ask,
            outputs=tuple(item for item in fresh if isinstance(item, CallOutput)),
            news=tuple(item for item in fresh if isinstance(item, News)),
            conversation=self._conversation,
            premature=words.premature,
            typed=words.typed,
            context=self.context,
        )

    def note_heard_late(self, reply: int) -> None:
        """Mark the tool outputs and news in the request of this reply as handled. Called when a late report says that
        an interrupted reply was heard. The state machine doesn't get this report. So after a lost line, it requests an
        answer to the same turns again, and `is_heard` recognises this request."""
        if self._open.reply == reply:
            self._handled_items = self._open.items
            self._late = self._open.last

    def is_heard(self, effect: StartReply, request: Request) -> bool:
        """Was the answer to this request heard already? True if a late report said that the answer to its turns was
        heard, and the request contains nothing new: no words, tool outputs or news that no reply has handled."""
        is_new = bool(request.text or request.outputs or request.news)
        return effect.ask is Ask.ANSWER and 0 < effect.last <= self._late and not is_new

    def dump(self) -> dict[str, Any]:
        """The state of this object as JSON values: how much of the history has been handled, and the newest request."""
        return {
            "dealt_items": self._handled_items,
            "open": [self._open.reply, self._open.last, self._open.items],
            "calling": self._calling,
            "rounds": self._rounds,
        }

    def load(self, data: dict[str, Any]) -> None:
        """Restore what `dump` returned. Raises NotRestorable for invalid data."""
        with reading("the open request"):
            reply, last, items = data["open"][:3]
            opened, handled_items = _Open(whole(reply), whole(last), whole(items)), whole(data["dealt_items"])
            calling, rounds = whole(data["calling"]), whole(data["rounds"])
        self._open, self._handled_items = opened, handled_items
        self._calling, self._rounds = calling, rounds

    @property
    def is_stuck(self) -> bool:
        """Has the brain called tools in more replies in a row than `tool_rounds_max` allows? If so, it called a tool
        although the last of these requests offered no tools."""
        return self._rounds > self.rounds_max

    def follow(self, record: StepRecord) -> None:
        """Mark the input of the open request as handled, if its reply was heard, was shown or has called a tool in this
        step."""
        event = record.event
        if type(event) not in _HANDLING or record.after is record.before or record.before.ask is Ask.SAY:
            return
        if isinstance(event, ToolCalled):
            self._rounds += event.reply != self._calling
            self._calling = event.reply
        elif self._calling != self._open.reply:
            self._rounds = 0  # the reply answered without calling a tool
        self._handled_items = self._open.items


class SilentBrain:
    """A brain that answers with nothing."""

    async def reply(self, request: Request) -> AsyncIterator[Part]:  # noqa: ARG002
        return
        yield ""


class StuckBrain:
    """A brain that fails. It replaces a brain that keeps calling tools and never answers."""

    async def reply(self, request: Request) -> AsyncIterator[Part]:  # noqa: ARG002
        raise BrokenContract(ErrorClass.UNKNOWN, "the brain calls tools and never answers")
        yield ""
