"""The result of a torture run, as rows of a table.

Rule: what must be nothing comes first.
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
    ("told_lost", "turns lost that the person was told of"),
    ("ended_early", "conversations that ended early"),
    ("kills", "servers killed (kill -9)"),
    ("stops", "servers frozen (SIGSTOP)"),
    ("drains", "servers told to stop (SIGTERM)"),
    ("cuts", "connections cut"),
    ("stalls", "lines stalled"),
    ("swallows", "lines that swallowed everything"),
    ("db_faults", "faults of the store"),
    ("clock_jumps", "clocks set wrong"),
    ("reconnects", "reconnects"),
    ("recoveries", "conversations taken up by another process"),
)


def rows(result: Mapping[str, Any]) -> Sequence[tuple[str, str, str]]:
    never = [(label, str(result[key]), "0") for key, label in _NEVER]
    counts = [(label, str(result[key]), "") for key, label in _COUNTS]
    quantiles = " / ".join(str(result[f"recovery_ms_{name}"]) for name in ("p50", "p95", "max"))
    return [
        *never,
        *counts,
        ("hello to open floor, ms: p50 / p95 / max", quantiles, "1000"),
        ("the same while the store was hurt, ms: max", str(result["recovery_ms_max_store_hurt"]), ""),
    ]
