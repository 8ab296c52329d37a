"""Failures of a Realtime server, classified and reported in our own words.

Rule: only a plain error code of the server is passed on, because the server's messages may contain keys or the user's
words.
"""

from __future__ import annotations

import re

from duologue.core.leaves import ErrorClass
from duologue.ports.failure import ServiceError, classify_status

ACTIVE = "conversation_already_has_active_response"
EXPIRED = "session_expired"

_CODE_PATTERNS = (
    (re.compile(r"session_expired|session_timeout|session_not_found"), ErrorClass.SESSION_EXPIRED),
    (re.compile(r"rate_limit|quota|too_many"), ErrorClass.RATE_LIMIT),
    (re.compile(r"authentication|unauthorized|api_key|permission|access_denied"), ErrorClass.AUTH_FAILURE),
    (re.compile(r"timeout|timed_out"), ErrorClass.NETWORK_TIMEOUT),
    (re.compile(r"server_error|internal|overloaded|unavailable"), ErrorClass.SERVER_ERROR),
    (re.compile(r"invalid|unknown_parameter|missing|not_found|unsupported|beta_api"), ErrorClass.INVALID_ARGS),
)
_PLAIN_CODE = re.compile(r"[a-z_.]{1,60}")  # no digits, so that an API key never matches
_HINTS = {
    ErrorClass.AUTH_FAILURE: "refused the credentials: check the API key, and that it may use this model",
    ErrorClass.RATE_LIMIT: "refuses more requests for now: wait, or check the quota of the account",
    ErrorClass.NETWORK_TIMEOUT: "can't be reached, timed out or closed the connection",
    ErrorClass.INVALID_ARGS: "did not accept what it was sent: check the model, the voice and the tools' schemas",
    ErrorClass.SESSION_EXPIRED: "ended the session",
    ErrorClass.SERVER_ERROR: "failed",
}


class RealtimeFailed(ServiceError):
    """A failure of a Realtime server. Its message is written by this module, not by the server, so it is safe to
    log."""

    is_own = True


def classify_code(code: str) -> ErrorClass:
    """The error class for an error code; SERVER_ERROR if the code is unknown."""
    return next((error for pattern, error in _CODE_PATTERNS if pattern.search(code)), ErrorClass.SERVER_ERROR)


def failure_of_code(code: str, where: str = "") -> RealtimeFailed:
    """The failure for this error code from the server."""
    return failure_of(classify_code(code), code, where)


def failure_of(error: ErrorClass, detail: str = "", where: str = "") -> RealtimeFailed:
    """A failure of this class. Its message says what to check. `detail` is quoted in the message only if it is a plain
    code or an HTTP status."""
    plain = f" ({detail})" if _PLAIN_CODE.fullmatch(detail) or detail.isdigit() else ""
    return RealtimeFailed(error, f"{where or 'the Realtime server'} {_HINTS.get(error, 'failed')}{plain}")


def not_reached(failure: BaseException, host: str) -> ServiceError:
    """The error for a session that couldn't be opened. The class of the error is found by the HTTP status; if there is
    no status, by the reason with which the connection was closed. If there is no reason either, the error is a network
    error. If `failure` is a ServiceError, it is returned unchanged."""
    if isinstance(failure, ServiceError):
        return failure
    status = getattr(getattr(failure, "response", None), "status_code", None)
    if type(status) is int:
        return failure_of(classify_status(status), str(status), host)
    reason = str(getattr(getattr(failure, "rcvd", None), "reason", "") or "")
    if reason:
        return failure_of(classify_code(reason), reason, host)
    return failure_of(ErrorClass.NETWORK_TIMEOUT, "", host)
