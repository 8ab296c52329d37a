"""`duologue nodes`, `duologue conversations` and `duologue forget`: the content of a store.

Rule: conversation ids are shown hashed, as in the log, unless `--ids` is given.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer
from rich.console import Console
from rich.table import Table

from duologue.core.errors import DuologueError
from duologue.observe.conversation_files import delete, files_of, names_of, search
from duologue.observe.diagnostics import correlation_id
from duologue.ports.store import Store

from .json_output import JsonOption, write_json

T = TypeVar("T")
Url = Annotated[
    str,
    typer.Option("--store", help="The store: sqlite:, a path or postgresql://…", envvar="DUOLOGUE_STORE"),
]


def nodes_command(store: Url = "sqlite:", as_json: JsonOption = False) -> None:
    """List the servers that share a store, and how many conversations each one owns."""
    found = _query(store, lambda opened: opened.nodes())
    if as_json:
        write_json({"nodes": [_node(node) for node in found]})
        return
    table = Table("node", "address", "conversations", "last seen", box=None, pad_edge=False, header_style="dim")
    for node in found:
        table.add_row(node.name, node.address, str(node.conversations), f"{node.alive_ms / 1000:.1f} s ago")
    Console().print(table if found else "no server uses this store now")


def conversations_command(
    store: Url = "sqlite:",
    limit: Annotated[int, typer.Option(min=1, help="List at most this many conversations, newest first.")] = 50,
    ids: Annotated[bool, typer.Option("--ids", help="Show the full ids instead of hashed ones.")] = False,
    as_json: JsonOption = False,
) -> None:
    """List the conversations in a store and the server that owns each."""
    found = _query(store, lambda opened: opened.holdings(limit))
    if as_json:
        write_json({"conversations": [_holding(holding, ids) for holding in found]})
        return
    columns = ("conversation", "node", "epoch", "revision", "lease", "written")
    table = Table(*columns, box=None, pad_edge=False, header_style="dim")
    for one in found:
        name = one.conversation if ids else correlation_id(one.conversation)
        lease = "over" if one.is_over else f"{one.expires_ms / 1000:.1f} s" if one.expires_ms > 0 else "free"
        written = f"{one.age_ms / 1000:.0f} s ago"
        table.add_row(name, one.node or "none", str(one.epoch), str(one.revision), lease, written)
    Console().print(table if found else "no conversation in this store")


def forget_command(
    conversation: Annotated[str, typer.Argument(help="The conversation's id, or the hashed id from the log.")],
    store: Url = "sqlite:",
    journals: Annotated[
        list[Path] | None,
        typer.Option(help="Also delete its journals, words and recordings in this folder; repeatable."),
    ] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Then search the store and these folders for what was said.")
    ] = False,
) -> None:
    """Delete all data of a conversation from a store, and delete the conversation's files in folders of journals."""
    from .forgotten_traces import traces_in_files, traces_of

    folders = journals or []
    for folder in folders:
        if not folder.is_dir():
            raise DuologueError(f"{folder} isn't a folder; name the folder of `duologue serve --journals`")

    async def forget(opened: Store) -> tuple[bool, set[bytes]]:
        """Delete the conversation. Returns whether the store had it, and its texts, so that the caller can check that
        none of them is left."""
        held = await opened.holdings(1_000_000)
        known = [
            one.conversation for one in held if conversation in (one.conversation, correlation_id(one.conversation))
        ]
        traces = {name.encode() for one in (conversation, *known) for name in names_of(one)}
        for one in known if check else ():
            traces |= await traces_of(opened, one)
        found = any([await opened.forget(one) for one in known or [conversation]])
        return found, traces

    found, traces = _query(store, forget)
    names = [trace.decode() for trace in traces if re.fullmatch(rb"[0-9a-f]{12,32}", trace)]
    files = sorted({file for folder in folders for name in names for file in files_of(folder, name)})
    if check:
        traces |= traces_in_files(files)
    count = delete(files)
    if not found and not count and not check:
        raise DuologueError("no such conversation in this store; `duologue conversations` lists them")
    Console().print(f"deleted{f', with {count} files' if count else ''}" if found or count else "nothing to delete")
    if check:
        _check_forgotten(store, folders, traces)


def _check_forgotten(store: str, folders: list[Path], traces: set[bytes]) -> None:
    """Search the store and the folders for these byte strings. Raises DuologueError if one is found, unless another
    conversation contains it too."""
    from .forgotten_traces import places_of_store, tables_with, traces_of_others

    def places_with(sought: set[bytes]) -> list[str]:
        left = [str(path) for path in search([*places_of_store(store), *folders], sought)]
        return left + list(_query(store, lambda opened: tables_with(opened, sought)))

    left = places_with(traces)
    if left:  # perhaps only sentences that the agent says in every conversation
        traces = traces - _query(store, lambda opened: traces_of_others(opened, folders))
        left = places_with(traces)
    if left:
        raise DuologueError("data of the conversation is still in " + ", ".join(left))
    Console().print(f"checked: none of {len(traces)} traces is in the store or in these folders")


def _query(url: str, query: Callable[[Store], Awaitable[T]]) -> T:
    """Open the store, run the query in it, close the store, and return the result of the query."""
    from duologue.store.store_url import open_store

    async def run() -> T:
        opened = open_store(url)
        await opened.open()
        try:
            return await query(opened)
        finally:
            await opened.close()

    return asyncio.run(run())


def _node(node: Any) -> dict[str, Any]:
    return {
        "name": node.name,
        "address": node.address,
        "conversations": node.conversations,
        "alive_ms": node.alive_ms,
    }


def _holding(one: Any, ids: bool) -> dict[str, Any]:
    return {
        "conversation": one.conversation if ids else correlation_id(one.conversation),
        "node": one.node,
        "epoch": one.epoch,
        "revision": one.revision,
        "expires_ms": one.expires_ms,
        "age_ms": one.age_ms,
        "is_over": one.is_over,
    }
