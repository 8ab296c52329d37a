"""The whole truth about one conversation, as one small frozen value.

Holds no words and no clock. Rule: what can be derived is a function here, never a field. What the
user said is four integers, answered <= asked <= said <= turn, and "owed" follows from them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from .leaves import (
    ENDING,
    FOREGROUND,
    FROZEN,
    JOB_TIMERS,
    LIVE,
    SOUNDING,
    TIMERS,
    Ask,
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

# Read in every step: on Python 3.11 a member costs four times as much through its enum.
_UP, _QUIET, _TALKING = Link.UP, User.QUIET, User.TALKING
_SILENT, _PLAYING, _NONE, _NO_WORDS = Voice.SILENT, Voice.PLAYING, Reply.NONE, Words.NONE

Here: TypeAlias = "State | Draft"  # a question may be asked of a state or of one in the making


class Fault(NamedTuple):
    """What went wrong last, kept while it is shown."""

    part: FaultSource
    error: ErrorClass
    fatal: bool


class JobRecord(NamedTuple):
    """One running piece of work. The three due times are 0 when not armed."""

    call: int
    kind: JobKind
    cancellable: bool
    due: int
    heartbeat_due: int = 0
    feedback_due: int = 0
    stage: int = 0  # how much feedback the waiting person has had


class State(NamedTuple):
    """A snapshot. Build one with `initial`, move it with `step`."""

    settings: Settings
    at: int = 0  # when the last change happened

    link: Link = Link.IDLE
    user: User = User.QUIET
    voice: Voice = Voice.SILENT
    reply: Reply = Reply.NONE
    jobs: tuple[JobRecord, ...] = ()

    seq: int = 0  # the newest signal that was applied
    onset: int = 0  # the newest of them with which the person began to make a sound
    session_id: int = 0  # ids only grow: what carries an older one is stale
    reply_id: int = 0
    voice_id: int = 0
    call_id: int = 0

    turn: int = 0  # the newest turn that began
    said: int = 0  # the newest turn that is complete, with words
    asked: int = 0  # the newest turn in a request
    answered: int = 0  # the newest turn that is settled
    floor_turn: int = 0  # turns after this one began while the current sound was on
    overheard: int = 0  # the last of them, if it had words and is over

    words: Words = Words.NONE  # of the current turn, while it is open
    final: bool = False
    content: int = 0  # the final text of the newest turn, to know it when it comes again
    heard_ms: int = 0  # of the current sound
    ask: Ask = Ask.ANSWER  # what the current reply or sound is for
    called: bool = False  # the current reply has made a call
    news: bool = False  # outputs or results that no request has told the brain yet
    telling: bool = False  # the current request tells news
    asked_again: int = 0  # the newest turn that was asked once more after a lost line

    retries: int = 0
    attempts: int = 0  # reconnecting
    check_ins: int = 0
    faults: int = 0  # within the breaker's window
    faults_in_a_row: int = 0
    fault: Fault | None = None

    # One slot for each timer: 0 is off, else when it is due. While the link is frozen, a timer that
    # freezes holds the time that remains.
    due: tuple[int, ...] = (0,) * len(TIMERS)


def initial(settings: Settings) -> State:
    """A conversation that has not begun."""
    return State(settings)


class Deadline(NamedTuple):
    """The next thing that time will do."""

    due: int
    timer: Timer
    call: int = 0


# Time that passes for the session itself can't be paused by us.
UNFROZEN = (
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
    """What the driver has to wait for, or None if nothing is armed."""
    best: Deadline | None = None
    for deadline in armed(s):
        if best is None or deadline.due < best.due:
            best = deadline
    return best


def armed(s: State) -> list[Deadline]:
    """Every deadline that time can reach from here, in the order of the timers."""
    if s.link in FROZEN:
        return [Deadline(s.due[index], TIMERS[index]) for index in _UNFROZEN_INDEX if s.due[index]]
    found = [Deadline(due, TIMERS[index]) for index, due in enumerate(s.due) if due]
    for job in s.jobs:
        dues = zip(JOB_TIMERS, (job.due, job.heartbeat_due, job.feedback_due), strict=True)
        found += [Deadline(due, timer, job.call) for timer, due in dues if due]
    return found


def has_foreground(s: Here) -> bool:
    """Is a call open that the reply waits for?"""
    return bool(s.jobs) and any(job.kind in FOREGROUND for job in s.jobs)


def is_idle(s: Here) -> bool:
    """The agent's side does nothing, though the session may be paused."""
    return s.reply is _NONE and s.voice is _SILENT and s.link in LIVE and not has_foreground(s)


def floor_is_open(s: Here) -> bool:
    """Nobody speaks and nothing is on its way, though the session may be paused."""
    return s.user is _QUIET and is_idle(s)


def noise_is_in_the_way(s: Here) -> bool:
    """Is something owed, and is a sound without words all that keeps it from being asked?"""
    return s.user is not _QUIET and s.words is _NO_WORDS and is_owed(s) and is_idle(s)


def floor_is_free(s: Here) -> bool:
    """May the brain be asked? The floor is open and the line is up."""
    return s.link is _UP and floor_is_open(s)


def is_owed(s: Here) -> bool:
    """Is there anything that the brain still has to be asked or told?"""
    return s.said > s.answered or s.news


def is_at_rest(s: Here) -> bool:
    """Both sides quiet, nothing owed, nothing running."""
    return not s.jobs and floor_is_open(s) and not is_owed(s)


def is_sounding(s: Here) -> bool:
    """Does sound come out right now?"""
    return s.voice is _PLAYING and s.link is _UP


def floor(s: Here) -> str:
    """Who has the floor: open, user, settling, agent, contested or interrupted."""
    if s.voice in ENDING:
        return "interrupted"
    if s.voice in SOUNDING:
        return "agent" if s.user is _QUIET else "contested"
    if s.user is _TALKING:
        return "user"
    return "open" if s.user is _QUIET else "settling"
