"""Hello, thanks, all right, no thanks and goodbye: messages outside any task that get a short reply.

Rule: a message is courtesy only if it contains nothing else. "Hello, I need a taxi" is read as a request.
"""

from __future__ import annotations

from collections.abc import Sequence

from .tokens import Token

_HELLO = frozenset("hi hello hey hiya howdy greetings".split())
_DAYS = frozenset("morning afternoon evening day".split())
_BYE = frozenset("bye goodbye cheerio farewell".split())
_THANKS = frozenset("thanks thank thx cheers ta".split())
_RIGHT = frozenset("yes yeah yep ok okay alright right fine great good perfect super lovely cool excellent".split())
_AROUND = frozenset(
    """uh um er oh ah well so you very much a lot again there for now all that's that is was the your help then
    and to have nice night later see soon brilliant wonderful everything just sounds""".split()
)
_PARTING = tuple(
    tuple(pair.split())
    for pair in """take care|talk later|talk soon|talk then|speak later|speak soon|speak then|have weekend|have evening|
    have day|have afternoon|have morning|have week|have trip|have holiday""".replace("\n    ", "").split("|")
)  # "talk to you later", "have a great weekend"
_IN_PARTING = frozenset(word for pair in _PARTING for word in pair) | frozenset("to a mate million rest of".split())
_NO = frozenset("no nope nah nothing".split())
# These words are courtesy only together with a no or a goodbye.
_DONE = frozenset("else more i'm we're it's it done finished set".split())
_WHEN_WORDS_MAX = 4
_WHEN = frozenset(
    """on at in a an next this tomorrow tonight today around about half past quarter minute minutes hour hours bit while
    week month monday tuesday wednesday thursday friday saturday sunday one two three four five six seven eight nine ten
    eleven twelve thirty fifteen january february march april may june july august september october november december
    first second third""".split()
)
_KNOWN = _HELLO | _DAYS | _BYE | _THANKS | _RIGHT | _AROUND
WORDS_MAX = 10
GREETINGS = tuple(("good", word) for word in sorted(_DAYS | {"night"}))  # at the beginning of a message


def courtesy_of(tokens: Sequence[Token]) -> str | None:
    """The kind of courtesy, if the message is nothing but courtesy: "farewell", "thanks", "greeting", "assent" or
    "refusal". Otherwise None."""
    words = [token.word for token in tokens]
    if _sees_again(words):
        return "farewell"
    if _parts(words):
        return "farewell"
    if not words or len(words) > WORDS_MAX or not (_KNOWN | _NO | _DONE).issuperset(words):
        return None
    if not _KNOWN.issuperset(words):
        return "farewell" if _BYE & set(words) else "refusal" if words[0] in _NO else None
    if _BYE & set(words) or ("see" in words and "you" in words) or words[-2:] == ["good", "night"]:
        return "farewell"
    if _THANKS & set(words):
        return "thanks"
    if _HELLO & set(words) or (words[0] == "good" and _DAYS & set(words)):
        return "greeting"
    return "assent" if words[0] in _RIGHT | {"that's", "sounds", "oh", "well"} and _RIGHT & set(words) else None


def _parts(words: list[str]) -> bool:
    """Does the message consist only of a wish ("have a nice day") or a goodbye until another time?"""
    if len(words) > WORDS_MAX or not (_KNOWN | _IN_PARTING).issuperset(words):
        return False
    return any(one in words and other in words[words.index(one) + 1 :] for one, other in _PARTING)


def _sees_again(words: list[str]) -> bool:
    """Does the message say "see you" and a day or time: "lovely, see you on Sunday then, bye"?"""
    at = next((place for place in range(len(words) - 1) if words[place : place + 2] == ["see", "you"]), -1)
    if at < 0 or not _KNOWN.issuperset(words[:at]):
        return False
    rest = [word for word in words[at + 2 :] if word not in _KNOWN]
    return len(rest) <= _WHEN_WORDS_MAX and all(word in _WHEN for word in rest)
