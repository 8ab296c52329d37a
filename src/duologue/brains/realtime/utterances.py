"""Converts the server's events about the user's speech to the events that ears report. Each of the server's items
becomes an utterance.

This module knows nothing about turns. Rule: an utterance reports its onset (the first sign of speech) first. Then it
reports its end and its final text exactly once, even if the session is lost in the middle of the utterance.
"""

from __future__ import annotations

from dataclasses import dataclass

from duologue.ports.ears import Final, Heard, Partial, SpeechBegan, SpeechEnded, TurnOver

from .server_events import (
    AudioCommitted,
    Happened,
    SpeechOff,
    SpeechOn,
    Transcribed,
    Transcribing,
    Untranscribed,
)

UNTRANSCRIBED = "[not transcribed]"  # the model heard the audio, but there is no text
KNOWN_MAX = 50


@dataclass(slots=True)
class _ServerUtterance:
    """One utterance, and how far the server is with it."""

    number: int
    item: str
    text: str = ""
    is_speaking: bool = True
    is_over: bool = False
    is_final: bool = False


class Utterances:
    """The utterances of a conversation. The utterances are numbered through all sessions of the conversation, although
    an item on the server exists in only one session."""

    def __init__(self, quiet_ms: int = 0, server_decides: bool = True) -> None:
        self._quiet_ms = quiet_ms
        self._server_decides = server_decides
        self._number = 0
        self._known: dict[str, _ServerUtterance] = {}
        self._unnamed: _ServerUtterance | None = None  # its onset was detected here; the server's item isn't known yet

    @property
    def is_open(self) -> bool:
        """Is the user speaking, or is the final text of an utterance still missing?"""
        known = (*self._known.values(), *((self._unnamed,) if self._unnamed else ()))
        return any(not utterance.is_final for utterance in known)

    def take(self, happened: Happened) -> list[Heard]:
        """Process a server event. Returns the reports that ears would make."""
        match happened:
            case SpeechOn(item):
                return [] if item in self._known else self._begin(item)
            case SpeechOff(item):
                return self._end(item)
            case AudioCommitted(item):
                return self._commit(item)
            case Transcribing(item, text):
                return self._grow(item, text)
            case Transcribed(item, text):
                return self._finish(item, text)
            case Untranscribed(item):
                known = self._known.get(item)
                return self._finish(item, (known.text.strip() if known else "") or UNTRANSCRIBED)
        return []

    def begin_unnamed(self) -> list[Heard]:
        """Record an onset that we detected before the server did, and return the report of it. The utterance has no
        name yet, because the server's item for it isn't known."""
        if self._unnamed is not None:
            return []
        self._number += 1
        self._unnamed = _ServerUtterance(self._number, "")
        return [SpeechBegan(self._number)]

    def end_unnamed(self) -> list[Heard]:
        """Record that the sound of the utterance from `begin_unnamed` has ended. Returns the report of this end."""
        if self._unnamed is None or not self._unnamed.is_speaking:
            return []
        self._unnamed.is_speaking = False
        return [SpeechEnded(self._unnamed.number)]

    def forget_unnamed(self) -> None:
        """Drop the utterance from `begin_unnamed`, because it was only noise."""
        self._unnamed = None

    def lose(self) -> list[Heard]:
        """End all open utterances, because their session is lost. Returns the reports of their ends and final texts."""
        events: list[Heard] = []
        left = [*self._known.values(), *((self._unnamed,) if self._unnamed else ())]
        self._known.clear()
        self._unnamed = None
        for utterance in left:
            if utterance.is_speaking:
                events.append(SpeechEnded(utterance.number))
            if not utterance.is_final:
                events.append(Final(utterance.text.strip(), utterance=utterance.number))
        return events

    # -- Inside

    def _begin(self, item: str) -> list[Heard]:
        self._number += 1
        self._add(_ServerUtterance(self._number, item))
        return [SpeechBegan(self._number)]

    def _add(self, utterance: _ServerUtterance) -> None:
        self._known[utterance.item] = utterance
        if len(self._known) > KNOWN_MAX:
            del self._known[next(iter(self._known))]

    def _onset(self, item: str) -> list[Heard]:
        """Record the onset of this item and return the report of it; empty if the onset was already reported."""
        return [] if item in self._known else self._begin(item)

    def _end(self, item: str) -> list[Heard]:
        events = self._onset(item)
        known = self._known[item]
        if known.is_speaking:
            known.is_speaking = False
            events.append(SpeechEnded(known.number, self._quiet_ms))
        return events

    def _commit(self, item: str) -> list[Heard]:
        if not self._server_decides:
            unnamed, self._unnamed = self._unnamed, None
            if unnamed is None:
                self._number += 1
                unnamed = _ServerUtterance(self._number, item, is_speaking=False)
            unnamed.item, unnamed.is_speaking = item, False
            self._add(unnamed)
            return []
        events = self._end(item)
        known = self._known[item]
        if not known.is_over:
            known.is_over = True
            events.append(TurnOver(known.number))
        return events

    def _grow(self, item: str, text: str) -> list[Heard]:
        events = self._onset(item)
        known = self._known[item]
        if known.is_final or not text:
            return events
        known.text += text
        return [*events, Partial(known.text.strip(), utterance=known.number)]

    def _finish(self, item: str, text: str) -> list[Heard]:
        events = self._onset(item)
        known = self._known[item]
        if known.is_final:
            return events
        known.is_final = True
        known.text = text
        return [*events, Final(text.strip(), utterance=known.number)]
