"""What the agent says by itself: greetings, check-ins and goodbyes.

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
    """The text of a reply; empty if the brain makes it. `is_aside` means that questions in the text are the agent's
    own, so that a "yes" to them confirms nothing that the brain has asked."""

    text: str
    is_aside: bool


def own_phrase(agent: Agent, effect: StartReply, is_greeting: bool, check_ins: int) -> OwnPhrase:
    """What the agent itself says for this request. What it says after an answer was cut off is in `cut_answers`."""
    text = agent.phrase(effect.ask, is_greeting, check_ins)
    is_by_brain = effect.ask is Ask.ANSWER or (not text and isinstance(agent.thinker, Remembers))
    return OwnPhrase(text, not is_by_brain)
