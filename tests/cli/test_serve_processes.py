"""`duologue serve --workers 2` as operators and clients see it: real processes behind one port."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("uvicorn", reason="pip install 'duologue[server]'")
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect

from duologue.lab.torture.nodes import free_port
from duologue.server.processes.capacity import this_system
from tests.cli.server_process import Process, hear, hear_out, say, served
from tests.limits import WAIT_S

pytestmark = [
    pytest.mark.alone,
    pytest.mark.skipif(this_system() != "linux", reason="several processes share a port only on Linux"),
]
TWO = ("my_agent:agent", "--port", "0", "--workers", "2", "--drain-s", "2")
COMMAND = [sys.executable, "-c", "from duologue.cli.entry import main; main()"]


def until(holds: Callable[[], Any], what: str) -> Any:
    deadline = time.monotonic() + WAIT_S
    while time.monotonic() < deadline:
        if found := holds():
            return found
        time.sleep(0.1)  # a server grants an address only so many connections
    raise AssertionError(f"never: {what}")


def fetch(port: int, path: str, **headers: str) -> str:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", headers=named)
    with urllib.request.urlopen(request, timeout=WAIT_S) as answer:
        text: str = answer.read().decode()
        return text


def metric(port: int, name: str) -> float:
    found = re.search(rf"^{re.escape(name)} (\S+)$", fetch(port, "/metrics"), re.MULTILINE)
    return float(found[1]) if found is not None else -1


@contextmanager
def two(folder: Path, *more: str, **environment: str) -> Iterator[tuple[Process, int]]:
    """A server whose two processes are ready, and its port."""
    with served(folder, *TWO, *more, **environment) as server:
        port, _ = server.address()
        until(lambda: metric(port, "duologue_workers") == 2, "two workers")
        yield server, port


@pytest.fixture(scope="module")
def port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """A server without a store: only the process that has a conversation can go on with it."""
    with two(tmp_path_factory.mktemp("served")) as (_, port):
        yield port


@contextmanager
def greeted(port: int, seat: str, address: str = "127.0.0.1", **more: object) -> Iterator[ClientConnection]:
    """A client at this address that has said hello. It reads everything at once: with a full queue it couldn't be
    closed quickly."""
    source = (address, 0)
    with connect(f"ws://127.0.0.1:{port}/ws", compression=None, max_queue=None, source_address=source) as client:
        say(client, "hello", version=1, seat=seat, **more)
        yield client


@contextmanager
def talking(port: int, seat: str, address: str = "127.0.0.1") -> Iterator[tuple[ClientConnection, dict[str, Any]]]:
    """A client in a conversation, and the conversation's id and key."""
    with greeted(port, seat, address) as client:
        say(client, "start")
        known = hear(client, "conversation")
        hear(client, "state", state="listening")
        yield client, {"conversation": known["conversation"], "key": known["key"]}


def closed(client: ClientConnection) -> int:
    """The code with which the server closes this socket; 1006 if it is just gone."""
    try:
        while True:
            client.recv(timeout=WAIT_S)
    except ConnectionClosed as end:
        return end.rcvd.code if end.rcvd is not None else 1006


def first_sound(client: ClientConnection) -> dict[str, int]:
    """How much of the next sound was played: a tenth of a second."""
    while not isinstance(frame := client.recv(timeout=WAIT_S), bytes):
        pass
    return {"voice": int.from_bytes(frame[4:8], "little"), "ms": 100, "chunk": 1}


# -- Clients


def test_conversations_are_divided_evenly_and_the_metrics_are_of_all(port: int) -> None:
    with talking(port, "a"), talking(port, "b"), talking(port, "c"), talking(port, "d"):
        sockets = [metric(port, f'duologue_worker_sockets{{worker="{number}"}}') for number in (1, 2)]
        assert sockets == [2, 2]
        assert metric(port, "duologue_conversations_active") == 4
        assert metric(port, "duologue_sockets") == 4
    until(lambda: metric(port, "duologue_sockets") == 0, "no sockets")


@pytest.mark.req("L-14")
def test_a_client_that_comes_back_reaches_the_process_that_has_its_conversation(port: int) -> None:
    with talking(port, "returning") as (_, known):
        pass
    for number in range(4):  # its sockets reach both processes in turn
        with greeted(port, "returning", **known) as client:
            assert hear(client, "conversation")["resumed"] is True
            say(client, "type", text=f"question {number}", id=str(number))
            assert hear_out(client, f"question {number}."), "the client may have come back in the middle of a greeting"


def test_a_browser_has_one_conversation_whichever_process_its_tabs_reach(port: int) -> None:
    with talking(port, "seated") as (first, known):
        for _ in range(2):
            with greeted(port, "seated", **known, take_over=False) as second:
                assert closed(second) == 4409
        with greeted(port, "seated", **known, take_over=True) as third:
            assert hear(third, "conversation")["conversation"] == known["conversation"]
            assert closed(first) == 4410
            key = hear(third, "key")["key"]
            say(third, "key", key=key)
        with greeted(port, "seated", conversation=known["conversation"], key=key) as fourth:
            assert hear(fourth, "conversation")["resumed"] is True
            with greeted(port, "seated", **known) as late:
                hear(late, "notification", code="gone")
            say(fourth, "end")
            hear(fourth, "ended")


def test_a_journal_can_be_had_from_every_process_also_after_the_end(port: int) -> None:
    with talking(port, "journal") as (client, known):
        path = f"/conversations/{known['conversation']}/journal"
        for _ in range(4):
            assert fetch(port, path, x_conversation_key=known["key"]).startswith("{")
        say(client, "end")
        hear(client, "ended")
    for _ in range(4):
        assert fetch(port, path, x_conversation_key=known["key"]).startswith("{")
    with pytest.raises(urllib.error.HTTPError, match="404"):
        fetch(port, path, x_conversation_key="wrong")
    with pytest.raises(urllib.error.HTTPError, match="404"):
        fetch(port, "/conversations/unknown/journal", x_conversation_key="wrong")


def test_a_request_that_another_process_answers_leaves_no_error_in_the_log(tmp_path: Path) -> None:
    with two(tmp_path) as (server, port), talking(port, "journal") as (_, known):
        for _ in range(6):
            path = f"/conversations/{known['conversation']}/journal"
            assert fetch(port, path, x_conversation_key=known["key"]).startswith("{")
    assert "ERROR" not in server.said


def test_a_short_lived_key_opens_sockets_in_both_processes_of_a_server_without_a_secret(tmp_path: Path) -> None:
    with two(tmp_path, "--realtime") as (_, port), ExitStack() as stack:
        url = f"127.0.0.1:{port}/v1/realtime"
        body = json.dumps({"session": {"type": "realtime", "instructions": "Be kind."}}).encode()
        with urllib.request.urlopen(f"http://{url}/client_secrets", body, timeout=WAIT_S) as answer:
            key = json.loads(answer.read())["value"]
        for _ in range(4):  # the parent gives each process two of them
            asked = connect(f"ws://{url}", additional_headers={"Authorization": f"Bearer {key}"}, compression=None)
            created = json.loads(stack.enter_context(asked).recv(WAIT_S))
            assert (created["type"], created["session"]["instructions"]) == ("session.created", "Be kind.")


def test_one_address_gets_no_more_from_two_processes_and_another_address_is_served(port: int) -> None:
    address = "127.0.0.7"  # that no other test uses
    with ExitStack() as stack:
        for number in range(10):
            stack.enter_context(talking(port, f"greedy {number}", address))
        sockets = [metric(port, f'duologue_worker_sockets{{worker="{number}"}}') for number in (1, 2)]
        assert min(sockets) >= 2, "both processes have some of them"
        for number in range(4):  # at each process
            late = stack.enter_context(greeted(port, f"late {number}", address))
            say(late, "start")
            why = str(hear(late, "error", code="start_refused")["message"])
            assert why.startswith("Your address has 10 conversations in which nothing was said yet")
        for number in range(2):
            stack.enter_context(talking(port, f"honest {number}", "127.0.0.8"))
    until(lambda: metric(port, "duologue_sockets") == 0, "no sockets")


@pytest.mark.req("V-09")
def test_an_operator_sees_and_watches_the_calls_of_all_processes(tmp_path: Path) -> None:
    with (
        two(tmp_path) as (_, port),  # conversations of other tests would be listed too
        greeted(port, "operator") as operator,
        talking(port, "x") as (x, _),
        talking(port, "y") as (y, _),
    ):
        for client in (x, y):
            hear_out(client, "Good day.")
        say(operator, "calls")
        listed: Any = []
        while len(listed) < 2:
            listed = hear(operator, "calls")["calls"]
        for call in (*listed, listed[0]):  # at one process, at the other, and back
            say(operator, "watch", id=call["id"])
            assert hear(operator, "conversation")["watching"] is True
            for client in (x, y):
                say(client, "type", text="is this seen?", id=str(time.monotonic()))
                hear_out(client, "is this seen?.")
            assert hear(operator, "caption", role="user", final=True)["text"] == "is this seen?"
        say(operator, "watch", id="unknown")
        hear(operator, "error", code="no_call")


# -- Processes that die and stop


def node_of(folder: Path, known: dict[str, Any]) -> int:
    """The id of the process that has this conversation."""
    printed = subprocess.run(
        [*COMMAND, "conversations", "--store", str(folder / "store.sqlite3"), "--ids", "--json"],
        capture_output=True,
        check=True,
    ).stdout
    held = {one["conversation"]: one["node"] for one in json.loads(printed)["conversations"]}
    return int(held[known["conversation"]].rpartition("-")[2])


def nodes(folder: Path) -> set[str]:
    command = [*COMMAND, "nodes", "--store", str(folder / "store.sqlite3"), "--json"]
    printed = subprocess.run(command, capture_output=True, check=True).stdout
    return {node["name"] for node in json.loads(printed)["nodes"]}


def is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.req("D-14", "L-14")
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM], ids=["killed", "drained"])
def test_a_conversation_goes_on_when_its_process_ends(tmp_path: Path, number: int) -> None:
    with (
        two(tmp_path, "--store", "store.sqlite3", "--node", "here") as (server, port),
        talking(port, "alice") as (client, known),
    ):
        hear_out(client, "Good day.")
        assert len(nodes(tmp_path)) == 2
        assert all(name.startswith("here-") for name in nodes(tmp_path))
        owner = node_of(tmp_path, known)
        say(client, "type", text="a long question, so that the answer takes a while", id="1")
        played = first_sound(client)
        os.kill(owner, number)
        closed(client)
        with greeted(port, "alice", **known, played=played) as back:
            assert hear(back, "conversation")["resumed"] is True
            say(back, "type", text="the second question", id="2")
            assert hear_out(back, "the second question.").startswith("You said")
            assert node_of(tmp_path, known) != owner
        until(lambda: metric(port, "duologue_workers") == 2, "the dead worker is replaced")
        assert metric(port, "duologue_worker_starts_total") == 3
        server.until("worker [12] has ended \\((SIGKILL|exit code 0)\\); another one starts")
        server.process.send_signal(signal.SIGTERM)
        assert server.ends() == 0, server.said
        assert "Traceback" not in server.said


@pytest.mark.parametrize("to_all", [True, False], ids=["in a terminal", "to the parent"])
def test_one_signal_lets_conversations_end_and_a_second_one_does_not(tmp_path: Path, to_all: bool) -> None:
    def interrupt(server: Process) -> None:
        send: Callable[[int, int], None] = os.killpg if to_all else os.kill
        send(server.process.pid, signal.SIGINT)

    with two(tmp_path, "--drain-s", "600") as (server, port), talking(port, "alice") as (client, _):
        interrupt(server)
        hear(client, "notification", code="stopping")
        with pytest.raises(urllib.error.HTTPError, match="503"):
            fetch(port, "/readyz")
        say(client, "end")
        hear(client, "ended")
        assert server.ends() == 0, server.said
    with two(tmp_path, "--drain-s", "600") as (server, port), talking(port, "alice") as (client, _):
        interrupt(server)
        hear(client, "notification", code="stopping")
        interrupt(server)
        assert server.ends() == 1


def test_processes_end_when_their_parent_is_killed(tmp_path: Path) -> None:
    with two(tmp_path, "--store", "store.sqlite3", "--drain-s", "0.1") as (server, _):
        pids = [int(name.rpartition("-")[2]) for name in nodes(tmp_path)]
        assert all(map(is_running, pids))
        server.process.kill()
        until(lambda: not any(map(is_running, pids)), "the processes end")


# -- Starting


def test_what_is_wrong_with_an_agent_is_said_once(tmp_path: Path) -> None:
    (tmp_path / "breaks.py").write_text("raise RuntimeError('on the way in')")
    with served(tmp_path, "breaks:agent", "--port", "0", "--workers", "2") as server:
        assert server.ends() == 1
        assert server.said.count("on the way in") == 1
        assert "Traceback" not in server.said


def test_a_store_in_memory_allows_one_worker(tmp_path: Path) -> None:
    with served(tmp_path, *TWO, "--store", "memory:") as server:
        assert server.ends() == 1
        assert "--workers 2: a store in memory belongs to one process; use --workers 1" in server.said


@pytest.mark.req("C-SEC-003")
def test_all_processes_have_the_token_that_the_parent_made(tmp_path: Path) -> None:
    with served(tmp_path, *TWO, "--host", "0.0.0.0") as server:
        port, token = server.address()
        assert len(token) >= 32
        for _ in range(4):
            with pytest.raises(urllib.error.HTTPError, match="401"):
                fetch(port, "/metrics")
            with greeted(port, "alice", token=token) as client:
                hear(client, "ready")
        assert server.said.count(token) == 1


# -- The telephone

CALL = "steps: [listen, {dtmf: '4711#'}, listen, hang_up]\nwait_s: 30\n"


@pytest.mark.req("V-09")
def test_a_call_goes_through_whichever_processes_its_webhook_and_its_stream_reach(tmp_path: Path) -> None:
    (tmp_path / "call.yaml").write_text(CALL)
    port = free_port()
    with two(tmp_path, "--port", str(port), "--phone-url", f"http://127.0.0.1:{port}"):
        for _ in range(2):
            said = subprocess.run(
                [*COMMAND, "phone", "--to", f"http://127.0.0.1:{port}", "--simulate", "call.yaml", "--json"],
                cwd=tmp_path,
                capture_output=True,
                text=True,
            )
            assert said.returncode == 0, said.stderr
            assert json.loads(said.stdout)["result"] == "passed"
        assert metric(port, "duologue_conversations_total") == 2
