"""The phone calls of one server process: calls that it has placed, and calls that have come in.

Rule: each call that is placed here gets a key, and the carrier's webhooks about the call contain that key. A webhook
with an unknown key changes nothing.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import Callable, Mapping
from functools import cache, partial
from typing import TypeAlias

from duologue.audio.frames import UnusableAudio, to_pcm
from duologue.audio.wav import read_audio
from duologue.lines.phone.call import inputs as on
from duologue.lines.phone.call.state import CallEnd, CallPolicy, CallStage, CallState, OnMachine
from duologue.ports.context import NotPossible, TransferFailed
from duologue.ports.sound import Sound
from duologue.runtime.agent_source import AgentOrMaker

from .briefing import briefing_agent
from .carrier_api import CarrierApi, SendRequest, api_of
from .hold_music import melody
from .numbers import dialable
from .phone_call import CallTools, Outgoing, PhoneCall
from .settings import PhoneSettings

LOG = logging.getLogger("duologue.phone")
AGAIN_S = 1.0  # until a transfer is tried again when the server stops
Observe: TypeAlias = Callable[[PhoneCall, on.CallInput, CallState], None]
PASSED_ON_MAX = 200  # transferred calls whose parameters are kept, because such a call may come back
_NOT_REACHED = {
    "busy": CallEnd.BUSY,
    "no-answer": CallEnd.NO_ANSWER,
    "failed": CallEnd.FAILED,
    "canceled": CallEnd.NO_ANSWER,
}
_ANSWERED_BY: dict[str, Callable[[int], on.CallInput]] = {  # the same names on Twilio and Telnyx
    "human": on.PersonHeard,
    "machine_start": on.MachineHeard,
    "machine_end_beep": on.BeepHeard,
    "machine_end_silence": on.BeepHeard,
    "machine_end_other": on.BeepHeard,
    "fax": on.FaxHeard,
    "unknown": on.AnswererUnknown,
}


class PhoneExchange:
    """The phone calls of one server process. `send` replaces the network in simulations: it gets the requests to the
    carriers' APIs."""

    def __init__(self, settings: PhoneSettings, send: SendRequest | None = None) -> None:
        self._settings = settings
        self._send = send
        self._apis: dict[str, CarrierApi] = {}
        self._placed: dict[str, PhoneCall] = {}  # by key
        self._calls: set[PhoneCall] = set()  # in progress
        self._passed_on: dict[str, Mapping[str, str]] = {}  # the parameters of transferred calls, by the carrier's id
        self.observe: Observe = lambda call, given, state: None  # noqa: ARG005 - gets each change of each call
        self._music: Sound | None = None

    # -- Placing calls

    def dial(
        self,
        to: str,
        *,
        agent: AgentOrMaker | None = None,
        carrier: str = "",
        machine_message: str = "",
        on_machine: OnMachine | None = None,
        ring_ms: int | None = None,
        parameters: Mapping[str, str] | None = None,
    ) -> PhoneCall:
        """Call this phone number. When the call is answered, `agent` talks, or the server's agent if `agent` is None.
        Returns at once; `await call.over` waits until the call is over. If an answering machine answers and
        `machine_message` is given, that message is left after the beep. Without a message, `on_machine` says what to do
        when a machine answers: TALK to it as to a person (the default), or HANG_UP. Raises NotPossible if the number or
        a setting is wrong."""
        settings = self._settings
        wanted = on_machine or (OnMachine.MESSAGE if machine_message else OnMachine.TALK)
        if (wanted is OnMachine.MESSAGE) != bool(machine_message.strip()):
            raise NotPossible("`machine_message` and `on_machine=OnMachine.MESSAGE` go together: set both, or neither")
        if not settings.number:
            raise NotPossible("calls can't be placed: set `number`, our own number with country code (PHONE_NUMBER)")
        if settings.used_tokens is not None:
            raise NotPossible("calls can't be placed by a server with several processes: use `--workers 1`")
        if carrier and carrier not in settings.carriers:
            known = " or ".join(settings.carriers)
            raise NotPossible(f"calls can't be placed on `carrier` {carrier!r}: its secret isn't set; use {known}")
        outgoing = Outgoing(dialable(to), settings.number, agent, machine_message, parameters or {})
        policy = self._policy(ring_ms, wanted)
        call = self._place(carrier or self._first_carrier(), outgoing, policy)
        asyncio.get_running_loop().call_soon(lambda: call.feed(on.DialAsked(call.now())))
        return call

    def _first_carrier(self) -> str:
        return self._settings.carriers[0]

    def _policy(self, ring_ms: int | None = None, on_machine: OnMachine = OnMachine.TALK) -> CallPolicy:
        return CallPolicy(ring_ms=ring_ms or self._settings.ring_ms, on_machine=on_machine)

    def _place(self, carrier: str, outgoing: Outgoing, policy: CallPolicy) -> PhoneCall:
        tools = self._tools(carrier)
        tools.api()  # a missing setting is told before anything happens
        call = self._add(PhoneCall(secrets.token_urlsafe(12), tools, policy, outgoing))
        call.number = outgoing.to
        self._placed[call.key] = call
        call.over.add_done_callback(lambda _: self._placed.pop(call.key, None))
        return call

    def arriving(self, carrier: str) -> PhoneCall:
        """Make and register the object for a phone call that has just come in."""
        return self._add(PhoneCall(secrets.token_urlsafe(12), self._tools(carrier), self._policy()))

    def _add(self, call: PhoneCall) -> PhoneCall:
        self._calls.add(call)
        call.over.add_done_callback(lambda _: self._forget(call))
        return call

    def _forget(self, call: PhoneCall) -> None:
        self._calls.discard(call)
        if call.conversation is not None and call.state.outcome is CallEnd.TRANSFERRED:
            self._passed_on[call.call_id] = call.conversation.call_context.info.parameters
            while len(self._passed_on) > PASSED_ON_MAX:
                del self._passed_on[next(iter(self._passed_on))]

    def parameters_before(self, call_id: str) -> Mapping[str, str]:
        """The custom parameters that a call had before its transfer. Used when the call comes back. Empty if another
        process has transferred the call."""
        return self._passed_on.pop(call_id, {})

    def find(self, key: str) -> PhoneCall | None:
        """The call that was placed here with this key; None if there is no such call."""
        return self._placed.get(key)

    def _tools(self, carrier: str) -> CallTools:
        settings = self._settings
        return CallTools(
            carrier,
            settings.base_url,
            partial(self._api, carrier),
            self._hold_music,
            self._call_taker,
            settings.number,
            settings.carrier_amd,
            lambda call, given, state: self.observe(call, given, state),
        )

    def _api(self, carrier: str) -> CarrierApi:
        if carrier not in self._apis:
            self._apis[carrier] = api_of(carrier, self._settings, self._send)
        return self._apis[carrier]

    def _hold_music(self) -> Sound:
        if self._music is None:
            self._music = _sound_of(self._settings)
        return self._music

    def _call_taker(self, caller: PhoneCall, to: str, briefing: str, ring_s: float) -> PhoneCall:
        settings = self._settings
        if not settings.number:
            raise NotPossible("the call can't be transferred with a briefing: set `number` (PHONE_NUMBER)")
        if settings.used_tokens is not None:
            raise NotPossible(
                "a transfer with a briefing needs a server with one process: use `--workers 1`, or no briefing"
            )
        assert caller.conversation is not None
        agent = briefing_agent(caller.conversation.agent, briefing, caller.taker_answers)
        policy = self._policy(round(ring_s * 1000), OnMachine.HANG_UP)  # no briefing is recorded on a machine
        return self._place(caller.tools.carrier, Outgoing(to, settings.number, lambda: agent), policy)

    # -- Stopping

    async def drain(self, limit_s: float) -> None:
        """Prepare for the server's stop. If the setting `drain_to` has a number, each running call is transferred to
        that number as soon as possible, and the agent tells the caller first. Without the setting, this does nothing,
        and calls have time to end by themselves."""
        if self._settings.drain_to:
            until = asyncio.get_running_loop().time() + limit_s
            await asyncio.gather(*(self._pass_on(call, until) for call in tuple(self._calls)))

    async def _pass_on(self, call: PhoneCall, until: float) -> None:
        """Transfer this call. If that isn't possible now, try again until it works or the time `until` is reached.
        Example: a call can't be transferred while the caller is talking."""
        while not call.over.done() and asyncio.get_running_loop().time() < until:
            try:
                await self._tell_and_transfer(call)
            except TransferFailed as failure:
                LOG.warning("a call stays with a server that stops: %s", failure.outcome)
                return
            except NotPossible:
                await asyncio.sleep(AGAIN_S)

    async def _tell_and_transfer(self, call: PhoneCall) -> None:
        if call.conversation is None or call.state.stage is not CallStage.TALKING:
            raise NotPossible("the call can't be transferred now")
        agent, context = call.conversation.agent, call.conversation.call_context
        await context.say(agent.phrases.say(agent.language or "en", "passing_on", 0))
        await context.transfer(self._settings.drain_to)

    # -- Reports of the carrier

    def expects(self, key: str) -> bool:
        return key in self._placed

    def report(self, key: str, call: str, status: str) -> None:
        found = self._placed.get(key)
        if found is None:
            return
        found.call_id = found.call_id or call
        if status == "ringing":
            found.feed(on.RingingReported(found.now()))
        elif status in _NOT_REACHED:
            found.feed(on.NotReached(found.now(), _NOT_REACHED[status]))
        elif status == "completed" and found.state.stage in (CallStage.DIALLING, CallStage.RINGING):
            found.feed(on.NotReached(found.now(), CallEnd.FAILED))

    def report_answerer(self, key: str, answered_by: str) -> None:
        found, make = self._placed.get(key), _ANSWERED_BY.get(answered_by)
        if found is not None and make is not None:
            found.feed(make(found.now()))


@cache
def _sound_of(settings: PhoneSettings) -> Sound:
    if settings.hold_music is None:
        return melody()
    try:
        found = read_audio(settings.hold_music)
    except (OSError, UnusableAudio) as problem:
        LOG.warning("hold_music can't be played, a melody is: %s", type(problem).__name__)
        return melody()
    return Sound(max(1, len(found.samples) * 1000 // found.rate_hz), to_pcm(found.samples), found.rate_hz)
