"""What a request holds: the words, outputs and news that no reply has dealt with yet.

The machine asks again for everything that is not answered; the brain wants to know what is new. A
brain may also call tools for ever, and the person must not wait for ever. Rule: what a reply has dealt
with, by being heard or by calling a tool, is not told as new again; after so many rounds of calls the
brain is asked without tools, and if it still calls one, the answer fails and the person is told.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any, NamedTuple

from duologue.core.effects import StartReply
from duologue.core.events import PlaybackFinished, ReplyFinished, ToolCalled
from duologue.core.leaves import Ask, ErrorClass
from duologue.core.step_record import StepRecord
from duologue.ports.brain import Part, Request
from duologue.ports.failure import BrokenContract
from duologue.ports.history import CallOutput, News
from duologue.ports.worker import Tool

from .transcript import Transcript
from .validation import reading, texts_by_number, whole


class _Open(NamedTuple):
    """The newest request."""

    reply: int = 0
    last: int = 0  # turn
    items: int = 0  # of the transcript
    turns: dict[int, str] = {}


class Requests:
    """Makes the requests of one conversation."""

    def __init__(self, transcript: Transcript, instructions: str, rounds_max: int, conversation: str) -> None:
        self._transcript = transcript
        self._conversation = conversation
        self._instructions = instructions
        self._rounds_max = rounds_max
        self._dealt: dict[int, str] = {}  # what was said in turns that a reply has dealt with
        self._dealt_items = 0  # and the transcript up to which it has
        self._open = _Open()
        self._late = 0  # the newest turn whose answer was heard when the line was lost already
        self._calling = 0  # the newest reply that called a tool
        self._rounds = 0  # of calls, since the person spoke or was answered

    def make(self, effect: StartReply, tools: tuple[Tool, ...]) -> Request:
        """The request for these turns."""
        fresh = self._transcript.since(self._dealt_items)
        turns = self._transcript.turns(effect.first, effect.last)
        if effect.ask is Ask.ANSWER:  # nobody asks for what was before that again
            self._dealt = {turn: text for turn, text in self._dealt.items() if turn >= effect.first}
        if effect.last > self._open.last:
            self._rounds = 0  # the person has said something new
        self._open = _Open(effect.reply, effect.last, len(self._transcript), dict(turns))
        return Request(
            reply=effect.reply,
            text=" ".join(text for turn, text in turns if self._dealt.get(turn) != text),
            history=self._transcript.items,
            tools=tools if self._rounds < self._rounds_max else (),
            instructions=self._instructions,
            ask=effect.ask,
            outputs=tuple(item for item in fresh if isinstance(item, CallOutput)),
            news=tuple(item for item in fresh if isinstance(item, News)),
            conversation=self._conversation,
        )

    def note_heard_late(self, reply: int) -> None:
        """The line was lost, and only afterwards it turns out that this reply was heard: the machine will ask once
        more for what it has answered."""
        if self._open.reply == reply:
            self._dealt |= self._open.turns
            self._dealt_items = self._open.items
            self._late = self._open.last

    def is_heard(self, effect: StartReply, request: Request) -> bool:
        """Was all of this answered, and the answer heard?"""
        is_new = bool(request.text or request.outputs or request.news)
        return effect.ask is Ask.ANSWER and 0 < effect.last <= self._late and not is_new

    def dump(self) -> dict[str, Any]:
        """As JSON has it."""
        return {
            "dealt": list(self._dealt.items()),
            "dealt_items": self._dealt_items,
            "open": [self._open.reply, self._open.last, self._open.items, list(self._open.turns.items())],
            "calling": self._calling,
            "rounds": self._rounds,
        }

    def load(self, data: dict[str, Any]) -> None:
        """Go on with what was dumped, or NotRestorable."""
        with reading("what was asked"):
            reply, last, items, turns = data["open"]
            opened = _Open(whole(reply), whole(last), whole(items), texts_by_number(turns))
            dealt, dealt_items = texts_by_number(data["dealt"]), whole(data["dealt_items"])
            calling, rounds = whole(data["calling"]), whole(data["rounds"])
        self._open, self._dealt, self._dealt_items = opened, dealt, dealt_items
        self._calling, self._rounds = calling, rounds

    @property
    def is_stuck(self) -> bool:
        """Was the brain given no tools, and calls them all the same?"""
        return self._rounds > self._rounds_max

    def follow(self, record: StepRecord) -> None:
        """A reply that was heard, was shown or called a tool has dealt with what it was asked."""
        if record.after is record.before:
            return
        event = record.event
        if isinstance(event, ToolCalled):
            self._rounds += event.reply != self._calling
            self._calling = event.reply
        elif isinstance(event, ReplyFinished | PlaybackFinished) and self._calling != self._open.reply:
            self._rounds = 0  # an answer without a call
        if isinstance(event, ToolCalled | ReplyFinished | PlaybackFinished):
            self._dealt |= self._open.turns
            self._dealt_items = self._open.items


class SilentBrain:
    """A brain that has nothing to add."""

    async def reply(self, request: Request) -> AsyncIterator[Part]:  # noqa: ARG002
        return
        yield ""


class StuckBrain:
    """A brain that fails, in place of one that never comes to an end."""

    async def reply(self, request: Request) -> AsyncIterator[Part]:  # noqa: ARG002
        raise BrokenContract(ErrorClass.UNKNOWN, "the brain calls tools and never answers")
        yield ""
