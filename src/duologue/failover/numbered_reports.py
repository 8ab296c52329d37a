"""Renumbers the reports of several ears that listen one after another, so that the utterances of a conversation are
numbered 1, 2, 3 and so on.

Rule: if ears fail during an utterance, the first utterance of the next ears is the continuation of that utterance and
gets its number.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from duologue.ports.ears import Final, Heard, Partial, SpeechBegan


class NumberedReports:
    """The numbers of the utterances in one conversation."""

    def __init__(self) -> None:
        self._last = 0
        self._open = 0  # the utterance that has begun and has no final text
        self._numbers: dict[int, int] = {}  # of the current ears
        self._continued = 0  # an open utterance of the previous ears

    @property
    def is_open(self) -> bool:
        """Is there an utterance that has begun but has no final text yet?"""
        return self._open > 0

    def begin(self) -> None:
        """From now on, the reports come from other ears, which number their utterances from 1 again."""
        self._numbers = {}
        self._continued = self._open

    def take(self, heard: Heard) -> Iterator[Heard]:
        """Yield the report, with the number that its utterance has in this conversation. An onset that was already
        reported is left out."""
        number = self._number(heard.utterance)
        if isinstance(heard, SpeechBegan) and number == self._open:
            return  # the previous ears have already reported this onset
        if isinstance(heard, SpeechBegan | Partial):
            self._open = max(self._open, number)
        elif isinstance(heard, Final) and number == self._open:
            self._open = 0
        yield replace(heard, utterance=number)

    def _number(self, theirs: int) -> int:
        if not theirs:
            theirs = max(self._numbers, default=1)  # 0 means the newest one
        if theirs not in self._numbers:
            if self._continued:
                self._numbers[theirs], self._continued = self._continued, 0
            else:
                self._last += 1
                self._numbers[theirs] = self._last
        return self._numbers[theirs]
