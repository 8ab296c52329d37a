"""The prompt of `duologue dev`: a developer types in the terminal and has a conversation with the agent, separate from
the conversation on the web page.

The prompt is a client of the server, like the web page, so its conversation survives a reload. Nothing is played: sound
counts as heard as soon as it arrives. Rule: the prompt never ends the server; if the server can't be reached, the
prompt tries again with the next typed line.
"""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

from websockets.exceptions import WebSocketException
from websockets.sync.client import ClientConnection, connect

ANSWER_S_MAX = 60.0
QUIET_S = 1.5
_HEADER_BYTES = 12  # of a frame of sound
_BYTES_PER_MS = 48  # 24 kHz, 16 bits
_RESTS = ("listening", "error", "idle")


class DevPrompt:
    """A client that types. It calls `show` with each line that the agent says, at any time."""

    def __init__(self, url: str, show: Callable[[str], None]) -> None:
        self._url = url.replace("http", "ws", 1) + "ws"
        self._show = show
        self._changed = threading.Condition()  # what follows is changed by the thread that reads
        self._opened = ExitStack()
        self._socket: ClientConnection | None = None
        self._known: dict[str, str] = {}  # the id and the key of the conversation
        self._phase = ""
        self._answers = 0
        self._confirmed = ""  # the newest line that the server has
        self._typed = 0
        self._heard_ms: dict[int, int] = {}

    def type(self, line: str) -> None:
        """Send a line and wait for the answer. If the server can't be reached, a line is shown that says so."""
        self._typed += 1
        for _ in range(2):  # a second time if the server was replaced meanwhile
            try:
                self._send_and_wait(line)
            except (OSError, WebSocketException, TimeoutError):
                self.close()
                continue
            return
        self._show("the server can't be reached; try again")

    def close(self) -> None:
        """Disconnect. The server keeps the conversation."""
        with self._changed:
            opened, self._opened, self._socket = self._opened, ExitStack(), None
        opened.close()

    def _send_and_wait(self, line: str) -> None:
        socket = self._socket or self._connect()
        answers = self._answers
        self._say(socket, "type", text=line, id=f"prompt-{self._typed}")
        self._wait_for_rest(socket, f"prompt-{self._typed}", answers)

    def _connect(self) -> ClientConnection:
        socket = self._opened.enter_context(connect(self._url, compression=None, open_timeout=5))
        self._socket = socket
        threading.Thread(target=self._read_all, args=(socket,), name="prompt-reader", daemon=True).start()
        self._phase, answers = "", self._answers
        self._say(socket, "hello", version=1, seat="dev-prompt", **self._known)
        if not self._known:
            self._say(socket, "start")
        self._wait_for_rest(socket, self._confirmed, answers)
        return socket

    def _wait_for_rest(self, socket: ClientConnection, typed: str, answers: int) -> None:
        """Wait until the agent has answered the typed line and listens again. Sometimes only one of these two happens,
        for example if a tool has asked a question: then stop waiting when nothing more comes for QUIET_S seconds."""
        with self._changed:
            while self._socket is socket:
                has_it, has_answer = self._confirmed == typed, self._answers > answers
                is_resting = self._phase in _RESTS
                if has_it and has_answer and is_resting:
                    return
                may_stop = has_it and (has_answer or is_resting)
                if not self._changed.wait(QUIET_S if may_stop else ANSWER_S_MAX):
                    if may_stop:
                        return
                    raise TimeoutError
            if self._known:
                raise ConnectionError("the server has closed the connection")

    def _read_all(self, socket: ClientConnection) -> None:
        """Handle every message from the server until the connection ends."""
        with contextlib.suppress(OSError, WebSocketException):
            for frame in socket:
                if isinstance(frame, bytes):
                    self._hear(socket, frame)
                else:
                    self._take(socket, *_read(frame))
                with self._changed:
                    self._changed.notify_all()
        with self._changed:
            if self._socket is socket:
                self._socket = None
            self._changed.notify_all()

    def _take(self, socket: ClientConnection, kind: str, payload: dict[str, Any]) -> None:
        """Handle one message from the server."""
        match kind:
            case "conversation":
                self._known = {"conversation": payload["conversation"], "key": payload["key"]}
            case "state":
                self._phase = payload["phase"]
            case "typed":
                self._confirmed = payload.get("id", "")
            case "caption" if payload["role"] == "assistant" and payload["final"] and payload["text"]:
                self._show(payload["text"])
                self._answers += 1
            case "play" if payload["action"] in ("finish", "clear"):
                how = "finished" if payload["action"] == "finish" else "stopped"
                self._say(socket, how, voice=payload["voice"], ms=self._heard_ms.get(payload["voice"], 0))
            case "ended":
                self._known = {}
                self.close()

    def _hear(self, socket: ClientConnection, frame: bytes) -> None:
        if frame[0] != 1:  # a cue or ambient sound
            return
        voice = int.from_bytes(frame[4:8], "little")
        self._heard_ms[voice] = self._heard_ms.get(voice, 0) + (len(frame) - _HEADER_BYTES) // _BYTES_PER_MS
        self._say(socket, "played", voice=voice, ms=self._heard_ms[voice])

    def _say(self, socket: ClientConnection, kind: str, **payload: Any) -> None:
        socket.send(json.dumps({"type": kind, "payload": payload}))


def _read(frame: str) -> tuple[str, dict[str, Any]]:
    message = json.loads(frame)
    return message["type"].removeprefix("duologue."), message["payload"]
