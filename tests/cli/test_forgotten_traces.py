"""What `duologue forget --check` searches for."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

from duologue.cli.forgotten_traces import places_of_store, traces_in_files, traces_of
from duologue.ports.store import StoreWrite
from duologue.store.memory import MemoryStore


def test_long_texts_in_a_file_of_words_are_searched_for_as_they_are_written(tmp_path: Path) -> None:
    file = tmp_path / "a.words.jsonl"
    said = [{"text": "meine Straße ist die Hauptstraße"}, {"text": "yes"}, {"at": 1}, [1]]
    file.write_text("\n".join(json.dumps(one) for one in said) + "\nnot json\n")
    traces = traces_in_files([file, tmp_path / "sound.wav"])
    assert "meine Straße ist die Hauptstraße".encode() in traces
    assert rb"meine Stra\u00dfe ist die Hauptstra\u00dfe" in traces
    assert len(traces) == 2, "short texts would be found by chance"


def test_texts_in_the_store_are_searched_for() -> None:
    async def scene() -> None:
        store = MemoryStore()
        lease, _ = await store.claim("a" * 32, "node", 1_000)
        await store.write(lease, 0, StoreWrite({"words": {"turns": [["my account is 4711 0815"]]}}))
        assert await traces_of(store, "a" * 32) == {b"my account is 4711 0815"}
        assert await traces_of(store, "b" * 32) == set()

    asyncio.run(scene())


def test_the_files_of_a_store_are_those_that_begin_with_its_name(tmp_path: Path) -> None:
    for name in ("store.db", "store.db-wal", "store.db.bak", "other"):
        (tmp_path / name).touch()
    found = places_of_store(f"sqlite://{tmp_path / 'store.db'}")
    assert [path.name for path in found] == ["store.db", "store.db-wal", "store.db.bak"]
    assert places_of_store("memory:") == []
