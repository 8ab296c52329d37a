"""Recognises yes, no, questions and doubt by the words of a language.

Rule: a reply that says both yes and no, or that expresses a doubt, is neither a yes nor a no.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from ..language.pack import Phrase
from ..language.readings import Polarity, Trick
from ..language.stop_phrases import after_stop
from ..language.tokens import Token, words_of
from .lexicon import Lexicon, phrase_at, where_phrase
from .tokens import stems_of, tokens_of


def polarity(lexicon: Lexicon, tokens: Sequence[Token]) -> Polarity | None:
    """Whether the reply says yes, no or both, or that the user is unsure. None for any other reply."""
    words = words_of(tokens)
    if where_phrase(words, lexicon.undecided) or any(word in lexicon.doubts for word in words):
        return Polarity.UNSURE
    agreeing = _where_unbroken(tokens, lexicon.agreeing)
    said_no = _where_unbroken(tokens, lexicon.no_phrases)
    said_yes = _where_unbroken(tokens, lexicon.yes_phrases)
    known = {*(agreeing or ()), *(said_no or ()), *((said_yes or ()) if said_no is None else ())}
    rest = [word for at, word in enumerate(words) if at not in known]
    agrees = (
        agreeing is not None
        or (said_yes is not None and said_no is None)
        or any(word in lexicon.assent or lexicon.stem(word) in lexicon.approval for word in rest)
    )
    is_negated = any(word in lexicon.negations - lexicon.dissent for word in rest)
    denies = said_no is not None or is_negated or any(word in lexicon.dissent for word in rest)
    if denies and is_negated and agrees and agreeing is None and not any(word in lexicon.assent for word in rest):
        return Polarity.NO  # "das stimmt nicht", "no está bien"
    if denies and agrees:
        is_opening_no = agreeing is not None and said_no is None and not is_negated
        return Polarity.YES if is_opening_no else Polarity.BOTH
    if denies:
        return Polarity.NO
    return Polarity.YES if agrees else None


def _where_unbroken(tokens: Sequence[Token], phrases: tuple[Phrase, ...]) -> range | None:
    """The range of indexes of the first of these phrases that is said without a pause in it; None if there is no such
    phrase. Because of this, "no está bien" means no, and "no, está bien" means yes."""
    words = words_of(tokens)
    for place in range(len(words)):
        size = phrase_at(words, place, phrases)
        if size and not any(token.pause for token in tokens[place + 1 : place + size]):
            return range(place, place + size)
    return None


def places_outside_yes_no(lexicon: Lexicon, tokens: Sequence[Token]) -> list[int]:
    """The indexes of words that aren't part of a yes or no."""
    covered = phrase_places(lexicon, tokens)
    return [at for at, token in enumerate(tokens) if at not in covered and not _is_yes_no_word(lexicon, token.word)]


def phrase_places(lexicon: Lexicon, tokens: Sequence[Token]) -> frozenset[int]:
    """The indexes of the words in phrases that say yes, no or not yet, and in polite phrases."""
    words = words_of(tokens)
    lists = (lexicon.yes_phrases, lexicon.no_phrases, lexicon.agreeing, lexicon.polite_phrases, lexicon.not_yet)
    covered: set[int] = set()
    for place in range(len(words)):
        for phrases in lists:
            covered |= set(range(place, place + phrase_at(words, place, phrases)))
    return frozenset(covered)


@lru_cache(maxsize=8192)
def _is_yes_no_word(lexicon: Lexicon, word: str) -> bool:
    exact = (
        lexicon.polite | lexicon.fillers | lexicon.assent | lexicon.dissent | lexicon.negations
        | lexicon.yes_no_fillers | lexicon.wishes
    )  # fmt: skip
    stem = lexicon.stem(word)
    return word in exact or stem in lexicon.approval or stem in lexicon.doing


def is_plain_yes(lexicon: Lexicon, tokens: Sequence[Token]) -> bool:
    """Does the reply say yes explicitly? Praise alone, as in "good question", isn't a yes."""
    words = words_of(tokens)
    return (
        any(word in lexicon.assent or lexicon.stem(word) in lexicon.praise for word in words)
        or where_phrase(words, lexicon.yes_phrases) is not None
        or where_phrase(words, lexicon.agreeing) is not None
    )


def opening_answer(lexicon: Lexicon, tokens: Sequence[Token]) -> bool | None:
    """The yes or no at the beginning of a reply that then explains it. True means yes. None if the words after it deny,
    doubt or ask something, or if the reply doesn't begin with a yes or no."""
    around = (lexicon.polite | lexicon.fillers) - lexicon.assent
    begun = next((at for at, token in enumerate(tokens) if token.word not in around), len(tokens))
    after = begun + 1
    while after < len(tokens) and tokens[after].word in lexicon.polite:
        after += 1
    if after >= len(tokens) or asks(lexicon, tokens):
        return None
    is_yes, is_no = tokens[begun].word in lexicon.assent, tokens[begun].word in lexicon.dissent
    if not (is_yes or is_no) or not tokens[after].pause:
        return None
    rest = words_of(tokens[after:])
    turned = (
        lexicon.markers | lexicon.alternatives | lexicon.assent | lexicon.dissent | lexicon.doubts | lexicon.negations
    )
    return None if any(word in turned for word in rest) or where_phrase(rest, lexicon.undecided) else is_yes


def trick_of(lexicon: Lexicon, text: str) -> Trick | None:
    """Why the wording of this question makes a plain yes or no unclear; None if it doesn't."""
    words = words_of(tokens_of(lexicon, text))
    if any(word in lexicon.negations or word in lexicon.or_words for word in words):
        return Trick.DENIES
    return Trick.MINDS if any(word in lexicon.minding for word in words) else None


def asks_for_more(lexicon: Lexicon, text: str) -> bool:
    return any(word in lexicon.more for word in words_of(tokens_of(lexicon, text)))


def asks_about_past(lexicon: Lexicon, text: str) -> bool:
    tokens = tokens_of(lexicon, text)
    begins = [token.word for at, token in enumerate(tokens) if not at or token.pause in (".", "?")]
    return bool(begins) and begins[-1] in lexicon.past_verbs


def is_about_future(lexicon: Lexicon, tokens: Sequence[Token]) -> bool:
    words = words_of(tokens)
    is_yes = any(word in lexicon.assent for word in words)
    return not is_yes and any(word in lexicon.future_verbs or word in lexicon.wishes for word in words)


def is_about_birth(lexicon: Lexicon, *texts: str) -> bool:
    return bool(stems_of(lexicon, *texts) & lexicon.birth)


def where_nothing_more(lexicon: Lexicon, tokens: Sequence[Token]) -> range | None:
    return where_phrase(words_of(tokens), lexicon.nothing_more)


def postpones(lexicon: Lexicon, tokens: Sequence[Token]) -> bool:
    """Does the reply say "not yet" and nothing else?"""
    around = lexicon.polite | lexicon.fillers | lexicon.dissent
    said = tuple(token.word for token in tokens if token.word not in around)
    plain = {tuple(word for word in phrase if word not in around) for phrase in lexicon.not_yet}
    return bool(said) and said in plain


# -- Questions


def asks_by_words(lexicon: Lexicon, tokens: Sequence[Token]) -> bool:
    """Do the words of a clause make it a question? Words such as "Moment mal" may stand before the question."""
    begins = after_stop(words_of(tokens), lexicon.stopping, lexicon.openings)
    return _asks(lexicon, tokens) or (begins > 0 and _asks(lexicon, tokens[begins:]))


def _asks(lexicon: Lexicon, tokens: Sequence[Token]) -> bool:
    passed = lexicon.openings | lexicon.articles_before_question | lexicon.or_words | lexicon.joiner
    starts = lexicon.question_words | lexicon.asking_verbs | lexicon.or_words | lexicon.joiner
    begins = True
    for place, token in enumerate(tokens):
        begins = begins or token.pause in (".", "?") or (token.pause == "," and token.word in starts)
        if begins and _asks_at(lexicon, tokens, place):
            return True
        begins = begins and token.word in passed
    return False


def _asks_at(lexicon: Lexicon, tokens: Sequence[Token], place: int) -> bool:
    word, words = tokens[place].word, words_of(tokens)
    if phrase_at(words, place, lexicon.yes_phrases) or phrase_at(words, place, lexicon.agreeing):
        return False  # "cómo no", "warum nicht"
    if word in lexicon.question_words:
        return True
    follows = tokens[place + 1].word if place + 1 < len(tokens) else ""
    return word in lexicon.asking_verbs and (follows in lexicon.subjects or (not lexicon.subjects and bool(follows)))


def has_question_mark(tokens: Sequence[Token]) -> bool:
    return any(token.pause == "?" for token in tokens) or bool(tokens and tokens[-1].text.endswith("?"))


def asks(lexicon: Lexicon, tokens: Sequence[Token]) -> bool:
    """Does the reply ask something, by its words or by a question mark?"""
    return has_question_mark(tokens) or asks_by_words(lexicon, tokens)
