"""Measures what storing conversations costs: checkpoints per second, the time of a checkpoint and of a claim, CPU time.

A checkpoint has the size of a real one: the machine's state, the dialogue and the last words, about 6 kB of JSON. Rule:
PostgreSQL must be as durable as in production: every commit is flushed to disk.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from duologue.ports.store import Store, StoreFailed, StoreWrite
from duologue.store.sqlite import SqliteStore
from duologue.store.store_url import open_store
from duologue.testing.postgres import NoPostgres, PrivatePostgres

SIDE_BY_SIDE = (1, 8, 32)
SECONDS = 2.0
WRITES_MIN = 2  # a spread needs two
CLAIMS = 300
TTL_MS = 60_000
NOTE = (
    "CPU is that of this process: only the client for PostgreSQL, but everything for SQLite. A private PostgreSQL "
    "server shares this computer's cores and disk."
)
_runs = itertools.count(1)


def checkpoint(revision: int = 0) -> dict[str, Any]:
    """A checkpoint like those that a conversation writes: the same parts, and about the same size (6 kB)."""
    said = "I would like a table for two at seven on Friday, by the window if there is one."
    turns = [{"turn": turn, "who": "user" if turn % 2 else "agent", "text": said} for turn in range(30)]
    slots = {f"slot_{number}": {"value": f"value {number}", "turn": number} for number in range(30)}
    regions = {f"field_{number}": revision + number for number in range(60)}
    return {"machine": regions, "dialogue": {"stack": [{"flow": "book", "slots": slots}]}, "words": turns}


def bench_store(url: str | None = None, progress: Callable[[str], None] = lambda what: None) -> dict[str, Any]:  # noqa: ARG005
    """Measure the store at `url`. Without `url`, measure an SQLite file and, if possible, a private PostgreSQL."""
    stores: dict[str, Any] = {}
    result: dict[str, Any] = {"checkpoint_bytes": len(json.dumps(checkpoint())), "stores": stores, "note": NOTE}
    if url is not None:
        store = open_store(url)
        name = {"SqliteStore": "sqlite", "PostgresStore": "postgresql"}.get(type(store).__name__, "memory")
        stores[name] = asyncio.run(_measure(store, lambda what: progress(f"{name}, {what}")))
        return result
    for name, place in (("sqlite", _sqlite), ("postgresql", _postgres)):
        try:
            with place() as store:
                stores[name] = asyncio.run(_measure(store, lambda what, name=name: progress(f"{name}, {what}")))  # type: ignore[misc]
        except NoPostgres as missing:
            stores[name] = {"missing": str(missing)}
    return result


@contextmanager
def _sqlite() -> Iterator[Store]:
    with tempfile.TemporaryDirectory(prefix="duologue-") as folder:
        yield SqliteStore(Path(folder, "bench.sqlite3"))


@contextmanager
def _postgres() -> Iterator[Store]:
    with PrivatePostgres(durable=True) as server:
        try:
            yield open_store(server.url)
        except StoreFailed as failed:
            raise NoPostgres(str(failed)) from None


# -- Measuring


async def _measure(store: Store, progress: Callable[[str], None]) -> dict[str, Any]:
    """Measure this store with new conversations, and delete them afterwards."""
    await store.open()
    made: list[str] = []
    try:
        progress("claims")
        result: dict[str, Any] = {"claim_ms": await _claims(store, made)}
        for count in SIDE_BY_SIDE:
            progress(f"{count} conversations")
            result[f"side_by_side_{count}"] = await _writes(store, count, made)
        return result
    finally:
        for conversation in made:
            await store.forget(conversation)
        await store.close()


async def _claims(store: Store, made: list[str]) -> dict[str, float]:
    """Claim new and existing conversations alternately. Returns the median and the 99th percentile of the times, in
    ms."""
    spent_ms = []
    for number in range(CLAIMS):
        name = _new(made) if number % 2 == 0 else made[-1]
        began = time.perf_counter()
        await store.claim(name, "bench", TTL_MS)
        spent_ms.append((time.perf_counter() - began) * 1_000)
    return _spread(spent_ms)


async def _writes(store: Store, count: int, made: list[str]) -> dict[str, Any]:
    spent_ms: list[float] = []

    async def talk() -> None:
        lease, stored = await store.claim(_new(made), "bench", TTL_MS)
        revision = stored.revision
        while time.perf_counter() < until or len(spent_ms) < WRITES_MIN:  # on a busy machine one write may take it all
            began = time.perf_counter()
            revision = await store.write(lease, revision, StoreWrite(checkpoint(revision)))
            spent_ms.append((time.perf_counter() - began) * 1_000)

    began, cpu = time.perf_counter(), time.process_time()
    until = began + SECONDS
    async with asyncio.TaskGroup() as talks:
        for _ in range(count):
            talks.create_task(talk())
    took_s, cpu_s = time.perf_counter() - began, time.process_time() - cpu
    return {
        "writes_per_s": len(spent_ms) / took_s,
        "write_ms": _spread(spent_ms),
        "cpu_us_per_write": cpu_s * 1e6 / len(spent_ms),
    }


def _new(made: list[str]) -> str:
    made.append(f"bench-{time.time_ns()}-{next(_runs)}")
    return made[-1]


def _spread(spent_ms: list[float]) -> dict[str, float]:
    cuts = statistics.quantiles(spent_ms, n=100)
    return {"p50": statistics.median(spent_ms), "p99": cuts[98]}


# -- Reporting


def report(result: dict[str, Any]) -> list[tuple[str, str]]:
    """The result as rows of (what, measured)."""
    rows = [("a checkpoint", f"{result['checkpoint_bytes']} bytes")]
    for name, found in result["stores"].items():
        if "missing" in found:
            rows.append((name, found["missing"]))
            continue
        rows.append((f"{name}: claim", _shown(found["claim_ms"])))
        for count in SIDE_BY_SIDE:
            one = found[f"side_by_side_{count}"]
            shown = f"{one['writes_per_s']:,.0f} writes/s, {_shown(one['write_ms'])}"
            rows.append((f"{name}: {count} side by side", f"{shown}, {one['cpu_us_per_write']:.0f} µs CPU each"))
    return rows


def _shown(spread: dict[str, float]) -> str:
    return f"p50 {spread['p50']:.2f} ms, p99 {spread['p99']:.2f} ms"
