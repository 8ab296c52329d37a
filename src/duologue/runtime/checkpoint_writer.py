"""Keeping a conversation: what changed is written behind its back, and before anything that can't be repeated.

One writer for each conversation, so writes follow each other and are fenced. Rule: nothing here holds up the audio;
whoever must not go on before a thing is safe waits for `saved`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from duologue.core.leaves import ErrorClass
from duologue.ports.failure import UnknownOutcome
from duologue.ports.store import (
    ActionProgress,
    Fenced,
    Lease,
    OutboxMessage,
    Receipt,
    Store,
    StoreFailed,
    StoreWrite,
    Unsure,
)

SOON_S = 0.05  # changes within this time are one write
RETRY_S = (0.2, 0.5, 1.0, 2.0)
SAVED_S_MAX = 5.0  # who waits longer than this is told that it can't be saved


ChangedPages = Callable[[], Iterable[tuple[str, Callable[[], Any]]]]


@dataclass(slots=True)
class _Batch:
    """What one transaction holds, and how many changes are safe with it."""

    names: dict[str, None]
    marked: int
    write: StoreWrite
    lines: list[str]


class CheckpointWriter:
    """One conversation's writer. `fenced` is called when somebody else owns it; `trouble` when nothing can be
    saved, and with None when it can again."""

    def __init__(
        self,
        store: Store,
        lease: Lease,
        revision: int,
        fenced: Callable[[], None],
        report_failure: Callable[[StoreFailed | None], None],
    ) -> None:
        self.lease = lease
        self._store = store
        self._revision = revision
        self._fenced = fenced
        self._report_failure = report_failure
        self._makers: dict[str, Callable[[], Any]] = {}
        self._pages: dict[str, ChangedPages] = {}
        self._dirty: dict[str, None] = {}
        self._messages: list[OutboxMessage] = []
        self._unsure: _Batch | None = None  # may have been written
        self._done: list[tuple[str, Any]] = []  # what was done and could not be noted yet
        self._lines: list[str] = []
        self._marked = 0  # changes so far
        self._written = 0  # of them safe
        self._tried: set[str] = set()  # by this process: how it ended is known
        self._hurry = asyncio.Event()
        self._changed = asyncio.Event()
        self._safe = asyncio.Event()
        self._is_failing = False
        self.is_fenced = False
        self._is_over = False
        self._task: asyncio.Task[None] | None = None

    # -- What changed

    def add_part(self, name: str, make: Callable[[], Any], pages: ChangedPages = lambda: ()) -> None:
        """A part, and how it is made when it is written; None is not kept. `pages` are parts that are written with it:
        those that have changed since it was asked for them."""
        self._makers[name] = make
        self._pages[name] = pages

    def mark(self, *names: str) -> None:
        """These have changed."""
        self._dirty |= dict.fromkeys(names)
        self._marked += 1
        self._changed.set()
        if self._task is None and not self._is_over:
            self._task = asyncio.get_running_loop().create_task(self._write_all(), name="checkpoint writer")

    def log(self, line: str) -> None:
        """A line of the journal, written with the next change."""
        self._lines.append(line)

    def send(self, message: OutboxMessage) -> None:
        """Something that goes out once; safe with the next change."""
        self._messages.append(message)

    async def wait_until_saved(self) -> None:
        """Until everything that changed so far is safe. Raises Fenced or StoreFailed."""
        wanted = self._marked
        self._hurry.set()
        try:
            async with asyncio.timeout(SAVED_S_MAX):
                while self._written < wanted:
                    if self.is_fenced:
                        raise Fenced("another node has this conversation")
                    self._safe.clear()
                    await self._safe.wait()
        except TimeoutError:
            raise StoreFailed("it could not be saved in time") from None

    # -- What may be done once

    async def once(self, key: str, name: str, work: Callable[[], Coroutine[Any, Any, Any]], repeatable: bool) -> Any:
        """Do this if nobody has: what came of it the first time comes of it every time. Work that began and of which
        nobody knows how it ended is done again only if it may be; else UnknownOutcome. That it is done is noted with
        the next write if it can't be noted now: a store that fails afterwards doesn't undo it."""
        try:
            receipt: Receipt = await self._guarded(self._store.begin(self.lease, key, name))
        except Unsure:
            self._tried.add(key)  # perhaps noted as begun, and not begun
            raise
        if receipt.progress is ActionProgress.DONE:
            return receipt.output
        if receipt.progress is ActionProgress.BEGUN and not repeatable and key not in self._tried:
            self._tried.add(key)  # whoever asks for it once more was told
            raise UnknownOutcome(ErrorClass.TOOL_ERROR, f"{name} began before a restart, and nobody knows how it ended")
        self._tried.add(key)
        output = await work()
        try:
            await self._guarded(self._store.finish(self.lease, key, output))
        except StoreFailed:
            self._done.append((key, output))
            self.mark()
        return output

    async def _guarded(self, asked: Coroutine[Any, Any, Any]) -> Any:
        try:
            return await asked
        except Fenced:
            self._fence()
            raise

    # -- Writing

    async def _write_all(self) -> None:
        failures = 0
        while not self.is_fenced:
            if not self._dirty and not self._done and self._unsure is None:
                if self._is_over:
                    return
                self._changed.clear()
                await self._changed.wait()
                continue
            await self._pause()
            if await self._write():
                failures = 0
            else:
                await asyncio.sleep(RETRY_S[min(failures, len(RETRY_S) - 1)])
                failures += 1

    async def _pause(self) -> None:
        """Let changes gather, unless somebody waits."""
        if self._is_over:
            return
        try:
            async with asyncio.timeout(SOON_S):
                await self._hurry.wait()
        except TimeoutError:
            pass
        self._hurry.clear()

    async def _write(self) -> bool:
        """One transaction. Returns whether it was made. One of which nobody knows whether it was made is made again
        just as it was: only then the store can tell."""
        batch = self._unsure or self._gather()
        try:
            if batch.lines:
                await self._store.log(self.lease, batch.lines)
                batch.lines = []
            self._revision = await self._store.write(self.lease, self._revision, batch.write)
        except Fenced:
            self._fence()
            return False
        except StoreFailed as problem:
            self._put_back(batch, isinstance(problem, Unsure))
            if not self._is_failing:
                self._is_failing = True
                self._report_failure(problem)
            return False
        self._unsure = None
        if self._is_failing:
            self._is_failing = False
            self._report_failure(None)
        self._written = batch.marked
        self._safe.set()
        return True

    def _gather(self) -> _Batch:
        """Everything that has changed."""
        for name in [name for name in self._dirty if name in self._pages]:
            for page, make in self._pages[name]():
                self._makers[page] = make
                self._dirty[page] = None
        parts = {name: self._makers[name]() for name in self._dirty}
        kept = {name: part for name, part in parts.items() if part is not None}
        write = StoreWrite(kept, tuple(self._done), tuple(self._messages), self._is_over)
        batch = _Batch(self._dirty, self._marked, write, self._lines)
        self._dirty, self._done, self._messages, self._lines = {}, [], [], []
        return batch

    def _put_back(self, batch: _Batch, is_unsure: bool) -> None:
        if is_unsure or self._unsure is not None:
            self._unsure = batch
            return
        self._dirty = batch.names | self._dirty
        self._done = [*batch.write.done, *self._done]
        self._messages = [*batch.write.messages, *self._messages]
        self._lines = batch.lines + self._lines

    def _fence(self) -> None:
        if not self.is_fenced:
            self.is_fenced = True
            self._safe.set()
            self._changed.set()
            self._fenced()

    def crash(self) -> None:
        """For tests: stop as a killed process would. Nothing more is written and the lease isn't released."""
        self.is_fenced = True
        if self._task is not None:
            self._task.cancel()

    async def close(self, names: Sequence[str], is_over: bool) -> None:
        """Write the rest and let go."""
        self._is_over = is_over
        if not self.is_fenced:
            self.mark(*names)
            self._hurry.set()
            try:
                await self.wait_until_saved()
                await self._store.release(self.lease)
            except (Fenced, StoreFailed) as problem:
                if isinstance(problem, StoreFailed):
                    self._report_failure(problem)
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            await asyncio.wait([task])
