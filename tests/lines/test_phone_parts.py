"""The parts of a telephone line: codecs, the order of frames, keys."""

from __future__ import annotations

import asyncio
import random

import numpy as np
import pytest

from duologue.lines.phone.carriers import TELNYX, TWILIO
from duologue.lines.phone.codecs import UnknownCodec, codec_of
from duologue.lines.phone.digits import DIGITS_MAX, Digits
from duologue.lines.phone.frame_order import RESTART, SILENCE_MAX, WINDOW, Order
from duologue.runtime.simulated_clock import run_simulated

SILENCE = b"\xff" * 4


def frame(number: int) -> bytes:
    return bytes([number % 250]) * 4


# -- Codecs


@pytest.mark.parametrize(("encoding", "rate_hz"), [("PCMU", 8000), ("PCMA", 8000), ("L16", 8000), ("L16", 16000)])
def test_every_codec_gives_back_what_it_was_given(encoding: str, rate_hz: int) -> None:
    codec = codec_of(TELNYX, encoding, rate_hz)
    tone = (8_000 * np.sin(np.arange(rate_hz // 50) / 5)).astype("<i2")
    coded = codec.encode(tone.tobytes())
    assert len(coded) == codec.frame_bytes == len(codec.silence)
    back = np.frombuffer(codec.decode(coded), "<i2").astype(float)
    assert np.abs(back - tone).max() <= (0 if encoding == "L16" else 300)


def test_l16_is_in_network_order() -> None:
    assert codec_of(TELNYX, "L16", 16000).encode(b"\x01\x02") == b"\x02\x01"


@pytest.mark.parametrize(("encoding", "rate_hz"), [("", 8000), ("OPUS", 16000), ("PCMU", 16000), ("L16", 44100)])
def test_a_codec_that_we_do_not_speak_is_refused(encoding: str, rate_hz: int) -> None:
    with pytest.raises(UnknownCodec):
        codec_of(TWILIO, encoding, rate_hz)


# -- Order


def test_frames_in_order_are_never_held_back() -> None:
    order = Order(SILENCE)
    assert [order.feed(number, frame(number)) for number in (1, 2, 3)] == [[frame(1)], [frame(2)], [frame(3)]]


def test_frames_out_of_order_are_put_in_order() -> None:
    order = Order(SILENCE)
    heard = [each for number in (1, 3, 2, 4, 6, 7, 5, 8) for each in order.feed(number, frame(number))]
    assert heard == [frame(number) for number in range(1, 9)]
    assert (order.lost, order.dropped, order.reordered) == (0, 0, 3)


def test_a_lost_frame_becomes_silence_so_that_time_keeps() -> None:
    order = Order(SILENCE)
    numbers = [1, 2, *range(4, 4 + WINDOW)]
    heard = [each for number in numbers for each in order.feed(number, frame(number))]
    assert heard == [frame(1), frame(2), SILENCE, *(frame(number) for number in range(4, 4 + WINDOW))]
    assert order.lost == 1


def test_frames_that_come_twice_or_too_late_are_dropped() -> None:
    order = Order(SILENCE)
    numbers = [1, 1, 2, *range(4, 5 + WINDOW), 3, 2]
    heard = [each for number in numbers for each in order.feed(number, frame(number))]
    assert len(heard) == 4 + WINDOW
    assert order.dropped == 3


def test_what_still_waits_is_heard_at_the_end() -> None:
    order = Order(SILENCE)
    assert order.feed(1, frame(1)) == [frame(1)]
    assert order.feed(3, frame(3)) == []
    assert order.finish() == [SILENCE, frame(3)]
    assert order.finish() == []


def test_a_gap_without_end_costs_no_more_than_a_second_of_silence() -> None:
    order = Order(SILENCE)
    order.feed(1, frame(1))
    heard = [each for number in range(10**9, 10**9 + WINDOW) for each in order.feed(number, frame(number))]
    assert len(heard) == SILENCE_MAX + WINDOW


def test_a_carrier_that_counts_anew_is_heard() -> None:
    order = Order(SILENCE)
    for number in range(1, RESTART + 10):
        order.feed(number, frame(number))
    assert order.feed(1, frame(1)) == [frame(1)]
    assert order.feed(2, frame(2)) == [frame(2)]


def test_frames_without_a_number_pass() -> None:
    order = Order(SILENCE)
    assert order.feed(0, frame(9)) == [frame(9)]


@pytest.mark.parametrize("seed", range(20))
def test_whatever_the_network_does_time_keeps_and_no_frame_is_heard_twice(seed: int) -> None:
    dice = random.Random(seed)
    sent = [(number + dice.uniform(0, 3.5), number) for number in range(1, 500) if dice.random() > 0.03]
    sent += [(at + dice.uniform(0, 3), number) for at, number in sent if dice.random() < 0.05]
    order = Order(b"\xff")
    numbers = [number for _, number in sorted(sent)]
    heard = [each for number in numbers for each in order.feed(number, number.to_bytes(2, "big"))] + order.finish()
    found = [int.from_bytes(each, "big") for each in heard if each != b"\xff\xff"]
    assert found == sorted(set(found))
    assert len(heard) == found[-1] - found[0] + 1
    assert len(found) > 450


# -- Keys


def test_keys_are_told_at_the_terminator_or_after_a_pause() -> None:
    typed: list[tuple[float, str]] = []

    async def call() -> None:
        loop = asyncio.get_running_loop()
        digits = Digits(lambda text: typed.append((loop.time(), text)))
        for digit in "42#":
            digits.press(digit)
        digits.press("#")
        for digit in "1*7":
            digits.press(digit)
            await asyncio.sleep(1)
        await asyncio.sleep(3)

    run_simulated(call())
    assert typed == [(0, "42"), (3.5, "1*7")]


def test_keys_without_end_are_told_in_between() -> None:
    typed: list[str] = []

    async def call() -> None:
        digits = Digits(typed.append)
        for _ in range(DIGITS_MAX + 1):
            digits.press("1")
        await asyncio.sleep(2)

    run_simulated(call())
    assert typed == ["1" * DIGITS_MAX, "1"]
