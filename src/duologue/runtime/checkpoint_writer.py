"""Saves a conversation: writes its changes in the background.

An action that can't be repeated waits until all earlier changes are saved. Each conversation has one writer, so its
changes are written in order. Each write carries a lease. As soon as another node owns the conversation, the store
rejects the writes from this node. Rule: reporting a change never waits for the store. Code that must not continue
before a change is saved awaits `wait_until_saved`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from duologue.core.leaves import ErrorClass
from duologue.fairness.owner import context_of
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

from .flag import Flag

GATHER_S = 0.05  # changes within this time become one write
RETRY_S = (0.2, 0.5, 1.0, 2.0)
AWAITED_RETRY_S = 0.5  # the longest pause between two attempts while a caller waits, such as a speech that is held
SAVED_S_MAX = 5.0  # if saving takes longer, `wait_until_saved` raises StoreFailed


ChangedPages = Callable[[], Iterable[tuple[str, Callable[[], Any]]]]


@dataclass(slots=True)
class _Batch:
    """The content of one transaction, and the number of the newest change that it contains."""

    names: dict[str, None]
    marked: int
    write: StoreWrite
    lines: list[Callable[[], str]]


class CheckpointWriter:
    """Writes one conversation to its store. `fenced` is called when the store reports that another node owns the
    conversation. `report_failure` is called with the error when writing fails, and with None when writing works
    again."""

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
        self._unsure: _Batch | None = None  # a batch that the store may or may not have written
        self._done: list[tuple[str, Any]] = []  # actions that are done, but not yet marked as done in the store
        self._lines: list[Callable[[], str]] = []
        self._marked = 0  # number of changes so far
        self._written = 0  # number of changes that are saved
        self._tried: set[str] = set()  # keys of actions that this process has begun
        self._waiting = 0  # callers that wait until everything is saved
        self._hurry = Flag()
        self._changed = Flag()
        self._safe = Flag()
        self._is_failing = False
        self.is_fenced = False
        self._is_over = False
        self._task: asyncio.Task[None] | None = None

    # -- What changed

    def add_part(self, name: str, make: Callable[[], Any], pages: ChangedPages = lambda: ()) -> None:
        """Register a part of the conversation that is saved under this name. At each write, `make` is called; it
        returns the data of the part, or None if the part isn't to be saved. `pages` is called at each write too, and
        yields the pages of this part that have changed since its last call. They are written together with the part."""
        self._makers[name] = make
        self._pages[name] = pages

    def mark(self, *names: str) -> None:
        """Mark these parts as changed, so that they are written soon."""
        self._dirty |= dict.fromkeys(names)
        self._marked += 1
        self._changed.set()
        if self._task is None and not self._is_over:
            self._task = asyncio.get_running_loop().create_task(
                self._write_all(), name="checkpoint writer", context=context_of(self.lease.conversation)
            )

    def log(self, make: Callable[[], str]) -> None:
        """Add a line to the stored journal. The line is made and written only with the next change, so that it doesn't
        delay the current step."""
        self._lines.append(make)

    def send(self, message: OutboxMessage) -> None:
        """Add a message to the outbox, the stored list of messages that are to be sent. The message is saved with the
        next change."""
        self._messages.append(message)

    @property
    def is_saved(self) -> bool:
        """Is every change so far saved?"""
        return self._written >= self._marked

    async def wait_until_saved(self) -> None:
        """Wait until every change so far is saved. Raises Fenced if another node owns the conversation, and StoreFailed
        if saving takes longer than SAVED_S_MAX."""
        wanted = self._marked
        self._hurry.set()
        self._waiting += 1
        try:
            async with asyncio.timeout(SAVED_S_MAX):
                while self._written < wanted:
                    if self.is_fenced:
                        raise Fenced("another node owns this conversation")
                    self._safe.clear()
                    await self._safe.wait()
        except TimeoutError:
            raise StoreFailed(f"the conversation was not saved within {SAVED_S_MAX:.0f} s") from None
        finally:
            self._waiting -= 1

    # -- Actions that are done once

    async def once(self, key: str, name: str, work: Callable[[], Coroutine[Any, Any, Any]], repeatable: bool) -> Any:
        """Do an action only one time, even across restarts, and return its output. If the action with this key is
        already done, its stored output is returned instead. If an earlier process began the action and its outcome is
        unknown, a `repeatable` action is done again, and any other action raises UnknownOutcome. If the store fails
        after the action, the output is saved with the next write."""
        try:
            receipt: Receipt = await self._guarded(self._store.begin(self.lease, key, name))
        except Unsure:
            self._tried.add(key)  # the store may have recorded the action as begun, although it has not begun
            raise
        if receipt.progress is ActionProgress.DONE:
            return receipt.output
        if receipt.progress is ActionProgress.BEGUN and not repeatable and key not in self._tried:
            self._tried.add(key)  # the caller now knows that the outcome is unknown, and may try again
            raise UnknownOutcome(ErrorClass.TOOL_ERROR, f"{name} began before a restart, and its outcome is unknown")
        self._tried.add(key)
        output = await work()
        try:
            await self._guarded(self._store.finish(self.lease, key, output))
        except StoreFailed:
            self._done.append((key, output))
            self.mark()
        return output

    async def _guarded(self, store_call: Coroutine[Any, Any, Any]) -> Any:
        try:
            return await store_call
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
                await self._back_off(RETRY_S[min(failures, len(RETRY_S) - 1)])
                failures += 1

    async def _back_off(self, pause_s: float) -> None:
        """Wait before the next attempt to write: normally `pause_s`, but only AWAITED_RETRY_S while a caller is in
        `wait_until_saved`."""
        await asyncio.sleep(min(pause_s, AWAITED_RETRY_S))
        if pause_s > AWAITED_RETRY_S and not self._waiting:
            try:
                async with asyncio.timeout(pause_s - AWAITED_RETRY_S):
                    await self._hurry.wait()
            except TimeoutError:
                pass

    async def _pause(self) -> None:
        """Wait up to GATHER_S, so that further changes are written in the same transaction. The wait ends early if a
        caller is in `wait_until_saved`, or if the conversation is over."""
        if self._is_over:
            return
        try:
            async with asyncio.timeout(GATHER_S):
                await self._hurry.wait()
        except TimeoutError:
            pass
        self._hurry.clear()

    async def _write(self) -> bool:
        """Write one transaction to the store. Returns whether the write is known to have succeeded. If that is unknown,
        the next call repeats the same write, and the store detects the duplicate."""
        batch = self._unsure or self._gather()
        try:
            if batch.lines:
                await self._store.log(self.lease, [make() for make in batch.lines])
                batch.lines = []
            self._revision = await self._store.write(self.lease, self._revision, batch.write)
        except Fenced:
            self._fence()
            return False
        except StoreFailed as problem:
            self._put_back(batch, isinstance(problem, Unsure))
            self.note_failing(problem)
            return False
        self._unsure = None
        if self._is_failing:
            self._is_failing = False
            self._report_failure(None)
        self._written = batch.marked
        self._safe.set()
        return True

    def note_failing(self, problem: StoreFailed) -> None:
        """Report that saving fails, unless this was already reported. The next successful write reports that saving
        works again."""
        if not self._is_failing:
            self._is_failing = True
            self._report_failure(problem)

    def _gather(self) -> _Batch:
        """Take everything that has changed since the last write, as one batch."""
        for name in [name for name in self._dirty if name in self._pages]:
            for page, make in self._pages[name]():
                self._makers[page] = make
                self._dirty[page] = None
        parts = {name: self._makers[name]() for name in self._dirty}
        given = {name: part for name, part in parts.items() if part is not None}
        write = StoreWrite(given, tuple(self._done), tuple(self._messages), self._is_over)
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
        """For tests: stop as a killed process would. Nothing more is written, and the lease isn't released."""
        self.is_fenced = True
        if self._task is not None:
            self._task.cancel()

    async def close(self, names: Sequence[str], is_over: bool) -> bool:
        """Write these parts and every unsaved change, then release the lease. `is_over` says whether the conversation
        has ended. Returns whether everything was saved."""
        self._is_over = is_over
        is_saved = False
        if not self.is_fenced:
            self.mark(*names)
            self._hurry.set()
            try:
                await self.wait_until_saved()
                is_saved = True
                await self._store.release(self.lease)
            except (Fenced, StoreFailed) as problem:
                if isinstance(problem, StoreFailed):
                    self._report_failure(problem)
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            await asyncio.wait([task])
        return is_saved
