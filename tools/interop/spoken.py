"""What the scripts of the Python clients share: a tone as speech, and the report that `tools/run_interop.py` reads."""

from __future__ import annotations

import asyncio
import json
import math
import sys
from array import array
from collections.abc import Awaitable, Callable
from typing import Any

RATE_HZ = 24_000
FRAME_MS = 20
SAMPLES = RATE_HZ * FRAME_MS // 1000
_TONE = array("h", (round(8_000 * math.sin(2 * math.pi * 220 * at / RATE_HZ)) for at in range(SAMPLES))).tobytes()
_SILENCE = bytes(SAMPLES * 2)


async def speak(send: Callable[[bytes], Awaitable[Any]], ms: int = 300, quiet_ms: int = 600) -> None:
    """Send a tone and the silence after it, as fast as they are spoken. The server's ears know what it says."""
    for pcm in [_TONE] * (ms // FRAME_MS) + [_SILENCE] * (quiet_ms // FRAME_MS):
        await send(pcm)
        await asyncio.sleep(FRAME_MS / 1000)


async def until(holds: Callable[[], bool], what: str, limit_s: float = 20.0) -> None:
    """Wait for a condition."""
    try:
        async with asyncio.timeout(limit_s):
            while not holds():
                await asyncio.sleep(0.02)
    except TimeoutError:
        report(failed=f"never: {what}")
        raise SystemExit(1) from None


def report(**facts: Any) -> None:
    """The last line of a script."""
    sys.stdout.write(json.dumps(facts) + "\n")
    sys.stdout.flush()
