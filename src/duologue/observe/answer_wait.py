"""Measures how long the person waits for an answer: from the first request for the answer to its first token, and to
its first audio.

If a request is retried, the wait continues. What the agent says on its own initiative (a greeting, a check-in, news
about a job) isn't an answer and isn't measured. Rule: waits are computed only from the steps of the conversation
machine.
"""

from __future__ import annotations

from typing import NamedTuple

from duologue.core.effects import StartPlayback, StartReply
from duologue.core.events import TokenArrived
from duologue.core.leaves import Reply
from duologue.core.step_record import StepRecord


class Waited(NamedTuple):
    """The waits that ended in one step, in milliseconds: the wait for the first token, and the wait for the first
    audio. A wait that didn't end in this step is None."""

    token_ms: int | None = None
    audio_ms: int | None = None


NOTHING = Waited()


class AnswerWait:
    """Measures how long the person waits for the answer that was requested last."""

    def __init__(self) -> None:
        self._reply = 0  # the newest request for an answer; 0: none
        self._since = 0

    def follow(self, record: StepRecord) -> Waited:
        """Process one step that changed something. Returns the waits that ended in this step."""
        at, token_ms, audio_ms = record.event.at, None, None
        if type(record.event) is TokenArrived and record.event.reply == self._reply:
            token_ms = at - self._since
        for effect in record.effects:
            if type(effect) is StartReply:
                self._note_request(effect, record)
                if record.before.reply in (Reply.DRAFTING, Reply.DRAFTED) and effect.reply == record.before.reply_id:
                    token_ms = 0  # it was asked early, and its first token was there when the turn ended
            elif type(effect) is StartPlayback and effect.reply == self._reply:
                audio_ms = at - self._since
        return Waited(token_ms, audio_ms) if token_ms is not None or audio_ms is not None else NOTHING

    def _note_request(self, request: StartReply, record: StepRecord) -> None:
        is_answer = request.last >= request.first
        is_retry = self._reply > 0 and record.before.reply is Reply.RETRYING
        if not is_retry:
            self._since = record.event.at
        self._reply = request.reply if is_answer else 0
