"""The metrics about a server's limits and thread pools: how much each limit has refused, and how much work runs or
waits in each pool.

Rule: every label is the name of a limit or of a pool, so the number of time series is bounded.
"""

from __future__ import annotations

from collections.abc import Mapping

from duologue.fairness.counted_pools import all_counts

LIMITS = (
    "address",
    "answer_time",
    "bad_messages",
    "commands",
    "connections",
    "conversations",
    "heads",
    "messages",
    "request_time",
    "requests",
    "silence",
    "slow_requests",
    "sound",
    "starts",
    "typed_chars",
    "typed_turns",
    "unanswered_chars",
    "unanswered_turns",
    "unspoken",
)
_POOLS = (
    ("running", "gauge", "duologue_pool_running", "Work that runs in this pool."),
    ("waiting", "gauge", "duologue_pool_waiting", "Work that waits for a place in this pool."),
    ("done", "counter", "duologue_pool_done_total", "Work that this pool has done."),
    (
        "refused",
        "counter",
        "duologue_pool_refused_total",
        "Work that was refused, because its conversation had too much.",
    ),
)


def limit_metrics(refused: Mapping[str, int], unspoken: int) -> str:
    """The metrics about limits and pools, in Prometheus format."""
    lines = [
        "# HELP duologue_unspoken Conversations in which the user has said nothing yet.",
        "# TYPE duologue_unspoken gauge",
        f"duologue_unspoken {unspoken}",
        "# HELP duologue_refused_total What was refused to clients, by limit.",
        "# TYPE duologue_refused_total counter",
        *(f'duologue_refused_total{{limit="{name}"}} {refused.get(name, 0)}' for name in LIMITS),
    ]
    counts = all_counts()
    for key, kind, name, text in _POOLS:
        lines += [f"# HELP {name} {text}", f"# TYPE {name} {kind}"]
        lines += [f'{name}{{pool="{pool}"}} {getattr(each, key)}' for pool, each in counts.items()]
    return "".join(f"{line}\n" for line in lines)
