"""A telephone line against a scripted carrier, in simulated time."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import numpy as np
import pytest

from duologue.core.leaves import ErrorClass
from duologue.lab.sim.offline_call import WIRE_MS, OfflineCall
from duologue.lab.sim.scripted_carrier import Format, Network
from duologue.lines.phone.carriers import CARRIERS, TELNYX, TWILIO, Carrier
from duologue.lines.phone.line import LineGone, PhoneLine
from duologue.ports.ears import Frame
from duologue.ports.line import Closed, Finished, LineEvent, Played, Stopped, Unplayable
from duologue.ports.sound import Sound
from duologue.runtime.simulated_clock import run_simulated

T = TypeVar("T")
both = pytest.mark.parametrize("carrier", CARRIERS.values(), ids=lambda carrier: carrier.name)


def tone(ms: int, rate_hz: int = 24_000) -> Sound:
    samples = 8_000 * np.sin(np.arange(rate_hz * ms // 1000) * 2 * np.pi * 440 / rate_hz)
    return Sound(ms, samples.astype("<i2").tobytes(), rate_hz)


class Told(list[LineEvent]):
    """The events of a line, without the caller's sound."""

    def __call__(self, event: LineEvent) -> None:
        if not isinstance(event, Frame):
            self.append(event)


def on_a_line(carrier: Carrier, script: Callable[[OfflineCall, PhoneLine, Told], Awaitable[T]], **options: Any) -> T:
    async def call() -> T:
        exchange = OfflineCall(carrier, **options)
        line, told = await exchange.connect(), Told()
        await line.open(told)
        try:
            return await script(exchange, line, told)
        finally:
            exchange.carrier.end()

    return run_simulated(call())


def events(exchange: OfflineCall, event: str) -> list[dict[str, Any]]:
    return [message for message in map(json.loads, exchange.to_carrier.sent) if message["event"] == event]


# -- Sound out


@both
@pytest.mark.req("V-09")
def test_sound_goes_out_in_frames_of_20_ms_with_a_mark_every_100(carrier: Carrier) -> None:
    async def script(exchange: OfflineCall, line: PhoneLine, told: Told) -> None:
        line.play(1, 1, tone(330))
        line.play(1, 2, tone(325))
        line.finish(1)
        await asyncio.sleep(2)
        assert len(events(exchange, "media")) == 33  # the last is filled up to 20 ms
        assert len(events(exchange, "mark")) == 7
        assert told[-1] == Finished(1, 655)
        heard = [event.heard_ms for event in told if isinstance(event, Played)]
        assert heard == [100, 200, 300, 400, 500, 600]
        assert exchange.carrier.played_ms == 660
        assert all(("streamSid" in message) is (carrier is TWILIO) for message in events(exchange, "media"))

    on_a_line(carrier, script)


def test_the_carrier_never_holds_more_than_it_should() -> None:
    async def script(exchange: OfflineCall, line: PhoneLine, told: Told) -> None:
        line.play(1, 1, tone(3_000))
        line.finish(1)
        for _ in range(20):
            await asyncio.sleep(0.05)
            sent_ms = len(events(exchange, "media")) * 20
            assert 0 < sent_ms - exchange.carrier.played_ms <= 200 + 2 * WIRE_MS + 20
        await asyncio.sleep(3)
        assert told[-1] == Finished(1, 3_000)
        assert exchange.carrier.log[-1].ms == 3_000, "played without a gap"

    on_a_line(TWILIO, script)


def test_what_is_sent_sounds_like_what_was_said() -> None:
    async def script(exchange: OfflineCall, line: PhoneLine, told: Told) -> bytes:
        for chunk in range(1, 11):
            line.play(1, chunk, tone(100, 22_050))
        line.finish(1)
        await asyncio.sleep(2)
        return line.codec.decode(bytes(exchange.carrier.recording))

    heard = np.frombuffer(on_a_line(TELNYX, script), "<i2").astype(float)[800:7200]
    spectrum = np.abs(np.fft.rfft(heard * np.hanning(heard.size)))
    assert abs(int(spectrum.argmax()) * 8_000 / heard.size - 440) < 2


def test_l16_at_16_khz_goes_through() -> None:
    async def script(exchange: OfflineCall, line: PhoneLine, told: Told) -> None:
        line.play(1, 1, tone(200))
        line.finish(1)
        await asyncio.sleep(1)
        assert told[-1] == Finished(1, 200)
        assert len(exchange.carrier.recording) == 200 * 32

    on_a_line(TELNYX, script, format=Format("L16", 16_000, b"\0\0"))


def test_a_carrier_may_send_one_codec_and_expect_another() -> None:
    async def script(exchange: OfflineCall, line: PhoneLine, told: Told) -> None:
        line.play(1, 1, tone(200))
        line.finish(1)
        await asyncio.sleep(1)
        assert told[-1] == Finished(1, 200)
        assert len(exchange.carrier.recording) == 200 * 32
        assert (line.codec.name, line.codec_out.name) == ("PCMU", "L16")

    on_a_line(TELNYX, script, sends=("L16", 16_000))


def test_late_sound_makes_a_gap_and_is_not_sent_faster() -> None:
    async def script(exchange: OfflineCall, line: PhoneLine, told: Told) -> None:
        line.play(1, 1, tone(200))
        await asyncio.sleep(2)
        line.play(1, 2, tone(400))
        line.finish(1)
        sent = len(events(exchange, "media")) * 20
        assert 360 <= sent <= 400, "only what may be ahead"
        await asyncio.sleep(1)
        assert told[-1] == Finished(1, 600)

    on_a_line(TWILIO, script)


def test_a_voice_that_was_heard_completely_before_its_finish_ends_at_the_finish() -> None:
    async def script(exchange: OfflineCall, line: PhoneLine, told: Told) -> None:
        line.play(1, 1, tone(200, 8_000))
        await asyncio.sleep(1)
        assert told[-1] == Played(1, 200)
        line.finish(1)
        await asyncio.sleep(0)
        assert told[-1] == Finished(1, 200)
        line.play(2, 1, Sound(1))
        line.finish(2)
        await asyncio.sleep(1)
        assert told[-1] == Finished(2, 1)

    on_a_line(TWILIO, script)


# -- Clearing and holding


@both
@pytest.mark.req("V-03")
def test_a_clear_is_sent_in_the_same_step_and_no_frame_after_it(carrier: Carrier) -> None:
    async def script(exchange: OfflineCall, line: PhoneLine, told: Told) -> None:
        line.play(1, 1, tone(5_000))
        await asyncio.sleep(1)
        line.clear(1)
        assert json.loads(exchange.to_carrier.sent[-1])["event"] == "clear"
        sent = len(exchange.to_carrier.sent)
        await asyncio.sleep(2)
        assert len(exchange.to_carrier.sent) == sent
        assert not exchange.carrier.is_sounding

    on_a_line(carrier, script)


@both
@pytest.mark.req("V-09")
def test_marks_that_a_clear_flushes_were_not_heard(carrier: Carrier) -> None:
    async def script(exchange: OfflineCall, line: PhoneLine, told: Told) -> None:
        line.play(1, 1, tone(5_000))
        await asyncio.sleep(1)
        before = len(told)
        line.clear(1)
        await asyncio.sleep(1)
        really = exchange.carrier.played_ms
        assert told[before:] == [Stopped(1, told[before - 1].heard_ms)]  # type: ignore[union-attr]
        assert really - 100 - 2 * WIRE_MS - 20 <= told[-1].heard_ms <= really  # type: ignore[union-attr]
        came_back = line.facts.get("flushed_marks", 0)  # one of them was on its way already
        assert came_back == 3 if carrier is TWILIO else came_back <= 1

    on_a_line(carrier, script)


@both
def test_held_sound_is_silent_and_resumes_from_the_last_mark(carrier: Carrier) -> None:
    async def script(exchange: OfflineCall, line: PhoneLine, told: Told) -> None:
        line.play(1, 1, tone(2_000))
        line.finish(1)
        await asyncio.sleep(1)
        line.hold(1)
        heard = [event.heard_ms for event in told if isinstance(event, Played)][-1]
        await asyncio.sleep(0.1)
        played = exchange.carrier.played_ms
        await asyncio.sleep(1)
        assert exchange.carrier.played_ms == played, "silent"
        line.resume(1)
        await asyncio.sleep(3)
        assert told[-1] == Finished(1, 2_000)
        assert exchange.carrier.played_ms == played + 2_000 - heard, "from the mark to the end"

    on_a_line(carrier, script)


def test_a_wire_that_takes_nothing_is_reported() -> None:
    async def script(exchange: OfflineCall, line: PhoneLine, told: Told) -> None:
        line.play(1, 1, tone(2_000))

        def full(text: str) -> None:
            raise ConnectionError

        exchange.to_carrier.send = full  # type: ignore[method-assign]
        await asyncio.sleep(1)
        assert told[0] == Unplayable(1, ErrorClass.NETWORK_TIMEOUT)

    on_a_line(TWILIO, script)


def test_a_new_voice_replaces_the_one_before() -> None:
    async def script(exchange: OfflineCall, line: PhoneLine, told: Told) -> None:
        line.play(1, 1, tone(2_000))
        await asyncio.sleep(0.5)
        line.play(2, 1, tone(300))
        line.finish(2)
        line.finish(1)
        await asyncio.sleep(1)
        assert told[-1] == Finished(2, 300)

    on_a_line(TWILIO, script)


# -- The caller


@both
def test_the_caller_is_heard_through_a_bad_network(carrier: Carrier) -> None:
    async def call() -> bytes:
        network = Network(jitter_ms=15, loss=0.02, duplicates=0.05, reordered=0.05, seed=3)
        exchange = OfflineCall(carrier, network=network)
        line = await exchange.connect()
        heard: list[bytes] = []
        await line.open(lambda event: heard.append(event.pcm) if isinstance(event, Frame) else None)
        voice = bytes(range(250)) * 80
        exchange.carrier.speak(voice)
        await asyncio.sleep(4)
        exchange.carrier.hang_up()
        await asyncio.sleep(1)
        facts = line.facts
        assert facts["lost"] > 0
        assert facts["dropped"] > 0
        assert facts["reordered"] > 0
        return line.codec.encode(b"".join(heard))

    heard = run_simulated(call())
    assert 200 * 160 - 6 * 160 <= len(heard) <= 202 * 160, "time keeps"


@both
def test_a_stop_or_a_socket_that_closes_is_a_hang_up(carrier: Carrier) -> None:
    async def script(exchange: OfflineCall, line: PhoneLine, told: Told) -> None:
        line.play(1, 1, tone(2_000))
        exchange.carrier.hang_up()
        await asyncio.sleep(0.1)
        assert told[-1] == Closed(hung_up=True)
        sent = len(exchange.to_carrier.sent)
        exchange.stream.end()
        await asyncio.sleep(1)
        assert told.count(Closed(hung_up=True)) == 1
        assert len(exchange.to_carrier.sent) == sent, "nothing is sent to nobody"
        with pytest.raises(LineGone):
            line.play(2, 1, tone(20))
        with pytest.raises(LineGone):
            await line.open(told)

    on_a_line(carrier, script)
