"""The exceptions that a client raises."""

from __future__ import annotations

from duologue.core.errors import DuologueError


class ClientFailed(DuologueError):
    """The client can't continue. The message says why."""


class ConnectionFailed(ClientFailed):
    """The server can't be reached, or it refuses this client. `code` is the close code of the socket; 0 if no socket
    was opened."""

    def __init__(self, message: str, code: int = 0) -> None:
        super().__init__(message)
        self.code = code


class NoAnswerHeard(ClientFailed):
    """A question got no answer: the agent failed, the conversation ended, or there was no answer in time."""
