"""Renders the sound that a client receives, in real time, and reads from it what a person heard.

It renders sound in the same way as the page plays it: buffered sound goes on without a socket, a newer voice replaces
an older one, and a chunk that was already received is dropped. Rule: `heard` is decoded from the rendered samples,
never from what the server reports.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field

from duologue.client.messages import CUE, VOICE, VoiceChunk

from .tortured_agent import CHAR_SAMPLES, RATE_HZ

_PER_MS = RATE_HZ // 1000


@dataclass(slots=True)
class Stretch:
    """A period during which the sound of one voice (utterance of the agent) from one server process was rendered."""

    voice: int
    node: str
    began_s: float
    ended_s: float


@dataclass(slots=True)
class RenderedVoice:
    """One voice (utterance of the agent): the samples received so far, and how many of them were rendered."""

    number: int
    samples: array[int] = field(default_factory=lambda: array("h"))
    chunk: int = 0
    rendered: float = 0.0  # samples
    node: str = ""
    is_held: bool = False
    is_complete: bool = False
    is_over: bool = False  # cleared, replaced or played to its end
    stretches: list[Stretch] = field(default_factory=list)

    @property
    def ms(self) -> int:
        return int(self.rendered) // _PER_MS

    @property
    def heard(self) -> str:
        """The text that was heard. A character counts when all of its samples were rendered."""
        whole = int(self.rendered) // CHAR_SAMPLES
        return "".join(chr(self.samples[at * CHAR_SAMPLES]) for at in range(whole))


class AudioRenderer:
    """Renders the voices (utterances of the agent), one after the other. Times are seconds of any monotonic clock."""

    def __init__(self) -> None:
        self.voices: list[RenderedVoice] = []
        self._at_s = 0.0
        self._holds: set[int] = set()

    @property
    def current(self) -> RenderedVoice | None:
        return self.voices[-1] if self.voices else None

    @property
    def is_quiet(self) -> bool:
        voice = self.current
        return voice is None or voice.is_over or int(voice.rendered) >= len(voice.samples)

    @property
    def position(self) -> dict[str, int] | None:
        """What the hello message reports as played: voice, milliseconds and chunk. None before the first voice."""
        voice = self.current
        return {"voice": voice.number, "ms": voice.ms, "chunk": voice.chunk} if voice is not None else None

    def hold(self, now_s: float) -> None:
        """Stop rendering the current voice (utterance of the agent) until the server sends a play command. If rendering
        went on, the position that was reported to the server would become wrong."""
        self.advance(now_s)
        if self.current is not None:
            self.current.is_held = True

    def receive(self, received: VoiceChunk, node: str, now_s: float) -> None:
        """Add a chunk of sound to its voice (utterance of the agent). `node` is the server process that sent it. The
        chunk is dropped if it was already received, or if its voice was replaced or cleared. Cues aren't rendered,
        because they aren't part of an answer."""
        kind, number, chunk, pcm = received
        if kind == CUE:  # the page plays cues beside the voices
            return
        assert kind == VOICE, kind
        self.advance(now_s)
        voice = self.current
        if voice is None or number > voice.number:
            voice = self._begin(number)
        if number < voice.number or chunk <= voice.chunk or (voice.is_over and not voice.is_complete):
            return
        voice.is_over = False
        voice.chunk = chunk
        voice.node = node
        voice.samples.frombytes(pcm)

    def _begin(self, number: int) -> RenderedVoice:
        if self.current is not None:
            self.current.is_over = True
        self.voices.append(RenderedVoice(number, is_held=number in self._holds))
        return self.voices[-1]

    def advance(self, now_s: float) -> None:
        """Render the sound from the time of the last call until `now_s`."""
        passed_s, self._at_s = max(0.0, now_s - self._at_s), now_s
        voice = self.current
        if voice is None or voice.is_held or voice.is_over:
            return
        until = min(float(len(voice.samples)), voice.rendered + passed_s * RATE_HZ)
        if until > voice.rendered:
            took_s = (until - voice.rendered) / RATE_HZ
            self._note(voice, now_s - passed_s, now_s - passed_s + took_s)
            voice.rendered = until
        if voice.is_complete and int(voice.rendered) >= len(voice.samples):
            voice.is_over = True

    @staticmethod
    def _note(voice: RenderedVoice, began_s: float, ended_s: float) -> None:
        last = voice.stretches[-1] if voice.stretches else None
        if last is not None and last.node == voice.node and began_s - last.ended_s < 0.2:
            last.ended_s = ended_s
        else:
            voice.stretches.append(Stretch(voice.number, voice.node, began_s, ended_s))

    def command(self, action: str, number: int, now_s: float) -> tuple[str, int, int] | None:
        """Obey a playback command from the server. Returns the answer to send (kind, voice, milliseconds heard); None
        if there is nothing to answer."""
        self.advance(now_s)
        voice = self.current
        if action in ("hold", "resume"):
            (self._holds.add if action == "hold" else self._holds.discard)(number)
        if voice is None or number != voice.number:
            if action == "clear":
                return "stopped", number, 0
            return ("finished", number, 0) if action == "finish" else None
        match action:
            case "hold" | "resume":
                voice.is_held = action == "hold"
            case "finish":
                voice.is_complete = True
                self.advance(now_s)
                return ("finished", number, voice.ms) if voice.is_over else None
            case "clear":
                voice.is_over = True
                voice.is_complete = False
                return "stopped", number, voice.ms
        return None
