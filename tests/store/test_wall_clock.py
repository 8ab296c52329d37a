"""The clock of a machine: setting the time of day neither ends nor extends a lease."""

from __future__ import annotations

from pathlib import Path

import pytest

from duologue.store import wall_clock
from duologue.store.sqlite import SqliteStore
from tests.needs import needs_boot_id
from tests.store.store_places import TTL_MS, claimed


async def test_setting_the_clock_of_the_machine_ends_no_lease(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    needs_boot_id()
    one, two = SqliteStore(tmp_path / "store"), SqliteStore(tmp_path / "store")
    await one.open()
    await claimed(one)
    later_ms = wall_clock.wall_ms() + 3_600_000
    monkeypatch.setattr("duologue.store.sqlite.wall_ms", lambda: later_ms)  # an hour on
    await two.open()
    (held,) = await two.holdings(1)
    assert 0 < held.expires_ms <= TTL_MS
    for store in (one, two):
        await store.close()


async def test_after_a_reboot_the_clock_follows_the_time_of_day(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = SqliteStore(tmp_path / "store")
    await store.open()
    await claimed(store)
    await store.close()
    later_ms = wall_clock.wall_ms() + 60_000
    monkeypatch.setattr("duologue.store.sqlite.boot_id", lambda: "another boot")
    monkeypatch.setattr("duologue.store.sqlite.wall_ms", lambda: later_ms)
    again = SqliteStore(tmp_path / "store")
    await again.open()
    assert list(await again.orphans(1)) == ["call"]
    await again.close()


async def test_without_a_boot_id_the_clock_follows_the_time_of_day(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("duologue.store.sqlite.boot_id", lambda: "")
    store = SqliteStore(tmp_path / "store")
    await store.open()
    await claimed(store)
    (held,) = await store.holdings(1)
    assert 0 < held.expires_ms <= TTL_MS
    await store.close()


def test_the_counter_never_runs_backwards() -> None:
    counted = [wall_clock.counter_ms() for _ in range(1_000)]
    assert counted == sorted(counted)


def test_a_clock_counts_from_the_moment_that_it_was_given() -> None:
    boot_ms = wall_clock.wall_ms() - wall_clock.counter_ms()
    assert abs(wall_clock.from_moment(boot_ms)() - wall_clock.wall_ms()) < 1_000
