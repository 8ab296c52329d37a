"""Opening a session: a server that refuses, never gets ready or is not there."""

from __future__ import annotations

import pytest

from duologue import RealtimeModel, RealtimeSettings, ServiceError
from duologue.core.leaves import ErrorClass
from duologue.lab.sim.jumping_clock import run_jumping
from duologue.testing.realtime.server import ProtocolFault, RealtimeServer
from tests.brains.realtime.opening_failures import opening_failure


@pytest.mark.req("L-12", "C-SEC-003")
@pytest.mark.parametrize(
    ("status", "error"),
    [
        (401, ErrorClass.AUTH_FAILURE),
        (403, ErrorClass.AUTH_FAILURE),
        (429, ErrorClass.RATE_LIMIT),
        (404, ErrorClass.INVALID_ARGS),
        (503, ErrorClass.SERVER_ERROR),
    ],
)
def test_a_refused_handshake_has_its_class(status: int, error: ErrorClass) -> None:
    async def run() -> ServiceError:
        async with RealtimeServer() as server:
            server.refuses = [status]
            model = RealtimeModel(url=server.url, api_key="sk-very-secret-1")
            with pytest.raises(ServiceError) as failed:
                await model.open(None, lambda event: None)
            return failed.value

    failure = run_jumping(run())
    assert failure.error is error
    assert str(status) in str(failure)
    assert "secret" not in repr(failure)


def test_an_unreachable_server_is_a_network_failure() -> None:
    failure = opening_failure(RealtimeModel(url="ws://127.0.0.1:1/v1"))
    assert failure.error is ErrorClass.NETWORK_TIMEOUT
    assert "127.0.0.1:1" in str(failure)


@pytest.mark.parametrize("kind", ["session.created", "session.updated"])
def test_a_server_that_never_gets_ready_is_not_waited_for(kind: str) -> None:
    async def run() -> ServiceError:
        async with RealtimeServer(faults=[ProtocolFault("dropped", kind)]) as server:
            model = RealtimeModel(url=server.url, settings=RealtimeSettings(connect_ms_max=200))
            with pytest.raises(ServiceError) as failed:
                await model.open(None, lambda event: None)
            return failed.value

    assert run_jumping(run()).error is ErrorClass.NETWORK_TIMEOUT


def test_settings_that_the_server_refuses_fail_the_opening() -> None:
    async def run() -> ServiceError:
        faults = [ProtocolFault("refused", "session.update", code="unknown_parameter")]
        async with RealtimeServer(faults=faults) as server:
            model = RealtimeModel(url=server.url)
            with pytest.raises(ServiceError) as failed:
                await model.open(None, lambda event: None)
            return failed.value

    failure = run_jumping(run())
    assert failure.error is ErrorClass.INVALID_ARGS
    assert "unknown_parameter" in str(failure)
