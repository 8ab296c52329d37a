"""The errors that a pull can raise. Each message is one line that says what to do."""

from __future__ import annotations

from duologue.core.errors import DuologueError

TRY_AGAIN = "nothing was installed; try again, and if it still fails, use another package index"
"""What an error says after a download that was damaged, or that isn't the expected one."""


class PullFailed(DuologueError):
    """A model couldn't be pulled. Partial downloads were deleted."""

    models: tuple[str, ...] = ()
    """The models whose own download, check or compilation failed. Empty if the reason isn't in a model, such as a cache
    folder that isn't writable."""


class NoNetwork(PullFailed):
    """The package registry (PyPI or npm) couldn't be reached."""
