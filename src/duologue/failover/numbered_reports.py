"""The reports of several ears that listen one after another, with continuous utterance numbers.

Rule: if ears fail in an open utterance, the first utterance of the next ears continues it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from duologue.ports.ears import Final, Heard, Partial, SpeechBegan


class NumberedReports:
    """The reports of one conversation."""

    def __init__(self) -> None:
        self._last = 0
        self._open = 0  # the utterance that has begun and has no final text
        self._numbers: dict[int, int] = {}  # of the current ears
        self._continued = 0  # an open utterance of the previous ears

    @property
    def is_open(self) -> bool:
        """Has an utterance begun that has no final text?"""
        return self._open > 0

    def begin(self) -> None:
        """Note that other ears listen from now on."""
        self._numbers = {}
        self._continued = self._open

    def take(self, heard: Heard) -> Iterator[Heard]:
        """The report with the utterance's number in this conversation. An onset that was already reported is left
        out."""
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
