"""The URL of a Gemini Live server and the headers that authenticate us.

Rule: the key is sent only to the server that it is meant for, as a header, and never appears in a message, a log or a
`repr`.
"""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Mapping
from typing import TypeAlias
from urllib.parse import urlsplit, urlunsplit

from duologue.core.leaves import ErrorClass

from .failures import GeminiFailed

GeminiKey: TypeAlias = str | Callable[[], Awaitable[str]]

GOOGLE_URL = (
    "wss://generativelanguage.googleapis.com/ws/google.ai.generativelanguage.v1beta.GenerativeService"
    ".BidiGenerateContent"
)
_VARIABLES = ("GEMINI_API_KEY", "GOOGLE_API_KEY")


class GeminiEndpoint:
    """A server and the key for it. Without a URL, the server is Google's. Google's server gets the key that was passed
    or, if none was passed, the value of GEMINI_API_KEY or GOOGLE_API_KEY. Any other server gets a key only if one was
    passed. A key may be a function that returns a token, which is sent as a bearer token."""

    def __init__(self, url: str | None, key: GeminiKey | None, headers: Mapping[str, str]) -> None:
        parts = urlsplit(url or GOOGLE_URL)
        scheme = {"https": "wss", "http": "ws"}.get(parts.scheme, parts.scheme)
        if scheme not in ("ws", "wss") or not parts.hostname:
            raise ValueError("url must begin with wss://, ws://, https:// or http:// and name a host")
        self.url = urlunsplit((scheme, parts.netloc, parts.path, parts.query, ""))
        self.host = f"{parts.hostname}:{parts.port}" if parts.port else str(parts.hostname)
        self._is_google = parts.hostname == urlsplit(GOOGLE_URL).hostname
        self._key = key
        self._headers = dict(headers)

    async def headers(self) -> dict[str, str]:
        """The headers of a new connection. A token is fetched again each time, because tokens expire."""
        if callable(self._key):
            return {"Authorization": f"Bearer {await self._key()}", **self._headers}
        found = next((value for name in _VARIABLES if (value := os.environ.get(name))), None)
        key = self._key or (found if self._is_google else None)
        if key:
            return {"x-goog-api-key": key, **self._headers}
        if self._is_google and "Authorization" not in self._headers:
            hint = f"no API key for {self.host}: pass api_key=..., or set {_VARIABLES[0]}"
            raise GeminiFailed(ErrorClass.AUTH_FAILURE, hint)
        return dict(self._headers)

    def __repr__(self) -> str:
        return f"GeminiEndpoint({self.host})"
