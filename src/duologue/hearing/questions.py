"""Keeps track of the agent's newest question: was it asked, and since when can the user answer it?

A question is treated as asked when enough of it was heard, or when it has been shown for a moment. Rule: words that
began before that aren't an answer to the question. So a "yes" that was said or typed too early confirms nothing: no
step of a flow, no tool that wants approval, and no question of a job. If the agent asks something by itself meanwhile,
such as "Are you still there?", a "yes" to that question confirms nothing either.
"""

from __future__ import annotations

from typing import NamedTuple

from duologue.core.effects import StartPlayback, StopPlayback
from duologue.core.events import JobAsked, LinkClosed, PlaybackFailed, PlaybackFinished, PlaybackStopped, ReplyFinished
from duologue.core.step_record import StepRecord

NOT_YET = -1


class AskedQuestion(NamedTuple):
    """The newest question of the agent."""

    reply: int = 0  # the reply that asks it; 0: nothing was asked yet
    asked_at: int = NOT_YET  # an answer to the question is accepted from this time on
    playing: int = 0  # the reply whose sound was started last
    shown_at: int = NOT_YET  # a typed answer of a user who reads the captions is accepted from this time on

    @property
    def is_asked(self) -> bool:
        return self.asked_at != NOT_YET

    def counts_for(self, began_at: int, is_read: bool = False) -> bool:
        """Can words that began at this time be an answer to the question? With `is_read`, the user typed the words and
        sees captions, so it is enough that the question was shown. True if nothing was asked yet."""
        is_heard = self.is_asked and began_at >= self.asked_at
        is_shown = is_read and self.shown_at != NOT_YET and began_at >= self.shown_at
        return not self.reply or is_heard or is_shown


def pose(question: AskedQuestion, reply: int, at: int, shown_ms: int) -> AskedQuestion:
    """The record of the question that the brain asks in this reply. The user has heard nothing of it yet."""
    is_playing = question.playing == reply
    return question._replace(reply=reply, asked_at=NOT_YET, shown_at=at + shown_ms if is_playing else NOT_YET)


def hear_late(question: AskedQuestion, reply: int, at: int) -> AskedQuestion:
    """The record of the question after a late report that the reply with this number was heard. If the question was in
    that reply, it is treated as asked from now on."""
    is_open = bool(question.reply) and not question.is_asked
    return question._replace(asked_at=at) if is_open and question.reply == reply else question


def follow(question: AskedQuestion, record: StepRecord, needed_ms: int | None, shown_ms: int) -> AskedQuestion:
    """The record of the question after a step of the conversation machine. `needed_ms` is how much of the speech must
    be heard before the question is treated as asked; None means the whole speech. `shown_ms` is how long a text must be
    on the screen before the question in it is treated as asked."""
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
    if started is not None:  # the captions have the text from the beginning of the sound
        question = question._replace(shown_at=event.at + shown_ms)
    elif event.at < question.shown_at and _ends_sound(record):
        question = question._replace(shown_at=NOT_YET)
    heard_ms = after.heard_ms if started is not None else max(before.heard_ms, after.heard_ms)
    if isinstance(event, PlaybackFinished | PlaybackStopped) and event.voice == before.voice_id:
        heard_ms = max(heard_ms, event.heard_ms)
    if type(event) is PlaybackFinished and event.voice == before.voice_id:
        needed_ms = heard_ms if needed_ms is None else min(needed_ms, heard_ms)
    if needed_ms is None or heard_ms < needed_ms:
        return question
    return question._replace(asked_at=max(0, event.at - (heard_ms - needed_ms)))


class JobQuestion(NamedTuple):
    """What a job wants to know from the user. A job's question stays open while other replies ask other questions."""

    call: int
    question: AskedQuestion
    is_answerable: bool = False  # the newest words that were in a request began after this question was asked


JobQuestions = tuple[JobQuestion, ...]


def pose_for_jobs(
    jobs: JobQuestions, calls: tuple[int, ...], reply: int, at: int, shown_ms: int, playing: int
) -> JobQuestions:
    """All open questions of jobs, after the brain has begun to ask those of the jobs `calls` in this reply. `playing`
    is the reply whose sound was started last. A question that was asked already stays as it is."""
    known = {one.call: one for one in jobs}
    for call in calls:
        one = known.get(call) or JobQuestion(call, AskedQuestion(playing=playing))
        if not one.question.is_asked:
            known[call] = one._replace(question=pose(one.question, reply, at, shown_ms))
    return tuple(known.values())


def follow_jobs(jobs: JobQuestions, record: StepRecord, needed_ms: int | None, shown_ms: int) -> JobQuestions:
    """All open questions of jobs, after a step of the conversation machine. A question is removed when its job has
    ended or asks another question."""
    event = record.event
    over = event.call if type(event) is JobAsked and record.after is not record.before else None
    running = {job.call for job in record.after.jobs}
    return tuple(
        one._replace(question=follow(one.question, record, needed_ms, shown_ms))
        for one in jobs
        if one.call in running and one.call != over
    )


def judge_for_jobs(jobs: JobQuestions, began_at: int, is_read: bool, is_aside: bool = False) -> JobQuestions:
    """All open questions of jobs, after new words of the user were sent to the brain. The words can answer only
    questions that were asked before the words began. With `is_aside`, the words answer a question that the agent asked
    by itself, so they answer no job."""
    return tuple(
        one._replace(is_answerable=not is_aside and one.question.counts_for(began_at, is_read)) for one in jobs
    )


def hear_late_for_jobs(jobs: JobQuestions, reply: int, at: int) -> JobQuestions:
    return tuple(one._replace(question=hear_late(one.question, reply, at)) for one in jobs)


def _ends_sound(record: StepRecord) -> bool:
    stops = any(type(effect) is StopPlayback for effect in record.effects)
    return stops or isinstance(record.event, LinkClosed | PlaybackFailed)
