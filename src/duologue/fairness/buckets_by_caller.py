"""One bucket for each caller that has used something lately, such as each IP address.

Rule: at most `callers_max` buckets are remembered. A caller whose bucket isn't remembered has a full bucket. If there
are too many buckets, the full ones are forgotten. If no bucket is full, the fullest ones are forgotten.
"""

from __future__ import annotations

from .bucket import Bucket, Rate, full, is_full, refilled, take


class BucketsByCaller:
    """The buckets of all callers for one rate."""

    def __init__(self, rate: Rate, callers_max: int = 10_000) -> None:
        self.rate = rate
        self._callers_max = callers_max
        self._buckets: dict[str, Bucket] = {}

    def __len__(self) -> int:
        return len(self._buckets)

    def take(self, caller: str, amount: int, now_ms: int) -> int | None:
        """Use this amount, if the caller may use it now. Returns 0 if the amount was used. Otherwise returns how many
        milliseconds the caller has to wait until it may use the amount. Returns None if the caller may never use it,
        because the amount is larger than the burst."""
        bucket = self._buckets.get(caller) or full(self.rate, now_ms)
        self._buckets[caller], wait_ms = take(self.rate, bucket, amount, now_ms)
        if len(self._buckets) > self._callers_max:
            self._forget(now_ms)
        return wait_ms

    def _forget(self, now_ms: int) -> None:
        """Forget full buckets. If none is full, forget the fullest tenth."""
        kept = {caller: one for caller, one in self._buckets.items() if not is_full(self.rate, one, now_ms)}
        if len(kept) > self._callers_max:
            by_fill = sorted(kept, key=lambda caller: refilled(self.rate, kept[caller], now_ms).parts)
            kept = {caller: kept[caller] for caller in by_fill[: self._callers_max * 9 // 10]}
        self._buckets = kept
