"""What a person can do about a fault, in one sentence and without any credential (C-SEC-003, C-AC-006).

Rule: every class of errors has a hint.
"""

from __future__ import annotations

from duologue.core.leaves import ErrorClass, FaultSource

_HINTS: dict[ErrorClass, str] = {
    ErrorClass.RATE_LIMIT: "The {part} is asked too often. Wait a moment, then retry.",
    ErrorClass.NETWORK_TIMEOUT: "The {part} does not answer. Check the connection, then retry.",
    ErrorClass.TOOL_ERROR: "A tool failed in the {part}. Retry, or go on without it.",
    ErrorClass.INVALID_ARGS: "The {part} refused a request as invalid. Check its configuration.",
    ErrorClass.SESSION_EXPIRED: "The session of the {part} has expired. A new one is being made.",
    ErrorClass.AUTH_FAILURE: "The {part} refused the credentials. Check its key or sign in again, then start anew.",
    ErrorClass.SERVER_ERROR: "The {part} has a problem of its own. Retry in a moment.",
    ErrorClass.UNKNOWN: "The {part} failed in an unknown way. Retry; the diagnostics say more.",
}


# What people call each part.
_NAMES = {
    FaultSource.BRAIN: "brain",
    FaultSource.VOICE: "voice",
    FaultSource.EARS: "transcriber",
    FaultSource.SESSION: "session",
    FaultSource.LINK: "line",
}


def hint(part: FaultSource, error: ErrorClass) -> str:
    return _HINTS[error].format(part=_NAMES[part])
