"""What the agent says by itself: greetings, check-ins, offers to go on, and goodbyes.

Rule: a question in such a reply, such as "Are you still there?", isn't a question of the brain. So a "yes" to it
confirms nothing that the brain, a tool or a job has asked before.
"""

from __future__ import annotations

from typing import NamedTuple

from duologue.core.effects import StartReply
from duologue.core.leaves import Ask
from duologue.ports.brain import Remembers

from .agent import Agent


class OwnPhrase(NamedTuple):
    """The text of a reply; empty if the brain makes it. With `is_aside`, questions in the reply are the agent's own."""

    text: str
    is_aside: bool
    repeats: bool = False  # the text is the rest of a reply that a lost line cut off


def own_phrase(agent: Agent, effect: StartReply, is_greeting: bool, check_ins: int, rest: str) -> OwnPhrase:
    """What the agent itself says for this request. `rest` is the rest of a reply that a lost line cut off.

    After an answer was cut off although the user said nothing, the agent says the rest of it, or offers to go on. A
    brain that implements `Remembers` repeats its last question instead."""
    remembers = isinstance(agent.thinker, Remembers)
    if effect.ask is Ask.OFFER:
        text = "" if remembers else rest or agent.says("go_on", effect.reply)
    else:
        text = agent.phrase(effect.ask, is_greeting, check_ins)
    repeats = effect.ask is Ask.OFFER and bool(rest) and not remembers
    is_by_brain = effect.ask is Ask.ANSWER or (not text and remembers)
    return OwnPhrase(text, not is_by_brain and not repeats, repeats)
