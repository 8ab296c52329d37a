"""The agent that tells a person about a phone call, so that the person can take over the call.

It says the briefing and asks the person to accept with 1 or "yes", or to decline with 2 or "no". Rule: the briefing
affects the caller's call in only one way: it reports the person's answer to that call.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from datetime import datetime

from duologue.core.settings import PROFILES
from duologue.dialogue.language.pack import LanguagePack
from duologue.dialogue.language.packs import has_pack, pack_of
from duologue.dialogue.language.readings import ConfirmationAnswer, Direct, Question, Slot, SlotKind
from duologue.ports.brain import LastWords, Part, Request
from duologue.runtime.agent import Agent

_KEY = Slot("key", SlotKind.NUMBER)


class BriefingBrain:
    """The brain that talks to the person who should take over. `last` has two texts: the first is said to a person who
    accepts, the second to one who declines. `tell` is called with True if the person accepts, and with False if the
    person declines. The person's answer is understood in `language`, or in English if there is no language pack for
    `language`."""

    def __init__(
        self, briefing: str, question: str, last: tuple[str, str], tell: Callable[[bool], None], language: str = "en"
    ) -> None:
        self._pack = pack_of(language if has_pack(language) else "en")
        self._briefing = briefing
        self._question = question
        self._thanks, self._goodbye = last
        self._tell = tell

    async def reply(self, request: Request) -> AsyncIterator[Part]:
        accepts = _accepts(self._pack, self._question, request.text)
        if accepts is None:
            yield f"{self._briefing} {self._question}"
        elif accepts:
            self._tell(True)
            yield self._thanks
        else:
            self._tell(False)
            yield LastWords(self._goodbye)


def _accepts(pack: LanguagePack, question: str, text: str) -> bool | None:
    """Does this answer accept the call? True for yes or the key 1, False for no or the key 2, None for any other
    answer."""
    pressed, today = text.strip(" .,!?#*"), datetime.now().isoformat(timespec="minutes")
    number = pack.replies.read(Question(_KEY), pressed, today)
    if isinstance(number, Direct) and number.value_of(_KEY.name) in (1, 2):
        return number.value_of(_KEY.name) == 1
    answer = pack.replies.plain_answer(question, text, today, ())
    return None if answer is None else answer is ConfirmationAnswer.YES


def briefing_agent(agent: Agent, briefing: str, tell: Callable[[bool], None]) -> Agent:
    """An agent that briefs a person, with the voice and the ears of `agent`. It is private if `agent` is: the briefing
    tells about that agent's call."""
    language, phrases = agent.language or "en", agent.phrases
    question = phrases.say(language, "take_over", 0)
    last = phrases.say(language, "working", 0), phrases.say(language, "goodbye", 0)
    brain = BriefingBrain(briefing, question, last, tell, language)
    return Agent(
        brain,
        name=f"{agent.name} briefing".strip(),
        ears=agent.ears,
        voice=agent.voice,
        language=agent.language,
        profile=PROFILES["words"],
        phrases=replace(phrases, greeting=f"{briefing} {question}"),
        pronunciations=agent.pronunciations,
        spoken_forms=agent.spoken_forms,
        private=agent.private,
    )
