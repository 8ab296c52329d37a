"""One bucket (a rate limit) for each caller that has used something lately. A caller is, for example, an IP address.

Rule: at most `callers_max` buckets are remembered. A caller whose bucket isn't remembered has a full bucket. If there
are too many buckets, the full ones are forgotten. If no bucket is full, the fullest ones are forgotten.

Several processes can limit the same callers together: each process calls `use` for what the others have granted. A
process that starts later gets the `levels` of another process and calls `lower` with them.
"""

from __future__ import annotations

from .bucket import Bucket, Rate, full, is_full, refilled, take, use


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
        bucket, wait_ms = take(self.rate, self._bucket_of(caller, now_ms), amount, now_ms)
        self._put(caller, bucket, now_ms)
        return wait_ms

    # -- Other processes

    def use(self, caller: str, amount: int, now_ms: int) -> None:
        """Note that another process has granted this amount to the caller."""
        self._put(caller, use(self.rate, self._bucket_of(caller, now_ms), amount, now_ms), now_ms)

    def lower(self, caller: str, parts: int, now_ms: int) -> None:
        """If more than `parts` parts are left for this caller, lower its bucket to `parts`, because another process has
        counted that no more are left."""
        now = refilled(self.rate, self._bucket_of(caller, now_ms), now_ms)
        lowest = -self.rate.burst * self.rate.per_ms
        self._put(caller, now._replace(parts=max(lowest, min(now.parts, parts))), now_ms)

    def levels(self, now_ms: int) -> dict[str, int]:
        """How many parts each caller has left. Callers whose bucket is full aren't listed."""
        now = {caller: refilled(self.rate, one, now_ms) for caller, one in self._buckets.items()}
        return {caller: one.parts for caller, one in now.items() if not is_full(self.rate, one, now_ms)}

    # -- The table

    def _bucket_of(self, caller: str, now_ms: int) -> Bucket:
        return self._buckets.get(caller) or full(self.rate, now_ms)

    def _put(self, caller: str, bucket: Bucket, now_ms: int) -> None:
        self._buckets[caller] = bucket
        if len(self._buckets) > self._callers_max:
            self._forget(now_ms)

    def _forget(self, now_ms: int) -> None:
        """Forget the full buckets. If no bucket is full, forget the fullest tenth of them."""
        kept = {caller: one for caller, one in self._buckets.items() if not is_full(self.rate, one, now_ms)}
        if len(kept) > self._callers_max:
            by_fill = sorted(kept, key=lambda caller: refilled(self.rate, kept[caller], now_ms).parts)
            kept = {caller: kept[caller] for caller in by_fill[: self._callers_max * 9 // 10]}
        self._buckets = kept
