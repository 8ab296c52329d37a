"""The state machine of a conversation: `step(state, event) -> (state, effects)`.

The machine is pure: it uses no clock, randomness, input, output or await. Each event carries the time, and work for the
runtime is returned as effects. A step picks at most one row for each region of the state (and for each job). The guards
of rows see the state before the step. The step applies the rows in the order link, voice, user, reply, jobs. Then it
applies the rules and updates the joint deadlines, which depend on several regions. Rule: if an event is stale, or no
row fits it, a step returns the same state object and no effects.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

from .cues import update_cue
from .deadlines import DeadlineOwners
from .draft import Draft
from .effects import Effect
from .errors import InvalidEvent, TimeWentBackwards
from .events import (
    EVENTS,
    UNNAMED_SESSION,
    AboutCall,
    AboutReply,
    AboutSession,
    AboutVoice,
    Event,
    OverlapJudged,
    RecurringEvent,
    SessionEnded,
    SoundDismissed,
    TimerFired,
    ToolCalled,
    TurnEnded,
    TurnGuessed,
    TurnTaken,
    WordsHeard,
)
from .jobs import JOB_ROWS
from .leaves import (
    CLOSED,
    EARLY,
    FROZEN,
    JOB_TIMERS,
    SOUNDING,
    TIMER_INDEX,
    JobKind,
    Leaf,
    Link,
    Reply,
    Timer,
    User,
    Voice,
)
from .link import LINK_ROWS
from .reply import REPLY_ROWS
from .rows import Row, Rule, Trigger
from .rules import RULES
from .state import FREEZES, JobRecord, State, is_idle
from .user import USER_ROWS
from .voice import VOICE_ROWS

ROWS: tuple[Row, ...] = (*LINK_ROWS, *VOICE_ROWS, *USER_ROWS, *REPLY_ROWS, *JOB_ROWS)

Fresh: TypeAlias = Callable[[State, Any], bool]
Table: TypeAlias = dict[Leaf, tuple[tuple[int, Row], ...]]
Plan: TypeAlias = tuple[Fresh, tuple[tuple[int, Table], ...], Table]

_REGION_INDEX: tuple[tuple[type[Leaf], int], ...] = tuple(
    (region, State._fields.index(name))
    for region, name in ((Link, "link"), (Voice, "voice"), (User, "user"), (Reply, "reply"))
)
_KINDS = frozenset(EVENTS)
_IN_PROGRESS = (Reply.COMMITTING, Reply.WAITING, Reply.GENERATING, Reply.READY, *EARLY)


# -- Which events are stale


def _find_job(s: State, call: int) -> JobRecord | None:
    for job in s.jobs:
        if job.call == call:
            return job
    return None


def _always_fresh(s: State, e: Event) -> bool:
    return True


def _fresh_timer(s: State, e: TimerFired) -> bool:
    """Is this timer event still valid? Its deadline must be set to the same due time, this time must have passed, and
    the deadline must not be frozen."""
    if e.at < e.due:
        return False
    if e.timer in JOB_TIMERS:
        job = _find_job(s, e.call)
        if job is None or s.link in FROZEN:
            return False
        due = (job.due, job.heartbeat_due, job.feedback_due)[JOB_TIMERS.index(e.timer)]
        return due == e.due != 0
    index = TIMER_INDEX[e.timer]
    if s.link in FROZEN and FREEZES[index]:
        return False
    return s.due[index] == e.due != 0


def _fresh_words(s: State, e: WordsHeard) -> bool:
    if not 0 < e.turn <= s.turn:
        raise InvalidEvent(f"WordsHeard names turn {e.turn}, but the newest turn is {s.turn}")
    is_known = e.final and e.turn == s.turn and e.content == s.content != 0
    return e.seq > s.seq and not is_known


def _fresh_verdict(s: State, e: OverlapJudged) -> bool:
    """Is this verdict about the agent's current sound, and is it still valid? A verdict that the person's sound was a
    bid for the floor (an interruption) stays valid even if the person has made another sound since then. A verdict that
    a sound was harmless is valid only for the newest sound."""
    current = e.voice == s.voice_id and e.seq > s.seq and s.voice is not Voice.SILENT
    return current and (e.bid or e.onset >= s.onset)


def _reply_is_open(s: State) -> bool:
    """Is the current reply still being generated, or still playing?"""
    return s.reply in _IN_PROGRESS or s.voice in SOUNDING


def _freshness(kind: type[Event]) -> Fresh:
    """The function that tests whether an event of this kind is new, and not stale or repeated."""
    names = set(kind.__dataclass_fields__)
    if kind is TimerFired:
        return _fresh_timer
    if kind is WordsHeard:
        return _fresh_words
    if kind is OverlapJudged:
        return _fresh_verdict
    if kind is ToolCalled:  # an early reply calls nothing
        return lambda s, e: e.reply == s.reply_id and e.call > s.call_id and _reply_is_open(s) and s.reply not in EARLY
    if kind is TurnTaken:
        return lambda s, e: bool(s.answered < e.turn <= s.said)
    if kind in (TurnEnded, TurnGuessed, SoundDismissed):
        return lambda s, e: e.turn == s.turn and e.onset >= s.onset
    if issubclass(kind, AboutVoice):
        return lambda s, e: e.voice == s.voice_id and s.voice is not Voice.SILENT
    if issubclass(kind, AboutCall):
        if "seq" in names:
            return lambda s, e: e.seq > s.seq
        return _always_fresh  # without a job record, no row matches
    if issubclass(kind, AboutReply):
        return lambda s, e: e.reply == s.reply_id and _reply_is_open(s)
    if issubclass(kind, AboutSession):
        return lambda s, e: bool(e.session == s.session_id)
    assert issubclass(kind, RecurringEvent), kind
    if kind is SessionEnded:
        return lambda s, e: e.session in (s.session_id, UNNAMED_SESSION) and e.seq > s.seq
    if "session" in names:
        return lambda s, e: e.session == s.session_id and e.seq > s.seq
    return lambda s, e: bool(e.seq > s.seq)


# -- The machine


def _rows_by_leaf_and_trigger(rows: Iterable[Row]) -> dict[tuple[Leaf, Trigger], tuple[tuple[int, Row], ...]]:
    """The rows for each pair of a leaf and a trigger. They keep the order that they have in `rows`, and each has its
    index in `rows`."""
    found: dict[tuple[Leaf, Trigger], tuple[tuple[int, Row], ...]] = {}
    for index, row in enumerate(rows):
        for leaf in row.sources:
            for trigger in row.on:
                found[leaf, trigger] = (*found.get((leaf, trigger), ()), (index, row))
    return found


class Machine:
    """The state machine: its rows, rules and deadlines, in a form that is fast to look up by link and event."""

    def __init__(
        self,
        rows: Iterable[Row] = ROWS,
        rules: Iterable[Rule] = RULES,
        owners: DeadlineOwners | None = None,
    ) -> None:
        self.load(rows, rules, owners)

    def load(self, rows: Iterable[Row], rules: Iterable[Rule], owners: DeadlineOwners | None = None) -> None:
        """Replace the rows and rules. Tests use this to count how often each row fires, and tools/run_mutants.py uses
        it to break the machine on purpose."""
        self.rows = tuple(rows)
        self.rules = tuple(rules)
        self.owners = owners or DeadlineOwners()
        self._rules = {
            link: tuple((-1 - index, rule.when, rule.do) for index, rule in enumerate(self.rules) if link in rule.links)
            for link in Link
        }
        self._found = _rows_by_leaf_and_trigger(self.rows)
        self._joint = tuple((limit, TIMER_INDEX[limit.timer]) for limit in self.owners.joint)
        self._plans = {link: self._plan_for(link) for link in Link}

    def accept_stale(self, kind: type[Event]) -> None:
        """Treat every event of this kind as new, even if it is stale. The tests of the model checker use this to break
        the machine on purpose."""
        for plans in self._plans.values():
            if kind in plans:
                plans[kind] = (_always_fresh, *plans[kind][1:])

    def _plan_for(self, link: Link) -> dict[Trigger, Plan]:
        triggers: list[Trigger] = [kind for kind in EVENTS if kind is not TimerFired]
        triggers += list(Timer)
        plans: dict[Trigger, Plan] = {}
        for trigger in triggers:
            tables = []
            for region, index in _REGION_INDEX:
                if region is not Link and link in CLOSED:
                    continue
                leaves = (link,) if region is Link else tuple(region)
                table = self._table(leaves, trigger)
                if table:
                    tables.append((index, table))
            jobs = {} if link in CLOSED else self._table(tuple(JobKind), trigger)
            if tables or jobs:
                kind = TimerFired if isinstance(trigger, Timer) else trigger
                plans[trigger] = (_freshness(kind), tuple(tables), jobs)
        return plans

    def _table(self, leaves: Iterable[Leaf], trigger: Trigger) -> Table:
        return {leaf: found for leaf in leaves if (found := self._found.get((leaf, trigger)))}

    def step(self, s: State, e: Event) -> tuple[State, tuple[Effect, ...]]:
        """Apply one event. Returns the next state and the effects. For an event that is stale, repeated or has no row,
        returns `s` itself and no effects."""
        d = self.advance(s, e)
        return (s, ()) if d is None else (d.build(), tuple(d.effects))

    def accepts(self, s: State, e: Event) -> bool:
        """Does this event have any effect in this state? False if it is stale, repeated or has no row."""
        return self.advance(s, e) is not None

    def advance(self, s: State, e: Event, draft: type[Draft] = Draft) -> Draft | None:
        """Apply one event and return the draft of the next state, which also lists the rows and rules that fired.
        Returns None if the event does nothing. The model checker passes its own subclass of Draft."""
        kind: Any = type(e)
        plan = self._plans[s.link].get(e.timer if kind is TimerFired else kind)  # type: ignore[attr-defined]
        if plan is None:
            if kind not in _KINDS:
                raise InvalidEvent(f"not an event: {e!r}")
            return None
        if e.at < s.at:
            raise TimeWentBackwards(f"{kind.__name__} is at {e.at} ms, but the state is at {s.at} ms")
        is_fresh, tables, job_table = plan
        if not is_fresh(s, e):
            return None

        chosen: list[tuple[int, Row]] | None = None
        for index, table in tables:
            leaf: Any = s[index]
            for numbered in table.get(leaf, ()):
                guard = numbered[1].when
                if guard is None or guard(s, e):
                    if chosen is None:
                        chosen = [numbered]
                    else:
                        chosen.append(numbered)
                    break
        work = self._choose_jobs(s, e, job_table) if job_table else None
        if chosen is None and not work:
            return None

        d = draft(s, self.owners, e.at)
        if kind is TimerFired:
            self._disarm_fired(d, e)  # type: ignore[arg-type]
        elif hasattr(e, "seq"):
            d.seq = e.seq
        for number, row in chosen or ():
            if row.target is not None:
                d.move(row.target)
            if row.do is not None:
                row.do(d, e)
            d.fired.append(number)
        for number, row, job in work or ():
            self._act_on_job(d, e, number, row, job)
        for number, applies, correct in self._rules[d.link]:
            if applies(d):
                correct(d, e)
                d.fired.append(number)
        self._update_joint_limits(d, s)
        update_cue(d, s)
        return d

    def _update_joint_limits(self, d: Draft, s: State) -> None:
        """Arm each joint deadline (one that depends on several regions) when its condition becomes true, and disarm it
        when the condition becomes false. Every condition can be true only if the agent is idle or the program has text
        to say. Otherwise all joint deadlines are turned off without checking their conditions. If this step resets the
        count of check-ins, because the person has shown that they are there, then deadlines that are off are also armed
        if their condition was already true before."""
        if is_idle(d) or d.says:
            begins_again = d.check_ins < s.check_ins
            for limit, index in self._joint:
                if not limit.holds(d):
                    d.due[index] = 0
                elif not d.due[index] and (begins_again or not limit.holds(s)):
                    d.arm(limit.timer, limit.duration_ms(d))
        else:
            for _, index in self._joint:
                d.due[index] = 0

    def _choose_jobs(self, s: State, e: Any, table: Table) -> list[tuple[int, Row, JobRecord]]:
        if type(e) is ToolCalled:
            records: tuple[JobRecord, ...] = (JobRecord(e.call, JobKind.ABSENT, e.cancellable, 0),)
        elif hasattr(e, "call"):
            record = _find_job(s, e.call)
            records = () if record is None else (record,)
        else:
            records = s.jobs
        found = []
        for job in records:
            for number, row in table.get(job.kind, ()):
                if row.when is None or row.when(s, e, job):
                    found.append((number, row, job))
                    break
        return found

    def _act_on_job(self, d: Draft, e: Event, number: int, row: Row, job: JobRecord) -> None:
        if type(e) is TimerFired:
            job = next(record for record in d.jobs if record.call == job.call)
        if row.target is not None:
            assert isinstance(row.target, JobKind)
            d.set_job(job, row.target)
        if row.do is not None:
            row.do(d, e, job)
        d.fired.append(number)

    def _disarm_fired(self, d: Draft, e: TimerFired) -> None:
        """Disarm the deadline that fired."""
        if e.timer in JOB_TIMERS:
            off: dict[str, Any] = {("due", "heartbeat_due", "feedback_due")[JOB_TIMERS.index(e.timer)]: 0}
            d.jobs = tuple(job._replace(**off) if job.call == e.call else job for job in d.jobs)
        else:
            d.disarm(e.timer)


MACHINE = Machine()
step = MACHINE.step
