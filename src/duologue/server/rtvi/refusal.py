"""Why a message of a client is refused.

Rule: a refusal names what is refused. What a client sent is quoted only if it is the name of a field or a type.
"""

from __future__ import annotations

from duologue.core.errors import DuologueError

NAME_CHARS_MAX = 64


class MessageRefused(DuologueError):
    """A message is refused. `id` is that of the message; empty if it isn't known. After a `fatal` one, the client is
    disconnected."""

    def __init__(self, message: str, id_: str = "", fatal: bool = False) -> None:
        super().__init__(message)
        self.message = message
        self.id = id_
        self.fatal = fatal


def quoted(name: object) -> str:
    """A name that the client sent, quoted, shortened and made printable."""
    text = name if isinstance(name, str) else type(name).__name__
    return "'" + "".join(char if char.isprintable() else "?" for char in text[:NAME_CHARS_MAX]) + "'"
