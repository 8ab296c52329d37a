"""Estimates how much sound a client has played, by assuming that the client plays sound in real time from the moment at
which it was sent.

Clients of the Realtime protocol don't report what they play; they only say where they have stopped. The line needs such
reports, so `ClientPlayer` stands between the line and the socket and makes them. Rule: sound counts as played only if
it was sent, and not before the client can have played it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Protocol

from duologue.lines.browser import BrowserLine, ClientWire
from duologue.lines.playback.state import SAMPLES_PER_MS

REPORT_MS = 100
LATE_MS = 500  # a client may play this much later than it could: what was reported can't be taken back
TRUNCATE_MS = 250  # how long a cut voice waits until the client says where it has stopped; below `stop_ms_max`


class TrackedPlayer(ClientWire, Protocol):
    """What a call needs from its player, whether the sound goes over the socket or over WebRTC."""

    def reported_ms(self, voice: int) -> int:
        """How many milliseconds of this voice (the sound of one reply) were already reported as heard. A report can't
        be taken back."""
        ...

    def played_ms(self, voice: int) -> int | None:
        """The most that the client can have played by now of this voice (the sound of one reply), in ms. None if it
        isn't the newest voice."""
        ...

    def stop(self, voice: int, heard_ms: int) -> bool:
        """Record that the client has stopped this voice (the sound of one reply) after `heard_ms` milliseconds. Returns
        whether the conversation must be told to stop it too."""
        ...

    def close(self) -> None: ...


class ClientPlayer:
    """The `ClientWire` (sending side) of one conversation's line. A voice is the sound of one reply, given by its
    number. `on_sound` is called with each piece of sound and its voice. `on_complete` is called with each voice that
    was sent completely, and `on_cut` with each voice whose queued sound must not be sent any more."""

    def __init__(
        self,
        line: BrowserLine,
        on_sound: Callable[[int, bytes], None],
        on_complete: Callable[[int], None],
        on_cut: Callable[[int], None],
    ) -> None:
        self._line = line
        self._on_sound = on_sound
        self._on_complete = on_complete
        self._on_cut = on_cut
        self.voice = 0
        self._sent_ms = 0.0
        self._ends_at = 0.0  # when everything that was sent has been played
        self._is_all = False
        self._is_cut = False
        self._cut_ms = 0  # how much was played when the voice was cut
        self._reported_ms = 0
        self._alarm: asyncio.TimerHandle | None = None

    def reported_ms(self, voice: int) -> int:
        """How many milliseconds of this voice (the sound of one reply) were already reported as heard. A report can't
        be taken back."""
        return self._reported_ms if voice == self.voice else 0

    def played_ms(self, voice: int) -> int | None:
        """The most that the client can have played by now of this voice (the sound of one reply), in ms. None if it
        isn't the newest voice."""
        if voice != self.voice:
            return None
        left_ms = max(0.0, self._ends_at - self._now()) * 1000
        return max(0, round(self._sent_ms - left_ms))

    # -- The wire

    def send_sound(self, voice: int, chunk: int, pcm: bytes) -> None:  # noqa: ARG002 - pieces come in order
        if voice != self.voice:
            self._begin(voice)
        ms = len(pcm) / 2 / SAMPLES_PER_MS
        self._sent_ms += ms
        self._ends_at = max(self._ends_at, self._now()) + ms / 1000
        self._on_sound(voice, pcm)
        self._schedule()

    def send_play(self, action: str, voice: int, ms: int = 0) -> None:  # noqa: ARG002
        """Perform a playback command. The protocol has no command to pause. So on hold, the client gets no more sound,
        but still plays what it has already received."""
        if voice != self.voice:
            self._begin(voice)
        if action == "finish":
            self._is_all = True
            self._on_complete(voice)
            self._schedule()
        elif action == "clear" and not self._is_cut:
            self._is_cut, self._cut_ms = True, self.played_ms(voice) or 0
            self._set_alarm(TRUNCATE_MS)

    def drop_sound(self, voice: int) -> None:
        self._on_cut(voice)

    def send_cue(self, cue: int, pcm: bytes) -> None: ...

    def stop_cue(self) -> None: ...

    def send_ambient(self, pcm: bytes) -> None: ...

    # -- The client

    def stop(self, voice: int, heard_ms: int) -> bool:
        """Record that the client has stopped this voice (the sound of one reply) after `heard_ms` milliseconds. Returns
        whether the conversation must be told to stop it too."""
        if voice != self.voice:
            return False
        if self._is_cut:
            self._report_stop(heard_ms)
            return False
        left = self._now() < self._ends_at or not self._is_all
        self._sent_ms, self._ends_at = float(heard_ms), 0.0
        return left

    def close(self) -> None:
        if self._alarm is not None:
            self._alarm.cancel()

    # -- Reports

    def _begin(self, voice: int) -> None:
        self.close()
        self.voice = voice
        self._sent_ms = self._ends_at = 0.0
        self._is_all = self._is_cut = False
        self._reported_ms = 0

    def _schedule(self) -> None:
        if self._alarm is None or self._alarm.cancelled() or self._alarm.when() <= self._now():
            self._set_alarm(REPORT_MS)

    def _set_alarm(self, ms: float) -> None:
        self.close()
        self._alarm = asyncio.get_running_loop().call_later(ms / 1000, self._report)

    def _report(self) -> None:
        self._alarm = None
        if self._is_cut:
            self._report_stop(self._cut_ms)
            return
        played_ms = self.played_ms(self.voice) or 0
        left_ms = (self._ends_at - self._now()) * 1000
        if self._is_all and left_ms <= 0:
            self._line.note_finished(self.voice, round(self._sent_ms))
            return
        voice = self.voice
        self._reported_ms = max(0, played_ms - LATE_MS)
        self._line.note_played(voice, self._reported_ms)
        if voice == self.voice and not self._is_cut and left_ms > 0:
            self._set_alarm(min(REPORT_MS, left_ms))

    def _report_stop(self, heard_ms: int) -> None:
        self.close()
        self._line.note_stopped(self.voice, heard_ms)

    @staticmethod
    def _now() -> float:
        return asyncio.get_running_loop().time()
