"""The caller of an evaluation: a model with a goal, a mood and facts, who says one thing at a time.

Rule: the caller knows what it heard and nothing else about the agent.
"""

from __future__ import annotations

from duologue.ports.brain import Brain
from duologue.ports.history import AgentSaid, Item, UserSaid

from .model import ask_model
from .suite import EvalCase

DONE = "[done]"
_INSTRUCTIONS = """You are a person on the phone. You called; the user's messages are what the other side says to you.
Answer with only the words that you say aloud next: one or two short sentences, no quotation marks, no descriptions.
Your goal: {goal}
{mood}{facts}Say only what such a person knows. Don't help the other side and don't invent facts.
When your goal is reached, or can't be reached, say goodbye and write {done} at the end."""


class EvalCaller:
    """Asks a model what the caller of this case says next."""

    def __init__(self, brain: Brain, case: EvalCase) -> None:
        self._brain = brain
        self._instructions = instructions_for(case)
        self._history: list[Item] = []
        self._turn = 0

    async def says(self, heard: str) -> tuple[str, bool]:
        """Tell the model what the caller has heard, and return what the caller says next. Also returns whether these
        are the caller's last words. Raises EvalModelFailed if the model fails."""
        self._turn += 1
        heard = heard or "(silence)"
        self._history.append(UserSaid(self._turn, heard))
        answer = await ask_model(self._brain, self._instructions, heard, tuple(self._history), self._turn)
        words = " ".join(answer.replace(DONE, " ").split()).strip('"')
        self._history.append(AgentSaid(self._turn, words))
        return words, DONE in answer


def instructions_for(case: EvalCase) -> str:
    """The instructions that tell the model which person it plays."""
    mood = f"Your mood: {case.mood}\n" if case.mood else ""
    facts = "What you know, to be said when you are asked:\n" if case.facts else ""
    facts += "".join(f"- {name}: {value}\n" for name, value in case.facts)
    return _INSTRUCTIONS.format(goal=case.goal, mood=mood, facts=facts, done=DONE)
