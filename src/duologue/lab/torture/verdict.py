"""Checks every conversation of a run: what its person noted, what was stored, which actions were done.

The checks are pure functions. Each check is named after the mistake that it looks for, and yields a Finding for each
mistake. Rule: a check knows only the outcome, never which faults were inflicted.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from duologue.phrases.texts import texts_in

from .person_notes import AcceptedWrite, ConversationNotes, LoggedAction, SavedConversation, TypedTurn
from .saved_turns import compare
from .tortured_agent import RECONNECT_MS_MAX, story_of

ONCE = ("order", "pay")  # actions that may be done only once: the others carry a key or are idempotent
CONFIRMED = ("order", "reserve")  # actions that are done only after a "yes"
HUNG_UP = "hung up"  # how a conversation ends that its person has ended
OVERLAP_S = 0.05
UNANSWERED_PERCENT_MAX = 1  # the share of messages that may get no answer, with their person notified
# What the agent says about an action with an unknown outcome, an action that failed, and an answer that broke off. If a
# lost line cuts such an answer off, only its rest is said again.
HONEST_ANSWERS = (
    "can't tell whether that went through",
    "I encountered an error",
    "Say retry or cancel",
    "lost the rest of that",
)
OFFERS = texts_in("en").spoken["go_on"]  # what the agent says if it doesn't know how much of an answer was heard
_NAMING_SENTENCE = re.compile(r"[^.?!]*\d{4,}[^.?!]*[.?!]")
_SENTENCE = re.compile(r"[^.?!]+[.?!]")


@dataclass(frozen=True, slots=True)
class Finding:
    """One violation that a check found."""

    check: str
    conversation: str
    what: str


CHECKS = ("turns_lost", "actions_twice", "heard_twice", "two_owners", "stuck", "unanswered")


def judge(
    talks: Sequence[ConversationNotes],
    saved: Mapping[str, SavedConversation],
    writes: Sequence[AcceptedWrite],
    actions: Sequence[LoggedAction],
    people: int,
) -> list[Finding]:
    """Run every check, and return the violations. `saved` has all conversations of the store. `people` is the number of
    persons who took part; they are numbered from 1."""
    found = [fault for talk in talks for fault in _of_talk(talk, saved.get(talk.id))]
    found += unreported(talks, saved, people)
    found += unanswered(talks, saved)
    found += wrongly_done(talks, actions)
    found += claimed_undone(talks, actions)
    found += owners(writes)
    return found


def _of_talk(talk: ConversationNotes, saved: SavedConversation | None) -> Iterable[Finding]:
    yield from lost(talk, saved)
    yield from forgotten(talk)
    yield from said_untrue(talk)
    yield from not_taken_up(talk)
    yield from heard_twice(talk)
    yield from two_voices(talk)
    yield from stuck(talk, saved)


# -- Turns


def may_be_unsaved(turn: TypedTurn) -> bool:
    """Was the person told that this message isn't saved? Either a notice said so when it was typed, or the message was
    never confirmed as saved and was later reported as lost."""
    return turn.is_typed_unsaved or (turn.is_reported_lost and not turn.is_safe)


def is_heard(turn: TypedTurn) -> bool:
    """Was an answer to this message heard to its end, or until the person interrupted it? An answer that a fault broke
    off also counts as heard, if the page has shown the rest of it."""
    heard = [one.strip() for one in turn.heard if one.strip()]
    is_whole = any(one.endswith((".", "?")) for one in heard)
    names = ("",) if turn.text == "cancel" else (turn.item, *HONEST_ANSWERS)  # the answer to "cancel" names nothing
    is_shown = any(name in shown for shown in turn.shown for name in names)
    return bool(heard) and (is_whole or turn.is_cut_short or is_shown)


def is_broken_off(turn: TypedTurn) -> bool:
    """Did a fault cut off the answer, so that only a part of it was heard, and did the page show the rest?"""
    whole = any(one.strip().endswith((".", "?")) for one in turn.heard)
    return any(one.strip() for one in turn.heard) and not whole and not turn.is_cut_short and is_heard(turn)


def is_told_lost(talk: ConversationNotes, saved: SavedConversation | None, turn: TypedTurn) -> bool:
    """Was the person told that this message is lost or gets no answer? If the page said that nothing is saved when the
    message was typed, that also counts, but only if the conversation was lost afterwards. If the conversation lasted
    until the person hung up, the answer should have come."""
    if turn.is_reported_lost:
        return True
    is_kept = saved is not None and is_heard(turn)
    return turn.is_typed_unsaved and talk.ended not in ("", HUNG_UP) and not is_kept


def lost(talk: ConversationNotes, saved: SavedConversation | None) -> Iterable[Finding]:
    """Yield a finding for each message that was not saved or got no answer, unless its person was told so, and for each
    word that was saved too often or in the wrong position."""
    compared = compare(talk.turns, [may_be_unsaved(turn) for turn in talk.turns], saved.user if saved else ())
    for at in compared.missing:
        if not may_be_unsaved(talk.turns[at]):
            yield Finding("turns_lost", talk.id, f"{talk.turns[at].text!r} (message {at + 1}) isn't in the store")
    for word in compared.unexpected:
        yield Finding("turns_lost", talk.id, f"{word!r} was saved more often than it was typed, or elsewhere")
    for turn in talk.turns:
        if not turn.is_closed:
            yield Finding("turns_lost", talk.id, f"{turn.text!r} was given up")
        elif not is_heard(turn) and not is_told_lost(talk, saved, turn) and not turn.is_stuck:
            what = "was cut off, and its rest was not shown" if any(turn.heard) else "never came"
            yield Finding("turns_lost", talk.id, f"the answer to {turn.text!r} ({turn.item}) {what}")


def forgotten(talk: ConversationNotes) -> Iterable[Finding]:
    """Yield a finding if the conversation was replaced by another one, if the server ended it for a reason of its own,
    or if the server forgot it during a short absence of its person. Forgetting is allowed if nothing was saved and a
    notice said so for each message that the person typed."""
    if talk.ended == "replaced":
        yield Finding("turns_lost", talk.id, "another conversation took its place, and the person wasn't told")
    if (
        talk.ended == "gone"
        and talk.away_s < RECONNECT_MS_MAX / 1000
        and any(not turn.is_typed_unsaved for turn in talk.turns)
    ):
        yield Finding("turns_lost", talk.id, f"it was forgotten while its person was away for {talk.away_s:.1f} s")
    if talk.ended not in ("", HUNG_UP, "replaced", "gone"):
        yield Finding("turns_lost", talk.id, f"it was ended by the server: {talk.ended}")


def unreported(
    talks: Sequence[ConversationNotes], saved: Mapping[str, SavedConversation], people: int
) -> Iterable[Finding]:
    """Yield a finding for each gap in the people's notes: a conversation that is in the store but in no notes, a
    conversation that two people noted, or a person who never typed anything."""
    known = {talk.id for talk in talks}
    for id_, one in saved.items():
        if id_ not in known and one.user:
            yield Finding("turns_lost", id_, f"the store has {len(one.user)} messages of it, but no person reports it")
    for id_, times in Counter(talk.id for talk in talks).items():
        if times > 1:
            yield Finding("two_owners", id_, f"{times} persons were in it")
    for person in range(1, people + 1):
        if not any(talk.turns for talk in talks if talk.person == person):
            yield Finding("stuck", "", f"person {person} has never typed anything")


def told_lost(talks: Sequence[ConversationNotes], saved: Mapping[str, SavedConversation]) -> int:
    """The number of messages that were lost or got no answer, and whose person was told so."""
    return sum(is_told_lost(talk, saved.get(talk.id), turn) for talk in talks for turn in talk.turns)


def told_lost_max(talks: Sequence[ConversationNotes]) -> int:
    """The largest allowed number of messages without an answer in these conversations: 1 % of all messages, rounded
    up."""
    return -(-sum(len(talk.turns) for talk in talks) * UNANSWERED_PERCENT_MAX // 100)


def unanswered(talks: Sequence[ConversationNotes], saved: Mapping[str, SavedConversation]) -> Iterable[Finding]:
    """Yield findings if too many messages got no answer, even if each person was told that none would come. If a person
    wasn't told, a single message without an answer is already a violation; the check `lost` finds those."""
    count, allowed = told_lost(talks, saved), told_lost_max(talks)
    if count > allowed:
        for talk in talks:
            told = [turn.text for turn in talk.turns if is_told_lost(talk, saved.get(talk.id), turn)]
            if told:
                what = f"no answer to {', '.join(map(repr, told))}; {count} in all, but at most {allowed} are allowed"
                yield Finding("unanswered", talk.id, what)


def said_untrue(talk: ConversationNotes) -> Iterable[Finding]:
    """Check that every complete answer names the item of its message or contains one of HONEST_ANSWERS. Any other
    answer shows that a message was forgotten. Answers to "cancel" are not checked."""
    for turn in talk.turns:
        whole = [heard.strip() for heard in turn.heard if heard.rstrip().endswith((".", "?"))]
        for heard in whole:
            is_honest = any(known in heard for known in (*HONEST_ANSWERS, *OFFERS))
            if turn.item not in heard and turn.text != "cancel" and not is_honest:
                yield Finding("turns_lost", talk.id, f"{turn.text!r} ({turn.item}) was answered with {heard!r}")


def not_taken_up(talk: ConversationNotes) -> Iterable[Finding]:
    """Check that every story that the person began to hear was heard to its last sentence, no matter how often it was
    cut off. It is enough if the agent offered to go on, or said that the rest of the story is lost. A story that its
    person interrupted, and the last story of a conversation that broke down, aren't checked."""
    for turn in talk.turns:
        if not turn.text.startswith("tell") or turn.is_cut_short or not turn.is_closed or turn.is_stuck:
            continue
        if turn is talk.turns[-1] and talk.ended != HUNG_UP:
            continue
        heard = " ".join(turn.heard)
        is_ended = any(text in heard for text in (story_of(turn.item)[-1].strip(), *HONEST_ANSWERS, *OFFERS))
        if heard.strip() and not is_ended and not turn.is_reported_lost:
            yield Finding("turns_lost", talk.id, f"{turn.text!r} was cut off at {heard!r}, and not taken up again")


# -- Sound


def heard_twice(talk: ConversationNotes) -> Iterable[Finding]:
    """Check that no sentence was heard twice. A sentence that names an item may be heard only once in the whole
    conversation, and any other sentence only once in the answer to one message."""
    heard = Counter(sentence.strip() for _, text in talk.heard for sentence in _NAMING_SENTENCE.findall(text))
    for sentence, times in heard.items():
        if times > 1:
            yield Finding("heard_twice", talk.id, f"{sentence!r} was heard {times} times")
    for turn in talk.turns:
        general = Counter(sentence.strip() for text in turn.heard for sentence in _SENTENCE.findall(text))
        for sentence, times in general.items():
            if times > 1 and sentence not in heard:
                yield Finding("heard_twice", talk.id, f"{sentence!r} was heard {times} times after {turn.text!r}")


def two_voices(talk: ConversationNotes) -> Iterable[Finding]:
    """Check that a person never heard sound from two servers at the same time."""
    for one, other in combinations(sorted(talk.stretches, key=lambda one: one.began_s), 2):
        if one.node != other.node and one.ended_s - other.began_s > OVERLAP_S:
            yield Finding("two_owners", talk.id, f"{one.node} and {other.node} were heard at the same time")


# -- The store and the actions


def owners(writes: Sequence[AcceptedWrite]) -> Iterable[Finding]:
    """Check the writes of each conversation. All writes of one epoch (number of a lease) come from one node, epochs
    never go down, and every revision is one higher than the one before."""
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


def wrongly_done(talks: Sequence[ConversationNotes], actions: Sequence[LoggedAction]) -> Iterable[Finding]:
    """Check three things: every action that began was asked for, every action listed in ONCE began at most once, and an
    action that began several times had the same key each time."""
    typed = {(turn.item, turn.text.split()[0]): talk.id for talk in talks for turn in talk.turns}
    begun = Counter((action.name, action.item) for action in actions if action.stage == "begun")
    keys: dict[tuple[str, str], set[str]] = defaultdict(set)
    for action in actions:
        keys[action.name, action.item].add(action.key)
    for (name, item), times in begun.items():
        conversation = typed.get((item, name), "")
        if not conversation or (name in CONFIRMED and (item, "yes") not in typed):
            yield Finding("actions_twice", conversation, f"{name} {item} was done, but not asked for")
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
    """Check that the conversation was never stuck: every message got an answer or was given up within the machine's
    time limits, and the conversation came to an end."""
    if talk.stuck:
        yield Finding("stuck", talk.id, talk.stuck)
    for turn in talk.turns:
        if turn.is_stuck:
            yield Finding("stuck", talk.id, f"{turn.text!r} got neither an answer nor an end")
    if not talk.ended and not talk.stuck:
        yield Finding("stuck", talk.id, "its person could not hang up")
    if saved is None or saved.is_over:
        return
    if saved.is_sounding:
        yield Finding("stuck", talk.id, "its sound has no end")
    elif saved.owed and not any(turn.is_stuck for turn in talk.turns):
        yield Finding("stuck", talk.id, f"{saved.owed} turns are still unanswered")
