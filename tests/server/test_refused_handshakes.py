"""A refused WebSocket: the client gets the refusal, and the log has no error."""

from __future__ import annotations

import logging

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from duologue.server.realtime.routes import realtime_routes
from tests.server.running_server import RunningServer, serve


def test_a_client_that_is_refused_leaves_no_error_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    async def script(made: RunningServer) -> None:
        made.server.add_routes(realtime_routes(made.server))
        logging.getLogger("uvicorn.error").addHandler(caplog.handler)  # it leads nowhere else
        with pytest.raises(InvalidStatus) as refused:
            await connect(f"ws://127.0.0.1:{made.port}/v1/realtime", ping_interval=None)
        assert refused.value.response.status_code == 401

    try:
        serve(script, token="the token of the callers")
    finally:
        logging.getLogger("uvicorn.error").removeHandler(caplog.handler)
    assert [record.message for record in caplog.records if record.levelno >= logging.ERROR] == []
