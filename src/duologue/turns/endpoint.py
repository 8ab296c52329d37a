"""When is a turn over? The simplest policy: a fixed silence.

Rule: a policy says how long to wait from the end of speech; whoever asks has the clock.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


class Endpoint(Protocol):
    """Decides how much silence ends a turn."""

    def wait_ms(self, text: str, is_final: bool) -> int | None:
        """How long after the end of speech the turn is over, if nothing else comes; None: not by
        silence alone."""
        ...


@dataclass(frozen=True, slots=True)
class Silence:
    """The turn ends after this much silence."""

    silence_ms: int = 400

    def wait_ms(self, text: str, is_final: bool) -> int | None:  # noqa: ARG002 - silence is all it needs
        return self.silence_ms


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """Somebody else ends turns: a model on a server, or the person's own hand."""

    def wait_ms(self, text: str, is_final: bool) -> int | None:  # noqa: ARG002
        return None
