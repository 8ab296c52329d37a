"""Decides what the agent says after an answer was cut off by a lost line, or by a sound without words.

Rule: a sentence that was heard to its end isn't said again. A sentence that a lost line cut off is said again, from its
beginning, only if the client has reported how much was heard. If the client hasn't, or if the brain had not written the
whole answer yet, the agent offers to go on. Last words before the end of a call can't be offered, so they are said
again in any case.
"""

from __future__ import annotations

from typing import NamedTuple

from duologue.core.leaves import Ending
from duologue.hearing.words import TurnMark
from duologue.ports.brain import Brain, Remembers
from duologue.turns.words import count

from .agent import Agent, Phrase
from .driver import Driver
from .hearing import Hearing
from .playback import Playback
from .requests import SilentBrain


class AfterCut(NamedTuple):
    """What follows an answer that was cut off. `brain` says it; None means the agent's own brain, which repeats its
    question or still has the rest of the answer. `repeats` means that it is the rest of the answer, so a question in it
    is a question of the answer. `is_aside` means that a question in it is the agent's own, such as whether to go on."""

    brain: Brain | None
    is_aside: bool = False
    repeats: bool = False


NOTHING = AfterCut(SilentBrain())
BY_BRAIN = AfterCut(None)


class CutAnswers:
    """Decides what follows the newest answer that was cut off."""

    def __init__(self, driver: Driver, playback: Playback, hearing: Hearing) -> None:
        self._driver = driver
        self._playback = playback
        self._hearing = hearing
        self.aside = 0  # the newest reply whose questions the agent asks by itself, such as an offer to go on

    def _is_aside(self, reply: int) -> bool:
        return reply in (self.aside, self._hearing.state.aside_question.reply)

    @property
    def is_heard(self) -> bool:
        """Was the last reply heard completely, although a lost line cut it off? The reports that show this came late.
        If the reply ends with a question, it is enough that so much of it was heard that the person can answer. An
        offer to go on must have been heard to its end; otherwise it is made again."""
        cut = self._playback.cut if self._playback.cut_by_line else None
        if cut is None or not cut.complete:
            return False
        rest = cut.ledger.rest_from_sentence().strip()
        if not rest or self._is_aside(cut.reply):
            return not rest
        return rest == cut.ledger.question_text() and not self._hearing.has_open_question

    @property
    def heard(self) -> str:
        """The sentences that were heard completely of the newest reply that a lost line cut off. Empty if there is no
        such reply."""
        cut = self._playback.cut if self._playback.cut_by_line else None
        return cut.ledger.heard_sentences() if cut is not None else ""

    def next(self, agent: Agent, reply: int) -> AfterCut:
        """What follows the answer that was cut off. `reply` chooses between the variants of an offer."""
        if self.is_heard:
            return self._after_all(agent, reply)
        remembers = isinstance(agent.thinker, Remembers)
        if not self._playback.cut_by_line:
            return BY_BRAIN if remembers and not self._is_ending else self._offer(agent, reply)
        assert self._playback.cut is not None
        if remembers and (self._hearing.has_open_question or not self._playback.cut.complete):
            return BY_BRAIN
        return self._rest(agent, reply)

    def rest(self, agent: Agent, reply: int) -> AfterCut:
        """Decide what follows an answer that was cut off, after the client has reported how much of it was heard:
        normally the rest of the answer."""
        if self.is_heard:
            return self._after_all(agent, reply)
        if self._playback.cut is None or not self._playback.cut_by_line:
            return NOTHING
        return self._rest(agent, reply)

    def _after_all(self, agent: Agent, reply: int) -> AfterCut:
        """What follows an answer that was heard completely: nothing. But if the person has said something over it that
        was only overheard, the agent asks for it."""
        asks = "" if self._is_ending or not self._was_spoken_to(agent) else agent.says("yes", reply)
        return self._own_question(agent, reply, asks) if asks else NOTHING

    def _was_spoken_to(self, agent: Agent) -> bool:
        """Has the person said more than fillers over the newest voice, and were these words only overheard?"""
        s, words = self._driver.state, self._hearing.state.words
        said = (words.of(turn) for turn in range(s.floor_turn + 1, s.turn + 1))
        overheard = (one.text for one in said if one.mark is TurnMark.OVERHEARD)
        return any(count(text, agent.language).substantial for text in overheard)

    def _rest(self, agent: Agent, reply: int) -> AfterCut:
        cut = self._playback.cut
        assert cut is not None
        if not cut.complete:
            return self._offer(agent, reply)
        is_aside = self._is_aside(cut.reply)
        if self._playback.is_cut_exact or (self._is_ending and not is_aside):  # last words are heard to their end
            return AfterCut(Phrase(cut.ledger.rest_from_sentence()), is_aside=is_aside, repeats=not is_aside)
        question = cut.ledger.question_text() if self._hearing.has_open_question else ""
        return AfterCut(Phrase(question), repeats=True) if question else self._offer(agent, reply)

    def _offer(self, agent: Agent, reply: int) -> AfterCut:
        """An offer to go on, or "yes?" if everything was said. Nothing is offered if the conversation ends now. If the
        agent's texts have no such offer, the brain makes it."""
        if self._is_ending:
            return NOTHING
        cut = self._playback.cut
        is_all_said = cut is not None and cut.complete and not cut.ledger.rest_from_sentence()
        return self._own_question(agent, reply, agent.says("yes" if is_all_said else "go_on", reply))

    def _own_question(self, agent: Agent, reply: int, text: str) -> AfterCut:
        """A question of the agent itself. After a lost line, it begins with "the connection is back"."""
        if text and self._playback.cut_by_line:
            text = f"{agent.says('connection_back', reply)} {text}".strip()
        return AfterCut(Phrase(text) if text else None, is_aside=True)

    @property
    def _is_ending(self) -> bool:
        return self._driver.state.ending is not Ending.NO
