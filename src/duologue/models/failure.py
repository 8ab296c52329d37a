"""The errors that a pull can raise. Each message is one line that says what to do."""

from __future__ import annotations

from duologue.core.errors import DuologueError


class PullFailed(DuologueError):
    """A model couldn't be pulled. Partial downloads were deleted."""


class NoNetwork(PullFailed):
    """The package registry (PyPI or npm) couldn't be reached."""
