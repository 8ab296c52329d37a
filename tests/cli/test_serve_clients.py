"""`duologue serve --realtime --rtvi`: a real server process, and the clients of other projects at their addresses."""

from __future__ import annotations

import asyncio
import json
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("uvicorn", reason="pip install 'duologue[server]'")

from tests.cli.server_process import served
from tests.docs.printed import page, python_blocks
from tests.limits import WAIT_S


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


def post(port: int, path: str, body: bytes = b"{}", kind: str = "application/json", key: str = "") -> tuple[int, Any]:
    """Returns the status and the answer, as JSON if it is JSON."""
    headers = {"Content-Type": kind, "Authorization": f"Bearer {key}"}
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", body, headers, method="POST")
    try:
        with urllib.request.urlopen(request, timeout=WAIT_S) as answer:
            return answer.status, json.loads(answer.read())
    except urllib.error.HTTPError as refused:
        text = refused.read()
        return refused.code, json.loads(text) if text.startswith(b"{") else text


def test_the_first_client_of_the_docs_talks_to_a_server_with_the_option(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (code,) = [block for block in python_blocks(page("clients")) if "AsyncOpenAI" in block]
    with served(tmp_path, "my_agent:agent", "--port", "0", "--realtime") as server:
        port, _ = server.address()
        seen: dict[str, Any] = {}
        exec(code.replace("127.0.0.1:8765", f"127.0.0.1:{port}"), seen)
        asyncio.run(asyncio.wait_for(seen["ask"](), WAIT_S))
        assert capsys.readouterr().out == "You said Hello!."
        status, key = post(port, "/v1/realtime/client_secrets")
        assert (status, key["value"][:3]) == (200, "ek_")
        status, refused = post(port, "/v1/realtime/calls", b"v=0\r\n", "application/sdp", key["value"])
        assert (status, refused["error"]["code"]) in ((400, "no_audio"), (501, "unsupported_parameter"))
        assert post(port, "/rtvi/connect")[0] in (404, 405), "without --rtvi"


def test_rtvi_clients_and_realtime_clients_are_served_only_if_asked_for(tmp_path: Path) -> None:
    with served(tmp_path, "my_agent:agent", "--port", "0", "--rtvi") as server:
        port, _ = server.address()
        status, told = post(port, "/rtvi/connect")
        assert status == 200
        assert told["wsUrl"].startswith(f"ws://127.0.0.1:{port}/")
        for path in ("client_secrets", "calls"):
            assert post(port, f"/v1/realtime/{path}")[0] in (404, 405)
