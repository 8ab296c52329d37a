"""Decides by words and times whether a text is the agent's own voice, heard through the microphone.

The heard words are aligned with the agent's recent words. A model that transcribes an echo mishears words and cuts the
first and last ones, so words need only be similar. Rule: a person can repeat the agent's words only after hearing them.
A text that began earlier is an echo; one that began later is an answer. Without times, a single word is never an echo.
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
    edge_similar_min: float = 0.3  # instead, for the first and the last word, which are often cut
    matched_min: float = 0.6  # this share of the heard letters must be in similar words
    reaction_ms: int = 200  # a person repeats a word at the earliest this long after its end
    delay_ms_max: int = 1_200  # an echo is heard at the latest this long after its word: line, detection and lead-in
    lead_ms_max: int = 400  # a word may be played this long after the onset: words from the middle of an utterance


RULE = EchoWordsRule()
_GAP, _WRONG = -0.3, -0.2  # the cost of a word that only one side has, and of a word that is misheard completely


@dataclass(frozen=True, slots=True)
class _Pair:
    """The places of a heard word and of the agent's word that matches it. `own` is -1 if no word of the agent does."""

    heard: int
    own: int
    similarity: float


def is_echo(heard: str, spoken: str, rule: EchoWordsRule = RULE) -> bool:
    """Does the text that the agent is saying contain these words, in the same order? Use `is_own` if the times are
    known."""
    mine, theirs = words_of(heard), words_of(spoken)
    return len(mine) >= WORDS_MIN and _is_explained(mine, theirs, rule) is not None


def is_own(heard: str, own: OwnSpeech, onset_at: int, late_ms: int = 0, rule: EchoWordsRule = RULE) -> bool:
    """Are these words the agent's own, heard back? `onset_at` is when their onset (the first sign of speech) was
    reported. For ears that report no onsets, `onset_at` is the time of the text, and `late_ms` is how late that is."""
    recent = _recent(own, onset_at, late_ms, rule)
    mine = words_of(heard)
    found = _is_explained(mine, [word.text for word in recent], rule) if mine else None
    if found is None:
        return False
    return _is_too_early(recent, found, onset_at, late_ms, rule)


def _recent(own: OwnSpeech, onset_at: int, late_ms: int, rule: EchoWordsRule) -> list[SpokenWord]:
    """The agent's words with which an echo that is heard at this time may begin."""
    return [word for word in own.words if word.start_ms >= onset_at - rule.delay_ms_max - late_ms]


def _is_too_early(
    words: Sequence[SpokenWord], found: tuple[int, int], onset_at: int, late_ms: int, rule: EchoWordsRule
) -> bool:
    """Did the text begin before a person could have repeated the agent's words? `found` has the places of the first and
    the last of these words."""
    repeatable_at = words[found[1]].end_ms + rule.reaction_ms
    return words[found[0]].start_ms <= onset_at + rule.lead_ms_max and onset_at - late_ms <= repeatable_at


def without_own(heard: str, own: OwnSpeech, onset_at: int, late_ms: int = 0, rule: EchoWordsRule = RULE) -> str:
    """The heard text without the agent's words at its beginning and its end, because a person who speaks over an echo
    is transcribed together with it. A run of the agent's words is left out only if a person can't have repeated it: at
    the beginning by `is_own`'s rule, and at the end if it was played after the onset. If nothing else remains, the text
    is returned unchanged."""
    recent = _recent(own, onset_at, late_ms, rule)
    mine = words_of(heard) if recent else []
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
    """The pairs up to the first word that isn't the agent's. Empty if they are too few to be an echo."""
    run = list(takewhile(lambda pair: pair.similarity >= rule.similar_min, pairs))
    is_gapless = all(abs(one.own - other.own) == 1 for one, other in pairwise(run))
    is_enough = len(run) > WORDS_MIN or (len(run) == WORDS_MIN and _is_exact(sorted(run, key=lambda pair: pair.own)))
    return run if is_gapless and is_enough else []


def _between(text: str, first: int, last: int) -> str:
    """The words of a text from number `first` up to, but not including, number `last`. A token without spaces is kept
    whole."""
    kept, at = [], 0
    for token in text.split():
        size = len(words_of(token))
        if first < at + size and at < last:
            kept.append(token)
        at += size
    return " ".join(kept)


# -- Aligning


def _is_explained(mine: Sequence[str], theirs: Sequence[str], rule: EchoWordsRule) -> tuple[int, int] | None:
    """The places of the first and the last of the agent's words that match the heard text. None if the text isn't
    explained by the agent's words."""
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
    """Is this a word that the agent didn't say? At an edge of the text, one such word shows that a person spoke. In the
    middle, it takes two in a row, because a single word may be misheard."""
    return similarity_ < rule.edge_similar_min and len(word) > 1 and word not in FILLERS


def _is_exact(pairs: Sequence[_Pair]) -> bool:
    """Do these words match the agent's words without a gap, and nearly letter by letter? This is required if there are
    only one or two words."""
    gapless = pairs[-1].own - pairs[0].own == len(pairs) - 1
    return gapless and all(pair.similarity >= (1 + RULE.similar_min) / 2 for pair in pairs)


def _align(mine: Sequence[str], theirs: Sequence[str], rule: EchoWordsRule) -> list[_Pair]:
    """The best pairs of heard words and the agent's words, in order. Words of the agent before the first pair and after
    the last cost nothing."""
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
    """How much two words are alike, from 0 to 1: the share of common letter pairs. The first or last letters of a word,
    if there are three or more, also count as similar to the word, because the edges of an utterance are cut."""
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
