"""The keys that a caller presses, as one text."""

from __future__ import annotations

import asyncio

from duologue.lines.phone.digits import DIGITS_MAX, Digits
from duologue.runtime.simulated_clock import run_simulated


def test_keys_are_passed_on_at_the_terminator_or_after_a_pause() -> None:
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


def test_too_many_keys_are_passed_on_in_parts() -> None:
    typed: list[str] = []

    async def call() -> None:
        digits = Digits(typed.append)
        for _ in range(DIGITS_MAX + 1):
            digits.press("1")
        await asyncio.sleep(2)

    run_simulated(call())
    assert typed == ["1" * DIGITS_MAX, "1"]
