"""The player of a peer connection: takes sound from a line, provides it in pieces of 20 ms for packets, and reports
what was heard.

It is a `ClientWire`, so that the line can move between a socket and a peer connection in the middle of a voice. Because
of the client's jitter buffer, each packet is played a little after it was sent. If the client reports which packet it
plays, and that packet was sent, the report is used. Otherwise the delay is estimated. Rule: this class only stores
sound. `playout_state` decides what is sent, and `heard_sound` decides what was heard.
"""

from __future__ import annotations

from collections.abc import Callable

from duologue.ports.line import Finished, Played

from ..ambient_loop import AmbientLoop
from ..browser import BrowserLine
from ..opus import CLOCK_HZ, PACKET_MS
from ..playback import inputs as on
from ..playback.state import SAMPLES_PER_MS
from ..playout_state import CueAdded, CueEnded, PlayoutInput, PlayoutState, SamplesNeeded, step
from . import heard_sound as hs
from .arrival_order import unwrap

PIECE_SAMPLES = PACKET_MS * SAMPLES_PER_MS
PLAYOUT_MS = 100  # how long after its arrival a packet is heard, in a client that doesn't report it
CLOCKS_PER_MS = CLOCK_HZ // 1000
QUIET_MS_MIN = 100  # a gap of this length between two packets of the client is normal
_SAMPLE = 2  # bytes


class PacketPlayer:
    """The player of one peer connection. `now_ms` returns the time, and `on_report` is called with each report of what
    was heard."""

    def __init__(self, line: BrowserLine, now_ms: Callable[[], int], on_report: Callable[[hs.Report], None]) -> None:
        self._line = line
        self._now_ms = now_ms
        self._on_report = on_report
        self._playout = PlayoutState()
        self._voice_pcm = bytearray()
        self._cue_pcm = bytearray()
        self._ambient = AmbientLoop()
        self._start = 0  # the position of the voice's first sample here
        self._dropped = (0, 0)  # the voice that was dropped last, and how much of it was sent
        self._heard = hs.HeardState()
        self._stamp = 0  # of the next packet
        self._reported: int | None = None  # the newest stamp that the client has reported
        self.delay_ms = 0  # of the network, one way

    # -- The wire

    def send_sound(self, voice: int, chunk: int, pcm: bytes) -> None:  # noqa: ARG002 - pieces come in order
        self._begin(voice)
        self._step(on.SoundAdded(voice, len(pcm) // _SAMPLE))
        self._voice_pcm += pcm

    def drop_sound(self, voice: int) -> None:
        """Drop the queued sound of this voice (utterance of the agent). Sound that was sent will still be heard."""
        if self._playout.takes(voice):
            self._dropped = (voice, self._position)
            self._step(on.ClearAsked(voice))

    def send_play(self, action: str, voice: int, ms: int = 0) -> None:
        if action == "begin":
            self.drop_sound(voice)
            self._begin(voice, ms * SAMPLES_PER_MS)
        elif action == "hold":
            self._step(on.HoldAsked(voice))
        elif action == "resume":
            self._step(on.ResumeAsked(voice))
        elif action == "finish":
            self._begin(voice)
            self._step(on.SoundEnded(voice, 0))
            self._note_end()
        elif action == "clear":
            self.drop_sound(voice)
            end = self._dropped[1] if self._dropped[0] == voice else 0
            self._hear(hs.VoiceCleared(voice, end, self._now_ms()))

    def send_cue(self, cue: int, pcm: bytes) -> None:
        self._step(CueAdded(cue, len(pcm) // _SAMPLE))
        self._cue_pcm += pcm

    def stop_cue(self) -> None:
        self._step(CueEnded())

    def send_ambient(self, pcm: bytes) -> None:
        self._ambient = AmbientLoop(pcm)

    def _begin(self, voice: int, start: int = 0) -> None:
        if not self._playout.takes(voice):
            self._step(on.VoiceBegan(voice))
            self._start = start

    @property
    def _position(self) -> int:
        """The position of the next sample to send, counted from the start of the agent's utterance."""
        return self._start + self._playout.played

    def _step(self, given: PlayoutInput) -> tuple[int, int]:
        """Pass this input to the state machine `playout_state`, and drop the queued samples that it says to drop.
        Returns how many samples to send now: of the agent's utterance, and of the cue."""
        self._playout, done = step(self._playout, given)
        if done.drops_voice:
            self._voice_pcm.clear()
        if done.drops_cue:
            self._cue_pcm.clear()
        return done.voice_samples, done.cue_samples

    # -- The track

    def take(self, stamp: int) -> bytes:
        """Take the next 20 ms of sound, for the packet with this stamp. Empty if there is nothing to play."""
        self._stamp = stamp + PACKET_MS * CLOCKS_PER_MS
        position = self._position
        voice_samples, cue_samples = self._step(SamplesNeeded(PIECE_SAMPLES))
        taken = _take(self._voice_pcm, voice_samples) or _take(self._cue_pcm, cue_samples)
        if voice_samples:
            self._hear(hs.VoiceSent(stamp, self._playout.voice, position, voice_samples))
            self._note_end()
        if not taken and not self._ambient:
            return b""
        return self._ambient.mix(taken + bytes(PIECE_SAMPLES * _SAMPLE - len(taken)), voice_samples > 0)

    def _note_end(self) -> None:
        """Record that the whole utterance was sent, if that is so."""
        if self._playout.is_complete and not self._playout.queued:
            self._hear(hs.VoiceComplete(self._playout.voice, self._position))

    # -- What was heard

    def note_stamp(self, stamp: int) -> None:
        """Record that the client is playing the packet with this stamp (RTP clocks since the start of the connection).
        If no packet with this stamp was sent yet, the report is ignored."""
        stamp = unwrap(stamp, self._stamp)
        if stamp > self._stamp:
            return  # it wasn't sent yet, so the client is wrong
        self._reported = max(stamp, self._reported or 0)
        self.look()

    def look(self, quiet_ms: int = 0) -> None:
        """Report what was heard by now. Called every 100 ms, even if the client reports nothing. `quiet_ms` is the time
        since the last packet from the client. Sound that was sent during this time may be lost, so it doesn't count as
        heard yet."""
        delay_ms = self.delay_ms + PLAYOUT_MS + max(0, quiet_ms - QUIET_MS_MIN)
        stamp = self._reported if self._reported is not None else self._stamp - delay_ms * CLOCKS_PER_MS
        self._hear(hs.StampHeard(stamp, self._now_ms()))

    def is_heard(self, voice: int) -> bool:
        """Is this utterance of the agent still being played? True if its sound is queued, or if it was sent last and
        wasn't cleared."""
        is_sent = self._heard.voice == voice and self._heard.cleared_ms is None
        return voice > 0 and (is_sent or (self._playout.takes(voice) and self._playout.queued > 0))

    def heard_ms(self, voice: int) -> int:
        """How many milliseconds of this utterance of the agent were heard so far. 0 if it isn't the one that was sent
        last."""
        return self._heard.heard_ms if self._heard.voice == voice else 0

    def sent_ms(self, voice: int) -> int | None:
        """How many milliseconds of this utterance of the agent were sent so far. None if it isn't the one that was sent
        last."""
        return -(-self._heard.sent // SAMPLES_PER_MS) if voice and self._heard.voice == voice else None

    def leave(self) -> None:
        """Drop all sound, because from now on another connection plays the agent's utterance."""
        self._voice_pcm.clear()
        self._cue_pcm.clear()
        self._playout = PlayoutState()
        self._hear(hs.SpansDropped())

    def _hear(self, given: hs.HeardInput) -> None:
        self._heard, reports = hs.step(self._heard, given)
        for report in reports:
            self._report(report)

    def _report(self, report: hs.Report) -> None:
        if isinstance(report, Played):
            self._line.note_played(report.voice, report.heard_ms)
        elif isinstance(report, Finished):
            self._line.note_finished(report.voice, report.heard_ms)
        else:
            self._line.note_stopped(report.voice, report.heard_ms)
        self._on_report(report)


def _take(queue: bytearray, samples: int) -> bytes:
    taken = bytes(queue[: samples * _SAMPLE])
    del queue[: samples * _SAMPLE]
    return taken
