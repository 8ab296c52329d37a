"""The errors of a pull. Each message is one line that says what to do."""

from __future__ import annotations

from duologue.core.errors import DuologueError


class PullFailed(DuologueError):
    """A model couldn't be pulled; partial downloads were deleted."""


class NoNetwork(PullFailed):
    """The registry couldn't be reached."""
