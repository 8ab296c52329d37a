"""Asks the brain whether the user's words are a complete reply to the agent, if the brain has a method for that.

Rule: if the brain has no such method, or if it fails, only the sound and the words decide when a turn ends.
"""

from __future__ import annotations

from duologue.ports.brain import Brain, JudgesText
from duologue.ports.history import UserSaid
from duologue.turns.completeness import Completeness

from .driver import ReportFailure


class TextJudge:
    """Asks the brain of one conversation how complete texts are."""

    def __init__(self, report_failure: ReportFailure, conversation: str, brain: Brain) -> None:
        self._report_failure = report_failure
        self._conversation = conversation
        self._brain: JudgesText | None = None
        self.use_brain(brain)

    def use_brain(self, brain: Brain) -> None:
        """Ask this brain from now on."""
        self._brain = brain if isinstance(brain, JudgesText) else None

    @property
    def can_judge(self) -> bool:
        return self._brain is not None

    def judge(self, said: tuple[UserSaid, ...]) -> Completeness:
        """How complete the words of these turns are, as the brain judges them. UNKNOWN if the brain can't tell or
        fails. A failure is reported, and then the brain isn't asked any more."""
        if self._brain is None or not said:
            return Completeness.UNKNOWN
        try:
            return Completeness(self._brain.completeness(self._conversation, said))
        except Exception as failure:  # noqa: BLE001 - a brain may raise anything
            self._brain = None
            self._report_failure("brain", failure)
            return Completeness.UNKNOWN
