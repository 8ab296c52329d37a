"""What the user can do about a fault, in one or two sentences without credentials.

Rule: every error class has a hint.
"""

from __future__ import annotations

from duologue.core.leaves import ErrorClass, FaultSource

_HINTS: dict[ErrorClass, str] = {
    ErrorClass.RATE_LIMIT: "The {part} receives too many requests. Wait a moment, then retry.",
    ErrorClass.NETWORK_TIMEOUT: "The {part} does not answer. Check the connection, then retry.",
    ErrorClass.TOOL_ERROR: "A tool failed in the {part}. Retry, or continue without it.",
    ErrorClass.INVALID_ARGS: "The {part} refused a request as invalid. Check its configuration.",
    ErrorClass.SESSION_EXPIRED: "The session of the {part} has expired. A new one is being opened.",
    ErrorClass.AUTH_FAILURE: "The {part} refused the credentials. Check its key or sign in again, then start again.",
    ErrorClass.SERVER_ERROR: "The {part} has an internal error. Retry in a moment.",
    ErrorClass.UNKNOWN: "The {part} failed for an unknown reason. Retry, or look at the diagnostics.",
}


# The name of each part for users.
_NAMES = {
    FaultSource.BRAIN: "brain",
    FaultSource.VOICE: "voice",
    FaultSource.EARS: "transcriber",
    FaultSource.SESSION: "session",
    FaultSource.LINK: "line",
}


def hint(part: FaultSource, error: ErrorClass) -> str:
    """The hint for a fault of this part and class."""
    return _HINTS[error].format(part=_NAMES[part])
