"""Errors that callers may catch."""

from __future__ import annotations

import pytest

from duologue.core.errors import DuologueError
from duologue.core.settings import profile
from duologue.replay.journal import InvalidJournal


def test_every_error_of_the_library_is_a_duologue_error() -> None:
    assert issubclass(InvalidJournal, DuologueError)
    with pytest.raises(DuologueError):
        profile("nobody")
