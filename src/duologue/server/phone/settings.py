"""The settings of phone lines.

Rule: settings that are unsafe or can't work are refused when they are created, with all problems in one message.
"""

from __future__ import annotations

import base64
import binascii
import secrets
from dataclasses import dataclass, field, fields
from pathlib import Path
from urllib.parse import urlsplit

from duologue.core.errors import DuologueError
from duologue.core.settings import PROFILES, Settings, with_changes
from duologue.lines.phone.line import BufferPace

from ..settings import is_loopback
from .numbers import is_dialable


def on_the_phone(profile: str | Settings) -> Settings:
    """The settings for an agent's phone calls: those of the profile `words`, and the developer's own settings. Own
    settings are all that were given to `profile` or `with_changes`, even if they equal the values of the agent's
    profile, and all that differ from it. Settings that aren't based on a named profile are returned unchanged."""
    if isinstance(profile, str):
        return PROFILES["words"]
    base = PROFILES.get(profile.name)
    if base is None:
        return profile
    values = {field.name: getattr(profile, field.name) for field in fields(profile)}
    own = {name: value for name, value in values.items() if name in profile.chosen or value != getattr(base, name)}
    return with_changes(PROFILES["words"], **own)


class InvalidPhoneSettings(DuologueError, ValueError):
    """Settings that can't work or aren't safe. The message lists every problem and contains no secret."""


@dataclass(frozen=True)
class PhoneSettings:
    """The settings of phone lines. `public_url` is the URL at which the carriers reach this server: https://host,
    without a path. `allow_unsigned` is for simulations: then webhooks from the local machine need no signature."""

    public_url: str  # https://host, where the carriers reach this server
    twilio_auth_token: str = field(default="", repr=False)  # the account's token, which signs webhooks
    telnyx_public_key: str = field(default="", repr=False)  # from Telnyx's portal, in base64
    twilio_account_sid: str = ""  # with the auth token, lets calls be placed and transferred
    telnyx_api_key: str = field(default="", repr=False)  # lets calls be placed and transferred
    telnyx_account: str = ""  # the id of the Telnyx organization, for calls that are placed or transferred
    telnyx_application: str = ""  # the id of the TeXML application, for calls that are placed
    number: str = ""  # our own number, with country code: the caller id of outgoing calls
    api_url: str = ""  # for simulations on 127.0.0.1 only: where the carrier's API is
    ring_ms: int = 30_000  # how long a telephone rings before the call is given up
    carrier_amd: bool = False  # use the carrier's machine detection too, if `on_machine` isn't TALK; carriers bill it
    drain_to: str = ""  # a number to which calls are transferred when the server stops; empty: no transfer
    hold_music: Path | None = None  # a WAV file for people on hold; without it, a quiet melody
    telnyx_codec: str = "PCMU"  # of the sound that we send: PCMU, PCMA or L16
    telnyx_rate_hz: int = 8_000  # 8000, 16000 or 24000; above 8000 only with L16
    allow_unsigned: bool = False  # for simulations on 127.0.0.1 only
    token_key: bytes = field(default_factory=lambda: secrets.token_bytes(32), repr=False)  # the same in all processes
    token_ms_max: int = 60_000  # the longest time from the webhook to the stream
    start_ms_max: int = 10_000  # the longest time from opening the socket to its start message
    quiet_ms_max: int = 15_000  # after this long without a message of the carrier, the call counts as ended
    calls_max: int = 500  # calls at the same time; further ones are refused
    digits_pause_ms: int = 1_500  # after a pause of this length, the pressed keys become a turn
    digits_terminator: str = "#"  # the key that ends a turn of keys immediately
    pace: BufferPace = field(default_factory=BufferPace)  # how far ahead of playback sound is sent
    journals: Path | None = None  # a folder for the journal of every call
    used_tokens: Path | None = None  # a folder in which processes that share token_key note used tokens

    def __post_init__(self) -> None:
        problems = list(_problems(self))
        if problems:
            raise InvalidPhoneSettings("; ".join(problems))

    @property
    def base_url(self) -> str:
        return self.public_url.rstrip("/")

    @property
    def stream_url(self) -> str:
        """The base URL for the carriers' WebSockets: the public URL with wss instead of https, or with ws instead of
        http."""
        scheme, _, rest = self.base_url.partition("://")
        return f"{'wss' if scheme == 'https' else 'ws'}://{rest}"

    def sends(self, carrier: str) -> tuple[str, int] | None:
        """The codec and the sample rate of the sound that we send to this carrier. None means: the same as those of the
        sound that the carrier sends."""
        if carrier != "telnyx":
            return None
        return self.telnyx_codec, self.telnyx_rate_hz if self.telnyx_codec == "L16" else 8_000

    @property
    def carriers(self) -> tuple[str, ...]:
        """The carriers whose calls are accepted: those whose signatures can be checked, or all carriers if
        `allow_unsigned` is True."""
        given = {"twilio": self.twilio_auth_token, "telnyx": self.telnyx_public_key}
        return tuple(name for name, secret in given.items() if secret or self.allow_unsigned)


def _problems(settings: PhoneSettings) -> list[str]:
    url = urlsplit(settings.public_url)
    host, problems = url.hostname or "", []
    if url.scheme not in ("https", "http") or not host or url.query or url.fragment:
        problems.append("public_url must be https://host, as the carriers reach it")
    elif url.scheme == "http" and not is_loopback(host):
        problems.append("public_url must be https: the audio of calls is sent over it")
    if settings.allow_unsigned and not is_loopback(host):
        problems.append("allow_unsigned is for simulations: public_url must be on 127.0.0.1")
    if not settings.carriers:
        problems.append("set twilio_auth_token or telnyx_public_key: without one, no webhook can be verified")
    if settings.telnyx_public_key and not _is_key(settings.telnyx_public_key):
        problems.append("telnyx_public_key must be 32 bytes in base64")
    if settings.telnyx_codec not in ("PCMU", "PCMA", "L16"):
        problems.append("telnyx_codec must be PCMU, PCMA or L16")
    if settings.telnyx_rate_hz not in (8_000, 16_000, 24_000):
        problems.append("telnyx_rate_hz must be 8000, 16000 or 24000")
    if len(settings.token_key) < 16:
        problems.append("token_key must have at least 16 bytes")
    if settings.number and not is_dialable(settings.number):
        problems.append("number must be a number with country code, such as +4930123456")
    if settings.hold_music is not None and not settings.hold_music.is_file():
        problems.append("hold_music must be a WAV file that exists")
    if settings.drain_to and not is_dialable(settings.drain_to):
        problems.append("drain_to must be a number with country code, such as +4930123456, or a SIP address")
    if settings.api_url and not is_loopback(urlsplit(settings.api_url).hostname or ""):
        problems.append("api_url is for simulations: it must be on 127.0.0.1")
    for name in ("ring_ms", "token_ms_max", "start_ms_max", "quiet_ms_max", "calls_max", "digits_pause_ms"):
        if getattr(settings, name) <= 0:
            problems.append(f"{name} must be above 0")
    return problems


def _is_key(text: str) -> bool:
    try:
        return len(base64.b64decode(text, validate=True)) == 32
    except (binascii.Error, ValueError):
        return False
