"""What `duologue forget --check` searches for: texts of a conversation, collected before the conversation is deleted.
Rule: these texts are so long that other data won't contain them by chance."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from duologue.observe.conversation_files import old_files
from duologue.ports.store import Damaged, Store
from duologue.store.store_url import open_store

CHARS_MIN = 16
TRACES_MAX = 500


async def traces_of(store: Store, conversation: str, count_max: int | None = TRACES_MAX) -> set[bytes]:
    """The longest texts of this conversation in the store, encoded as the bytes to search for. Empty if the store has
    no such texts. `count_max` is the number of texts; None means all."""
    try:
        stored = await store.read(conversation)
    except Damaged:
        return set()
    return _encoded(_texts(stored.parts.get("words")), count_max) if stored is not None else set()


async def traces_of_others(store: Store, folders: Iterable[Path]) -> set[bytes]:
    """All texts of the conversations that are still in the store, or have words files in these folders. The agent says
    some sentences, such as its greeting, in every conversation, so these sentences alone don't show that a conversation
    left a trace."""
    found: set[bytes] = set()
    for one in await store.holdings(1_000_000):
        found |= await traces_of(store, one.conversation, None)
    return found | traces_in_files([file for folder in folders for file in old_files(folder, 0.0, time.time())], None)


def traces_in_files(files: Iterable[Path], count_max: int | None = TRACES_MAX) -> set[bytes]:
    """The longest texts in these words files, encoded as the bytes to search for. `count_max` is the number of texts in
    each line; None means all."""
    found: set[bytes] = set()
    for file in files:
        for line in file.read_text(encoding="utf-8", errors="replace").splitlines() if file.suffix == ".jsonl" else ():
            try:
                said = json.loads(line)
            except ValueError:
                continue
            if isinstance(said, dict) and "text" in said:
                found |= _encoded(_texts([said["text"], said.get("unheard", "")]), count_max)
    return found


def places_of_store(url: str) -> list[Path]:
    """The files of a store on this machine: the database, and the log, index and copies next to it. Empty if the store
    has no files here."""
    path = getattr(open_store(url), "path", None)
    return sorted(path.parent.glob(f"{path.name}*")) if isinstance(path, Path) else []


async def tables_with(store: Store, traces: Iterable[bytes]) -> list[str]:
    """The tables of a database server that contain at least one of these byte strings. Empty if the store is a file,
    which is searched as a whole instead."""
    find = getattr(store, "tables_with", None)
    texts = [trace.decode() for trace in traces]
    return [f"the table {table}" for table in await find(texts)] if find is not None else []


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from _texts(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _texts(inner)


def _encoded(texts: Iterable[str], count_max: int | None) -> set[bytes]:
    """The longest of these texts as bytes, each in the two forms in which a JSON file may contain it: with and without
    escapes."""
    long = sorted({text for text in texts if len(text) >= CHARS_MIN}, key=len, reverse=True)[:count_max]
    return {json.dumps(text, ensure_ascii=escapes)[1:-1].encode() for text in long for escapes in (True, False)}
