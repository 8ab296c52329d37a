"""Failures of Anthropic's API, classified and reported in our own words.

Rule: only the HTTP status and the API's own name of the error are passed on, because messages may contain keys and the
user's words.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager

from duologue.core.leaves import ErrorClass
from duologue.ports import ServiceError
from duologue.ports.failure import classify_status


class AnthropicFailed(ServiceError):
    """A failure of Anthropic's API. Its message is written by this module, so it is safe to log."""

    is_own = True


# Errors in the middle of a stream come with the status 200 and one of these names.
_NAMES = {
    "invalid_request_error": ErrorClass.INVALID_ARGS,
    "not_found_error": ErrorClass.INVALID_ARGS,
    "request_too_large": ErrorClass.INVALID_ARGS,
    "authentication_error": ErrorClass.AUTH_FAILURE,
    "permission_error": ErrorClass.AUTH_FAILURE,
    "billing_error": ErrorClass.AUTH_FAILURE,
    "rate_limit_error": ErrorClass.RATE_LIMIT,
    "timeout_error": ErrorClass.NETWORK_TIMEOUT,
    "api_error": ErrorClass.SERVER_ERROR,
    "overloaded_error": ErrorClass.SERVER_ERROR,
}
_HINTS = {
    ErrorClass.AUTH_FAILURE: "refused the credentials: check ANTHROPIC_API_KEY, and that it may use this model",
    ErrorClass.RATE_LIMIT: "refuses more requests for now: wait, or check the limits of the account",
    ErrorClass.NETWORK_TIMEOUT: "can't be reached, timed out or closed the connection",
    ErrorClass.INVALID_ARGS: "did not accept the request: check the model's name, the tools' schemas and max_tokens",
    ErrorClass.SERVER_ERROR: "failed, is overloaded, or sent something that can't be read",
}
_TRANSPORT = ("httpx2", "httpx", "httpcore2", "httpcore", "anyio")


@contextmanager
def as_service_errors(host: str) -> Iterator[None]:
    """A context manager: exceptions from the API that are raised in its block become ServiceError. Other exceptions
    pass unchanged."""
    try:
        yield
    except Exception as failure:
        error, detail = _classify(failure)
        if error is None:
            raise
        raise AnthropicFailed(error, f"{host} {_HINTS.get(error, 'failed')} ({detail})") from None


def broken_off(host: str) -> ServiceError:
    """The error for a stream that ended before the reply was complete."""
    return AnthropicFailed(ErrorClass.NETWORK_TIMEOUT, f"{host} closed the connection in the middle of a reply")


def refused(host: str) -> ServiceError:
    """The error for a reply that the API's safety classifiers stopped before its first word."""
    return AnthropicFailed(ErrorClass.UNKNOWN, f"{host} refused to answer")


def _classify(failure: Exception) -> tuple[ErrorClass | None, str]:
    """The class of this failure, and a detail that is safe to report. For an exception that didn't come from the API:
    None and an empty text."""
    import anthropic

    match failure:
        case anthropic.APIStatusError():
            name = _name(failure.body)
            if failure.status_code >= 400:
                return classify_status(failure.status_code), f"{failure.status_code} {name}".strip()
            return _NAMES.get(name, ErrorClass.SERVER_ERROR), name or "unknown error"
        case anthropic.APIConnectionError() | OSError():
            return ErrorClass.NETWORK_TIMEOUT, type(failure).__name__
        case anthropic.AnthropicError() | json.JSONDecodeError() | UnicodeDecodeError():
            return ErrorClass.SERVER_ERROR, type(failure).__name__
        case _ if type(failure).__module__.partition(".")[0] in _TRANSPORT:
            return ErrorClass.NETWORK_TIMEOUT, type(failure).__name__
    return None, ""


def _name(body: object) -> str:
    """The API's name for the error in this response body. Empty if the name is missing or isn't in _NAMES."""
    error = body.get("error") if isinstance(body, dict) else None
    name = error.get("type") if isinstance(error, dict) else None
    return name if isinstance(name, str) and name in _NAMES else ""
