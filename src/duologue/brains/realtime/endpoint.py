"""The URL of a Realtime server and the headers that authenticate us.

Rule: the key is sent only to the server that it is meant for, and never appears in a message, a log or a `repr`.
"""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Mapping
from typing import TypeAlias
from urllib.parse import parse_qs, quote, urlsplit, urlunsplit

from duologue.core.leaves import ErrorClass

from .failures import RealtimeFailed

Key: TypeAlias = str | Callable[[], Awaitable[str]]

OPENAI_URL = "wss://api.openai.com/v1/realtime"


class RealtimeEndpoint:
    """A server, a model and a key. Without a URL, the server is OpenAI. If no key was passed, OpenAI gets the key in
    OPENAI_API_KEY, an Azure host gets the key in AZURE_OPENAI_API_KEY, and any other host gets no key."""

    def __init__(self, model: str, url: str | None, key: Key | None, headers: Mapping[str, str]) -> None:
        self.url = _url(url or OPENAI_URL, model)
        parts = urlsplit(self.url)
        self.host = f"{parts.hostname}:{parts.port}" if parts.port else str(parts.hostname)
        self._is_azure = str(parts.hostname).endswith(".azure.com")
        self._is_openai = parts.hostname == urlsplit(OPENAI_URL).hostname
        self._key = key
        self._headers = dict(headers)

    async def headers(self) -> dict[str, str]:
        """The headers of a new connection. A token is fetched again each time, because tokens expire."""
        if callable(self._key):
            return {"Authorization": f"Bearer {await self._key()}", **self._headers}
        name = "AZURE_OPENAI_API_KEY" if self._is_azure else "OPENAI_API_KEY"
        key = self._key or (os.environ.get(name) if self._is_azure or self._is_openai else None)
        if key:
            own = {"api-key": key} if self._is_azure else {"Authorization": f"Bearer {key}"}
            return {**own, **self._headers}
        if self._is_azure or self._is_openai:
            hint = f"no API key for {self.host}: pass api_key=..., or set {name}"
            raise RealtimeFailed(ErrorClass.AUTH_FAILURE, hint)
        return dict(self._headers)

    def __repr__(self) -> str:
        return f"RealtimeEndpoint({self.host})"


def _url(url: str, model: str) -> str:
    """The complete URL: `https` becomes `wss`, the path ends in `realtime`, and the query names the model."""
    parts = urlsplit(url)
    scheme = {"https": "wss", "http": "ws"}.get(parts.scheme, parts.scheme)
    if scheme not in ("ws", "wss") or not parts.hostname:
        raise ValueError("url must begin with wss://, ws://, https:// or http:// and name a host")
    path = parts.path.rstrip("/")
    path = path if path.endswith("/realtime") else f"{path}/realtime"
    query = parts.query
    if not {"model", "deployment", "call_id"} & set(parse_qs(query)):
        query = f"{query}&model={quote(model)}".lstrip("&")
    return urlunsplit((scheme, parts.netloc, path, query, ""))
