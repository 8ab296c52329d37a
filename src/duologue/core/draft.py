"""The next state while a step computes it, as a mutable object (the draft).

A draft exists only during one step and is never shared. Rule: only `move` changes the leaf of a region (link, user,
voice or reply). Only `move` arms the deadlines of a leaf when the region enters it, and disarms them when the region
leaves it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .effects import Effect
from .leaves import FROZEN, TIMER_INDEX, Ask, Cue, Ending, JobKind, Leaf, Link, Reply, Timer, User, Voice, Words
from .settings import Settings
from .state import FREEZES, Fault, JobRecord, State

if TYPE_CHECKING:
    from .deadlines import DeadlineOwners

_FIELDS = State._fields
_REGION_NAMES: dict[type[Leaf], str] = {Link: "link", User: "user", Voice: "voice", Reply: "reply"}


class Draft:
    """A mutable copy of the fields of `State`, and the effects of the step so far."""

    __slots__ = (*_FIELDS, "before", "effects", "fired", "owners")

    settings: Settings
    at: int
    link: Link
    user: User
    voice: Voice
    reply: Reply
    jobs: tuple[JobRecord, ...]
    seq: int
    onset: int
    session_id: int
    reply_id: int
    voice_id: int
    call_id: int
    turn: int
    said: int
    asked: int
    answered: int
    floor_turn: int
    overheard: int
    words: Words
    final: bool
    unread: bool
    content: int
    heard_ms: int
    ask: Ask
    called: bool
    firm: bool
    news: bool
    telling: bool
    says: bool
    asked_again: int
    losses: int
    cut: bool
    cues: int
    quiet_at: int
    sign_at: int
    told: Cue
    told_at: int
    ending: Ending
    guess: int
    guesses: int
    paused: bool
    retries: int
    attempts: int
    check_ins: int
    faults: int
    faults_in_a_row: int
    fault: Fault | None
    due: list[int]
    before: State  # the state at the beginning of the step
    effects: list[Effect]
    fired: list[int]  # what fired: a row as its index, a rule as -1 - its index
    owners: DeadlineOwners

    def __init__(self, s: State, owners: DeadlineOwners, at: int) -> None:
        (
            self.settings, self.at, self.link, self.user, self.voice, self.reply, self.jobs,
            self.seq, self.onset, self.session_id, self.reply_id, self.voice_id, self.call_id,
            self.turn, self.said, self.asked, self.answered, self.floor_turn, self.overheard,
            self.words, self.final, self.unread, self.content,
            self.heard_ms, self.ask, self.called, self.firm, self.news, self.telling, self.says,
            self.asked_again, self.losses, self.cut, self.cues, self.quiet_at, self.sign_at,
            self.told, self.told_at, self.ending, self.guess, self.guesses,
            self.paused, self.retries, self.attempts, self.check_ins, self.faults,
            self.faults_in_a_row, self.fault, due,
        ) = s  # fmt: skip
        self.at = at
        self.due = list(due)
        self.before = s
        self.owners = owners
        self.effects = []
        self.fired = []

    def build(self) -> State:
        """The next state, made from the fields of this draft."""
        return tuple.__new__(
            State,
            (
                self.settings, self.at, self.link, self.user, self.voice, self.reply, self.jobs,
                self.seq, self.onset, self.session_id, self.reply_id, self.voice_id, self.call_id,
                self.turn, self.said, self.asked, self.answered, self.floor_turn, self.overheard,
                self.words, self.final, self.unread, self.content,
                self.heard_ms, self.ask, self.called, self.firm, self.news, self.telling, self.says,
                self.asked_again, self.losses, self.cut, self.cues, self.quiet_at, self.sign_at,
                self.told, self.told_at, self.ending, self.guess, self.guesses,
                self.paused, self.retries, self.attempts, self.check_ins, self.faults,
                self.faults_in_a_row, self.fault, tuple(self.due),
            ),
        )  # fmt: skip

    def emit(self, effect: Effect) -> None:
        """Add one effect. Effects are performed in the order in which they were added."""
        self.effects.append(effect)

    # -- Regions

    def move(self, leaf: Leaf) -> None:
        """Move a region to this leaf. Disarm the deadlines that only the old leaf owns, and arm the deadlines that only
        the new leaf owns."""
        region = _REGION_NAMES[type(leaf)]
        old: Leaf = getattr(self, region)
        if old is leaf:
            return
        if region == "link":
            self._enter_link(leaf)  # type: ignore[arg-type]
        else:
            setattr(self, region, leaf)
        ended, begun = self.owners.moves[old][leaf]
        for index in ended:
            self.due[index] = 0
        for timer, duration_ms in begun:
            self.arm(timer, duration_ms(self))

    def _enter_link(self, leaf: Link) -> None:
        was, self.link = self.link in FROZEN, leaf
        now = leaf in FROZEN
        if was != now:
            self._shift_deadlines(-self.at if now else self.at)

    def _shift_deadlines(self, by_ms: int) -> None:
        """Convert the deadlines when time freezes or continues: due times become remaining times, or the other way
        round. A deadline that is already overdue gets a remaining time of 1 ms."""

        def shifted(due: int) -> int:
            return max(1, due + by_ms) if due else 0

        self.due = [shifted(due) if freezes else due for due, freezes in zip(self.due, FREEZES, strict=True)]
        self.jobs = tuple(
            job._replace(
                due=shifted(job.due),
                heartbeat_due=shifted(job.heartbeat_due),
                feedback_due=shifted(job.feedback_due),
            )
            for job in self.jobs
        )

    # -- Deadlines

    def arm(self, timer: Timer, duration_ms: int) -> None:
        """Set a deadline to `duration_ms` from now. 0 turns the deadline off."""
        index = TIMER_INDEX[timer]
        self.due[index] = duration_ms and duration_ms + (0 if FREEZES[index] and self.link in FROZEN else self.at)

    def disarm(self, timer: Timer) -> None:
        self.due[TIMER_INDEX[timer]] = 0

    def shorten(self, timer: Timer, duration_ms: int) -> None:
        """Set a deadline to `duration_ms` from now. If it is already set to an earlier time, keep that time."""
        index = TIMER_INDEX[timer]
        earlier = self.due[index]
        self.arm(timer, duration_ms)
        self.due[index] = min(earlier, self.due[index])

    def wait_since(self, at: int) -> None:
        """Let the silence of the waiting person count from the time `at` on. The stored time is at least 1, because 0
        means that the person waits for nothing."""
        self.sign_at = max(1, at)

    def now(self) -> int:
        """The time to which a duration is added to get a due time. This is the time of the event. While time is frozen
        it is 0, because the deadlines then hold remaining times."""
        return 0 if self.link in FROZEN else self.at

    # -- Jobs

    def put_job(self, job: JobRecord) -> None:
        """Add or replace the record of a job. The records are kept in the order of their tool calls."""
        others = [other for other in self.jobs if other.call != job.call]
        self.jobs = tuple(sorted((*others, job), key=lambda record: record.call))

    def amend_job(self, call: int, **changes: int) -> None:
        """Change these fields of a job's record."""
        values: dict[str, Any] = changes
        self.jobs = tuple(job._replace(**values) if job.call == call else job for job in self.jobs)

    def drop_job(self, call: int) -> None:
        self.jobs = tuple(job for job in self.jobs if job.call != call)

    def set_job(self, job: JobRecord, kind: JobKind) -> None:
        """Change the kind of a job, and arm the deadlines of the new kind. If the job is already running, its deadline
        for the next feedback continues. The kind ABSENT removes the job's record."""
        if kind is JobKind.ABSENT:
            self.drop_job(job.call)
        elif kind is not job.kind:
            limit_ms, heartbeat_ms, feedback_ms = self.owners.jobs[kind](self)
            now = self.now()
            fresh = job.kind is JobKind.ABSENT
            feedback_due = now + feedback_ms if fresh and feedback_ms else (job.feedback_due if feedback_ms else 0)
            heartbeat_due = heartbeat_ms and now + heartbeat_ms
            self.put_job(
                job._replace(kind=kind, due=now + limit_ms, heartbeat_due=heartbeat_due, feedback_due=feedback_due)
            )
