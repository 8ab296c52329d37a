"""Tokens that connect a webhook to its stream."""

from __future__ import annotations

import pytest

from duologue.server.phone.stream_tokens import StreamTokens


def test_a_token_opens_one_stream_of_one_call_for_a_short_time() -> None:
    now = [1_000.0]
    tokens = StreamTokens(b"k" * 32, 60_000, lambda: now[0])
    token = tokens.mint("twilio", "CA1")
    assert not tokens.take(token, "telnyx", "CA1")
    assert not tokens.take(token, "twilio", "CA2")
    assert not StreamTokens(b"x" * 32, 60_000, lambda: now[0]).take(token, "twilio", "CA1")
    assert tokens.take(token, "twilio", "CA1")
    assert not tokens.take(token, "twilio", "CA1")
    other = tokens.mint("telnyx", "")
    now[0] += 59
    assert StreamTokens(b"k" * 32, 60_000, lambda: now[0]).take(other, "telnyx", "whatever"), "by another process"
    now[0] += 2
    assert not tokens.take(other, "telnyx", "whatever")


@pytest.mark.parametrize("token", ["", ".", "a.b", "§.§", "x" * 10_000, "YWJj.YWJj"])
def test_an_invalid_token_opens_nothing(token: str) -> None:
    assert not StreamTokens(b"k" * 32, 60_000).take(token, "twilio", "CA1")
