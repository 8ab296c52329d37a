"""What the hearing machine and the conversation machine would do in one pause, if the recorded agent had not ended the
turn.

Both machines run on from the beginning of the pause with what the ears (VAD and STT) reported, until the turn ends or
the user speaks again. Rule: the machines get only recorded inputs. Nothing about the user is made up, and the brain
(the LLM) is never asked.
"""

from __future__ import annotations

from collections import deque
from dataclasses import fields
from typing import Any

from duologue.core.effects import CommitAudio
from duologue.core.errors import DuologueError
from duologue.core.events import Event, TimerFired
from duologue.core.leaves import User
from duologue.core.machine import MACHINE
from duologue.core.state import next_deadline
from duologue.core.step_record import StepRecord
from duologue.hearing.inputs import AgentSpoke, CoreStepped, HeardLate, Input, Woke
from duologue.hearing.intents import Intent, event_of
from duologue.hearing.machine import step
from duologue.hearing.policy import HearingPolicy
from duologue.hearing.state import HearingState, next_due

STEPS_MAX = 1_000  # in one pause and without an input
_CURRENT = {"session": "session_id", "reply": "reply_id", "voice": "voice_id", "turn": "turn", "onset": "onset"}


class OtherEnd:
    """What a policy decides in one pause. `ended_at` is the time at which the policy ends the turn; None if it doesn't
    end the turn."""

    def __init__(self, policy: HearingPolicy, s: HearingState) -> None:
        self.ended_at: int | None = None
        self._policy = policy
        self._s = s._replace(ended_onset=0)
        self._is_over = False

    def take(self, i: Input) -> None:
        """Process an input from the recorded call. Inputs about what the agent did after the pause began are
        ignored."""
        self.pass_time(i.at - 1)
        if self._is_over or isinstance(i, CoreStepped | AgentSpoke | HeardLate):
            return
        if isinstance(i, Woke):
            self.pass_time(i.at)
        else:
            self._hear(i)

    def pass_time(self, at: int) -> None:
        """Let time pass up to and including this time."""
        for _ in range(STEPS_MAX):
            deadline, due = next_deadline(self._s.core), next_due(self._policy, self._s)
            if self._is_over or min(deadline.due if deadline else at + 1, at + 1 if due is None else due) > at:
                return
            if due is not None and (deadline is None or due <= deadline.due):
                self._hear(Woke(max(due, self._s.core.at)))
            elif deadline is not None:
                given = {"timer": deadline.timer, "due": deadline.due, "call": deadline.call}
                self._post(max(deadline.due, self._s.core.at), TimerFired, given)
        self._is_over = True

    def _hear(self, i: Input) -> None:
        self._s, intents = step(self._policy, self._s, i)
        self._tell(i.at, intents)

    def _tell(self, at: int, intents: tuple[Intent, ...]) -> None:
        for intent in intents:
            self._post(at, *event_of(intent))

    def _post(self, at: int, kind: type[Event], given: dict[str, Any]) -> None:
        waiting = deque([(kind, given)])
        for _ in range(STEPS_MAX):
            if not waiting or self._is_over:
                return
            waiting += [event_of(intent) for intent in self._advance(at, *waiting.popleft())]

    def _advance(self, at: int, kind: type[Event], given: dict[str, Any]) -> tuple[Intent, ...]:
        """Make one step of the conversation machine. Returns the intents of the hearing machine that follow from the
        step."""
        before = self._s.core
        try:
            event = self._make(max(at, before.at), kind, given)
            draft = MACHINE.advance(before, event)
        except (DuologueError, TypeError):  # as in a conversation, a wrong event changes nothing
            return ()
        if draft is None:
            return ()
        record = StepRecord(event, before, draft.build(), tuple(draft.effects), tuple(draft.fired))
        self._s, intents = step(self._policy, self._s, CoreStepped(event.at, record))
        if record.after.user is not User.SETTLING:
            self._is_over = True
            if any(type(effect) is CommitAudio for effect in record.effects):
                self.ended_at = event.at
        return intents

    def _make(self, at: int, kind: type[Event], given: dict[str, Any]) -> Event:
        known = {one.name for one in fields(kind)}
        current = {name: getattr(self._s.core, field) for name, field in _CURRENT.items() if name in known}
        if "seq" in known:
            current["seq"] = self._s.core.seq + 1
        return kind(**{**current, **given, "at": at})
