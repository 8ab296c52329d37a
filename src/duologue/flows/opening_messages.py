"""Finds the task that a message asks for without naming it, while no task is open: "brakes. tomorrow. eight o'clock.",
"hello, it's Mrs Hill, I've got a little Fiesta and it wants its MOT".

Two hints are used: an intent that the NLU finds in a single clause, and a choice of one flow that the message names.
Rule: a task is started only if one of the hints is clear. The agent announces the values, so that the user can object.
"""

from __future__ import annotations

from duologue.dialogue.clauses import clauses_of, text_of, without_join
from duologue.dialogue.commands import ChitChat, SetSlot, StartFlow
from duologue.dialogue.flow import Domain
from duologue.dialogue.language.readings import SlotKind
from duologue.dialogue.offered_tasks import offer_of
from duologue.dialogue.stack import has_just_ended
from duologue.dialogue.state import DialogueState
from duologue.nlu.understanding import MessageScope, Nlu, Understanding

from .intents import FLOW
from .partial_values import first_values

_CLAUSES_MAX = 5
_SIMILAR_MIN = 0.06  # the least confidence of a task that is offered
_AHEAD_MIN = 1.5  # how many times as likely it has to be as the next task
_WORDS_MIN = 2  # a clause with fewer words isn't searched for a task


async def understand_clauses(nlu: Nlu, domain: Domain, text: str, scope: MessageScope) -> Understanding | None:
    """What the NLU found in the clause that asks for a task. Called if the message as a whole was not understood. None
    if no clause asks for a task, or if two clauses ask for different tasks."""
    for at_subjects in (True, False):
        found = await _task_in_clauses(nlu, domain, text, scope, at_subjects=at_subjects)
        if found is not None:
            return found
    return None


async def _task_in_clauses(
    nlu: Nlu, domain: Domain, text: str, scope: MessageScope, *, at_subjects: bool
) -> Understanding | None:
    words = domain.pack.words
    tokens = words.tokens_of(text)
    clauses = clauses_of(words, tokens, at_subjects=at_subjects)
    parts = [without_join(words, tokens, clause) for clause in clauses]
    parts = [part for part in parts if len(part) >= _WORDS_MIN]
    if not 1 < len(parts) <= _CLAUSES_MAX:
        return None
    found = [await nlu.understand(text_of(text, tokens, part), scope) for part in parts]
    tasks = [one for one in found if one.intent is not None and one.intent.startswith(FLOW)]
    if len({one.intent for one in tasks}) != 1:
        return None
    return max(tasks, key=lambda one: one.confidence)


def offered_task(domain: Domain, state: DialogueState, text: str, found: Understanding) -> tuple[ChitChat, ...]:
    """The offer of the task that is most similar to a message which names no task. Empty if a task has just ended, if
    the message asks something, or if no task is clearly more similar than the others."""
    guessed = [(guess.intent.removeprefix(FLOW), guess) for guess in found.guesses]
    if has_just_ended(domain, state) or domain.pack.signs.asks(domain.pack.words.tokens_of(text)):
        return ()
    if not guessed or not guessed[0][1].intent.startswith(FLOW) or guessed[0][0] not in domain.flows:
        return ()
    best, *others = (guess.confidence for _, guess in guessed if guess.intent.startswith(FLOW))
    if best < _SIMILAR_MIN or (others and best < _AHEAD_MIN * others[0]):
        return ()
    return (ChitChat(offer_of(domain, domain.flows[guessed[0][0]])),)


def flow_by_values(domain: Domain, text: str, today: str, found: Understanding) -> tuple[StartFlow | SetSlot, ...]:
    """The commands that start a flow because the message names one of its choices, such as "highlights, Friday after
    four". If several flows have this choice, the one that is clearly the NLU's best guess is started. Empty if the
    message names no choice, or asks something."""
    pack = domain.pack
    if pack.signs.asks(pack.words.tokens_of(text)):
        return ()
    named = [flow.name for flow in domain.offered if _names_choice(domain, flow.name, text, today)]
    if len(named) > 1:
        guessed = [one for one in found.guesses if one.intent.removeprefix(FLOW) in named]
        rest = guessed[1].confidence if len(guessed) > 1 else 0.0
        named = [guessed[0].intent.removeprefix(FLOW)] if guessed and guessed[0].confidence > 2 * rest else []
    if len(named) != 1:
        return ()
    return (StartFlow(named[0]), *first_values(domain, named[0], text, today))


def _names_choice(domain: Domain, flow: str, text: str, today: str) -> bool:
    """Does the text name a choice of one of the flow's slots?"""
    slots = tuple(
        domain.slots[name].grammar_slot
        for name in domain.flows[flow].slots
        if domain.slots[name].kind is SlotKind.CHOICE
    )
    return bool(slots) and bool(domain.pack.replies.read_parts(slots, text, today))
