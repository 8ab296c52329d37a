"""Verbs for operations that must not be confused: to cancel is not to reschedule, and to unblock is not to block.

An NLU that compares phrases finds two phrases similar even if their verbs mean the opposite. Rule: only verbs are
operations. "My booking" is a thing, "to book" is an operation.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from .tokens import stem, tokens_of

# Each line is a group. The operations of a group, divided by bars, exclude each other.
_GROUPS = """
book reserve schedule | cancel delete quit terminate | reschedule move postpone rebook shift change modify delay
cancel quit terminate | pause freeze suspend | resume unpause unfreeze | renew extend prolong
block freeze lock suspend deactivate disable | unblock unfreeze unlock activate reactivate enable unsuspend
subscribe | unsubscribe
buy purchase | sell
deposit | withdraw
increase raise | decrease lower reduce
add insert | remove erase
lend | borrow
upgrade | downgrade
install | uninstall
"""
_HAPPENED = frozenset("was were is are been be got gets has have had".split())
_THINGS_FOLLOW = frozenset("my the a an our this that these those his her their your its any no".split())


def _operations() -> dict[str, frozenset[tuple[int, int]]]:
    found: dict[str, frozenset[tuple[int, int]]] = {}
    for group, line in enumerate(_GROUPS.strip().splitlines()):
        for number, words in enumerate(line.split("|")):
            for word in words.split():
                found[stem(word)] = found.get(stem(word), frozenset()) | {(group, number)}
    return found


_OPERATIONS = _operations()


@lru_cache(maxsize=512)
def operations_in(text: str) -> frozenset[tuple[int, int]]:
    """The operations that a text mentions. An operation is a pair of numbers: the index of its group in `_GROUPS`, and
    its index in that group. The operations of one group exclude each other."""
    tokens = tokens_of(text)
    return frozenset(
        operation
        for place, token in enumerate(tokens)
        if not (place and _is_thing_or_event(tokens[place - 1].word, token.word))
        for operation in _OPERATIONS.get(stem(token.word), ())
    )


def _is_thing_or_event(before: str, word: str) -> bool:
    """Is the word a thing ("my booking") or something that has happened ("was delayed"), and not a command?"""
    return before in _THINGS_FOLLOW or (before in _HAPPENED and word.endswith("ed"))


def excludes(text: str, phrases: Iterable[str]) -> bool:
    """Does the text ask for a different operation than these phrases, so that it can't mean the same? True for "unblock
    my card", if all the phrases are about blocking a card."""
    said = operations_in(text)
    known = frozenset(operation for phrase in phrases for operation in operations_in(phrase))
    groups = {group for group, _ in said} & {group for group, _ in known}
    return bool(groups) and not any(operation in known for operation in said if operation[0] in groups)
