"""Since when an answer counts for a question: every order of events up to a length, against a second reading."""

from __future__ import annotations

from itertools import product

import pytest

from duologue.core import effects as fx
from duologue.core import events as ev
from duologue.core.leaves import JobKind
from duologue.core.settings import profile
from duologue.core.state import JobRecord, State, initial
from duologue.core.step_record import StepRecord
from duologue.hearing.questions import (
    NOT_YET,
    AskedQuestion,
    JobQuestion,
    follow,
    follow_jobs,
    hear_late,
    hear_late_for_jobs,
    judge_for_jobs,
    pose,
    pose_for_jobs,
)

STEP_MS = 100  # between two events
NEEDED_MS, LENGTH_MS, SHOWN_MS = 150, 300, 500
# Reply 2 asks, once; reply 1 is another reply.
EVENTS = ("pose 2", "play 1", "play 2", "hear more", "finish", "stop", "show 1", "show 2", "late 2")


class Played:
    """A line that plays one reply at a time, and the question as the machine sees it."""

    def __init__(self, needed_ms: int | None) -> None:
        self.needed_ms = needed_ms
        self.question = AskedQuestion()
        self.state: State = initial(profile("confirm"))
        self.at = 0
        self.reply = 0  # the reply that sounds
        self.heard_ms = 0

    def take(self, name: str) -> None:
        self.at += STEP_MS
        kind, _, number = name.partition(" ")
        match kind:
            case "pose":
                self.question = pose(self.question, 2, self.at, SHOWN_MS)
            case "late":
                self.question = hear_late(self.question, 2, self.at)
            case "play":
                self.reply, self.heard_ms = int(number), 0
                after = self.state._replace(voice_id=self.state.voice_id + 1, heard_ms=0)
                started = fx.StartPlayback(after.voice_id, self.reply)
                self._step(ev.AudioBuffered(self.at, self.reply), after, started)
            case "show":
                self._step(ev.ReplyFinished(self.at, int(number)), self.state._replace(at=self.at))
            case _ if self.reply:
                self._sound(kind)

    def _sound(self, kind: str) -> None:
        voice = self.state.voice_id
        self.heard_ms = LENGTH_MS if kind == "finish" else min(self.heard_ms + STEP_MS, LENGTH_MS)
        after = self.state._replace(heard_ms=self.heard_ms if kind == "hear" else 0)
        event = {"hear": ev.PlaybackProgressed, "finish": ev.PlaybackFinished, "stop": ev.PlaybackStopped}[kind]
        self._step(event(self.at, voice, self.heard_ms), after)
        if kind != "hear":
            self.reply = 0

    def _step(self, event: ev.Event, after: State, *effects: fx.Effect) -> None:
        record = StepRecord(event, self.state, after, effects, ())
        self.question = follow(self.question, record, self.needed_ms, SHOWN_MS)
        self.state = after


def was_asked(names: tuple[str, ...], needed_ms: int | None) -> bool:
    """The second reading: was enough of the question heard or shown after it was posed?"""
    posed = asked = False
    reply = heard_ms = 0
    for name in names:
        kind, _, number = name.partition(" ")
        if kind == "pose":
            posed, asked = True, False
        elif kind == "play":
            reply, heard_ms = int(number), 0
        elif kind in ("hear", "finish", "stop") and reply:
            heard_ms = LENGTH_MS if kind == "finish" else heard_ms + STEP_MS
            is_enough = kind == "finish" or (needed_ms is not None and heard_ms >= needed_ms)
            asked = asked or (posed and reply == 2 and is_enough)
            reply = reply if kind == "hear" else 0
        elif name in ("show 2", "late 2"):
            asked = asked or posed
    return asked


@pytest.mark.req("H-14")
@pytest.mark.parametrize("needed_ms", [NEEDED_MS, None])
def test_in_every_order_of_events_a_question_counts_as_asked_only_if_it_was_heard_or_shown(
    needed_ms: int | None,
) -> None:
    for names in product(EVENTS, repeat=4):
        if names.count("pose 2") == 1:
            played = Played(needed_ms)
            for name in names:
                played.take(name)
            assert played.question.is_asked is was_asked(names, needed_ms), names
            assert played.question.asked_at <= played.at + SHOWN_MS


@pytest.mark.req("H-14")
def test_an_answer_counts_from_the_moment_at_which_enough_was_heard() -> None:
    played = Played(NEEDED_MS)
    for name in ("pose 2", "play 2", "hear more", "hear more"):
        played.take(name)
    assert played.question.asked_at == played.at - (200 - NEEDED_MS)
    assert not played.question.counts_for(played.question.asked_at - 1)
    assert played.question.counts_for(played.question.asked_at)


@pytest.mark.req("H-14")
def test_without_a_question_every_word_counts() -> None:
    assert AskedQuestion().counts_for(0)
    assert AskedQuestion().asked_at == NOT_YET


# -- What jobs want to know

WITH_JOBS = initial(profile("confirm"))._replace(
    jobs=tuple(JobRecord(call, JobKind.DISPATCHED, False, 0) for call in (1, 2))
)
ASKED = AskedQuestion(reply=3, asked_at=500)


def stepped(event: ev.Event, after: State = WITH_JOBS) -> StepRecord:
    return StepRecord(event, WITH_JOBS._replace(at=1), after, (), ())


@pytest.mark.req("H-14")
def test_a_question_of_a_job_is_posed_in_the_reply_that_knows_it_and_again_until_it_was_asked() -> None:
    jobs = pose_for_jobs((), (1,), reply=2, at=100, shown_ms=SHOWN_MS, playing=2)
    assert jobs == (JobQuestion(1, AskedQuestion(2, NOT_YET, 2, 600)),)
    again = pose_for_jobs(jobs, (1, 2), reply=5, at=200, shown_ms=SHOWN_MS, playing=2)
    assert [one.question.reply for one in again] == [5, 5]
    asked = (JobQuestion(1, ASKED),)
    assert pose_for_jobs(asked, (1,), reply=9, at=900, shown_ms=SHOWN_MS, playing=2) == asked


@pytest.mark.req("H-14")
def test_words_answer_only_the_jobs_whose_question_was_asked_before() -> None:
    jobs = (JobQuestion(1, ASKED), JobQuestion(2, ASKED._replace(asked_at=NOT_YET)))
    assert [one.is_answerable for one in judge_for_jobs(jobs, 499, is_read=True)] == [False, False]
    answered = judge_for_jobs(jobs, 500, is_read=False)
    assert [one.is_answerable for one in answered] == [True, False]
    assert [one.is_answerable for one in judge_for_jobs(answered, 499, is_read=False)] == [False, False]
    aside = judge_for_jobs(answered, 900, is_read=False, is_aside=True)
    assert [one.is_answerable for one in aside] == [False, False], "they answer what the agent asked by itself"


@pytest.mark.req("H-14")
def test_the_question_of_a_job_is_over_with_its_job_and_with_its_next_question() -> None:
    jobs = (JobQuestion(1, ASKED, True), JobQuestion(2, ASKED, True))
    assert follow_jobs(jobs, stepped(ev.JobAsked(5, 1, 7)), None, SHOWN_MS) == jobs[1:]
    ended = WITH_JOBS._replace(jobs=WITH_JOBS.jobs[:1])
    assert follow_jobs(jobs, stepped(ev.JobFinished(5, 2), ended), None, SHOWN_MS) == jobs[:1]
    assert follow_jobs(jobs, stepped(ev.ReplyFinished(5, 3)), None, SHOWN_MS) == jobs


@pytest.mark.req("H-14")
def test_the_question_of_a_job_is_heard_as_any_other() -> None:
    jobs = (JobQuestion(1, AskedQuestion(reply=3)), JobQuestion(2, AskedQuestion(reply=4)))
    shown = follow_jobs(jobs, stepped(ev.ReplyFinished(5, 3)), None, SHOWN_MS)
    assert [one.question.asked_at for one in shown] == [5 + SHOWN_MS, NOT_YET]
    assert [one.question.asked_at for one in hear_late_for_jobs(jobs, 4, 70)] == [NOT_YET, 70]
