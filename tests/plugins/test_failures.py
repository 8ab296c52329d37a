"""Failures of plugins: classified by status, cause or words, and told without the words."""

from __future__ import annotations

from http import HTTPStatus
from types import SimpleNamespace

import pytest

from duologue.core.leaves import ErrorClass
from duologue.plugins.failures import PluginFailed, described, plugin_failures
from duologue.ports import ServiceError


class APIError(Exception):
    """Like LiveKit's."""


class APIConnectionError(APIError):
    pass


class APITimeoutError(APIConnectionError):
    pass


class APIStatusError(APIError):
    def __init__(self, message: str, status_code: int) -> None:
        super().__init__(message)
        self.status_code = status_code


class Rpc(Exception):
    """Like gRPC's."""

    def __init__(self, name: str) -> None:
        super().__init__("secret words")
        self._name = name

    def code(self) -> SimpleNamespace:
        return SimpleNamespace(name=self._name)


def caused_by(failure: Exception, cause: Exception) -> Exception:
    failure.__cause__ = cause
    return failure


@pytest.mark.parametrize(
    ("failure", "error"),
    [
        (APIStatusError("secret words", 401), ErrorClass.AUTH_FAILURE),
        (APIStatusError("secret words", 400), ErrorClass.INVALID_ARGS),
        (APIStatusError("secret words", 429), ErrorClass.RATE_LIMIT),
        (APIStatusError("secret words", HTTPStatus.UNAUTHORIZED), ErrorClass.AUTH_FAILURE),
        (caused_by(APIConnectionError(), Rpc("UNAUTHENTICATED")), ErrorClass.AUTH_FAILURE),
        (caused_by(APIConnectionError(), Rpc("RESOURCE_EXHAUSTED")), ErrorClass.RATE_LIMIT),
        (caused_by(APIConnectionError(), Rpc("NOT_FOUND")), ErrorClass.INVALID_ARGS),
        (caused_by(APIConnectionError(), Rpc("CANCELLED")), ErrorClass.NETWORK_TIMEOUT),
        (APIStatusError("secret words", 529), ErrorClass.SERVER_ERROR),
        (APIStatusError("secret words", 1008), ErrorClass.INVALID_ARGS),
        (APIStatusError("closed", 1011), ErrorClass.NETWORK_TIMEOUT),
        (APIStatusError("closed", -1), ErrorClass.NETWORK_TIMEOUT),
        (APITimeoutError(), ErrorClass.NETWORK_TIMEOUT),
        (APIConnectionError("secret words"), ErrorClass.NETWORK_TIMEOUT),
        (caused_by(APIConnectionError(), APIStatusError("secret words", 403)), ErrorClass.AUTH_FAILURE),
        (caused_by(APIConnectionError(), OSError("no route")), ErrorClass.NETWORK_TIMEOUT),
        (APIError("quota exceeded, secret words"), ErrorClass.RATE_LIMIT),
        (APIError("voice_id_does_not_exist: secret words"), ErrorClass.INVALID_ARGS),
        (APIError("secret words"), ErrorClass.SERVER_ERROR),
        (RuntimeError("secret words"), ErrorClass.UNKNOWN),
    ],
)
def test_a_failure_is_classified_and_its_words_are_dropped(failure: Exception, error: ErrorClass) -> None:
    told = described("Vendor (PluginVoice)", failure)
    assert told.error is error
    assert "secret words" not in str(told)
    assert str(told).startswith("Vendor (PluginVoice) ")


def test_a_missing_key_names_the_variable() -> None:
    told = described("PluginEars", ValueError("API key required: argument or DEEPGRAM_API_KEY"))
    assert told.error is ErrorClass.AUTH_FAILURE
    assert "set DEEPGRAM_API_KEY" in str(told)


def test_a_cause_that_leads_to_itself_is_survived() -> None:
    first, second = APIError("a"), APIError("b")
    first.__cause__, second.__cause__ = second, first
    assert described("x", first).error is ErrorClass.SERVER_ERROR


def test_errors_of_ours_pass_unchanged() -> None:
    mine = PluginFailed(ErrorClass.RATE_LIMIT, "mine")
    with pytest.raises(ServiceError) as raised, plugin_failures("x"):
        raise mine
    assert raised.value is mine
