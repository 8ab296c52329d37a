"""The server of `duologue bench phone`, as a process of its own: `python -m duologue.lab.bench.phone_server [core]`.

Prints its address, then for every line that it reads its CPU time and how long it waited for its core; ends with its
standard input. Rule: everything that a call needs but ears and a real brain.
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
    "1": "This is an answer of some eight seconds, which nobody ever hears to its end, because everybody who calls "
    "interrupts it after three.",
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
    """How long others have had the core while this process could have run."""
    try:
        return int(Path("/proc/self/schedstat").read_text().split()[1]) / 1e9
    except (OSError, IndexError, ValueError):
        return 0.0


def _run(work: Coroutine[Any, Any, None]) -> None:
    """In the loop that uvicorn would choose."""
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
