"""Failures of services, and their error classes. Each failure is classified by the adapter that first sees it.

An adapter that knows the error class raises ServiceError. Every other exception is classified by its HTTP status or its
type. Rule: error messages from services are never passed on, because they may contain words or secrets.
"""

from __future__ import annotations

from duologue.core.errors import DuologueError
from duologue.core.leaves import ErrorClass

from .store import StoreFailed


class ServiceError(DuologueError):
    """A service failed, and its adapter (the code that connects to the service) knows the error class."""

    is_own = False  # was the message written by Duologue, so that it contains no words and no secrets?

    def __init__(self, error: ErrorClass, message: str = "") -> None:
        if not isinstance(error, ErrorClass):
            raise TypeError(f"ServiceError takes an ErrorClass such as ErrorClass.RATE_LIMIT, not {error!r}")
        self.error = error
        super().__init__(message or error.value)


class BrokenContract(ServiceError):
    """A service did something that its port forbids."""

    is_own = True


class UnknownOutcome(BrokenContract):
    """An action began, but it is unknown whether it succeeded."""


def classify(failure: BaseException) -> ErrorClass:
    """The error class of an exception, found by its type or its HTTP status; UNKNOWN if neither identifies the
    class."""
    if isinstance(failure, ServiceError):
        return failure.error
    status = getattr(failure, "status_code", None) or getattr(failure, "status", None)
    if type(status) is int:
        return classify_status(status)
    if isinstance(failure, PermissionError):
        return ErrorClass.AUTH_FAILURE
    if isinstance(failure, TimeoutError | OSError | StoreFailed):
        return ErrorClass.NETWORK_TIMEOUT
    return ErrorClass.UNKNOWN


def classify_status(status: int) -> ErrorClass:
    """The error class of an HTTP status."""
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
