"""The server process of `duologue bench phone`: `python -m duologue.lab.bench.phone_server [core]`.

The process prints its address. For every line that it reads, it prints its CPU time and how long it waited for its
core. It ends when its standard input is closed. Rule: the server has everything that a call needs, except ears (STT and
VAD) and a real brain.
"""

from __future__ import annotations

import asyncio
import importlib
import os
import sys
import time
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

from duologue.brains.scripted import ScriptedBrain
from duologue.lab.sim.loopback_server import serving
from duologue.runtime.agent import Agent
from duologue.server.phone.routes import PhoneSettings, phone_routes
from duologue.voice.scripted import ScriptedVoice

ANSWERS = {
    "1": "This is an answer that takes about eight seconds to say, but every caller of this benchmark interrupts it "
    "after three seconds.",
    "2": "Then I will say no more.",
}


def make_agent() -> Agent:
    brain = ScriptedBrain(ANSWERS, otherwise="Hello.")
    return Agent(brain, voice=ScriptedVoice(), profile="words")


async def main() -> None:
    loop = asyncio.get_running_loop()
    async with serving(
        lambda url: phone_routes(make_agent, PhoneSettings(url, allow_unsigned=True, calls_max=10_000))
    ) as url:
        _tell(url)
        while await loop.run_in_executor(None, sys.stdin.readline):
            _tell(f"{time.process_time():.6f} {_waited_s():.6f}")


def _waited_s() -> float:
    """How many seconds this process waited for its core, or 0 if /proc isn't available."""
    try:
        return int(Path("/proc/self/schedstat").read_text().split()[1]) / 1e9
    except (OSError, IndexError, ValueError):
        return 0.0


def _run(work: Coroutine[Any, Any, None]) -> None:
    """Run a coroutine on the event loop that uvicorn would choose: uvloop if it is installed."""
    try:
        importlib.import_module("uvloop").run(work)
    except ModuleNotFoundError:
        asyncio.run(work)


def _tell(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    if len(sys.argv) > 1:
        os.sched_setaffinity(0, {int(sys.argv[1])})
    _run(main())
