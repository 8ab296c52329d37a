"""Has the agent's question been asked? Since when does an answer to it count?

A question counts as asked once enough of it was heard, or once it has been shown for a moment. Rule: words that began
before that aren't an answer to it, so a "yes" that was said or typed too early confirms nothing.
"""

from __future__ import annotations

from typing import NamedTuple

from duologue.core.effects import StartPlayback
from duologue.core.events import PlaybackFinished, PlaybackStopped, ReplyFinished
from duologue.core.step_record import StepRecord

NOT_YET = -1


class AskedQuestion(NamedTuple):
    """The newest question of the agent."""

    reply: int = 0  # the reply that asks it; 0: nothing was asked yet
    asked_at: int = NOT_YET  # since when an answer to it counts
    playing: int = 0  # the reply whose sound was started last

    @property
    def is_asked(self) -> bool:
        return self.asked_at != NOT_YET

    def counts_for(self, began_at: int) -> bool:
        """Do words that began at this time count as an answer?"""
        return not self.reply or (self.is_asked and began_at >= self.asked_at)


def pose(question: AskedQuestion, reply: int) -> AskedQuestion:
    """The brain's reply holds a question. Nothing of it was heard yet."""
    return question._replace(reply=reply, asked_at=NOT_YET)


def hear_late(question: AskedQuestion, reply: int, at: int) -> AskedQuestion:
    """A late report says that this reply was heard."""
    is_open = bool(question.reply) and not question.is_asked
    return question._replace(asked_at=at) if is_open and question.reply == reply else question


def follow(question: AskedQuestion, record: StepRecord, needed_ms: int | None, shown_ms: int) -> AskedQuestion:
    """The question after a step of the conversation machine. `needed_ms` is how much of the speech must have been heard
    before the question counts as asked; None: the whole speech. `shown_ms` is the same for text on the screen."""
    started = next((effect for effect in record.effects if type(effect) is StartPlayback), None)
    if started is not None:
        question = question._replace(playing=started.reply)
    if question.is_asked or not question.reply:
        return question
    event, before, after = record.event, record.before, record.after
    if type(event) is ReplyFinished and event.reply == question.reply and after is not before:
        return question._replace(asked_at=event.at + shown_ms)
    if question.playing != question.reply:
        return question
    heard_ms = after.heard_ms if started is not None else max(before.heard_ms, after.heard_ms)
    if isinstance(event, PlaybackFinished | PlaybackStopped) and event.voice == before.voice_id:
        heard_ms = max(heard_ms, event.heard_ms)
    if type(event) is PlaybackFinished and event.voice == before.voice_id:
        needed_ms = heard_ms if needed_ms is None else min(needed_ms, heard_ms)
    if needed_ms is None or heard_ms < needed_ms:
        return question
    return question._replace(asked_at=max(0, event.at - (heard_ms - needed_ms)))
