"""The reasons for which the server closes a socket of another project's protocol: close codes of RFC 6455, and one
sentence for each reason.

Rule: the code tells a client whether to reconnect. A reason contains nothing that a client sent.
"""

from __future__ import annotations

from ..close_codes import CloseCode

NORMAL = 1000
REFUSED = 1008
BROKEN = 1011
RECONNECT = 1012
TRY_LATER = 1013
OVER = CloseCode(NORMAL, "session_ended", "The conversation has ended.")
TOO_FAST = CloseCode(REFUSED, "rate_limit_exceeded", "Too many messages within a second.")
BAD = CloseCode(REFUSED, "too_many_errors", "Too many invalid messages.")
SILENT = CloseCode(REFUSED, "session_idle", "The client sent nothing for a long time: connect again.")
SLOW = CloseCode(REFUSED, "slow_reader", "The client doesn't read what the server sends.")
STOPPING = CloseCode(RECONNECT, "server_stopping", "The server is stopping: connect again.")
NOT_STARTED = CloseCode(BROKEN, "start_failed", "The conversation could not start.")


def not_now(reason: str) -> CloseCode:
    """The close code and this reason, for a client whose conversation can't start now."""
    return CloseCode(TRY_LATER, "rate_limit_exceeded", reason)
