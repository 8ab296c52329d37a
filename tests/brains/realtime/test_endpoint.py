"""The URL of a Realtime server, and the key that goes to it and nowhere else."""

from __future__ import annotations

import logging

import pytest

from duologue import RealtimeModel
from duologue.core.leaves import ErrorClass
from duologue.lab.sim.jumping_clock import run_jumping
from duologue.testing.realtime.server import RealtimeServer
from tests.brains.realtime.opening_failures import opening_failure


@pytest.mark.parametrize(
    ("url", "name"), [(None, "OPENAI_API_KEY"), ("https://x.openai.azure.com/openai/v1", "AZURE_OPENAI_API_KEY")]
)
def test_without_a_key_it_says_where_to_put_one(url: str | None, name: str) -> None:
    failure = opening_failure(RealtimeModel(url=url))
    assert failure.error is ErrorClass.AUTH_FAILURE
    assert name in str(failure)


@pytest.mark.req("C-SEC-003")
def test_the_key_goes_to_its_server_and_nowhere_else(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = "sk-very-secret-7"
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-the-environment")
    caplog.set_level(logging.DEBUG)

    async def run() -> RealtimeModel:
        async with RealtimeServer() as server:
            model = RealtimeModel("my-model", url=server.url, api_key=key)
            other = RealtimeModel(url=server.url)
            for one in (model, other):
                await one.open(None, lambda event: None)
                await one.close()
            assert server.handshakes[0].headers["Authorization"] == f"Bearer {key}"
            assert server.handshakes[0].path == "/v1/realtime?model=my-model"
            assert "Authorization" not in server.handshakes[1].headers, "the environment's is meant for OpenAI"
            return model

    model = run_jumping(run())
    assert key not in caplog.text
    assert key not in repr(model) + repr(model.endpoint)


def test_a_new_token_is_fetched_for_every_session() -> None:
    async def run() -> list[str]:
        tokens = iter(("first", "second"))

        async def fetch() -> str:
            return next(tokens)

        async with RealtimeServer() as server:
            model = RealtimeModel(url=server.url, api_key=fetch)
            await model.open(None, lambda event: None)
            await model.renew(None, lambda event: None)
            await model.close()
            return [request.headers["Authorization"] for request in server.handshakes]

    assert run_jumping(run()) == ["Bearer first", "Bearer second"]


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        (None, "wss://api.openai.com/v1/realtime?model=m"),
        ("https://x.openai.azure.com/openai/v1", "wss://x.openai.azure.com/openai/v1/realtime?model=m"),
        ("wss://h/v1/realtime?deployment=d", "wss://h/v1/realtime?deployment=d"),
        ("http://localhost:8000/v1/", "ws://localhost:8000/v1/realtime?model=m"),
    ],
)
def test_urls_are_completed(url: str | None, expected: str) -> None:
    assert RealtimeModel("m", url=url).endpoint.url == expected


def test_an_invalid_url_is_refused_at_once() -> None:
    with pytest.raises(ValueError, match="wss://"):
        RealtimeModel(url="api.openai.com")


def test_azure_gets_its_key_in_its_own_header(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AZURE_OPENAI_API_KEY", "azure-secret")
    model = RealtimeModel(url="https://x.openai.azure.com/openai/v1")
    assert run_jumping(model.endpoint.headers()) == {"api-key": "azure-secret"}
