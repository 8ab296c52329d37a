"""The link from one server process to its parent. The process gets sockets over it, and asks the parent about the other
processes.

Rule: when the parent process has ended, this process stops in the same way as if the parent had told it to stop.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import socket
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Protocol

from ..limit_news import LimitNews, RoomWanted, news_of, row_of
from ..siblings import SCOPE_KEY
from . import process_messages as pm
from .channel import VARIABLE, Channel, TooLarge, receive_packet
from .connection import Arrival, Connections, Given

LOG = logging.getLogger("duologue.server")
REPORT_S = 1.0  # a process that sends nothing for ten times as long counts as hung
REPORT_SOON_S = 0.05
ANSWER_S_MAX = 8.0  # less than a client may take to say hello
CALLS_IN_A_PART = 100
NEWS_IN_A_PART = 500


class Neighbourhood(Protocol):
    """What the link needs from the server in its process."""

    def own_metrics(self) -> str:
        """The metrics of this process, as text."""
        ...

    def share_calls(self, is_shared: bool) -> None:
        """Start or stop sharing the list of this process's conversations with the other processes, now and whenever it
        changes."""
        ...

    def note_calls(self, process: int, calls: Sequence[dict[str, Any]]) -> None:
        """Note the list of conversations that run in another process of this server."""
        ...

    def note_limits(self, process: int, news: Iterable[LimitNews]) -> None:
        """Process reports of another process on what addresses have used of their limits."""
        ...

    def all_limits(self) -> Iterable[LimitNews]:
        """What every address uses of its limits now, for a process that has just started."""
        ...

    def drop_limits(self, process: int) -> None:
        """Forget the connections and conversations that another process counted, because it has ended."""
        ...


class ParentLink:
    """A server process's end of the channel to its parent. It implements `Siblings`. When it is created, it reads the
    parent's first message into `welcome`."""

    def __init__(self, end: socket.socket) -> None:
        packet, _ = receive_packet(end)
        self.welcome: pm.Welcome = pm.decode(packet)
        self._channel = Channel(end, self._receive, self._note_parent_gone)
        self._connections: Connections | None = None
        self._server: Neighbourhood | None = None
        self._on_stop: Callable[[], None] = lambda: None
        self._questions: dict[int, asyncio.Future[Any]] = {}
        self._asked = 0
        self._calls: dict[int, list[dict[str, Any]]] = {}  # parts of lists that are not complete yet
        self._news: list[LimitNews] = []  # for all other processes, sent in the next round of the event loop
        self._tasks: set[asyncio.Task[None]] = set()
        self._reporting: asyncio.TimerHandle | None = None

    @property
    def shared_key(self) -> str:
        return self.welcome.token_key

    @property
    def shared_folder(self) -> str:
        return self.welcome.folder

    def open(self, server: Neighbourhood, on_stop: Callable[[], None]) -> None:
        """Start to read the parent's messages. `on_stop` is called when the process should stop."""
        self._server, self._on_stop = server, on_stop
        self._channel.open()
        self._channel.send(pm.WantLimits())

    def take_connections(self, connections: Connections, lines: Sequence[str]) -> None:
        """Tell the parent that this process can serve connections now. The parent prints `lines`, which tell the user
        what is served."""
        self._connections = connections
        self._channel.send(pm.Serving(tuple(lines)))
        self._report()

    def leave(self) -> None:
        """Tell the parent that this process is stopping."""
        self._channel.send(pm.Leaving())

    def close(self) -> None:
        """Stop listening to the parent."""
        if self._reporting is not None:
            self._reporting.cancel()
        self._channel.close()

    def _note_parent_gone(self) -> None:
        LOG.warning("the parent process is gone: stopping")
        self._on_stop()

    # -- What the parent says

    def _receive(self, message: pm.FromParent, client: socket.socket | None) -> None:
        match message:
            case pm.ConnectionPassed():
                assert client is not None
                self._take(message, client)
            case pm.ClientFound():
                self._answer(message.question, message.process)
            case pm.MetricsSummed():
                self._answer(message.question, message.data.decode())
            case pm.SendMetrics():
                assert self._server is not None
                self._channel.send(pm.OwnMetrics(self._server.own_metrics().encode()))
            case pm.ShareCalls():
                assert self._server is not None
                self._server.share_calls(message.is_wanted)
            case pm.CallsPart():
                self._note_calls(message)
            case pm.LimitsPart() | pm.TellLimits() | pm.ProcessGone():
                self._note_limits(message)
            case pm.StopServing():
                self._on_stop()
            case pm.Welcome():
                LOG.error("a second welcome is ignored")

    def _take(self, message: pm.ConnectionPassed, client: socket.socket) -> None:
        assert self._connections is not None
        arrival = Arrival(message.data, message.request_bytes, message.seat, message.is_greeted)
        work = self._connections.take(client, message.is_websocket, arrival)
        task = asyncio.get_running_loop().create_task(work, name="connection")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _note_calls(self, message: pm.CallsPart) -> None:
        assert self._server is not None
        found = [] if message.is_first else self._calls.pop(message.process, [])
        found += message.calls
        if message.is_last:
            self._server.note_calls(message.process, found)
        else:
            self._calls[message.process] = found

    def _note_limits(self, message: pm.LimitsPart | pm.TellLimits | pm.ProcessGone) -> None:
        assert self._server is not None
        match message:
            case pm.LimitsPart():
                self._server.note_limits(message.process, map(news_of, message.rows))
            case pm.TellLimits():
                self._send_limits(self._server.all_limits(), message.process)
            case pm.ProcessGone():
                self._server.drop_limits(message.process)

    # -- Questions

    async def _ask(self, make: Callable[[int], pm.FromProcess]) -> Any:
        """Ask the parent a question. `make` gets the question's number, and returns the message to send. Returns the
        parent's answer; None if it takes too long."""
        self._asked += 1
        question = self._asked
        answer = self._questions[question] = asyncio.get_running_loop().create_future()
        try:
            self._channel.send(make(question))
            async with asyncio.timeout(ANSWER_S_MAX):
                return await answer
        except TimeoutError:
            LOG.error("the parent process doesn't answer")
            return None
        finally:
            del self._questions[question]

    def _answer(self, question: int, answer: Any) -> None:
        waiting = self._questions.get(question)
        if waiting is not None and not waiting.done():
            waiting.set_result(answer)

    async def find(self, seat: str, conversation: str) -> int | None:
        found = await self._ask(lambda question: pm.FindClient(question, seat, conversation))
        return None if found == self.welcome.process else found

    async def metrics(self, own: str) -> str:
        found = await self._ask(pm.SumMetrics)
        return own if found is None else found

    # -- What this process tells

    def leave_seat(self, seat: str) -> None:
        self._channel.send(pm.SeatLeft(seat))
        self._report_soon()

    def give_socket(self, connection: Any, process: int, seat: str, messages: Sequence[str] = ()) -> bool:
        given = connection.give_socket(tuple(messages)) if connection is not None else None
        is_greeted = bool(messages)
        return self._give(given, lambda one: pm.HandOn(process, True, one.data, one.request_bytes, seat, is_greeted))

    def give_request(self, scope: dict[str, Any], process: int, body: bytes = b"") -> bool:
        connection = scope.get(SCOPE_KEY)
        if connection is None or connection.arrival.is_handed:  # one that was handed on already stays
            return False
        given = connection.give_request(scope, body)
        return self._give(given, lambda one: pm.HandOn(process, False, one.data, one.request_bytes))

    def _give(self, given: Given | None, make: Callable[[Given], pm.HandOn]) -> bool:
        if given is None:
            return False
        with contextlib.suppress(TooLarge):  # the client is disconnected, and connects again
            self._channel.send(make(given), given.descriptor)
        self._report_soon()
        return True

    def note_begun(self, conversation: str, seat: str) -> None:
        self._channel.send(pm.ConversationBegun(conversation, seat))

    def note_ended(self, conversation: str) -> None:
        self._channel.send(pm.ConversationOver(conversation))

    def note_forgotten(self, conversation: str) -> None:
        self._channel.send(pm.ConversationForgotten(conversation))

    def want_calls(self, is_wanted: bool) -> None:
        self._channel.send(pm.WantCalls(is_wanted))

    def share_calls(self, calls: Sequence[dict[str, Any]]) -> None:
        for part in parts_of(self.welcome.process, calls):
            self._channel.send(part)

    def tell_limit(self, news: LimitNews) -> None:
        if not self._news:
            asyncio.get_running_loop().call_soon(self._send_news)
        self._news.append(news)

    def _send_news(self) -> None:
        news, self._news = self._news, []
        self._send_limits(news, None)

    def ask_for_room(self, process: int, news: RoomWanted) -> None:
        self._send_limits([news], process)

    def _send_limits(self, news: Iterable[LimitNews], to: int | None) -> None:
        rows = [row_of(one) for one in news]
        for start in range(0, len(rows), NEWS_IN_A_PART):
            part = tuple(rows[start : start + NEWS_IN_A_PART])
            self._channel.send(pm.LimitsPart(self.welcome.process, to, part))

    def _report_soon(self) -> None:
        """Report the number of open sockets after a short delay, so that sockets which are closing right now aren't
        included."""
        asyncio.get_running_loop().call_later(REPORT_SOON_S, self._send_load)

    def _report(self) -> None:
        self._send_load()
        self._reporting = asyncio.get_running_loop().call_later(REPORT_S, self._report)

    def _send_load(self) -> None:
        if self._connections is not None:
            self._channel.send(pm.LoadReport(self._connections.open, self._connections.received))


def link_to_parent() -> ParentLink:
    """Make the link of this process to its parent. The channel's file descriptor is removed from the environment, so
    that programs which this process starts can't use the link."""
    return ParentLink(socket.socket(fileno=int(os.environ.pop(VARIABLE))))


def parts_of(process: int, calls: Sequence[dict[str, Any]]) -> Iterator[pm.CallsPart]:
    """Split a list of conversations into several messages, so that no message is too large."""
    starts = range(0, max(1, len(calls)), CALLS_IN_A_PART)
    for start in starts:
        part = tuple(calls[start : start + CALLS_IN_A_PART])
        yield pm.CallsPart(process, part, start == 0, start == starts[-1])
