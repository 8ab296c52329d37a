"""The words of the user: what was said, in which turn, and what has become of it. Only this module keeps track of that.

The conversation machine knows turns only by number. `SaidWords` holds the texts of the turns that can still change or
still need an answer. The transcript keeps the older ones. Rule: a word is in only one turn. What has become of a turn
follows from the conversation machine's turn numbers, except for the marks that are stored here: overheard, taken back
and lost.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from enum import Enum
from typing import NamedTuple

from duologue.core.effects import RecordOverheard, ReportLost, StartReply
from duologue.core.events import PlaybackFinished, ReplyFinished, TextTyped, ToolCalled, WordsHeard
from duologue.core.leaves import CLOSED
from duologue.core.state import State
from duologue.core.step_record import StepRecord
from duologue.ports.encodable_text import encodable

TYPED = -1  # the utterance number of typed text; a second typed text of the same turn gets -2
FINALS_MAX = 20  # final texts of a turn that are remembered, to recognise one that is repeated
_PLAIN_WORD = re.compile(r"[^\W_]+")  # letters and digits, as `isalnum` defines them
TURNS_MAX = 50  # answered turns that are kept here, because their text may still change


class TurnMark(Enum):
    """What has become of a turn, for the cases that can't be found from the conversation machine's turn numbers."""

    NONE = ""
    OVERHEARD = "overheard"  # said over the agent, or only a filler: recorded, not answered
    TAKEN_BACK = "taken_back"  # the STT withdrew the words: its final text is empty
    LOST = "lost"  # reported to the user as lost


class Fate(Enum):
    """What has become of the words of a turn so far."""

    OPEN = "open"  # still being said, or its text is awaited
    OWED = "owed"  # complete, and the brain has still to be asked
    ASKED = "asked"
    ANSWERED = "answered"
    OVERHEARD = "overheard"
    TAKEN_BACK = "taken_back"
    LOST = "lost"


class SaidTurn(NamedTuple):
    """The words of one turn."""

    turn: int
    pieces: tuple[tuple[int, str], ...] = ()  # for each utterance of the turn: its serial number and its text
    confidence: float = 1.0
    finals: tuple[tuple[str, int], ...] = ()  # each final text that the turn had, and its content id
    mark: TurnMark = TurnMark.NONE
    given: str = ""  # the text of this turn in the newest request that has it
    given_in: int = 0  # the reply that was requested with it
    handled: str = ""  # the text that a reply has handled: the reply was heard, was shown or has called a tool
    gist: int = 0  # how often its words have changed; changes of case and punctuation aren't counted
    typed_at: int = 0  # when its newest text was typed; 0: nothing of it was typed
    is_blind: bool = False  # True if that text was typed by a user who sees no captions

    @property
    def text(self) -> str:
        if len(self.pieces) == 1:
            return self.pieces[0][1]
        return " ".join(text for _, text in self.pieces if text)

    def text_with(self, texts: tuple[tuple[int, str], ...]) -> str:
        """The text of the turn, with new texts for some of its utterances. `texts` has a pair for each of these
        utterances: its serial number and its new text."""
        others = dict(texts)
        return " ".join(others.get(number, piece) for number, piece in self.pieces if piece)


class SaidWords(NamedTuple):
    """The words of the newest turns, oldest turn first."""

    turns: tuple[SaidTurn, ...] = ()
    content: int = 0  # the newest content id: a number for a final or typed text
    typed: tuple[tuple[int, str], ...] = ()  # content ids and texts of typed turns that the machine hasn't taken yet
    blind: int = 0  # the content id of the newest text that was typed without captions

    def of(self, turn: int) -> SaidTurn:
        """The words of this turn. If the turn isn't known, the result is a turn without words."""
        for said in reversed(self.turns):
            if said.turn == turn:
                return said
        return SaidTurn(turn)

    def text_of(self, turn: int) -> str:
        return self.of(turn).text

    def piece(self, turn: int, serial: int) -> str:
        """The text of one utterance in this turn; empty if the turn has no text from it."""
        return dict(self.of(turn).pieces).get(serial, "")

    def to_answer(self, first: int, last: int) -> tuple[SaidTurn, ...]:
        """The turns from `first` up to and including `last` that have words and aren't marked as overheard."""
        return tuple(
            said
            for said in self.turns
            if first <= said.turn <= last and said.mark is not TurnMark.OVERHEARD and said.text
        )

    def put(self, said: SaidTurn) -> SaidWords:
        """A copy of this object in which the words of one turn are replaced."""
        if not self.turns or self.turns[-1].turn <= said.turn:  # the newest turn, as nearly always
            is_known = bool(self.turns) and self.turns[-1].turn == said.turn
            return self._replace(turns=(*(self.turns[:-1] if is_known else self.turns), said))
        before = tuple(one for one in self.turns if one.turn < said.turn)
        after = tuple(one for one in self.turns if one.turn > said.turn)
        return self._replace(turns=(*before, said, *after))


def is_same_question(one: str, other: str) -> bool:
    """Are these texts equal, apart from case, punctuation and spaces?"""
    return one == other or _plain_words(one) == _plain_words(other)


def _plain_words(text: str) -> list[str]:
    return _PLAIN_WORD.findall(text.casefold())


def fate_of(said: SaidTurn, s: State) -> Fate:
    """What has become of the words of this turn, given this state of the conversation machine."""
    if said.mark is not TurnMark.NONE:
        return Fate(said.mark.value)
    if said.turn > s.said:
        return Fate.OPEN
    if said.turn > s.asked:
        return Fate.OWED
    return Fate.ASKED if said.turn > s.answered else Fate.ANSWERED


# -- What the user says


def hear(
    words: SaidWords, turn: int, serial: int, text: str, confidence: float, is_final: bool
) -> tuple[SaidWords, int]:
    """Set the text of an utterance in this turn, in place of the utterance's earlier text. Returns the new words, and
    the content id of the turn's text (0 if the text isn't final). If a turn gets the same final text again, the id is
    the same."""
    said = words.of(turn)
    text = encodable(text.strip())
    pieces = dict(said.pieces)
    if text or not said.given:  # an empty text doesn't take back words about which the brain was asked
        pieces[serial] = text
    had_words, before = bool(said.text), said.text
    said = said._replace(pieces=tuple(pieces.items()), confidence=confidence if text else said.confidence)
    if not is_same_question(before, said.text):
        said = said._replace(gist=said.gist + 1)
    if said.text and said.mark is TurnMark.TAKEN_BACK:
        said = said._replace(mark=TurnMark.NONE)
    elif had_words and not said.text:
        said = said._replace(mark=TurnMark.TAKEN_BACK)
    content = 0
    if is_final and said.text:
        words, said, content = _content_of(words, said)
    return words.put(said), content


def _content_of(words: SaidWords, said: SaidTurn) -> tuple[SaidWords, SaidTurn, int]:
    known = dict(said.finals)
    if said.text in known:
        return words, said, known[said.text]
    content = words.content + 1
    finals = (*said.finals, (said.text, content))[-FINALS_MAX:]
    return words._replace(content=content), said._replace(finals=finals), content


def store_typed(words: SaidWords, text: str, is_blind: bool = False) -> tuple[SaidWords, int]:
    """Store typed text until the conversation machine assigns it to a turn. Returns the new words, and the content id
    of the text."""
    content = words.content + 1
    words = words._replace(blind=content) if is_blind else words
    return words._replace(content=content, typed=(*words.typed, (content, encodable(text)))), content


# -- What becomes of it


def follow(words: SaidWords, record: StepRecord, needed: Iterable[int]) -> SaidWords:
    """Record what a step of the conversation machine has done with each word, and return the updated words. Turns in
    `needed` are kept, because text for them may still arrive."""
    event, before, after = record.event, record.before, record.after
    if type(event) is TextTyped:
        words = _take_typed(words, event.content, after.turn, event.at)
    for turn in _owed_turns(record):
        if words.of(turn).mark is TurnMark.OVERHEARD:
            words = _mark(words, turn, TurnMark.NONE)
    for effect in record.effects:
        match effect:
            case RecordOverheard(turn=turn):
                if not words.of(turn).given:  # a turn that was in a request isn't overheard
                    words = _mark(words, turn, TurnMark.OVERHEARD)
            case StartReply(reply=reply, first=first, last=last):
                for said in words.to_answer(first, last):
                    words = words.put(said._replace(given=said.text, given_in=reply))
            case ReportLost(first=first, last=last):
                for said in words.to_answer(first, last):
                    words = _mark(words, said.turn, TurnMark.LOST)
    if type(event) in (ToolCalled, ReplyFinished, PlaybackFinished):
        words = handle(words, max((said.given_in for said in words.turns), default=0))
    return _trim(words, after, needed) if after.answered > before.answered else words


def _owed_turns(record: StepRecord) -> tuple[int, ...]:
    """The turns that need an answer after this step, even if they were marked as overheard: the turn that was
    completed, and a turn whose text arrived late."""
    event, before, after = record.event, record.before, record.after
    if after.link in CLOSED:
        return ()
    completed = (after.said,) if after.said > before.said else ()
    if type(event) is WordsHeard and event.words and event.turn <= after.said:
        is_overheard = any(type(effect) is RecordOverheard for effect in record.effects)
        return completed if is_overheard else (*completed, event.turn)
    return completed


def handle(words: SaidWords, reply: int) -> SaidWords:
    """Mark the turns in the request for this reply as handled, because the reply was heard, was shown or has called a
    tool. Returns the new words."""
    for said in words.turns:
        if reply and said.given_in == reply and said.handled != said.given:
            words = words.put(said._replace(handled=said.given))
    return words


def _take_typed(words: SaidWords, content: int, turn: int, at: int) -> SaidWords:
    text = dict(words.typed).get(content)
    if text is None:
        return words
    said = words.of(turn)
    pieces = (*said.pieces, (TYPED - len(said.pieces), text))
    said = said._replace(pieces=pieces, mark=TurnMark.NONE, typed_at=at, is_blind=content == words.blind)
    return words._replace(typed=tuple(one for one in words.typed if one[0] != content)).put(said)


def _mark(words: SaidWords, turn: int, mark: TurnMark) -> SaidWords:
    return words.put(words.of(turn)._replace(mark=mark))


def recent(said: tuple[SaidTurn, ...], answered: int) -> tuple[SaidTurn, ...]:
    """The turns of a restored conversation that may still change: the newest TURNS_MAX turns, and all turns after
    `answered`, the newest turn that was answered."""
    unanswered = tuple(one for one in said[:-TURNS_MAX] if one.turn > answered)
    return unanswered + said[-TURNS_MAX:]


def _trim(words: SaidWords, s: State, needed: Iterable[int]) -> SaidWords:
    """Drop the oldest turns that are answered. Turns in `needed` are kept, because text for them may still arrive."""
    if len(words.turns) <= TURNS_MAX:
        return words
    old, awaited = words.turns[:-TURNS_MAX], frozenset(needed)
    kept = tuple(said for said in old if said.turn > s.answered or said.turn in awaited)
    return words._replace(turns=kept + words.turns[-TURNS_MAX:])
