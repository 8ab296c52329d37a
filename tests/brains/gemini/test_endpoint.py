"""Which server gets which key."""

from __future__ import annotations

import pytest

from duologue.brains.gemini.endpoint import GeminiEndpoint
from duologue.lab.sim.jumping_clock import run_jumping
from duologue.ports.failure import ServiceError


def headers(endpoint: GeminiEndpoint) -> dict[str, str]:
    return run_jumping(endpoint.headers())


def test_google_gets_the_key_of_the_environment_as_a_header(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOOGLE_API_KEY", "second")
    assert headers(GeminiEndpoint(None, None, {})) == {"x-goog-api-key": "second"}
    monkeypatch.setenv("GEMINI_API_KEY", "first")
    endpoint = GeminiEndpoint(None, None, {"x-more": "1"})
    assert headers(endpoint) == {"x-goog-api-key": "first", "x-more": "1"}
    assert endpoint.url.endswith("v1beta.GenerativeService.BidiGenerateContent")
    assert "first" not in endpoint.url + repr(endpoint)


def test_another_server_gets_only_a_key_that_was_passed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GEMINI_API_KEY", "mine")
    assert headers(GeminiEndpoint("http://localhost:1/x", None, {})) == {}
    assert headers(GeminiEndpoint("http://localhost:1/x", "its own", {})) == {"x-goog-api-key": "its own"}
    assert GeminiEndpoint("https://host/x", None, {}).url == "wss://host/x"


def test_a_token_is_fetched_for_each_connection() -> None:
    tokens = iter(("one", "two"))

    async def token() -> str:
        return next(tokens)

    endpoint = GeminiEndpoint(None, token, {})
    assert [headers(endpoint)["Authorization"] for _ in range(2)] == ["Bearer one", "Bearer two"]


def test_a_missing_key_and_a_bad_url_are_named() -> None:
    with pytest.raises(ServiceError, match="GEMINI_API_KEY"):
        headers(GeminiEndpoint(None, None, {}))
    with pytest.raises(ValueError, match="wss://"):
        GeminiEndpoint("ftp://host", None, {})
    with pytest.raises(ValueError, match="name a host"):
        GeminiEndpoint("localhost", None, {})
