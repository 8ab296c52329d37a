"""Which words of the user can be an answer to which question: the memory that the law about answers needs.

It is kept apart from the hearing machine, which decides the same, so that a broken machine can't hide its own
violation. Rule: it reads stimuli, events and effects. Words are an answer if they began after half of the question was
heard, or, for typed words of a user who sees captions, after it had been shown for a moment. But they aren't an answer
if the agent had asked something else by itself before they began, such as "Are you still there?".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from duologue.core import effects as fx
from duologue.core import events as ev
from duologue.core.leaves import SOUNDING
from duologue.core.step_record import StepRecord
from duologue.hearing import inputs as inp

from .product import NewestReplyAsks, ProductStep, ToldStep

NEVER = -1
SHOWN_MS = 500
_HEARD = (ev.PlaybackProgressed, ev.PlaybackFinished, ev.PlaybackStopped)
Ager = Callable[[Iterable[int]], dict[int, int]]


class LedgerQuestion(NamedTuple):
    """A question, and since when words can be an answer to it."""

    reply: int = 0  # the reply that asks it; 0: there is no question
    heard_at: int = NEVER  # when half of it had been heard
    shown_at: int = NEVER  # when it had been shown for a moment, for a user who reads

    def is_answered_by(self, words: LedgerWords) -> bool:
        is_heard = self.heard_at != NEVER and words.began_at >= self.heard_at
        return is_heard or (words.is_read and self.shown_at != NEVER and words.began_at >= self.shown_at)


class LedgerWords(NamedTuple):
    """When the newest words of a turn began, and whether their user typed them and sees captions."""

    turn: int
    began_at: int
    is_read: bool


class AnswerRequest(NamedTuple):
    """A request to the brain with new words, and whether they are an answer to the newest question."""

    first: int
    last: int
    words: LedgerWords  # the oldest that no reply has handled
    is_answer: bool


class AnswerLedger(NamedTuple):
    """Questions and answers so far."""

    question: LedgerQuestion = LedgerQuestion()
    aside: LedgerQuestion = LedgerQuestion()  # what the agent has asked by itself since
    job: LedgerQuestion = LedgerQuestion()  # what the job wants to know
    words: tuple[LedgerWords, ...] = ()  # oldest turn first
    playing: int = 0  # the reply that sounds, or sounded last
    heard_ms: int = 0  # how much of it was heard
    half_ms: int = NEVER  # how much of it must be heard; NEVER: all
    onset_at: int = 0  # when the newest utterance began
    asked: int = 0  # the newest turn that was in a request
    handled: int = 0  # the newest turn that a reply has handled: it was heard, was shown or has called a tool
    requests: tuple[AnswerRequest, ...] = ()  # of the newest step
    is_job_answered: bool = False  # the newest words in a request began after the job's question was asked

    @property
    def replies(self) -> tuple[int, ...]:
        """The numbers of the replies that this ledger knows."""
        return self.question.reply, self.aside.reply, self.job.reply, self.playing

    def is_answer(self, question: LedgerQuestion, words: LedgerWords) -> bool:
        return question.is_answered_by(words) and not (self.aside.reply and self.aside.is_answered_by(words))


def note_answers(ledger: AnswerLedger, step: ProductStep, is_onset: bool) -> AnswerLedger:
    """The ledger after this step. `is_onset` says whether the step reports the first sign of an utterance."""
    stimulus, at = step.stimulus, step.before.at
    ledger = ledger._replace(onset_at=at if is_onset else ledger.onset_at, requests=())
    if isinstance(stimulus, NewestReplyAsks):
        reply = max(1, step.before.core.reply_id)
        posed = LedgerQuestion(reply, shown_at=at + SHOWN_MS if ledger.playing == reply else NEVER)
        if stimulus.is_aside:
            ledger = ledger._replace(aside=posed)
        else:
            ledger = ledger._replace(question=posed, aside=LedgerQuestion())
        if stimulus.calls and ledger.job.heard_at == NEVER:
            ledger = ledger._replace(job=posed)
    elif isinstance(stimulus, inp.AgentSpoke) and stimulus.question is not None:
        ledger = ledger._replace(half_ms=stimulus.question.end_ms // 2)
    is_blind = isinstance(stimulus, inp.Typed) and stimulus.is_blind
    for told in step.steps:
        ledger = _note_words(ledger, told, is_blind)
        ledger = _note_sound(ledger, told.record)
        ledger = _note_request(ledger, told.record)
    return ledger


def _note_words(ledger: AnswerLedger, told: ToldStep, is_blind: bool) -> AnswerLedger:
    event, after = told.record.event, told.record.after
    if after is told.record.before:
        return ledger
    if isinstance(event, ev.TextTyped):
        found = LedgerWords(after.turn, event.at, not is_blind)
    elif isinstance(event, ev.WordsHeard) and event.words:
        found = LedgerWords(event.turn, ledger.onset_at, False)
    else:
        return ledger
    others = {one.turn: one for one in ledger.words}
    newest = max(found, others.get(found.turn, found), key=lambda one: one.began_at)
    return ledger._replace(words=tuple(sorted({**others, found.turn: newest}.values())))


def _note_sound(ledger: AnswerLedger, record: StepRecord) -> AnswerLedger:
    event = record.event
    started = [effect.reply for effect in record.effects if isinstance(effect, fx.StartPlayback)]
    if started:
        ledger = ledger._replace(playing=started[-1], heard_ms=0)
    elif isinstance(event, _HEARD) and event.voice == record.before.voice_id:
        ledger = ledger._replace(heard_ms=max(ledger.heard_ms, event.heard_ms))
    question, aside, job = (
        _heard(one, ledger, record, bool(started)) for one in (ledger.question, ledger.aside, ledger.job)
    )
    return ledger._replace(question=question, aside=aside, job=job)


def _heard(question: LedgerQuestion, ledger: AnswerLedger, record: StepRecord, is_started: bool) -> LedgerQuestion:
    """What is known about the question after a step of the conversation machine."""
    event, after = record.event, record.after
    if not question.reply or question.heard_at != NEVER:
        return question
    if isinstance(event, ev.ReplyFinished) and event.reply == question.reply and after is not record.before:
        return question._replace(heard_at=event.at + SHOWN_MS)  # without a voice, it is shown
    if ledger.playing != question.reply:
        return question
    is_stopped = any(isinstance(effect, fx.StopPlayback) for effect in record.effects)
    if is_started:
        question = question._replace(shown_at=event.at + SHOWN_MS)
    elif is_stopped and event.at < question.shown_at:
        question = question._replace(shown_at=NEVER)
    is_over = isinstance(event, ev.PlaybackFinished) and event.voice == record.before.voice_id
    half_ms = ledger.heard_ms if is_over and ledger.half_ms == NEVER else ledger.half_ms
    half_ms = min(half_ms, ledger.heard_ms) if is_over else half_ms
    is_sounding = is_over or after.voice in SOUNDING or record.before.voice in SOUNDING
    if half_ms == NEVER or ledger.heard_ms < half_ms or not is_sounding:
        return question
    return question._replace(heard_at=max(0, event.at - (ledger.heard_ms - half_ms)))


def _note_request(ledger: AnswerLedger, record: StepRecord) -> AnswerLedger:
    """Note which of the words in a request are new, and which question they answer."""
    is_taken = record.after is not record.before
    if is_taken and isinstance(record.event, ev.ToolCalled | ev.ReplyFinished | ev.PlaybackFinished):
        ledger = ledger._replace(handled=ledger.asked)
    for effect in record.effects:
        if not isinstance(effect, fx.StartReply):
            continue
        new = [one for one in ledger.words if max(effect.first, ledger.handled + 1) <= one.turn <= effect.last]
        ledger = ledger._replace(asked=max(ledger.asked, effect.last))
        if new:
            is_answer = not ledger.question.reply or ledger.is_answer(ledger.question, new[0])
            request = AnswerRequest(effect.first, effect.last, new[0], is_answer)
            ledger = ledger._replace(
                requests=(*ledger.requests, request),
                is_job_answered=bool(ledger.job.reply) and ledger.is_answer(ledger.job, new[0]),
            )
    return ledger


def abstract_answers(ledger: AnswerLedger, age: Ager, replies: dict[int, int]) -> AnswerLedger:
    """The ledger in its abstract form: `age` converts its times, and `replies` maps the numbers of its replies to
    smaller numbers."""
    known = {at for one in (ledger.question, ledger.aside, ledger.job) for at in (one.heard_at, one.shown_at)}
    known |= {one.began_at for one in ledger.words} | {ledger.onset_at}
    aged = {**age(known - {NEVER, 0}), NEVER: NEVER, 0: 0}

    def question(one: LedgerQuestion) -> LedgerQuestion:
        return LedgerQuestion(replies[one.reply], aged[one.heard_at], aged[one.shown_at])

    return ledger._replace(
        question=question(ledger.question),
        aside=question(ledger.aside),
        job=question(ledger.job),
        words=tuple(one._replace(began_at=aged[one.began_at]) for one in ledger.words),
        requests=(),
        playing=replies[ledger.playing],
        onset_at=aged[ledger.onset_at],
    )
