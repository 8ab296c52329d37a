"""Failures are classified by what the adapter knows, by the HTTP status, or by the type of the exception."""

from __future__ import annotations

import pytest

from duologue.core.leaves import ErrorClass
from duologue.ports.failure import BrokenContract, ServiceError, UnknownOutcome, classify, classify_status
from duologue.ports.store import StoreFailed


class HttpFailure(Exception):
    """A failure as HTTP clients raise it."""

    def __init__(self, **status: object) -> None:
        super().__init__()
        for name, value in status.items():
            setattr(self, name, value)


@pytest.mark.req("L-12")
@pytest.mark.parametrize(
    ("status", "error"),
    [
        (400, ErrorClass.INVALID_ARGS),
        (401, ErrorClass.AUTH_FAILURE),
        (403, ErrorClass.AUTH_FAILURE),
        (404, ErrorClass.INVALID_ARGS),
        (408, ErrorClass.NETWORK_TIMEOUT),
        (418, ErrorClass.UNKNOWN),
        (422, ErrorClass.INVALID_ARGS),
        (429, ErrorClass.RATE_LIMIT),
        (500, ErrorClass.SERVER_ERROR),
        (503, ErrorClass.SERVER_ERROR),
        (504, ErrorClass.NETWORK_TIMEOUT),
    ],
)
def test_an_http_status_has_its_class(status: int, error: ErrorClass) -> None:
    assert classify_status(status) is error
    assert classify(HttpFailure(status_code=status)) is error
    assert classify(HttpFailure(status=status)) is error


@pytest.mark.req("L-12")
@pytest.mark.parametrize(
    ("failure", "error"),
    [
        (ServiceError(ErrorClass.RATE_LIMIT), ErrorClass.RATE_LIMIT),
        (BrokenContract(ErrorClass.TOOL_ERROR, "no text"), ErrorClass.TOOL_ERROR),
        (TimeoutError(), ErrorClass.NETWORK_TIMEOUT),
        (ConnectionResetError(), ErrorClass.NETWORK_TIMEOUT),
        (PermissionError(), ErrorClass.AUTH_FAILURE),
        (StoreFailed("down"), ErrorClass.NETWORK_TIMEOUT),
        (ValueError("what is this"), ErrorClass.UNKNOWN),
        (HttpFailure(status_code="429"), ErrorClass.UNKNOWN),
    ],
)
def test_an_exception_without_a_status_is_classified_by_its_type(failure: Exception, error: ErrorClass) -> None:
    assert classify(failure) is error


def test_a_service_error_takes_an_error_class_and_says_so() -> None:
    with pytest.raises(TypeError, match=r"takes an ErrorClass such as ErrorClass\.RATE_LIMIT, not 'RATE_LIMIT'"):
        ServiceError("RATE_LIMIT", "a plain text")  # type: ignore[arg-type]


def test_only_messages_that_duologue_wrote_may_be_shown() -> None:
    assert not ServiceError(ErrorClass.UNKNOWN, "what a service said").is_own
    assert UnknownOutcome(ErrorClass.UNKNOWN, "begun before a restart").is_own


def test_a_service_error_without_a_message_shows_its_class() -> None:
    assert str(ServiceError(ErrorClass.SERVER_ERROR)) == "SERVER_ERROR"
