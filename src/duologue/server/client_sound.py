"""Receives the sound from a client's microphone, which comes over the client's socket or over a WebRTC peer connection.

Rule: sound that arrives faster than real time is left out, and the client is told so.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from duologue.lines.browser import BrowserLine

from .caller_budget import Refused
from .carrier import CarrierInput
from .client_outbox import ClientOutbox
from .client_peer import ClientPeer
from .limited_caller import LimitedCaller
from .microphone_frames import MicrophoneFrames
from .settings import WebRtcSettings


class ClientSound:
    """The sound of the client that is connected to a conversation. `tell_left_out` is called to tell the client that
    some of its sound was left out."""

    def __init__(
        self, line: BrowserLine, caller: LimitedCaller, webrtc: WebRtcSettings, tell_left_out: Callable[[Refused], None]
    ) -> None:
        self._line = line
        self._caller = caller
        self._webrtc = webrtc
        self._tell_left_out = tell_left_out
        self._peer: ClientPeer | None = None  # of the connected client, once it has sent an offer

    def hear(self, pcm: bytes) -> None:
        """Pass on sound from the client's microphone, unless it arrives faster than real time."""
        ms = -(-len(pcm) * 500 // self._line.rate_hz)
        if self._caller.hear(ms, self._tell_left_out):
            self._line.hear(pcm)

    def hear_socket(self, frame: bytes, ms: int, frames: MicrophoneFrames) -> None:
        """Take a frame of `ms` milliseconds that came over the client's socket. The frame is dropped if the
        microphone's sound comes over WebRTC, or if the limits don't allow it. Otherwise it is decoded and passed on.
        Raises BadMessage if it can't be decoded."""
        uses_socket = self._peer is None or self._peer.uses_socket
        if uses_socket and self._caller.hear(ms, self._tell_left_out):
            self._line.hear(frames.pcm_of(frame))

    def offer(self, client: ClientOutbox | None, given: dict[str, Any]) -> None:
        """Take the client's offer of a peer connection for its sound."""
        if client is None:
            return
        if self._peer is None:
            self._peer = ClientPeer(self._line, client, self._webrtc, self.hear)
        self._peer.offer(given["sdp"])

    def note_heard(self, given: dict[str, Any]) -> None:
        """Take the client's report of which packet from the peer connection it is playing."""
        if self._peer is not None:
            self._peer.note_heard(given["rtp"])

    def use_socket(self, _: dict[str, Any]) -> None:
        """Move the sound back to the socket, because the client has reported that its peer connection doesn't work."""
        if self._peer is not None:
            self._peer.post(CarrierInput.SOCKET_ASKED)

    def leave(self) -> None:
        """Close the peer connection, because the client's socket is closed."""
        peer, self._peer = self._peer, None
        if peer is not None:
            peer.leave()
