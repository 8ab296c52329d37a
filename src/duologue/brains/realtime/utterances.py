"""What the server heard of the person, as ears tell it: items become numbered utterances.

Knows nothing of turns. Rule: an onset is told before anything else of its utterance, its end once, and
its final text once, even if the session is lost in the middle of it.
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

UNTRANSCRIBED = "[not transcribed]"  # the model heard it; only its text is missing
KNOWN_MAX = 50


@dataclass(slots=True)
class _Utterance:
    number: int
    item: str
    text: str = ""
    is_speaking: bool = True
    is_over: bool = False
    is_final: bool = False


class Utterances:
    """Numbers go on from session to session; items belong to one."""

    def __init__(self, quiet_ms: int = 0, server_decides: bool = True) -> None:
        self._quiet_ms = quiet_ms
        self._server_decides = server_decides
        self._number = 0
        self._known: dict[str, _Utterance] = {}
        self._unnamed: _Utterance | None = None  # began by our own onset; its item is not known yet

    @property
    def is_open(self) -> bool:
        """Is somebody speaking, or is the text of what was said still to come?"""
        known = (*self._known.values(), *((self._unnamed,) if self._unnamed else ()))
        return any(not utterance.is_final for utterance in known)

    def take(self, happened: Happened) -> list[Heard]:
        """What the ears have to tell."""
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
        """An onset that we noticed ourselves."""
        if self._unnamed is not None:
            return []
        self._number += 1
        self._unnamed = _Utterance(self._number, "")
        return [SpeechBegan(self._number)]

    def end_unnamed(self) -> list[Heard]:
        """And its end."""
        if self._unnamed is None or not self._unnamed.is_speaking:
            return []
        self._unnamed.is_speaking = False
        return [SpeechEnded(self._unnamed.number)]

    def forget_unnamed(self) -> None:
        """It was a noise."""
        self._unnamed = None

    def lose(self) -> list[Heard]:
        """The session is gone: nobody will tell how these end."""
        told: list[Heard] = []
        left = [*self._known.values(), *((self._unnamed,) if self._unnamed else ())]
        self._known.clear()
        self._unnamed = None
        for utterance in left:
            if utterance.is_speaking:
                told.append(SpeechEnded(utterance.number))
            if not utterance.is_final:
                told.append(Final(utterance.text.strip(), utterance=utterance.number))
        return told

    # -- Inside

    def _begin(self, item: str) -> list[Heard]:
        self._number += 1
        self._add(_Utterance(self._number, item))
        return [SpeechBegan(self._number)]

    def _add(self, utterance: _Utterance) -> None:
        self._known[utterance.item] = utterance
        if len(self._known) > KNOWN_MAX:
            del self._known[next(iter(self._known))]

    def _onset(self, item: str) -> list[Heard]:
        """The onset, if it was never told."""
        return [] if item in self._known else self._begin(item)

    def _end(self, item: str) -> list[Heard]:
        told = self._onset(item)
        known = self._known[item]
        if known.is_speaking:
            known.is_speaking = False
            told.append(SpeechEnded(known.number, self._quiet_ms))
        return told

    def _commit(self, item: str) -> list[Heard]:
        if not self._server_decides:
            unnamed, self._unnamed = self._unnamed, None
            if unnamed is None:
                self._number += 1
                unnamed = _Utterance(self._number, item, is_speaking=False)
            unnamed.item, unnamed.is_speaking = item, False
            self._add(unnamed)
            return []
        told = self._end(item)
        known = self._known[item]
        if not known.is_over:
            known.is_over = True
            told.append(TurnOver(known.number))
        return told

    def _grow(self, item: str, text: str) -> list[Heard]:
        told = self._onset(item)
        known = self._known[item]
        if known.is_final or not text:
            return told
        known.text += text
        return [*told, Partial(known.text.strip(), utterance=known.number)]

    def _finish(self, item: str, text: str) -> list[Heard]:
        told = self._onset(item)
        known = self._known[item]
        if known.is_final:
            return told
        known.is_final = True
        known.text = text
        return [*told, Final(text.strip(), utterance=known.number)]
