"""The link of a process to its parent. The parent is played by the test."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from typing import Any

import pytest

from duologue.server.limit_news import BucketUsed, LimitNews, PlaceLeft, RoomWanted, row_of
from duologue.server.processes import link as link_module
from duologue.server.processes import process_messages as pm
from duologue.server.processes.channel import VARIABLE, Channel, channel_pair
from duologue.server.processes.connection import Arrival, Given
from duologue.server.processes.link import CALLS_IN_A_PART, NEWS_IN_A_PART, ParentLink, link_to_parent, parts_of
from duologue.server.siblings import SCOPE_KEY, Siblings

WELCOME = pm.Welcome(1, 3, "http://127.0.0.1:8765/", "secret", "00", "/tmp/x", False)


class OwnServer:
    """What the link needs of the server."""

    def __init__(self) -> None:
        self.is_shared = False
        self.calls: dict[int, Sequence[dict[str, Any]]] = {}
        self.limits: list[tuple[int, LimitNews]] = []
        self.granted: list[LimitNews] = []
        self.dropped: list[int] = []

    def own_metrics(self) -> str:
        return "duologue_turns_total 1\n"

    def share_calls(self, is_shared: bool) -> None:
        self.is_shared = is_shared

    def note_calls(self, process: int, calls: Sequence[dict[str, Any]]) -> None:
        self.calls[process] = calls

    def note_limits(self, process: int, news: Iterable[LimitNews]) -> None:
        self.limits += [(process, one) for one in news]

    def all_limits(self) -> Iterable[LimitNews]:
        return self.granted

    def drop_limits(self, process: int) -> None:
        self.dropped.append(process)


class TakenConnections:
    """Connections that are only counted."""

    def __init__(self) -> None:
        self.open = self.received = 0
        self.taken: list[tuple[bool, Arrival]] = []

    async def take(self, client: socket.socket, is_websocket: bool, arrival: Arrival) -> None:
        client.close()
        self.open, self.received = self.open + 1, self.received + 1
        self.taken.append((is_websocket, arrival))


class PlayedParent:
    """The other end of the channel, the link, and its server."""

    def __init__(self) -> None:
        ours, theirs = channel_pair()
        self.got: list[Any] = []
        self.clients: list[socket.socket] = []
        self.channel = Channel(ours, self._receive, lambda: None)
        self.channel.open()
        self.channel.send(WELCOME)
        self.link = ParentLink(theirs)
        self.server, self.connections = OwnServer(), TakenConnections()
        self.stops = 0
        self.link.open(self.server, self._stop)

    def _stop(self) -> None:
        self.stops += 1

    def _receive(self, message: Any, client: socket.socket | None) -> None:
        self.got.append(message)
        if client is not None:
            self.clients.append(client)

    async def expect(self, kind: type) -> Any:
        """The newest message of this kind."""
        async with asyncio.timeout(15):
            while True:
                found = [message for message in self.got if isinstance(message, kind)]
                if found:
                    return found[-1]
                await asyncio.sleep(0.001)


@asynccontextmanager
async def played() -> AsyncIterator[PlayedParent]:
    parent = PlayedParent()
    yield parent
    parent.link.close()
    parent.channel.close()
    for client in parent.clients:
        client.close()


async def until(holds: Any) -> None:
    async with asyncio.timeout(15):
        while not holds():
            await asyncio.sleep(0.001)


def test_a_process_learns_what_all_have_in_common_before_anything_else() -> None:
    async def run() -> None:
        async with played() as parent:
            assert parent.link.welcome == WELCOME
            assert parent.link.shared_key == WELCOME.token_key
            assert parent.link.shared_folder == WELCOME.folder
            siblings: Siblings = parent.link
            assert siblings is parent.link

    asyncio.run(run())


def test_connections_come_with_how_they_came() -> None:
    async def run() -> None:
        async with played() as parent:
            parent.link.take_connections(parent.connections, ["Tester"])  # type: ignore[arg-type]
            assert await parent.expect(pm.Serving) == pm.Serving(("Tester",))
            assert await parent.expect(pm.LoadReport) == pm.LoadReport(0, 0)
            for message in (pm.ConnectionPassed(False), pm.ConnectionPassed(True, b"GET", 3, "alice", True)):
                near, far = socket.socketpair()
                near.close()
                parent.channel.send(message, far.detach())
            await until(lambda: len(parent.connections.taken) == 2)
            assert parent.connections.taken == [(False, Arrival()), (True, Arrival(b"GET", 3, "alice", True))]
            parent.link.leave_seat("alice")
            assert await parent.expect(pm.SeatLeft) == pm.SeatLeft("alice")
            await until(lambda: pm.LoadReport(2, 2) in parent.got)

    asyncio.run(run())


@pytest.mark.parametrize(("answer", "found"), [(1, None), (0, 0), (2, 2)], ids=["here", "first", "last"])
def test_the_parent_knows_where_a_client_belongs(answer: int, found: int | None) -> None:
    async def run() -> None:
        async with played() as parent:
            asking = asyncio.create_task(parent.link.find("alice", "c"))
            question = await parent.expect(pm.FindClient)
            assert (question.seat, question.conversation) == ("alice", "c")
            parent.channel.send(pm.ClientFound(question.question + 1, 2))  # an answer to something else
            parent.channel.send(pm.ClientFound(question.question, answer))
            assert await asking == found

    asyncio.run(run())


def test_without_an_answer_the_client_stays_and_the_metrics_are_those_of_this_process(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(link_module, "ANSWER_S_MAX", 0.01)

    async def run() -> None:
        async with played() as parent:
            assert await parent.link.find("alice", "c") is None
            assert await parent.link.metrics("own") == "own"

    asyncio.run(run())


def test_metrics_are_asked_for_and_given() -> None:
    async def run() -> None:
        async with played() as parent:
            parent.channel.send(pm.SendMetrics())
            assert await parent.expect(pm.OwnMetrics) == pm.OwnMetrics(b"duologue_turns_total 1\n")
            asking = asyncio.create_task(parent.link.metrics("own"))
            question = await parent.expect(pm.SumMetrics)
            parent.channel.send(pm.MetricsSummed(question.question, b"duologue_turns_total 9\n"))
            assert await asking == "duologue_turns_total 9\n"

    asyncio.run(run())


class OneConnection:
    """A connection that can be given away, unless it is closed."""

    def __init__(self, is_open: bool = True, arrival: Arrival | None = None) -> None:
        self.arrival = arrival or Arrival()
        self._is_open = is_open
        self.near, self._far = socket.socketpair()

    def give_socket(self, messages: tuple[str, ...]) -> Given | None:
        data = b"".join(text.encode() for text in messages) or b"GET"
        return Given(self._far.detach(), data, 3) if self._is_open else None

    def give_request(self, scope: dict[str, Any], body: bytes) -> Given | None:
        return Given(self._far.detach(), scope["path"].encode() + body, 2) if self._is_open else None


def test_a_socket_is_given_to_another_process() -> None:
    async def run() -> None:
        async with played() as parent:
            assert parent.link.give_socket(OneConnection(), 2, "alice")
            assert await parent.expect(pm.HandOn) == pm.HandOn(2, True, b"GET", 3, "alice", False)
            assert parent.link.give_socket(OneConnection(), 2, "", ("hello", "watch"))
            assert parent.link.give_request({SCOPE_KEY: OneConnection(), "path": "/x"}, 0, b"?")
            await until(lambda: len(parent.clients) == 3)
            handed = [message for message in parent.got if isinstance(message, pm.HandOn)]
            assert handed[1:] == [pm.HandOn(2, True, b"hellowatch", 3, "", True), pm.HandOn(0, False, b"/x?", 2)]

    asyncio.run(run())


def test_what_cannot_be_given_stays() -> None:
    async def run() -> None:
        async with played() as parent:
            assert not parent.link.give_socket(None, 2, "alice")
            assert not parent.link.give_socket(OneConnection(is_open=False), 2, "alice")
            assert not parent.link.give_request({"path": "/x"}, 0)
            handed = OneConnection(arrival=Arrival(b"GET", 3))
            assert not parent.link.give_request({SCOPE_KEY: handed, "path": "/x"}, 0), "once is enough"

    asyncio.run(run())


def test_the_parent_is_told_where_conversations_are() -> None:
    async def run() -> None:
        async with played() as parent:
            parent.link.note_begun("c", "alice")
            parent.link.note_ended("c")
            parent.link.note_forgotten("c")
            parent.link.leave()
            await parent.expect(pm.Leaving)
            assert parent.got == [
                pm.WantLimits(),
                pm.ConversationBegun("c", "alice"),
                pm.ConversationOver("c"),
                pm.ConversationForgotten("c"),
                pm.Leaving(),
            ]

    asyncio.run(run())


@pytest.mark.parametrize("count", [0, 1, CALLS_IN_A_PART, CALLS_IN_A_PART + 1, 3 * CALLS_IN_A_PART])
def test_a_list_of_calls_of_any_length_arrives_whole(count: int) -> None:
    calls = [{"id": str(number)} for number in range(count)]

    async def run() -> None:
        async with played() as parent:
            for part in (*parts_of(0, [{"id": "old"}]), *parts_of(0, calls)):
                parent.channel.send(part)
            await until(lambda: parent.server.calls.get(0) == calls)

    asyncio.run(run())


def test_calls_are_shared_while_an_operator_elsewhere_sees_them() -> None:
    async def run() -> None:
        async with played() as parent:
            parent.channel.send(pm.ShareCalls(True))
            await until(lambda: parent.server.is_shared)
            parent.link.share_calls([{"id": "x"}])
            assert await parent.expect(pm.CallsPart) == pm.CallsPart(1, ({"id": "x"},), True, True)
            parent.link.want_calls(True)
            assert await parent.expect(pm.WantCalls) == pm.WantCalls(True)

    asyncio.run(run())


def test_what_is_granted_is_told_in_one_packet_and_news_of_others_reach_the_server() -> None:
    async def run() -> None:
        async with played() as parent:
            used = BucketUsed("starts", "192.0.2.1")
            parent.link.tell_limit(used)
            parent.link.tell_limit(PlaceLeft(7))
            assert await parent.expect(pm.LimitsPart) == pm.LimitsPart(1, None, (row_of(used), row_of(PlaceLeft(7))))
            parent.link.ask_for_room(2, RoomWanted(7))
            await until(lambda: pm.LimitsPart(1, 2, (row_of(RoomWanted(7)),)) in parent.got)
            parent.channel.send(pm.LimitsPart(2, None, (row_of(used), row_of(PlaceLeft(7)))))
            parent.channel.send(pm.ProcessGone(2))
            await until(lambda: parent.server.dropped == [2])
            assert parent.server.limits == [(2, used), (2, PlaceLeft(7))]

    asyncio.run(run())


def test_a_process_that_has_just_started_is_told_everything() -> None:
    async def run() -> None:
        async with played() as parent:
            assert await parent.expect(pm.WantLimits)
            count = 2 * NEWS_IN_A_PART + 1
            parent.server.granted = [BucketUsed("connections", f"2001:db8:{number:x}::/64") for number in range(count)]
            parent.channel.send(pm.TellLimits(0))
            await until(lambda: len([one for one in parent.got if isinstance(one, pm.LimitsPart)]) == 3)
            parts = [one for one in parent.got if isinstance(one, pm.LimitsPart)]
            assert [row for part in parts for row in part.rows] == [row_of(one) for one in parent.server.granted]
            assert {(part.process, part.to) for part in parts} == {(1, 0)}

    asyncio.run(run())


def test_a_process_stops_when_its_parent_says_so_or_is_gone() -> None:
    async def run() -> None:
        async with played() as parent:
            parent.channel.send(pm.StopServing())
            await until(lambda: parent.stops == 1)
            parent.channel.close()
            await until(lambda: parent.stops == 2)
            parent.link.note_ended("c")  # goes nowhere

    asyncio.run(run())


def test_the_end_of_the_channel_is_found_once(monkeypatch: pytest.MonkeyPatch) -> None:
    ours, theirs = channel_pair()
    with ours:
        ours.send(pm.encode(WELCOME))
        monkeypatch.setenv(VARIABLE, str(theirs.detach()))
        link = link_to_parent()
        assert link.welcome == WELCOME
        with pytest.raises(KeyError):
            link_to_parent()
        link.close()
