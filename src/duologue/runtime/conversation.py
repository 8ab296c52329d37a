"""A conversation between a user and an agent: the API for programs.

Every method posts an event or reads state. All decisions are made in the state machine. Rule: a command to a
conversation that isn't running raises NotRunning.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable
from datetime import datetime
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
from duologue.observe.hearing_fact import HearingStatus, Microphone
from duologue.observe.metrics import Metrics
from duologue.observe.usage import UsageRow
from duologue.observe.view_history import ViewHistory
from duologue.ports.brain import Forgets, Remembers
from duologue.ports.context import Context
from duologue.ports.ears import Heard
from duologue.ports.history import Item
from duologue.ports.line import Finished, Line, Played, Stopped, Unplayable

from .agent import Agent, ToolSource
from .agent_source import engine_for
from .checkpoint import Checkpoint
from .commands import ConversationCommands, context_for
from .engine import Engine
from .hooks import HookRunner
from .receipts import AnswerReceipt
from .seats import SEATS, Seats
from .snapshot import Snapshot, context_of, snapshot_of
from .start_conditions import StartConditions
from .tool_sources import TOOL_SOURCES
from .wall_time import WallTime

S = TypeVar("S")
Sig = TypeVar("Sig", bound=sg.Signal)
KindOf: TypeAlias = type[S]  # inside the class, `type` is a method

UNDO_S_MAX = 1.0  # for servers that provide tools to stop opening
_LINE_METHODS = ("open", "play", "finish", "hold", "resume", "clear", "close")
_MODELS_IN_USE: dict[int, Conversation] = {}  # speech-to-speech models in a conversation, by id()


class StartRefused(DuologueError):
    """The conversation can't start: it has started or is over already, or its session, model or audio isn't ready."""


class NotRunning(DuologueError):
    """A command was given to a conversation that has not started or is over."""


class Conversation:
    """One conversation. Create it inside a running event loop. Then await `run()`, or `start()` and later `end()`."""

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
        checkpoint: Checkpoint | None = None,
        context: Context[Any] | None = None,
    ) -> None:
        lacking = [name for name in _LINE_METHODS if not callable(getattr(line, name, None))]
        if lacking:
            raise TypeError(f"line must be a Line; {type(line).__name__} has no method {', '.join(lacking)}")
        self.id = conversation_id or uuid.uuid4().hex
        self.seat = seat
        self._opened: list[ToolSource] = []
        self._reason = ""
        mine = context_for(agent, context, self.id)

        def make(agent: Agent) -> Engine:
            engine = Engine(agent, line, self._follow, self.id, checkpoint, mine)
            mine.attach(ConversationCommands(engine, self._note_reason, self._open_tools))
            return engine

        self.engine = engine_for(agent, make, is_new=checkpoint is None)
        agent = self.engine.root
        self._wall_time = WallTime(self.engine.driver.now)
        self._conditions = StartConditions(self.engine.session, line, agent.settings, self.engine.driver.now)
        self._seats = seats
        self._loop = asyncio.get_running_loop()
        self._over: asyncio.Future[str] = self._loop.create_future()
        self._starting: asyncio.Future[None] | None = None
        self._initialized = False
        self._shutdown: asyncio.Task[None] | None = None
        if journal is not None:
            self.engine.record(Path(journal), seed)
        self.hooks = HookRunner(self.engine, agent.hooks, self.engine.context, checkpoint is not None)

    def _note_reason(self, reason: str) -> None:
        self._reason = self._reason or reason

    @property
    def agent(self) -> Agent:
        """The agent that holds the conversation now."""
        return self.engine.agent

    @property
    def call_context(self) -> Context[Any]:
        """The context that tools, brains, flow actions and hooks get."""
        return self.engine.context

    # -- Starting and ending

    async def initialize(self) -> None:
        """Prepare the start. Opens the servers that provide tools, and calls the method `prime` of the line and of the
        session, if they have one. `start` calls this itself, so call it only to prepare earlier."""
        if self._initialized:
            return
        self._initialized = True
        self._conditions.follow()
        try:
            await self._open_sources()
            for part in (self.engine.line, self.engine.session):
                prime = getattr(part, "prime", None)
                if prime is not None:
                    await prime()
        except (Exception, asyncio.CancelledError):
            await self._undo_start()
            raise

    async def start(self) -> None:
        """Start the conversation. Returns when the user can speak. Raises StartRefused or SeatTaken. If the awaiting
        task is cancelled, the conversation ends."""
        if self._starting is not None or self._shutdown is not None:
            if self.engine.driver.state.link is not Link.IDLE:
                self.engine.driver.post(ev.StartRequested)  # so that the journal records the request
            raise StartRefused("this conversation has started already; make a new one for a new call")
        starting = await self._prepare()
        try:
            active, primed = self._conditions.session_active, self._conditions.audio_primed
            self.engine.driver.post(ev.StartRequested, session_active=active, audio_primed=primed)
            await self._until_open(starting)
        except Exception:
            await self._undo_start()
            raise

    async def restore(self, played: Played | None = None, receipts: tuple[AnswerReceipt, ...] = ()) -> None:
        """Continue from the checkpoint. Call this instead of `start`. `played` says how much of the newest sound the
        client has played, and `receipts` are the records that it has kept of the answers it was playing. Returns when
        the user can speak again. If the awaiting task is cancelled, the conversation ends."""
        if self._starting is not None or self._shutdown is not None:
            raise StartRefused("this conversation has started already")
        starting = await self._prepare()
        brain = self.agent.thinker
        try:
            has_more = isinstance(brain, Remembers) and await brain.has_more(self.id)
        except (Exception, asyncio.CancelledError):
            await self._undo_start()
            raise
        self.engine.restore(played, has_more, receipts)
        await self._until_open(starting)

    async def _until_open(self, starting: asyncio.Future[None]) -> None:
        try:
            await asyncio.shield(starting)
        except asyncio.CancelledError:
            starting.cancel()  # the caller has stopped waiting for the start
            await asyncio.shield(self.end("cancelled from outside"))
            raise

    async def _prepare(self) -> asyncio.Future[None]:
        """Open the servers that provide tools. Reserve the seat (the client's identity) if the client has one, and the
        brain if it is a speech-to-speech model. Returns a future that is done when the user can speak."""
        self._starting = starting = self._loop.create_future()
        # Mark its exception as retrieved, so that asyncio doesn't log it if no caller waits any more.
        starting.add_done_callback(lambda done: done.cancelled() or done.exception())
        try:
            await self._initialize_unless_ended(starting)
            if self.seat:
                self._seats.take(self.seat, self)
            self._claim_model()
        except (Exception, asyncio.CancelledError):
            await self._undo_start()
            raise
        return starting

    async def _initialize_unless_ended(self, starting: asyncio.Future[None]) -> None:
        """Prepare the start. If the conversation is ended meanwhile, stop preparing and raise StartRefused."""
        preparing = self._loop.create_task(self.initialize(), name="initialize")
        try:
            await asyncio.wait((preparing, starting), return_when=asyncio.FIRST_COMPLETED)
        finally:
            if not preparing.done():
                preparing.cancel()
                await asyncio.wait((preparing,), timeout=UNDO_S_MAX)
        if starting.done():
            raise starting.exception() or StartRefused("the conversation ended before it started")
        preparing.result()

    async def _undo_start(self) -> None:
        """Undo a failed start: release the seat (the client's identity) and the model, if they were reserved, and close
        the servers that were opened. Afterwards `start` may be called again."""
        self._starting, self._initialized = None, False
        self._conditions.unfollow()
        self._leave_seat()
        await self._close_sources()

    def freeze(self) -> None:
        """Stop the sound and the state machine, so that another node can continue from a state that doesn't change."""
        self.engine.line.clear(self.engine.driver.state.voice_id)
        self.engine.driver.close()

    async def abandon(self, reason: str) -> None:
        """Stop immediately and without a goodbye, because another node owns this conversation now."""
        self._reason, self.hooks.has_moved = reason, True
        brain = self.agent.thinker
        if isinstance(brain, Forgets):
            brain.forget(self.id)
        self.freeze()
        self._shut_down()
        await self.wait()

    def crash(self) -> None:
        """For tests: stop as a killed process would. There is no goodbye, the line and the session stay open, and
        nothing more is saved. Another `Conversation(checkpoint=…)` can continue this one."""
        self.engine.crash()

    async def end(self, reason: str = "ended by the program", *, after_speaking: bool = False) -> None:
        """End the conversation. Allowed in any state. Returns when every part of it has ended. With `after_speaking`,
        the agent first finishes what it is saying, and answers what the user has said meanwhile."""
        if self._shutdown is None:
            self._reason = self._reason or reason
        if self.engine.driver.state.link is Link.IDLE or self.engine.driver.is_closed:
            self._shut_down()
        else:
            self.engine.driver.post(ev.EndAfterSpeaking if after_speaking else ev.EndRequested)
        await self.wait()

    async def wait(self) -> str:
        """Wait until the conversation is over. Returns the reason why it ended."""
        return await asyncio.shield(self._over)

    async def run(self) -> str:
        """Start, wait until the conversation is over, and return the reason. If the awaiting task is cancelled, the
        conversation is first ended properly, and unanswered turns are reported as lost."""
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
        """If this step starts or ends the conversation, or refuses its start, notify the callers that wait for that."""
        starting = self._starting
        if starting is not None and not starting.done():
            if any(type(effect) is fx.RefuseStart and not effect.already_running for effect in record.effects):
                starting.set_exception(StartRefused(self._conditions.problem))
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
        """Close every part. Even if one fails, the seat (client's identity) becomes free and callers are notified."""
        reason = self._reason
        self._conditions.unfollow()
        try:
            await self.engine.close()
            await self._close_sources()
            self.engine.bus.send(sg.Ended(self.engine.driver.now(), reason, self.hooks.has_moved))
            self.engine.end_journal()
        finally:
            self._leave_seat()
            if self._starting is not None and not self._starting.done():
                self._starting.set_exception(StartRefused("the conversation ended before it started"))
            self._over.set_result(reason)

    async def _open_sources(self) -> None:
        await self._open_tools(self.agent)
        for source in self._opened:
            self.engine.tool_calls.add_workers(source.workers())

    async def _open_tools(self, agent: Agent) -> None:
        """Open the servers that provide this agent's tools. A server that other conversations use too is shared."""
        for shared in agent.sources:
            self._opened.append(await TOOL_SOURCES.take(shared))

    async def _close_sources(self) -> None:
        """Stop using the servers that provide tools. A server that no other conversation uses is closed."""
        opened, self._opened[:] = tuple(self._opened), ()
        await TOOL_SOURCES.release(*opened)

    def _leave_seat(self) -> None:
        if self.seat:
            self._seats.leave(self.seat, self)
        if _MODELS_IN_USE.get(id(self.agent.brain)) is self:
            del _MODELS_IN_USE[id(self.agent.brain)]

    def _claim_model(self) -> None:
        """Reserve the brain if it is a speech-to-speech model: only one conversation at a time can use it."""
        if self.agent.ears is self.agent.brain and _MODELS_IN_USE.setdefault(id(self.agent.brain), self) is not self:
            raise StartRefused("this model is already used in another conversation: make an agent with its own model")

    # -- Commands

    def type(self, text: str, *, sees_captions: bool = True) -> None:
        """Pass a whole turn that the user typed. `sees_captions` is False if the user has no screen, as on a phone."""
        self._check_running()
        if not text.strip():
            raise ValueError("the typed text is empty")
        self.engine.hearing.type(self.engine.program.hide_typed(text), not sees_captions)

    def press(self) -> None:
        """Tell the conversation that the user presses the push-to-talk button."""
        self._check_running()
        self.engine.hearing.press()

    def release(self) -> None:
        """Tell the conversation that the user releases the push-to-talk button."""
        self._check_running()
        self.engine.hearing.release()

    def send(self) -> None:
        """Tell the conversation that the user ends the turn, such as with a send button."""
        self._check_running()
        self.engine.driver.post(ev.SendPressed)

    def interrupt(self, source: str = "program") -> None:
        """Stop the agent's speech and its request to the brain. The signal Commanded contains the `source`."""
        self._check_running()
        self._in_own_thread(lambda: self._command(ev.InterruptRequested, "interrupt", source))

    def suspend(self, reason: str = "") -> None:
        """Pause until `resume`. Meanwhile nothing is heard or said, and time limits don't run, except those of the
        session and of the pause itself. The signal Commanded contains the `reason`."""
        self._check_running()
        self._in_own_thread(lambda: self._command(ev.SuspendRequested, "suspend", reason))

    def resume(self) -> None:
        """Continue after `suspend`."""
        self._check_running()
        self.engine.driver.post(ev.ResumeRequested)

    def reconnect(self) -> None:
        """Replace the session with a new one."""
        self._check_running()
        self.engine.driver.post(ev.ReconnectRequested)

    def retry(self) -> None:
        """After a fault: try again, and answer the turns that are still unanswered."""
        self._check_running()
        self.engine.driver.post(ev.RetryRequested)

    recover = retry  # another name for the same method

    def dismiss(self) -> None:
        """After a fault: continue without a retry. Turns that were sent to the brain are reported as lost."""
        self._check_running()
        self.engine.driver.post(ev.DismissRequested)

    def cancel(self, call: int) -> None:
        """Cancel the running tool call or job with this number."""
        self._check_running()
        self.engine.driver.post(ev.CancelRequested, call=call)

    def answer(self, call: int, text: str) -> None:
        """Answer the question that the job with this number has asked."""
        self._in_own_thread(lambda: self.engine.tool_calls.answer(call, text))

    def notify_transcript(self, heard: Heard) -> None:
        """For a program that runs the ears (STT and VAD) itself: pass a report from the ears to the conversation."""
        self.engine.note_heard(heard)

    def notify_voice(self, heard: Played | Finished | Stopped | Unplayable) -> None:
        """For a program that runs the line itself: pass a playback report from the line to the conversation."""
        self._in_own_thread(lambda: self.engine.playback.note(heard))

    def notify_microphone(self, microphone: Microphone) -> None:
        """Tell the conversation the condition of the user's microphone, such as muted. Call this if the line knows
        it."""
        self._in_own_thread(lambda: self.engine.hearing_fact.note_microphone(Microphone(microphone)))

    def notify_attention(self, here: bool) -> None:
        """Tell the conversation whether the user is at the screen. Call this if the line knows it."""
        self._in_own_thread(lambda: self.engine.note_attention(here))

    def notify_worker(self, call: int, text: str, fraction: float | None = None) -> None:
        """Report the progress of a job that runs outside of this conversation."""
        self._in_own_thread(lambda: self.engine.tool_calls.note_outside_progress(call, text, fraction))

    def _command(self, kind: KindOf[ev.Event], name: str, why: str) -> None:
        self.engine.announcer.note_command(self.engine.driver.now(), name, why)
        self.engine.driver.post(kind)

    def _in_own_thread(self, act: Callable[[], object]) -> None:
        """Call `act` in the conversation's thread. If the caller is in that thread, `act` is called now, and its
        exception is raised. Otherwise `act` is called later, and its exception is only reported."""
        if not self.engine.driver.is_other_thread:
            act()
            return

        def do() -> None:
            try:
                act()
            except Exception as failure:  # noqa: BLE001 - the caller is in another thread
                self.engine.report_failure("command", failure)

        self.engine.driver.call_soon(do)

    def _check_running(self) -> None:
        if self.engine.driver.state.link in CLOSED:
            has_started = self._starting is not None
            raise NotRunning(
                "the conversation is over" if has_started else "the conversation has not started: start it first"
            )

    # -- State, history and signals

    @property
    def phase(self) -> str:
        """What the conversation is doing: idle, starting, listening, user_speaking, thinking, working, speaking,
        interrupted, paused, reconnecting, error or ending. `duologue.core.views.PHASES` says what each means."""
        return self.engine.announcer.phase.state

    @property
    def hearing(self) -> HearingStatus:
        """Can the user be heard? One of: on, loading, muted, broken, or none (without ears or a microphone)."""
        return self.engine.hearing_fact.value

    @property
    def attention(self) -> bool | None:
        """Is the user at the screen? None if the line can't tell, such as on the phone."""
        return self.engine.attention

    @property
    def previous_phase(self) -> str | None:
        """The phase before the current one; None if the phase has never changed."""
        return self.engine.announcer.phase.previous

    @property
    def entered_at(self) -> int:
        """The time at which the current phase began, in milliseconds of the conversation's clock."""
        return self.engine.announcer.phase.entered_at

    def view(self, name: str) -> ViewHistory:
        """One view of the conversation: `conversation`, `lifecycle` or `phase`. The result has the view's state, its
        previous state, when the state was entered, and the last 20 transitions."""
        return self.engine.announcer.views[name]

    @property
    def machine_state(self) -> State:
        """The whole state of the state machine, as one immutable value."""
        return self.engine.driver.state

    @property
    def history(self) -> tuple[Item, ...]:
        """What was said and done. The agent's speech is included only as far as it was heard."""
        return self.engine.transcript.items

    @property
    def context(self) -> dict[str, Any]:
        """Ids, counts, times, the tool calls that run, the summary for the next session, the active files and the
        unanswered turns. The result may contain words of the user."""
        texts = self.engine.transcript.turns(self.engine.driver.state.answered + 1, self.engine.driver.state.said)
        saved = self.engine.sessions.context
        return {
            **context_of(self.engine),
            "pending_tools": [pending._asdict() for pending in self.engine.tool_calls.running()],
            "summary": saved.summary if saved else "",
            "active_files": list(saved.notes) if saved else [],
            "queued_user_input": [said.text for said in texts],
        }

    def time_of(self, at: int) -> datetime:
        """The time of day, in UTC, of a moment on the conversation's clock, such as the `at` of a signal."""
        return self._wall_time.of(at)

    def snapshot(self) -> Snapshot:
        """The current state, phase, turn and counters. A snapshot contains no words of the conversation."""
        is_ending = self.engine.driver.state.link in CLOSED or self.engine.driver.is_closed
        return snapshot_of(self.engine, self._reason if is_ending else "")

    @property
    def transitions(self) -> tuple[sg.Transitioned, ...]:
        """The last 20 changes of `phase`, oldest first."""
        return tuple(self.engine.announcer.phase.transitions)

    @property
    def metrics(self) -> Metrics:
        """Counts and mean waiting times so far."""
        return self.engine.announcer.meter.metrics()

    @property
    def usage(self) -> tuple[UsageRow, ...]:
        """What the services of this conversation have used so far in this process."""
        return self.engine.usage.ledger.rows

    def on(self, kind: KindOf[Sig], handler: Callable[[Sig], object]) -> Callable[[], None]:
        """Call `handler` with every signal of this kind. Returns a function that unsubscribes."""
        return self.engine.bus.on(kind, handler)

    def on_state_changed(self, handler: Callable[[sg.Transitioned], object]) -> Callable[[], None]:
        """Call `handler` whenever `phase` changes. Returns a function that unsubscribes."""
        view = self.engine.announcer.phase.view.name
        return self.engine.bus.on(sg.Transitioned, lambda moved: handler(moved) if moved.view == view else None)

    def on_enter(
        self, state: str, handler: Callable[[sg.StateEntered], object], view: str = "phase"
    ) -> Callable[[], None]:
        """Call `handler` with the signal StateEntered whenever this view enters this state. The signal contains the
        context. Returns a function that unsubscribes."""
        self._check_state(view, state)
        return self.engine.bus.on(sg.StateEntered, _if_about(view, state, handler))

    def on_exit(
        self, state: str, handler: Callable[[sg.StateExited], object], view: str = "phase"
    ) -> Callable[[], None]:
        """Call `handler` with the signal StateExited whenever this view leaves this state. The signal says how long the
        state lasted. Returns a function that unsubscribes."""
        self._check_state(view, state)
        return self.engine.bus.on(sg.StateExited, _if_about(view, state, handler))

    def _check_state(self, view: str, state: str) -> None:
        views = self.engine.announcer.views
        if view not in views:
            raise ValueError(f"there is no view {view!r}; available: {', '.join(views)}")
        if state not in views[view].view.states:
            states = ", ".join(views[view].view.states)
            raise ValueError(f"the view {view!r} has no state {state!r}; available: {states}")

    def on_turn_event(
        self, handler: Callable[[sg.TurnStarted | sg.TurnCompleted | sg.TurnInterrupted | sg.TurnDropped], object]
    ) -> Callable[[], None]:
        """Call `handler` when a turn of either side starts or ends. Returns a function that unsubscribes."""
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
        """Call `handler` with every fault. Returns a function that unsubscribes."""
        return self.engine.bus.on(sg.Failed, handler)

    def transition(self, kind: KindOf[ev.Event], **given: Any) -> None:
        """Post an event to the state machine."""
        self.engine.driver.post(kind, **given)

    def can_transition(self, kind: KindOf[ev.Event], **given: Any) -> bool:
        """Would the state machine react to this event now?"""
        try:
            number = {"seq": self.engine.driver.state.seq + 1} if hasattr(kind, "seq") else {}
            event = self.engine.driver.make(kind, {**number, **given})
            return MACHINE.accepts(self.engine.driver.state, event)
        except (DuologueError, TypeError):
            return False


def _if_about(view: str, state: str, handler: Callable[[Any], object]) -> Callable[[Any], object]:
    """Make a handler that passes a signal on to `handler` only if the signal is about this state of this view."""
    return lambda told: handler(told) if (told.view, told.state) == (view, state) else None


def _reason_of(record: StepRecord) -> str:
    """The reason why the conversation ends. Used if no caller of `end` gave a reason."""
    if record.before.fault is not None and not isinstance(record.event, ev.EndRequested):
        return f"fault: {record.before.fault.error.value}"
    return "hung up" if isinstance(record.event, ev.EndRequested) else "goodbye"
