"""The player of a call over WebRTC: puts the line's sound into packets, and tells the call how much of it was heard.

Rule: how much was heard is known from the packets, so the client needn't say where it has stopped.
"""

from __future__ import annotations

from collections.abc import Callable

from duologue.lines.browser import BrowserLine
from duologue.lines.webrtc.heard_sound import Report
from duologue.lines.webrtc.packet_player import PacketPlayer
from duologue.ports.line import Finished, Stopped

from ..limited_caller import now_ms


class TrackPlayer:
    """A `TrackedPlayer` for an audio track. When a voice (the sound of one reply) has ended at the client, `on_ended`
    is called with two arguments: the number of the voice, and whether the voice was cut off."""

    def __init__(
        self,
        line: BrowserLine,
        on_sound: Callable[[int, bytes], None],
        on_complete: Callable[[int], None],
        on_ended: Callable[[int, bool], None],
    ) -> None:
        self.packets = PacketPlayer(line, now_ms, self._note)
        self._on_sound = on_sound
        self._on_complete = on_complete
        self._on_ended = on_ended

    # -- The wire

    def send_sound(self, voice: int, chunk: int, pcm: bytes) -> None:
        self.packets.send_sound(voice, chunk, pcm)
        self._on_sound(voice, pcm)

    def drop_sound(self, voice: int) -> None:
        self.packets.drop_sound(voice)

    def send_play(self, action: str, voice: int, ms: int = 0) -> None:
        self.packets.send_play(action, voice, ms)
        if action == "finish":
            self._on_complete(voice)

    def send_cue(self, cue: int, pcm: bytes) -> None:
        self.packets.send_cue(cue, pcm)

    def stop_cue(self) -> None:
        self.packets.stop_cue()

    def send_ambient(self, pcm: bytes) -> None:
        self.packets.send_ambient(pcm)

    # -- The call

    def reported_ms(self, voice: int) -> int:
        return self.packets.heard_ms(voice)

    def played_ms(self, voice: int) -> int | None:
        return self.packets.sent_ms(voice)

    def stop(self, voice: int, heard_ms: int) -> bool:  # noqa: ARG002 - the packets tell what was heard
        return self.packets.is_heard(voice)

    def close(self) -> None:
        self.packets.leave()

    def _note(self, report: Report) -> None:
        if isinstance(report, Finished | Stopped):
            self._on_ended(report.voice, isinstance(report, Stopped))
