"""Sends sound at the right time to a client that plays everything it gets and reports nothing.

The class stands between the line and the socket, and makes the reports that the line needs. Rule: the pure module
`pacing` decides when sound is sent; this class only has the clock and the sound.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from duologue.lines.browser import BrowserLine

from .pacing import (
    CommandGiven,
    LookDue,
    PaceCommand,
    PaceInput,
    PaceState,
    Release,
    SoundMade,
    TellFinished,
    TellPlayed,
    TellStopped,
    next_look,
    step,
)

_COMMANDS = {one.value: one for one in PaceCommand}


class PacedPlayer:
    """The `ClientWire` (sending side) of one conversation's line. `send` is called with each piece of sound when it is
    time to send it. `on_sound` is called each time the line has delivered more sound."""

    def __init__(self, line: BrowserLine, send: Callable[[bytes], None], on_sound: Callable[[], None]) -> None:
        self._line = line
        self._send = send
        self._on_sound = on_sound
        self._state = PaceState()
        self._pcm = bytearray()  # what wasn't sent yet
        self._alarm: asyncio.TimerHandle | None = None

    # -- The wire

    def send_sound(self, voice: int, chunk: int, pcm: bytes) -> None:  # noqa: ARG002 - pieces come in order
        if voice < self._state.voice:
            return
        self._drop_former(voice)
        self._pcm += pcm
        self._on_sound()
        self._post(SoundMade(voice, len(pcm) // 2))

    def send_play(self, action: str, voice: int, ms: int = 0) -> None:  # noqa: ARG002
        self._drop_former(voice)
        if action in _COMMANDS:
            self._post(CommandGiven(_COMMANDS[action], voice))

    def _drop_former(self, voice: int) -> None:
        if voice > self._state.voice:
            self._pcm.clear()

    def drop_sound(self, voice: int) -> None: ...

    def send_cue(self, cue: int, pcm: bytes) -> None: ...

    def stop_cue(self) -> None: ...

    def send_ambient(self, pcm: bytes) -> None: ...

    def close(self) -> None:
        """Stop sending sound and making reports."""
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None

    # -- The machine

    def _post(self, given: PaceInput) -> None:
        now = self._now()
        self._state, intents = step(self._state, given, now)
        self._set_alarm(now)
        for intent in intents:
            match intent:
                case Release():
                    size = (intent.end - intent.start) * 2
                    piece, self._pcm[:size] = bytes(self._pcm[:size]), b""
                    self._send(piece)
                case TellPlayed():
                    self._line.note_played(intent.voice, intent.ms)
                case TellFinished():
                    self._line.note_finished(intent.voice, intent.ms)
                case TellStopped():
                    self._line.note_stopped(intent.voice, intent.ms)

    def _set_alarm(self, now: int) -> None:
        self.close()
        due = next_look(self._state, now)
        if due is not None:
            wait_s = max(0, due - now) / 1000
            self._alarm = asyncio.get_running_loop().call_later(wait_s, self._post, LookDue())

    @staticmethod
    def _now() -> int:
        return int(asyncio.get_running_loop().time() * 1000)
