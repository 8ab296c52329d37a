"""Errors that callers of the core may catch. Each message is one line that says where the error is."""

from __future__ import annotations


class DuologueError(Exception):
    """The base class of all errors that Duologue itself raises."""


class InvalidEvent(DuologueError, ValueError):
    """An event of an unknown type, with an invalid field, or about something that never existed."""


class TimeWentBackwards(InvalidEvent):
    """An event is older than another event that was already applied."""


class InvalidSettings(DuologueError, ValueError):
    """Settings that can't work. `problems` lists all problems."""

    def __init__(self, problems: list[str]) -> None:
        self.problems = tuple(problems)
        super().__init__("invalid settings: " + "; ".join(problems))


class InvalidSnapshot(DuologueError, ValueError):
    """A stored state, event or journal that can't be read."""
