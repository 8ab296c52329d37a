"""What is shown of a conversation, on any line, to its own client and to operators who watch it.

A `Screen` stores a conversation's events, the latency of its newest answer and its missed messages, and sends messages
about them to each viewer in the viewer's language. Rule: a screen only shows the conversation, and never changes it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from datetime import datetime

from duologue.core.events import Event
from duologue.core.leaves import User
from duologue.core.step_record import StepRecord
from duologue.fairness.fair_queue import QueueFull
from duologue.fairness.fair_threads import REPLAYS
from duologue.observe import signals as sg
from duologue.observe.diagnostics import correlation_id
from duologue.observe.prices import PriceTable
from duologue.observe.tracebacks import traceback_of
from duologue.ports.brain import Form, ShowsForm
from duologue.runtime.conversation import Conversation
from duologue.runtime.driver import RaisedFailure

from . import server_messages
from .client_outbox import ClientOutbox
from .debug_steps import LIVE_STEPS_MAX, EventLog, is_worth_showing, settings_of, step_to_json, steps_to_json, table
from .latency import LatencyStages
from .missed_messages import MissedMessages
from .redaction import as_watched
from .server_messages import MessageWriter, ServerMessage, message
from .situation import situation_after, situation_of
from .task_results import TaskResults

METRICS_S_MIN = 1.0
NEVER_S = float("-inf")


class Viewer:
    """One client that sees the conversation: either the conversation's own client, or an operator's client that only
    watches."""

    def __init__(
        self, client: ClientOutbox, message_writer: MessageWriter, is_watching: bool, is_private: bool
    ) -> None:
        self._client = client
        self.message_writer = message_writer
        self.is_watching = is_watching
        self.watchers = 0  # as the client was told last
        self._is_private = is_private
        self.is_debugging = False
        self.opening: asyncio.Task[None] | None = None
        self.form: Form | None = None
        self.measured_at = NEVER_S
        self.measuring: asyncio.TimerHandle | None = None  # sends figures that were too early to send
        self.context: ServerMessage | None = None  # as it was sent last

    def send(self, outgoing: ServerMessage | None) -> None:
        if outgoing is not None and self.is_watching:
            outgoing = as_watched(outgoing, self._is_private)
        if outgoing is not None:
            self._client.send_message(outgoing)


class Screen:
    """What is shown of one conversation, and the viewers who see it."""

    def __init__(
        self,
        conversation: Conversation,
        began: datetime,
        earlier: Iterable[Event] = (),
        missed: MissedMessages | None = None,
        results: TaskResults | None = None,
        on_result: Callable[[], object] = lambda: None,
    ) -> None:
        self.conversation = conversation
        self.began = began
        self.id = correlation_id(conversation.id)
        self.log = EventLog(conversation.agent.settings, earlier)
        self.tells_watched = False  # the caller is told while an operator watches
        self.missed = missed or MissedMessages()
        self.results = results or TaskResults()
        self._on_result = on_result
        brain = conversation.agent.thinker
        self._forms = brain if isinstance(brain, ShowsForm) else None  # looked up once: the check is slow
        self._stages = LatencyStages()
        self._situation = situation_of(conversation.machine_state)
        self._message_writer = MessageWriter(conversation, conversation.agent.language)
        self._viewers: dict[ClientOutbox, Viewer] = {}
        self.prices: PriceTable | None = None
        conversation.on(sg.Signal, self._note)
        conversation.engine.watchers.append(self._follow)

    @property
    def line(self) -> str:
        """The kind of line, such as `browser` or `phone`, derived from the name of its class."""
        return type(self.conversation.engine.line).__name__.removesuffix("Line").lower()

    # -- Viewers

    def enter(self, client: ClientOutbox, language: str, *, is_watching: bool = False) -> None:
        """From now on, send everything that happens to this client."""
        message_writer = MessageWriter(self.conversation, language)
        self._viewers[client] = Viewer(client, message_writer, is_watching, self.conversation.agent.private)
        self._tell_watched()

    def _tell_watched(self) -> None:
        """Tell the conversation's own client how many operators watch it, if that has changed."""
        count = sum(viewer.is_watching for viewer in self._viewers.values())
        for viewer in self._viewers.values():
            if self.tells_watched and not viewer.is_watching and viewer.watchers != count:
                viewer.watchers = count
                viewer.send(message("watched", operators=count))

    def leave(self, client: ClientOutbox) -> None:
        viewer = self._viewers.pop(client, None)
        self._tell_watched()
        if viewer is not None and viewer.measuring is not None:
            viewer.measuring.cancel()

    def is_of(self, client: ClientOutbox) -> bool:
        """Is this the conversation's own client, and not an operator's client that only watches?"""
        return client in self._viewers and not self._viewers[client].is_watching

    def greet_watcher(self, client: ClientOutbox) -> None:
        """Send a description of the conversation and its state to a new watcher. The messages contain neither the key
        nor the id of the conversation, because a watcher must not be able to enter it."""
        agent = self.conversation.agent
        began = server_messages.iso(self.began)
        self._viewers[client].send(
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
        """Send the whole current state to a client that has just entered."""
        viewer, talk = self._viewers[client], self.conversation
        viewer.send(server_messages.history(talk.history, self.missed.lost_turns))
        viewer.send(viewer.message_writer.state())
        self.tell_status(client)
        if talk.agent.name != talk.engine.root.name:
            viewer.send(message("agent", name=talk.agent.name))
        now = talk.engine.driver.now()
        for call, tool, mode, began in talk.engine.tool_calls.running():
            viewer.send(message("work", event="started", call=call, tool=tool, mode=mode, ranMs=now - began))
        for wait in talk.engine.tool_calls.waits():
            viewer.send(viewer.message_writer.write(wait))
        if talk.phase == "error" and self.missed.fault is not None:
            viewer.send(viewer.message_writer.write(self.missed.fault))
        for outgoing in self.missed.questions(talk.engine.tool_calls.asking):
            viewer.send(outgoing)
        if not viewer.is_watching:
            for outgoing in self.missed.lost():
                viewer.send(outgoing)
        self._send_form(viewer, self._form())
        viewer.send(self.results.message())
        self._send_metrics(viewer)

    def tell_status(self, client: ClientOutbox) -> None:
        """Tell this client whether its user can be heard, whether and why the user has to wait, and which turns are
        queued."""
        self._viewers[client].send(self._status())

    def _status(self) -> ServerMessage:
        talk = self.conversation
        engine = talk.engine
        return server_messages.status(talk.hearing, self._situation, engine.driver.now(), engine.sessions.started_at)

    # -- The debug view

    def debug(self, client: ClientOutbox, is_on: bool) -> None:
        """Start or stop sending the steps of the state machine to this viewer. Steps that had no effect and changed no
        region of the machine are left out."""
        viewer = self._viewers.get(client)
        if viewer is None:
            return
        viewer.is_debugging = False
        if is_on and viewer.opening is None:
            work = self._open_debug(client, viewer)
            viewer.opening = asyncio.get_running_loop().create_task(work, name="debug view")

    async def _open_debug(self, client: ClientOutbox, viewer: Viewer) -> None:
        """Compute all steps so far from the events, and send the newest of them. They are computed in a thread, because
        that takes a while for a long conversation."""
        try:
            upto = len(self.log)
            records = await REPLAYS.run_for(self.id, lambda: steps_to_json(self.log.newest(LIVE_STEPS_MAX, upto)))
            records += steps_to_json(self.log.since(upto))
            settings = settings_of(self.conversation.agent.settings)
            if self._viewers.get(client) is viewer:
                viewer.is_debugging = True
                viewer.send(message("debug", **table(), settings=settings, moments=records))
                self._send_context(viewer)
        except QueueFull:
            viewer.send(message("error", code="refused", message="debug: too many views are opening: try again"))
        finally:
            viewer.opening = None

    def show_traceback(self, raised: RaisedFailure) -> None:
        """Send the traceback of a failure to the conversation's own client. Watchers don't get it, because it may
        contain words that were said."""
        shown = traceback_of(raised.failure)
        for viewer in tuple(self._viewers.values()):
            if not viewer.is_watching:
                viewer.send(message("traceback", at=raised.at, where=raised.where, error=shown.error, text=shown.text))

    # -- What the conversation does

    def _note(self, signal: sg.Signal) -> None:
        if self.missed.needs(signal) and (outgoing := self._message_writer.write(signal)) is not None:
            has_client = any(not viewer.is_watching for viewer in self._viewers.values())
            self.missed.note(signal, outgoing, has_client=has_client)
        moved = isinstance(signal, sg.StateEntered | sg.TurnCompleted | sg.TurnInterrupted)
        form = self._form() if moved else None  # noted without viewers too: a client may reconnect later
        is_new = self.results.note(form, self.conversation.machine_state.said)
        for viewer in tuple(self._viewers.values()):
            viewer.send(viewer.message_writer.write(signal))
            if moved:
                self._send_form(viewer, form)
                viewer.send(self.results.message() if is_new else None)
                self._send_metrics(viewer)
                self._send_context(viewer)
            elif isinstance(signal, sg.HearingChanged):
                viewer.send(self._status())
            if isinstance(signal, sg.Ended):
                self._send_last_metrics(viewer)
            if isinstance(signal, sg.Ended) and viewer.is_watching:
                viewer.send(message("ended", reason=signal.reason, canRestart=False))
        if is_new:
            self._on_result()

    def _follow(self, record: StepRecord) -> None:
        self.log.add(record)
        if record.after is record.before:
            return
        self._stages.follow(record)
        if record.is_only_progress:
            return  # changes nothing that is shown, except for the caption
        situation = situation_after(self._situation, record)
        has_changed, self._situation = situation != self._situation, situation
        if not self._viewers:
            return
        is_talking, was_talking = record.after.user is User.TALKING, record.before.user is User.TALKING
        step: ServerMessage | None = None
        for viewer in tuple(self._viewers.values()):
            if is_talking != was_talking:
                viewer.send(message("hearing", on=is_talking))
            if has_changed or record.after.session_id != record.before.session_id:
                viewer.send(self._status())
            if viewer.is_debugging and is_worth_showing(record):
                step = step or message("moment", **step_to_json(record))
                viewer.send(step)

    def _form(self) -> Form | None:
        return self._forms.form(self.conversation.id) if self._forms is not None else None

    def _send_form(self, viewer: Viewer, form: Form | None) -> None:
        if form != viewer.form:
            viewer.form = form
            viewer.send(server_messages.dialogue(form))

    def _send_context(self, viewer: Viewer) -> None:
        """Send the context to this viewer, if the viewer shows the debug view and the context has changed. The context
        is what the model's next session will know: a summary and files."""
        if not viewer.is_debugging:
            return
        context = self.conversation.context
        outgoing = message("context", summary=context["summary"], activeFiles=context["active_files"])
        if outgoing != viewer.context:
            viewer.context = outgoing
            viewer.send(outgoing)

    def _send_metrics(self, viewer: Viewer) -> None:
        """Send the metrics to this viewer. If they were sent less than METRICS_S_MIN seconds ago, they are sent when
        that time is over."""
        loop = asyncio.get_running_loop()
        left_s = viewer.measured_at + METRICS_S_MIN - loop.time()
        if left_s > 0:
            if viewer.measuring is None:
                viewer.measuring = loop.call_later(left_s, self._send_late_metrics, viewer)
            return
        viewer.measured_at = loop.time()
        now = self.conversation.engine.driver.now()
        used = server_messages.usage(self.conversation.usage, self.prices)
        viewer.send(server_messages.metrics(self.conversation.metrics, now, self._stages, used))

    def _send_late_metrics(self, viewer: Viewer) -> None:
        viewer.measuring = None
        viewer.measured_at = NEVER_S
        self._send_metrics(viewer)

    def _send_last_metrics(self, viewer: Viewer) -> None:
        """Send the metrics at once, because the conversation has ended. Later would be too late: the client may be in
        another conversation then."""
        if viewer.measuring is not None:
            viewer.measuring.cancel()
        self._send_late_metrics(viewer)
