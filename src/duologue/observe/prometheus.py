"""The metrics of many conversations in the Prometheus text format 0.0.4.

One `Tally` watches all conversations of a process. Rule: a label value is a name from Duologue's own code. It is never
a spoken word, the name of a tool or an id. So the number of series is bounded. The only exceptions are the names of
service providers; after PROVIDERS_MAX of them, further providers share one label value.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple, Protocol, TypeAlias

from duologue.core.leaves import Outcome
from duologue.core.step_record import StepRecord
from duologue.core.views import PHASE, PHASES
from duologue.ports.usage_report import UNITS

from . import signals as sg
from .answer_wait import AnswerWait
from .diagnostics import WatchedConversation, first_word
from .metrics import Metrics

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

PROVIDERS_MAX = 30
_WAIT_MS = (50, 100, 200, 300, 500, 750, 1_000, 1_500, 2_000, 3_000, 5_000, 8_000)
_TURN_MS = (500, 1_000, 2_000, 5_000, 10_000, 20_000, 30_000, 60_000, 120_000)
_ENDS = (Outcome.DONE, Outcome.FAILED, Outcome.TIMED_OUT, Outcome.CANCELLED, Outcome.REFUSED)

# Fields of Metrics, with the name and help text of their counters.
_COUNTS: tuple[tuple[str, str, str], ...] = (
    ("turns", "duologue_turns_total", "Complete turns of the person with words."),
    ("requests", "duologue_requests_total", "Requests to the brain, including retries."),
    ("sounds", "duologue_sounds_total", "Replies that began to play."),
    ("interrupted", "duologue_interruptions_total", "Replies that the person or the program interrupted."),
    ("check_ins", "duologue_check_ins_total", "Check-ins of the agent after silence."),
    ("turns_lost", "duologue_lost_turns_total", "Turns that were reported to the person as unanswered."),
    ("early", "duologue_early_requests_total", "Requests sent before the turn was certain to be over."),
    ("early_used", "duologue_early_requests_used_total", "Early requests whose answers were used."),
    ("early_dropped", "duologue_early_requests_dropped_total", "Early requests that were dropped unheard."),
    ("early_ms", "duologue_early_milliseconds_total", "How much earlier the early requests that were used were sent."),
    ("overheard", "duologue_overheard_turns_total", "Turns that were recorded but not answered."),
    ("switches", "duologue_service_switches_total", "Switches to another service, because one failed or was slow."),
)

Labels: TypeAlias = dict[str, str]


class Measured(WatchedConversation, Protocol):
    """A conversation that has metrics."""

    @property
    def metrics(self) -> Metrics: ...


class Tally:
    """Collects the metrics of the conversations that it watches."""

    def __init__(self) -> None:
        self._feeds: list[_Feed] = []  # one for each running conversation
        self._begun = 0
        self._past: Counter[str] = Counter()  # the counts of conversations that are over
        self.calls: Counter[Outcome] = Counter()
        self.faults: Counter[tuple[str, str]] = Counter()  # by part and error class
        self.problems: Counter[str] = Counter()
        self.used: Counter[tuple[str, str, str]] = Counter()  # by part, provider and unit
        self.first_token = Histogram(_WAIT_MS)
        self.first_audio = Histogram(_WAIT_MS)
        self.turns = {"user": Histogram(_TURN_MS), "assistant": Histogram(_TURN_MS)}

    def watch(self, conversation: Measured) -> Callable[[], None]:
        """Count what happens in this conversation from now to its end. Returns a function that stops the counting; the
        counts so far are kept."""
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
        """All metrics as text, for the answer to a Prometheus scrape. Send the text with the content type
        CONTENT_TYPE."""
        return "".join(f"{line}\n" for family in self._families() for line in family.lines())

    def _families(self) -> Iterator[_Family]:
        yield from self._conversations()
        counts = sum((feed.counts() for feed in self._feeds), self._past.copy())
        for key, name, help_text in _COUNTS:
            yield _Family(name, "counter", help_text, [_sample(name, counts[key])])
        yield _counter(
            "duologue_tool_calls_total",
            "Tool calls that ended, by outcome.",
            ((self.calls[outcome], {"outcome": outcome.value}) for outcome in _ENDS),
        )
        yield _counter(
            "duologue_faults_total",
            "Faults that were shown to the person.",
            ((count, {"part": part, "error": error}) for (part, error), count in sorted(self.faults.items())),
        )
        yield _counter(
            "duologue_problems_total",
            "Problems that didn't end their conversation, by place.",
            ((count, {"where": where}) for where, count in sorted(self.problems.items())),
        )
        yield _counter(
            "duologue_usage_total",
            "What services used: tokens, characters and milliseconds of sound, by part, provider and unit.",
            (
                (count, {"part": part, "provider": provider, "unit": unit})
                for (part, provider, unit), count in sorted(self.used.items())
            ),
        )
        yield from self._times()

    def _conversations(self) -> Iterator[_Family]:
        name, phases = "duologue_conversations_total", Counter(feed.phase for feed in self._feeds)
        yield _Family(name, "counter", "Conversations that have begun.", [_sample(name, self._begun)])
        name = "duologue_conversations_active"
        yield _Family(name, "gauge", "Running conversations.", [_sample(name, len(self._feeds))])
        name = "duologue_conversations_in_phase"
        samples = [_sample(name, phases[phase], {"phase": phase}) for phase in PHASES]
        yield _Family(name, "gauge", "Running conversations by phase.", samples)

    def _times(self) -> Iterator[_Family]:
        name = "duologue_first_token_seconds"
        help_text = "From the first request for an answer to its first token."
        yield _Family(name, "histogram", help_text, list(self.first_token.samples(name, {})))
        name = "duologue_first_audio_seconds"
        help_text = "From the first request for an answer to its first audio."
        yield _Family(name, "histogram", help_text, list(self.first_audio.samples(name, {})))
        name = "duologue_turn_seconds"
        help_text = (
            "Duration of turns. A turn of the person includes the silence at its end. "
            "An interrupted turn counts as far as it was heard."
        )
        turns = [line for role, times in self.turns.items() for line in times.samples(name, {"role": role})]
        yield _Family(name, "histogram", help_text, turns)


class _Feed:
    """Passes the counts of one conversation to a tally. The tally refers to the feed only while the conversation runs,
    so that the feed of a conversation that never begins is garbage-collected."""

    def __init__(self, tally: Tally, conversation: Measured) -> None:
        self._tally = tally
        self._conversation = conversation
        self._before = conversation.metrics
        self._wait = AnswerWait()  # of the requests since the tally began to watch
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
            bus.on(sg.Used, self._note_used),
            bus.on(sg.Ended, self._note_end),
        )
        if conversation.phase != "idle":
            tally.begin(self)

    @property
    def phase(self) -> str:
        return self._conversation.phase

    def counts(self) -> Counter[str]:
        """The counts of this conversation since the tally began to watch it."""
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
        waited = self._wait.follow(record)
        if waited.token_ms is not None:
            self._tally.first_token.add(waited.token_ms)
        if waited.audio_ms is not None:
            self._tally.first_audio.add(waited.audio_ms)

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

    def _note_used(self, signal: sg.Used) -> None:
        used = self._tally.used
        providers = {provider for _, provider, _ in used}
        provider = signal.provider if signal.provider in providers or len(providers) < PROVIDERS_MAX else "other"
        for unit in UNITS:
            if amount := getattr(signal, unit):
                used[signal.part, provider, unit] += amount

    def _note_end(self, _ended: sg.Ended) -> None:
        self.stop()


class Histogram:
    """A Prometheus histogram of durations."""

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
    """All series (sequences of values) with the same metric name."""

    name: str
    kind: str
    help_text: str
    samples: list[str]

    def lines(self) -> Iterator[str]:
        help_text = self.help_text.replace("\\", r"\\").replace("\n", r"\n")
        yield f"# HELP {self.name} {help_text}"
        yield f"# TYPE {self.name} {self.kind}"
        yield from self.samples


def _counter(name: str, help_text: str, values: Iterable[tuple[int, Labels]]) -> _Family:
    return _Family(name, "counter", help_text, [_sample(name, value, labels) for value, labels in values])


def _sample(name: str, value: float, labels: Labels | None = None) -> str:
    pairs = ",".join(f'{key}="{_escaped(text)}"' for key, text in (labels or {}).items())
    return f"{name}{{{pairs}}} {value}" if pairs else f"{name} {value}"


def _escaped(text: str) -> str:
    return text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
