"""The numbers of many conversations, as Prometheus reads them (text format 0.0.4).

One tally serves a whole process: every conversation that it watches feeds it. Rule: a label holds a
name out of our own code, never a word, a tool or an id, so the number of series is bounded.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple, Protocol, TypeAlias

from duologue.core.effects import StartPlayback, StartReply
from duologue.core.events import TokenArrived
from duologue.core.leaves import Outcome
from duologue.core.step_record import StepRecord
from duologue.core.views import PHASE, PHASES

from . import signals as sg
from .diagnostics import WatchedConversation, first_word
from .metrics import Metrics

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

_WAIT_MS = (50, 100, 200, 300, 500, 750, 1_000, 1_500, 2_000, 3_000, 5_000, 8_000)
_TURN_MS = (500, 1_000, 2_000, 5_000, 10_000, 20_000, 30_000, 60_000, 120_000)
_ENDS = (Outcome.DONE, Outcome.FAILED, Outcome.TIMED_OUT, Outcome.CANCELLED, Outcome.REFUSED)

# What a conversation counts by itself, and what that is called here.
_COUNTS: tuple[tuple[str, str, str], ...] = (
    ("turns", "duologue_turns_total", "Turns of the person, complete and with words."),
    ("requests", "duologue_requests_total", "Requests to the brain, retries too."),
    ("sounds", "duologue_sounds_total", "Replies that began to sound."),
    ("interrupted", "duologue_interruptions_total", "Sounds that the person cut short."),
    ("check_ins", "duologue_check_ins_total", "Times that the agent asked whether anybody is there."),
    ("turns_lost", "duologue_lost_turns_total", "Turns of which the person was told that they got no answer."),
    ("overheard", "duologue_overheard_turns_total", "Turns that were recorded and not answered."),
)

Labels: TypeAlias = dict[str, str]


class Measured(WatchedConversation, Protocol):
    """A conversation that counts for itself."""

    @property
    def metrics(self) -> Metrics: ...


class Tally:
    """Counts what the conversations that it watches do."""

    def __init__(self) -> None:
        self._feeds: list[_Feed] = []  # of conversations that run
        self._begun = 0
        self._past: Counter[str] = Counter()  # what those that are over have counted
        self.calls: Counter[Outcome] = Counter()
        self.faults: Counter[tuple[str, str]] = Counter()  # by part and class
        self.problems: Counter[str] = Counter()
        self.first_token = Histogram(_WAIT_MS)
        self.first_audio = Histogram(_WAIT_MS)
        self.turns = {"user": Histogram(_TURN_MS), "assistant": Histogram(_TURN_MS)}

    def watch(self, conversation: Measured) -> Callable[[], None]:
        """Count this one too, from now to its end. Returns what stops it; what was counted stays."""
        return _Feed(self, conversation).stop

    def begin(self, feed: _Feed) -> None:
        if feed not in self._feeds:
            self._begun += 1
            self._feeds.append(feed)

    def end(self, feed: _Feed) -> None:
        if feed in self._feeds:
            self._feeds.remove(feed)
            self._past.update(feed.counts())

    def text(self) -> str:
        """Everything, for a scrape; to be served as CONTENT_TYPE."""
        return "".join(f"{line}\n" for family in self._families() for line in family.lines())

    def _families(self) -> Iterator[_Family]:
        yield from self._conversations()
        counts = sum((feed.counts() for feed in self._feeds), self._past.copy())
        for key, name, told in _COUNTS:
            yield _Family(name, "counter", told, [_sample(name, counts[key])])
        yield _counter(
            "duologue_tool_calls_total",
            "Calls of tools that ended, by how.",
            ((self.calls[outcome], {"outcome": outcome.value}) for outcome in _ENDS),
        )
        yield _counter(
            "duologue_faults_total",
            "Faults that a person was shown.",
            ((count, {"part": part, "error": error}) for (part, error), count in sorted(self.faults.items())),
        )
        yield _counter(
            "duologue_problems_total",
            "Troubles beside a conversation, which went on.",
            ((count, {"where": where}) for where, count in sorted(self.problems.items())),
        )
        yield from self._times()

    def _conversations(self) -> Iterator[_Family]:
        name, phases = "duologue_conversations_total", Counter(feed.phase for feed in self._feeds)
        yield _Family(name, "counter", "Conversations that have begun.", [_sample(name, self._begun)])
        name = "duologue_conversations_active"
        yield _Family(name, "gauge", "Conversations that run.", [_sample(name, len(self._feeds))])
        name = "duologue_conversations_in_phase"
        samples = [_sample(name, phases[phase], {"phase": phase}) for phase in PHASES]
        yield _Family(name, "gauge", "Running conversations by phase.", samples)

    def _times(self) -> Iterator[_Family]:
        name = "duologue_first_token_seconds"
        told = "From a request to the first token of its reply."
        yield _Family(name, "histogram", told, list(self.first_token.samples(name, {})))
        name = "duologue_first_audio_seconds"
        told = "From a request to the first sound of its reply."
        yield _Family(name, "histogram", told, list(self.first_audio.samples(name, {})))
        name = "duologue_turn_seconds"
        told = "How long turns last, the person's with the silence that ends them; interrupted ones as far as heard."
        turns = [line for role, times in self.turns.items() for line in times.samples(name, {"role": role})]
        yield _Family(name, "histogram", told, turns)


class _Feed:
    """One conversation, and what it adds to a tally. The tally knows it only while it runs, so that
    one that never begins is soon forgotten."""

    def __init__(self, tally: Tally, conversation: Measured) -> None:
        self._tally = tally
        self._conversation = conversation
        self._before = conversation.metrics
        self._asked_at: int | None = None  # the newest reply: there is never more than one
        self._watchers = conversation.engine.watchers
        self._watchers.append(self.see)
        bus = conversation.engine.bus
        self._offs = (
            bus.on(sg.StateEntered, self._note_state),
            bus.on(sg.TurnCompleted, self._note_turn),
            bus.on(sg.TurnInterrupted, self._note_turn),
            bus.on(sg.WorkEnded, self._note_work),
            bus.on(sg.Failed, self._note_fault),
            bus.on(sg.Problem, self._note_problem),
            bus.on(sg.Ended, self._note_end),
        )
        if conversation.phase != "idle":
            tally.begin(self)

    @property
    def phase(self) -> str:
        return self._conversation.phase

    def counts(self) -> Counter[str]:
        """What it has counted since it is watched."""
        before, now = self._before._asdict(), self._conversation.metrics._asdict()
        return Counter({key: now[key] - before[key] for key, _, _ in _COUNTS})

    def stop(self) -> None:
        for off in self._offs:
            off()
        if self.see in self._watchers:
            self._watchers.remove(self.see)
        self._tally.end(self)

    # -- What happens

    def see(self, record: StepRecord) -> None:
        if record.after is record.before:
            return
        event = record.event
        if type(event) is TokenArrived:
            self._note_wait(self._tally.first_token, event.at)
        for effect in record.effects:
            match effect:
                case StartReply():
                    self._asked_at = event.at
                case StartPlayback():
                    self._note_wait(self._tally.first_audio, event.at)

    def _note_wait(self, times: Histogram, at: int) -> None:
        if self._asked_at is not None:  # else it was asked before anybody watched
            times.add(at - self._asked_at)

    def _note_state(self, signal: sg.StateEntered) -> None:
        if signal.view == PHASE.name and signal.state != "idle":
            self._tally.begin(self)

    def _note_turn(self, signal: sg.TurnCompleted | sg.TurnInterrupted) -> None:
        self._tally.turns[signal.turn.role].add(signal.turn.duration_ms)

    def _note_work(self, signal: sg.WorkEnded) -> None:
        self._tally.calls[signal.outcome] += 1

    def _note_fault(self, signal: sg.Failed) -> None:
        self._tally.faults[signal.part.value, signal.error.value] += 1

    def _note_problem(self, signal: sg.Problem) -> None:
        self._tally.problems[first_word(signal.where)] += 1

    def _note_end(self, _ended: sg.Ended) -> None:
        self.stop()


class Histogram:
    """How often something took how long, up to each bound and in all."""

    def __init__(self, bounds_ms: tuple[int, ...]) -> None:
        self._bounds_ms = bounds_ms
        self._counts = [0] * (len(bounds_ms) + 1)
        self._sum_ms = 0

    def add(self, ms: int) -> None:
        self._counts[bisect_left(self._bounds_ms, ms)] += 1
        self._sum_ms += ms

    def samples(self, name: str, labels: Labels) -> Iterator[str]:
        bounds = (*(str(bound_ms / 1000) for bound_ms in self._bounds_ms), "+Inf")
        total = 0
        for bound, count in zip(bounds, self._counts, strict=True):
            total += count
            yield _sample(f"{name}_bucket", total, {**labels, "le": bound})
        yield _sample(f"{name}_sum", self._sum_ms / 1000, labels)
        yield _sample(f"{name}_count", total, labels)


# -- The format


class _Family(NamedTuple):
    """All series of one name."""

    name: str
    kind: str
    told: str
    samples: list[str]

    def lines(self) -> Iterator[str]:
        told = self.told.replace("\\", r"\\").replace("\n", r"\n")
        yield f"# HELP {self.name} {told}"
        yield f"# TYPE {self.name} {self.kind}"
        yield from self.samples


def _counter(name: str, told: str, values: Iterable[tuple[int, Labels]]) -> _Family:
    return _Family(name, "counter", told, [_sample(name, value, labels) for value, labels in values])


def _sample(name: str, value: float, labels: Labels | None = None) -> str:
    told = ",".join(f'{key}="{_escaped(text)}"' for key, text in (labels or {}).items())
    return f"{name}{{{told}}} {value}" if told else f"{name} {value}"


def _escaped(text: str) -> str:
    return text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
