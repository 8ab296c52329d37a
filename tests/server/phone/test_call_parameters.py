"""The custom parameters of an incoming call."""

from __future__ import annotations

import pytest

from duologue.server.phone.call_parameters import (
    PARAMETER_CHARS_MAX,
    PARAMETERS_MAX,
    from_stream,
    parameters_of,
    to_stream,
)


def test_a_sip_header_never_replaces_a_parameter_of_the_operator() -> None:
    form = {"From": "+49301", "SipHeader_X-a": "caller", "SipHeader_X-b": "caller", "SipHeader_a": "no custom header"}
    assert parameters_of({"X-a": "operator", "key": "ours"}, form) == {"X-a": "operator", "X-b": "caller"}


def test_too_many_and_too_long_parameters_are_left_out(caplog: pytest.LogCaptureFixture) -> None:
    many = {f"SipHeader_X-{number}": "x" for number in range(PARAMETERS_MAX + 3)}
    assert len(parameters_of({}, many)) == PARAMETERS_MAX
    assert "3 parameters of a call were left out" in caplog.text
    assert parameters_of({"a": "x" * PARAMETER_CHARS_MAX, "b": "y"}, {}) == {"b": "y"}


def test_they_come_by_the_stream_or_by_its_address() -> None:
    parameters = {"campaign": "7", "X-a": "b c"}
    assert from_stream(to_stream(parameters), {}) == parameters
    assert from_stream({}, {**to_stream(parameters), "token": "secret"}) == parameters
    assert from_stream({"own": "1"}, {}) == {"own": "1"}
