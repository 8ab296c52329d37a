"""Tasks inherit for which conversation they work."""

from __future__ import annotations

import asyncio

from duologue.fairness.owner import context_of, owner


def test_a_task_and_the_tasks_that_it_starts_have_the_same_owner() -> None:
    async def inner() -> str:
        return owner()

    async def outer() -> tuple[str, str]:
        return owner(), await asyncio.create_task(inner())

    async def main() -> tuple[str, str]:
        return await asyncio.get_running_loop().create_task(outer(), context=context_of("mine"))

    assert asyncio.run(main()) == ("mine", "mine")
    assert owner() == ""
