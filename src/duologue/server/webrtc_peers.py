"""The server's WebRTC peer connections: whether they are possible, and how one is made.

Rule: aiortc is loaded when the first client asks for WebRTC, and not before.
"""

from __future__ import annotations

import importlib
import importlib.util
from typing import TYPE_CHECKING, Any

from .settings import ServerSettings, WebRtcSettings

if TYPE_CHECKING:
    from duologue.lines.webrtc.peer import Peer, PeerEvents, SoundSource


def why_no_webrtc(settings: WebRtcSettings) -> str | None:
    """Why this server doesn't offer WebRTC, and what a client can do instead; None if it offers WebRTC."""
    if not settings.enabled:
        return "WebRTC is turned off; connect with a WebSocket"
    if importlib.util.find_spec("aiortc") is None:
        return "WebRTC needs aiortc (pip install 'duologue[webrtc]'); connect with a WebSocket"
    return None


def offered_webrtc(settings: ServerSettings, now_s: float) -> dict[str, Any] | None:
    """What a client of the panel needs to use WebRTC: the ICE servers. None if it should use its socket instead."""
    wanted = settings.webrtc.panel if settings.webrtc.panel is not None else not settings.is_for_this_machine
    if not wanted or why_no_webrtc(settings.webrtc) is not None:
        return None
    return {"iceServers": settings.webrtc.ice_servers.as_json(now_s)}


def new_peer(source: SoundSource, events: PeerEvents, settings: WebRtcSettings) -> Peer:
    """Make a peer connection, which then waits for the client's offer."""
    module = importlib.import_module("duologue.lines.webrtc.peer")
    peer: Peer = module.Peer(source, events, settings.ice_servers, settings.address)
    return peer
