"""What goes wrong with a chat service, classified and told in our own words (L-12, C-SEC-003).

Rule: of what the service or the SDK says, only a status and a plain error code travel on. Their messages
hold keys and the person's words, so they are neither in the message nor in the traceback.
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
    """A failure of a chat server, told in our own words."""

    is_own = True


_HINTS = {
    ErrorClass.AUTH_FAILURE: "refused the credentials: check the API key of {host}, and that it may use this model",
    ErrorClass.RATE_LIMIT: "takes no more requests for now: wait, or check the quota of the account",
    ErrorClass.NETWORK_TIMEOUT: "can't be reached, fell silent or broke off",
    ErrorClass.INVALID_ARGS: "did not accept the request: check the model's name, the base URL, the tools' "
    "schemas and the length of the history",
    ErrorClass.SERVER_ERROR: "failed, or sent something that can't be read",
}
# Errors in the middle of a stream have no status, only a code or a type.
_TOLD = (
    (re.compile(r"rate_limit|quota|too_many"), ErrorClass.RATE_LIMIT),
    (re.compile(r"authentication|unauthorized|api_key|permission"), ErrorClass.AUTH_FAILURE),
    (re.compile(r"invalid_request|context_length|bad_request|not_found"), ErrorClass.INVALID_ARGS),
    (re.compile(r"timeout|timed_out"), ErrorClass.NETWORK_TIMEOUT),
)
_PLAIN_CODE = re.compile(r"[a-z_]{1,40}")  # no digits: keys have some
_TRANSPORT = ("httpx2", "httpx", "httpcore2", "httpcore", "anyio")  # beneath the SDK, in any of its versions


@contextmanager
def told_plainly(host: str) -> Iterator[None]:
    """Failures of the service at this host leave as ServiceError; mistakes in the code stay as they are."""
    try:
        yield
    except Exception as failure:
        error = _classify(failure)
        if error is None:
            raise
        raise ChatFailed(error, _tell(failure, error, host)) from None


def broken_off(host: str) -> ServiceError:
    """The stream ended before the reply did."""
    return ChatFailed(ErrorClass.NETWORK_TIMEOUT, f"{host} broke off in the middle of a reply")


def too_long(host: str) -> ServiceError:
    """It can't read that much; asked again, it gets less. So this is told as what is worth another try."""
    return ChatFailed(ErrorClass.SERVER_ERROR, f"{host} can't read so long a conversation: it will be sent less of it")


def no_key(host: str) -> ServiceError:
    """There is nothing to authenticate with."""
    return ChatFailed(
        ErrorClass.AUTH_FAILURE, f"there is no API key of {host}: give api_key, or set OPENAI_API_KEY for OpenAI"
    )


def _classify(failure: Exception) -> ErrorClass | None:
    """The class of a failure of the service; None for anything else."""
    import openai

    match failure:
        case openai.APIStatusError():
            return classify_status(failure.status_code)
        case openai.APIConnectionError() | OSError():
            return ErrorClass.NETWORK_TIMEOUT
        case openai.APIError():
            return _classify_told(failure)
        case openai.OpenAIError():
            return ErrorClass.UNKNOWN
        case json.JSONDecodeError() | UnicodeDecodeError():
            return ErrorClass.SERVER_ERROR
        case _ if type(failure).__module__.partition(".")[0] in _TRANSPORT:
            return ErrorClass.NETWORK_TIMEOUT
    return None


def _classify_told(failure: object) -> ErrorClass:
    """The class of an error that came as data; the server's own fault, if nothing tells."""
    told = [str(getattr(failure, name, None) or "") for name in ("code", "type")]
    if re.fullmatch(r"[45]\d\d", told[0]):
        return classify_status(int(told[0]))
    for pattern, error in _TOLD:
        if any(pattern.search(text) for text in told):
            return error
    return ErrorClass.SERVER_ERROR


def _tell(failure: Exception, error: ErrorClass, host: str) -> str:
    status = getattr(failure, "status_code", None)
    code = getattr(failure, "code", None)
    details = [str(status)] if type(status) is int else []
    if isinstance(code, str) and _PLAIN_CODE.fullmatch(code):
        details.append(code)
    detail = f" ({', '.join(details or [type(failure).__name__])})"
    return f"{host} {_HINTS.get(error, 'failed').format(host=host)}{detail}"
