"""What goes wrong with a Realtime server, classified and told in our own words (L-12, C-SEC-003).

Rule: of what the server says only a plain code travels on; its messages may hold words and keys.
"""

from __future__ import annotations

import re

from duologue.core.leaves import ErrorClass
from duologue.ports.failure import ServiceError, classify_status

ACTIVE = "conversation_already_has_active_response"
EXPIRED = "session_expired"

_TOLD = (
    (re.compile(r"session_expired|session_timeout|session_not_found"), ErrorClass.SESSION_EXPIRED),
    (re.compile(r"rate_limit|quota|too_many"), ErrorClass.RATE_LIMIT),
    (re.compile(r"authentication|unauthorized|api_key|permission|access_denied"), ErrorClass.AUTH_FAILURE),
    (re.compile(r"timeout|timed_out"), ErrorClass.NETWORK_TIMEOUT),
    (re.compile(r"server_error|internal|overloaded|unavailable"), ErrorClass.SERVER_ERROR),
    (re.compile(r"invalid|unknown_parameter|missing|not_found|unsupported|beta_api"), ErrorClass.INVALID_ARGS),
)
_PLAIN_CODE = re.compile(r"[a-z_.]{1,60}")  # no digits: keys have some
_HINTS = {
    ErrorClass.AUTH_FAILURE: "refused the credentials: check the API key, and that it may use this model",
    ErrorClass.RATE_LIMIT: "takes no more requests for now: wait, or check the quota of the account",
    ErrorClass.NETWORK_TIMEOUT: "can't be reached, fell silent or broke off",
    ErrorClass.INVALID_ARGS: "did not accept what it was sent: check the model, the voice and the tools' schemas",
    ErrorClass.SESSION_EXPIRED: "ended the session",
    ErrorClass.SERVER_ERROR: "failed",
}


class RealtimeFailed(ServiceError):
    """A failure of a Realtime server, told in our own words."""

    is_own = True


def classify_code(code: str) -> ErrorClass:
    """The class of an error that came as data; the server's own fault, if nothing tells."""
    return next((error for pattern, error in _TOLD if pattern.search(code)), ErrorClass.SERVER_ERROR)


def told(code: str, where: str = "") -> RealtimeFailed:
    """The failure that this code stands for."""
    return failure_of(classify_code(code), code, where)


def failure_of(error: ErrorClass, detail: str = "", where: str = "") -> RealtimeFailed:
    plain = f" ({detail})" if _PLAIN_CODE.fullmatch(detail) or detail.isdigit() else ""
    return RealtimeFailed(error, f"{where or 'the Realtime server'} {_HINTS.get(error, 'failed')}{plain}")


def not_reached(failure: BaseException, host: str) -> ServiceError:
    """A session that could not be had: by its HTTP status, by the reason of its close, or by the network."""
    if isinstance(failure, ServiceError):
        return failure
    status = getattr(getattr(failure, "response", None), "status_code", None)
    if type(status) is int:
        return failure_of(classify_status(status), str(status), host)
    reason = str(getattr(getattr(failure, "rcvd", None), "reason", "") or "")
    if reason:
        return failure_of(classify_code(reason), reason, host)
    return failure_of(ErrorClass.NETWORK_TIMEOUT, "", host)
