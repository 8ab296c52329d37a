"""Which code makes an answer: the task itself and tasks on which it waits, but no task that was started beside it."""

from __future__ import annotations

import asyncio

from duologue.ports.answering import begin_answering, go_on_answering, is_answering, work_beside_answers


async def looks() -> bool:
    return is_answering()


async def goes_on() -> bool:
    go_on_answering()
    return is_answering()


async def works_beside() -> bool:
    work_beside_answers()
    return await asyncio.ensure_future(goes_on())


def test_a_task_that_answers_and_those_on_which_it_waits() -> None:
    async def answers() -> list[bool]:
        begin_answering()
        beside, waited, tool = [asyncio.ensure_future(work()) for work in (looks, goes_on, works_beside)]
        return [is_answering(), await beside, await waited, await tool]

    assert asyncio.run(answers()) == [True, False, True, False]


def test_without_an_answer_no_task_answers() -> None:
    async def whole() -> list[bool]:
        return [await looks(), await goes_on(), await asyncio.ensure_future(goes_on())]

    assert asyncio.run(whole()) == [False, False, False]
