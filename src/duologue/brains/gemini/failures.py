"""Failures of a Gemini Live server, classified and reported in our own words.

The protocol has no message for errors. A server that refuses something closes the socket with a code and a reason.
Rule: only the code is passed on, because a reason may contain keys or the user's words.
"""

from __future__ import annotations

import re

from duologue.core.leaves import ErrorClass
from duologue.ports.failure import ServiceError, classify_status

# Patterns for the reason with which a socket was closed, or for the status of an error. The first match decides.
_REASONS = (
    (re.compile(r"api.?key|credential|permission|unauthenticated|unauthorized|leaked|denied"), ErrorClass.AUTH_FAILURE),
    (re.compile(r"quota|resource.?exhausted|rate.?limit|too many"), ErrorClass.RATE_LIMIT),
    (re.compile(r"session.{0,40}(expired|not found|duration|invalid)|handle"), ErrorClass.SESSION_EXPIRED),
    (re.compile(r"deadline|timed? ?out|aborted|cancelled"), ErrorClass.NETWORK_TIMEOUT),
    (re.compile(r"internal|unavailable|overloaded"), ErrorClass.SERVER_ERROR),
    (re.compile(r"invalid|not found|not supported|not implemented|unknown name|unsupported"), ErrorClass.INVALID_ARGS),
)
_CODES = {
    1007: ErrorClass.INVALID_ARGS,  # the server's code for an invalid argument
    1008: ErrorClass.INVALID_ARGS,  # an unknown model, or something that the model can't do
    1011: ErrorClass.SERVER_ERROR,
    1012: ErrorClass.SERVER_ERROR,
    1013: ErrorClass.RATE_LIMIT,
}
_HINTS = {
    ErrorClass.AUTH_FAILURE: "refused the credentials: check the API key, and that it may use this model",
    ErrorClass.RATE_LIMIT: "refuses more requests for now: wait, or check the quota of the account",
    ErrorClass.NETWORK_TIMEOUT: "can't be reached, timed out or closed the connection",
    ErrorClass.INVALID_ARGS: "did not accept what it was sent: check the model, the voice and the tools' schemas",
    ErrorClass.SESSION_EXPIRED: "ended the session",
    ErrorClass.SERVER_ERROR: "failed",
}


class GeminiFailed(ServiceError):
    """A failure of a Gemini Live server. Its message is written by this module, not by the server, so it is safe to
    log."""

    is_own = True


def failure_of(error: ErrorClass, detail: str = "", where: str = "") -> GeminiFailed:
    """A failure of this class. Its message says what to check. `detail` is a code or a status, and must not contain the
    server's own words."""
    plain = f" ({detail})" if detail else ""
    return GeminiFailed(error, f"{where or 'the Gemini server'} {_HINTS.get(error, 'failed')}{plain}")


def classify_closing(code: int, reason: str) -> ErrorClass:
    """The error class for a socket that the server closed. The closing reason decides the class; if the reason is
    unknown, the closing code does."""
    found = next((error for pattern, error in _REASONS if pattern.search(reason.lower())), None)
    return found or _CODES.get(code, ErrorClass.NETWORK_TIMEOUT)


def failure_of_status(code: int, status: str, where: str = "") -> GeminiFailed:
    """The failure for an error with this HTTP code and this status, such as RESOURCE_EXHAUSTED."""
    words = status.replace("_", " ").lower()
    found = next((error for pattern, error in _REASONS if pattern.search(words)), None)
    return failure_of(found or classify_status(code), str(code) if code else "", where)


def lost(failure: BaseException, host: str) -> ServiceError:
    """The error for a session that couldn't be opened, or that broke. The class of the error is found by the HTTP
    status; if there is no status, by the code and the reason with which the socket was closed. If `failure` is a
    ServiceError, it is returned unchanged."""
    if isinstance(failure, ServiceError):
        return failure
    status = getattr(getattr(failure, "response", None), "status_code", None)
    if type(status) is int:
        return failure_of(classify_status(status), str(status), host)
    closing = getattr(failure, "rcvd", None)
    code, reason = getattr(closing, "code", None), str(getattr(closing, "reason", "") or "")
    if type(code) is int:
        return failure_of(classify_closing(code, reason), f"close code {code}", host)
    return failure_of(ErrorClass.NETWORK_TIMEOUT, "", host)
