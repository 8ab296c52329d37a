"""The complete state of one conversation, as one small frozen value.

The state holds no words and no clock. The turns of the person are numbered, and four numbers say how far the
conversation is: answered <= asked <= said <= turn. For example, `said` is the last turn that the person has finished.
Turns that are said but not answered are "owed" an answer. Rule: a value that follows from other fields is a function
here, never a field.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from .leaves import (
    CLOSED,
    EARLY,
    ENDING,
    FOREGROUND,
    FROZEN,
    JOB_TIMERS,
    LIVE,
    PENDING,
    SOUNDING,
    TIMERS,
    Ask,
    Cue,
    Ending,
    ErrorClass,
    FaultSource,
    JobKind,
    Link,
    Reply,
    Timer,
    User,
    Voice,
    Words,
)
from .settings import Settings

if TYPE_CHECKING:
    from .draft import Draft

# These leaves are read in every step. On Python 3.11, access through the enum class costs four times as much.
_UP, _FAULTED, _QUIET, _TALKING = Link.UP, Link.FAULTED, User.QUIET, User.TALKING
_SILENT, _PLAYING, _NONE, _NO_WORDS = Voice.SILENT, Voice.PLAYING, Reply.NONE, Words.NONE

_BETWEEN_TURNS = (User.QUIET, User.TRANSCRIBING)

StateOrDraft: TypeAlias = "State | Draft"  # the predicates below work on both


class Fault(NamedTuple):
    """The last fault. It is stored as long as it is shown to the person."""

    part: FaultSource
    error: ErrorClass
    fatal: bool


class JobRecord(NamedTuple):
    """One tool call or job that is running. A due time of 0 means that the deadline is off."""

    call: int
    kind: JobKind
    cancellable: bool
    due: int
    heartbeat_due: int = 0
    feedback_due: int = 0
    stage: int = 0  # how many feedback messages the waiting person has seen


class State(NamedTuple):
    """The state of a conversation at one moment. The function `initial` makes the first state, and `step` makes each
    next state."""

    settings: Settings
    at: int = 0  # when the last change happened

    link: Link = Link.IDLE
    user: User = User.QUIET
    voice: Voice = Voice.SILENT
    reply: Reply = Reply.NONE
    jobs: tuple[JobRecord, ...] = ()

    seq: int = 0  # the `seq` of the newest event that was applied
    onset: int = 0  # the `seq` of the newest onset, the first sign of speech
    session_id: int = 0  # ids only grow: an event with an older id is stale
    reply_id: int = 0
    voice_id: int = 0
    call_id: int = 0

    turn: int = 0  # the newest turn that began
    said: int = 0  # the newest turn that is complete, with words
    asked: int = 0  # the newest turn in a request
    answered: int = 0  # the newest turn that counts as answered
    floor_turn: int = 0  # the newest turn when the current voice began; later turns began while it was playing
    overheard: int = 0  # the last turn that began while the voice was playing, if it had words and has ended

    words: Words = Words.NONE  # what kind of words the open turn has
    final: bool = False  # the text of the open turn is final
    unread: bool = False  # a sound has followed the final text, and its words may still come
    content: int = 0  # id of the newest turn's final text, to recognise a repeat
    heard_ms: int = 0  # how much of the current voice was heard
    ask: Ask = Ask.ANSWER  # the purpose of the current reply or voice
    called: bool = False  # the current reply has made a call
    firm: bool = False  # speech over the current reply or voice doesn't interrupt it
    news: bool = False  # there are outputs or results that no request has carried yet
    telling: bool = False  # the current request carries news
    says: bool = False  # the program has words to say that no reply has carried yet
    asked_again: int = 0  # the newest turn that was asked again, after a lost line or a fault
    losses: int = 0  # how often the line was lost before an answer to the turns up to `asked_again` was heard
    cut: bool = False  # a sound or a lost line cut off an answer, and the person has said nothing since
    cues: int = 0  # cues that the person has heard in this wait
    quiet_at: int = 0  # when the person's last sound ended, or when they typed or sent a turn
    sign_at: int = 0  # since when the person waits for the next sign of life; 0: they wait for nothing
    told: Cue = Cue.SOUND  # what the person was told, if a sound without words may have cut it off; SOUND: nothing
    told_at: int = 0  # when they were told it
    ending: Ending = Ending.NO  # whether the conversation ends once everything was said
    guess: int = 0  # the id of the words about which the brain was asked early; 0: no early request
    guesses: int = 0  # how often the brain was asked early in this turn
    paused: bool = False  # the person has asked for a pause, which also lasts while the line is lost

    retries: int = 0
    attempts: int = 0  # attempts to reconnect
    check_ins: int = 0
    faults: int = 0  # faults within the window of `faults_window_ms`
    faults_in_a_row: int = 0
    fault: Fault | None = None

    # One slot for each timer: its due time, or 0 if it is off. While the link is frozen, the
    # slot of a timer that freezes holds the remaining time instead.
    due: tuple[int, ...] = (0,) * len(TIMERS)


def initial(settings: Settings) -> State:
    """The state of a conversation that has not begun."""
    return State(settings)


class Deadline(NamedTuple):
    """An armed deadline. If it belongs to a job, `call` is the id of the tool call that started the job; otherwise it
    is 0."""

    due: int
    timer: Timer
    call: int = 0


# These timers keep running during a pause, because they measure the session's own time.
UNFROZEN = (
    Timer.CUE,  # the person also waits while the session is opened; during a pause, this timer is off
    Timer.SUSPEND,
    Timer.RENEW,
    Timer.HEAL,
    Timer.SESSION_WARNING,
    Timer.SESSION_LIMIT,
    Timer.BREAKER,
)
FREEZES: tuple[bool, ...] = tuple(timer not in UNFROZEN for timer in TIMERS)
_UNFROZEN_INDEX = tuple(index for index, freezes in enumerate(FREEZES) if not freezes)


def next_deadline(s: State) -> Deadline | None:
    """The earliest armed deadline; None if no deadline is armed. The driver waits for this deadline."""
    best: Deadline | None = None
    for deadline in armed(s):
        if best is None or deadline.due < best.due:
            best = deadline
    return best


def next_due(s: State) -> int | None:
    """The due time of the earliest armed deadline; None if no deadline is armed."""
    if s.link in FROZEN or s.jobs:
        deadline = next_deadline(s)
        return None if deadline is None else deadline.due
    return min(filter(None, s.due), default=None)


def armed(s: State) -> list[Deadline]:
    """Every deadline that can fire in this state, in the order of the enum `Timer`; deadlines of jobs come last."""
    if s.link in FROZEN:
        return [Deadline(s.due[index], TIMERS[index]) for index in _UNFROZEN_INDEX if s.due[index]]
    found = [Deadline(due, TIMERS[index]) for index, due in enumerate(s.due) if due]
    for job in s.jobs:
        dues = zip(JOB_TIMERS, (job.due, job.heartbeat_due, job.feedback_due), strict=True)
        found += [Deadline(due, timer, job.call) for timer, due in dues if due]
    return found


def has_foreground(s: StateOrDraft) -> bool:
    """Does the conversation wait for a tool call or a delegated job?"""
    return bool(s.jobs) and any(job.kind in FOREGROUND for job in s.jobs)


def is_idle(s: StateOrDraft) -> bool:
    """Is the agent idle? Yes, if the link is up or frozen, and the agent isn't making a reply, speaking or waiting for
    a tool call. A reply to a request that was sent early doesn't count."""
    is_free = s.reply is _NONE or s.reply in EARLY
    return is_free and s.voice is _SILENT and s.link in LIVE and not has_foreground(s)


def floor_is_open(s: StateOrDraft) -> bool:
    """Is the person quiet and the agent idle, as defined by `is_idle`?"""
    return s.user is _QUIET and is_idle(s)


def noise_blocks_request(s: StateOrDraft) -> bool:
    """Does a request wait only because the person makes a sound without words?"""
    return s.user is not _QUIET and s.words is _NO_WORDS and is_owed(s) and is_idle(s)


def floor_is_free(s: StateOrDraft) -> bool:
    """May a request be sent? It may if the floor is open and the link is up."""
    return s.link is _UP and floor_is_open(s)


def is_owed(s: StateOrDraft) -> bool:
    """Is there a turn to answer, or news (such as the result of a job) that the brain has not received?"""
    return s.said > s.answered or s.news


def may_say(s: StateOrDraft) -> bool:
    """Does the program have text to say, and may it be said now? Both sides must be quiet. In addition, either no turn
    and no news waits for an answer, or the conversation waits for a tool call."""
    if not s.says or s.user is not _QUIET or s.voice is not _SILENT or s.reply is not _NONE or s.link not in LIVE:
        return False
    return has_foreground(s) or not is_owed(s)


def is_waited_for(s: StateOrDraft) -> bool:
    """Does the person wait for something: an answer to a turn, news (such as the result of a job), or a tool call?"""
    return s.said > s.answered or s.news or s.telling or has_foreground(s)


def is_kept_waiting(s: StateOrDraft) -> bool:
    """Does the person wait for something: for what `is_waited_for` lists, for the rest of an answer that was cut off,
    or for what the agent says by itself, such as a check-in that is late? Also yes while the agent speaks, because the
    speech may have a gap. A sound that the person makes meanwhile doesn't end the wait. No after a fatal fault, because
    then there is nothing to wait for."""
    if s.link in CLOSED or (s.link is _FAULTED and s.fault is not None and s.fault.fatal):
        return False
    return s.voice in SOUNDING or s.cut or s.reply in PENDING or is_waited_for(s)


def waits_in_silence(s: StateOrDraft) -> bool:
    """Does the person wait, while neither side makes a sound? Yes also while the agent's speech plays, because it may
    have a gap."""
    return s.user is _QUIET and (s.voice is _PLAYING or s.voice is _SILENT) and is_kept_waiting(s)


def is_at_rest(s: StateOrDraft) -> bool:
    """Is nothing going on? This means that both sides are quiet, no turn has to be answered, there is no news for the
    brain, the program has nothing to say, and no job is running."""
    return not s.jobs and floor_is_open(s) and not is_owed(s) and not s.says


def awaits_check_in(s: StateOrDraft) -> bool:
    """Should the agent check in if the silence goes on? Yes, if the agent is idle and has nothing to answer, no job is
    running, and the person hasn't begun to say words. Sounds without words are ignored, so that noise can't delay a
    check-in forever."""
    return not s.jobs and is_idle(s) and not is_owed(s) and s.words is _NO_WORDS


def offers_to_go_on(s: StateOrDraft) -> bool:
    """Was an answer cut off by a sound without words or by a lost line, so that the agent should now go on, or offer to
    go on? Only if the person is quiet and the agent is idle again."""
    return s.cut and floor_is_open(s) and not is_owed(s)


def has_said_all(s: StateOrDraft) -> bool:
    """Is the conversation about to end, and is everything said? Not if the last words were cut off."""
    return s.ending is not Ending.NO and floor_is_open(s) and not is_owed(s) and not s.says and not s.cut


def turn_of_onset(s: StateOrDraft) -> int:
    """The number of the turn to which the person's speech would belong if it began now: the open turn if there is one,
    otherwise the next turn."""
    return s.turn + 1 if s.user in _BETWEEN_TURNS else s.turn


def is_sounding(s: StateOrDraft) -> bool:
    """Is audio playing right now?"""
    return s.voice is _PLAYING and s.link is _UP


def floor(s: StateOrDraft) -> str:
    """Who has the floor (the right to speak): user or agent. If neither clearly has it, the answer is open (both are
    quiet), settling (the person's turn is ending), contested (both make a sound) or interrupted."""
    if s.voice in ENDING:
        return "interrupted"
    if s.voice in SOUNDING:
        return "agent" if s.user is _QUIET else "contested"
    if s.user is _TALKING:
        return "user"
    return "open" if s.user is _QUIET else "settling"
