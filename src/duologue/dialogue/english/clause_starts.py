"""Where a clause begins in a reply that has no punctuation, as many STTs write it: "six people my brother's coming
after all", "dan whitaker i told you".

A clause begins at a subject ("i", "it's", "my brother's"), and at a word such as "actually" or "well". Rule: a reply
with at least one pause is divided at its pauses only. A subject after a verb, a preposition or a relative word belongs
to the clause before it: "can i", "for you", "the one i want".
"""

from __future__ import annotations

from collections.abc import Sequence

from .carrier_words import AUXILIARIES, CONJUNCTIONS, DETERMINERS, DISSENT, PREPOSITIONS, is_negation
from .numbers import SMALL
from .tokens import Token

_SUBJECTS = frozenset(
    """i i'm i've i'd i'll we we're we've we'd we'll he he's he'll she she's she'll they they're they've they'll
    it's it'll it this everything that's there's there'll you you're you've""".split()
)
_INVERTED = frozenset("can could can't couldn't will would do does did are is have has shall should".split())
_ASKED = frozenset("you i we they there that it he she".split())
_ASKING = frozenset("what how when where why who what's how's when's where's who's".split())
_BEFORE_QUESTIONS = frozenset(
    """and or but so that what how when where why who which if whether know sure oh well please yes no ask asked
    wondering wonder tell me see as than like exactly about right just""".split()
)
_OWNERS = frozenset("my our his her their".split())
_MARKERS = frozenset("actually well wait sorry oh okay anyway otherwise".split())
_TELLING = frozenset("says said thinks wants needs comes likes loves told goes gets works lives".split())
_BEFORE_SUBJECTS = (
    AUXILIARIES
    | CONJUNCTIONS
    | DETERMINERS
    | PREPOSITIONS
    | DISSENT
    | frozenset(
        """and or but that which who whom whose what where when why how if whether as like than one ones thing all
        because though although while unless until before after said say says told tell think thought hope guess
        suppose know mean believe see let make thank what's sure afraid sorry me""".split()
    )
)
_BEFORE_MARKERS = frozenset("and or but as oh very pretty so quite is it's i'm that's not".split())
_BEFORE_OWNERS = _BEFORE_SUBJECTS | frozenset(
    "it's that's this i'm he's she's we're they're with plus yes under change changed update use need".split()
)


def begins_clause(tokens: Sequence[Token], place: int) -> bool:
    """Does a new clause begin at the token `place`, although no pause stands before it? Always False if the reply has
    pauses."""
    if not 0 < place < len(tokens) - 1 or any(token.pause for token in tokens[1:]):
        return False
    word, before, after = tokens[place].word, tokens[place - 1].word, tokens[place + 1].word
    if word in ("it", "this", "everything") and after not in AUXILIARIES and not is_negation(after):
        return False
    if word in _SUBJECTS:
        return before not in _BEFORE_SUBJECTS and not is_negation(before)
    if word in _OWNERS:
        return before not in _BEFORE_OWNERS and not is_negation(before) and _has_verb(tokens[place + 1 : place + 4])
    if word in _INVERTED and after in _ASKED:
        return before not in _BEFORE_QUESTIONS
    if word in _ASKING and (after in AUXILIARIES or word == "how" or word.endswith("'s")):
        return before not in _BEFORE_QUESTIONS
    return word in _MARKERS and before not in _BEFORE_MARKERS


def _has_verb(tokens: Sequence[Token]) -> bool:
    """Do the words after "my" tell something about a person or thing, as in "my brother's coming" and "my wife
    says"?"""
    is_short = len(tokens) > 1 and tokens[0].word.endswith("'s")  # "my brother's coming"
    is_verb = len(tokens) > 1 and tokens[1].word.endswith("s") and not tokens[0].word.endswith("s")  # "my aunt drives"
    if is_verb and tokens[0].word not in SMALL:
        return True
    return is_short or any(token.word in AUXILIARIES or token.word in _TELLING for token in tokens[1:])
