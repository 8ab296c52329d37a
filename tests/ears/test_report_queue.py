"""The report queue: only a partial text is ever replaced, and a failure comes after what was heard before it."""

from __future__ import annotations

import asyncio

import pytest

from duologue.ears.report_queue import ReportQueue
from duologue.ports.ears import Final, Heard, Partial, SpeechBegan
from duologue.runtime.simulated_clock import run_simulated


async def ended(failure: BaseException | None = None) -> asyncio.Future[None]:
    future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    future.set_exception(failure) if failure else future.set_result(None)
    return future


async def all_of(queue: ReportQueue) -> list[Heard]:
    found = []
    while (heard := await queue.get()) is not None:
        found.append(heard)
    return found


def test_a_newer_partial_text_of_the_same_utterance_replaces_a_queued_one() -> None:
    async def main() -> None:
        queue = ReportQueue(writers=1)
        reports = [
            SpeechBegan(1),
            Partial("I", 0.5, 1),
            Partial("I want", 0.5, 1),
            Final("I want tea", 0.5, 1),
            SpeechBegan(2),
            Partial("and", 0.5, 2),
            Partial("no", 0.5, 3),
        ]
        for report in reports:
            queue.put(report)
        queue.close(await ended())
        assert await all_of(queue) == [report for report in reports if report != Partial("I", 0.5, 1)]

    run_simulated(main())


def test_it_ends_when_all_writers_are_done() -> None:
    async def main() -> None:
        queue = ReportQueue(writers=2)
        reading = asyncio.ensure_future(all_of(queue))
        queue.close(await ended())
        await asyncio.sleep(1)
        assert not reading.done()
        queue.put(SpeechBegan(1))
        queue.close(await ended())
        assert await reading == [SpeechBegan(1)]

    run_simulated(main())


def test_a_failure_is_raised_after_what_was_heard_before_it() -> None:
    async def main() -> None:
        queue = ReportQueue(writers=2)
        queue.put(SpeechBegan(1))
        queue.close(await ended(ZeroDivisionError()))
        assert await queue.get() == SpeechBegan(1)
        with pytest.raises(ZeroDivisionError):
            await queue.get()

    run_simulated(main())
