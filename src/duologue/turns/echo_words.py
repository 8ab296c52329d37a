"""Decides by words and times whether a text is the agent's own voice, picked up by the microphone.

The heard words are aligned with the agent's recent words. When an STT model transcribes an echo, it mishears words and
cuts off the first and last ones. So the words only have to be similar. Rule: a person can repeat the agent's words only
after hearing them. So similar words that begin while the agent's words sound are an echo, and similar words that begin
when the person can have heard them are an answer.
If the times aren't known, a single word is never judged to be an echo.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise, takewhile

from .own_speech import OwnSpeech, SpokenWord
from .words import FILLERS, words_of

WORDS_MIN = 2  # without times, fewer words are never an echo, because people answer with the agent's words


@dataclass(frozen=True, slots=True)
class EchoWordsRule:
    """The thresholds that decide whether heard words are the agent's own."""

    similar_min: float = 0.5  # words that share this much of their letter pairs are the same word, misheard
    edge_similar_min: float = 0.3  # used instead for the first and the last word, which are often cut off
    matched_min: float = 0.6  # this share of the heard letters must be in similar words
    reaction_ms: int = 200  # a person repeats a word at the earliest this long after its end
    delay_ms_max: int = 1_200  # an echo is heard at the latest this long after its word: line, detection and lead-in
    lead_ms_max: int = 400  # a word may be played this long after the onset: words from the middle of an utterance


RULE = EchoWordsRule()
_GAP, _WRONG = -0.3, -0.2  # the cost of a word that only one side has, and of a word that is misheard completely


@dataclass(frozen=True, slots=True)
class _Pair:
    """The positions of a heard word and of the agent's word that matches it. `own` is -1 if no word of the agent
    matches."""

    heard: int
    own: int
    similarity: float


def is_echo(heard: str, spoken: str, rule: EchoWordsRule = RULE) -> bool:
    """Is the heard text an echo of the text that the agent is saying? That is, does `spoken` contain the words of
    `heard`, in the same order? Use `is_own` instead if the times of the words are known."""
    mine, theirs = words_of(heard), words_of(spoken)
    return len(mine) >= WORDS_MIN and _is_explained(mine, theirs, rule) is not None


def is_own(heard: str, own: OwnSpeech, onset_at: int, late_ms: int = 0, rule: EchoWordsRule = RULE) -> bool:
    """Are these words an echo of the agent's own words? `onset_at` is the time at which the onset (the first sign of
    speech) was reported. If the ears report no onsets, `onset_at` is the time at which the text arrived, and `late_ms`
    is how long after the onset a text may arrive."""
    recent = _recent(own, onset_at, late_ms, rule)
    mine = words_of(heard) if recent else []
    found = _is_explained(mine, [word.text for word in recent], rule) if mine else None
    if found is None:
        return False
    return _is_too_early(recent, found, onset_at, late_ms, rule)


def _recent(own: OwnSpeech, onset_at: int, late_ms: int, rule: EchoWordsRule) -> list[SpokenWord]:
    """The words of the agent that an echo with its onset at `onset_at` can contain."""
    return [word for word in own.words if word.start_ms >= onset_at - rule.delay_ms_max - late_ms]


def _is_too_early(
    words: Sequence[SpokenWord], found: tuple[int, int], onset_at: int, late_ms: int, rule: EchoWordsRule
) -> bool:
    """Did the text begin before a person could have repeated the agent's words? `found` has the positions of the first
    and the last of the agent's words that match the text."""
    repeatable_at = words[found[1]].end_ms + rule.reaction_ms
    return words[found[0]].start_ms <= onset_at + rule.lead_ms_max and onset_at - late_ms <= repeatable_at


def without_own(heard: str, own: OwnSpeech, onset_at: int, late_ms: int = 0, rule: EchoWordsRule = RULE) -> str:
    """The heard text without the agent's words at its beginning and its end. If a person speaks during an echo, the
    echo is transcribed together with the person's words. The agent's words are removed only if the person can't have
    repeated them. For words at the beginning, this is decided as in `is_own`. Words at the end must have been played
    after the onset. If no words would remain, the text is returned unchanged."""
    recent = _recent(own, onset_at, late_ms, rule)
    if not recent:
        return heard
    mine = words_of(heard)
    pairs = _align(mine, [word.text for word in recent], rule)
    lead, tail = _run(pairs, rule), _run(pairs[::-1], rule)
    if lead and not _is_too_early(recent, (lead[0].own, lead[-1].own), onset_at, late_ms, rule):
        lead = []
    if tail and recent[tail[-1].own].start_ms < onset_at:
        tail = []
    if not (lead or tail) or len(lead) + len(tail) >= len(mine):
        return heard
    return _between(heard, len(lead), len(mine) - len(tail))


def _run(pairs: Sequence[_Pair], rule: EchoWordsRule) -> list[_Pair]:
    """The pairs before the first heard word that isn't the agent's. Empty if there are too few pairs for an echo."""
    run = list(takewhile(lambda pair: pair.similarity >= rule.similar_min, pairs))
    is_gapless = all(abs(one.own - other.own) == 1 for one, other in pairwise(run))
    is_enough = len(run) > WORDS_MIN or (len(run) == WORDS_MIN and _is_exact(sorted(run, key=lambda pair: pair.own)))
    return run if is_gapless and is_enough else []


def _between(text: str, first: int, last: int) -> str:
    """The part of a text from the word with the number `first` up to, but not including, the word with the number
    `last`. Words that are written without spaces between them, such as "twenty-one", are kept together."""
    kept, at = [], 0
    for token in text.split():
        size = len(words_of(token))
        if first < at + size and at < last:
            kept.append(token)
        at += size
    return " ".join(kept)


# -- Aligning


def _is_explained(mine: Sequence[str], theirs: Sequence[str], rule: EchoWordsRule) -> tuple[int, int] | None:
    """If the heard words match the agent's words well enough to be an echo, returns the positions of the first and the
    last matching word of the agent. Otherwise returns None."""
    pairs = _align(mine, theirs, rule)
    same = [place for place, pair in enumerate(pairs) if pair.similarity >= rule.similar_min]
    if not same or len(same) < min(len(mine), WORDS_MIN):
        return None
    if len(mine) <= WORDS_MIN and not _is_exact([pairs[place] for place in same]):
        return None
    letters = sum(len(mine[pairs[place].heard]) for place in same)
    if letters < rule.matched_min * sum(map(len, mine)):
        return None
    foreign = [_is_foreign(mine[pair.heard], pair.similarity, rule) for pair in pairs]
    if any(foreign[: same[0]]) or any(foreign[same[-1] + 1 :]) or any(map(all, pairwise(foreign))):
        return None
    return pairs[same[0]].own, pairs[same[-1]].own


def _is_foreign(word: str, similarity_: float, rule: EchoWordsRule) -> bool:
    """Is this a word that the agent didn't say? At the beginning or end of the text, one such word shows that a person
    spoke. In the middle, two such words in a row are needed, because a single word may be misheard."""
    return similarity_ < rule.edge_similar_min and len(word) > 1 and word not in FILLERS


def _is_exact(pairs: Sequence[_Pair]) -> bool:
    """Do these words match consecutive words of the agent, nearly letter by letter? This is required if the heard text
    has only one or two words."""
    gapless = pairs[-1].own - pairs[0].own == len(pairs) - 1
    return gapless and all(pair.similarity >= (1 + RULE.similar_min) / 2 for pair in pairs)


def _align(mine: Sequence[str], theirs: Sequence[str], rule: EchoWordsRule) -> list[_Pair]:
    """The best alignment of the heard words with the agent's words: one pair for each heard word, in order. The agent's
    words before the first pair and after the last pair don't make an alignment worse."""
    gains = [[_gain(word, other, rule) for other in theirs] for word in mine]
    best = [[0.0] * (len(theirs) + 1)]
    for gain in gains:
        line = [best[-1][0] + _GAP]
        for place in range(len(theirs)):
            paired = best[-1][place] + gain[place]
            line.append(max(paired, best[-1][place + 1] + _GAP, line[-1] + _GAP))
        best.append(line)
    at, place = len(mine), max(range(len(theirs) + 1), key=lambda end: (best[-1][end], -end))
    pairs: list[_Pair] = []
    while at:
        if place and best[at][place] == best[at - 1][place - 1] + gains[at - 1][place - 1]:
            at, place = at - 1, place - 1
            pairs.append(_Pair(at, place, similarity(mine[at], theirs[place])))
        elif best[at][place] == best[at - 1][place] + _GAP:
            at -= 1
            pairs.append(_Pair(at, -1, 0.0))
        else:
            place -= 1
    return pairs[::-1]


def _gain(word: str, other: str, rule: EchoWordsRule) -> float:
    same = similarity(word, other)
    return same if same >= rule.similar_min else _WRONG


@lru_cache(maxsize=4096)
def similarity(word: str, other: str) -> float:
    """How similar two words are, from 0 to 1: the share of letter pairs that both have. If `word` has three or more
    letters and is the beginning or the end of `other`, the similarity is 0.75, because the first and last words of an
    utterance are often cut off."""
    if word == other:
        return 1.0
    if len(word) >= 3 and (other.startswith(word) or other.endswith(word)):
        return 0.75
    mine, theirs = _pairs_of(word), _pairs_of(other)
    common = sum(min(mine.count(pair), theirs.count(pair)) for pair in set(mine))
    return 2 * common / (len(mine) + len(theirs))


def _pairs_of(word: str) -> list[str]:
    framed = f"^{word}$"
    return [framed[at : at + 2] for at in range(len(framed) - 1)]
