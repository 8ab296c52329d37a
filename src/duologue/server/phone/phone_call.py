"""One phone call: runs the state machine of the call, and performs the machine's effects.

The state machine decides what happens. The class `PhoneCall` holds the line and the conversation, and makes the
requests to the carrier. Rule: the result of a request is passed to the machine as an input with the request's number.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any

from duologue.lines.phone.call import effects as do
from duologue.lines.phone.call import inputs as on
from duologue.lines.phone.call.machine import step
from duologue.lines.phone.call.state import CallEnd, CallPolicy, CallStage, CallState, OnMachine
from duologue.lines.phone.digits import Digits
from duologue.lines.phone.line import PhoneLine
from duologue.lines.phone.tones import UnknownKeys
from duologue.ports.call_actions import KeyRule
from duologue.ports.context import NotPossible, TransferFailed
from duologue.ports.sound import Sound
from duologue.runtime.agent_source import AgentOrMaker
from duologue.runtime.conversation import Conversation, NotRunning

from .carrier_api import CallOrder, CarrierApi, CarrierRefusal
from .numbers import dialable
from .webhooks import join_xml, pass_on_xml

LOG = logging.getLogger("duologue.phone")
_DETECTS = {OnMachine.MESSAGE: "DetectMessageEnd", OnMachine.HANG_UP: "Enable"}  # what the carrier should find out


class Opening(Enum):
    """What to do when the sound stream of a call has started. Either find out who has answered, let the agent talk, or
    leave a message; or nothing, because the call is over."""

    SCREEN = "screen"
    TALK = "talk"
    MESSAGE = "message"
    NOTHING = "nothing"  # the call is over


@dataclass(frozen=True, slots=True)
class Outgoing:
    """What to do in a call that is placed here: whom to call, and with which agent or message."""

    to: str
    caller_id: str = ""
    agent: AgentOrMaker | None = None  # None: the server's
    message: str = ""  # what is said to a machine
    parameters: Mapping[str, str] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True)
class CallTools:
    """What a call needs from its server. `api` returns the object that makes requests to the call's carrier, or raises
    NotPossible. `call_taker` places the call to a person who should take over."""

    carrier: str
    base_url: str  # of the webhooks, as the carrier reaches them
    api: Callable[[], CarrierApi]
    music: Callable[[], Sound]
    call_taker: Callable[[PhoneCall, str, str, float], PhoneCall]
    own_number: str = ""
    carrier_amd: bool = False  # does the carrier find out whether a machine has answered?
    observe: Callable[[PhoneCall, on.CallInput, CallState], None] = lambda call, given, state: None  # noqa: ARG005


class PhoneCall:
    """One phone call. `feed` tells it what has happened. After each input that changes its state, `watch` is called
    with that input and the new state."""

    def __init__(self, key: str, tools: CallTools, policy: CallPolicy, outgoing: Outgoing | None = None) -> None:
        self.key = key
        self.tools = tools
        self.outgoing = outgoing
        self.state = CallState()
        self.call_id = ""  # the carrier's
        self.number = ""  # the number of the other side
        self.problem = ""  # what the carrier has said about the newest request that it refused
        self.line: PhoneLine | None = None
        self.digits: Digits | None = None
        self.conversation: Conversation | None = None
        self.watch: Callable[[on.CallInput, CallState], None] = lambda given, state: None  # noqa: ARG005
        self._policy = policy
        self._loop = asyncio.get_running_loop()
        self.over: asyncio.Future[CallEnd] = self._loop.create_future()
        self._openings: asyncio.Queue[Opening] = asyncio.Queue()
        self._transfer: asyncio.Future[CallEnd] | None = None
        self._to, self._briefing, self._ring_s = "", "", 0.0
        self._taker: PhoneCall | None = None
        self._alarm: asyncio.TimerHandle | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    # -- The machine

    def now(self) -> int:
        return int(self._loop.time() * 1000)

    def feed(self, given: on.CallInput) -> bool:
        """Pass this input to the call's state machine. Returns whether its state has changed."""
        before = self.state
        self.state, effects = step(self._policy, before, given)
        if self.state is before:
            return False
        self._set_timer()
        self.watch(given, self.state)
        self.tools.observe(self, given, self.state)
        for effect in effects:
            self._perform(effect)
        return True

    def _set_timer(self) -> None:
        if self._alarm is not None:
            self._alarm.cancel()
        due = self.state.due
        self._alarm = self._loop.call_at(due / 1000 + 0.002, self._time_passed) if due else None

    def _time_passed(self) -> None:
        self.feed(on.DeadlineReached(self.now()))

    def _perform(self, effect: do.CallEffect) -> None:
        match effect:
            case do.PlaceCall():
                self._request(effect.request, self._place())
            case do.CancelCall():
                self._quietly(self._end_at_carrier())
            case do.ScreenAnswer():
                self._openings.put_nowait(Opening.SCREEN)
            case do.StartTalk():
                self._openings.put_nowait(Opening.TALK)
            case do.StartMessage():
                self._openings.put_nowait(Opening.MESSAGE)
            case do.StartMusic():
                self._hold(self.tools.music())
            case do.StopMusic():
                self._hold(None)
            case do.PassOn():
                self._request(effect.request, self._pass_on())
            case do.CallTaker():
                self._call_taker(effect.request)
            case do.JoinTaker():
                self._request(effect.request, self._join())
            case do.DropTaker():
                if self._taker is not None:
                    self._taker.drop()
            case do.TellTransfer():
                if self._transfer is not None and not self._transfer.done():
                    self._transfer.set_result(effect.outcome)
            case do.EndCall():
                if self.line is not None:
                    self._quietly(self.line.close())
            case do.TellEnd():
                self._end(effect.outcome)

    def _end(self, outcome: CallEnd) -> None:
        self._openings.put_nowait(Opening.NOTHING)
        if outcome is CallEnd.TRANSFERRED and self.conversation is not None:
            self._quietly(self.conversation.end("transferred"))
        if not self.over.done():
            self.over.set_result(outcome)
        LOG.info("%s: the call has ended for the agent: %s", self.tools.carrier, outcome.value)

    # -- Requests to the carrier

    def _request(self, request: int, asking: Awaitable[None]) -> None:
        async def ask() -> None:
            try:
                await asking
            except NotPossible as refusal:
                self.problem = str(refusal)
                LOG.warning("%s", refusal)
                self.feed(on.CarrierRefused(self.now(), request))
            else:
                self.feed(on.CarrierAgreed(self.now(), request))

        self._start(ask())

    def _quietly(self, asking: Awaitable[Any]) -> None:
        """Await this request to the carrier in the background. If the carrier refuses it, the refusal is only logged,
        because the call ends anyway."""

        async def ask() -> None:
            try:
                await asking
            except NotPossible as refusal:
                LOG.warning("%s", refusal)

        self._start(ask())

    def _start(self, doing: Any) -> None:
        task = self._loop.create_task(doing)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _place(self) -> None:
        outgoing, base = self.outgoing, f"{self.tools.base_url}/phone/{self.tools.carrier}"
        assert outgoing is not None
        voice = "voice" if self.tools.carrier == "twilio" else "texml"
        ring_s = max(1, round(self._policy.ring_ms / 1000))
        url, status_url, answer_url = (f"{base}/{path}?key={self.key}" for path in (voice, "status", "answered"))
        order = CallOrder(outgoing.to, outgoing.caller_id, url, status_url, ring_s)
        if self.tools.carrier_amd:
            detects = _DETECTS.get(self._policy.on_machine, "")
            order = replace(order, detects=detects, answer_url=answer_url)
        self.call_id = await self.tools.api().place(order) or self.call_id

    async def _end_at_carrier(self) -> None:
        if self.call_id:
            await self.tools.api().hang_up(self.call_id)

    async def _pass_on(self) -> None:
        tools = self.tools
        action = f"{tools.base_url}/phone/{tools.carrier}/dialled"
        xml = pass_on_xml(self._to, tools.own_number, max(1, round(self._ring_s)), action)
        await tools.api().instruct(self.call_id, xml)

    async def _join(self) -> None:
        """Connect the caller and the person who takes over, in a conference. The person is moved into the conference
        first: if that fails, the caller is still with the agent."""
        taker, api = self._taker, self.tools.api()
        if taker is None or not taker.call_id:
            raise CarrierRefusal("the person who should take over is no longer on the phone")
        room = join_xml(f"duologue-{self.key}")
        await api.instruct(taker.call_id, room)
        await api.instruct(self.call_id, room)

    # -- The person who takes over

    def _call_taker(self, request: int) -> None:
        try:
            self._taker = taker = self.tools.call_taker(self, self._to, self._briefing, self._ring_s)
        except NotPossible as refusal:
            self.problem = str(refusal)
            self._loop.call_soon(self.feed, on.CarrierRefused(self.now(), request))
            return

        def follow(_: on.CallInput, state: CallState) -> None:
            if state.stage in (CallStage.SCREENING, CallStage.TALKING):
                self.feed(on.TakerAnswered(self.now(), request))
            elif state.stage is CallStage.ENDED:
                self.problem = taker.problem
                self.feed(on.TakerLost(self.now(), request, _why(state.outcome)))

        taker.watch = follow
        taker.feed(on.DialAsked(taker.now()))

    def taker_answers(self, accepts: bool) -> None:
        """Tell the call's state machine whether the person who should take over accepts or declines."""
        taker = self.state.taker
        if accepts:
            self.feed(on.TakerAccepted(self.now(), taker))
        else:
            self.feed(on.TakerLost(self.now(), taker, CallEnd.DECLINED))

    def drop(self) -> None:
        """End this call and its conversation, because it isn't needed any more."""
        if self.conversation is not None:
            self._quietly(self.conversation.end("no longer needed"))
        self.feed(on.TalkEnded(self.now()))

    # -- The stream

    async def opening(self) -> Opening:
        """Wait until the state machine decides what to do with the call's stream, and return the decision."""
        return await self._openings.get()

    def _hold(self, music: Sound | None) -> None:
        line, conversation = self.line, self.conversation
        if line is None or conversation is None:
            return
        try:
            if music is not None:
                conversation.suspend("on hold")
                line.set_music(music)
            else:
                line.set_music(None)
                conversation.resume()
        except (NotRunning, ConnectionError):
            LOG.info("%s: the call ended on hold", self.tools.carrier)

    # -- What a program can do

    async def transfer(self, to: str, *, briefing: str, ring_s: float | None) -> None:
        try:
            number = dialable(to)
            self.tools.api()  # a missing setting is told before the caller hears anything
        except NotPossible as problem:
            self.problem = str(problem)
            LOG.warning("%s: the call can't be transferred: %s", self.tools.carrier, problem)
            raise
        if self._transfer is not None and not self._transfer.done():
            raise NotPossible("a transfer of this call is in progress already")
        self._to, self._briefing = number, briefing
        self._ring_s = ring_s if ring_s is not None else self._policy.ring_ms / 1000
        self._transfer, self.problem = self._loop.create_future(), ""
        if not self.feed(on.TransferAsked(self.now(), warm=bool(briefing))):
            self._transfer.cancel()
            raise NotPossible(f"the call can't be transferred now, in its stage {self.state.stage.value!r}")
        outcome = await asyncio.shield(self._transfer)
        if outcome is not CallEnd.TRANSFERRED:
            raise TransferFailed(outcome.value, self.problem or f"the call wasn't transferred: {outcome.value}")

    async def send_digits(self, digits: str) -> None:
        if self.line is None:
            raise NotPossible("the call has not started")
        try:
            await self.line.send_keys(digits)
        except UnknownKeys as problem:
            raise NotPossible(str(problem)) from None
        except ConnectionError:
            raise NotPossible("the call is over") from None

    async def hold(self, on_hold: bool) -> None:
        given = on.CallHoldAsked(self.now()) if on_hold else on.CallResumeAsked(self.now())
        wanted = CallStage.HELD if on_hold else CallStage.TALKING
        if not self.feed(given) and self.state.stage is not wanted:
            raise NotPossible(f"the call can't be put on or off hold now, in its stage {self.state.stage.value!r}")

    async def record(self, on: bool) -> None:
        if on and self.conversation is not None and self.conversation.agent.private:
            raise NotPossible(
                "the call can't be recorded, because its agent is private: set private=False, or don't record"
            )
        await self.tools.api().record(self.call_id, on)

    def expect_keys(self, rule: KeyRule | None) -> None:
        if self.digits is not None:
            self.digits.use(rule)


def _why(outcome: CallEnd) -> CallEnd:
    """Why the person who should take over is no longer on the phone: how the call to that person ended. A normal end
    means that the person has hung up."""
    return CallEnd.HUNG_UP if outcome is CallEnd.COMPLETED else outcome
