"""The seam between two brains in one answer: up to which sentence the first brain has said the answer.

The first sentence is passed on as it arrives, so that the voice can start early. Later text is passed on in whole
sentences, which is when the voice would begin it anyway. Rule: another brain may go on only if everything that was
passed on ends with a sentence, and if nothing but text was passed on.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import dropwhile

from duologue.ports.brain import Part, Working
from duologue.voice.sentences import Sentences

HELD_MS_MAX = 2_000  # a slow brain's words don't wait longer for the end of their sentence


class SentenceSeam:
    """What the brains of one answer have said so far."""

    def __init__(self, language: str = "en") -> None:
        self._language = language
        self._splitter = Sentences(language)
        self._text = ""  # of the brain that answers now
        self._passed = 0  # how much of it was passed on or dropped
        self._ended = 0  # where its last complete sentence ends
        self._ended_at_ms = 0
        self._said = ""  # by all brains
        self._only_text = True
        self._waits = False  # is text held back until its sentence is complete?
        self._repeats = frozenset[str]()  # sentences that a brain that goes on may not say again

    @property
    def said(self) -> str:
        """The text of the answer that was passed on."""
        return self._said.strip()

    @property
    def is_open(self) -> bool:
        """May another brain go on here?"""
        return self._only_text and bool(self.said) and not self._text[self._ended : self._passed].strip()

    def go_on(self) -> None:
        """Drop the sentence that isn't complete: another brain goes on after the last whole one."""
        assert self.is_open, "there is no seam here"
        sentences = Sentences(self._language)
        self._repeats = frozenset(map(_bare, (*sentences.feed(f"{self.said} "), sentences.rest())))
        self._splitter, self._text, self._passed, self._ended = Sentences(self._language), " ", 0, 0
        self._splitter.feed(self._text)  # a space between what both brains say
        self._waits = True

    def take(self, part: Part, at_ms: int) -> Iterator[Part]:
        """Add a part of the answer, which came at `at_ms`. Yields the parts that may be passed on now."""
        if not isinstance(part, str):
            self._only_text = self._only_text and isinstance(part, Working)
            yield from self.rest()
            yield part
            return
        if self._ended == len(self._text):
            self._ended_at_ms = at_ms
        self._text += part
        if found := self._splitter.feed(part):
            self._ended, self._ended_at_ms = len(self._text) - len(self._splitter.unfinished), at_ms
            yield from self._pass(self._ended, found)
            self._waits = True
        if not self._waits or at_ms - self._ended_at_ms >= HELD_MS_MAX:
            yield from self._pass(len(self._text), [])

    def rest(self) -> Iterator[str]:
        """The text that is still held back, because the answer is over or something else than text follows."""
        last = self._splitter.rest()
        yield from self._pass(len(self._text), [last] if last else [])

    def _pass(self, end: int, sentences: list[str]) -> Iterator[str]:
        """Pass the text up to this position on. `sentences` are the sentences that it completes. Sentences that another
        brain has said are left out, up to the first new one."""
        end = max(end, self._passed)  # the space behind a sentence may have been passed on before the sentence ended
        text, self._passed = self._text[self._passed : end], end
        if sentences and self._repeats:
            new = list(dropwhile(lambda one: _bare(one) in self._repeats, sentences))
            if len(new) < len(sentences):
                text = f" {text[text.index(new[0]) :]}" if new and new[0] in text else ""
            if new:
                self._repeats = frozenset()
        if text:
            self._said += text
            yield text


def _bare(sentence: str) -> str:
    return " ".join("".join(c if c.isalnum() else " " for c in sentence.casefold()).split())
