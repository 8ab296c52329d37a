"""The prompt of `duologue dev`: what is typed in the terminal is a conversation beside the page.

It is a client of the server, like the page, so it survives a reload. Sound is taken as heard the moment it arrives.
Rule: the prompt never ends the server; if the server is away, the next line tries again.
"""

from __future__ import annotations

import json
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
    """A client that types. `show` gets what the agent says, line by line."""

    def __init__(self, url: str, show: Callable[[str], None]) -> None:
        self._url = url.replace("http", "ws", 1) + "ws"
        self._show = show
        self._opened = ExitStack()
        self._socket: ClientConnection | None = None
        self._known: dict[str, str] = {}  # the id and the key of the conversation
        self._typed = 0
        self._heard_ms: dict[int, int] = {}

    def type(self, line: str) -> None:
        """Send a line and show the answer. Shows one line if the server can't be reached."""
        self._typed += 1
        for _ in range(2):  # a second time if the server was replaced meanwhile
            try:
                self._send_and_read(line)
            except (OSError, WebSocketException, TimeoutError):
                self.close()
                continue
            return
        self._show("the server can't be reached; try again")

    def close(self) -> None:
        """Leave. The conversation waits on the server."""
        self._socket = None
        self._opened.close()

    def _send_and_read(self, line: str) -> None:
        if self._socket is None:
            self._socket = self._opened.enter_context(connect(self._url, compression=None, open_timeout=5))
            self._say("hello", version=1, seat="dev-prompt", **self._known)
            if not self._known:
                self._say("start")
            self._read_until_rest()
        self._say("type", text=line, id=f"prompt-{self._typed}")
        self._read_until_rest(typed=f"prompt-{self._typed}")

    def _read_until_rest(self, typed: str = "") -> None:
        """Read and show what comes, until the agent has answered and listens again. Without an answer, listening for
        QUIET_S is enough."""
        is_confirmed, is_resting, has_answer = not typed, False, False
        while not (is_confirmed and is_resting and has_answer):
            try:
                frame = self._connected.recv(timeout=QUIET_S if is_confirmed and is_resting else ANSWER_S_MAX)
            except TimeoutError:
                if is_confirmed and is_resting:
                    return
                raise
            if isinstance(frame, bytes):
                self._hear(frame)
                continue
            kind, payload = _read(frame)
            is_confirmed = is_confirmed or (kind == "typed" and payload.get("id") == typed)
            is_resting = payload["phase"] in _RESTS if kind == "state" else is_resting
            has_answer = self._take(kind, payload) or has_answer
            if kind == "ended":
                self._known = {}
                self.close()
                return

    def _take(self, kind: str, payload: dict[str, Any]) -> bool:
        """Handle a message. Returns whether it is an answer of the agent."""
        match kind:
            case "conversation":
                self._known = {"conversation": payload["conversation"], "key": payload["key"]}
            case "caption" if payload["role"] == "assistant" and payload["final"] and payload["text"]:
                self._show(payload["text"])
                return True
            case "play" if payload["action"] in ("finish", "clear"):
                how = "finished" if payload["action"] == "finish" else "stopped"
                self._say(how, voice=payload["voice"], ms=self._heard_ms.get(payload["voice"], 0))
        return False

    def _hear(self, frame: bytes) -> None:
        if frame[0] != 1:  # a cue or ambient sound
            return
        voice = int.from_bytes(frame[4:8], "little")
        self._heard_ms[voice] = self._heard_ms.get(voice, 0) + (len(frame) - _HEADER_BYTES) // _BYTES_PER_MS
        self._say("played", voice=voice, ms=self._heard_ms[voice])

    def _say(self, kind: str, **payload: Any) -> None:
        self._connected.send(json.dumps({"type": kind, "payload": payload}))

    @property
    def _connected(self) -> ClientConnection:
        assert self._socket is not None
        return self._socket


def _read(frame: str) -> tuple[str, dict[str, Any]]:
    message = json.loads(frame)
    return message["type"].removeprefix("duologue."), message["payload"]
