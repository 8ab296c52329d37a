"""One conversation of an agent on a line: the program's way in.

Every call of a program becomes an event or a question; nothing here decides anything. Rule: whatever
is asked of a conversation that is over is refused in one clear line.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

from duologue.core import effects as fx
from duologue.core import events as ev
from duologue.core.errors import DuologueError
from duologue.core.leaves import CLOSED, Link
from duologue.core.machine import MACHINE
from duologue.core.state import State
from duologue.core.step_record import StepRecord
from duologue.observe import signals as sg
from duologue.observe.metrics import Metrics
from duologue.ports.brain import Forgets, Remembers
from duologue.ports.ears import Heard
from duologue.ports.history import Item
from duologue.ports.line import Finished, Line, Played, Stopped, Unplayable

from .agent import Agent, ToolSource
from .checkpoint import Checkpoint
from .engine import Engine
from .seats import SEATS, Seats
from .snapshot import Snapshot, context_of, snapshot_of

S = TypeVar("S")
Sig = TypeVar("Sig", bound=sg.Signal)
KindOf: TypeAlias = type[S]  # inside the class, `type` is what a person does with a keyboard


_LINE_METHODS = ("open", "play", "finish", "hold", "resume", "clear", "close")


_MODELS: dict[int, Conversation] = {}  # models that hear by themselves, by identity, while in a conversation


class StartRefused(DuologueError):
    """A conversation that can't begin: it has begun or is over, or session or audio is not ready."""


class NotRunning(DuologueError):
    """Something was asked of a conversation that has not begun or is over."""


class Conversation:
    """Make one inside a running event loop, then `await run()`, or `start()` and `end()`."""

    def __init__(
        self,
        agent: Agent,
        line: Line,
        *,
        seat: str = "",
        journal: Path | str | None = None,
        conversation_id: str = "",
        seed: int = 0,
        seats: Seats = SEATS,
        saved: Checkpoint | None = None,
    ) -> None:
        lacking = [name for name in _LINE_METHODS if not callable(getattr(line, name, None))]
        if lacking:
            raise TypeError(f"line must be a Line; {type(line).__name__} has no {', '.join(lacking)}")
        self.agent = agent
        self.id = conversation_id or uuid.uuid4().hex
        self.seat = seat
        self.engine = Engine(agent, line, self._follow, self.id, saved)
        self._seats = seats
        self._loop = asyncio.get_running_loop()
        self._over: asyncio.Future[str] = self._loop.create_future()
        self._starting: asyncio.Future[None] | None = None
        self._reason = ""
        self._initialized = False
        self._opened: list[ToolSource] = []
        self._shutdown: asyncio.Task[None] | None = None
        if journal is not None:
            self.engine.record(Path(journal), seed)

    # -- Beginning and ending, as C-API asks

    async def initialize(self) -> None:
        """Get ready before the first word: servers among the tools are opened; a line and a session
        that have `prime()` are primed. `start` does this if nobody did."""
        if self._initialized:
            return
        self._initialized = True
        try:
            await self._open_sources()
            for part in (self.engine.line, self.engine.session):
                prime = getattr(part, "prime", None)
                if prime is not None:
                    await prime()
        except (Exception, asyncio.CancelledError):
            await self._give_back()
            raise

    async def start(self) -> None:
        """Begin. Returns when the floor is open; raises StartRefused or SeatTaken. If this is cancelled,
        the conversation ends."""
        if self._starting is not None or self._shutdown is not None:
            if self.engine.driver.state.link is not Link.IDLE:
                self.engine.driver.post(ev.StartRequested)  # so that the journal knows of it
            raise StartRefused("this conversation has begun already; make a new one for a new call")
        starting = await self._prepare()
        try:
            active = bool(getattr(self.engine.session, "active", True))
            primed = bool(getattr(self.engine.line, "primed", True))
            self.engine.driver.post(ev.StartRequested, session_active=active, audio_primed=primed)
            await self._until_open(starting)
        except Exception:
            await self._give_back()
            raise

    async def restore(self, played: Played | None = None) -> None:
        """Go on with a conversation that was saved. `played`: what its client has heard of the newest voice. Returns
        when the floor is open again. If this is cancelled, the conversation ends."""
        if self._starting is not None or self._shutdown is not None:
            raise StartRefused("this conversation has begun already")
        starting = await self._prepare()
        brain = self.agent.thinker
        try:
            has_more = isinstance(brain, Remembers) and await brain.has_more(self.id)
        except (Exception, asyncio.CancelledError):
            await self._give_back()
            raise
        self.engine.restore(played, has_more)
        await self._until_open(starting)

    async def _until_open(self, starting: asyncio.Future[None]) -> None:
        try:
            await asyncio.shield(starting)
        except asyncio.CancelledError:
            starting.cancel()  # nobody waits for the beginning any more
            await asyncio.shield(self.end("cancelled from outside"))
            raise

    async def _prepare(self) -> asyncio.Future[None]:
        """Tools, the seat and the model. Returns what is done when the floor is open."""
        self._starting = starting = self._loop.create_future()
        starting.add_done_callback(_note_seen)
        try:
            await self.initialize()
            if self.seat:
                self._seats.take(self.seat, self)
            self._claim_model()
        except (Exception, asyncio.CancelledError):
            await self._give_back()
            raise
        return starting

    async def _give_back(self) -> None:
        """Of a start that fails nothing stays taken or open, and another attempt begins from the beginning."""
        self._starting, self._initialized = None, False
        self._leave_seat()
        await self._close_sources()

    def freeze(self) -> None:
        """Nothing moves any more, and nothing more is heard: what is kept now is where somebody else goes on."""
        self.engine.line.clear(self.engine.driver.state.voice_id)
        self.engine.driver.close()

    async def abandon(self, reason: str) -> None:
        """Stop at once, without a goodbye: somebody else has this conversation now."""
        self._reason = reason
        brain = self.agent.thinker
        if isinstance(brain, Forgets):
            brain.forget(self.id)
        self.freeze()
        self._shut_down()
        await self.wait()

    def crash(self) -> None:
        """A tool for tests: die as a killed process would. No goodbye, no closing of the line or the session, and
        nothing more is saved. Restore it with another `Conversation(saved=…)`."""
        self.engine.crash()

    async def end(self, reason: str = "ended by the program") -> None:
        """Hang up, from anywhere; returns when everything has ended."""
        if self._shutdown is None:
            self._reason = self._reason or reason
        if self.engine.driver.state.link is Link.IDLE or self.engine.driver.is_closed:
            self._shut_down()
        else:
            self.engine.driver.post(ev.EndRequested)
        await self.wait()

    async def wait(self) -> str:
        """Until the conversation is over. Returns why."""
        return await asyncio.shield(self._over)

    async def run(self) -> str:
        """Begin, and return when it is over. If this is cancelled, the conversation is ended politely
        first, and what got no answer is reported."""
        await self.start()
        try:
            return await self.wait()
        except asyncio.CancelledError:
            await asyncio.shield(self.end("cancelled from outside"))
            raise

    async def __aenter__(self) -> Conversation:
        await self.start()
        return self

    async def __aexit__(self, *failure: object) -> None:
        await self.end()

    def _follow(self, record: StepRecord) -> None:
        """Whoever waits for the beginning or the end is told."""
        starting = self._starting
        if starting is not None and not starting.done():
            if any(type(effect) is fx.RefuseStart and not effect.already_running for effect in record.effects):
                starting.set_exception(StartRefused("the session is not active, or audio is not ready"))
            elif record.after.link is Link.UP:
                starting.set_result(None)
        if record.after.link is Link.TERMINATING and record.before.link is not Link.TERMINATING:
            self._reason = self._reason or _reason_of(record)
        if record.after.link is Link.IDLE and record.before.link is not Link.IDLE:
            self._shut_down()

    def _shut_down(self) -> None:
        if self._shutdown is None:
            self._shutdown = self._loop.create_task(self._end_everything(), name="shutdown")

    async def _end_everything(self) -> None:
        """Whatever fails on the way, the seat is left and whoever waits for the end is told."""
        reason = self._reason
        try:
            await self.engine.close()
            await self._close_sources()
            self.engine.bus.send(sg.Ended(self.engine.driver.now(), reason))
            self.engine.end_journal()
        finally:
            self._leave_seat()
            if self._starting is not None and not self._starting.done():
                self._starting.set_exception(StartRefused("the conversation ended before it began"))
            self._over.set_result(reason)

    async def _open_sources(self) -> None:
        for source in self.agent.sources:
            if not source.is_connected:
                await source.open()
                self._opened.append(source)
            self.engine.tool_calls.add_workers(source.workers())

    async def _close_sources(self) -> None:
        """Only those that this conversation opened itself."""
        while self._opened:
            source = self._opened.pop()
            try:
                await source.close()
            except Exception as failure:  # noqa: BLE001 - the call is over anyway
                self.engine.report_failure("tools", failure)

    def _leave_seat(self) -> None:
        if self.seat:
            self._seats.leave(self.seat, self)
        if _MODELS.get(id(self.agent.brain)) is self:
            del _MODELS[id(self.agent.brain)]

    def _claim_model(self) -> None:
        """A model that hears by itself hears one person at a time."""
        if self.agent.ears is self.agent.brain and _MODELS.setdefault(id(self.agent.brain), self) is not self:
            raise StartRefused("this model is in another conversation: make an agent with a model of its own")

    # -- Commands

    def type(self, text: str) -> None:
        """A whole turn in writing."""
        self._check_running()
        if not text.strip():
            raise ValueError("there is nothing in this text")
        keep, post = self.engine.transcript.keep_typed, self.engine.driver.post
        self._in_own_thread(lambda: post(ev.TextTyped, content=keep(text)))

    def press(self) -> None:
        """Push-to-talk goes down."""
        self._check_running()
        self.engine.hearing.press()

    def release(self) -> None:
        """Push-to-talk comes up."""
        self._check_running()
        self.engine.hearing.release()

    def send(self) -> None:
        """The person says by hand that the turn is complete."""
        self._check_running()
        self.engine.driver.post(ev.SendPressed)

    def interrupt(self, source: str = "program") -> None:
        """Stop talking, or stop thinking; what was asked counts as cancelled. Observers are told the source."""
        self._check_running()
        self._in_own_thread(lambda: self._command(ev.InterruptRequested, "interrupt", source))

    def suspend(self, reason: str = "") -> None:
        """Pause: nothing is heard, said or timed until `resume`. Observers are told the reason."""
        self._check_running()
        self._in_own_thread(lambda: self._command(ev.SuspendRequested, "suspend", reason))

    def resume(self) -> None:
        """Go on after a pause."""
        self._check_running()
        self.engine.driver.post(ev.ResumeRequested)

    def reconnect(self) -> None:
        """Give this session up and make a new one."""
        self._check_running()
        self.engine.driver.post(ev.ReconnectRequested)

    def retry(self) -> None:
        """After a fault: try again, and answer what is still owed."""
        self._check_running()
        self.engine.driver.post(ev.RetryRequested)

    recover = retry

    def dismiss(self) -> None:
        """After a fault: go on without what was owed."""
        self._check_running()
        self.engine.driver.post(ev.DismissRequested)

    def cancel(self, call: int) -> None:
        """Cancel a job."""
        self._check_running()
        self.engine.driver.post(ev.CancelRequested, call=call)

    def answer(self, call: int, text: str) -> None:
        """Give a job the answer that it asked for."""
        self._in_own_thread(lambda: self.engine.tool_calls.answer(call, text))

    def notify_transcript(self, heard: Heard) -> None:
        """Something heard by ears that are not the agent's own."""
        self.engine.note_heard(heard)

    def notify_voice(self, heard: Played | Finished | Stopped | Unplayable) -> None:
        """Something that a line of the program's own has played."""
        self._in_own_thread(lambda: self.engine.playback.note(heard))

    def notify_worker(self, call: int, text: str, fraction: float | None = None) -> None:
        """A sign of life of a job that runs elsewhere."""
        self._in_own_thread(lambda: self.engine.tool_calls.note_sign(call, text, fraction))

    def _command(self, kind: KindOf[ev.Event], name: str, why: str) -> None:
        self.engine.announcer.note_command(self.engine.driver.now(), name, why)
        self.engine.driver.post(kind)

    def _in_own_thread(self, act: Callable[[], object]) -> None:
        """Do this now; from another thread, as soon as the conversation's own can, where what goes wrong is told."""
        if not self.engine.driver.is_other_thread:
            act()
            return

        def do() -> None:
            try:
                act()
            except Exception as failure:  # noqa: BLE001 - whoever asked has gone on long ago
                self.engine.report_failure("command", failure)

        self.engine.driver.call_soon(do)

    def _check_running(self) -> None:
        if self.engine.driver.state.link in CLOSED:
            has_begun = self._starting is not None
            raise NotRunning(
                "the conversation is over" if has_begun else "the conversation has not begun: start it first"
            )

    # -- Knowing what goes on, as L-20 and L-21 ask

    @property
    def state(self) -> str:
        """Where the conversation is, in the ten states of the panel."""
        return self.engine.announcer.conversation.state

    @property
    def previous_state(self) -> str | None:
        return self.engine.announcer.conversation.previous

    @property
    def entered_at(self) -> int:
        return self.engine.announcer.conversation.entered_at

    @property
    def phase(self) -> str:
        """Where the conversation is: idle, starting, listening, user_speaking, thinking, working, speaking,
        interrupted, paused, reconnecting, error or ending. `duologue.core.views.PHASES` says what each means."""
        return self.engine.announcer.phase.state

    @property
    def machine_state(self) -> State:
        return self.engine.driver.state

    @property
    def history(self) -> tuple[Item, ...]:
        """What was said and done, as far as it was heard."""
        return self.engine.transcript.items

    @property
    def context(self) -> dict[str, Any]:
        """Everything about now that is not in the history; it may hold words."""
        texts = self.engine.transcript.turns(self.engine.driver.state.answered + 1, self.engine.driver.state.said)
        saved = self.engine.sessions.context
        return {
            **context_of(self.engine),
            "summary": saved.summary if saved else "",
            "active_files": list(saved.notes) if saved else [],
            "queued_user_input": [text for _, text in texts],
        }

    def snapshot(self) -> Snapshot:
        return snapshot_of(self.engine)

    @property
    def transitions(self) -> tuple[sg.Transitioned, ...]:
        """The last 20, oldest first."""
        return tuple(self.engine.announcer.conversation.transitions)

    @property
    def metrics(self) -> Metrics:
        return self.engine.announcer.meter.metrics()

    def on(self, kind: KindOf[Sig], handler: Callable[[Sig], object]) -> Callable[[], None]:
        """Call this with every signal of a kind. Returns what undoes it."""
        return self.engine.bus.on(kind, handler)

    def on_state_changed(self, handler: Callable[[sg.Transitioned], object]) -> Callable[[], None]:
        """Call this whenever the conversation moves."""
        view = self.engine.announcer.conversation.view.name
        return self.engine.bus.on(sg.Transitioned, lambda moved: handler(moved) if moved.view == view else None)

    def on_turn_event(
        self, handler: Callable[[sg.TurnStarted | sg.TurnCompleted | sg.TurnInterrupted | sg.TurnDropped], object]
    ) -> Callable[[], None]:
        """Call this when a turn of either side starts, is completed, interrupted or dropped."""
        offs = (
            self.engine.bus.on(sg.TurnStarted, handler),
            self.engine.bus.on(sg.TurnCompleted, handler),
            self.engine.bus.on(sg.TurnInterrupted, handler),
            self.engine.bus.on(sg.TurnDropped, handler),
        )

        def off() -> None:
            for one in offs:
                one()

        return off

    def on_error(self, handler: Callable[[sg.Failed], object]) -> Callable[[], None]:
        return self.engine.bus.on(sg.Failed, handler)

    def transition(self, kind: KindOf[ev.Event], **given: Any) -> None:
        """Give the machine an event by hand."""
        self.engine.driver.post(kind, **given)

    def can_transition(self, kind: KindOf[ev.Event], **given: Any) -> bool:
        """Would this event do anything now?"""
        try:
            number = {"seq": self.engine.driver.state.seq + 1} if hasattr(kind, "seq") else {}
            event = self.engine.driver.make(kind, {**number, **given})
            return MACHINE.accepts(self.engine.driver.state, event)
        except (DuologueError, TypeError):
            return False


def _note_seen(starting: asyncio.Future[None]) -> None:
    """A beginning that fails when nobody waits for it any more is no error to complain of."""
    if not starting.cancelled():
        starting.exception()


def _reason_of(record: StepRecord) -> str:
    """Why it ends, if nobody gave a reason."""
    if record.before.fault is not None and not isinstance(record.event, ev.EndRequested):
        return f"fault: {record.before.fault.error.value}"
    return "hung up" if isinstance(record.event, ev.EndRequested) else "goodbye"
