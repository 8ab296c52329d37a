"""The state of the hearing machine, as one frozen value, and the draft that one step changes.

The state contains the newest known state of the conversation machine, the words of the user, and what is known about
the sound that is heard now. Rule: due times are never stored. `due_times` derives them from the state.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from duologue.core.leaves import SOUNDING, Link, User, Voice
from duologue.core.leaves import Words as WordKind
from duologue.core.state import State, awaits_check_in, is_sounding
from duologue.turns.completeness import Completeness
from duologue.turns.controller import Linguistic
from duologue.turns.endpoint import SilenceWait
from duologue.turns.features import PauseFeatures
from duologue.turns.own_speech import OwnSpeech, SpokenWord
from duologue.turns.stability import Stability

from .inputs import QuestionSpan
from .intents import Intent
from .policy import HearingPolicy
from .questions import AskedQuestion, JobQuestions
from .words import SaidWords

KNOWN_MAX = 50  # utterances that are remembered, because their text may still arrive
DEAF = (Link.SUSPENDED, Link.HEALING)  # no audio arrives: neither silence nor sound is measured


class JudgedWords(NamedTuple):
    """The words that the brain judged last, and its judgement of how complete they are."""

    turn: int = 0
    gist: int = 0  # the id of the words; it doesn't depend on case and punctuation
    completeness: Completeness = Completeness.UNKNOWN


class HeardUtterance(NamedTuple):
    """What was said between two onsets. Usually all words of an utterance belong to one turn. If the conversation
    machine ends a turn while the user is speaking, the words so far stay in that turn (`taken`), and the next turn gets
    the words that follow."""

    number: int  # the utterance's number, given by the ears
    serial: int  # a number that stays unique when restarted ears count from 1 again
    turn: int = 0  # the turn that gets its words
    onset: int = 0  # the conversation machine's number of the onset; 0: it hasn't processed the onset yet
    is_final: bool = False  # its final text has come
    began_at: int = 0  # when its first sign was reported
    taken: tuple[tuple[int, int], ...] = ()  # earlier turns that keep some of its words, and how many
    sound: Any = None  # what the overlap policy remembers of it, if it is heard over the agent's speech
    was_timed: bool = False  # the overlap policy has judged how long it lasts
    has_begun: bool = True  # False: its onset is withheld, until the brain has been asked about the turn before
    was_dismissed: bool = False  # its turn has ended as noise, although its voice went on
    over_ms: int = -1  # how much of the agent's speech was heard when its part in this turn began; -1: in silence
    is_late: bool = False  # its onset was reported too late or not at all, so it began before `began_at`
    has_onset: bool = True  # False: its onset hasn't been reported yet
    turn_ended_at: int = 0  # when its turn ended; 0: the turn goes on


class EarlyEnd(NamedTuple):
    """The reported end of an utterance whose onset wasn't reported yet."""

    number: int = 0  # the utterance's number, given by the ears; 0: there is no such utterance
    ended_at: int = 0


class HearingState(NamedTuple):
    """What the hearing machine knows at one moment."""

    core: State  # the conversation machine, as last seen
    words: SaidWords = SaidWords()  # what was said, turn by turn, and what became of it
    known: tuple[HeardUtterance, ...] = ()  # the utterances, oldest first
    newest: int = 0  # the serial number of the newest utterance; 0: no utterance yet
    serial: int = 0  # the last serial number that was given to an utterance

    speaking: bool = False  # the ears hear a voice
    button: bool = False  # push-to-talk is pressed
    hears_onsets: bool = False  # these ears report onsets
    reads_along: bool = False  # these ears report text while the user speaks
    has_frames: bool = False  # these ears report voice frames

    began_at: int = 0  # when the newest voice began
    ended_at: int = 0  # when the voice fell silent
    end_reported_at: int = 0  # when the ears reported that, which is later
    early_end: EarlyEnd = EarlyEnd()  # an end that was reported before its onset
    turn_at: int = 0  # when the newest turn began
    text_at: int = 0  # when the text of an utterance last changed
    deaf_at: int = 0  # when audio stopped arriving
    heard_at: int = 0  # when the line last reported how much of the agent's speech was heard
    held_at: int = 0  # when the agent's speech last paused

    pause: PauseFeatures | None = None  # what is known about the current pause and the turn before it
    is_read: bool = False  # the text of the words before this pause has come, or has stopped changing
    said: Linguistic = Linguistic()  # the newest text
    said_by: int = 0  # the serial number of the utterance that has this text
    first_texts: tuple[tuple[int, str], ...] = ()  # this turn's utterances, as the model for partial texts reads them
    last_confidence: float | None = None  # the confidence of the last word; None if the text is partial
    stability: Stability = Stability()  # how much the last partial texts agree
    frames_turn: int = 0  # the turn of `frames`
    frames: Any = None  # what a policy that decides by frames remembers of this turn
    wait: SilenceWait | None = None  # the endpoint policy's answer
    wait_for: tuple[Any, ...] = ()  # the inputs for which this answer was given
    guessed: tuple[int, int] = (0, 0)  # the turn and the id of the words about which the brain could be asked early
    judged: JudgedWords = JudgedWords()  # the words that the brain judged last, and how complete it found them
    ended_onset: int = 0  # the onset whose turn this machine has ended
    sent_turn: int = 0  # the newest turn that the user has sent, or that has reached its limit

    agent_words: tuple[SpokenWord, ...] = ()  # the words of the agent's current speech, with times from its beginning
    own: OwnSpeech = OwnSpeech()  # the words of the agent that could be heard in the last seconds
    question: QuestionSpan | None = None  # where in the agent's speech its last question is
    asked_question: AskedQuestion = AskedQuestion()  # the newest question, and since when an answer to it is accepted
    aside_question: AskedQuestion = AskedQuestion()  # what the agent has asked by itself since
    job_questions: JobQuestions = ()  # what running jobs want to know, and since when an answer is accepted


def initial_hearing(core: State, words: SaidWords | None = None) -> HearingState:
    """The state before anything was heard."""
    return HearingState(core, words or SaidWords())


class DueTime(NamedTuple):
    """A time at which the hearing machine must be woken, and the reason."""

    at: int
    why: str  # endpoint, overlap, wordless or unchanged


def due_times(policy: HearingPolicy, s: HearingState) -> list[DueTime]:
    """The times at which the hearing machine must be woken. Empty while no audio arrives."""
    core = s.core
    if core.link in DEAF or (s.wait is None and not s.speaking):
        return []
    found = []
    if s.wait is not None and s.wait.wait_ms is not None and s.ended_onset != core.onset and is_settling(s):
        found.append(DueTime(s.ended_at + s.wait.wait_ms, "endpoint"))
    newest = newest_of(s)
    if s.speaking and newest is not None and not s.button:
        is_timed = policy.overlap.voiced_ms_min > 0 and not newest.was_timed and not s.has_frames
        if is_timed and is_over_agent(s, newest):
            found.append(DueTime(s.began_at + policy.overlap.voiced_ms_min, "overlap"))
        if core.user is User.TALKING and (s.reads_along or s.has_frames):
            if core.words is WordKind.NONE:
                found.append(DueTime(s.turn_at + wordless_limit_ms(policy, core), "wordless"))
            elif core.unread or not _has_text(s, newest):  # as above, but also for several noises in a row
                found.append(DueTime(s.text_at + policy.wordless_ms_max, "wordless"))
        if core.user is User.TALKING and _has_text(s, newest) and s.text_at >= s.began_at and not s.has_frames:
            found.append(DueTime(s.text_at + policy.unchanged_ms_max, "unchanged"))
    return found


def wordless_limit_ms(policy: HearingPolicy, core: State) -> int:
    """How long a voice may last without words before it is treated as noise. While the agent waits to check in on the
    user, this is at most the time between two check-ins, so that noise never delays a check-in by more than that."""
    period_ms = core.settings.dead_air_ms if awaits_check_in(core) else 0
    return min(policy.wordless_ms_max, period_ms) if period_ms else policy.wordless_ms_max


def _has_text(s: HearingState, utterance: HeardUtterance) -> bool:
    return bool(s.words.piece(utterance.turn, utterance.serial))


def next_due(policy: HearingPolicy, s: HearingState) -> int | None:
    """The earliest time at which the hearing machine must be woken; None if there is no such time."""
    found = due_times(policy, s)
    return min(found).at if found else None


def newest_of(s: HearingState | HearingDraft) -> HeardUtterance | None:
    one: HeardUtterance
    for one in reversed(s.known):
        if one.serial == s.newest:
            return one
    return None


def is_settling(s: HearingState | HearingDraft) -> bool:
    """Has the user fallen silent, while it is still undecided whether the turn is over?"""
    return s.core.user is User.SETTLING and not s.speaking and not s.button


def words_to_judge(s: HearingState) -> tuple[int, int] | None:
    """The turn and the id of the words whose completeness the brain should judge now; None if there are no such words.
    Words are judged only one time, in a pause of the open turn."""
    is_pause = (s.pause is not None and s.speaking) or s.core.user is User.SETTLING
    if not is_pause or s.button or s.core.user not in (User.TALKING, User.SETTLING):
        return None
    said = s.words.of(s.core.turn)
    if not said.gist or not said.text or s.judged[:2] == (said.turn, said.gist):
        return None
    return said.turn, said.gist


def is_over_agent(s: HearingState | HearingDraft, utterance: HeardUtterance) -> bool:
    """Is this utterance heard while the agent speaks, and may the agent's speech be interrupted?"""
    core = s.core
    return core.voice in SOUNDING and utterance.turn > core.floor_turn and not core.firm


def withholds_onsets(s: HearingState | HearingDraft) -> bool:
    """Has the user sent a turn about which the brain hasn't been asked yet? While that is so, a sound without words
    isn't reported as an onset, because it would delay the request to the brain."""
    core = s.core
    if s.sent_turn != core.turn or not core.turn:
        return False
    return core.user is User.TRANSCRIBING or (core.user is User.QUIET and core.asked < s.sent_turn <= core.said)


def heard_of_agent_ms(s: HearingState | HearingDraft, at: int) -> int:
    """How many milliseconds of the agent's current speech were heard at this time; -1 if the agent is silent. Between
    two reports from the line, the sound is assumed to have continued."""
    if s.core.voice not in (Voice.PLAYING, Voice.HELD):
        return -1
    return s.core.heard_ms + (max(0, at - s.heard_at) if is_sounding(s.core) else 0)


def needed_ms(policy: HearingPolicy, question: QuestionSpan) -> int:
    """How many milliseconds of the agent's speech must be heard before this question is treated as asked."""
    start_ms, end_ms, values_ms = question
    return max(start_ms + round(policy.question_heard_min * (end_ms - start_ms)), values_ms)


def least_answer_ms(policy: HearingPolicy, question: QuestionSpan) -> int:
    """How many milliseconds of the agent's speech the user must have heard before an answer to this question begins."""
    return max(needed_ms(policy, question), question.end_ms - policy.early_answer_ms)


class NewWords(NamedTuple):
    """Facts about the oldest turn of the user with words that no reply has handled yet."""

    began_at: int  # when the last part of the turn began: its newest utterance with words, or its typed text
    is_typed: bool  # the last part was typed
    is_read: bool  # the last part was typed by a user who sees the captions, and so can read the agent's questions


def new_words(s: HearingState | HearingDraft, first: int, last: int) -> NewWords | None:
    """Facts about the oldest of these turns that has new words; None if no turn has new words."""
    new = [said for said in s.words.to_answer(first, last) if said.handled != said.text]
    if not new:
        return None
    said = new[0]
    spoken = [one.began_at for one in s.known if one.turn == said.turn and s.words.piece(one.turn, one.serial)]
    is_typed = said.typed_at > max(spoken, default=0)
    return NewWords(max([said.typed_at, *spoken]), is_typed, is_typed and not said.is_blind)


def is_answer_to(question: AskedQuestion, new: NewWords) -> bool:
    """Can these words be an answer to this question? They can if they began after the question was asked, or if no
    question was asked yet. If the user typed them and sees the captions, it is enough that the question was shown."""
    return question.counts_for(new.began_at, new.is_read)


def are_typed(s: HearingState, first: int, last: int) -> bool:
    """Did the user type the oldest new words in these turns?"""
    new = new_words(s, first, last)
    return new is not None and new.is_typed


def is_premature(s: HearingState, first: int, last: int) -> bool:
    """Is it impossible that the user's new words answer the brain's newest question? True if the words began before
    that question was asked, or after the agent asked another question by itself. Only the oldest turn with words that
    no reply has handled yet is examined."""
    new = new_words(s, first, last)
    return new is not None and (not is_answer_to(s.asked_question, new) or answers_aside(s, new))


def answers_aside(s: HearingState | HearingDraft, new: NewWords) -> bool:
    """Did these words begin after the agent asked a question by itself, such as "Are you still there?"? Then they are
    the answer to that question."""
    return bool(s.aside_question.reply) and is_answer_to(s.aside_question, new)


def answers_question(s: HearingState, reply: int, first: int, last: int, confirms: bool = True) -> bool:
    """Do the words in these turns answer the question that was asked in this reply? They do if they began after the
    question was asked. If the answer is a yes or a no (`confirms`), no other question may have been asked since;
    otherwise, the words must have begun after the brain's newest question."""
    if confirms:
        return s.asked_question.reply in (0, reply) and not is_premature(s, first, last)
    new = new_words(s, first, last)
    return new is None or is_answer_to(s.asked_question, new)


def may_answer_job(s: HearingState, call: int) -> bool:
    """Do the user's newest words answer what the job with this number wants to know? They do if they began after the
    question was asked."""
    return any(one.call == call and one.is_answerable for one in s.job_questions)


_FIELDS = HearingState._fields


class HearingDraft:
    """A copy of the fields of `HearingState` that one step may change, with the intents of the step so far."""

    __slots__ = (*_FIELDS, "at", "before", "intents", "policy")

    core: State
    words: SaidWords
    known: tuple[HeardUtterance, ...]
    newest: int
    serial: int
    speaking: bool
    button: bool
    hears_onsets: bool
    reads_along: bool
    has_frames: bool
    began_at: int
    ended_at: int
    end_reported_at: int
    early_end: EarlyEnd
    turn_at: int
    text_at: int
    deaf_at: int
    heard_at: int
    held_at: int
    pause: PauseFeatures | None
    is_read: bool
    said: Linguistic
    said_by: int
    first_texts: tuple[tuple[int, str], ...]
    last_confidence: float | None
    stability: Stability
    frames_turn: int
    frames: Any
    wait: SilenceWait | None
    wait_for: tuple[Any, ...]
    guessed: tuple[int, int]
    judged: JudgedWords
    ended_onset: int
    sent_turn: int
    agent_words: tuple[SpokenWord, ...]
    own: OwnSpeech
    question: QuestionSpan | None
    asked_question: AskedQuestion
    aside_question: AskedQuestion
    job_questions: JobQuestions

    def __init__(self, policy: HearingPolicy, s: HearingState, at: int) -> None:
        (
            self.core, self.words, self.known, self.newest, self.serial, self.speaking, self.button,
            self.hears_onsets, self.reads_along, self.has_frames, self.began_at, self.ended_at, self.end_reported_at,
            self.early_end, self.turn_at, self.text_at, self.deaf_at, self.heard_at, self.held_at, self.pause,
            self.is_read, self.said, self.said_by, self.first_texts, self.last_confidence, self.stability,
            self.frames_turn, self.frames, self.wait, self.wait_for, self.guessed, self.judged, self.ended_onset,
            self.sent_turn, self.agent_words, self.own, self.question, self.asked_question, self.aside_question,
            self.job_questions,
        ) = s  # fmt: skip
        self.policy = policy
        self.before = s
        self.at = at
        self.intents: list[Intent] = []

    def build(self) -> HearingState:
        """The state after the step. If nothing has changed, this is the same object as before the step."""
        after = tuple.__new__(
            HearingState,
            (
                self.core, self.words, self.known, self.newest, self.serial, self.speaking, self.button,
                self.hears_onsets, self.reads_along, self.has_frames, self.began_at, self.ended_at,
                self.end_reported_at, self.early_end, self.turn_at, self.text_at, self.deaf_at, self.heard_at,
                self.held_at, self.pause,
                self.is_read, self.said, self.said_by, self.first_texts, self.last_confidence, self.stability,
                self.frames_turn, self.frames, self.wait, self.wait_for, self.guessed, self.judged, self.ended_onset,
                self.sent_turn, self.agent_words, self.own, self.question, self.asked_question, self.aside_question,
                self.job_questions,
            ),
        )  # fmt: skip
        return self.before if after == self.before else after

    def put(self, utterance: HeardUtterance) -> HeardUtterance:
        """Add this utterance, or replace the one with the same serial number. Returns the utterance."""
        if self.known and self.known[-1].serial == utterance.serial:  # the newest utterance, as nearly always
            self.known = (*self.known[:-1], utterance)
        elif any(one.serial == utterance.serial for one in self.known):
            self.known = tuple(utterance if one.serial == utterance.serial else one for one in self.known)
        else:
            others = tuple(one for one in self.known if one.number != utterance.number)
            self.known = (*others, utterance)[-KNOWN_MAX:]
        return utterance
