"""Says why the person waits. The answer is the code of a phrase, such as "trouble", "tool_running" or "still_working".

Rule: the phrase is true in every state for which its code is returned.
"""

from __future__ import annotations

from duologue.core.leaves import AWAY, PENDING, ErrorClass, Link
from duologue.core.state import State, has_foreground


def wait_reason(s: State, error: ErrorClass = ErrorClass.NETWORK_TIMEOUT, is_first: bool = True) -> str:
    """The code of the phrase that tells the person why they wait. If the last attempt to answer failed, `error` is the
    class of that failure. `is_first` is true if the person hasn't been told anything yet during this wait."""
    if s.link in (*AWAY, Link.RENEWING):
        return "reconnecting"
    if s.link is Link.PREPARING:
        return "connecting"
    if s.link is Link.FAULTED:
        return "rate_limited" if s.fault is not None and s.fault.error is ErrorClass.RATE_LIMIT else "trouble"
    if has_foreground(s):
        return "tool_running"
    if s.reply in PENDING and s.retries:
        return "rate_limited" if error is ErrorClass.RATE_LIMIT else "trouble"
    return "working" if is_first else "still_working"
