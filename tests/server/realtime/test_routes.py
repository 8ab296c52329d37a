"""Requests of the Realtime protocol beside the socket."""

from __future__ import annotations

import json
from typing import Any

from openai.types.realtime import ClientSecretCreateResponse

from duologue.server.realtime.routes import realtime_routes
from tests.server.running_server import RunningServer, serve

TOKEN = "the token of the callers"


def script(made: RunningServer) -> None:
    made.server.add_routes(realtime_routes(made.server))


async def post(
    made: RunningServer, body: bytes = b"{}", path: str = "client_secrets", **headers: str
) -> tuple[int, Any]:
    answer = await made.get(f"/v1/realtime{'' if path.startswith('?') else '/'}{path}", body, **headers)
    return answer.status, json.loads(answer.body)


def test_a_key_is_made_as_the_protocol_has_it() -> None:
    async def talk(made: RunningServer) -> None:
        script(made)
        body = json.dumps({"session": {"type": "realtime", "instructions": "Be kind."}}).encode()
        status, answer = await post(made, body, Authorization=f"Bearer {TOKEN}")
        assert status == 200
        made_key = ClientSecretCreateResponse.model_validate(answer, strict=True)
        assert made_key.value.startswith("ek_")
        assert made_key.session.instructions == "Be kind."

    serve(talk, token=TOKEN)


def test_a_request_that_isnt_one_gets_the_error_of_the_protocol() -> None:
    async def talk(made: RunningServer) -> None:
        script(made)
        own = {"Authorization": f"Bearer {TOKEN}"}
        for body, status, code in (
            (b"no", 400, "invalid_json"),
            (b"[]", 400, "invalid_type"),
            (b'{"voice": 1}', 400, "unknown_parameter"),
            (b" " * 300_000, 400, "invalid_json"),
        ):
            answer = await post(made, body, **own)
            assert (answer[0], answer[1]["error"]["code"]) == (status, code)
        status, answer = await post(made)
        assert (status, answer["error"]["code"]) == (401, "invalid_api_key")
        _, key = await post(made, **own)
        status, answer = await post(made, Authorization=f"Bearer {key['value']}")
        assert (status, answer["error"]["code"]) == (403, "insufficient_permissions")
        status, answer = await post(made, Origin="https://evil.example", **own)
        assert (status, answer["error"]["code"]) == (403, "invalid_origin")

    serve(talk, token=TOKEN)


def test_what_isnt_served_is_refused_by_its_name() -> None:
    async def talk(made: RunningServer) -> None:
        script(made)
        for path, code, word in (
            ("sessions", "beta_api_shape_disabled", "'/v1/realtime/client_secrets'"),
            ("transcription_sessions", "beta_api_shape_disabled", "'/v1/realtime/client_secrets'"),
            ("?model=ada", "beta_api_shape_disabled", "'POST /v1/realtime/calls'"),
            ("translations/client_secrets", "unsupported_parameter", "'translations'"),
            ("calls/rtc_1/accept", "unsupported_parameter", "'accept'"),
            ("calls/rtc_1/reject", "unsupported_parameter", "'reject'"),
            ("calls/rtc_1/refer", "unsupported_parameter", "'refer'"),
        ):
            status, answer = await post(made, b"v=0", path=path)
            assert (status, answer["error"]["code"]) == (400, code), path
            assert word in answer["error"]["message"]

    serve(talk)
