"""The playback ledger: what the voice (TTS) says in one reply, and how much of it was heard.

The line (the connection to the user) reports how many milliseconds were played. The ledger knows which words the user
heard in that time. Rule: a word is treated as heard when its sound has ended. Only heard words become part of the
history.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from duologue.ports.sound import Sound, Word
from duologue.spoken.alignment import SpokenForm

DIGIT_CHARS = 5  # a digit takes about as long to say as this many letters
NOTICED_MS_MIN = 300  # a user doesn't notice a shorter sound as an answer
CHAR_MS = 65  # assumed duration of a character, for an incomplete sentence without word times
_ALONE = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"  # written without spaces
_TOKEN = re.compile(rf"[{_ALONE}][^\w\s]*\s*|[^\s{_ALONE}]+\s*")
_MARKS = " .,;:!?…\"'()[]“”‘’«»"  # noqa: RUF001 - punctuation of several scripts
_QUESTION_MARKS = ("?", "\uff1f", "\u061f", "\u037e")  # also the full-width, the Arabic and the Greek one
_AFTER_MARK = " \"')]\u201d\u2019\u00bb"  # what may follow the mark
_SENTENCE_END = re.compile(r"[.!?\u2026]+[\"')\]\u201d\u2019\u00bb]*\s+|[\u3002\uff01\uff1f]+")
_NUMBER = re.compile(r"\d[\d.,:]*")
_NAME = re.compile(r"(?<=\s)(?!I\b)[^\W\d_a-z]\w*")  # a capitalised word that isn't the first
_REACH = 24  # how many characters ahead the text is searched for the next word


class Split(NamedTuple):
    """A text in two parts: up to the last word that was heard, and the rest."""

    heard: str
    unheard: str


def is_question(sentence: str) -> bool:
    """Does this sentence end with a question mark?"""
    return sentence.strip(_AFTER_MARK).endswith(_QUESTION_MARKS)


@dataclass(slots=True)
class Passage:
    """One sentence and its sound. If `glued` is true, the text comes from a speech-to-speech model and is joined to the
    texts before and after it without spaces. `spoken` is the text as the voice says it; None if the voice says exactly
    `text`."""

    text: str
    start_ms: int
    ms: int = 0
    words: list[Word] = field(default_factory=list)
    whole: bool = False  # all sound of the sentence has arrived
    glued: bool = False
    values: tuple[str, ...] | None = None  # the values in an open question; None if the sentence isn't marked as one
    spoken: SpokenForm | None = None
    goes_on: bool = False  # the next passage continues the sentence
    _cuts: _Cuts | None = None  # cached, because the line often reports how much was heard
    _timed: list[Word] | None = None  # cached once the sentence is whole

    @property
    def is_question(self) -> bool:
        return self.values is not None or is_question(self.text)

    def values_ms(self, shown: str, has_names: bool) -> int:
        """The time, in milliseconds of the reply's sound, at which the last value in this sentence has been said; 0 if
        there is no value. A value is a number, one of `values`, or a name if `has_names` is true. A value that is
        displayed in `shown` needn't be heard and isn't counted."""
        found = [(match.group(), match.end()) for match in _NUMBER.finditer(self.text)]
        if has_names:
            found += [(match.group(), match.end()) for match in _NAME.finditer(self.text)]
        text = _folded(self.text)
        found += [
            (value, text.find(_folded(value)) + len(value)) for value in self.values or () if _folded(value) in text
        ]
        needed = max((end for value, end in found if _folded(value) not in _folded(shown)), default=0)
        return self.start_ms + self._ms_until(needed) if needed else 0

    def _ms_until(self, place: int) -> int:
        """How many milliseconds of the sentence's sound have been played when the voice reaches this position in the
        text."""
        if self.spoken is None and not self.words:
            return self.ms * _length(self.text[:place]) // max(1, _length(self.text))
        cuts = self._find_cuts()
        at = bisect_left(cuts.places, place)
        if at == len(cuts.places):
            return self.ms
        return cuts.ends[at] if self.words else self.ms * cuts.ends[at] // max(1, cuts.length)

    def split(self, heard_ms: int) -> Split:
        """The heard and the unheard part of the sentence after `heard_ms` of the reply. If some sound of this sentence
        hasn't arrived yet, its text is treated as unheard, even if sound that comes later in the reply was heard."""
        cut = self.cut(heard_ms)
        return Split(self.text[:cut], self.text[cut:])

    def cut(self, heard_ms: int) -> int:
        """The position in the text at which the heard part ends."""
        if self.spoken is not None and self.is_silent and 0 < heard_ms >= self.start_ms:
            return len(self.text)
        heard_ms = min(heard_ms - self.start_ms, self.ms)
        if heard_ms <= 0:
            return 0
        if self.whole and heard_ms >= self.ms:
            return len(self.text)
        cuts = self._find_cuts()
        if self.words:
            return cuts.at(heard_ms)
        total_ms = self.ms if self.whole else max(self.ms, cuts.length * CHAR_MS)
        return cuts.at(heard_ms * cuts.length // max(1, total_ms))

    @property
    def is_silent(self) -> bool:
        """Is the sentence only displayed, because nothing in it can be spoken?"""
        return self.spoken is not None and self.whole and not self.ms and self.spoken.is_silent

    def _find_cuts(self) -> _Cuts:
        """The positions (cuts) at which this sentence can be split into a heard and an unheard part. They are computed
        from the times of the words or, if the voice reports no times, from the lengths of the words."""
        cuts = self._cuts
        if cuts is None or not cuts.fits(self.text, len(self.words)):
            said = self.text if self.spoken is None else self.spoken.text
            cuts = _cuts_by_times(said, self.words) if self.words else _cuts_by_length(said)
            if self.spoken is not None:
                cuts = cuts.written(self.spoken)
            self._cuts = cuts
        return cuts

    def timed_words(self) -> list[Word]:
        """The words of this sentence, with times from the beginning of the reply's sound."""
        if self._timed is not None:
            return self._timed
        timed = self._time_words()
        if self.whole:
            self._timed = timed
        return timed

    def said_words(self) -> list[Word]:
        """The words of this sentence as the voice says them, with times from the beginning of the reply's sound."""
        if self.spoken is None:
            return self.timed_words()
        if self.words:
            return [Word(word.text, self.start_ms + word.start_ms, self.start_ms + word.end_ms) for word in self.words]
        said = self.spoken.text
        return Passage(said, self.start_ms, self.ms, whole=self.whole).timed_words()

    def _time_words(self) -> list[Word]:
        if self.words and self.spoken is None:
            return [Word(word.text, self.start_ms + word.start_ms, self.start_ms + word.end_ms) for word in self.words]
        cuts = self._find_cuts()
        length = max(1, cuts.length)
        total_ms = self.ms if self.whole else max(self.ms, length * CHAR_MS)
        timed, end, first = [], 0, 0
        for token in _TOKEN.finditer(self.text):
            word = token.group().strip()
            at = min(bisect_left(cuts.places, token.start() + len(word), first), len(cuts.ends) - 1)
            if at < 0 or (self.words and cuts.places[at] < token.start() + len(word)):
                break  # the sound of this word hasn't come yet
            start, end = end, cuts.ends[at]
            if self.words:
                start = max(start, self.words[first].start_ms if first <= at else end)
                timed.append(Word(word, self.start_ms + start, self.start_ms + end))
            else:
                start_ms, end_ms = round(start * total_ms / length), round(end * total_ms / length)
                timed.append(Word(word, self.start_ms + start_ms, self.start_ms + end_ms))
            first = at + 1
        return timed


@dataclass(frozen=True, slots=True)
class _Cuts:
    """The positions at which the text of a sentence can be split into a heard and an unheard part: one after each word
    (`places`). For each of them, `ends` says when the sound of the word ends: in milliseconds if the voice reports word
    times, otherwise as the number of letters said until then."""

    text: str
    words: int
    ends: list[int]
    places: list[int]
    length: int  # the length of the text, in letters

    def fits(self, text: str, words: int) -> bool:
        """Were these positions computed for this text and this number of timed words?"""
        return words == self.words and (text is self.text or text == self.text)

    def written(self, spoken: SpokenForm) -> _Cuts:
        """Convert these positions from the spoken text to the written text. No position is inside a written word."""
        tokens = [token.start() + len(token.group().rstrip()) for token in _TOKEN.finditer(spoken.written)]
        places = list[int]()
        for place in self.places:
            ended = bisect_right(tokens, spoken.written_place(place))
            places.append(tokens[ended - 1] if ended else 0)
        return _Cuts(spoken.written, self.words, self.ends, places, self.length)

    def at(self, end: int) -> int:
        """The position in the text after the last word that has ended by `end`; 0 if no word has ended."""
        count = bisect_right(self.ends, end)
        return self.places[count - 1] if count else 0


def _cuts_by_times(text: str, words: list[Word]) -> _Cuts:
    """The positions at which a text can be split, from the times of its words. If the voice spells a word differently
    than the text does, the word is matched with the next word of the text. No position is inside a word."""
    folded, cut = _folded(text), 0
    tokens = [token.start() + len(token.group().rstrip()) for token in _TOKEN.finditer(text)]
    ends, places = list[int](), list[int]()
    for word in words:
        wanted = _folded(word.text).strip(_MARKS)
        found = folded.find(wanted, cut, cut + len(wanted) + _REACH) if wanted else -1
        at = bisect_left(tokens, found + len(wanted) if found >= 0 else cut + 1)
        cut = tokens[at] if at < len(tokens) else len(text)
        ends.append(max(word.end_ms, ends[-1] if ends else 0))
        places.append(cut)
    return _Cuts(text, len(words), ends, places, 0)


def _cuts_by_length(text: str) -> _Cuts:
    """The positions at which a text without word times can be split, with ends that are estimated from the lengths of
    its words."""
    places = [token.end() for token in _TOKEN.finditer(text)]
    ends, length, before = list[int](), 0, 0
    for place in places:
        length += _length(text[before:place])
        ends.append(length)
        before = place
    return _Cuts(text, 0, ends, places, _length(text))


class Ledger:
    """Everything that one reply says, in order, and how much of it was heard."""

    def __init__(self) -> None:
        self._passages: list[Passage] = []
        self._changes = 0  # how often something was added
        self._done = 0  # how many passages were wholly heard, counted from the first, ...
        self._done_text = ""  # ... and their text
        self._is_open = False
        self._is_growing = False  # a model sends text with its sound, and more text of the passage will follow
        self.total_ms = 0
        self.heard_ms = 0
        self.chunks = 0
        self.shown = ""  # text that is only displayed
        self.earlier = ""  # the beginning of the reply, which was heard before this process made it again

    def begin(
        self,
        text: str,
        values: tuple[str, ...] | None = None,
        spoken: SpokenForm | None = None,
        goes_on: bool = False,
    ) -> None:
        """Start a sentence. The sounds that are added next belong to it. `values` are the values (such as a date) that
        the sentence names if it asks an open question, otherwise None. `spoken` is the text as the voice says it; None
        if the voice says exactly `text`. If `goes_on` is true, the text is only a part of a sentence, and the next call
        of `begin` continues the sentence."""
        self._changes += 1
        said = None if spoken is None or (spoken.text == text and not spoken.is_silent) else spoken
        self._passages.append(Passage(text, self.total_ms, values=values, spoken=said, goes_on=goes_on))
        self._is_open = True
        self._is_growing = False

    def add(self, sound: Sound) -> int:
        """Add a sound of the current sentence, or a sound that brings its own text, from a speech-to-speech model.
        Returns the number of the sound, counted from 1 in this reply."""
        self._changes += 1
        if self._is_growing:
            self._passages[-1].text += sound.text
            self._passages[-1].whole = not sound.more
        elif sound.text or sound.more or not self._is_open:
            self._passages.append(Passage(sound.text, self.total_ms, whole=not sound.more, glued=True))
        self._is_growing = sound.more
        passage = self._passages[-1]
        passage.words += [Word(word.text, word.start_ms + passage.ms, word.end_ms + passage.ms) for word in sound.words]
        passage.ms += sound.ms
        self.total_ms += sound.ms
        self.chunks += 1
        self._look_again(passage)
        return self.chunks

    def end(self) -> None:
        """End the current sentence. Call this after all of its sound was added."""
        self._changes += 1
        self._passages[-1].whole = True
        self._is_open = False

    def note_heard(self, heard_ms: int) -> None:
        """Record that the line has played `heard_ms` of the reply. The recorded value never decreases, and it is never
        greater than the total length of the sound."""
        self.heard_ms = max(self.heard_ms, min(heard_ms, self.total_ms))

    def assume(self, heard_ms: int) -> None:
        """Use this after a crash, when the line may have played more sound than is recorded here. The newest sentence
        is extended, so that the reply is at least `heard_ms` long. If all sound of the newest sentence has arrived, it
        isn't extended, because the additional sound then came after that sentence."""
        more_ms = heard_ms - self.total_ms
        if more_ms > 0 and self._passages and not self._passages[-1].whole:
            passage = self._passages[-1]
            passage.ms += more_ms
            passage.words, passage.whole = [], False  # the word times of the added sound are unknown
            self.total_ms += more_ms
            self._changes += 1
            self._look_again(passage)

    def dump(self) -> dict[str, Any]:
        """The ledger as JSON values."""
        passages = [
            [one.text, one.start_ms, one.ms, [list(word) for word in map(_word, one.words)], one.whole, one.glued]
            + ([one.spoken.dump()] if one.spoken is not None else [])
            for one in self._passages
        ]
        amounts = {"total_ms": self.total_ms, "heard_ms": self.heard_ms}
        return {"passages": passages, **amounts, "shown": self.shown, "earlier": self.earlier}

    @classmethod
    def load(cls, data: dict[str, Any]) -> Ledger:
        """Make a ledger from what `dump` returned. Raises ValueError, TypeError or KeyError for invalid data."""
        ledger = cls()
        for text, start_ms, ms, words, whole, glued, *spoken in data["passages"]:
            timed = [Word(_text(word), _ms(start), _ms(end)) for word, start, end in words]
            passage = Passage(_text(text), _ms(start_ms), _ms(ms), timed, whole is True, glued is True)
            passage.spoken = SpokenForm.load(passage.text, spoken[0]) if spoken else None
            ledger._passages.append(passage)
        ledger.total_ms, ledger.heard_ms = _ms(data["total_ms"]), _ms(data["heard_ms"])
        ledger.shown = _text(data["shown"])
        ledger.earlier = _text(data.get("earlier", ""))  # earlier versions didn't save it
        return ledger

    @property
    def growth(self) -> tuple[int, bool]:
        """How many sentences there are, and whether all sound of the newest sentence has arrived."""
        return len(self._passages), bool(self._passages) and self._passages[-1].whole

    @property
    def text(self) -> str:
        """The whole text of the reply."""
        return _join([(passage.text, passage.glued) for passage in self._passages]).strip()

    def known(self) -> Split:
        """Split the reply into the part that the user knows, because it was heard or displayed, and the part that
        wasn't heard."""
        heard, unheard = self.split()
        return Split(" ".join(part for part in (self.earlier, heard, self.shown) if part).strip(), unheard)

    def counts_as_heard(self, heard_ms: int | None = None) -> bool:
        """Has the user heard enough of the reply, after `heard_ms` of its sound, to know that the agent has answered?
        True if the first sentence was heard to the end. Also true if at least one word and NOTICED_MS_MIN of sound were
        heard; the word "I" alone is too short. The default for `heard_ms` is `self.heard_ms`."""
        at = self.heard_ms if heard_ms is None else heard_ms
        first = next((passage for passage in self._passages if passage.text.strip()), None)
        if first is None:
            return False
        heard, unheard = first.split(at)
        return bool(heard.strip()) and (at >= NOTICED_MS_MIN or not unheard.strip())

    def last_question(self, has_names: bool = True) -> tuple[int, int, int] | None:
        """If the last sentence is a question, returns three points in time, in milliseconds of the reply's sound: the
        start of the question, its end, and the end of the last value in it (0 if it contains no value). Otherwise
        returns None. If `has_names` is true, a capitalised word is a value too."""
        said = [passage for passage in self._passages if passage.text.strip() and not passage.is_silent]
        if not said or not said[-1].is_question:
            return None
        first = len(said) - 1
        while first and said[first - 1].goes_on:
            first -= 1
        end_ms = max(part.values_ms(self.shown, has_names) for part in said[first:])
        return said[first].start_ms, said[-1].start_ms + said[-1].ms, end_ms

    def rest_from_sentence(self) -> str:
        """The text that must still be said. It begins with the first sentence that wasn't heard completely, from the
        start of that sentence. Empty if everything was heard."""
        for number, passage in enumerate(self._passages):
            heard, unheard = passage.split(self.heard_ms)
            if not passage.text.strip() or not unheard.strip():
                continue
            if passage.glued:  # the texts of a speech-to-speech model begin and end anywhere
                before = _join([(one.text, one.glued) for one in self._passages[:number]]) + heard
                after = [(one.text, one.glued) for one in self._passages[number + 1 :]]
                return _join(after, before[_sentence_start(before) :] + unheard).strip()
            while number and self._passages[number - 1].goes_on:
                number -= 1
            return _join([(one.text, one.glued) for one in self._passages[number:]])
        return ""

    def question_text(self) -> str:
        """The last sentence, if it is a question. Otherwise empty."""
        question = self.last_question()
        if question is None:
            return ""
        asked = [(one.text, one.glued) for one in self._passages if one.start_ms >= question[0] and not one.is_silent]
        return _join(asked).strip()

    def heard_sentences(self) -> str:
        """The sentences that were heard completely, including the sentences that an earlier process played."""
        text, rest = self.text, self.rest_from_sentence().strip()
        heard = text[: len(text) - len(rest)].strip() if text.endswith(rest) else ""
        return f"{self.earlier} {heard}".strip()

    @property
    def words(self) -> list[Word]:
        """The words of the reply so far, with times from the beginning of the reply's sound. If the voice reports no
        word times, the times are estimated from the lengths of the words."""
        return [word for passage in self._passages for word in passage.timed_words()]

    @property
    def said_words(self) -> list[Word]:
        """The words as the voice says them. For example, these words contain "three dollars" where `words` contains
        "$3". If the microphone picks up the agent's voice, it hears these words."""
        return [word for passage in self._passages for word in passage.said_words()]

    def split(self, heard_ms: int | None = None) -> Split:
        """The heard and the unheard text of the reply after `heard_ms` of its sound. The default for `heard_ms` is
        `self.heard_ms`."""
        first, before, at = 0, "", heard_ms
        if at is None:
            self._pass_heard()
            first, before, at = self._done, self._done_text, self.heard_ms
        parts = [(passage.split(at), passage.glued) for passage in self._passages[first:]]
        return Split(
            _join([(part.heard, glued) for part, glued in parts], before).strip(),
            _join([(part.unheard, glued) for part, glued in parts]).strip(),
        )

    def place(self) -> tuple[int, ...]:
        """Numbers that describe where the heard text ends. As long as these numbers stay the same, the results of
        `split()` and `shown` stay the same too. Computing the numbers takes about as long for a long reply as for a
        short one."""
        first = self._pass_heard()
        cuts = [first] if self._done < len(self._passages) else []
        for at in range(self._done + 1, len(self._passages)):
            passage = self._passages[at]
            if passage.start_ms >= self.heard_ms:
                break
            cuts.append(passage.cut(self.heard_ms))
        while cuts and not cuts[-1]:  # a passage of which nothing was heard, as if its sound had not begun
            cuts.pop()
        return self._changes, len(self.shown), self._done, *cuts

    def _look_again(self, newest: Passage) -> None:
        """Delete the cached values that depend on the newest passage, because this passage has changed."""
        newest._timed = None
        if self._done == len(self._passages):
            self._done, self._done_text = 0, ""

    def _pass_heard(self) -> int:
        """Update the count and the text of the passages (sentences) that were heard completely. Such passages don't
        change any more. Returns where the heard part of the next passage ends; 0 if there is no next passage."""
        while self._done < len(self._passages):
            passage = self._passages[self._done]
            cut = passage.cut(self.heard_ms)
            if cut < len(passage.text) or not passage.whole:
                return cut
            self._done_text = _join([(passage.text, passage.glued)], self._done_text)
            self._done += 1
        return 0


def _length(text: str) -> int:
    """How long it takes to say a text, measured in letters. A digit is counted as several letters, because its name has
    several."""
    return len(text) + (DIGIT_CHARS - 1) * sum(map(str.isdigit, text))


def _sentence_start(text: str) -> int:
    """The index at which the last sentence of this text begins. That sentence may not have ended yet."""
    return max((match.end() for match in _SENTENCE_END.finditer(text)), default=0)


def _ms(value: Any) -> int:
    if type(value) is not int or value < 0:
        raise ValueError("a ledger's times must be whole, non-negative milliseconds")
    return value


def _text(value: Any) -> str:
    if type(value) is not str:
        raise ValueError("a ledger's texts must be strings")
    return value


def _folded(text: str) -> str:
    """The text in case-folded form, but with the same length. A letter whose case-folded form has two letters, such as
    the German sharp s, is left unchanged."""
    folded = text.casefold()
    if len(folded) == len(text):
        return folded
    return "".join(small if len(small := letter.casefold()) == 1 else letter for letter in text)


def _word(word: Word) -> tuple[str, int, int]:
    return word.text, word.start_ms, word.end_ms


def _join(parts: list[tuple[str, bool]], text: str = "") -> str:
    """Append the parts to this text. A glued part is appended as it is, and any other part with a space before it."""
    for part, glued in parts:
        if glued:
            text += part
        elif part.strip():
            text = f"{text.rstrip()} {part.strip()}"
    return text
