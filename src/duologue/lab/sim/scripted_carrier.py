"""A simulated carrier: the other end of a telephone line, with the faults of real carriers.

It sends the caller's audio every 20 ms. `Network` sets how much of it is late, doubled, out of order or lost. It plays
what the agent sends, at the pace of the event loop's clock, returns marks and obeys clear messages. It works over a
WebSocket or in simulated time. Rule: it knows only the messages that a carrier gets, and nothing about the
conversation.
"""

from __future__ import annotations

import asyncio
import base64
import json
import random
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from duologue.lines.phone.carriers import CARRIERS, Carrier

from .line_echo import LineEcho

FRAME_MS = 20
ULAW_SILENCE = b"\xff"


@dataclass(frozen=True, slots=True)
class Network:
    """What the network does to the caller's frames. Rates are from 0 to 1."""

    jitter_ms: int = 0
    loss: float = 0.0
    duplicates: float = 0.0
    reordered: float = 0.0  # overtaken by the next one or two frames
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Format:
    """The audio format on the wire."""

    encoding: str = "PCMU"
    rate_hz: int = 8_000
    silence: bytes = ULAW_SILENCE  # one sample

    @property
    def frame_bytes(self) -> int:
        return self.rate_hz * FRAME_MS // 1000 * len(self.silence)


class HeardByCaller(NamedTuple):
    """Something that the caller heard: a sound, or a clear (the agent's sound was stopped). For a sound, `ms` is its
    length, and `at_ms` is the time of its end. For a clear, `ms` is the length of all sound that was played before."""

    at_ms: int
    what: str  # sound, clear
    ms: int = 0


class PlayedFrame(NamedTuple):
    """A frame that the caller heard, encoded as it was sent, and the time at which its playback began."""

    at_ms: int
    coded: bytes


@dataclass
class ScriptedCarrier:
    """One call. It sends messages by calling `send`, and gets messages through its method `receive`. `flushes_marks`
    says whether a clear message makes the carrier return the marks that are still waiting. If it is None, the carrier
    decides: Twilio returns these marks, as its documentation says, and Telnyx doesn't."""

    send: Callable[[str], None]
    carrier: Carrier = CARRIERS["twilio"]
    parameters: Mapping[str, str] = field(default_factory=dict)
    network: Network = Network()
    format: Format = Format()
    stream: str = "MZ0001"
    call: str = "CA0001"
    returns_marks: bool = True
    flushes_marks: bool | None = None
    echo: LineEcho | None = None  # only for PCMU
    log: list[HeardByCaller] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._dice = random.Random(self.network.seed)
        self._chunk = self._sequence = 0
        self._voice = b""  # the caller's audio that is not sent yet
        self._queue: deque[bytes | str] = deque()  # from the agent: frames, with marks between them
        self._began = 0.0
        self._ticks = 0
        self._alarm: asyncio.TimerHandle | None = None
        self._loop = asyncio.get_running_loop()
        self.played_ms = 0
        self.sounding_ms = 0  # for how long the agent has spoken without a gap
        self.clears = 0
        self.media = 0
        self.recording = bytearray()  # what the caller heard, as it came over the wire
        self.frames: list[PlayedFrame] = []  # the same, with times
        self.is_over = False
        self.caller_hung_up = False
        self.changed = asyncio.Event()  # set when something was played or ended
        if self.flushes_marks is None:
            self.flushes_marks = self.carrier.name == "twilio"

    # -- The call

    def connect(self) -> None:
        """Send the `connected` and `start` messages, then audio every 20 ms."""
        self.send(json.dumps({"event": "connected", "protocol": "Call", "version": "1.0.0"}))
        carrier, form = self.carrier, self.format
        names = {ours: theirs for theirs, ours in carrier.encodings.items()}
        start = {
            carrier.stream_id: self.stream,
            carrier.call_id: self.call,
            carrier.parameters: dict(self.parameters),
            carrier.media_format: {
                "encoding": names.get(form.encoding, form.encoding),
                carrier.sample_rate: form.rate_hz,
                "channels": 1,
            },
        }
        self._send_event("start", {"start": start})
        self._began = self._loop.time()
        self._tick()

    def hang_up(self, says_so: bool = True) -> None:
        """Let the caller hang up. If `says_so` is false, the carrier sends no stop message, as unreliable carriers
        do."""
        if self.is_over:
            return
        self.caller_hung_up = True
        if says_so:
            self._send_event("stop", {"stop": {self.carrier.call_id: self.call}})
        self.end()

    def end(self) -> None:
        """End the call. After that, nothing more is sent."""
        self.is_over = True
        if self._alarm is not None:
            self._alarm.cancel()
        self.changed.set()

    # -- The caller

    def speak(self, coded: bytes) -> None:
        """Add audio of the caller. It is sent after the audio that is still waiting to be sent."""
        self._voice += coded

    def hush(self) -> None:
        """Drop the caller's audio that is still waiting to be sent."""
        self._voice = b""

    @property
    def is_speaking(self) -> bool:
        """Is some of the caller's audio still to be sent?"""
        return bool(self._voice)

    def press(self, digit: str) -> None:
        """Let the caller press a key."""
        self._send_event("dtmf", {"dtmf": {"track": "inbound_track", "digit": digit}})

    @property
    def is_sounding(self) -> bool:
        """Is audio of the agent waiting or playing?"""
        return any(isinstance(item, bytes) for item in self._queue)

    # -- What the agent's side sends

    def receive(self, text: str) -> None:
        """Handle a message from the agent's side."""
        message = json.loads(text)
        match message["event"]:
            case "media":
                self.media += 1
                self._queue.append(base64.b64decode(message["media"]["payload"]))
            case "mark":
                self._queue.append(message["mark"]["name"])
            case "clear":
                self._clear()

    def _clear(self) -> None:
        self.clears += 1
        self.log.append(HeardByCaller(self._now_ms(), "clear", self.played_ms))
        marks = [item for item in self._queue if isinstance(item, str)]
        self._queue.clear()
        if self.flushes_marks:
            for name in marks:
                self._return(name)
        self.changed.set()

    # -- Every 20 ms

    def _tick(self) -> None:
        if self.is_over:
            return
        self._send_frame()
        self._play_frame()
        self._ticks += 1
        self.changed.set()
        self._alarm = self._loop.call_at(self._began + self._ticks * FRAME_MS / 1000, self._tick)

    def _play_frame(self) -> None:
        self._return_marks()
        if self._queue and isinstance(frame := self._queue.popleft(), bytes):
            self._echo(frame)
            ms = len(frame) * FRAME_MS // self.format.frame_bytes
            self.recording += frame
            self.frames.append(PlayedFrame(self._now_ms(), frame))
            self.played_ms += ms
            self.sounding_ms += ms
            return
        self._echo(self.format.silence * (self.format.frame_bytes // len(self.format.silence)))
        if self.sounding_ms:
            self.log.append(HeardByCaller(self._now_ms(), "sound", self.sounding_ms))
            self.sounding_ms = 0

    def _echo(self, frame: bytes) -> None:
        if self.echo is not None:
            self.echo.play(frame)

    def _return_marks(self) -> None:
        """Return all marks at the front of the queue, because the audio before them has been played."""
        while self._queue and isinstance(name := self._queue[0], str):
            self._queue.popleft()
            self._return(name)

    def _return(self, name: str) -> None:
        if self.returns_marks:
            self._send_event("mark", {"mark": {"name": name}})

    def _send_frame(self) -> None:
        size, network, dice = self.format.frame_bytes, self.network, self._dice
        frame, self._voice = self._voice[:size], self._voice[size:]
        frame += self.format.silence * ((size - len(frame)) // len(self.format.silence))
        if self.echo is not None:
            frame = self.echo.mix(frame)
        self._chunk += 1
        media = {
            "track": "inbound",
            "chunk": str(self._chunk),
            "timestamp": str(self._ticks * FRAME_MS),
            "payload": base64.b64encode(frame).decode("ascii"),
        }
        text = self._write("media", {"media": media})
        if dice.random() < network.loss:
            return
        late_ms = dice.uniform(0, network.jitter_ms)
        if dice.random() < network.reordered:
            late_ms += FRAME_MS * dice.uniform(1.2, 2.4)
        self._send_later(text, late_ms)
        if dice.random() < network.duplicates:
            self._send_later(text, late_ms + dice.uniform(0, FRAME_MS))

    def _send_later(self, text: str, late_ms: float) -> None:
        if late_ms:
            self._loop.call_later(late_ms / 1000, self._send_if_up, text)
        else:
            self.send(text)

    def _send_if_up(self, text: str) -> None:
        if not self.is_over:
            self.send(text)

    # -- Writing

    def _send_event(self, event: str, content: dict[str, Any]) -> None:
        self.send(self._write(event, content))

    def _write(self, event: str, content: dict[str, Any]) -> str:
        self._sequence += 1
        number = {"sequenceNumber" if self.carrier.names_stream else "sequence_number": str(self._sequence)}
        return json.dumps({"event": event, **number, self.carrier.stream_id: self.stream, **content})

    def _now_ms(self) -> int:
        return round((self._loop.time() - self._began) * 1000)
