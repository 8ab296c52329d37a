"""`duologue nodes`, `duologue conversations`, `duologue forget`: what a store holds, and who holds it.

Rule: ids are shown as the log shows them, hashed, unless they are asked for.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable
from typing import Annotated, Any, TypeVar

import typer
from rich.console import Console
from rich.table import Table

from duologue.core.errors import DuologueError
from duologue.observe.diagnostics import correlation_id
from duologue.ports.store import Store

T = TypeVar("T")
Url = Annotated[str, typer.Option("--store", help="sqlite:, a path or postgresql://…", envvar="DUOLOGUE_STORE")]
Json = Annotated[bool, typer.Option("--json", help="Write one JSON object instead of a table.")]


def nodes_command(store: Url = "sqlite:", as_json: Json = False) -> None:
    """The servers that share a store, and how many conversations each has."""
    found = _ask(store, lambda opened: opened.nodes())
    if as_json:
        _write({"nodes": [_node(node) for node in found]})
        return
    table = Table("node", "address", "conversations", "heard of", box=None, pad_edge=False, header_style="dim")
    for node in found:
        table.add_row(node.name, node.address, str(node.conversations), f"{node.alive_ms / 1000:.1f} s ago")
    Console().print(table if found else "no server is alive in this store")


def conversations_command(
    store: Url = "sqlite:",
    limit: Annotated[int, typer.Option(min=1, help="At most so many, the newest first.")] = 50,
    ids: Annotated[bool, typer.Option("--ids", help="Show whole ids, as `duologue forget` wants them.")] = False,
    as_json: Json = False,
) -> None:
    """Which conversations there are, and who holds them."""
    found = _ask(store, lambda opened: opened.holdings(limit))
    if as_json:
        _write({"conversations": [_holding(holding, ids) for holding in found]})
        return
    columns = ("conversation", "node", "epoch", "revision", "lease", "written")
    table = Table(*columns, box=None, pad_edge=False, header_style="dim")
    for one in found:
        name = one.conversation if ids else correlation_id(one.conversation)
        lease = "over" if one.is_over else f"{one.expires_ms / 1000:.1f} s" if one.expires_ms > 0 else "free"
        written = f"{one.age_ms / 1000:.0f} s ago"
        table.add_row(name, one.node or "nobody", str(one.epoch), str(one.revision), lease, written)
    Console().print(table if found else "this store holds no conversation")


def forget_command(
    conversation: Annotated[str, typer.Argument(help="Its id, or the hashed one of the log.")], store: Url = "sqlite:"
) -> None:
    """Delete every trace of a conversation from a store."""

    async def forget(opened: Store) -> bool:
        held = await opened.holdings(1_000_000)
        known = [
            one.conversation for one in held if conversation in (one.conversation, correlation_id(one.conversation))
        ]
        return any([await opened.forget(one) for one in known or [conversation]])

    if not _ask(store, forget):
        raise DuologueError("this store holds no such conversation; `duologue conversations` lists them")
    Console().print("forgotten")


def _ask(url: str, question: Callable[[Store], Awaitable[T]]) -> T:
    from duologue.store.store_url import open_store

    async def ask() -> T:
        opened = open_store(url)
        await opened.open()
        try:
            return await question(opened)
        finally:
            await opened.close()

    return asyncio.run(ask())


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


def _write(data: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(data, indent=2) + "\n")
