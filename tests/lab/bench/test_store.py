"""The bench of the store measures what it says. No test checks how fast it is."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from duologue.cli.app import app
from duologue.core.errors import DuologueError
from duologue.lab.bench import store as bench
from duologue.ports.store import StoreFailed
from duologue.store.sqlite import SqliteStore


@pytest.fixture(autouse=True)
def _short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench, "SECONDS", 0.05)
    monkeypatch.setattr(bench, "CLAIMS", 10)


def test_a_checkpoint_is_as_large_as_a_real_one() -> None:
    assert 5_000 < len(json.dumps(bench.checkpoint())) < 7_000
    assert bench.checkpoint(1) != bench.checkpoint(2)


def test_a_file_is_measured_and_left_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite3"
    done = CliRunner().invoke(app, ["bench", "store", "--url", f"sqlite://{path}", "--json"])
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)["stores"]["sqlite"]
    assert found["claim_ms"]["p50"] <= found["claim_ms"]["p99"]
    assert all(found[f"side_by_side_{count}"]["writes_per_s"] > 0 for count in bench.SIDE_BY_SIDE)

    async def left() -> int:
        store = SqliteStore(path)
        await store.open()
        held = await store.holdings(10)
        await store.close()
        return len(held)

    assert asyncio.run(left()) == 0


def test_a_store_that_can_not_be_measured_is_named_in_the_report(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("duologue.testing.postgres.find_programs", lambda: None)
    result = bench.bench_store()
    assert "isn't installed" in result["stores"]["postgresql"]["missing"]
    shown = dict(bench.report(result))
    assert "writes/s" in shown["sqlite: 8 side by side"]
    assert "isn't installed" in shown["postgresql"]
    with pytest.raises(StoreFailed):
        bench.bench_store("mysql://root:s3cret@host/db")
    assert issubclass(StoreFailed, DuologueError)
