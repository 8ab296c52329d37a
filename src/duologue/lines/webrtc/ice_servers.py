"""STUN and TURN servers: their settings, and the credentials that clients and this server need to use them.

A TURN server with a shared secret accepts a user name that contains its expiry time, with a signature of that name as
the password (the TURN REST scheme, `use-auth-secret` in coturn). Rule: the secret never leaves the server; clients get
credentials that expire.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
from dataclasses import dataclass, field

from duologue.core.errors import DuologueError

TURN_S = 3_600  # how long a client's credentials are valid; an existing connection goes on after that
_URL = re.compile(r"(stuns?|turns?):[^\s/@?#]+(\?transport=(udp|tcp))?")


class InvalidIceServer(DuologueError, ValueError):
    """A setting for a STUN or TURN server is invalid. The message says what to change."""


@dataclass(frozen=True, slots=True)
class IceServers:
    """The STUN and TURN servers of one deployment. If `secret` is set, clients get credentials that expire. Otherwise
    they get `user` and `password`, which don't expire."""

    urls: tuple[str, ...] = ()
    secret: str = field(default="", repr=False)
    user: str = ""
    password: str = field(default="", repr=False)

    def __post_init__(self) -> None:
        for url in self.urls:
            if not _URL.fullmatch(url):
                raise InvalidIceServer(f"{url!r} isn't a STUN or TURN server: write turn:HOST:PORT or stun:HOST:PORT")
        if self.is_relayed and not self.secret and not (self.user and self.password):
            raise InvalidIceServer(
                "a TURN server needs DUOLOGUE_TURN_SECRET, or DUOLOGUE_TURN_USER and DUOLOGUE_TURN_PASSWORD"
            )

    @property
    def is_relayed(self) -> bool:
        return any(url.startswith("turn") for url in self.urls)

    def as_json(self, now_s: float) -> list[dict[str, object]]:
        """The servers as JSON data for the `iceServers` of an `RTCConfiguration`, with credentials that are valid from
        `now_s` on."""
        stun = [url for url in self.urls if url.startswith("stun")]
        turn = [url for url in self.urls if url.startswith("turn")]
        servers: list[dict[str, object]] = [{"urls": stun}] if stun else []
        if turn:
            user, password = self.credentials(now_s)
            servers.append({"urls": turn, "username": user, "credential": password})
        return servers

    def credentials(self, now_s: float) -> tuple[str, str]:
        """A user name and a password for the TURN servers."""
        if not self.secret:
            return self.user, self.password
        user = f"{int(now_s) + TURN_S}:duologue"
        signature = hmac.new(self.secret.encode(), user.encode(), hashlib.sha1).digest()
        return user, base64.b64encode(signature).decode()
