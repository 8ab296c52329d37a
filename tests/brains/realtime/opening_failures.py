"""How opening a Realtime model fails."""

from __future__ import annotations

import asyncio

import pytest

from duologue import RealtimeModel, ServiceError
from duologue.lab.sim.jumping_clock import run_jumping


def opening_failure(model: RealtimeModel) -> ServiceError:
    """How opening this model fails; nothing may be left running."""

    async def run() -> ServiceError:
        with pytest.raises(ServiceError) as failed:
            await model.open(None, lambda event: None)
        assert len(asyncio.all_tasks()) == 1, "nothing is left behind"
        return failed.value

    return run_jumping(run())
