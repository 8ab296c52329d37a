"""The table of deadlines: which leaf owns each deadline, and how long the deadline lasts.

The state has five parts, called regions (link, user, voice, reply and jobs). Each region is in one state, called a
leaf; in the region jobs, each job has a leaf. A leaf owns a deadline if the deadline can be armed in this leaf. A hard
deadline limits how long its leaves can last. Other deadlines only trigger something, such as a warning. If several
leaves own the same deadline, it keeps running while the region moves between these leaves. Rule: every leaf owns a hard
deadline, except the leaves in which nothing is awaited: idle, up, quiet, silent, none and absent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from operator import attrgetter
from typing import NamedTuple

from .draft import Draft
from .leaves import (
    ACTIVE,
    AWAY,
    LIVE,
    SOUNDING,
    TIMER_INDEX,
    TIMERS,
    UNHEARD,
    JobKind,
    Leaf,
    Link,
    Reply,
    Timer,
    User,
    Voice,
    Words,
)
from .state import (
    State,
    StateOrDraft,
    awaits_check_in,
    floor_is_open,
    has_said_all,
    is_owed,
    may_say,
    noise_blocks_request,
    offers_to_go_on,
    waits_in_silence,
)

Duration = Callable[[Draft], int]


class Limit(NamedTuple):
    """A deadline that can be armed only while its region is in one of these leaves."""

    timer: Timer
    leaves: tuple[Leaf, ...]
    duration_ms: Duration
    hard: bool = True
    on_entry: bool = True  # False: the action of a row arms the deadline


class JointLimit(NamedTuple):
    """A deadline that runs while the condition `holds` is true. The condition can depend on several regions, but it
    must be false while the agent is busy, unless the program has text to say."""

    timer: Timer
    holds: Callable[[StateOrDraft], bool]
    duration_ms: Duration


class JobLimits(NamedTuple):
    """The limits of one job: how long it may take (`limit_ms`), how long it may run without progress (`heartbeat_ms`),
    and when the waiting person gets the first feedback (`feedback_ms`). The last two are off if they are 0."""

    limit_ms: int
    heartbeat_ms: int
    feedback_ms: int


def _settle_ms(d: Draft) -> int:
    return d.settings.noise_ms_max if d.words is Words.NONE or d.unread else d.settings.settle_ms_max


def _ready_ms(d: Draft) -> int:
    """How long a finished reply may wait for the person to stop speaking. This is longer than the longest turn that a
    person may take."""
    return d.settings.talk_ms_max + d.settings.ready_ms_max


def _backoff_ms(d: Draft) -> int:
    waits = d.settings.backoff_ms
    return waits[min(d.attempts, len(waits) - 1)]


def _retry_ms(d: Draft) -> int:
    waits = d.settings.retry_ms  # computed before this retry is counted
    return waits[min(d.retries, len(waits) - 1)]


def cue_ms(d: Draft) -> int:
    """How long the silence may last until the next cue (a sound or phrase that shows that the agent is there). The
    setting `cue_ms` has one value for the first cue, one for the second, and so on. Its last value is used for all
    further cues."""
    waits = d.settings.cue_ms
    return waits[min(d.cues, len(waits) - 1)]


def dead_air_ms(d: Draft) -> int:
    """How long the silence may last until the agent checks in or says goodbye. 0 means without limit: all check-ins
    were made, and the agent isn't set to hang up."""
    is_over = d.check_ins >= d.settings.check_ins_max and not d.settings.hangs_up
    return 0 if is_over else d.settings.dead_air_ms


def _last_words_ms(d: Draft) -> int:
    """How long the conversation goes on after everything was said. If the person has just made a sound, its text may
    still come, and words keep the conversation. But noise delays the end by at most the time between two check-ins."""
    is_text_to_come = d.before.user is not User.QUIET and d.due[TIMER_INDEX[Timer.DEAD_AIR]] > 0
    return d.settings.text_ms_max if is_text_to_come else d.settings.beat_ms


def _setting(name: str) -> Duration:
    return attrgetter(f"settings.{name}")


_ANSWERING = (
    Reply.COMMITTING,
    Reply.WAITING,
    Reply.GENERATING,
    Reply.RETRYING,
    Reply.GUESSING,
    Reply.DRAFTING,
)

LIMITS: tuple[Limit, ...] = (
    Limit(Timer.PREPARE, (Link.PREPARING,), _setting("prepare_ms_max")),
    Limit(Timer.SUSPEND, (Link.SUSPENDED,), _setting("suspend_ms_max")),
    Limit(Timer.RENEW, LIVE, _setting("renew_ms_max"), on_entry=False),  # the next session is being opened
    Limit(Timer.HEAL, (Link.HEALING,), _setting("heal_ms_max")),
    Limit(Timer.BACKOFF, (Link.BACKING_OFF,), _backoff_ms),
    Limit(Timer.CONNECT, (Link.RECONNECTING,), _setting("connect_ms_max")),
    Limit(Timer.RECONNECT, AWAY, _setting("reconnect_ms_max")),
    Limit(Timer.DISMISS, (Link.FAULTED,), _setting("dismiss_ms")),
    Limit(Timer.CLOSE, (Link.TERMINATING,), _setting("close_ms_max")),
    Limit(Timer.SESSION_WARNING, LIVE, _setting("session_warning_ms"), hard=False),
    Limit(Timer.SESSION_LIMIT, LIVE, _setting("session_ms_max"), hard=False),
    Limit(Timer.BREAKER, ACTIVE, _setting("faults_window_ms"), hard=False, on_entry=False),
    Limit(Timer.TALK, (User.TALKING, User.SETTLING), _setting("talk_ms_max")),  # for the whole turn
    Limit(Timer.COMMIT, (User.TALKING, User.SETTLING), _setting("commit_ms"), hard=False),
    Limit(Timer.SETTLE, (User.SETTLING,), _settle_ms),
    Limit(Timer.TEXT, (User.TRANSCRIBING,), _setting("text_ms_max")),
    Limit(Timer.STALL, (Voice.PLAYING,), _setting("stall_ms_max")),
    Limit(Timer.OVERLAP, (Voice.HELD,), _setting("overlap_ms_max")),
    Limit(Timer.LULL, (Voice.HELD,), _setting("overlap_quiet_ms_max"), on_entry=False),
    Limit(Timer.BREATH, (Voice.STOPPING, Voice.HUSHED), _setting("breath_ms")),
    Limit(Timer.STOP, (Voice.STOPPING, Voice.HUSHED), _setting("stop_ms_max")),
    Limit(Timer.LONG_SPEECH, SOUNDING, _setting("long_speech_ms"), hard=False),
    Limit(Timer.ATTEMPT, (Reply.COMMITTING, Reply.WAITING, Reply.GUESSING), _setting("attempt_ms_max")),
    Limit(Timer.ANSWER, _ANSWERING, _setting("answer_ms_max")),
    Limit(Timer.RETRY, (Reply.RETRYING,), _retry_ms),
    Limit(Timer.READY, (Reply.READY, Reply.DRAFTED), _ready_ms),
)

JOINT_LIMITS: tuple[JointLimit, ...] = (
    # Owed work is a turn or news that the brain still has to be asked about. It waits one beat, so that every view
    # shows an open floor (both sides are quiet) between two turns.
    JointLimit(Timer.BEAT, lambda s: (floor_is_open(s) and is_owed(s)) or may_say(s), _setting("beat_ms")),
    JointLimit(Timer.PATIENCE, noise_blocks_request, _setting("ready_ms_max")),
    JointLimit(Timer.OFFER, offers_to_go_on, _setting("offer_ms")),
    JointLimit(Timer.LAST_WORDS, has_said_all, _last_words_ms),
    JointLimit(Timer.DEAD_AIR, awaits_check_in, dead_air_ms),
)

JOB_LIMITS: dict[JobKind, Callable[[Draft], JobLimits]] = {
    JobKind.TOOL: lambda d: JobLimits(d.settings.tool_ms_max, 0, d.settings.feedback_ms[0]),
    JobKind.DELEGATED: lambda d: JobLimits(
        d.settings.delegate_ms_max, d.settings.heartbeat_ms_max, d.settings.feedback_ms[0]
    ),
    JobKind.DISPATCHED: lambda d: JobLimits(d.settings.dispatch_ms_max, d.settings.heartbeat_ms_max, 0),
}

_REGIONS: tuple[type[Leaf], ...] = (Link, User, Voice, Reply)


def has_unowned_timer(s: State) -> bool:
    """Is a deadline armed that can't be armed in this state? The state machine never makes such a state, but a damaged
    file may contain one. No row would react to the deadline, so it would stay due forever."""
    leaves = (s.link, s.user, s.voice, s.reply)
    owned = {limit.timer for limit in LIMITS if any(leaf in limit.leaves for leaf in leaves)}
    owned |= {limit.timer for limit in JOINT_LIMITS if limit.holds(s)}
    owned |= {Timer.CUE} if waits_in_silence(s) and s.link not in UNHEARD else set()
    if any(due and timer not in owned for timer, due in zip(TIMERS, s.due, strict=True)):
        return True
    return any(
        (job.kind is JobKind.TOOL and job.heartbeat_due) or (job.kind is JobKind.DISPATCHED and job.feedback_due)
        for job in s.jobs
    )


class DeadlineOwners:
    """The table of deadlines in a form that is fast to look up: which deadlines end and which begin when a region moves
    from one leaf to another."""

    __slots__ = ("jobs", "joint", "limits", "moves")

    def __init__(
        self,
        limits: Iterable[Limit] = LIMITS,
        joint: Iterable[JointLimit] = JOINT_LIMITS,
        jobs: dict[JobKind, Callable[[Draft], JobLimits]] = JOB_LIMITS,
    ) -> None:
        self.limits = tuple(limits)
        self.joint = tuple(joint)
        self.jobs = jobs
        self.moves = {
            old: {new: self._change(old, new) for new in region if new is not old}
            for region in _REGIONS
            for old in region
        }

    def _change(self, old: Leaf, new: Leaf) -> tuple[tuple[int, ...], tuple[tuple[Timer, Duration], ...]]:
        ended = tuple(
            TIMER_INDEX[limit.timer] for limit in self.limits if old in limit.leaves and new not in limit.leaves
        )
        begun = tuple(
            (limit.timer, limit.duration_ms)
            for limit in self.limits
            if limit.on_entry and new in limit.leaves and old not in limit.leaves
        )
        return ended, begun
