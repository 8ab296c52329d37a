"""An open session: its connection, the answer in progress, and the server's copy of the conversation.

Rule: the loss of a session is reported once. A session that was closed on purpose reports nothing.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from typing import Protocol

from duologue.brains.model_wire import ModelWire, WireTasks
from duologue.core.leaves import ErrorClass
from duologue.ports.failure import ServiceError
from duologue.ports.tool_call import ToolCall
from duologue.ports.usage import Usage

from . import client_messages as cm
from .answer import GeminiAnswer
from .client_messages import ClientMessage
from .failures import failure_of, failure_of_status, lost
from .generation import AnswerStage, AnswerStep, Delivery, Generation, step
from .server_copy import ServerCopy
from .server_messages import (
    AnswerGenerated,
    AnswerInterrupted,
    CallsCancelled,
    Came,
    GoingAway,
    HandleChanged,
    ModelCalls,
    ModelSound,
    ModelTurnEnded,
    ModelUsage,
    ModelWords,
    ServerFault,
    SetupAccepted,
    UnknownPart,
    UnreadablePart,
    UserTranscribed,
    WrongSound,
    read,
)
from .settings import GeminiSettings

_STEPS = {
    ModelSound: AnswerStep.PART,
    ModelWords: AnswerStep.PART,
    ModelCalls: AnswerStep.CALLS,
    AnswerGenerated: AnswerStep.GENERATED,
    AnswerInterrupted: AnswerStep.INTERRUPTED,
    ModelTurnEnded: AnswerStep.TURN_ENDED,
}


class SessionOwner(Protocol):
    """What the owner of a session must implement: the session calls these methods to report to its owner."""

    def note_lost(self, live: GeminiSession, failure: ServiceError) -> None: ...

    def note_health(self, live: GeminiSession, is_healthy: bool) -> None: ...

    def note_change(self, live: GeminiSession) -> None:
        """Called when the server has begun or ended an answer."""
        ...

    def note_handle(self, live: GeminiSession, handle: str) -> None: ...

    def note_going_away(self, live: GeminiSession, left_ms: int) -> None: ...

    def note_transcript(self, live: GeminiSession, said: UserTranscribed) -> None: ...

    def note_usage(self, usage: Usage) -> None: ...


class GeminiSession:
    """One session on one connection."""

    def __init__(
        self,
        wire: ModelWire,
        settings: GeminiSettings,
        copy: ServerCopy,
        counts: Counter[str],
        owner: SessionOwner,
        host: str,
    ) -> None:
        self._settings = settings
        self._counts = counts
        self._owner: SessionOwner | None = owner
        self._host = host
        self.copy = copy
        self.generation = Generation()
        self._answer: GeminiAnswer | None = None
        self._unclaimed: list[Came] = []  # messages of an answer that the runtime hasn't requested yet
        self._ready = asyncio.Event()
        self._changed = asyncio.Event()
        self._failure: ServiceError | None = None
        self._calls = 0
        self.task: object = None  # the instructions and tools that the server has
        self._tasks = WireTasks(
            wire,
            counts,
            self._take,
            self._note_lost,
            self._note_health,
            name="gemini",
            ping_ms=settings.ping_ms,
            pong_ms_max=settings.pong_ms_max,
        )

    @property
    def is_over(self) -> bool:
        return self._tasks.is_over

    @property
    def received(self) -> int:
        """How many messages have arrived."""
        return self._tasks.received

    async def begin(self, setup: ClientMessage) -> None:
        """Send the setup message and wait until the server accepts it. Raises ServiceError if the server refuses it, or
        if the session is lost."""
        self.send(setup)
        await self._ready.wait()
        if self._failure is not None:
            raise self._failure

    def send(self, message: ClientMessage) -> None:
        is_audio = "audio" in message.get("realtimeInput", ())
        self._tasks.send(json.dumps(message, separators=(",", ":")), is_audio)

    # -- Requests

    @property
    def answer(self) -> GeminiAnswer | None:
        """The answer that the server is giving; None if it isn't answering."""
        return self._answer

    def request(self, answer: GeminiAnswer, messages: Iterable[ClientMessage]) -> None:
        """Send these messages to the server. The last message requests an answer, whose parts go to `answer`."""
        self._step(AnswerStep.REQUEST)
        if self._answer is not None:
            self._answer.fail(failure_of(ErrorClass.UNKNOWN, "replaced by the next request", self._host))
        self._answer = answer
        self._unclaimed = []
        if answer.reply:
            self.copy.begin_answer(answer.reply)
        for message in messages:
            self.send(message)

    def claim(self, reply: int) -> GeminiAnswer | None:
        """Use the answer that the server has begun by itself, at the end of the user's turn, for reply number `reply`,
        and return it. Return None if the server has begun no answer."""
        answer = self._answer
        if answer is None or answer.reply:
            return None
        answer.reply = reply
        self.copy.begin_answer(reply)
        for came in self._unclaimed:
            self._reflect(reply, came)
        self._unclaimed = []
        return answer

    def abandon(self, answer: GeminiAnswer) -> None:
        """Stop this answer, because its reader has gone away."""
        if answer is not self._answer or answer.is_over:
            return
        self._answer = None
        answer.fail(failure_of(ErrorClass.UNKNOWN, "given up", self._host))
        self._step(AnswerStep.GIVE_UP)
        self.interrupt()
        self._tell_change()

    def interrupt(self) -> None:
        """Stop the server's answer. The server then no longer waits for the outputs of tool calls."""
        self.copy.cancel_calls()
        self.send(cm.interruption())

    @property
    def is_answering(self) -> bool:
        """Is the server giving an answer that the runtime wants? The beginning of an activity (a stretch of the user's
        speech) would interrupt this answer."""
        return self.generation.stage in (AnswerStage.ASKED, AnswerStage.ANSWERING)

    def begin_activity(self) -> ClientMessage:
        """Return the message which tells the server that the user has begun to speak. The caller must send it. An
        answer that the runtime hasn't requested is dropped, and the server no longer waits for the outputs of tool
        calls."""
        if self._answer is not None and not self._answer.reply:  # the runtime didn't want it
            self._answer = None
            if not self.generation.is_free:
                self._step(AnswerStep.GIVE_UP)
        self.copy.cancel_calls()
        return cm.begin_activity()

    async def wait_until_free(self) -> None:
        """Wait until a request can be sent, or until there is an answer for `claim`, but at most `free_ms_max`."""
        with suppress(TimeoutError):
            async with asyncio.timeout(self._settings.free_ms_max / 1000):
                while not self._is_free and not self.is_over:
                    self._changed.clear()
                    await self._changed.wait()
            return
        self._counts["never_ended"] += 1

    @property
    def _is_free(self) -> bool:
        """Can a request be sent, or is there an answer that `claim` can use?"""
        return self.generation.is_free or (self._answer is not None and not self._answer.reply)

    async def wait_for_a_change(self) -> None:
        """Wait until the server begins or ends an answer."""
        self._changed.clear()
        await self._changed.wait()

    def fail_all(self, failure: ServiceError) -> None:
        """Fail the answer in progress, because the session is lost."""
        answer, self._answer = self._answer, None
        if answer is not None:
            answer.fail(failure)
        self.generation = Generation()
        self._changed.set()

    async def close(self) -> None:
        self._owner = None
        await self._tasks.close()
        self.fail_all(failure_of(ErrorClass.NETWORK_TIMEOUT, "", self._host))

    def lose(self, failure: BaseException) -> None:
        """Treat the session as lost."""
        self._tasks.lose(failure)

    # -- What the server sends

    def _take(self, text: str | bytes) -> None:
        for came in read(text):
            self._take_one(came)

    def _take_one(self, came: Came) -> None:
        match came:
            case UnknownPart() | UnreadablePart():
                self._counts["unknown" if isinstance(came, UnknownPart) else "unreadable"] += 1
            case SetupAccepted():
                self._ready.set()
            case ServerFault():
                self._fail(failure_of_status(came.code, came.status, self._host))
            case WrongSound():
                self._counts["wrong_sound"] += 1
                self._fail_answer(failure_of(ErrorClass.INVALID_ARGS, "its sound is not PCM at 24 kHz", self._host))
            case CallsCancelled():
                self._counts["cancelled_calls"] += len(came.ids)
                self.copy.cancel_calls(came.ids)
            case ModelCalls():
                self._take_of_answer(replace(came, calls=tuple(self._named(call) for call in came.calls)))
            case ModelSound() | ModelWords() | AnswerGenerated() | AnswerInterrupted() | ModelTurnEnded():
                self._take_of_answer(came)
            case _:
                self._tell(came)

    def _tell(self, came: Came) -> None:
        """Report a message that belongs to no answer to the session's owner."""
        if self._owner is None:
            return
        match came:
            case UserTranscribed():
                self._owner.note_transcript(self, came)
            case HandleChanged():
                self._owner.note_handle(self, came.handle)
            case GoingAway():
                self._owner.note_going_away(self, came.left_ms)
            case ModelUsage():
                self._owner.note_usage(came.usage)

    def _named(self, call: ToolCall) -> ToolCall:
        self._calls += 1
        return call if call.id else replace(call, id=f"{cm.OWN_ID}{self._calls}")

    def _take_of_answer(self, came: Came) -> None:
        was_free = self.generation.is_free
        delivery = self._step(_STEPS[type(came)])
        answer = self._answer
        if delivery is Delivery.DROP or answer is None:
            self._drop(came, was_free)
            return
        if isinstance(came, ModelSound | ModelWords | ModelCalls):
            if answer.reply:
                self._reflect(answer.reply, came)
            else:
                self._unclaimed.append(came)
            is_first = not answer.begun.done()
            answer.take(came)
            if is_first and delivery is Delivery.DELIVER:
                self._tell_change()
        if delivery is not Delivery.DELIVER:
            if answer.reply:
                self._answer = None
            answer.finish(came.reason if isinstance(came, ModelTurnEnded) else "")
            self._tell_change()

    def _drop(self, came: Came, was_free: bool) -> None:
        if isinstance(came, ModelSound | ModelWords | ModelCalls):
            self._counts["unrequested" if was_free else "late"] += 1
        if isinstance(came, ModelCalls) and was_free:  # the server would wait for the responses forever
            self.interrupt()
        self._tell_change()

    def _reflect(self, reply: int, came: Came) -> None:
        """Record in the server's copy of the conversation the sound or the tool calls that this message adds to it."""
        match came:
            case ModelSound():
                self.copy.add_sound(reply)
            case ModelCalls():
                for call in came.calls:
                    self.copy.add_call(reply, call.id, call.name)

    def _step(self, happened: AnswerStep) -> Delivery:
        self.generation, delivery = step(self.generation, happened)
        return delivery

    def _tell_change(self) -> None:
        self._changed.set()
        if self._owner is not None:
            self._owner.note_change(self)

    # -- Failures

    def _fail_answer(self, failure: ServiceError) -> None:
        answer, self._answer = self._answer, None
        if answer is not None:
            self._step(AnswerStep.GIVE_UP)
            answer.fail(failure)
            self.interrupt()
            self._tell_change()

    def _fail(self, failure: ServiceError) -> None:
        self._failure = failure
        self._tasks.lose(failure)

    def _note_health(self, is_healthy: bool) -> None:
        if self._owner is not None:
            self._owner.note_health(self, is_healthy)

    def _note_lost(self, failure: BaseException) -> None:
        if self._failure is None:
            self._failure = lost(failure, self._host)
            if self._failure is not failure:
                self._failure.__cause__ = failure
        self._ready.set()  # wakes a caller that waits for the session to begin
        self._changed.set()
        if self._owner is not None:
            self._owner.note_lost(self, self._failure)
