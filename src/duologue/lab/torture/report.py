"""The result of a torture run, as rows of a table.

Rule: the counts that have a limit come first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

_NEVER = (
    ("turns_lost", "turns lost"),
    ("actions_twice", "actions done twice"),
    ("heard_twice", "replies heard twice"),
    ("two_owners", "two owners"),
    ("stuck", "stuck"),
)
_COUNTS = (
    ("conversations", "conversations"),
    ("turns", "turns"),
    ("broken_off", "answers that broke off, with their rest shown"),
    ("ended_early", "conversations that ended early"),
    ("kills", "servers killed (kill -9)"),
    ("stops", "servers frozen (SIGSTOP)"),
    ("drains", "servers drained (SIGTERM)"),
    ("cuts", "connections cut"),
    ("stalls", "connections stalled"),
    ("swallows", "connections that swallowed all data"),
    ("db_faults", "faults of the store"),
    ("clock_jumps", "clocks set wrong"),
    ("reconnects", "reconnects"),
    ("recoveries", "conversations resumed by another process"),
)


def rows(result: Mapping[str, Any]) -> Sequence[tuple[str, str, str]]:
    """The result as rows of (what, found, allowed). `allowed` may be empty."""
    never = [(label, str(result[key]), "0") for key, label in _NEVER]
    told = ("turns without an answer, with a notification", str(result["told_lost"]), str(result["told_lost_max"]))
    counts = [(label, str(result[key]), "") for key, label in _COUNTS]
    quantiles = " / ".join(str(result[f"recovery_ms_{name}"]) for name in ("p50", "p95", "max"))
    return [
        *never,
        told,
        *counts,
        ("hello to open floor, ms: p50 / p95 / max", quantiles, "1000"),
        ("hello to open floor during faults of the store, ms: max", str(result["recovery_ms_max_store_hurt"]), ""),
    ]
