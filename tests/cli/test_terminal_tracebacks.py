"""A failure of a developer's code in the terminal."""

from __future__ import annotations

import pytest

from duologue.cli.terminal_tracebacks import print_own_traceback, print_traceback, show_tracebacks
from duologue.observe.tracebacks import traceback_of
from duologue.testing import Call


def test_what_raised_is_printed_with_its_message(capsys: pytest.CaptureFixture[str]) -> None:
    print_traceback("action book", KeyError("[red]Anna"))
    printed = capsys.readouterr().err
    assert "action book failed" in printed
    assert "KeyError: '[red]Anna'" in printed


def test_every_failure_of_a_conversation_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    def brain(_: object) -> str:
        raise LookupError("nothing here")

    with Call(brain) as call:
        show_tracebacks(call.conversation)
        call.user("hello")
        call.until(lambda: call.conversation.engine.failures)
    printed = capsys.readouterr().err
    assert "brain failed" in printed
    assert "LookupError: nothing here" in printed


def test_a_fault_of_duologue_itself_is_left_to_python(capsys: pytest.CaptureFixture[str]) -> None:
    try:
        traceback_of(None)  # type: ignore[arg-type]
    except AttributeError as failure:
        inside = failure.with_traceback(failure.__traceback__.tb_next if failure.__traceback__ else None)
        assert not print_own_traceback(inside)
    assert capsys.readouterr().err == ""
