"""The parent of `duologue dev`: a process is asked before it serves, and a broken one replaces nothing."""

from __future__ import annotations

import socket
import sys
from collections.abc import Iterator

import pytest

from duologue.cli.dev_parent import VARIABLE, DevProcess, command_again
from tests.limits import WAIT_S

READY = f"""
import os
_, ready, go, store = os.environ["{VARIABLE}"].split(",", 3)
assert store == "a,b"
os.write(int(ready), b"1")
raise SystemExit(7 if os.read(int(go), 1) == b"1" else 8)
"""


@pytest.fixture
def listening() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as made:
        yield made


def start(code: str, listening: socket.socket) -> DevProcess:
    return DevProcess((sys.executable, "-c", code), listening, "a,b")


def test_a_process_says_that_it_is_ready_and_serves_when_it_may(listening: socket.socket) -> None:
    process = start(READY, listening)
    assert process.is_ready(WAIT_S)
    assert process.is_running
    process.go()
    process.stop()
    assert process.code in (7, -15)  # the signal may come first


def test_a_process_that_fails_is_never_ready(listening: socket.socket) -> None:
    process = start("raise SystemExit(1)", listening)
    assert not process.is_ready(WAIT_S)
    process.stop()
    assert process.code == 1


def test_a_process_that_was_dropped_ends_without_serving(listening: socket.socket) -> None:
    process = start("import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN)" + READY, listening)
    assert process.is_ready(WAIT_S)
    process.go()
    process.stop()
    assert process.code == 7


def test_the_command_is_the_same_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["duologue", "dev", "agent:agent"])
    assert command_again()[-2:] == ("dev", "agent:agent")
