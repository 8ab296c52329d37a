"""How opening a speech-to-speech model on a local server fails."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AsyncExitStack
from typing import Any

import pytest

from duologue import ServiceError
from duologue.lab.sim.jumping_clock import run_jumping


def opening_failure(server: Any, make: Callable[[], Any]) -> ServiceError:
    """How opening this model fails; nothing may be left running on our side."""

    async def run() -> ServiceError:
        async with AsyncExitStack() as stack:
            if server is not None:
                await stack.enter_async_context(server)
            with pytest.raises(ServiceError) as failed:
                await make().open(None, lambda event: None)
            left = [task.get_name() for task in asyncio.all_tasks() if task.get_name().startswith("gemini")]
            assert left == [], "nothing is left behind"
            return failed.value

    return run_jumping(run())
