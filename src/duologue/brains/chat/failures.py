"""Failures of a chat service, classified and reported in our own words.

Rule: only the HTTP status and a plain error code are passed on. Messages from the service or the SDK may contain keys
and the user's words, so they appear neither in the error message nor in the traceback.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager

from duologue.core.leaves import ErrorClass
from duologue.ports import ServiceError
from duologue.ports.failure import classify_status


class ChatFailed(ServiceError):
    """A failure of a chat service. Its message is written by this module, not by the service, so it is safe to log."""

    is_own = True


_HINTS = {
    ErrorClass.AUTH_FAILURE: "refused the credentials: check the API key of {host}, and that it may use this model",
    ErrorClass.RATE_LIMIT: "refuses more requests for now: wait, or check the quota of the account",
    ErrorClass.NETWORK_TIMEOUT: "can't be reached, timed out or closed the connection",
    ErrorClass.INVALID_ARGS: "did not accept the request: check the model's name, the base URL, the tools' "
    "schemas and the length of the history",
    ErrorClass.SERVER_ERROR: "failed, or sent something that can't be read",
}
# Errors in the middle of a stream have no status, only a code or a type.
_CODE_PATTERNS = (
    (re.compile(r"rate_limit|quota|too_many"), ErrorClass.RATE_LIMIT),
    (re.compile(r"authentication|unauthorized|api_key|permission"), ErrorClass.AUTH_FAILURE),
    (re.compile(r"invalid_request|context_length|bad_request|not_found"), ErrorClass.INVALID_ARGS),
    (re.compile(r"timeout|timed_out"), ErrorClass.NETWORK_TIMEOUT),
)
_PLAIN_CODE = re.compile(r"[a-z_]{1,40}")  # no digits, so that an API key never matches
_TRANSPORT = ("httpx2", "httpx", "httpcore2", "httpcore", "anyio")  # packages that versions of the SDK are built on


@contextmanager
def as_service_errors(host: str) -> Iterator[None]:
    """A context manager: exceptions from the service at this host that are raised in its block become ServiceError.
    Other exceptions pass unchanged."""
    try:
        yield
    except Exception as failure:
        error = _classify(failure)
        if error is None:
            raise
        raise ChatFailed(error, _describe(failure, error, host)) from None


def broken_off(host: str) -> ServiceError:
    """The error for a stream that ended before the reply was complete."""
    return ChatFailed(ErrorClass.NETWORK_TIMEOUT, f"{host} closed the connection in the middle of a reply")


def too_long(host: str) -> ServiceError:
    """The error for a history that the model rejects as too long. Its class allows a retry, because the next request
    sends less history."""
    return ChatFailed(ErrorClass.SERVER_ERROR, f"the conversation is too long for {host}: the next request sends less")


def no_key(host: str) -> ServiceError:
    """The error for a missing API key."""
    return ChatFailed(
        ErrorClass.AUTH_FAILURE, f"no API key for {host}: pass api_key=..., or set OPENAI_API_KEY for OpenAI"
    )


def _classify(failure: Exception) -> ErrorClass | None:
    """The error class for this exception; None if the exception didn't come from the service."""
    import openai

    match failure:
        case openai.APIStatusError():
            return classify_status(failure.status_code)
        case openai.APIConnectionError() | OSError():
            return ErrorClass.NETWORK_TIMEOUT
        case openai.APIError():
            return _classify_code(failure)
        case openai.OpenAIError():
            return ErrorClass.UNKNOWN
        case json.JSONDecodeError() | UnicodeDecodeError():
            return ErrorClass.SERVER_ERROR
        case _ if type(failure).__module__.partition(".")[0] in _TRANSPORT:
            return ErrorClass.NETWORK_TIMEOUT
    return None


def _classify_code(failure: object) -> ErrorClass:
    """The error class for an error that arrived in the stream, by the error's code or type; SERVER_ERROR if both are
    unknown."""
    codes = [str(getattr(failure, name, None) or "") for name in ("code", "type")]
    if re.fullmatch(r"[45]\d\d", codes[0]):
        return classify_status(int(codes[0]))
    for pattern, error in _CODE_PATTERNS:
        if any(pattern.search(text) for text in codes):
            return error
    return ErrorClass.SERVER_ERROR


def _describe(failure: Exception, error: ErrorClass, host: str) -> str:
    status = getattr(failure, "status_code", None)
    code = getattr(failure, "code", None)
    details = [str(status)] if type(status) is int else []
    if isinstance(code, str) and _PLAIN_CODE.fullmatch(code):
        details.append(code)
    detail = f" ({', '.join(details or [type(failure).__name__])})"
    return f"{host} {_HINTS.get(error, 'failed').format(host=host)}{detail}"
