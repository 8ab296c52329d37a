"""Failures of a plugin, sorted into error classes and described in Duologue's own words.

A plugin raises one of LiveKit's exceptions, and the status code is often hidden in the cause of that exception. Rule:
only a status code, the name of an environment variable and the type of an exception are passed on, because messages may
contain spoken words or keys.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from duologue.core.leaves import ErrorClass
from duologue.ports.failure import ServiceError, classify_status


class PluginFailed(ServiceError):
    """A plugin or its service failed. The message contains no text from the service."""

    is_own = True


_HINTS = {
    ErrorClass.AUTH_FAILURE: "rejected the credentials: check the plugin's API key",
    ErrorClass.RATE_LIMIT: "accepts no more requests for now: wait, or check the account's quota",
    ErrorClass.NETWORK_TIMEOUT: "can't be reached, timed out or closed the connection",
    ErrorClass.INVALID_ARGS: "rejected the request: check the plugin's model, voice, language and base URL",
    ErrorClass.SERVER_ERROR: "failed, or sent something that can't be read",
}
# Some services tell an error only in words. The words decide the class and are dropped.
_PATTERNS = (
    (re.compile(r"rate.?limit|quota|too many|concurren", re.I), ErrorClass.RATE_LIMIT),
    (re.compile(r"api.?key|unauthor|authentic|credential|permission|forbidden", re.I), ErrorClass.AUTH_FAILURE),
    (
        re.compile(r"voice|model|not.?found|invalid|unsupported|does not exist|bad request", re.I),
        ErrorClass.INVALID_ARGS,
    ),
)
_GRPC = {
    "UNAUTHENTICATED": ErrorClass.AUTH_FAILURE,
    "PERMISSION_DENIED": ErrorClass.AUTH_FAILURE,
    "RESOURCE_EXHAUSTED": ErrorClass.RATE_LIMIT,
    "INVALID_ARGUMENT": ErrorClass.INVALID_ARGS,
    "NOT_FOUND": ErrorClass.INVALID_ARGS,
    "FAILED_PRECONDITION": ErrorClass.INVALID_ARGS,
    "OUT_OF_RANGE": ErrorClass.INVALID_ARGS,
    "UNAVAILABLE": ErrorClass.NETWORK_TIMEOUT,
    "DEADLINE_EXCEEDED": ErrorClass.NETWORK_TIMEOUT,
    "INTERNAL": ErrorClass.SERVER_ERROR,
    "UNIMPLEMENTED": ErrorClass.SERVER_ERROR,
    "DATA_LOSS": ErrorClass.SERVER_ERROR,
    "UNKNOWN": ErrorClass.SERVER_ERROR,
}
_VARIABLE = re.compile(r"\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*_(?:KEY|TOKEN|SECRET)\b")
_POLICY_CODE = 1008  # the code with which a WebSocket is closed because of its request
_CAUSES_MAX = 10


@contextmanager
def plugin_failures(name: str) -> Iterator[None]:
    """Within this block, raise PluginFailed instead of any other exception from the plugin. A ServiceError passes
    unchanged. `name` is the plugin's name in the error message."""
    try:
        yield
    except ServiceError:
        raise
    except Exception as failure:  # noqa: BLE001 - a plugin may raise anything
        raise described(name, failure) from None


def described(name: str, failure: BaseException) -> PluginFailed:
    """The PluginFailed to raise for this failure."""
    error, detail = _classify(failure)
    if error is ErrorClass.AUTH_FAILURE and (variable := _VARIABLE.search(str(failure))):
        return PluginFailed(error, f"{name} has no API key: pass api_key to the plugin, or set {variable.group()}")
    return PluginFailed(error, f"{name} {_HINTS.get(error, 'failed')} ({detail})")


def _classify(failure: BaseException) -> tuple[ErrorClass, str]:
    """The error class of a failure, and a detail that is safe to report."""
    chain = _chain(failure)
    for one in chain:
        status = getattr(one, "status_code", None) or getattr(one, "status", None)
        if isinstance(status, int) and 400 <= status <= 599:  # an int or an HTTPStatus
            return classify_status(int(status)), str(int(status))
        if status == _POLICY_CODE:
            return ErrorClass.INVALID_ARGS, str(status)
    for one in chain:
        if (name := _grpc_status(one)) in _GRPC:
            return _GRPC[name], name
    kinds = {kind.__name__ for one in chain for kind in type(one).__mro__}
    name = type(chain[-1]).__name__
    if kinds & {"APITimeoutError", "TimeoutError", "OSError", "ClientError"}:
        return ErrorClass.NETWORK_TIMEOUT, name
    for pattern, error in _PATTERNS:
        if any(pattern.search(str(one)) for one in chain):
            return error, name
    if "APIConnectionError" in kinds or "APIStatusError" in kinds:  # a WebSocket that was closed has no HTTP status
        return ErrorClass.NETWORK_TIMEOUT, name
    return (ErrorClass.SERVER_ERROR if "APIError" in kinds else ErrorClass.UNKNOWN), name


def _grpc_status(failure: BaseException) -> str:
    """The name of the status of a failed gRPC call; empty for any other failure."""
    code = getattr(failure, "code", None)
    try:
        return str(getattr(code() if callable(code) else None, "name", ""))
    except Exception:  # noqa: BLE001 - any object may have a `code`
        return ""


def _chain(failure: BaseException) -> list[BaseException]:
    """The failure, followed by its cause, the cause of that cause, and so on."""
    chain = [failure]
    while len(chain) < _CAUSES_MAX and (cause := chain[-1].__cause__) is not None and cause not in chain:
        chain.append(cause)
    return chain
