"""The parent with real processes. They are small: each answers with its number, and dies when it is told to."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import socket
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

import duologue
from duologue.server.processes.parent import Parent, looks_like_websocket, wait_for_requests

SCRIPT = """
import asyncio, json, os, signal, socket, sys
from duologue.server.processes import process_messages as pm
from duologue.server.processes.channel import VARIABLE, Channel

held, me, received, news = [], [], [0], []

def receive(message, client):
    match message:
        case pm.Welcome():
            me.append(message.process)
            if os.path.exists("broken") and not message.is_first:
                os._exit(4)
            channel.send(pm.WantLimits())
            channel.send(pm.Serving((f"process {message.process} of {message.count}",)))
        case pm.ConnectionPassed():
            asyncio.get_running_loop().create_task(answer(message, client))
        case pm.SendMetrics():
            channel.send(pm.OwnMetrics(b"# HELP t T.\\n# TYPE t counter\\nt 1\\n"))
        case pm.MetricsSummed():
            held[-1].sendall(message.data)
            held.pop().close()
        case pm.ClientFound():
            held[-1].sendall(f"{me[0]} found {message.process}\\n".encode())
            held.pop().close()
        case pm.TellLimits():
            channel.send(pm.LimitsPart(me[0], message.process, (["all", me[0]],)))
        case pm.LimitsPart():
            news.extend(message.rows)
        case pm.ProcessGone():
            news.append(["gone", message.process])
        case pm.StopServing():
            channel.send(pm.Leaving())
            if not os.path.exists("stubborn"):
                sys.exit(0)

async def answer(message, client):
    data = message.data or client.recv(1000)
    path = data.split()[1].decode()
    received[0] += message.is_websocket
    channel.send(pm.LoadReport(received[0] if message.is_websocket else 0, received[0]))
    if path == "/die":
        os._exit(3)
    if path == "/hang":
        signal.raise_signal(signal.SIGSTOP)
    if path == "/metrics":
        held.append(client)
        channel.send(pm.SumMetrics(5))
        return
    if path.startswith("/find"):
        held.append(client)
        channel.send(pm.FindClient(6, "", path[6:]))
        return
    if path.startswith("/grant"):
        to = path[7:]
        channel.send(pm.LimitsPart(me[0], int(to) if to else None, (["granted", me[0], to],)))
    if path == "/news":
        client.sendall(json.dumps([me[0], news]).encode())
        client.close()
        return
    if path.startswith("/begin"):
        channel.send(pm.ConversationBegun(path[7:], "alice"))
    if path.startswith("/give") and not message.data:
        channel.send(pm.HandOn(int(path[-1]), message.is_websocket, data, len(data)), client.detach())
        return
    client.sendall(f"{me[0]} {os.getpid()}\\n".encode())
    if message.is_websocket:
        held.append(client)
    else:
        client.close()

async def main():
    global channel
    channel = Channel(socket.socket(fileno=int(os.environ[VARIABLE])), receive, lambda: os._exit(0))
    channel.open()
    while True:
        await asyncio.sleep(0.2)
        if me:
            channel.send(pm.LoadReport(0, received[0]) if not held else pm.LoadReport(len(held), received[0]))

asyncio.run(main())
"""


class Run:
    """A running parent."""

    def __init__(self, folder: Path, count: int) -> None:
        (folder / "process.py").write_text(SCRIPT)
        self.listening = socket.create_server(("127.0.0.1", 0))
        wait_for_requests(self.listening)
        self.port = self.listening.getsockname()[1]
        self.lines: list[str] = []
        self.parent = Parent(
            self.listening,
            (sys.executable, str(folder / "process.py")),
            count,
            url="http://here/",
            token="",
            announce=self._announce,
        )
        self.task = asyncio.create_task(self.parent.run())

    def _announce(self, lines: Sequence[str]) -> None:
        self.lines += lines

    async def ask(self, path: str, *, websocket: bool = False) -> str:
        """The answer to a request. The connection of a WebSocket stays open."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        more = "Upgrade: websocket\r\n" if websocket else ""
        writer.write(f"GET {path} HTTP/1.1\r\n{more}\r\n".encode())
        async with asyncio.timeout(30):
            answer = await (reader.readline() if websocket else reader.read())
        if not websocket:
            writer.close()
        return answer.decode()

    async def until_all_answer(self, count: int) -> dict[str, int]:
        """The process ids of so many processes, by their numbers."""
        found: dict[str, int] = {}
        async with asyncio.timeout(60):
            while len(found) < count:
                number, pid = (await self.ask("/")).split()
                found[number] = int(pid)
        return found


@asynccontextmanager
async def running(folder: Path, count: int, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Run]:
    monkeypatch.chdir(folder)
    monkeypatch.setenv("PYTHONPATH", str(Path(duologue.__file__).parent.parent))
    run = Run(folder, count)
    try:
        yield run
    finally:
        if not run.task.done():
            os.kill(os.getpid(), signal.SIGTERM)
            await asyncio.sleep(0.05)
        if not run.task.done() and (folder / "stubborn").exists():
            os.kill(os.getpid(), signal.SIGTERM)
        await asyncio.wait_for(run.task, 30)
        run.listening.close()


def test_processes_share_a_port_and_end_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def script() -> None:
        async with running(tmp_path, 2, monkeypatch) as run:
            found = await run.until_all_answer(2)
            assert set(found) == {"0", "1"}
            assert run.lines == ["process 0 of 2"], "announced once"
        assert run.task.result() == 0
        for pid in found.values():
            with pytest.raises(ProcessLookupError):
                os.kill(pid, 0)

    asyncio.run(script())


def test_websockets_are_divided_evenly(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def script() -> None:
        async with running(tmp_path, 2, monkeypatch) as run:
            await run.until_all_answer(2)
            answers = [await run.ask("/", websocket=True) for _ in range(10)]
            assert sorted(answer[0] for answer in answers) == ["0"] * 5 + ["1"] * 5

    asyncio.run(script())


def test_a_process_that_dies_is_replaced_and_the_other_answers_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def script() -> None:
        async with running(tmp_path, 2, monkeypatch) as run:
            before = await run.until_all_answer(2)
            assert await run.ask("/die") == "", "its connection is closed"
            after = await run.until_all_answer(2)
            assert len(set(before.values()) & set(after.values())) == 1

    asyncio.run(script())


def test_a_process_that_hangs_is_killed_and_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("duologue.server.processes.parent.TICK_S", 0.2)

    async def script() -> None:
        async with running(tmp_path, 2, monkeypatch) as run:
            before = await run.until_all_answer(2)
            assert await run.ask("/hang") == ""
            after = await run.until_all_answer(2)
            assert set(before.values()) != set(after.values())

    asyncio.run(script())


def test_an_agent_that_cannot_be_served_ends_the_parent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def script() -> None:
        async with running(tmp_path, 2, monkeypatch) as run:
            (tmp_path / "process.py").write_text("raise SystemExit(7)")
            assert await asyncio.wait_for(run.task, 30) == 7
            assert run.lines == []

    asyncio.run(script())


def test_a_second_signal_kills_processes_that_take_their_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "stubborn").touch()

    async def script() -> None:
        async with running(tmp_path, 2, monkeypatch) as run:
            await run.until_all_answer(2)
            os.kill(os.getpid(), signal.SIGINT)
            await run.until_all_answer(2)  # they still answer
            os.kill(os.getpid(), signal.SIGINT)
            assert await asyncio.wait_for(run.task, 30) == 1

    asyncio.run(script())


def test_a_connection_is_handed_on_with_what_was_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def script() -> None:
        async with running(tmp_path, 2, monkeypatch) as run:
            await run.until_all_answer(2)
            assert [(await run.ask("/give/1"))[0] for _ in range(4)] == ["1"] * 4
            assert [(await run.ask("/give/0", websocket=True))[0] for _ in range(4)] == ["0"] * 4

    asyncio.run(script())


def test_every_process_learns_where_a_conversation_is_until_its_process_dies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def script() -> None:
        async with running(tmp_path, 2, monkeypatch) as run:
            await run.until_all_answer(2)
            owner = (await run.ask("/begin/c"))[0]
            for _ in range(4):
                assert re.fullmatch(rf"[01] found {owner}\n", await run.ask("/find/c"))
            while (await run.ask("/"))[0] == owner:  # so that the next request goes to the owner
                pass
            await run.ask("/die")
            await run.until_all_answer(2)
            for _ in range(4):
                asker, _, found = (await run.ask("/find/c")).split()
                assert asker == found, "it may be any process"

    asyncio.run(script())


async def news_of(run: Run, count: int) -> dict[int, list[list[object]]]:
    """What the processes were told about limits, by process."""
    found: dict[int, list[list[object]]] = {}
    while len(found) < count:
        process, news = json.loads(await run.ask("/news"))
        found[process] = news
    return found


def test_what_one_process_grants_is_told_to_the_others_and_its_end_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def script() -> None:
        async with running(tmp_path, 3, monkeypatch) as run:
            await run.until_all_answer(3)
            teller = int((await run.ask("/grant/"))[0])
            others = {0, 1, 2} - {teller}
            granted = ["granted", teller, ""]
            told: dict[int, list[list[object]]] = {}
            async with asyncio.timeout(30):
                while not all(granted in told.get(at, []) for at in others):
                    told = await news_of(run, 3)
            assert granted not in told[teller]
            assert all(news.count(granted) == 1 for at, news in told.items() if at != teller)
            to = max(others)
            asker = int((await run.ask(f"/grant/{to}"))[0])
            async with asyncio.timeout(30):
                while ["granted", asker, str(to)] not in told[to]:
                    told = await news_of(run, 3)
            assert [at for at, news in told.items() if ["granted", asker, str(to)] in news] == [to]

            before = await run.until_all_answer(3)
            await run.ask("/die")
            after = await run.until_all_answer(3)
            dead = next(int(at) for at in before if before[at] != after[at])
            async with asyncio.timeout(30):
                while len(told.get(dead, [])) != 2 or told[dead][0][0] != "all":
                    told = await news_of(run, 3)
            for at in {0, 1, 2} - {dead}:
                assert ["gone", dead] in told[at]
                assert ["all", at] in told[dead], "its successor is told everything"

    asyncio.run(script())


def test_metrics_are_added_up_and_say_how_many_processes_there_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def script() -> None:
        async with running(tmp_path, 3, monkeypatch) as run:
            await run.until_all_answer(3)
            text = await run.ask("/metrics")
            assert "\nt 3\n" in text
            assert "\nduologue_workers 3\n" in text
            assert "\nduologue_worker_starts_total 3\n" in text
            assert '\nduologue_worker_sockets{worker="3"} ' in text

    asyncio.run(script())


def test_a_process_that_cannot_start_again_does_not_stop_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def script() -> None:
        async with running(tmp_path, 2, monkeypatch) as run:
            await run.until_all_answer(2)
            (tmp_path / "broken").touch()
            await run.ask("/die")
            answers = [await run.ask("/") for _ in range(6)]
            assert len({answer[0] for answer in answers}) == 1
            (tmp_path / "broken").unlink()
            await run.until_all_answer(2)

    asyncio.run(script())


@pytest.mark.parametrize(
    ("sent", "is_websocket"),
    [
        (b"GET /ws HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: WebSocket\r\n\r\n", True),
        (b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", False),
        (b"", False),
    ],
)
def test_a_request_for_a_websocket_is_recognized_without_reading_it(sent: bytes, is_websocket: bool) -> None:
    near, far = socket.socketpair()
    with near, far:
        near.send(sent)
        assert looks_like_websocket(far) is is_websocket
        if sent:
            assert far.recv(1_000) == sent
