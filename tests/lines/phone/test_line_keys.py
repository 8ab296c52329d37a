"""Keys and music on a telephone line, in simulated time."""

from __future__ import annotations

import asyncio

import pytest

from duologue.lab.sim.offline_call import OfflineCall
from duologue.lines.phone.carriers import CARRIERS, TWILIO, Carrier
from duologue.lines.phone.line import LineGone, PhoneLine
from duologue.lines.phone.tones import KeyDetector, UnknownKeys
from duologue.ports.line import Finished, Stopped
from tests.lines.phone.test_line import Told, events, on_a_line, tone

both = pytest.mark.parametrize("carrier", CARRIERS.values(), ids=lambda carrier: carrier.name)


def keys_heard(exchange: OfflineCall, line: PhoneLine) -> str:
    """The keys that the other side has heard."""
    detector = KeyDetector(line.codec_out.rate_hz)
    return "".join(detector.hear(line.codec_out.decode(frame.coded)) for frame in exchange.carrier.frames)


@both
def test_keys_are_heard_as_tones(carrier: Carrier) -> None:
    async def script(exchange: OfflineCall, line: PhoneLine, told: Told) -> None:
        await line.send_keys("12w#")
        assert keys_heard(exchange, line) == "12#"
        assert told == [], "tones are no voice"

    on_a_line(carrier, script)


@both
def test_keys_wait_for_the_voice_and_the_next_voice_waits_for_them(carrier: Carrier) -> None:
    async def script(exchange: OfflineCall, line: PhoneLine, told: Told) -> None:
        line.play(1, 1, tone(300))
        line.finish(1)
        sending = asyncio.ensure_future(line.send_keys("123"))
        await asyncio.sleep(0.6)
        line.play(2, 1, tone(300))
        line.finish(2)
        await sending
        assert keys_heard(exchange, line) == "123"
        await asyncio.sleep(1)
        assert [event for event in told if isinstance(event, Finished)] == [Finished(1, 300), Finished(2, 300)]

    on_a_line(carrier, script)


def test_an_interruption_does_not_cut_off_keys() -> None:
    async def script(exchange: OfflineCall, line: PhoneLine, told: Told) -> None:
        sending = asyncio.ensure_future(line.send_keys("4711"))
        await asyncio.sleep(0.2)
        line.play(1, 1, tone(300))
        line.clear(1)
        await sending
        assert keys_heard(exchange, line) == "4711"
        assert told == [Stopped(1, 0)]
        assert events(exchange, "clear") == []

    on_a_line(TWILIO, script)


def test_what_is_no_key_is_refused_and_so_are_keys_after_the_call() -> None:
    async def script(exchange: OfflineCall, line: PhoneLine, told: Told) -> None:
        with pytest.raises(UnknownKeys):
            await line.send_keys("call me")
        line.hung_up()
        with pytest.raises(LineGone):
            await line.send_keys("1")

    on_a_line(TWILIO, script)


@both
def test_music_plays_until_it_is_ended_and_a_voice_silences_it(carrier: Carrier) -> None:
    async def script(exchange: OfflineCall, line: PhoneLine, told: Told) -> None:
        line.set_music(tone(400, 8_000))
        await asyncio.sleep(2)
        assert exchange.carrier.sounding_ms > 1_500
        line.play(1, 1, tone(200))
        line.finish(1)
        await asyncio.sleep(1)
        assert [event for event in told if isinstance(event, Finished)] == [Finished(1, 200)]
        line.set_music(None)
        await asyncio.sleep(1)
        assert not exchange.carrier.is_sounding
        assert exchange.carrier.sounding_ms == 0

    on_a_line(carrier, script)
