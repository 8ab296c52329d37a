"""Deletes old conversations while the server runs: from its store, and the files in its folder of journals.

Rule: a failure is logged, and the next round tries again.
"""

from __future__ import annotations

import asyncio
import logging
import time
from pathlib import Path

from duologue.core.errors import DuologueError
from duologue.observe.conversation_files import delete, old_files
from duologue.ports.store import Store

LOG = logging.getLogger("duologue.server")
DAY_S = 86_400
ROUND_S = 3_600.0  # between two rounds


async def keep_deleting(store: Store | None, journals: Path | None, keep_days: int, wait_s: float = 0.0) -> None:
    """Delete what is older than `keep_days`, after `wait_s` and then every hour."""
    await asyncio.sleep(wait_s)
    while True:
        await delete_old(store, journals, keep_days, time.time())
        await asyncio.sleep(ROUND_S)


async def delete_old(store: Store | None, journals: Path | None, keep_days: int, now_s: float) -> None:
    """Delete what is older than `keep_days`."""
    swept = files = 0
    try:
        if store is not None:
            swept = await store.sweep(keep_days * DAY_S * 1000)
        if journals is not None:
            files = await asyncio.to_thread(lambda: delete(old_files(journals, keep_days * DAY_S, now_s)))
    except (DuologueError, OSError) as problem:
        LOG.error("old conversations can't be deleted now: %s", problem)
    if swept or files:
        LOG.info("deleted after %d days: %d conversations and %d files", keep_days, swept, files)
