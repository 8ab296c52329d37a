"""Failures of a Realtime server: each has its class."""

from __future__ import annotations

import pytest

from duologue.brains.realtime.failures import classify_code
from duologue.core.leaves import ErrorClass


@pytest.mark.req("L-12")
@pytest.mark.parametrize(
    ("code", "error"),
    [
        ("rate_limit_exceeded", ErrorClass.RATE_LIMIT),
        ("insufficient_quota", ErrorClass.RATE_LIMIT),
        ("session_expired", ErrorClass.SESSION_EXPIRED),
        ("invalid_api_key", ErrorClass.AUTH_FAILURE),
        ("unknown_parameter", ErrorClass.INVALID_ARGS),
        ("invalid_request_error", ErrorClass.INVALID_ARGS),
        ("server_error", ErrorClass.SERVER_ERROR),
        ("request_timeout", ErrorClass.NETWORK_TIMEOUT),
        ("beta_api_shape_disabled", ErrorClass.INVALID_ARGS),
        ("something_else", ErrorClass.SERVER_ERROR),
        ("", ErrorClass.SERVER_ERROR),
    ],
)
def test_errors_are_classified_by_their_code(code: str, error: ErrorClass) -> None:
    assert classify_code(code) is error
