"""Yes or no as people say it: "sure, that works", "I'd rather not", "a shared one is fine".

Rule: a reply that says both yes and no ("no, that's fine", "yes, but") goes to NLU. So does a plain yes or no
to a question that is negative, asks "do you mind", or offers two things.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise

from ..language.readings import Polarity as Polarity
from ..language.readings import Trick as Trick
from .carrier_words import (
    ACTS,
    ALTERNATIVES,
    APPROVAL,
    ASSENT,
    AUXILIARIES,
    DISSENT,
    FILLERS,
    HEDGES,
    MARKERS,
    PARTICLES,
    POLITE,
    PRONOUNS,
    WISHES,
    is_negation,
    without_contraction,
)
from .indirect_answers import AGREEING, GO_AHEAD, where_agreeing
from .questions import asks
from .tokens import Token, stem, tokens_of, words_of


def _phrases(text: str) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(phrase.split()) for phrase in text.split("|"))


# The user hasn't decided yet.
_UNDECIDED = _phrases(
    """think about|let me think|let me see|let me check|think it over|depends|hold on|hang on|one moment|a moment|
    a minute|a second|one minute|one second|one sec|a sec|can't decide|can't say|couldn't say|can't tell|couldn't tell|
    no idea|no clue|haven't decided|not decided|not made up|don't know|do not know"""
)
# A no that sounds like a yes.
_CONTENTED = _phrases(
    "i'm good|i am good|i'm fine|i am fine|i'm okay|i'm ok|i'm alright|we're good|we're fine|we are good"
)
_NOTHING_MORE = _phrases(
    """that was all|that was it|that was everything|
    that's it|that is it|that's all|that is all|that will be all|that'll be all|that would be all|that'd be all|
    that's everything|that is everything|that's enough|nothing else|nothing more|no more|all set|i'm done|we're done"""
)
_BEFORE_THERE = frozenset("is are was were will be been".split())
_MORE = frozenset("else more longer another further additional extra add".split())
_MINDING = AGREEING[:3]
GOING_ON = _phrases(
    """go ahead|go for it|do it|do that|please do|that's it|that is it|got it|of course|let's do|think so|guess so|
    suppose so|believe so|say so|what i want|what i need|what i wanted|what i said|what i asked|my request|
    that's about it|that's the one|that is the one|that's the plan|that is the plan|that's the idea|that's the deal|
    you nailed it|you have it|nailed it"""
)
# A yes only at the end of a clause: "it is", but not "it is for my mother".
_SHORT_YES = _phrases("i do|i am|i would|i will|i did|it is|it does|they are")
_AFFIRMING = frozenset(
    stem(word) for word in "confirm approve agree exactly precisely accurate true verify valid".split()
)
_DOING = frozenset(
    stem(word)
    for word in """book reserve schedule confirm approve proceed continue make do go set get buy purchase order send
    save add create play pay transfer rent finalize finalise complete submit accept agree understand got gotten said
    say ask request have use lock process arrange take keep put start place verify validate valid affirmative
    positive accurate spot nail true booking reservation appointment detail information info plan thing look care
    hold sign finalized wrap comfortable finally""".split()
)
_GRAMMAR = frozenset(
    """with for to by of on in as and the a all that every each up at if one completely totally entirely fully it's
    what's same""".split()
)
_YES_NO_FILLERS = POLITE | FILLERS | ASSENT | PRONOUNS | AUXILIARIES | HEDGES | PARTICLES | _GRAMMAR
_YES_NO_FILLER_STEMS = APPROVAL | WISHES | ACTS | _DOING | _AFFIRMING
_SHORT_TAILS = frozenset(("you", "indeed", "actually"))
_SUFFICES = ("enough", "plenty")
_BECOMING = frozenset("get getting become becoming stay staying feel feeling".split())
_AFTER_RIGHT = frozenset("now away here there before after on next in at".split())
_OBJECTS = (["the"], ["my"], ["our"], ["it"], ["them"])
_STRESSES = frozenset("absolutely certainly definitely course surely indeed".split())
_PAST = frozenset("have has had did was were".split())
_FUTURE = frozenset("will would i'll i'd we'll we'd gonna try trying please".split())
_WANTING = frozenset(stem(word) for word in "want like love prefer wish need enjoy require".split())
_YES = frozenset("yes yeah yea yep yup".split())
DOUBTS = frozenset("if unless maybe perhaps possibly probably guess suppose think depends know idea matter".split())
_TURNING = frozenset("actually instead sorry rather".split())
_NOT_SO = _phrases(
    "that is not right|that's not right|that isn't right|not right|not correct|that's wrong|that is wrong"
)
_NOT_NOW = _phrases(
    """not at the moment|not at present|not right now|not just now|not now|not currently|not today|not any more|
    not anymore|not this time|not for now|not that i know of|not that i know|not as far as i know|not to my knowledge"""
)
_AFTER_NO = frozenset("just only a an the".split())  # "no just give me a ring"
_AFTER_WHAT = frozenset("i i'd i'm i've we we'd".split())


def where_phrase(words: Sequence[str], phrases: Sequence[tuple[str, ...]]) -> range | None:
    """The range of indexes at which one of these phrases stands in the words; None if the words contain none of them.
    If they contain several, the phrase that comes first in `phrases` is used."""
    for phrase in phrases:
        for place in range(len(words) - len(phrase) + 1):
            if words[place] == phrase[0] and tuple(words[place : place + len(phrase)]) == phrase:
                return range(place, place + len(phrase))
    return None


def is_yes_no_filler(tokens: Sequence[Token], place: int) -> bool:
    """Can this word be part of a reply that says nothing but yes or no?"""
    word = tokens[place].word
    if word == "what":  # "that's what I want"
        return place > 0 and place + 1 < len(tokens) and tokens[place + 1].word in _AFTER_WHAT
    return _is_yes_no_filler_word(word)


@lru_cache(maxsize=4096)
def _is_yes_no_filler_word(word: str) -> bool:
    head = without_contraction(word)
    return word in _YES_NO_FILLERS or head in _YES_NO_FILLERS or stem(head) in _YES_NO_FILLER_STEMS


def is_service_verb(word: str) -> bool:
    """Is this a verb for what a service does on request: book, send, order?"""
    return stem(word) in _DOING


def without_apology(tokens: Sequence[Token]) -> Sequence[Token]:
    """The tokens without an apology that only belongs to a no: the "sorry" in "no voucher, sorry" and in "sorry,
    no"."""
    if len(tokens) < 2 or not any(is_negation(token.word) for token in tokens):
        return tokens
    tokens = tokens[:-1] if tokens[-1].word == "sorry" else tokens
    return tokens[1:] if tokens[0].word == "sorry" and tokens[1].word in DISSENT and len(tokens) == 2 else tokens


def places_outside_yes_no(tokens: Sequence[Token]) -> list[int]:
    """The indexes of words that aren't part of a yes or no."""
    words = [token.word for token in tokens]
    agreeing = {*(where_agreeing(words) or ()), *(where_phrase(words, GO_AHEAD) or ())}
    denied = next((place for place, token in enumerate(tokens) if is_negation(token.word)), len(tokens))
    return [
        place
        for place, token in enumerate(tokens)
        if place not in agreeing
        and not is_yes_no_filler(tokens, place)
        and not is_negation(token.word)
        and not (token.word == "any" and denied < place)  # "we don't need any"
    ]


def polarity(tokens: Sequence[Token]) -> Polarity | None:
    """Whether the reply says yes, no or both, or that the user is unsure. None for any other reply."""
    words = [token.word for token in tokens]
    if where_phrase(words, _UNDECIDED) or _is_contented(words):
        return Polarity.UNSURE
    agreeing = where_agreeing(words)
    rest = [word for place, word in enumerate(words) if agreeing is None or place not in agreeing]
    if agreeing is not None:
        return Polarity.YES if all(word in DISSENT for word in rest if is_negation(word)) else Polarity.BOTH
    agrees = any(_agrees_by(words, place) for place in range(len(words)))
    denies = any(is_negation(word) for word in rest)
    if denies:
        return Polarity.BOTH if agrees else Polarity.NO
    return Polarity.YES if agrees or _says_go_ahead(words) else None


def _says_go_ahead(words: Sequence[str]) -> bool:
    """Does the user say "go ahead", or another phrase that means it? False for "leave it as it is", which may mean yes
    or no."""
    where = where_phrase(words, GOING_ON) or where_phrase(words, GO_AHEAD) or _where_short_yes(words)
    return where is not None and words[max(0, where.start - 1)] != "as"


def _where_short_yes(words: Sequence[str]) -> range | None:
    """The range of indexes of a short yes such as "it is", if only polite words follow it; otherwise None."""
    ends = len(words)
    while ends and words[ends - 1] in POLITE | FILLERS | _SHORT_TAILS:
        ends -= 1
    where = where_phrase(words[max(0, ends - 2) : ends], _SHORT_YES)
    return range(ends - 2, ends) if where is not None else None


def _agrees_by(words: Sequence[str], place: int) -> bool:
    """Is this word a yes or praise? False for "enough", and for an order, such as "correct" in "correct the date"."""
    word = words[place]
    if word in _SUFFICES or (word == "correct" and words[place + 1 : place + 2] in _OBJECTS):
        return False
    if word == "right" and words[place + 1 : place + 2] and words[place + 1] in _AFTER_RIGHT:
        return False  # "I'm in the car right now"
    if place and words[place - 1] in _BECOMING:
        return False  # not praise: "get fit", "feel better"
    return word in ASSENT or stem(word) in APPROVAL or stem(word) in _AFFIRMING


def agrees(tokens: Sequence[Token]) -> bool:
    """Does the reply say yes, or something that means yes? Praise alone, as in "good question", isn't a yes."""
    words = [token.word for token in tokens]
    says_yes = any(
        (word in ASSENT and _agrees_by(words, place)) or stem(word) in _AFFIRMING for place, word in enumerate(words)
    )
    return says_yes or where_agreeing(words) is not None or _says_go_ahead(words)


def denies_praise(tokens: Sequence[Token]) -> bool:
    """Does the reply deny a word that would otherwise mean yes? True for "that's not right" and "absolutely not". False
    for "not sure"."""
    words = [token.word for token in tokens]
    denied: set[int] = set()
    for place, word in enumerate(words):
        if is_negation(word) and word not in DISSENT:
            denied |= {place - 1} if word == "not" and place and words[place - 1] in _STRESSES else set()
            denied |= {near for near in (place + 1, place + 2) if near < len(words) and _is_praise(words[near])}
    is_more = any(word in ASSENT for place, word in enumerate(words) if place not in denied)
    return bool(denied) and not is_more


def _is_praise(word: str) -> bool:
    return word != "sure" and (word in ASSENT or stem(word) in APPROVAL or stem(word) in _AFFIRMING)


def _is_contented(words: Sequence[str]) -> bool:
    """Does the user say that nothing more is wanted, as in "I'm good"? False for "I'm good with that"."""
    where = where_phrase(words, _CONTENTED)
    return where is not None and words[where.stop : where.stop + 1] not in (["with"], ["to"], ["if"])


def is_not_now(tokens: Sequence[Token]) -> bool:
    """Does the whole reply say "not at the moment" or the like?"""
    words = tuple(token.word for token in tokens if token.word not in POLITE | FILLERS | DISSENT)
    return words in _NOT_NOW


def opening_answer(tokens: Sequence[Token]) -> bool | None:
    """The yes or no at the beginning of a reply that then explains it: "no, it's short", "yes they came". True means
    yes. None if the words after it deny, doubt, change or ask something, or if the reply doesn't begin with a yes or
    no."""
    begun = next((place for place, token in enumerate(tokens) if token.word not in POLITE | FILLERS), len(tokens))
    after = begun + 1
    said_twice = after < len(tokens) and tokens[begun].word == tokens[after].word and not tokens[after].pause
    while after < len(tokens) and (tokens[after].word in POLITE or tokens[after].word == tokens[begun].word):
        after += 1
    if after >= len(tokens) or tokens[begun].word not in _YES | DISSENT or asks(tokens):
        return None
    if (
        tokens[begun].word in DISSENT
        and not said_twice
        and not tokens[after].pause
        and without_contraction(tokens[after].word) not in PRONOUNS
        and tokens[after].word not in _AFTER_NO
    ):
        return None  # "no idea"
    words = {token.word for token in tokens[after:]}
    is_turned = words & (MARKERS - {"too", "also"} | ALTERNATIVES | ASSENT | DISSENT | DOUBTS) or any(
        map(is_negation, words)
    )
    return None if is_turned or where_phrase(words_of(tokens), _UNDECIDED) else tokens[begun].word in _YES


def where_turned_down(tokens: Sequence[Token]) -> frozenset[int]:
    """The indexes of words that reject what the agent proposed, in a reply that gives another value: "no", "actually",
    "sorry", "that's not right", "instead"."""
    words = words_of(tokens)
    found = {place for place, word in enumerate(words) if word in _TURNING}
    for phrase in _NOT_SO:
        where = where_phrase(words, (phrase,))
        found |= set(where or ())
    if words[0] in DISSENT:
        found.add(0)
    return frozenset(found)


def wishes(tokens: Sequence[Token]) -> bool:
    """Does the user want something, as in "I'd like that"?"""
    return any(stem(token.word) in _WANTING for token in tokens)


@lru_cache(maxsize=512)
def trick_of(text: str) -> Trick | None:
    """Why the wording of this question makes a plain yes or no unclear; None if it doesn't."""
    words = [token.word for token in tokens_of(text)]
    denying = (
        ("non", "without", "either", "rather") if _asks_for_any(words) else ("or", "non", "without", "either", "rather")
    )
    if any(is_negation(word) or word in denying for word in words):
        return Trick.DENIES
    return Trick.MINDS if "mind" in words else None


def _asks_for_any(words: Sequence[str]) -> bool:
    """Does the question ask whether there is any of several things, as in "do you have any cats or dogs" and "are there
    stairs or a lift"? Then a yes or no is clear, whichever of the things exist."""
    before = words[: words.index("or")] if "or" in words else ()
    after = words[words.index("or") + 1 :][:1] if "or" in words else []
    is_there = any(pair[1] == "there" and pair[0] in _BEFORE_THERE for pair in pairwise(before))
    is_any = any(word in ("any", "anyone", "anybody", "anything", "anywhere") for word in before)
    return (is_there or is_any) and after != ["not"]


@lru_cache(maxsize=512)
def asks_for_more(text: str) -> bool:
    """Does the question offer more, like "anything else?"? Then an answer such as "I'm good" means no."""
    return any(token.word in _MORE for token in tokens_of(text))


@lru_cache(maxsize=512)
def asks_for_a_need(text: str) -> bool:
    """Does the question ask for a need, like "do you need one?"? A reply such as "I don't mind" doesn't answer it."""
    return any(stem(token.word) in ("need", "requir") for token in tokens_of(text))


def does_not_mind(tokens: Sequence[Token]) -> bool:
    """Does the reply say something like "I don't mind", without a yes?"""
    words = [token.word for token in tokens]
    return where_phrase(words, _MINDING) is not None and not any(word in ASSENT for word in words)


def where_nothing_more(tokens: Sequence[Token]) -> range | None:
    """The range of indexes of words that say that nothing more is wanted: "that's all", "nothing else". None if there
    are no such words."""
    return where_phrase([token.word for token in tokens], (*_NOTHING_MORE, *_CONTENTED))


@lru_cache(maxsize=512)
def asks_about_past(text: str) -> bool:
    """Does the question ask "have you", "did you" or "was it"? A reply about a wish or a plan doesn't answer such a
    question."""
    tokens = tokens_of(text)
    begins = [token.word for place, token in enumerate(tokens) if not place or token.pause in (".", "?")]
    return bool(begins) and begins[-1] in _PAST


def is_about_future(tokens: Sequence[Token]) -> bool:
    """Is the reply about a wish or a plan, and does it contain no yes?"""
    words = [token.word for token in tokens]
    is_yes = any(word in ASSENT for word in words)
    return not is_yes and (wishes(tokens) or any(word in _FUTURE for word in words) or "do" in words[:1])


def is_bare_yes_no(tokens: Sequence[Token]) -> bool:
    """Is the reply only a yes or no, without approval ("that's fine") or a wish ("I'd like that")?"""
    words = [token.word for token in tokens]
    return not any(stem(word) in APPROVAL or stem(word) in WISHES for word in words) and not where_phrase(
        words, AGREEING
    )
