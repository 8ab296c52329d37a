"""What became of every conversation: held against what its person noted, what the store kept and what was done.

Plain functions over values. Rule: a check is never told why something happened; it only looks at what did.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from .person_notes import AcceptedWrite, Deed, KeptTalk, Talked, TypedTurn

ONCE = ("order", "pay")  # deeds that may be done once; others carry a key, or may be repeated
OVERLAP_S = 0.05
# What is said of an action that began before a crash, of one that can't be begun, and of an answer that breaks off.
HONEST = ("can't tell whether that went through", "I encountered an error", "lost the rest of that")
_SENTENCE = re.compile(r"[^.?!]*\d{4,}[^.?!]*[.?!]")


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that must not be."""

    check: str
    conversation: str
    what: str


CHECKS = ("turns_lost", "actions_twice", "heard_twice", "two_owners", "stuck")


def judge(
    talks: Sequence[Talked], kept: Mapping[str, KeptTalk], writes: Sequence[AcceptedWrite], deeds: Sequence[Deed]
) -> list[Finding]:
    """Everything that must not be."""
    of_item = {turn.item: talk.id for talk in talks for turn in talk.turns}
    found = [fault for talk in talks for fault in _of_talk(talk, kept.get(talk.id))]
    found += twice_done(deeds, of_item)
    found += owners(writes)
    return found


def _of_talk(talk: Talked, kept: KeptTalk | None) -> Iterable[Finding]:
    yield from lost(talk, kept)
    yield from said_untrue(talk)
    yield from heard_twice(talk)
    yield from two_voices(talk)
    yield from stuck(talk, kept)


# -- Turns


def is_told_lost(talk: Talked, turn: TypedTurn) -> bool:
    """Does the person know that it got no answer? Whoever was told that nothing is saved knows it of what came then."""
    return turn.is_told_lost or (talk.is_unsaved and bool(talk.ended))


def lost(talk: Talked, kept: KeptTalk | None) -> Iterable[Finding]:
    """Each turn is in the history once and was answered, or its person was told."""
    if kept is None:
        for turn in talk.turns:
            if not is_told_lost(talk, turn):
                yield Finding("turns_lost", talk.id, f"{turn.text!r}: the store has nothing of it")
        return
    known = Counter(" ".join(kept.user).split())
    wanted: Counter[str] = Counter()
    for turn in talk.turns:
        if not is_told_lost(talk, turn):
            wanted.update(turn.text.split())
    typed = Counter(word for turn in talk.turns for word in turn.text.split())
    for word in sorted(typed):
        if known[word] < wanted[word]:
            yield Finding(
                "turns_lost", talk.id, f"{word!r} was typed {wanted[word]} times, and kept {known[word]} times"
            )
        elif known[word] > typed[word]:
            yield Finding(
                "turns_lost", talk.id, f"{word!r} was typed {typed[word]} times, and kept {known[word]} times"
            )
    for turn in talk.turns:
        if not any(heard.strip() for heard in turn.heard) and not is_told_lost(talk, turn) and not turn.is_stuck:
            yield Finding("turns_lost", talk.id, f"{turn.text!r} was never answered")


def said_untrue(talk: Talked) -> Iterable[Finding]:
    """An answer that is beside the point: the turn before it was forgotten."""
    for turn in talk.turns:
        whole = [heard.strip() for heard in turn.heard if heard.rstrip().endswith((".", "?"))]
        for heard in whole:
            if turn.item not in heard and turn.text != "cancel" and not any(known in heard for known in HONEST):
                yield Finding("turns_lost", talk.id, f"{turn.text!r} ({turn.item}) was answered with {heard!r}")


# -- Sound


def heard_twice(talk: Talked) -> Iterable[Finding]:
    """Every sentence names its item, so none is said twice in one conversation."""
    heard: Counter[str] = Counter()
    for _, text in talk.heard:
        heard.update({sentence.strip() for sentence in _SENTENCE.findall(text)})
    for sentence, times in heard.items():
        if times > 1:
            yield Finding("heard_twice", talk.id, f"{sentence!r} was heard {times} times")


def two_voices(talk: Talked) -> Iterable[Finding]:
    """Sound of two servers at a time."""
    stretches = sorted(talk.stretches, key=lambda one: one.began_s)
    for one, other in pairwise(stretches):
        if one.node != other.node and one.ended_s - other.began_s > OVERLAP_S:
            yield Finding("two_owners", talk.id, f"{one.node} and {other.node} were heard at once")


# -- The store and the world


def owners(writes: Sequence[AcceptedWrite]) -> Iterable[Finding]:
    """One node for each epoch, epochs that only go up, and no revision twice."""
    nodes: dict[tuple[str, int], str] = {}
    last: dict[str, AcceptedWrite] = {}
    for one in writes:
        node = nodes.setdefault((one.conversation, one.epoch), one.node)
        if node != one.node:
            yield Finding("two_owners", one.conversation, f"epoch {one.epoch} was written by {node} and {one.node}")
        before = last.get(one.conversation)
        if before is not None and one.epoch < before.epoch:
            yield Finding("two_owners", one.conversation, f"epoch {one.epoch} was written after {before.epoch}")
        if before is not None and one.revision != before.revision + 1:
            yield Finding("two_owners", one.conversation, f"revision {one.revision} follows {before.revision}")
        last[one.conversation] = one


def twice_done(deeds: Sequence[Deed], of_item: Mapping[str, str]) -> Iterable[Finding]:
    """What may be done once was begun once; what carries a key has one key for one confirmation."""
    begun = Counter((deed.deed, deed.item) for deed in deeds if deed.stage == "begun")
    keys: dict[tuple[str, str], set[str]] = defaultdict(set)
    for deed in deeds:
        keys[deed.deed, deed.item].add(deed.key)
    for (deed_name, item), times in begun.items():
        conversation = of_item.get(item, "")
        if deed_name in ONCE and times > 1:
            yield Finding("actions_twice", conversation, f"{deed_name} {item} was done {times} times")
        if len(keys[deed_name, item]) > 1:
            yield Finding("actions_twice", conversation, f"{deed_name} {item} was done under {len(keys)} keys")


def claimed_undone(talks: Sequence[Talked], deeds: Sequence[Deed]) -> Iterable[Finding]:
    """The agent said that it was done, and it was not."""
    done = {deed.item for deed in deeds if deed.stage == "done"}
    for talk in talks:
        for turn in talk.turns:
            if any(f"Now {turn.item}" in heard for heard in turn.heard) and turn.item not in done:
                yield Finding("turns_lost", talk.id, f"{turn.item} was said to be done, and was not")


# -- Time


def stuck(talk: Talked, kept: KeptTalk | None) -> Iterable[Finding]:
    """Something came of everything, within the machine's own limits."""
    if talk.stuck:
        yield Finding("stuck", talk.id, talk.stuck)
    for turn in talk.turns:
        if turn.is_stuck:
            yield Finding("stuck", talk.id, f"{turn.text!r} got neither an answer nor an end")
    if kept is None or kept.is_over or kept.is_sounding:  # whoever cuts the last answer short hears it still
        return
    if kept.owed and not any(turn.is_stuck for turn in talk.turns):
        yield Finding("stuck", talk.id, f"{kept.owed} turns are still owed")
