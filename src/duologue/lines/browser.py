"""The line to a client on a socket that may reconnect: a browser, or any program that uses the panel's protocol.

Sound is sent only a little ahead of playback, so that the client can stop quickly. Sound that wasn't heard yet is kept
here. If the client reconnects, it gets the sound that it missed. A voice is the sound of one utterance of the agent;
each voice has a number. This module doesn't know WebSockets: it sends through a `ClientWire`. Rule: the state machine
in `playback` makes all decisions. This module only passes inputs to it, and does what it returns.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, Protocol

from duologue.ports.ears import Frame
from duologue.ports.line import Closed, LineEvent
from duologue.ports.sound import Sound

from .playback import inputs as on
from .playback import intents as do
from .playback.machine import step
from .playback.state import OUTPUT_HZ, SAMPLES_PER_MS, ClientPlace, PlaybackState, SoundEnd
from .voice_sound import VoiceSound
from .whole_sound import sound_at

LOST_MS = 2_500  # after this long without a client, the line counts as closed


class ClientWire(Protocol):
    """The sending side of one socket. Sending never waits."""

    def send_sound(self, voice: int, chunk: int, pcm: bytes) -> None:
        """Send a chunk of sound."""
        ...

    def drop_sound(self, voice: int) -> None:
        """Remove all queued sound of this utterance of the agent, so that it isn't sent."""
        ...

    def send_play(self, action: str, voice: int, ms: int = 0) -> None:
        """Send a playback command: begin, hold, resume, clear or finish."""
        ...

    def send_cue(self, cue: int, pcm: bytes) -> None:
        """Send a piece of the sound of a cue, such as a waiting signal. The client stops the cue when it receives
        speech of the agent, or when it resumes speech that was held."""
        ...

    def stop_cue(self) -> None:
        """Send a command to silence the cue, and remove its queued sound."""
        ...

    def send_ambient(self, pcm: bytes) -> None:
        """Send a sound that the client repeats quietly. An empty sound ends the repetition."""
        ...


class BrowserLine:
    """The line of one conversation. `attach` sets the client's current socket, and `detach` removes it."""

    def __init__(self, rate_hz: int = 16_000) -> None:
        self.rate_hz = rate_hz
        self._state = PlaybackState()
        self._sound = VoiceSound(OUTPUT_HZ)
        self._ambient = b""  # at the client's rate, for the next client
        self._wires: dict[int, ClientWire] = {}  # the current socket by its number, and the one before it
        self._notify: Callable[[LineEvent], None] = lambda event: None  # noqa: ARG005
        self.note_dry: Callable[[int], None] = lambda voice: None  # noqa: ARG005 - called if a voice runs out of sound
        self._arrivals: list[asyncio.Future[None]] = []
        self._patience: asyncio.TimerHandle | None = None

    def _post(self, given: on.PlaybackInput) -> None:
        """Pass this input to the state machine, and do what it returns. Reports to the conversation come last, because
        the conversation may react to a report by calling this method again."""
        self._state, intents = step(self._state, given)
        for intent in intents:
            _PERFORMERS[type(intent)](self, intent)
        self._sound.drop_before(self._state.needed_from)
        if self._state.is_dry:
            self.note_dry(self._state.voice)

    # -- The client connects and disconnects

    @property
    def is_attached(self) -> bool:
        """Is a client connected?"""
        return self._state.client_place is ClientPlace.HERE

    @property
    def is_sounding(self) -> bool:
        """Is an utterance of the agent being played, or held?"""
        s = self._state
        is_open = s.takes_sound(s.voice)
        return is_open and not (s.end is SoundEnd.SENT and s.heard_ms >= s.made // SAMPLES_PER_MS)

    @property
    def sound_bytes(self) -> int:
        """The size, in bytes, of the sound that is kept because the client hasn't played it yet."""
        return self._sound.memory_bytes

    @property
    def has_ambient(self) -> bool:
        """Is an ambient sound set?"""
        return bool(self._ambient)

    def attach(self, wire: ClientWire, position: on.Position | None = None) -> None:
        """Connect a client, and send it the sound that it doesn't have. For a client that reconnects, `position` says
        how much the client has already played."""
        number = self._number_of(wire) or self._state.client + 1
        self._wires[number] = wire
        self._post(on.ClientConnected(number, position))
        self._wires = {number: wire}
        if self._ambient:
            wire.send_ambient(self._ambient)

    def detach(self, wire: ClientWire) -> None:
        """Report that this socket is gone. If no client connects within LOST_MS, the line counts as closed. Does
        nothing if a newer socket has already taken over."""
        self._post(on.ClientDisconnected(self._number_of(wire)))

    def _number_of(self, wire: ClientWire) -> int:
        return next((number for number, known in self._wires.items() if known is wire), 0)

    def hang_up(self) -> None:
        """Report that the user has ended the conversation."""
        self._notify(Closed(hung_up=True))

    # -- The port

    async def open(self, notify: Callable[[LineEvent], None]) -> None:
        """Wait until a client is connected. If a client has reported earlier that it stopped an utterance of the agent,
        `notify` is first called with its last such report."""
        self._notify = notify
        self._post(on.OpeningBegan())
        if self._state.client_place is ClientPlace.AWAITED:
            arrival = asyncio.get_running_loop().create_future()
            self._arrivals.append(arrival)
            await arrival

    def play(self, voice: int, chunk: int, sound: Sound) -> None:  # noqa: ARG002 - pieces come in order
        if voice != self._state.voice:
            self._sound.begin()
            self._post(on.VoiceBegan(voice))
        if self._state.takes_sound(voice):
            self._post(on.SoundAdded(voice, self._sound.add(sound)))

    def finish(self, voice: int) -> None:
        if self._state.takes_sound(voice):
            self._post(on.SoundEnded(voice, self._sound.finish()))

    def hold(self, voice: int) -> None:
        self._post(on.HoldAsked(voice))

    def resume(self, voice: int) -> None:
        self._post(on.ResumeAsked(voice))

    def clear(self, voice: int) -> None:
        self._post(on.ClearAsked(voice))

    def play_cue(self, cue: int, sound: Sound) -> None:
        if self.is_attached:
            self._wire.send_cue(cue, sound_at(sound, OUTPUT_HZ))

    def stop_cue(self) -> None:
        if self.is_attached:
            self._wire.stop_cue()

    def set_ambient(self, sound: Sound | None) -> None:
        self._ambient = sound_at(sound, OUTPUT_HZ) if sound is not None else b""
        if self.is_attached:
            self._wire.send_ambient(self._ambient)

    async def close(self) -> None:
        self._notify = lambda event: None  # noqa: ARG005
        self.stop_cue()
        if self._ambient:
            self.set_ambient(None)
        self._sound.begin()
        self._post(on.LineClosed())
        self._wires.clear()

    # -- What the client sends

    def hear(self, pcm: bytes) -> None:
        """Pass on a frame of the client's microphone."""
        self._notify(Frame(pcm, self.rate_hz))

    def note_played(self, voice: int, ms: int) -> None:
        """Handle the client's report that it has played `ms` milliseconds of an utterance of the agent."""
        self._post(on.PlayedReported(voice, ms))

    def note_finished(self, voice: int, ms: int) -> None:
        """Handle the client's report that it has played an utterance of the agent to its end."""
        self._post(on.FinishedReported(voice, ms))

    def note_stopped(self, voice: int, ms: int) -> None:
        """Handle the client's report that it has stopped this voice (utterance of the agent) after the command
        `clear`."""
        self._post(on.StoppedReported(voice, ms))

    def note_unplayable(self, voice: int) -> None:
        """Handle the client's report that it can't play an utterance of the agent."""
        self._post(on.UnplayableReported(voice))

    # -- What the machine says

    @property
    def _wire(self) -> ClientWire:
        return self._wires[self._state.client]

    def _send_sound(self, it: do.SendSound) -> None:
        self._wire.send_sound(it.voice, it.number, self._sound.take(it.start, it.end))

    def _report_soon(self, it: do.ReportSoon) -> None:
        asyncio.get_running_loop().call_soon(self._notify, it.event)

    def _start_waiting(self) -> None:
        self._patience = asyncio.get_running_loop().call_later(LOST_MS / 1000, self._post, on.WaitingEnded())

    def _stop_waiting(self) -> None:
        if self._patience is not None:
            self._patience.cancel()
            self._patience = None

    def _finish_opening(self) -> None:
        for arrival in self._arrivals:
            if not arrival.done():
                arrival.set_result(None)
        self._arrivals.clear()

    def _cancel_opening(self) -> None:
        for arrival in self._arrivals:
            arrival.cancel()
        self._arrivals.clear()


_PERFORMERS: dict[type, Callable[[BrowserLine, Any], None]] = {
    do.SendSound: lambda line, it: line._send_sound(it),
    do.SendCommand: lambda line, it: line._wire.send_play(it.command.value, it.voice, it.ms),
    do.DropQueued: lambda line, it: line._wires[it.client].drop_sound(it.voice),
    do.StartWaiting: lambda line, _: line._start_waiting(),
    do.StopWaiting: lambda line, _: line._stop_waiting(),
    do.FinishOpening: lambda line, _: line._finish_opening(),
    do.CancelOpening: lambda line, _: line._cancel_opening(),
    do.ReportNow: lambda line, it: line._notify(it.event),
    do.ReportSoon: lambda line, it: line._report_soon(it),
}
