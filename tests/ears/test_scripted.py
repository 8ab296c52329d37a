"""Scripted ears report what a script says, including what it said before `listen` ran."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from duologue.ears.scripted import ScriptedEars
from duologue.ports.ears import Commit, Discard, Frame, Incoming, SpeechBegan
from duologue.runtime.simulated_clock import run_simulated


async def audio() -> AsyncIterator[Incoming]:
    for item in (Frame(b"", 16_000), Commit(1), Discard(2), Frame(b"", 16_000)):
        yield item


def test_a_script_decides_what_is_heard_and_when_they_fail() -> None:
    async def main() -> None:
        ears = ScriptedEars()
        ears.tell(SpeechBegan(1))
        listening = ears.listen(audio())
        assert await anext(listening) == SpeechBegan(1)
        asyncio.get_running_loop().call_later(5, ears.tell, SpeechBegan(2))
        assert await anext(listening) == SpeechBegan(2)
        assert asyncio.get_running_loop().time() >= 5
        ears.fail(ZeroDivisionError())
        with pytest.raises(ZeroDivisionError):
            await anext(listening)

    run_simulated(main())


def test_they_record_what_they_were_sent() -> None:
    async def main() -> None:
        ears = ScriptedEars()
        ears.tell(SpeechBegan(1))
        listening = ears.listen(audio())
        await anext(listening)
        await asyncio.sleep(1)
        assert (ears.starts, ears.frames, ears.commits, ears.discards) == (1, 2, [Commit(1)], [Discard(2)])

    run_simulated(main())
