"""Fair shares of what callers have in common: buckets that limit a rate, and pools of threads with a fair queue."""
