"""The agent that briefs a person who should take over a call.

It says the briefing and asks the person to accept with 1 or "yes", or to decline with 2 or "no". Rule: the person's
answer is told once, and nothing else of the briefing changes the caller's call.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from datetime import datetime

from duologue.core.settings import PROFILES
from duologue.dialogue.english import ConfirmationAnswer, plain_answer
from duologue.ports.brain import LastWords, Part, Request
from duologue.runtime.agent import Agent


class BriefingBrain:
    """Answers a person who should take over. `last` is what is said to a person who accepts, and to one who doesn't.
    `tell` gets True if the person accepts, False if not."""

    def __init__(self, briefing: str, question: str, last: tuple[str, str], tell: Callable[[bool], None]) -> None:
        self._briefing = briefing
        self._question = question
        self._thanks, self._goodbye = last
        self._tell = tell

    async def reply(self, request: Request) -> AsyncIterator[Part]:
        accepts = _accepts(self._question, request.text)
        if accepts is None:
            yield f"{self._briefing} {self._question}"
        elif accepts:
            self._tell(True)
            yield self._thanks
        else:
            self._tell(False)
            yield LastWords(self._goodbye)


def _accepts(question: str, text: str) -> bool | None:
    """Does this answer accept the call? None if it says neither yes nor no."""
    pressed = text.strip(" .,!?#*").casefold()
    if pressed in ("1", "one"):
        return True
    if pressed in ("2", "two"):
        return False
    answer = plain_answer(question, text, datetime.now().isoformat(timespec="minutes"))
    return None if answer is None else answer is ConfirmationAnswer.YES


def briefing_agent(agent: Agent, briefing: str, tell: Callable[[bool], None]) -> Agent:
    """An agent with this agent's voice and ears that briefs a person."""
    language, phrases = agent.language or "en", agent.phrases
    question = phrases.say(language, "take_over", 0)
    last = phrases.say(language, "working", 0), phrases.say(language, "goodbye", 0)
    brain = BriefingBrain(briefing, question, last, tell)
    return Agent(
        brain,
        name=f"{agent.name} briefing".strip(),
        ears=agent.ears,
        voice=agent.voice,
        language=agent.language,
        profile=PROFILES["words"],
        phrases=replace(phrases, greeting=f"{briefing} {question}"),
    )
