"""Yes and no in other words: "spot on", "I don't see anything wrong with that", "I've changed my mind".

Users also say yes by saying that nothing is wrong, or by very high praise. They also say no by changing their mind, or
by pointing out a mistake. Rule: only phrases without a second meaning are accepted. A remark about the connection ("can
you hear me all right?") is never an answer.
"""

from __future__ import annotations

from collections.abc import Sequence

from .carrier_words import is_negation

Phrase = tuple[str, ...]


def _phrases(text: str) -> tuple[Phrase, ...]:
    return tuple(tuple(phrase.split()) for phrase in text.split("|"))


# Negations that agree: "I don't mind".
AGREEING = _phrases(
    """not mind|don't mind|wouldn't mind|no problem|not a problem|no worries|no issue|no issues|no objection|
    no objections|no changes|no complaints|nothing else|nothing to change|why not|wouldn't bother|doesn't bother|
    couldn't hurt|can't hurt|wouldn't hurt|can't do any harm"""
)
# Things that are absent if a reply denies them: "no mistakes".
_FAULTS = frozenset("wrong mistake mistakes error errors problem problems issue issues objection objections".split())
_FAULTS |= frozenset("complaint complaints fault argue disagree complain concerns amiss".split())
_FINDING = frozenset("see find notice spot hear have got with there anything any a nothing think of can could".split())
_SAYING = frozenset("have be said put it that agree asked ask hoped hope for done this any wished i".split())
_BETTER = frozenset("better more happier clearer".split())
_WORDS_BETWEEN_MAX = 4
# Phrases that say yes without a word such as "yes" or "right".
GO_AHEAD = _phrases(
    """spot on|bang on|dead on|by all means|fire away|carry on|make it so|checks out|check out fine|that'll do|
    that will do|you read my mind|you heard me right|you heard me correctly|i'd appreciate that|i would appreciate that|
    i'd appreciate it|the sooner the better|sooner the better|as far as i can tell|as far as i can see|
    as far as i know|what i had in mind|i'm on board|count me in|be my guest|music to my ears|no need to change|
    go on then|oh go on|might as well|may as well|better safe than sorry"""
)
# Phrases that decline what was offered: "Do you need it today?" - "No rush."
_DECLINING = _phrases(
    """no need|no rush|no hurry|not in a hurry|not in a rush|no point|no use|not worth it|not worth the trouble|
    not necessary|not needed|don't bother|needn't bother|not for me|not for us|not my thing|no call for it"""
)
_OWNING = frozenset("bring bringing brought take taking have having got use using wear wearing own make making".split())
_OWNERS = frozenset("my our".split())
# Praise that is only hoped for or possible, or that depends on something.
_ONLY_HOPED = frozenset("might hope hoping hopefully".split())
_CONDITIONS = _phrases("only if|as long as|provided|providing|unless|could be|may be|on condition|assuming")
# Phrases that say no to what was proposed.
_REFUSING = _phrases(
    """changed my mind|changed our mind|changed our minds|hold off|rather wait|i decline|to decline|i refuse|
    not interested|negative|out of the question|over my dead body|leave it for now|forget it|
    misheard me|misunderstood me|got me wrong|you got it wrong|not happy|thumbs down"""
)
_WRONG = frozenset("wrong incorrect mistake error false mistaken".split())
REFUSING_WORDS = (
    _WRONG | {word for phrase in _REFUSING for word in phrase} | frozenset("at all there sorry afraid".split())
)
_HEARING = frozenset(("hear", "hearing"))
_HEARD = frozenset("me you us myself yourself".split())
_LINE = _phrases("breaking up|bad line|line is bad|connection is bad|you there|anyone there|anybody there|cut out")


def where(words: Sequence[str], phrases: Sequence[Phrase]) -> range | None:
    """The range of indexes at which one of these phrases stands; None if the words contain none of the phrases."""
    for phrase in phrases:
        for place in range(len(words) - len(phrase) + 1):
            if words[place] == phrase[0] and tuple(words[place : place + len(phrase)]) == phrase:
                return range(place, place + len(phrase))
    return None


def where_agreeing(words: Sequence[str]) -> range | None:
    """The range of indexes at which a negation means yes: "no problem", "I don't see anything wrong", "I couldn't have
    said it better". None if the words contain no such negation."""
    known = where(words, AGREEING)
    if known is not None:
        return known
    for place, word in enumerate(words):
        if not is_negation(word):
            continue
        ends = range(place + 1, min(len(words), place + 2 + _WORDS_BETWEEN_MAX))
        better = next((at for at in ends if words[at] in _BETTER), None) if word == "couldn't" else None
        fault = next((at for at in ends if words[at] in _FAULTS), None)
        if fault is not None and all(one in _FINDING for one in words[place + 1 : fault]) and word != "not":
            return range(place, fault + 1)
        if better is not None and all(one in _SAYING for one in words[place + 1 : better]):
            return range(place, better + 1)
    return None


def where_declining(words: Sequence[str]) -> frozenset[int]:
    """The indexes of words that decline an offer: "no rush", "not worth it", "we'll bring our own". Empty if the words
    don't decline."""
    known = where(words, _DECLINING)
    if known is not None:
        return frozenset(known)
    for place, word in enumerate(words[:-1]):
        is_own = word in _OWNERS and words[place + 1] == "own"
        if is_own and any(is_negation(one) for one in words):
            return frozenset()  # "I don't have my own"
        owning = {at for at in range(place) if words[at] in _OWNING}
        if is_own and owning:
            return frozenset({*owning, place, place + 1})
    return frozenset()


def refuses(words: Sequence[str]) -> bool:
    """Does the reply refuse without a word such as "no" or "not"? True for "I've changed my mind" and "there's a
    mistake in there". False if the reply contains such a word."""
    if any(is_negation(word) for word in words):
        return False
    return where(words, _REFUSING) is not None or any(word in _WRONG for word in words)


def is_only_hoped(words: Sequence[str]) -> bool:
    """Does the reply only hope for something, or depend on a condition? True for "I hope that's right", "it could be
    better" and "only if you can't find anything else"."""
    return any(word in _ONLY_HOPED for word in words) or where(words, _CONDITIONS) is not None


def is_about_the_line(words: Sequence[str]) -> bool:
    """Is the reply about the connection? True for "can you hear me all right?" and "I can't hear you very well"."""
    hears = any(
        word in _HEARING and words[at + 1 : at + 2] and words[at + 1] in _HEARD for at, word in enumerate(words)
    )
    return hears or where(words, _LINE) is not None
