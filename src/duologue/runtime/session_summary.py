"""The summary of a conversation. The next session gets it, together with the newest turns.

The brain writes the summary, if it can. Turns that the brain hasn't summarised are quoted. Rule: the summary covers the
whole conversation. The brain's part is never cut. If quoted turns are too long, their beginning and their end are kept.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator

from duologue.ports.history import AgentSaid, Item, UserSaid

from .transcript import Transcript

RECENT_TURNS = 10  # turns that the next session is given word for word
SUMMARY_CHARS_MAX = 2_000  # of a summary of the brain
QUOTE_CHARS_MAX = 2_000  # for the quoted older turns, and again for the newest RECENT_TURNS
PIECE_CHARS_MAX = 12_000  # the most text that the brain summarises at once
SUMMARY_S_MAX = 20.0

Summarise = Callable[[str, int], Awaitable[str]]


class SessionSummary:
    """The summary of one conversation. `summarise` is the brain's method that summarises a text; None if the brain has
    no such method."""

    def __init__(self, transcript: Transcript, summarise: Summarise | None) -> None:
        self._transcript = transcript
        self._summarise = summarise
        self._written = ""  # by the brain
        self._covered = 0  # how many places of the history `_written` covers
        self._is_running = False

    def use_brain(self, summarise: Summarise | None) -> None:
        self._summarise = summarise

    @property
    def text(self) -> str:
        """The summary for the next session: what the brain has written, then quotes of the turns that this doesn't
        cover."""
        newer = self._transcript.since(self._covered)
        old = max(0, len(newer) - len(self._transcript.recent(RECENT_TURNS)))
        return _joined(self._written, quoted(newer[:old]), quoted(newer[old:]))

    @property
    def can_improve(self) -> bool:
        """Can the brain write a summary now that covers more turns than its last one?"""
        return self._summarise is not None and not self._is_running and self._transcript.settled > self._covered

    async def improve(self) -> None:
        """Let the brain write a new summary from its last one and everything that was said since. If that is a long
        text, it is summarised piece by piece."""
        assert self._summarise is not None
        covered, written = self._transcript.settled, self._written
        lines = lines_of(self._transcript.since(self._covered, covered))
        self._is_running = True
        try:
            for piece in pieces(lines, PIECE_CHARS_MAX):
                async with asyncio.timeout(SUMMARY_S_MAX):
                    written = await self._summarise(_joined(written, piece), SUMMARY_CHARS_MAX)
        finally:
            self._is_running = False
        self._written, self._covered = written, covered

    def dump(self) -> tuple[str, int]:
        """The summary that the brain has written, and how many items of the history the summary covers."""
        return self._written, self._covered

    def load(self, written: str, covered: int) -> None:
        """Restore what `dump` returned."""
        self._written, self._covered = written, min(covered, len(self._transcript))


# -- Quoting


def lines_of(items: Iterable[Item], is_only_user: bool = False) -> list[str]:
    """One line for each item that has text: turns of the user and replies of the agent. With `is_only_user`, the
    agent's replies are left out."""
    kinds = (UserSaid,) if is_only_user else (UserSaid, AgentSaid)
    return [_line(item) for item in items if isinstance(item, kinds) and item.text]


def quoted(items: tuple[Item, ...]) -> str:
    """A quote of these items in at most QUOTE_CHARS_MAX characters. If the whole text is too long, only the user's
    words are quoted. If these are too long as well, only their beginning and their end are quoted."""
    text = ""
    for is_only_user in (False, True):
        text = "\n".join(lines_of(items, is_only_user))
        if len(text) <= QUOTE_CHARS_MAX:
            return text
    half = QUOTE_CHARS_MAX // 2 - 2
    return f"{text[:half].rstrip()}…\n…{text[-half:].lstrip()}"


def pieces(lines: Iterable[str], chars_max: int) -> Iterator[str]:
    """The lines, joined into pieces of at most `chars_max` characters. A longer line becomes a piece by itself."""
    piece = ""
    for line in lines:
        if piece and len(piece) + 1 + len(line) > chars_max:
            yield piece
            piece = ""
        piece = _joined(piece, line)
    if piece:
        yield piece


def _line(item: UserSaid | AgentSaid) -> str:
    who = "User" if isinstance(item, UserSaid) else "Agent"
    return f"{who}: {' '.join(item.text.split())}"


def _joined(*texts: str) -> str:
    return "\n".join(text for text in texts if text)
