"""The server process of a benchmark: `python -m duologue.lab.bench.served_process phone|realtime [core]`.

The process prints the address of its server. Each time it reads a line from its standard input, it prints its CPU time
so far and how long it waited for its core. It ends when its standard input is closed. Rule: the server has everything
that a call needs, except models: its brain and voice are scripted, telephone calls have no ears, and the ears of
Realtime clients recognize speech by its level.
"""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

from duologue.brains.scripted import ScriptedBrain
from duologue.lab.sim.loopback_server import serving as serving_routes
from duologue.runtime.agent import Agent
from duologue.server.app import Server
from duologue.server.listening import bind_socket
from duologue.server.phone.routes import PhoneSettings, phone_routes
from duologue.server.realtime.routes import realtime_routes
from duologue.server.run import run, serving
from duologue.server.settings import Limits, ServerSettings, many_at_one_address
from duologue.turns.endpoint import FixedSilence
from duologue.voice.scripted import ScriptedVoice

from .measured_server import ANSWER, LoudEars

CALLS_MAX = 10_000
ANSWERS = {
    "1": "This is an answer that takes about eight seconds to say, but every caller of this benchmark interrupts it "
    "after three seconds.",
    "2": "Then I will say no more.",
}


def serve_phone() -> AbstractAsyncContextManager[str]:
    """Serve telephone calls. Yields the address."""

    def make_agent() -> Agent:
        return Agent(ScriptedBrain(ANSWERS, otherwise="Hello."), voice=ScriptedVoice(), profile="words")

    return serving_routes(
        lambda url: phone_routes(make_agent, PhoneSettings(url, allow_unsigned=True, calls_max=CALLS_MAX))
    )


@asynccontextmanager
async def serve_realtime() -> AsyncIterator[str]:
    """Serve clients of the Realtime protocol. Yields the address."""

    def make_agent() -> Agent:
        brain, voice = ScriptedBrain(otherwise=ANSWER), ScriptedVoice()
        return Agent(brain, ears=LoudEars(), voice=voice, endpoint=FixedSilence(), profile="confirm")

    limits = many_at_one_address(Limits(conversations_max=CALLS_MAX, drain_s_max=0.1), CALLS_MAX)
    server, listening = Server(make_agent, ServerSettings(port=0, limits=limits)), bind_socket("127.0.0.1", 0)
    server.add_routes(realtime_routes(server))
    async with serving(server, listening):
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"


SERVED = {"phone": serve_phone, "realtime": serve_realtime}


async def main(kind: str) -> None:
    loop = asyncio.get_running_loop()
    async with SERVED[kind]() as url:
        _tell(url)
        while await loop.run_in_executor(None, sys.stdin.readline):
            _tell(f"{time.process_time():.6f} {_waited_s():.6f}")


def _waited_s() -> float:
    """How many seconds this process waited for its core, or 0 if /proc isn't available."""
    try:
        return int(Path("/proc/self/schedstat").read_text().split()[1]) / 1e9
    except (OSError, IndexError, ValueError):
        return 0.0


def _tell(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    if len(sys.argv) > 2:
        os.sched_setaffinity(0, {int(sys.argv[2])})
    run(main(sys.argv[1]))
