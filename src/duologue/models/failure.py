"""Why a model couldn't be pulled, in one line that says what to do about it."""

from __future__ import annotations

from duologue.core.errors import DuologueError


class PullFailed(DuologueError):
    """A model couldn't be pulled; nothing half done was kept."""


class NoNetwork(PullFailed):
    """The registry couldn't be reached."""
