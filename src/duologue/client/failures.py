"""The exceptions that a client raises."""

from __future__ import annotations

from duologue.core.errors import DuologueError


class ClientFailed(DuologueError):
    """A client can't go on. The message says why."""


class ConnectionFailed(ClientFailed):
    """The server can't be reached, or refuses this client. `code` is the close code of the socket, or 0 if it wasn't
    opened."""

    def __init__(self, message: str, code: int = 0) -> None:
        super().__init__(message)
        self.code = code


class NoAnswerHeard(ClientFailed):
    """A question got no answer: the agent failed, or the conversation ended."""
