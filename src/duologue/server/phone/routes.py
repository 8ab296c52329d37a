"""Phone calls over the carriers' media WebSockets, as routes for a Starlette application.

The carrier announces a call with a webhook, and gets a token in the response. The stream that follows must present the
token. Each stream is one conversation, and a failure in one doesn't affect the others. Rule: a stream ends with a close
code that says why, and with one log line that names the carrier and the reason, without spoken words, phone numbers or
secrets.
"""

from __future__ import annotations

import asyncio
import logging
import uuid
from collections import Counter, deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeAlias

from starlette.routing import BaseRoute, Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect, WebSocketState

from duologue.core.errors import DuologueError
from duologue.lines.phone.call import inputs as on
from duologue.lines.phone.carriers import CARRIERS, Carrier, Started
from duologue.lines.phone.digits import Digits
from duologue.lines.phone.line import PhoneLine
from duologue.lines.phone.media_stream import BROKEN, FULL, REFUSED, UNSUPPORTED, Stream, StreamRefused
from duologue.ports.context import CallInfo, Context
from duologue.runtime.agent import Agent
from duologue.runtime.agent_source import AgentOrMaker, AgentSource
from duologue.runtime.conversation import Conversation, NotRunning

from ..caller_address import caller_address
from ..caller_budget import Refused
from ..direct_messages import DIRECT_KEY
from ..limited_caller import LimitedCaller, unanswered_of
from ..message_limits import MessageLimits
from ..settings import Limits
from .answer_listener import screen_answer
from .call_parameters import from_stream
from .exchange import PhoneExchange
from .machine_message import KeptLine, leave_message, message_agent
from .phone_call import Opening, PhoneCall
from .settings import InvalidPhoneSettings, PhoneSettings
from .stream_tokens import StreamTokens, UsedTokenFiles
from .webhooks import CALL_ID, CALL_KEY, CALLED, CALLER, RETURNED, Webhooks

__all__ = ["InvalidPhoneSettings", "PhoneExchange", "PhoneSettings", "phone_routes"]

LOG = logging.getLogger("duologue.phone")
LOG.addHandler(logging.NullHandler())
Receive: TypeAlias = Callable[[], Awaitable[str | None]]
NORMAL = 1000
END_S_MAX = 5.0  # a conversation takes at most 2 s to end
FLUSH_S_MAX = 1.0
UNADMITTED_MAX = 50  # sockets of one address that have shown no token yet
UNSENT_MAX = 2_000  # queued messages (40 s of sound): if there are more, the carrier isn't reading


def phone_routes(
    make_agent: AgentOrMaker,
    settings: PhoneSettings,
    on_conversation: Callable[[Conversation], None] = lambda conversation: None,  # noqa: ARG005
    is_open: Callable[[], bool] = lambda: True,
    address_of: Callable[[dict[str, Any]], str] = lambda scope: caller_address(scope, ()),
    exchange: PhoneExchange | None = None,
    limits: Limits | None = None,
    note_refused: Callable[[str], None] = lambda limit: None,  # noqa: ARG005
) -> list[BaseRoute]:
    """The routes for all configured carriers. `make_agent` is called for each call, and `on_conversation` is called
    with each conversation before it starts. While `is_open` returns False, new calls are refused, so that the carrier
    tries the number's fallback address. `address_of` returns the caller's address; a socket counts towards the limits
    of that address. If an `exchange` is given, the program can also place calls: `exchange.dial(…)`. `limits` apply to
    the sound and the pressed keys of each call, as in a conversation with a browser; `note_refused` is called with the
    name of each limit that refuses something."""
    used = UsedTokenFiles(settings.used_tokens) if settings.used_tokens is not None else None
    tokens = StreamTokens(settings.token_key, settings.token_ms_max, used=used)
    exchange = exchange or PhoneExchange(settings)
    webhooks = Webhooks(settings, tokens, is_open, exchange)
    calls = PhoneCalls(make_agent, settings, tokens, on_conversation, address_of, exchange)
    calls.limits, calls.note_refused = limits or Limits(), note_refused
    routes: list[BaseRoute] = []
    for name in settings.carriers:
        voice = "voice" if name == "twilio" else "texml"
        handlers = {"status": webhooks.status, "answered": webhooks.answered, "dialled": webhooks.dialled}
        for path, handle in {voice: webhooks.voice, **handlers}.items():
            routes.append(Route(f"/phone/{name}/{path}", partial(handle, name), methods=["POST"]))
        routes.append(WebSocketRoute(f"/phone/{name}/stream", partial(calls.take, CARRIERS[name])))
    return routes


class CarrierSocket:
    """The queue of messages for one socket of a carrier. Sending never waits. A `clear` message replaces everything
    that is still queued, so it is sent next."""

    def __init__(self, socket: WebSocket) -> None:
        self._socket = socket
        self._unsent: deque[str] = deque()
        self._wake = asyncio.Event()
        self._is_closed = False

    def send(self, text: str) -> None:
        if self._unsent and text.startswith('{"event": "clear"'):
            self._unsent.clear()
        if len(self._unsent) >= UNSENT_MAX:
            raise ConnectionError("the carrier doesn't read what we send")
        self._unsent.append(text)
        self._wake.set()

    def close(self) -> None:
        self._is_closed = True
        self._wake.set()

    async def write(self) -> None:
        """Send queued messages until `close` is called and the queue is empty."""
        while self._unsent or not self._is_closed:
            while self._unsent:
                await self._socket.send_text(self._unsent.popleft())
            if not self._is_closed:
                self._wake.clear()
                await self._wake.wait()


@dataclass(slots=True)
class _Place:
    """What a stream counts towards: the limits of its address until it has presented a valid token, and from then on
    the number of calls."""

    address: str
    is_admitted: bool = False


class PhoneCalls:
    """Serves the streams of all carriers. Each stream is one call."""

    def __init__(
        self,
        make_agent: AgentOrMaker,
        settings: PhoneSettings,
        tokens: StreamTokens,
        on_conversation: Callable[[Conversation], None],
        address_of: Callable[[dict[str, Any]], str],
        exchange: PhoneExchange,
    ) -> None:
        self._address_of = address_of
        self._exchange = exchange
        self._given = make_agent
        self._source: AgentSource | None = None  # made with the first call
        self._settings = settings
        self._tokens = tokens
        self._on_conversation = on_conversation
        self.limits = Limits()
        self.note_refused: Callable[[str], None] = lambda limit: None  # noqa: ARG005
        self._running = 0
        self._unadmitted: Counter[str] = Counter()  # by address: sockets that have shown no token yet

    async def take(self, carrier: Carrier, websocket: WebSocket) -> None:
        """Serve one socket, from its handshake to its end."""
        await websocket.accept()
        place = _Place(self._address_of(dict(websocket.scope)))
        self._unadmitted[place.address] += 1
        socket = CarrierSocket(websocket)
        admit, settings = partial(self._admit, carrier, websocket, place), self._settings
        stream = Stream(carrier, socket, admit, settings.pace, settings.sends(carrier.name))
        code, why = NORMAL, ""
        limits = MessageLimits(self.limits, self.note_refused, is_admitted=False)
        receive = _receiver(websocket, limits)
        try:
            if self._unadmitted[place.address] > UNADMITTED_MAX:
                self.note_refused("address")
                raise StreamRefused(FULL, "too many streams without a token from one address")
            line = await self._await_start(receive, stream)
            if line is not None:
                limits.admit()
                if (direct := websocket.scope.get(DIRECT_KEY)) is not None:
                    direct.admit()
                info, call = self._info(stream, websocket)
                await self._hold_call(receive, socket, stream, line, partial(self._talk, call, line, info), call)
        except StreamRefused as problem:
            code, why = problem.code, str(problem)
            LOG.warning("%s: refused, %s (%d)", carrier.name, why, code)
        except Exception:
            code, why = BROKEN, "an internal error"
            raise
        finally:
            if place.is_admitted:
                self._running -= 1
            else:
                self._leave_unadmitted(place.address)
            await _close(websocket, code, why)

    def _leave_unadmitted(self, address: str) -> None:
        self._unadmitted[address] -= 1
        if not self._unadmitted[address]:
            del self._unadmitted[address]

    def _admit(self, carrier: Carrier, websocket: WebSocket, place: _Place, started: Started) -> None:
        """Check with its token that one of our webhooks announced this stream, and count it as a call. Raises
        StreamRefused if the token is missing or not valid, or if `calls_max` calls are running."""
        token = started.parameters.get("token", "") or websocket.query_params.get("token", "")
        if not token:
            raise StreamRefused(REFUSED, "no token, neither in the parameters of the start message nor in the query")
        if not self._tokens.take(token, carrier.name, started.call):
            raise StreamRefused(REFUSED, "the token is wrong, used or expired")
        if self._running >= self._settings.calls_max:
            self.note_refused("conversations")
            raise StreamRefused(FULL, "too many calls at once")
        self._running += 1
        self._leave_unadmitted(place.address)
        place.is_admitted = True

    async def _await_start(self, receive: Receive, stream: Stream) -> PhoneLine | None:
        """Wait until the carrier starts the stream. Returns the line, or None if the carrier disconnects first."""
        try:
            async with asyncio.timeout(self._settings.start_ms_max / 1000):
                while stream.line is None:
                    text = await receive()
                    if text is None:
                        LOG.info("%s: disconnected before the start message", stream.carrier.name)
                        return None
                    stream.receive(text)
        except TimeoutError:
            raise StreamRefused(REFUSED, "the carrier sent no start message in time") from None
        return stream.line

    async def _hold_call(
        self,
        receive: Receive,
        socket: CarrierSocket,
        stream: Stream,
        line: PhoneLine,
        talk: Callable[[], Any],
        call: PhoneCall,
    ) -> None:
        watch = _Watch()
        talking = asyncio.ensure_future(talk())
        others = [
            asyncio.ensure_future(_read(receive, stream, watch, call)),
            asyncio.ensure_future(socket.write()),
            asyncio.ensure_future(watch.expect(self._settings.quiet_ms_max)),
        ]
        try:
            await asyncio.wait((talking, *others), return_when=asyncio.FIRST_COMPLETED)
            if not talking.done():
                call.feed(on.StreamClosed(call.now()))
            stream.end()
            await asyncio.wait((talking,), timeout=END_S_MAX)
            socket.close()
            await asyncio.wait((others[1],), timeout=FLUSH_S_MAX)
            _raise_refusal(talking, *others)
        finally:
            call.feed(on.StreamClosed(call.now()))
            for task in (talking, *others):
                task.cancel()
            await asyncio.gather(talking, *others, return_exceptions=True)
        facts = {**stream.counts, **{name: count for name, count in line.facts.items() if count}}
        stopped = "" if stream.has_stopped or line.has_hung_up else ", without a stop message"
        LOG.info("%s: the call has ended%s %s", stream.carrier.name, stopped, facts)

    def _info(self, stream: Stream, websocket: WebSocket) -> tuple[CallInfo, PhoneCall]:
        """The facts about a call, and the object of the call. The facts are the phone numbers from our webhook, and the
        parameters that the carrier sends. An outgoing call's object is found by the call's key; an incoming call gets a
        new object."""
        given = dict(stream.parameters)
        query = dict(websocket.query_params)
        given.pop("token", None)
        caller, called, key, call_id, returned = (
            given.pop(name, "") or query.get(name, "") for name in (CALLER, CALLED, CALL_KEY, CALL_ID, RETURNED)
        )
        parameters = from_stream(given, query)
        if returned:
            parameters = {**self._exchange.parameters_before(call_id), **parameters}
        found = self._exchange.find(key) if key else None
        call = found or self._exchange.arriving(stream.carrier.name)
        call.call_id = call_id or call.call_id or stream.call
        if found is not None and found.outgoing is not None:
            parameters |= found.outgoing.parameters
        direction = "out" if found is not None else "in"
        call.number = call.number or caller
        info = CallInfo(
            uuid.uuid4().hex, "phone", caller, called, direction=direction, returned=returned, parameters=parameters
        )
        return info, call

    async def _talk(self, call: PhoneCall, line: PhoneLine, info: CallInfo) -> None:
        """Let the agent do its work in a call, from the start of the stream: find out who has answered if that is
        wanted, then leave a message or hold the conversation."""
        call.line = line
        kind = on.Answered if info.direction == "out" else on.CallArrived
        call.feed(kind(call.now()))
        opening = await call.opening()
        context: Context[Any] = Context(info)
        context.attach_actions(call)
        agent: Agent | None = None
        if opening is Opening.SCREEN:
            agent = await self._make_agent(context, call)
            opening = await screen_answer(call, line, agent)
            # the function that makes the agent didn't know it yet; tools and brains do
            context.info = info = replace(info, answered_by=call.state.answerer.value)
        if opening is Opening.NOTHING:
            return
        agent = agent or await self._make_agent(context, call)
        if opening is Opening.MESSAGE:
            assert call.outgoing is not None
            conversation = self._converse(KeptLine(line), context, call, message_agent(agent, call.outgoing.message))
            is_left = await leave_message(conversation)
            call.feed((on.TalkEnded if is_left else on.MessageFailed)(call.now()))
            return
        conversation = self._converse(line, context, call, _returned(agent, info))
        await conversation.run()
        call.feed(on.TalkEnded(call.now()))

    async def _make_agent(self, context: Context[Any], call: PhoneCall) -> Agent:
        try:
            source = self._source_for(call)
            return await source.make(context) if source.is_awaited else source.plain()
        except Exception as failure:  # noqa: BLE001 - one call must not end the others
            raise _broken_agent(failure) from None

    def _converse(self, line: Any, context: Context[Any], call: PhoneCall, agent: Agent) -> Conversation:
        settings = self._settings
        name = context.conversation
        journal = settings.journals / f"{name}.jsonl" if settings.journals is not None else None
        try:
            conversation = Conversation(agent, line, journal=journal, conversation_id=name, context=context)
            self._on_conversation(conversation)
        except Exception as failure:  # noqa: BLE001 - one call must not end the others
            raise _broken_agent(failure) from None
        caller = LimitedCaller(self.limits, self.note_refused)
        call.conversation = conversation
        call.digits = Digits(partial(_type, conversation, caller), settings.digits_terminator, settings.digits_pause_ms)
        assert call.line is not None
        call.line.pressed = call.digits.press
        call.line.may_hear = lambda ms: caller.hear(ms, _log_refusal)
        return conversation

    def _source_for(self, call: PhoneCall) -> AgentSource:
        """Where a call gets its agent from: the agent that was given when the call was placed; otherwise the server's
        agent."""
        if call.outgoing is not None and call.outgoing.agent is not None:
            return AgentSource(call.outgoing.agent)
        self._source = self._source or AgentSource(self._given)
        return self._source


def _broken_agent(failure: Exception) -> StreamRefused:
    return StreamRefused(BROKEN, f"the agent could not be created: {type(failure).__name__}")


def _returned(agent: Agent, info: CallInfo) -> Agent:
    """The agent to use for this call. If the caller is back after a failed transfer, the agent begins with words about
    that instead of its greeting."""
    if not info.returned:
        return agent
    words = agent.phrases.say(agent.language, "not_reached", 0)
    return replace(agent, phrases=replace(agent.phrases, greeting=words))


class _Watch:
    """Notes when the carrier last sent something. `expect` waits, and raises StreamRefused when the carrier has sent
    nothing for too long."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self.heard_at = self._loop.time()

    def note(self) -> None:
        self.heard_at = self._loop.time()

    async def expect(self, quiet_ms_max: int) -> None:
        while (left_s := self.heard_at + quiet_ms_max / 1000 - self._loop.time()) > 0:
            await asyncio.sleep(left_s)
        raise StreamRefused(REFUSED, "the carrier has sent nothing for too long")


async def _read(receive: Receive, stream: Stream, watch: _Watch, call: PhoneCall) -> None:
    """Pass on the carrier's messages until the carrier ends the stream or disconnects."""
    while not stream.has_stopped:
        text = await receive()
        if text is None:
            break
        watch.note()
        stream.receive(text)
    call.feed(on.StreamClosed(call.now()))  # before the conversation notices it


def _receiver(websocket: WebSocket, limits: MessageLimits) -> Receive:
    """Make a function that returns the next message, or None if the carrier has disconnected. It raises StreamRefused
    if the message is binary, or if too much is sent."""

    async def receive() -> str | None:
        message = await websocket.receive()
        if message["type"] == "websocket.disconnect":
            return None
        text = message.get("text")
        if not isinstance(text, str):
            raise StreamRefused(UNSUPPORTED, "the carrier sent a binary message instead of text")
        if limits.is_too_fast(text):
            raise StreamRefused(REFUSED, "the carrier sends too many messages, or too much with them")
        return text

    return receive


def _raise_refusal(*tasks: asyncio.Task[Any]) -> None:
    """If one of these tasks has failed, raise the failure that ended the call. Does nothing after a lost connection,
    which is a normal end."""
    for task in tasks:
        failure = task.exception() if task.done() and not task.cancelled() else None
        if isinstance(failure, StreamRefused):
            raise failure
        if isinstance(failure, DuologueError):
            raise StreamRefused(BROKEN, f"the conversation did not start: {type(failure).__name__}")
        if failure is not None and not isinstance(failure, OSError | RuntimeError | WebSocketDisconnect):
            raise failure


def _log_refusal(refused: Refused) -> None:
    LOG.warning("a call: %s", refused.message)


def _type(conversation: Conversation, caller: LimitedCaller, digits: str) -> None:
    refused = caller.type(len(digits), unanswered_of(conversation))
    if refused is not None:
        _log_refusal(refused)
        return
    try:
        conversation.type(digits, sees_captions=False)
    except NotRunning:
        LOG.info("ignored keys that were pressed after the end of the call")


async def _close(websocket: WebSocket, code: int, why: str) -> None:
    """Close the socket, unless it is closed already."""
    is_open = WebSocketState.CONNECTED
    if websocket.client_state is is_open and websocket.application_state is is_open:
        try:
            await websocket.close(code, why)
        except (OSError, RuntimeError, WebSocketDisconnect):
            return
