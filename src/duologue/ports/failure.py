"""Failures, classified once, at the edge that saw them (L-12).

Rule: an adapter that knows better raises ServiceError; everything else is told by its type and by the
HTTP status that it carries. Messages of services never travel on: they may hold words or secrets.
"""

from __future__ import annotations

from duologue.core.errors import DuologueError
from duologue.core.leaves import ErrorClass

from .store import StoreFailed


class ServiceError(DuologueError):
    """A service failed in a way that its adapter understood."""

    is_own = False  # is the message ours, and free of anybody's words and secrets?

    def __init__(self, error: ErrorClass, message: str = "") -> None:
        self.error = error
        super().__init__(message or error.value)


class BrokenContract(ServiceError):
    """A service did what its port forbids."""

    is_own = True


class UnknownOutcome(BrokenContract):
    """Something began, and nobody knows whether it happened."""


def classify(failure: BaseException) -> ErrorClass:
    """The class of a failure; UNKNOWN if nothing tells."""
    if isinstance(failure, ServiceError):
        return failure.error if isinstance(failure.error, ErrorClass) else ErrorClass.UNKNOWN
    status = getattr(failure, "status_code", None) or getattr(failure, "status", None)
    if type(status) is int:
        return classify_status(status)
    if isinstance(failure, PermissionError):
        return ErrorClass.AUTH_FAILURE
    if isinstance(failure, TimeoutError | OSError | StoreFailed):
        return ErrorClass.NETWORK_TIMEOUT
    return ErrorClass.UNKNOWN


def classify_status(status: int) -> ErrorClass:
    """The class of an HTTP status."""
    if status in (401, 403):
        return ErrorClass.AUTH_FAILURE
    if status == 429:
        return ErrorClass.RATE_LIMIT
    if status in (408, 504):
        return ErrorClass.NETWORK_TIMEOUT
    if status >= 500:
        return ErrorClass.SERVER_ERROR
    if status in (400, 404, 409, 413, 422):
        return ErrorClass.INVALID_ARGS
    return ErrorClass.UNKNOWN
