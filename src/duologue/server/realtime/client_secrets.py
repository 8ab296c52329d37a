"""Short-lived keys for clients that can't be trusted with the server's token, such as web pages.

A client's key is a ticket (`..tickets`) behind a prefix and a random number, so that no two keys are the same. It is
signed with a signing key that is derived from the server's ticket key or token, and with that number. A session
configuration may belong to a key (`.key_sessions`). Rule: a key can't be used to make further keys.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import time
from dataclasses import dataclass
from typing import Any

from ..credentials import Admission, admit, header
from ..settings import ServerSettings
from ..siblings import ALONE, Siblings
from ..tickets import make_ticket, read_ticket
from .fields import JsonObject, check_names, one_of, read_object, read_whole
from .key_sessions import KEPT_S_MAX, KeySessions
from .session_config import SessionConfig

PREFIX = "ek_"  # clients in web pages refuse keys without it
SECONDS, SECONDS_MIN = 600, 10
USER_HEADER = b"openai-safety-identifier"


@dataclass(frozen=True, slots=True)
class ClientSecret:
    """A key that was made, and the session configuration that belongs to it."""

    value: str
    expires_at: int
    config: SessionConfig


class ClientSecrets:
    """Makes and checks the client keys of one server. `siblings` are the processes that share the server's port."""

    def __init__(self, settings: ServerSettings, agent: str, siblings: Siblings = ALONE) -> None:
        self._settings = settings
        self._agent = agent
        self._key = _signing_key(settings, siblings)
        self._sessions = KeySessions(siblings.shared_folder)

    def admit(self, presented: str, scope: dict[str, Any]) -> Admission | None:
        """What a client that presents this key, ticket or token may do; None if it may not connect."""
        if presented.startswith(PREFIX):
            number, _, signed = presented.removeprefix(PREFIX).partition("_")
            ticket = read_ticket(f"{self._key}.{number}", signed)
            if ticket is None or ticket.is_over(time.time()) or ticket.agent not in ("", self._agent):
                return None
            return Admission(user=ticket.user)
        admission = admit(presented, scope, self._settings, self._agent, time.time())
        return admission if admission is not None and admission.may_start else None

    def may_make(self, presented: str, scope: dict[str, Any]) -> bool:
        """May the client that presents this token make keys? A client with a key or a ticket may not."""
        is_short_lived = presented.startswith(PREFIX) or read_ticket(self._settings.ticket_key, presented) is not None
        return not is_short_lived and self.admit(presented, scope) is not None

    def config_of(self, presented: str) -> SessionConfig:
        """The session configuration that was set when this key was made."""
        return self._sessions.find(presented) if presented.startswith(PREFIX) else SessionConfig()

    def make(self, body: JsonObject, scope: dict[str, Any], now_s: float) -> ClientSecret:
        """Make a client's key, as this request asks. Raises EventRefused if the request is invalid."""
        check_names(body, ("expires_after", "session"))
        seconds = _seconds(body)
        user = header(scope, USER_HEADER)[:200]
        number = secrets.token_hex(8)
        signing_key = f"{self._key}.{number}"
        ticket = make_ticket(signing_key, minutes=seconds / 60, user=user, agent=self._agent, now_s=now_s)
        value, expires_at = f"{PREFIX}{number}_{ticket}", round(now_s + seconds)
        if body.get("session") is None:
            return ClientSecret(value, expires_at, SessionConfig())
        config = self._sessions.keep(value, expires_at, read_object(body["session"], "session"))
        return ClientSecret(value, expires_at, config)


def _seconds(body: JsonObject) -> int:
    given = read_object(body.get("expires_after") or {}, "expires_after")
    check_names(given, ("anchor", "seconds"), "expires_after.")
    if given.get("anchor") is not None:
        one_of(given["anchor"], "expires_after.anchor", ("created_at",))
    if given.get("seconds") is None:
        return SECONDS
    return read_whole(given, "seconds", "expires_after.", SECONDS_MIN, KEPT_S_MAX)


def _signing_key(settings: ServerSettings, siblings: Siblings) -> str:
    """The signing key, the same in all processes of a server. If the server has no secret, it is random."""
    secret = settings.ticket_key or settings.token or settings.operator_token or siblings.shared_key
    if not secret:
        return secrets.token_urlsafe(24)
    return hmac.new(secret.encode(), b"duologue client secrets", hashlib.sha256).hexdigest()
