"""Why a client's message is refused.

Rule: a refusal says what is refused. It quotes nothing that the client sent, except names of fields and of types.
"""

from __future__ import annotations

from duologue.core.errors import DuologueError

NAME_CHARS_MAX = 64


class MessageRefused(DuologueError):
    """A client's message is refused. `id` is the id of the message; empty if it isn't known. After a `fatal` refusal,
    the client is disconnected."""

    def __init__(self, message: str, id_: str = "", fatal: bool = False) -> None:
        super().__init__(message)
        self.message = message
        self.id = id_
        self.fatal = fatal


def quoted(name: object) -> str:
    """A name that the client sent, quoted, shortened and made printable."""
    text = name if isinstance(name, str) else type(name).__name__
    return "'" + "".join(char if char.isprintable() else "?" for char in text[:NAME_CHARS_MAX]) + "'"
