"""Checks every conversation of a run: what its person noted, what was stored, which actions were done.

The checks are pure functions. Rule: a check knows only the outcome, never which faults were inflicted.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from .person_notes import AcceptedWrite, ConversationNotes, LoggedAction, SavedConversation, TypedTurn

ONCE = ("order", "pay")  # actions that may be done only once: the others carry a key or are idempotent
OVERLAP_S = 0.05
# What the agent says about an action with an unknown outcome, an action that failed, and an answer that broke off.
HONEST_ANSWERS = ("can't tell whether that went through", "I encountered an error", "lost the rest of that")
_SENTENCE = re.compile(r"[^.?!]*\d{4,}[^.?!]*[.?!]")


@dataclass(frozen=True, slots=True)
class Finding:
    """One violation that a check found."""

    check: str
    conversation: str
    what: str


CHECKS = ("turns_lost", "actions_twice", "heard_twice", "two_owners", "stuck")


def judge(
    talks: Sequence[ConversationNotes],
    saved: Mapping[str, SavedConversation],
    writes: Sequence[AcceptedWrite],
    actions: Sequence[LoggedAction],
) -> list[Finding]:
    """Run every check except `claimed_undone`, and return the violations."""
    of_item = {turn.item: talk.id for talk in talks for turn in talk.turns}
    found = [fault for talk in talks for fault in _of_talk(talk, saved.get(talk.id))]
    found += twice_done(actions, of_item)
    found += owners(writes)
    return found


def _of_talk(talk: ConversationNotes, saved: SavedConversation | None) -> Iterable[Finding]:
    yield from lost(talk, saved)
    yield from said_untrue(talk)
    yield from heard_twice(talk)
    yield from two_voices(talk)
    yield from stuck(talk, saved)


# -- Turns


def is_reported_lost(talk: ConversationNotes, turn: TypedTurn) -> bool:
    """Was the person notified that this message got no answer, or that the conversation couldn't be saved before it
    ended?"""
    return turn.is_reported_lost or (talk.is_unsaved and bool(talk.ended))


def lost(talk: ConversationNotes, saved: SavedConversation | None) -> Iterable[Finding]:
    """Check that each message was saved exactly once and was answered, or that its person was notified."""
    if saved is None:
        for turn in talk.turns:
            if not is_reported_lost(talk, turn):
                yield Finding("turns_lost", talk.id, f"{turn.text!r}: the store doesn't have this conversation")
        return
    known = Counter(" ".join(saved.user).split())
    wanted: Counter[str] = Counter()
    for turn in talk.turns:
        if not is_reported_lost(talk, turn):
            wanted.update(turn.text.split())
    typed = Counter(word for turn in talk.turns for word in turn.text.split())
    for word in sorted(typed):
        if known[word] < wanted[word]:
            yield Finding(
                "turns_lost", talk.id, f"{word!r} was typed {wanted[word]} times, but saved {known[word]} times"
            )
        elif known[word] > typed[word]:
            yield Finding(
                "turns_lost", talk.id, f"{word!r} was typed {typed[word]} times, but saved {known[word]} times"
            )
    for turn in talk.turns:
        if not any(heard.strip() for heard in turn.heard) and not is_reported_lost(talk, turn) and not turn.is_stuck:
            yield Finding("turns_lost", talk.id, f"{turn.text!r} was never answered")


def said_untrue(talk: ConversationNotes) -> Iterable[Finding]:
    """Check that every complete answer names the item of its message or contains one of HONEST_ANSWERS. Any other
    answer shows that a message was forgotten. Answers to "cancel" are not checked."""
    for turn in talk.turns:
        whole = [heard.strip() for heard in turn.heard if heard.rstrip().endswith((".", "?"))]
        for heard in whole:
            if turn.item not in heard and turn.text != "cancel" and not any(known in heard for known in HONEST_ANSWERS):
                yield Finding("turns_lost", talk.id, f"{turn.text!r} ({turn.item}) was answered with {heard!r}")


# -- Sound


def heard_twice(talk: ConversationNotes) -> Iterable[Finding]:
    """Check that no sentence was heard twice. Every sentence names its item, so it must be unique in its
    conversation."""
    heard: Counter[str] = Counter()
    for _, text in talk.heard:
        heard.update({sentence.strip() for sentence in _SENTENCE.findall(text)})
    for sentence, times in heard.items():
        if times > 1:
            yield Finding("heard_twice", talk.id, f"{sentence!r} was heard {times} times")


def two_voices(talk: ConversationNotes) -> Iterable[Finding]:
    """Check that sound of two servers was never heard at the same time."""
    stretches = sorted(talk.stretches, key=lambda one: one.began_s)
    for one, other in pairwise(stretches):
        if one.node != other.node and one.ended_s - other.began_s > OVERLAP_S:
            yield Finding("two_owners", talk.id, f"{one.node} and {other.node} were heard at the same time")


# -- The store and the actions


def owners(writes: Sequence[AcceptedWrite]) -> Iterable[Finding]:
    """Check the writes of each conversation: an epoch has only one node, epochs never go down, and every revision is
    one higher than the one before."""
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


def twice_done(actions: Sequence[LoggedAction], of_item: Mapping[str, str]) -> Iterable[Finding]:
    """Check that every action of ONCE began at most once, and that a repeated action had the same key each time."""
    begun = Counter((action.name, action.item) for action in actions if action.stage == "begun")
    keys: dict[tuple[str, str], set[str]] = defaultdict(set)
    for action in actions:
        keys[action.name, action.item].add(action.key)
    for (name, item), times in begun.items():
        conversation = of_item.get(item, "")
        if name in ONCE and times > 1:
            yield Finding("actions_twice", conversation, f"{name} {item} was done {times} times")
        if len(keys[name, item]) > 1:
            yield Finding("actions_twice", conversation, f"{name} {item} was done with {len(keys[name, item])} keys")


def claimed_undone(talks: Sequence[ConversationNotes], actions: Sequence[LoggedAction]) -> Iterable[Finding]:
    """Check that every action that the agent reported as done was done."""
    done = {action.item for action in actions if action.stage == "done"}
    for talk in talks:
        for turn in talk.turns:
            if any(f"Now {turn.item}" in heard for heard in turn.heard) and turn.item not in done:
                yield Finding("turns_lost", talk.id, f"{turn.item} was reported as done, but wasn't")


# -- Time


def stuck(talk: ConversationNotes, saved: SavedConversation | None) -> Iterable[Finding]:
    """Check that every message was answered, or its turn ended, within the machine's time limits."""
    if talk.stuck:
        yield Finding("stuck", talk.id, talk.stuck)
    for turn in talk.turns:
        if turn.is_stuck:
            yield Finding("stuck", talk.id, f"{turn.text!r} got neither an answer nor an end")
    if saved is None or saved.is_over or saved.is_sounding:  # a last answer that was cut short may still be playing
        return
    if saved.owed and not any(turn.is_stuck for turn in talk.turns):
        yield Finding("stuck", talk.id, f"{saved.owed} turns are still unanswered")
