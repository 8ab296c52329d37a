"""The abstraction that makes the states of the hearing machine and the conversation machine finite: times relative to
now, and small ids.

The result is an ordinary state, so the real machines run on it. Rule: nothing that a decision reads may be lost here. A
time is dropped only when no due time can depend on it any more.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import lru_cache
from typing import Any, TypeVar

from duologue.core.leaves import FROZEN, TIMER_INDEX, Cue, Timer, User, Voice, Words
from duologue.core.state import FREEZES, JobRecord, State, is_sounding
from duologue.hearing.policy import HearingPolicy
from duologue.hearing.questions import NOT_YET, AskedQuestion
from duologue.hearing.state import DEAF, HeardUtterance, HearingState, JudgedWords, heard_of_agent_ms, least_answer_ms
from duologue.hearing.words import SaidTurn, SaidWords
from duologue.turns.controller import TurnMemory
from duologue.turns.echo_words import RULE as ECHO_RULE
from duologue.turns.overlap import SoundMemory
from duologue.turns.own_speech import OwnSpeech
from duologue.turns.stability import Stability

from .answer_ledger import abstract_answers
from .ledger import WordsLedger
from .product import ProductState
from .scopes import QUESTION, SPOKEN_MS

NOW = 1_000_000  # the time of every abstract state
QUESTION_MS = 3_000  # longer than every speech, and than a question is shown before it counts as asked
PAST_MS = 12_000  # events that are older are treated alike, because no limit of the hearing machine is this long
SILENCE_MS = 5_000  # the same for the end of a voice: no wait in silence is this long
# Timers that only show, warn, commit audio or give a sign of life: nothing that is checked here depends on them.
SOFT = frozenset(
    (Timer.SESSION_WARNING, Timer.SESSION_LIMIT, Timer.BREAKER, Timer.LONG_SPEECH, Timer.COMMIT, Timer.CUE)
)
_SOFT = frozenset(TIMER_INDEX[timer] for timer in SOFT)
_LONG_AGO = NOW - PAST_MS
GIST = 1  # of every turn with words: only whether they change matters
_OLD_ONSET, _NEWEST_ONSET = 1, 2  # an onset is compared only with the newest one
_SILENT = OwnSpeech()
_NEVER = 2 * NOW
_BEFORE_OWN_WORDS = 0  # when an old utterance began that can't be an echo of the agent's words
_EVIDENCE_ENOUGH = 8.0
_UNKNOWN_STABILITY = Stability()
_VOICED_ENOUGH_MS, _SILENCE_ENOUGH_MS = 1_024, 256


def abstract(
    s: ProductState, policy: HearingPolicy, asked: tuple[int, ...] | None = None, echoes: bool = True
) -> ProductState:
    """The simplest state that behaves like `s` with this policy. If `asked` is given (the numbers of the replies that a
    ledger knows), the result keeps what decides whether words are an answer to a question. `echoes` says whether a text
    may be similar to the agent's words. If it may not, the result leaves out what the agent has said."""
    shift, hearing, core = NOW - s.at, s.hearing, s.core
    replies, contents, said = _words(hearing.words, core.reply_id, _questions(hearing, asked))
    voices = _ranks(core.voice_id, hearing.own.voice if echoes else 0)
    abstracted = _core(core, shift, replies, contents, voices)
    made = _hearing(hearing, abstracted, said, shift, replies, voices, policy, echoes)
    if asked is not None:
        made = _with_questions(hearing, made, shift, replies)
    return ProductState(made, abstracted.seq, NOW)


def abstract_ledger(ledger: WordsLedger, s: ProductState) -> WordsLedger:
    """Returns `ledger` as it belongs to the abstract state of `s`: its times and its numbers of replies are made small
    in the same way as those of the state. If times of questions and answers are old, only their order is kept."""
    shift = NOW - s.at
    if ledger.sent is not None:
        ledger = ledger._replace(sent=ledger.sent._replace(due=ledger.sent.due + shift))
    if ledger.answers is None:
        return ledger
    questions = _questions(s.hearing, ledger.answers.replies)
    replies = _words(s.hearing.words, s.core.reply_id, questions)[0]
    return ledger._replace(answers=abstract_answers(ledger.answers, lambda times: _aged(times, shift), replies))


def _questions(s: HearingState, asked: tuple[int, ...] | None) -> tuple[int, ...]:
    """The numbers of the replies that the records of questions contain."""
    if asked is None:
        return (0 if s.asked_question.is_asked else s.asked_question.reply,)
    questions = (s.asked_question, s.aside_question, *(one.question for one in s.job_questions))
    return (*asked, *(reply for one in questions for reply in (one.reply, one.playing)))


def _aged(times: Iterable[int], shift: int) -> dict[int, int]:
    """Map each of these times to a value. For a recent time, this is the time relative to now. For an old time, it is a
    value that keeps only the order of the old times. A time is old if it is longer ago than a speech lasts."""
    old = sorted({at for at in times if at + shift <= NOW - QUESTION_MS})
    kept = {at: at + shift for at in times}
    return kept | {at: NOW - QUESTION_MS - place for place, at in enumerate(reversed(old))}


def _with_questions(real: HearingState, made: HearingState, shift: int, replies: dict[int, int]) -> HearingState:
    """The abstract state `made`, to which the questions of the state `real` are added, and the times that decide
    whether words are an answer to these questions."""
    questions = [real.asked_question, real.aside_question, *(one.question for one in real.job_questions)]
    known = {at for one in questions for at in (one.asked_at, one.shown_at)}
    known |= {said.typed_at for said in real.words.turns} | {one.began_at for one in real.known}
    aged = {**_aged(known - {NOT_YET, 0}, shift), NOT_YET: NOT_YET, 0: 0}

    def question(one: AskedQuestion) -> AskedQuestion:
        return AskedQuestion(replies[one.reply], aged[one.asked_at], replies[one.playing], aged[one.shown_at])

    turns = tuple(
        said._replace(typed_at=aged[before.typed_at], is_blind=before.is_blind)
        for said, before in zip(made.words.turns, real.words.turns, strict=True)
    )
    return made._replace(
        words=made.words._replace(turns=turns),
        known=tuple(
            one._replace(began_at=aged[before.began_at]) for one, before in zip(made.known, real.known, strict=True)
        ),
        asked_question=question(real.asked_question),
        aside_question=question(real.aside_question),
        job_questions=tuple(one._replace(question=question(one.question)) for one in real.job_questions),
    )


@lru_cache(100_000)
def _ranks(*ids: int) -> dict[int, int]:
    """For each id, a small number: its rank among these ids. 0 stays 0."""
    return {one: rank for rank, one in enumerate(sorted({0, *ids}))}


def _core(s: State, shift: int, replies: dict[int, int], contents: dict[int, int], voices: dict[int, int]) -> State:
    onset = _NEWEST_ONSET if s.onset else 0
    return _changed(
        s,
        _CORE_PLACES,
        at=NOW,
        seq=onset,
        onset=onset,
        session_id=1,
        reply_id=replies[s.reply_id],
        voice_id=voices[s.voice_id],
        quiet_at=NOW,  # only signs of life depend on these two
        sign_at=NOW if s.sign_at else 0,
        told=Cue.SOUND,
        told_at=NOW,
        content=contents.get(s.content, 0),  # the content of a turn that was typed can't come again
        guess=GIST if s.guess else 0,
        due=_dues(s.due, s.link in FROZEN, shift),
        jobs=tuple(_job(job, shift) for job in s.jobs) if s.jobs else (),
    )


def _job(job: JobRecord, shift: int) -> JobRecord:
    due, heartbeat_due, feedback_due = (
        at and max(NOW, at + shift) for at in (job.due, job.heartbeat_due, job.feedback_due)
    )
    return job._replace(due=due, heartbeat_due=heartbeat_due, feedback_due=feedback_due)


_CORE_PLACES = {name: place for place, name in enumerate(State._fields)}
_HEARING_PLACES = {name: place for place, name in enumerate(HearingState._fields)}
_Fields = TypeVar("_Fields", bound=tuple[Any, ...])


def _changed(fields: _Fields, places: dict[str, int], /, **changes: Any) -> _Fields:
    """A copy of a named tuple with some values changed. This takes half as long as `_replace`, because only the changed
    fields are looked up by name."""
    changed = list(fields)
    for name, value in changes.items():
        changed[places[name]] = value
    return tuple.__new__(type(fields), changed)


@lru_cache(100_000)
def _dues(dues: tuple[int, ...], is_frozen: bool, shift: int) -> tuple[int, ...]:
    return tuple(_due(index, due, is_frozen, shift) if due else 0 for index, due in enumerate(dues))


def _due(index: int, due: int, is_frozen: bool, shift: int) -> int:
    if index in _SOFT:
        return 0
    if is_frozen and FREEZES[index]:  # the slot holds the remaining time
        return due
    return max(NOW, due + shift)


def _hearing(
    s: HearingState,
    core: State,
    words: SaidWords,
    shift: int,
    replies: dict[int, int],
    voices: dict[int, int],
    policy: HearingPolicy,
    echoes: bool,
) -> HearingState:
    by_frames = policy.by_frames is not None
    own = _own(s, shift, voices, policy.text_late_ms) if echoes else _SILENT
    is_voice_on = core.voice in (Voice.PLAYING, Voice.HELD)
    is_open = core.user in (User.TALKING, User.SETTLING)
    played_at = NOW - max(SPOKEN_MS, heard_of_agent_ms(s, NOW - shift)) if echoes else _NEVER
    is_withheld = any(not one.has_begun for one in s.known)
    end_matters = _end_matters(s, is_open, is_withheld, NOW - shift)
    return _changed(
        s,
        _HEARING_PLACES,
        core=core,
        words=words,
        known=tuple([_utterance(one, s.core.onset, shift, own, played_at, core, policy) for one in s.known]),
        began_at=_time(s.began_at, shift, s.speaking or is_withheld),
        ended_at=_time(s.ended_at, shift, end_matters, SILENCE_MS),
        end_reported_at=_time(s.end_reported_at, shift, end_matters, SILENCE_MS),
        early_end=s.early_end._replace(ended_at=_time(s.early_end.ended_at, shift, s.early_end.number > 0, SILENCE_MS)),
        turn_at=_time(s.turn_at, shift, is_open),  # also with words, because the STT may take them back
        text_at=_time(s.text_at, shift, is_open and core.words is not Words.NONE),
        deaf_at=_time(s.deaf_at, shift, core.link in DEAF),
        heard_at=_time(s.heard_at, shift, is_voice_on),
        held_at=_time(s.held_at, shift, is_voice_on and not is_sounding(core)),
        said=s.said if by_frames or not s.said.stability else replace(s.said, stability=0.0),
        stability=s.stability if by_frames or policy.early_wait_ms_max else _UNKNOWN_STABILITY,
        frames=_frames(s.frames, shift),
        wait_for=s.wait_for and (*s.wait_for[:-2], 0, 0),  # without its times, the same wait is only found again
        guessed=(core.turn, GIST) if is_open and s.guessed == (core.turn, s.words.of(core.turn).gist) else (0, 0),
        judged=_judged(s, core, is_open),
        own=own,
        ended_onset=core.onset if is_open and s.ended_onset == s.core.onset else 0,
        asked_question=_question(s.asked_question, replies),
    )


def _end_matters(s: HearingState, is_open: bool, is_withheld: bool, now: int) -> bool:
    """Can a decision depend on when the newest voice ended? Yes, if the voice ended in the open turn, or if the onset
    of the voice is withheld. Between turns it can't, because the next turn begins with a new voice."""
    return s.end_reported_at >= (s.turn_at if is_open else now) or (is_withheld and s.end_reported_at >= s.began_at)


def _question(question: AskedQuestion, replies: dict[int, int]) -> AskedQuestion:
    """The question if it hasn't been asked yet, otherwise an empty question. The time at which the question was shown
    is dropped, because only the brain reads it."""
    if not question.reply or question.is_asked:
        return AskedQuestion()
    return AskedQuestion(replies[question.reply], playing=replies.get(question.playing, 0), shown_at=NOT_YET)


def _judged(s: HearingState, core: State, is_open: bool) -> JudgedWords:
    """The brain's judgement of the open turn, if it is about the current words; otherwise an empty judgement."""
    is_current = s.judged[:2] == (core.turn, s.words.of(core.turn).gist)
    return JudgedWords(core.turn, GIST, s.judged.completeness) if is_open and is_current else JudgedWords()


def _time(at: int, shift: int, matters: bool, ms_max: int = PAST_MS) -> int:
    return at + shift if matters and at + shift > NOW - ms_max else _LONG_AGO


def _utterance(
    one: HeardUtterance, newest: int, shift: int, own: OwnSpeech, played_at: int, core: State, policy: HearingPolicy
) -> HeardUtterance:
    """The abstract form of an utterance. Its onset becomes _NEWEST_ONSET if it is `newest` (the newest onset in the
    real state), and _OLD_ONSET if it is older. Its beginning becomes _BEFORE_OWN_WORDS if the utterance began too early
    to be an echo of any word of the agent, whether the word is in `own` already or is added later. `played_at` is the
    earliest time at which a word that is added later can have been played."""
    onset = one.onset and (_NEWEST_ONSET if one.onset == newest else _OLD_ONSET if one.onset < newest else one.onset)
    began_at = one.began_at + shift
    is_old = began_at + ECHO_RULE.lead_ms_max < played_at
    if is_old and all(word.start_ms > began_at + ECHO_RULE.lead_ms_max for word in own.words):
        began_at = _BEFORE_OWN_WORDS
    return one._replace(
        onset=onset,
        sound=_sound(one.sound),
        began_at=began_at,
        over_ms=_over_ms(one, core, policy),
        is_late=one.is_late and bool(own.words),
        turn_ended_at=_time(one.turn_ended_at, shift, _may_be_taken(one, core)) if one.turn_ended_at else 0,
    )


def _may_be_taken(one: HeardUtterance, core: State) -> bool:
    """May the words of this utterance, which were said while the agent spoke, still become the next turn?"""
    return core.voice in (Voice.PLAYING, Voice.HELD) and one.turn > max(core.floor_turn, core.said)


def _over_ms(one: HeardUtterance, core: State, policy: HearingPolicy) -> int:
    """How much of the agent's speech was heard when this utterance began, as one of three values: -1 if the utterance
    can't answer a question, 0 if too little was heard for an answer, and otherwise the least amount that is enough. The
    amount is that of `scopes.QUESTION`, the only question that the agent asks."""
    if one.over_ms < 0 or not _may_be_taken(one, core):
        return -1
    least_ms = least_answer_ms(policy, QUESTION)
    return least_ms if one.over_ms >= least_ms else 0


def _own(s: HearingState, shift: int, voices: dict[int, int], text_late_ms: int) -> OwnSpeech:
    """The agent's own words, without the words that are so old that neither a known utterance nor a later one can
    contain their echo."""
    if not s.own.words and voices[s.own.voice] == s.own.voice:
        return s.own
    oldest = min((one.began_at + shift for one in s.known), default=NOW)
    least = oldest - ECHO_RULE.delay_ms_max - text_late_ms
    words = tuple(
        replace(word, start_ms=word.start_ms + shift, end_ms=word.end_ms + shift) if shift else word
        for word in s.own.words
        if word.start_ms + shift >= least
    )
    return replace(s.own, words=words, voice=voices[s.own.voice])


def _sound(sound: Any) -> Any:
    """The overlap policy's memory, with each amount reduced to the smallest amount that has the same effect."""
    if not isinstance(sound, SoundMemory):
        return sound
    is_voice = sound.evidence_peak >= _EVIDENCE_ENOUGH
    return sound._replace(
        voiced_ms=min(sound.voiced_ms, _VOICED_ENOUGH_MS),
        sure_ms=min(sound.sure_ms, float(_VOICED_ENOUGH_MS)),
        silence_ms=min(sound.silence_ms, _SILENCE_ENOUGH_MS),
        evidence=0.0 if is_voice else sound.evidence,
        evidence_peak=min(sound.evidence_peak, _EVIDENCE_ENOUGH),
    )


def _frames(frames: Any, shift: int) -> Any:
    if not isinstance(frames, TurnMemory):
        return frames
    pending, changed = frames.pending_since_ms, frames.text_changed_ms
    return frames._replace(
        pending_since_ms=None if pending is None else max(_LONG_AGO, pending + shift),
        text_changed_ms=None if changed is None else max(_LONG_AGO, changed + shift),
    )


@lru_cache(100_000)
def _words(
    words: SaidWords, reply: int, questions: tuple[int, ...]
) -> tuple[dict[int, int], dict[int, int], SaidWords]:
    """Replace ids by ranks: small numbers in the same order. There are three results: the rank of each reply id, the
    rank of each content id, and the words with ranks in place of ids. The ids in `words` and the other arguments are
    ranked together."""
    replies = _ranks(reply, *questions, *(said.given_in for said in words.turns))
    finals = (final for said in words.turns for _, final in said.finals)
    contents = _ranks(*finals, *(typed for typed, _ in words.typed))
    turns = tuple(_turn(said, replies, contents) for said in words.turns)
    typed = tuple((contents[one], text) for one, text in words.typed)
    return replies, contents, SaidWords(turns, len(contents) - 1, typed)


def _turn(said: SaidTurn, replies: dict[int, int], contents: dict[int, int]) -> SaidTurn:
    finals = tuple((text, contents[content]) for text, content in said.finals)
    return said._replace(
        finals=finals, given_in=replies[said.given_in], gist=GIST if said.gist else 0, typed_at=0, is_blind=False
    )
