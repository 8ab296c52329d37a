"""Streams that keep to the protocol and streams that don't, over real WebSockets."""

from __future__ import annotations

import asyncio
import base64
import json
import logging
import re
from contextlib import suppress
from typing import Any

import pytest
from websockets.exceptions import ConcurrencyError, ConnectionClosed

from duologue.lab.sim.jumping_clock import run_jumping
from duologue.lines.phone.carriers import CARRIERS, TELNYX, TWILIO, Carrier
from duologue.ports.history import AgentSaid
from duologue.runtime.agent import Agent
from duologue.server.phone import routes
from duologue.server.phone.routes import PhoneSettings, phone_routes
from tests.limits import WAIT_S
from tests.server.phone.phone_calls import make_agent, phones, start_text, until

both = pytest.mark.parametrize("carrier", CARRIERS.values(), ids=lambda carrier: carrier.name)
MEDIA = {"track": "inbound", "chunk": "1", "payload": "////"}


async def close_code(socket: Any) -> int:
    """Why the server closed. Whoever doesn't read never knows."""
    async with asyncio.timeout(WAIT_S):
        with suppress(ConcurrencyError, ConnectionClosed):  # somebody reads already
            async for _ in socket:
                pass
        await socket.wait_closed()
    return int(socket.close_code)


def media(carrier: Carrier, stream: str = "MZ0001") -> str:
    return json.dumps({"event": "media", carrier.stream_id: stream, "media": MEDIA})


@both
@pytest.mark.req("V-09")
def test_a_call_is_greeted_answers_keys_and_ends(carrier: Carrier) -> None:
    async def run() -> None:
        async with phones() as server, server.call(carrier) as (caller, socket):
            await until(lambda: caller.played_ms > 0 and not caller.is_sounding)
            conversation = server.conversations[0]
            await until(lambda: conversation.phase == "listening")
            for digit in "12#":
                caller.press(digit)
            await until(lambda: len(conversation.history) >= 3)
            caller.hang_up()
            assert await asyncio.wait_for(conversation.wait(), WAIT_S) == "hung up"
            said = [item.text for item in conversation.history if isinstance(item, AgentSaid)]
            assert said == ["Hello.", "Thank you very much."]
            assert await close_code(socket) == 1000

    run_jumping(run())


@both
def test_a_carrier_that_closes_without_a_stop_message_has_hung_up(
    carrier: Carrier, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "duologue.phone")

    async def run() -> None:
        async with phones() as server:
            async with server.call(carrier) as (caller, _):
                await until(lambda: caller.played_ms > 0)
            assert await asyncio.wait_for(server.conversations[0].wait(), WAIT_S) == "hung up"
            await until(lambda: "without a stop message" in caplog.text)

    run_jumping(run())


def test_a_carrier_that_sends_nothing_is_disconnected(caplog: pytest.LogCaptureFixture) -> None:
    async def run() -> None:
        async with phones(quiet_ms_max=200) as server:
            token = await server.token(TWILIO)
            async with server.connect(TWILIO) as socket:
                await socket.send(start_text(token=token))
                assert await close_code(socket) == 1008
            assert await asyncio.wait_for(server.conversations[0].wait(), WAIT_S) == "hung up"

    run_jumping(run())
    assert "the carrier has sent nothing for too long" in caplog.text


@both
def test_the_token_may_be_in_the_query_and_opens_one_stream(carrier: Carrier) -> None:
    async def run() -> None:
        async with phones() as server:
            token = await server.token(carrier)
            async with server.connect(carrier, f"?token={token}") as first:
                await first.send(start_text(carrier))
                await until(lambda: server.conversations)
                async with server.connect(carrier, f"?token={token}") as second:
                    await second.send(start_text(carrier))
                    assert await close_code(second) == 1008
            assert len(server.conversations) == 1

    run_jumping(run())


async def _wrong_token(server: Any, socket: Any) -> None:
    await socket.send(start_text(token="abc.def"))


async def _no_token(server: Any, socket: Any) -> None:
    await socket.send(start_text())


async def _token_elsewhere(server: Any, socket: Any) -> None:
    await socket.send(start_text(tags=[await server.token(TWILIO)]))


async def _token_of_another_call(server: Any, socket: Any) -> None:
    await socket.send(start_text(token=await server.token(TWILIO, "CA9999")))


async def _token_of_another_carrier(server: Any, socket: Any) -> None:
    await socket.send(start_text(token=await server.token(TELNYX)))


async def _not_json(server: Any, socket: Any) -> None:
    await socket.send("secret-4711 {")


async def _not_json_later(server: Any, socket: Any) -> None:
    await socket.send(start_text(token=await server.token(TWILIO)))
    await socket.send("secret-4711 {")


async def _binary(server: Any, socket: Any) -> None:
    await socket.send(b"secret-4711")


async def _sound_before_start(server: Any, socket: Any) -> None:
    await socket.send(media(TWILIO))


async def _another_stream(server: Any, socket: Any) -> None:
    await socket.send(start_text(token=await server.token(TWILIO)))
    await socket.send(media(TWILIO, "secret-4711"))


async def _second_start(server: Any, socket: Any) -> None:
    await socket.send(start_text(token=await server.token(TWILIO)))
    await socket.send(start_text(token=await server.token(TWILIO)))


async def _strange_codec(server: Any, socket: Any) -> None:
    form = {"encoding": "secret-4711", "sampleRate": 8000}
    await socket.send(start_text(token=await server.token(TWILIO), mediaFormat=form))


async def _never_starts(server: Any, socket: Any) -> None:
    await socket.send('{"event": "connected"}')


BAD = [
    (_wrong_token, 1008, "wrong, used or expired"),
    (_no_token, 1008, "no token"),
    (_token_elsewhere, 1008, "no token"),
    (_token_of_another_call, 1008, "wrong, used or expired"),
    (_token_of_another_carrier, 1008, "wrong, used or expired"),
    (_not_json, 1007, "isn't JSON"),
    (_not_json_later, 1007, "isn't JSON"),
    (_binary, 1003, "binary"),
    (_sound_before_start, 1002, "the first message must be the start message"),
    (_another_stream, 1008, "another stream"),
    (_second_start, 1002, "second start"),
    (_strange_codec, 1003, "codec"),
    (_never_starts, 1008, "no start message in time"),
]


@pytest.mark.parametrize(("bad", "code", "why"), BAD, ids=[bad.__name__.strip("_") for bad, _, _ in BAD])
def test_a_bad_stream_is_closed_with_its_code_and_one_line_and_others_are_untouched(
    bad: Any, code: int, why: str, caplog: pytest.LogCaptureFixture
) -> None:
    async def run() -> None:
        async with phones(start_ms_max=1_000) as server, server.call(TWILIO) as (caller, _):
            await until(lambda: caller.played_ms > 0)
            async with server.connect(TWILIO) as socket:
                await bad(server, socket)
                assert await close_code(socket) == code
            await until(lambda: not caller.is_sounding and server.conversations[0].phase == "listening")
            before = caller.played_ms
            for digit in "7#":
                caller.press(digit)
            await until(lambda: caller.played_ms > before)

    run_jumping(run())
    lines = [record.getMessage() for record in caplog.records if record.name == "duologue.phone"]
    assert len([line for line in lines if "refused" in line]) == 1
    assert why in caplog.text
    assert f"({code})" in caplog.text
    assert "4711" not in caplog.text


def test_unknown_messages_are_ignored_and_counted(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "duologue.phone")

    async def run() -> None:
        async with phones() as server, server.call(TWILIO) as (caller, socket):
            await socket.send('{"event": "hologram"}')
            await socket.send('{"event": "error", "detail": "secret-4711"}')
            await until(lambda: caller.played_ms > 0)
            caller.hang_up()
            await close_code(socket)

    run_jumping(run())
    assert "'unknown': 1" in caplog.text
    assert "'errors': 1" in caplog.text
    assert "4711" not in caplog.text


def test_sound_that_comes_faster_than_it_is_spoken_is_left_out(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "duologue.phone")
    second = base64.b64encode(bytes([0xFF]) * 8_000).decode()

    async def run() -> None:
        async with phones() as server, server.connect(TWILIO) as socket:
            await socket.send(start_text(TWILIO, await server.token(TWILIO)))
            for chunk in range(1, 61):
                sound = {"track": "inbound", "chunk": str(chunk), "payload": second}
                await socket.send(json.dumps({"event": "media", TWILIO.stream_id: "MZ0001", "media": sound}))
            await socket.send(json.dumps({"event": "stop", TWILIO.stream_id: "MZ0001", "stop": {}}))
            await close_code(socket)

    run_jumping(run())
    counted = re.search(r"'too_fast': (\d+)", caplog.text)
    assert counted is not None
    assert 40 <= int(counted[1]) <= 50  # 10 s are heard at once, and 1.2 s for each further second
    assert "sound comes faster than it is spoken" in caplog.text


@pytest.mark.parametrize("flood", [['{"event": "hologram"}'] * 1_000, ['{"event": [' + "[]," * 340_000 + "[]]}"]])
def test_a_stream_without_a_token_cant_make_the_server_read_without_end(
    flood: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    async def run() -> None:
        async with phones() as server, server.connect(TWILIO) as socket:
            with suppress(ConnectionClosed):
                for text in flood:
                    await socket.send(text)
            assert await close_code(socket) == 1008

    run_jumping(run())
    assert "the carrier sends too many messages, or too much with them" in caplog.text


def test_keys_that_come_faster_than_turns_may_be_typed_are_left_out(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "duologue.phone")

    async def run() -> None:
        async with phones() as server, server.call(TWILIO) as (caller, _):
            await until(lambda: caller.played_ms > 0)
            conversation = server.conversations[0]
            for digit in "1#" * 60:
                caller.press(digit)
            await until(lambda: "too many messages" in caplog.text or "wait for an answer" in caplog.text)
            assert conversation.machine_state.turn <= 40

    run_jumping(run())


def test_calls_above_the_limit_are_refused() -> None:
    async def run() -> None:
        async with phones(calls_max=1) as server, server.call(TWILIO) as (caller, _):
            await until(lambda: caller.played_ms > 0)
            async with server.connect(TWILIO) as socket:
                await socket.send(start_text(TWILIO, await server.token(TWILIO)))
                assert await close_code(socket) == 1013

    run_jumping(run())


def test_streams_without_a_token_take_no_place_of_a_call() -> None:
    async def run() -> None:
        async with phones(calls_max=1) as server, server.connect(TWILIO), server.call(TWILIO) as (caller, _):
            await until(lambda: caller.played_ms > 0)

    run_jumping(run())


def test_one_address_has_only_so_many_streams_without_a_token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(routes, "UNADMITTED_MAX", 2)

    async def run() -> None:
        async with phones() as server, server.connect(TWILIO) as first, server.connect(TWILIO):
            async with server.connect(TWILIO) as third:
                assert await close_code(third) == 1013
            await first.close()
            async with server.call(TWILIO) as (caller, _):
                await until(lambda: caller.played_ms > 0)

    run_jumping(run())


def test_an_agent_that_cannot_be_created_closes_one_call(caplog: pytest.LogCaptureFixture) -> None:
    agents = iter([make_agent()])

    async def run() -> None:
        def make() -> Agent:
            return next(agents)

        async with phones(make) as server, server.call(TWILIO) as (caller, _):
            await until(lambda: caller.played_ms > 0)
            async with server.connect(TWILIO, f"?token={await server.token(TWILIO)}") as socket:
                await socket.send(start_text())
                assert await close_code(socket) == 1011
            assert server.conversations[0].phase != "idle"

    run_jumping(run())
    assert "StopIteration" in caplog.text


def test_the_routes_are_those_of_the_configured_carriers() -> None:
    routes = phone_routes(make_agent, PhoneSettings("http://127.0.0.1:8000", allow_unsigned=True))
    assert [getattr(route, "path", "") for route in routes] == [
        *(f"/phone/{TWILIO.name}/{path}" for path in ("voice", "status", "answered", "dialled", "stream")),
        *(f"/phone/{TELNYX.name}/{path}" for path in ("texml", "status", "answered", "dialled", "stream")),
    ]
