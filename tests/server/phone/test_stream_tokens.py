"""Tokens that connect a webhook to its stream."""

from __future__ import annotations

from pathlib import Path

import pytest

from duologue.server.phone.stream_tokens import USED_MS, StreamTokens, UsedTokenFiles


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


def test_processes_that_share_a_folder_accept_a_token_once(tmp_path: Path) -> None:
    now = [1_000.0]
    one, other = (StreamTokens(b"k" * 32, 60_000, lambda: now[0], UsedTokenFiles(tmp_path / "used")) for _ in range(2))
    first, second = one.mint("twilio", "CA1"), one.mint("twilio", "CA1")
    assert other.take(first, "twilio", "CA1")
    assert not one.take(first, "twilio", "CA1")
    assert one.take(second, "twilio", "CA1")
    assert not other.take(second, "twilio", "CA1")
    assert len(list((tmp_path / "used").iterdir())) == 2
    now[0] += USED_MS / 1000 + 1
    assert one.take(one.mint("twilio", "CA2"), "twilio", "CA2")
    assert len(list((tmp_path / "used").iterdir())) == 1, "after a day, tokens need not be remembered"


@pytest.mark.parametrize("is_in_files", [False, True])
def test_a_webhook_that_is_sent_again_opens_no_second_stream(is_in_files: bool, tmp_path: Path) -> None:
    now = [1_000.0]
    used = UsedTokenFiles(tmp_path / "used") if is_in_files else None
    tokens = StreamTokens(b"k" * 32, 60_000, lambda: now[0], used)
    first = tokens.mint("twilio", "CA1", b"a signed form")
    assert tokens.take(first, "twilio", "CA1")
    for later_s in (1, 61, 3_600):
        now[0] += later_s
        assert not tokens.take(tokens.mint("twilio", "CA1", b"a signed form"), "twilio", "CA1")
    assert tokens.take(tokens.mint("twilio", "CA1", b"another form of this call"), "twilio", "CA1")


def test_a_webhook_that_a_carrier_repeats_opens_one_stream() -> None:
    tokens = StreamTokens(b"k" * 32, 60_000)
    lost, answered = (tokens.mint("telnyx", "", b"a signed form") for _ in range(2))
    assert tokens.take(answered, "telnyx", "call 1")
    assert not tokens.take(lost, "telnyx", "call 1")


def test_a_folder_that_cannot_be_written_opens_nothing(tmp_path: Path) -> None:
    (tmp_path / "used").touch()
    tokens = StreamTokens(b"k" * 32, 60_000, used=UsedTokenFiles(tmp_path / "used" / "more"))
    assert not tokens.take(tokens.mint("twilio", "CA1"), "twilio", "CA1")


@pytest.mark.parametrize("token", ["", ".", "a.b", "§.§", "x" * 10_000, "YWJj.YWJj"])
def test_an_invalid_token_opens_nothing(token: str) -> None:
    assert not StreamTokens(b"k" * 32, 60_000).take(token, "twilio", "CA1")
