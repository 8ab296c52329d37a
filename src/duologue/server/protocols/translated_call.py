"""One conversation with a client of another project's protocol. A pure function, the step, translates between the
conversation and the protocol. This class passes inputs to the step, one after another, and performs the acts that the
step returns.

Rule: this class knows nothing about a particular protocol. A subclass defines the step, how acts are performed, and
which signals of the conversation are used.
"""

from __future__ import annotations

import asyncio
import logging
from abc import abstractmethod
from collections import deque
from collections.abc import Callable, Coroutine, Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Generic, TypeVar

from duologue.core.leaves import User
from duologue.observe import signals as sg
from duologue.observe.diagnostics import correlation_id
from duologue.observe.recorder import new_journal_path
from duologue.ports.context import Context
from duologue.ports.line import Line
from duologue.runtime.agent import Agent
from duologue.runtime.conversation import Conversation

from ..close_codes import CloseCode
from ..conversations import Conversations
from ..limited_caller import LimitedCaller
from ..settings import Limits
from .closes import NOT_STARTED, OVER, STOPPING, not_now

LOG = logging.getLogger("duologue.server")
END_S_MAX = 2.0
Given = TypeVar("Given")  # what the translation takes


class TranslatedCall(Generic[Given]):
    """One conversation with a client of another project's protocol."""

    def __init__(
        self, context: Context[Any], limits: Limits, note_refused: Callable[[str], None], address: str = ""
    ) -> None:
        self.id = context.info.conversation
        self.address = address
        self.began = datetime.now(UTC)
        self.conversation: Conversation | None = None
        self._context = context
        self._limits = limits
        self._caller = LimitedCaller(limits, note_refused)
        self._signals: list[sg.Signal] = []  # of the step that is performed
        self._running: asyncio.Task[str] | None = None
        self._tasks: set[asyncio.Task[Any]] = set()
        self._alarm: asyncio.TimerHandle | None = None
        self._inputs: deque[Given] = deque()
        self._is_stepping = False
        self._performers = self._table()

    @abstractmethod
    def _step(self, given: Given) -> Iterable[object]:
        """Take one input. Returns the acts to perform."""

    @abstractmethod
    def _table(self) -> dict[type, Callable[[Any], object]]:
        """Maps each kind of act to the function that performs it."""

    @abstractmethod
    def _listen(self, made: Conversation) -> None:
        """Register for the signals of a conversation that is about to start."""

    # -- Inputs and acts

    def post(self, given: Given) -> None:
        """Pass a message from the client, or a fact about the conversation, to the step. If another input is being
        processed, this one waits until that is done."""
        self._inputs.append(given)
        if self._is_stepping:
            return
        self._is_stepping = True
        try:
            while self._inputs:
                self._perform(self._step(self._inputs.popleft()))
        finally:
            self._is_stepping = False

    def _perform(self, acts: Iterable[object]) -> None:
        for act in acts:
            self._performers[type(act)](act)

    @property
    def _talk(self) -> Conversation:
        assert self.conversation is not None
        return self.conversation

    def _heard_of(self, voice: int) -> str:
        cut = self._talk.engine.playback.cut
        return cut.ledger.split().heard if cut is not None and cut.voice == voice else ""

    def _start(self, work: Coroutine[Any, Any, object]) -> None:
        task = asyncio.get_running_loop().create_task(work, name="translated call")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    # -- Beginning and end

    async def _open(
        self, agent: Agent, line: Line, journals: Path | None, watch: Callable[[Conversation], object]
    ) -> None:
        """Start the conversation. Returns when the user can speak. Raises StartRefused."""
        journal = new_journal_path(journals, correlation_id(self.id)) if journals is not None else None
        self.conversation = made = Conversation(
            agent, line, conversation_id=self.id, journal=journal, context=self._context
        )
        for kind in (sg.TurnCompleted, sg.TurnDropped):
            made.on(kind, self._signals.append)
        self._listen(made)
        watch(made)
        await made.start()
        self._running = asyncio.ensure_future(made.wait())
        wait_s = self._limits.unspoken_s_max
        self._alarm = asyncio.get_running_loop().call_later(wait_s, self._end_if_unspoken, wait_s)

    def _end_if_unspoken(self, after_s: float) -> None:
        if not self.has_spoken and not self.is_over:
            self.give_way(f"nothing was said within {after_s:.0f} s")

    async def end(self, reason: str) -> None:
        """End the conversation, because the client has disconnected or the server is stopping."""
        if self._alarm is not None:
            self._alarm.cancel()
        for task in tuple(self._tasks):
            if task is not asyncio.current_task():
                task.cancel()
        if self.conversation is not None:
            ending = asyncio.ensure_future(self.conversation.end(reason))
            await asyncio.wait([ending], timeout=END_S_MAX)

    def give_way(self, reason: str) -> None:
        """End the conversation in the background, for this reason."""
        self._start(self.end(reason))

    @property
    def over(self) -> asyncio.Task[str] | None:
        """A task that is done when the conversation is over; None before the conversation has begun."""
        return self._running

    @property
    def has_begun(self) -> bool:
        return self._running is not None

    @property
    def is_over(self) -> bool:
        return self._running is not None and self._running.done()

    @property
    def has_spoken(self) -> bool:
        """Has the user said or typed anything, or begun to speak?"""
        made = self.conversation
        return made is not None and (made.machine_state.said > 0 or made.machine_state.user is not User.QUIET)


async def begin_counted(
    call: TranslatedCall[Any],
    conversations: Conversations,
    begin: Callable[[], Coroutine[Any, Any, None]],
    disconnect: Callable[[CloseCode], None],
    on_over: Callable[[CloseCode], None],
) -> bool:
    """Begin this conversation if the limits allow it, and count it. Returns whether it has begun; if not, the client is
    disconnected. `on_over` is called when the conversation is over."""
    refused = conversations.why_no_start(call.address)
    if refused is not None:
        disconnect(not_now(refused.message))
        return False
    conversations.starts.count(call)
    try:
        await begin()
    except Exception as failure:
        LOG.error("a conversation could not start: %s", type(failure).__name__)
        LOG.debug("a conversation could not start", exc_info=failure)
        disconnect(NOT_STARTED)
        return False
    assert call.over is not None
    call.over.add_done_callback(lambda _: on_over(STOPPING if conversations.is_draining else OVER))
    return True
