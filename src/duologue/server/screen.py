"""What a conversation shows, whichever line it is on: to the client that talks, and to whoever watches.

Keeps the steps, the stages of the newest answer and what is still open, and tells each viewer in its own language.
Knows no line and no key. Rule: nothing that a viewer does reaches the conversation.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable
from datetime import datetime

from duologue.core.events import Event
from duologue.core.leaves import User
from duologue.core.step_record import StepRecord
from duologue.observe import signals as sg
from duologue.observe.diagnostics import correlation_id
from duologue.ports.brain import Form, ShowsForm
from duologue.runtime.conversation import Conversation

from . import server_messages
from .client_outbox import ClientOutbox
from .debug_steps import LIVE_MOMENTS_MAX, EventLog, is_worth_showing, settings_of, step_to_json, steps_to_json, table
from .latency import LatencyStages
from .missed_messages import MissedMessages
from .redaction import as_watched
from .server_messages import MessageWriter, ServerMessage, message

METRICS_S_MIN = 1.0


class Viewer:
    """One client before the screen: the one that talks, or one that watches."""

    def __init__(
        self, client: ClientOutbox, message_writer: MessageWriter, is_watching: bool, is_private: bool
    ) -> None:
        self._client = client
        self.message_writer = message_writer
        self.is_watching = is_watching
        self._is_private = is_private
        self.is_debugging = False
        self.opening: asyncio.Task[None] | None = None
        self.form: Form | None = None
        self.measured_at = 0.0

    def tell(self, told: ServerMessage | None) -> None:
        if told is not None and self.is_watching:
            told = as_watched(told, self._is_private)
        if told is not None:
            self._client.tell(told)


class Screen:
    """One conversation, as it looks from outside."""

    def __init__(
        self,
        conversation: Conversation,
        began: datetime,
        earlier: Iterable[Event] = (),
        pending: MissedMessages | None = None,
    ) -> None:
        self.conversation = conversation
        self.began = began
        self.id = correlation_id(conversation.id)
        self.log = EventLog(conversation.agent.settings, earlier)
        self.pending = pending or MissedMessages()
        brain = conversation.agent.thinker
        self._forms = brain if isinstance(brain, ShowsForm) else None  # asking costs more than most signals do
        self._stages = LatencyStages()
        self._message_writer = MessageWriter(conversation, began, "en")
        self._viewers: dict[ClientOutbox, Viewer] = {}
        conversation.on(sg.Signal, self._note)
        conversation.engine.watchers.append(self._follow)

    @property
    def line(self) -> str:
        """The kind of line: browser, phone, or whatever its class is called."""
        return type(self.conversation.engine.line).__name__.removesuffix("Line").lower()

    # -- Viewers come and go

    def enter(self, client: ClientOutbox, language: str, *, is_watching: bool = False) -> None:
        message_writer = MessageWriter(self.conversation, self.began, language)
        self._viewers[client] = Viewer(client, message_writer, is_watching, self.conversation.agent.private)

    def leave(self, client: ClientOutbox) -> None:
        self._viewers.pop(client, None)

    def is_of(self, client: ClientOutbox) -> bool:
        """Is this the client that talks?"""
        return client in self._viewers and not self._viewers[client].is_watching

    def greet_watcher(self, client: ClientOutbox) -> None:
        """What a watcher is told first: which call this is, and how it is. No key, and no id that opens anything."""
        agent = self.conversation.agent
        began = server_messages.iso(self.began, 0)
        self._viewers[client].tell(
            message(
                "conversation",
                conversation=self.id,
                watching=True,
                resumed=True,
                since=began,
                line=self.line,
                agent=agent.name,
                private=agent.private,
            )
        )
        self.show(client)

    def show(self, client: ClientOutbox) -> None:
        """Everything as it is, for one that has just come."""
        viewer, talk = self._viewers[client], self.conversation
        viewer.tell(server_messages.history(talk.history, self.pending.lost_turns))
        viewer.tell(viewer.message_writer.state())
        for call, tool, mode in talk.engine.tool_calls.running():
            viewer.tell(message("work", event="started", call=call, tool=tool, mode=mode))
        for told in self.pending.open(talk.state == "faulted", talk.engine.tool_calls.asking):
            viewer.tell(told)
        if not viewer.is_watching:
            for told in self.pending.lost():
                viewer.tell(told)
        self._tell_form(viewer)
        self._tell_metrics(viewer)

    # -- Every step

    def debug(self, client: ClientOutbox, is_on: bool) -> None:
        """Tell this viewer of every step, or of no more."""
        viewer = self._viewers.get(client)
        if viewer is None:
            return
        viewer.is_debugging = False
        if is_on and viewer.opening is None:
            work = self._open_debug(client, viewer)
            viewer.opening = asyncio.get_running_loop().create_task(work, name="debug view")

    async def _open_debug(self, client: ClientOutbox, viewer: Viewer) -> None:
        """A long conversation takes a while to play again, and nobody else should wait for it."""
        try:
            upto = len(self.log)
            records = await asyncio.to_thread(lambda: steps_to_json(self.log.newest(LIVE_MOMENTS_MAX, upto)))
            records += steps_to_json(self.log.since(upto))
            settings = settings_of(self.conversation.agent.settings)
            if self._viewers.get(client) is viewer:
                viewer.is_debugging = True
                viewer.tell(message("debug", **table(), settings=settings, moments=records))
        finally:
            viewer.opening = None

    # -- What the conversation does

    def _note(self, signal: sg.Signal) -> None:
        is_heard = any(not viewer.is_watching for viewer in self._viewers.values())
        told = self._message_writer.tell(signal)
        if told is not None:
            self.pending.note(signal, told, is_heard=is_heard)
        for viewer in tuple(self._viewers.values()):
            viewer.tell(viewer.message_writer.tell(signal))
            if isinstance(signal, sg.StateEntered | sg.TurnCompleted | sg.TurnInterrupted):
                self._tell_form(viewer)
                self._tell_metrics(viewer)
            if isinstance(signal, sg.Ended) and viewer.is_watching:
                viewer.tell(message("ended", reason=signal.reason, canRestart=False))

    def _follow(self, record: StepRecord) -> None:
        self.log.add(record)
        if record.after is record.before:
            return
        self._stages.follow(record)
        if not self._viewers:
            return
        is_talking, was_talking = record.after.user is User.TALKING, record.before.user is User.TALKING
        step: ServerMessage | None = None
        for viewer in tuple(self._viewers.values()):
            if is_talking != was_talking:
                viewer.tell(message("hearing", on=is_talking))
            if viewer.is_debugging and is_worth_showing(record):
                step = step or message("moment", **step_to_json(record))
                viewer.tell(step)

    def _tell_form(self, viewer: Viewer) -> None:
        if self._forms is None:
            return
        form = self._forms.form(self.conversation.id)
        if form != viewer.form:
            viewer.form = form
            viewer.tell(server_messages.dialogue(form))

    def _tell_metrics(self, viewer: Viewer) -> None:
        if time.monotonic() - viewer.measured_at < METRICS_S_MIN:
            return
        viewer.measured_at = time.monotonic()
        now = self.conversation.engine.driver.now()
        viewer.tell(server_messages.metrics(self.conversation.metrics, now, self._stages.newest))
