"""Deletes old conversations while the server runs: from the store, and from the folders of journals and recordings.

Rule: a failure is logged, and the next round tries again.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Iterable
from pathlib import Path

from duologue.core.errors import DuologueError
from duologue.observe.conversation_files import delete, old_files
from duologue.ports.store import Store

LOG = logging.getLogger("duologue.server")
DAY_S = 86_400
ROUND_S = 3_600.0  # between two rounds


async def keep_deleting(store: Store | None, folders: Iterable[Path], keep_days: int, wait_s: float = 0.0) -> None:
    """After `wait_s` seconds, and then every hour, delete everything that is older than `keep_days` days. This concerns
    the store and these folders of journals and recordings."""
    folders = tuple(folders)
    await asyncio.sleep(wait_s)
    while True:
        await delete_old(store, folders, keep_days, time.time())
        await asyncio.sleep(ROUND_S)


async def delete_old(store: Store | None, folders: Iterable[Path], keep_days: int, now_s: float) -> None:
    """Delete from the store and the folders everything that is older than `keep_days` days."""
    swept = files = 0
    try:
        if store is not None:
            swept = await store.sweep(keep_days * DAY_S * 1000)
        for folder in folders:
            files += await asyncio.to_thread(delete_from, folder, keep_days * DAY_S, now_s)
    except (DuologueError, OSError) as problem:
        LOG.error("old conversations can't be deleted now: %s", problem)
    if swept or files:
        LOG.info("deleted after %d days: %d conversations and %d files", keep_days, swept, files)


def delete_from(folder: Path, older_than_s: float, now_s: float) -> int:
    """Delete those files of conversations in this folder that are older than `older_than_s` seconds. Returns how many
    files were deleted."""
    return delete(old_files(folder, older_than_s, now_s))
