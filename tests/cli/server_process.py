"""A server in its own process, and a client that talks to it.

Rule: no fixed sleeps. A test waits for a line, a message or the end of the process.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from websockets.sync.client import ClientConnection, connect

from tests.limits import WAIT_S

QUIET = {
    "COLUMNS": "300",
    "NO_COLOR": "1",
    "TERM": "dumb",
    "DUOLOGUE_STORE": "none",  # most tests aren't about the store
    "DUOLOGUE_WORKERS": "1",
}
AGENT = """
from duologue import Agent, Phrases
from duologue.testing import ScriptedBrain, ScriptedVoice

brain = ScriptedBrain(lambda request: f"You said {request.text}.")
agent = Agent(brain, name="Tester", voice=ScriptedVoice(), phrases=Phrases(greeting="Good day."))
"""


class Process:
    """A server in its own process. `arguments` may begin with another command than `serve`. With `types`, lines can be
    typed in its terminal."""

    def __init__(self, folder: Path, *arguments: str, types: bool = False, **environment: str) -> None:
        (folder / "my_agent.py").write_text(AGENT)
        if arguments[0] != "dev":
            arguments = ("serve", *arguments)
        command = [sys.executable, "-c", "from duologue.cli.entry import main; main()"]
        self.process = subprocess.Popen(
            [*command, *arguments],
            cwd=folder,
            stdin=subprocess.PIPE if types else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env={**os.environ, **QUIET, **environment},
            start_new_session=True,  # like a terminal's own group of processes
        )
        self.lines: list[str] = []
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.append(line)

    def type(self, line: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(f"{line}\n")
        self.process.stdin.flush()

    @property
    def said(self) -> str:
        return "".join(self.lines)

    def until(self, pattern: str) -> re.Match[str]:
        deadline = time.monotonic() + WAIT_S
        while time.monotonic() < deadline:
            if found := re.search(pattern, self.said):
                return found
            if self.process.poll() is not None:
                self._reader.join(5)
                if found := re.search(pattern, self.said):
                    return found
                break
            time.sleep(0.02)
        raise AssertionError(f"never said {pattern!r}:\n{self.said}")

    def address(self) -> tuple[int, str]:
        """Its port and its token."""
        found = self.until(r"http://\S+?:(\d+)/(?:\?token=(\S+))?")
        return int(found[1]), found[2] or ""

    def close(self) -> None:
        """Read to the end of its output."""
        if self.process.stdin is not None:
            self.process.stdin.close()
        self._reader.join(5)
        assert self.process.stdout is not None
        self.process.stdout.close()

    def ends(self) -> int:
        code = self.process.wait(WAIT_S)
        self._reader.join(5)
        return code


@contextmanager
def served(folder: Path, *arguments: str, types: bool = False, **environment: str) -> Iterator[Process]:
    server = Process(folder, *arguments, types=types, **environment)
    try:
        yield server
    finally:
        if server.process.poll() is None:  # twice, because the second signal ends it immediately
            server.process.terminate()
            server.process.terminate()
            server.process.wait(WAIT_S)
        if server.process.stdout is not None:
            server.close()


def say(client: ClientConnection, kind: str, **payload: object) -> None:
    client.send(json.dumps({"type": kind, "payload": payload}))


def hear(client: ClientConnection, kind: str, **fields: object) -> dict[str, object]:
    deadline = time.monotonic() + WAIT_S
    while time.monotonic() < deadline:
        frame = client.recv(timeout=WAIT_S)
        if isinstance(frame, str):
            message = json.loads(frame)
            payload: dict[str, object] = message["payload"]
            if message["type"] == f"duologue.{kind}" and all(
                payload.get(name) == value for name, value in fields.items()
            ):
                return payload
    raise AssertionError(f"never: {kind}")


def hear_out(client: ClientConnection, ending: str) -> str:
    """Play all sound at once, until an answer that ends with this was heard. Returns the answer."""
    heard_ms: dict[int, int] = {}
    deadline = time.monotonic() + WAIT_S
    while time.monotonic() < deadline:
        frame = client.recv(timeout=WAIT_S)
        if isinstance(frame, bytes):
            voice = int.from_bytes(frame[4:8], "little")
            heard_ms[voice] = heard_ms.get(voice, 0) + (len(frame) - 12) // 48
            say(client, "played", voice=voice, ms=heard_ms[voice])
            continue
        told = json.loads(frame)
        payload = told["payload"]
        if told["type"] == "duologue.play" and payload["action"] in ("finish", "clear"):
            how = "finished" if payload["action"] == "finish" else "stopped"
            say(client, how, voice=payload["voice"], ms=heard_ms.get(payload["voice"], 0))
        if told["type"] == "duologue.caption" and payload["final"] and payload["role"] == "assistant":
            answer: str = payload["text"]
            if answer.endswith(ending):
                return answer
    raise AssertionError(f"never heard: {ending}")


@contextmanager
def begin(port: int, token: str = "") -> Iterator[ClientConnection]:
    with connect(f"ws://127.0.0.1:{port}/ws", compression=None, max_queue=None) as client:
        say(client, "hello", version=1, seat="alice", **({"token": token} if token else {}))
        say(client, "start")
        hear(client, "state", state="listening")
        yield client


def status(port: int, path: str, **headers: str) -> int:
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", headers=headers)
    try:
        with urllib.request.urlopen(request, timeout=WAIT_S) as answer:
            code: int = answer.status
            return code
    except urllib.error.HTTPError as refused:
        return refused.code
