"""Errors that callers may catch."""

from __future__ import annotations

import pytest

from duologue.core.errors import DuologueError, InvalidEvent, InvalidSettings, InvalidSnapshot, TimeWentBackwards
from duologue.core.settings import profile
from duologue.replay.journal import InvalidJournal


def test_every_error_of_the_library_is_a_duologue_error() -> None:
    assert issubclass(InvalidJournal, DuologueError)
    with pytest.raises(DuologueError):
        profile("nobody")


def test_invalid_settings_list_every_problem_in_one_line() -> None:
    error = InvalidSettings(["a_ms must be below b_ms", "unknown setting 'c'"])
    assert error.problems == ("a_ms must be below b_ms", "unknown setting 'c'")
    assert str(error) == "invalid settings: a_ms must be below b_ms; unknown setting 'c'"


def test_errors_about_values_are_value_errors_too() -> None:
    assert all(issubclass(kind, ValueError) for kind in (InvalidEvent, InvalidSettings, InvalidSnapshot))
    assert issubclass(TimeWentBackwards, InvalidEvent)
