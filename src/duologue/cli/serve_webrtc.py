"""The options of `duologue serve` that say how sound reaches clients: by WebRTC, and as Opus on their sockets.

Rule: secrets of TURN servers come from the environment, never from the command line.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, TypeAlias

import typer

from duologue.lines.webrtc.ice_servers import IceServers
from duologue.server.settings import WebRtcSettings

WebRtc: TypeAlias = Annotated[
    bool, typer.Option("--webrtc/--no-webrtc", help="Let clients send and get sound over WebRTC; needs aiortc.")
]
SocketOpus: TypeAlias = Annotated[
    bool | None,
    typer.Option(
        "--opus/--no-opus",
        help="Send sound over clients' sockets as Opus if both sides support it, otherwise as PCM; on by default if "
        "other machines can reach the server.",
    ),
]
IceServerUrl: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        help="A STUN or TURN server, as stun:HOST:PORT or turn:HOST:PORT; repeatable. TURN needs DUOLOGUE_TURN_SECRET, "
        "or DUOLOGUE_TURN_USER and DUOLOGUE_TURN_PASSWORD."
    ),
]
WebRtcAddress: TypeAlias = Annotated[
    str,
    typer.Option(help="The IP address at which clients reach this machine, if a router or a cloud forwards to it."),
]


def webrtc_settings(
    enabled: bool, ice_servers: Sequence[str] | None, address: str, environment: Mapping[str, str]
) -> WebRtcSettings:
    """The WebRTC settings from these options. Raises DuologueError if an option is invalid."""
    servers = IceServers(
        tuple(ice_servers or ()),
        environment.get("DUOLOGUE_TURN_SECRET", ""),
        environment.get("DUOLOGUE_TURN_USER", ""),
        environment.get("DUOLOGUE_TURN_PASSWORD", ""),
    )
    return WebRtcSettings(enabled, servers, address=address)
