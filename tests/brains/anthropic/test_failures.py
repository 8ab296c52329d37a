"""Failures of Anthropic's API: classified, and told without the API's words."""

from __future__ import annotations

import pytest

from duologue.brains.anthropic.failures import as_service_errors, broken_off, refused
from duologue.core.leaves import ErrorClass
from duologue.ports import ServiceError
from tests.needs import needs_package


def failure_of(status: int, name: str) -> ServiceError:
    anthropic = needs_package("anthropic", "pip install 'duologue[anthropic]'")
    httpx = needs_package(_http_library(anthropic), "pip install 'duologue[anthropic]'")
    answer = httpx.Response(status, request=httpx.Request("POST", "http://x"))
    body = {"type": "error", "error": {"type": name, "message": "secret words"}}
    with pytest.raises(ServiceError) as raised, as_service_errors("api.example"):
        raise anthropic.APIStatusError("secret words", response=answer, body=body)
    assert "secret words" not in str(raised.value)
    return raised.value


def _http_library(anthropic: object) -> str:
    """The SDK's HTTP library, which depends on its version."""
    kinds = anthropic.DefaultHttpxClient.__mro__  # type: ignore[attr-defined]
    return next(kind.__module__.partition(".")[0] for kind in kinds if kind.__module__.startswith("httpx"))


@pytest.mark.parametrize(
    ("status", "name", "error"),
    [
        (401, "authentication_error", ErrorClass.AUTH_FAILURE),
        (429, "rate_limit_error", ErrorClass.RATE_LIMIT),
        (529, "overloaded_error", ErrorClass.SERVER_ERROR),
        (200, "overloaded_error", ErrorClass.SERVER_ERROR),
        (200, "rate_limit_error", ErrorClass.RATE_LIMIT),
        (200, "invalid_request_error", ErrorClass.INVALID_ARGS),
        (200, "something new", ErrorClass.SERVER_ERROR),
    ],
)
def test_errors_are_known_by_status_or_by_name(status: int, name: str, error: ErrorClass) -> None:
    found = failure_of(status, name)
    assert found.error is error
    assert "something new" not in str(found)


def test_other_exceptions_pass() -> None:
    needs_package("anthropic", "pip install 'duologue[anthropic]'")
    with pytest.raises(KeyError), as_service_errors("x"):
        raise KeyError("mine")
    with pytest.raises(ServiceError) as raised, as_service_errors("x"):
        raise OSError("no route")
    assert raised.value.error is ErrorClass.NETWORK_TIMEOUT


def test_a_broken_reply_may_be_tried_again_and_a_refusal_may_not() -> None:
    assert broken_off("x").error is ErrorClass.NETWORK_TIMEOUT
    assert refused("x").error is ErrorClass.UNKNOWN
