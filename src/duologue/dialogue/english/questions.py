"""Tells questions from answers.

"Could you make it six?" and "how about Friday?" are requests. "How much is it?" and "is there parking?" are questions.
Rule: only words at the beginning of a clause make it a question. So "the place where we met" isn't a question.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..language.stop_phrases import after_stop
from .carrier_words import ASSENT, AUXILIARIES, DISSENT, FILLERS, POLITE, without_contraction
from .tokens import Token, stem

STOPPING = tuple(
    tuple(phrase.split())
    for phrase in """hold on a second|hold on a sec|hold on a minute|hold on a moment|hold on|hang on a second|
    hang on a sec|hang on a minute|hang on a moment|hang on|wait a second|wait a sec|wait a minute|wait a moment|
    wait up|wait|
    just a second|just a sec|just a minute|just a moment|one second|one sec|one minute|one moment|a second|a sec|
    a moment|a minute|give me a second|give me a sec|give me a minute|give me a moment|stop|sorry|excuse me|pardon me|
    one question|quick question|a quick question|just a question|one more thing|one last thing|one thing|
    before that|before i forget|by the way""".split("|")
)  # phrases before a question; if one begins with another, the longer one comes first
OPENINGS = POLITE | FILLERS | ASSENT | DISSENT | frozenset(("but", "and", "also", "plus"))
_WH = frozenset(
    """what what's whats what'll when when's when'll where where's where'll why how how's how'll who who's who'll which
    whose whom whether""".split()
)
_RELATIVE = frozenset("when where who which whose whom".split())
SPEAKERS = frozenset("i i'm i'd i've i'll we we're we'd we've".split())
_VERB_FIRST = frozenset("is are was were does did has isn't aren't doesn't didn't am".split())
_VERB_BEFORE_SUBJECT = frozenset("do have don't should".split())
_SUBJECTS = frozenset("you they we i he she there the these those any".split())
_WILL = frozenset(("will", "would"))
_SUBJECTS_OF_WILL = frozenset("it they there he she somebody someone anybody anyone".split())
_SUITING = frozenset("is does would will".split())
_OFFERED = (
    ("do", "you", "have"),
    ("do", "you", "still", "have"),
    ("have", "you", "got"),
    ("have", "you", "anything"),
    ("have", "you", "any"),
    ("is", "there"),
    ("are", "there"),
    ("are", "you", "free"),
    ("are", "you", "available"),
)
_PROPER = frozenset("possible ok okay fine alright right".split())
_PRESENT = frozenset(("free", "available"))
_ASKED: dict[tuple[str, ...], frozenset[str]] = {
    ("is", "it"): _PROPER,
    ("will", "it", "be"): _PROPER,
    ("would", "it", "be"): _PROPER,
    ("will", "you", "be"): _PRESENT,
    ("would", "you", "be"): _PRESENT,
}  # one of these words has to follow: "would it be possible on Friday"
_SUITS = _PROPER | frozenset("good free available work suit do".split())
_FREE = _SUITS - {"do"} | frozenset("all any be still you".split())
_PREPOSITIONS = frozenset("on at for in around about by with near of".split())
_UNTIL = frozenset("to until till through".split())
_ANYTHING = frozenset("anything something a an any some one got left open still table slot appointment".split())
_TAGGED_WORDS_MIN = 5
_MADE_RIGHT = frozenset(
    "it's that's and alright exactly just it that them this all one not is are be was got get quite name number".split()
)
_STATING = frozenset("you you've you'll you're it's that's we're he's she's they're there's my our it that".split())
_TELLING = frozenset("tell inform show send text email find".split())


def asks(tokens: Sequence[Token]) -> bool:
    """Does a clause of the reply ask something? Words such as "hold on" may stand before the question."""
    begins = after_stop([token.word for token in tokens], STOPPING, OPENINGS)
    return _asks(tokens) or (begins > 0 and _asks(tokens[begins:])) or _seeks_agreement(tokens)


def _seeks_agreement(tokens: Sequence[Token]) -> bool:
    """Does the reply say something about the agent, and then ask whether it is right? True for "you've got two tickets
    on there, right". False for "you got that right"."""
    if len(tokens) < _TAGGED_WORDS_MIN or tokens[-1].word != "right" or tokens[-2].word in _MADE_RIGHT:
        return False
    begun = next((token.word for token in tokens if token.word not in OPENINGS), "")
    return begun in _STATING


def _asks(tokens: Sequence[Token]) -> bool:
    begins = True
    for place, token in enumerate(tokens):
        begins = begins or token.pause in (".", "?") or (token.pause == "," and _begins_clause(tokens, place))
        is_aside = token.pause == "," and token.word in _WH and not _is_relative(tokens, place)
        if (begins or is_aside) and _asks_at(tokens, place):
            return True
        begins = begins and (token.word in OPENINGS or (token.word == "you" and tokens[place - 1].word == "thank"))
    return False


def _begins_clause(tokens: Sequence[Token], place: int) -> bool:
    """Does a new clause begin at this word, which follows a comma? True for "yes, …" and "…, and …"."""
    return tokens[place - 1].word in OPENINGS or tokens[place].word in ("and", "but", "also", "so")


def _is_relative(tokens: Sequence[Token], place: int) -> bool:
    """Does this word begin a clause that only explains, as in "the first, when my pension comes in"? A question goes on
    with a verb: "when do you open?"."""
    after = tokens[place + 1].word if place + 1 < len(tokens) else ""
    return tokens[place].word in _RELATIVE and bool(after) and without_contraction(after) not in AUXILIARIES


def _asks_at(tokens: Sequence[Token], place: int) -> bool:
    word = tokens[place].word
    after = tokens[place + 1].word if place + 1 < len(tokens) else ""
    if word in _WH:
        is_relative = word == "what" and after in SPEAKERS  # "what I'm looking for is a plumber"
        return not is_suggestion(tokens, place) and not is_relative
    if word in _VERB_FIRST:
        return bool(after) and (place == 0 or bool(tokens[place].pause) or after in _SUBJECTS)
    if word in _WILL and tokens[place + 1 : place + 2]:
        return after in _SUBJECTS_OF_WILL or [token.word for token in tokens[place + 1 : place + 3]] == ["you", "be"]
    return word in _VERB_BEFORE_SUBJECT and after in _SUBJECTS


def asks_if_it_suits(tokens: Sequence[Token], covered: frozenset[int], echo: frozenset[str]) -> bool:
    """Does the reply propose a value by asking whether it suits, as in "is Friday possible?" or "do you have a table at
    8?"? `covered` holds the indexes of the words of the value. `echo` holds the words of the agent's question without
    their endings."""
    first = next((place for place, token in enumerate(tokens) if token.word not in OPENINGS), len(tokens))
    words = tuple(token.word for token in tokens[first:])
    offered = next((opening for opening in (*_OFFERED, *_ASKED) if words[: len(opening)] == opening), ())
    if not offered and not (words and words[0] in _SUITING and first + 1 in covered):
        return False
    rest = [place for place in range(first + (len(offered) or 1), len(tokens)) if place not in covered]
    needed = _ASKED.get(offered, frozenset()) if offered else _SUITS  # "is tomorrow the fifth?" proposes nothing
    said = {tokens[place].word for place in rest if tokens[place].word != "right" or tokens[place - 1].word == "all"}
    if needed and not needed & said:
        return False
    free = _FREE | _PREPOSITIONS | POLITE | (_ANYTHING if offered else {"do"})
    return all(
        tokens[place].word in free or _is_span(tokens, place, covered) or (offered and stem(tokens[place].word) in echo)
        for place in rest
    )


def _is_span(tokens: Sequence[Token], place: int, covered: frozenset[int]) -> bool:
    """Is this word part of a range, as in "from Friday to Sunday"? False for the "until" in "until Friday", because a
    range has two ends."""
    if tokens[place].word == "from":
        return any(_is_span(tokens, at, covered) for at in range(place + 1, len(tokens)) if tokens[at].word in _UNTIL)
    return tokens[place].word in _UNTIL and {place - 1, place + 1} <= covered


def wants_to_know(tokens: Sequence[Token]) -> bool:
    """Does the reply request information? True for "tell me", "let me know" and "I need to know"."""
    return any(
        token.word == "know" or (token.word in _TELLING and tokens[place + 1].word in ("me", "us", "out"))
        for place, token in enumerate(tokens[:-1])
    )


def is_suggestion(tokens: Sequence[Token], place: int) -> bool:
    """Does "how about", "what about" or "why not" begin at the token `place`?"""
    pair = (tokens[place].word, tokens[place + 1].word if place + 1 < len(tokens) else "")
    return pair in (("how", "about"), ("what", "about"), ("why", "not"))
