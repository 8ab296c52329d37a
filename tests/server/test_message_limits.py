"""How many messages a client may send, and how much work they may be."""

from __future__ import annotations

import asyncio
import json

from duologue.runtime.receipts import RECEIPT_CHARS_MAX, RECEIPTS_MAX
from duologue.runtime.simulated_clock import run_simulated
from duologue.server.message_limits import BURST_S, VALUE_BYTES, MessageLimits, frames_rate, work_of
from duologue.server.settings import Limits

PLAYED = json.dumps({"type": "played", "payload": {"voice": 3, "ms": 1_200}})


def test_a_client_may_send_a_burst_and_then_its_rate() -> None:
    async def whole() -> None:
        refused: list[str] = []
        limits = MessageLimits(Limits(messages_per_s_max=10), refused.append)
        assert not any(limits.is_too_fast("") for _ in range(10 * BURST_S))
        assert limits.is_too_fast("")
        assert refused == ["messages"]
        await asyncio.sleep(1)
        assert [limits.is_too_fast("") for _ in range(11)] == [False] * 10 + [True]

    run_simulated(whole())


def test_only_so_many_messages_may_be_invalid() -> None:
    async def whole() -> None:
        limits = MessageLimits(Limits(bad_messages_max=3), [].append)
        assert [limits.is_too_bad() for _ in range(3)] == [False, False, True]

    run_simulated(whole())


def test_values_of_json_are_more_work_than_characters_and_sound() -> None:
    assert work_of(bytes(640)) == 640
    assert work_of("x" * 640) == 640
    assert work_of("[" + "[]," * 999 + "[]]") == 3_001 + VALUE_BYTES * 2_000
    assert work_of('{"a":1,"b":[2]}') == 15 + VALUE_BYTES * 5


def test_one_message_with_many_values_is_too_much_however_long_the_client_was_silent() -> None:
    async def whole() -> None:
        refused: list[str] = []
        limits = MessageLimits(Limits(), refused.append)
        await asyncio.sleep(1_000)
        assert not limits.is_too_fast("x" * (1 << 20))
        assert limits.is_too_fast("[" + "[]," * 340_000 + "[]]")
        assert refused == ["messages"]

    run_simulated(whole())


def test_json_inside_binary_messages_counts_too() -> None:
    async def whole() -> None:
        limits = MessageLimits(Limits(), [].append)
        assert not limits.is_too_much("[" + "[]," * 1_000 + "[]]")
        assert limits.is_too_much("[" + "[]," * 50_000 + "[]]")

    run_simulated(whole())


def test_a_client_that_sends_the_most_that_a_conversation_needs_is_never_refused() -> None:
    """Ten minutes of sound at 48 kHz and reports of playback, with a stall of 15 seconds in every minute."""

    async def whole() -> None:
        limits = MessageLimits(Limits(), [].append)
        frame = bytes(96 * 40)
        for _minute in range(10):
            for step in range(60_000 // 40):
                if step * 40 >= 15_000:
                    await asyncio.sleep(0.04 if step * 40 > 15_000 else 15.0)
                    late = 15_000 // 40 if step * 40 == 15_000 else 1
                    assert not any(limits.is_too_fast(frame) for _ in range(late)), "sound"
                    assert not limits.is_too_fast(PLAYED), "reports"

    run_simulated(whole())


def test_a_client_may_send_more_frames_than_messages() -> None:
    rate = frames_rate(Limits(messages_per_s_max=10))
    assert (rate.amount, rate.per_ms, rate.burst) == (20, 1_000, 60)


def test_an_unknown_client_may_send_a_hello_with_all_its_receipts_and_little_more() -> None:
    hello = json.dumps({"type": "hello", "payload": {"receipts": ["x" * RECEIPT_CHARS_MAX] * RECEIPTS_MAX}})

    async def whole() -> None:
        limits = MessageLimits(Limits(), [].append, is_admitted=False)
        assert not limits.is_too_fast(hello)
        assert limits.is_too_fast(hello)
        limits.admit()
        assert not any(limits.is_too_fast(hello) for _ in range(20))

    run_simulated(whole())
