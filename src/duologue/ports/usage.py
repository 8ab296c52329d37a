"""What a service charged for: tokens, characters and seconds of sound.

Rule: a usage contains only counts, never words of the conversation.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any


@dataclass(frozen=True, slots=True)
class Usage:
    """The amounts that a service charged for. Two usages can be added with `+`. `input_tokens` include
    `cached_tokens`."""

    input_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0
    characters: int = 0
    heard_ms: int = 0  # sound that was sent to an STT
    spoken_ms: int = 0  # sound that came from a TTS

    def __add__(self, other: Usage) -> Usage:
        return Usage(*(getattr(self, one.name) + getattr(other, one.name) for one in fields(self)))


class UsageCount:
    """Adds up the usages of one adapter, and reports each usage to `notify`."""

    def __init__(self, notify: Callable[[Usage], None] | None) -> None:
        self.total = Usage()
        self._notify = notify

    def add(self, usage: Usage) -> None:
        if usage == Usage():
            return
        self.total += usage
        if self._notify is not None:
            self._notify(usage)


def tokens_of(usage: Any) -> Usage:
    """The numbers of tokens that an LLM plugin reports in a chunk, as a Usage."""
    return Usage(
        input_tokens=_count(usage, "prompt_tokens"),
        cached_tokens=_count(usage, "prompt_cached_tokens"),
        output_tokens=_count(usage, "completion_tokens"),
    )


def _count(usage: Any, name: str) -> int:
    value = getattr(usage, name, 0)
    return value if type(value) is int and value > 0 else 0
