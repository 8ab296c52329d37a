"""Shares resources fairly between callers: buckets that limit a rate, and pools of threads with a fair queue."""
