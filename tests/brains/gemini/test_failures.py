"""Close codes, statuses and reasons become error classes, in our own words."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from duologue.brains.gemini.failures import classify_closing, failure_of_status, lost
from duologue.core.leaves import ErrorClass
from duologue.ports.failure import ServiceError


@pytest.mark.parametrize(
    ("code", "reason", "error"),
    [
        (1007, "API key not valid. Please pass a valid API key.", ErrorClass.AUTH_FAILURE),
        (1008, "Your API key was reported as leaked.", ErrorClass.AUTH_FAILURE),
        (1007, "Request contains an invalid argument.", ErrorClass.INVALID_ARGS),
        (1008, "models/gemini-x is not found for API version v1beta", ErrorClass.INVALID_ARGS),
        (1008, "Operation is not implemented, or supported, or enabled.", ErrorClass.INVALID_ARGS),
        (1008, "BidiGenerateContent session not found", ErrorClass.SESSION_EXPIRED),
        (1011, "RESOURCE_EXHAUSTED", ErrorClass.RATE_LIMIT),
        (1011, "Deadline expired before operation could complete.", ErrorClass.NETWORK_TIMEOUT),
        (1011, "The service is currently unavailable.", ErrorClass.SERVER_ERROR),
        (1011, "", ErrorClass.SERVER_ERROR),
        (1001, "", ErrorClass.NETWORK_TIMEOUT),
    ],
)
def test_a_closed_socket_has_a_class(code: int, reason: str, error: ErrorClass) -> None:
    assert classify_closing(code, reason) is error


def test_a_status_has_a_class() -> None:
    assert failure_of_status(429, "RESOURCE_EXHAUSTED").error is ErrorClass.RATE_LIMIT
    assert failure_of_status(403, "PERMISSION_DENIED").error is ErrorClass.AUTH_FAILURE
    assert failure_of_status(500, "").error is ErrorClass.SERVER_ERROR


def test_the_servers_words_are_not_passed_on() -> None:
    broken = RuntimeError("key AIza123")
    broken.rcvd = SimpleNamespace(code=1011, reason="key AIza123 failed")  # type: ignore[attr-defined]
    failure = lost(broken, "host")
    assert str(failure).startswith("host ")
    assert "AIza123" not in str(failure)
    own = ServiceError(ErrorClass.RATE_LIMIT)
    assert lost(own, "host") is own
    assert lost(OSError("refused"), "host").error is ErrorClass.NETWORK_TIMEOUT
