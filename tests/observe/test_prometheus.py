"""The text for Prometheus is well-formed and agrees with the conversations' own metrics."""

from __future__ import annotations

import math
import re
from typing import Any

import pytest

from duologue import Agent, ToolCall
from duologue.core.events import TokenArrived
from duologue.core.leaves import ErrorClass
from duologue.core.settings import profile
from duologue.core.views import PHASES
from duologue.lines.scripted import ScriptedLine
from duologue.observe import signals as sg
from duologue.observe.metrics import Metrics
from duologue.observe.prometheus import CONTENT_TYPE, Histogram, Tally
from duologue.runtime.conversation import Conversation, StartRefused
from duologue.runtime.seats import Seats
from duologue.testing import Call, Delay, Fail, Hang, ScriptedBrain, ScriptedVoice, run_simulated, scripted_tool

# -- A reader of the text format, written from its description and not from the writer

_NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
_SAMPLE = re.compile(rf"({_NAME})(?:\{{(.*)\}})? (\S+)")
_LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"(?:,|$)')
_UNESCAPED = {r"\\": "\\", r"\"": '"', r"\n": "\n"}

Series = tuple[str, frozenset[tuple[str, str]]]


class Scraped:
    """A scraped text, read strictly: anything that the format forbids fails."""

    def __init__(self, text: str) -> None:
        assert text.endswith("\n")
        self.kinds: dict[str, str] = {}
        self.values: dict[Series, float] = {}
        helped: set[str] = set()
        for line in text.splitlines():
            if line.startswith("# HELP "):
                name, told = line.removeprefix("# HELP ").split(" ", 1)
                assert name not in helped
                assert told
                helped.add(name)
            elif line.startswith("# TYPE "):
                name, kind = line.removeprefix("# TYPE ").split(" ")
                assert name in helped
                assert name not in self.kinds
                self.kinds[name] = kind
            else:
                self.read_sample(line, name)

    def read_sample(self, line: str, family: str) -> None:
        found = _SAMPLE.fullmatch(line)
        assert found, line
        name, inside, number = found.groups()
        suffixes = ("_bucket", "_sum", "_count") if self.kinds[family] == "histogram" else ("",)
        assert name in {family + suffix for suffix in suffixes}, f"{line} is not of the family {family}"
        labels, end = {}, 0
        while inside and end < len(inside):
            label = _LABEL.match(inside, end)
            assert label, line
            assert label[1] not in labels
            labels[label[1]] = re.sub(r"\\.", lambda found: _UNESCAPED[found[0]], label[2])
            end = label.end()
        series = (name, frozenset(labels.items()))
        assert series not in self.values, f"{line} is there twice"
        self.values[series] = math.inf if number == "+Inf" else float(number)

    def __call__(self, name: str, **labels: str) -> float:
        return self.values[name, frozenset(labels.items())]

    def all(self, name: str) -> dict[frozenset[tuple[str, str]], float]:
        return {labels: value for (of, labels), value in self.values.items() if of == name}


def scrape(tally: Tally) -> Scraped:
    return Scraped(tally.text())


# -- Calls to count


def busy_agent() -> Agent:
    replies: list[Any] = [
        ["Let me look.", ToolCall("look"), ToolCall("break"), ToolCall("kumquat the thing")],
        "I have found a great many things that are all worth being told at length.",
        Fail(ErrorClass.SERVER_ERROR),
        "Well then.",
        Fail(ErrorClass.UNKNOWN),
    ]
    tools = [scripted_tool("look", Delay(2_000)), scripted_tool("break", Fail(ErrorClass.TOOL_ERROR))]
    return Agent(ScriptedBrain(replies, first_ms=300), tools=tools, voice=ScriptedVoice(first_ms=100))


def hold_busy_call(call: Call) -> None:
    call.user("find it please").waits(4_000)
    call.interrupts("no not that", after_ms=700)
    call.user("something else").settles()
    call.waits(15_000)


# -- The text


def test_the_text_is_well_formed_before_anything_happened() -> None:
    text = scrape(Tally())
    assert CONTENT_TYPE.startswith("text/plain; version=0.0.4")
    assert text("duologue_conversations_active") == 0
    assert text("duologue_tool_calls_total", outcome="done") == 0
    assert text("duologue_first_audio_seconds_count") == 0


@pytest.fixture(scope="module")
def busy() -> tuple[Scraped, Metrics, Call]:
    tally = Tally()
    with Call(busy_agent(), own_voice=True) as call:
        tally.watch(call.conversation)
        hold_busy_call(call)
    return scrape(tally), call.conversation.metrics, call


def test_counters_end_in_total_and_nothing_else_does(busy: tuple[Scraped, Metrics, Call]) -> None:
    kinds = busy[0].kinds
    assert set(kinds.values()) == {"counter", "gauge", "histogram"}
    assert all(name.startswith("duologue_") for name in kinds)
    assert all((kind == "counter") == name.endswith("_total") for name, kind in kinds.items())


def test_histograms_are_cumulative_and_complete(busy: tuple[Scraped, Metrics, Call]) -> None:
    text = busy[0]
    for name in (name for name, kind in text.kinds.items() if kind == "histogram"):
        by_rest: dict[frozenset[tuple[str, str]], list[tuple[float, float]]] = {}
        for labels, value in text.all(f"{name}_bucket").items():
            rest = frozenset(pair for pair in labels if pair[0] != "le")
            bound = dict(labels)["le"]
            by_rest.setdefault(rest, []).append((math.inf if bound == "+Inf" else float(bound), value))
        assert by_rest
        for rest, buckets in by_rest.items():
            bounds, values = zip(*buckets, strict=True)
            assert list(bounds) == sorted(set(bounds)), "the bounds increase"
            assert list(values) == sorted(values)
            assert bounds[-1] == math.inf
            assert values[-1] == text.values[f"{name}_count", rest]


@pytest.mark.req("L-22")
def test_the_numbers_are_those_that_the_conversation_counted(busy: tuple[Scraped, Metrics, Call]) -> None:
    text, metrics, _ = busy
    assert metrics.interrupted == 1
    assert metrics.turns == text("duologue_turns_total") == 3
    assert metrics.requests == text("duologue_requests_total")
    assert metrics.interrupted / metrics.sounds == text("duologue_interruptions_total") / text("duologue_sounds_total")
    assert metrics.calls_done == text("duologue_tool_calls_total", outcome="done") == 1
    assert metrics.calls_failed == text("duologue_tool_calls_total", outcome="failed") == 2
    assert metrics.errors == text("duologue_faults_total", part="brain", error="UNKNOWN") == 1
    assert metrics.turns_lost == text("duologue_lost_turns_total") == 1
    for name, mean_ms in (("token", metrics.first_token_ms), ("audio", metrics.first_audio_ms)):
        times = f"duologue_first_{name}_seconds"
        assert text(f"{times}_sum") / text(f"{times}_count") == pytest.approx(mean_ms / 1000)  # type: ignore[operator]


def test_a_problem_is_counted_by_its_place(busy: tuple[Scraped, Metrics, Call]) -> None:
    places = busy[0].all("duologue_problems_total")
    assert places == {frozenset({("where", "tool")}): 2, frozenset({("where", "brain")}): 2}


def test_nothing_that_a_model_made_up_becomes_a_label(busy: tuple[Scraped, Metrics, Call]) -> None:
    text, _, call = busy
    assert "kumquat" in repr(call.history)
    assert not [series for series in text.values if "kumquat" in repr(series)]


def test_waits_fall_into_the_bucket_that_they_do_not_exceed() -> None:
    tally = Tally()
    agent = Agent(ScriptedBrain(["Yes.", "No."], first_ms=300), voice=ScriptedVoice(first_ms=1))
    with Call(agent, own_voice=True) as call:
        tally.watch(call.conversation)
        call.user("well").settles()
    text = scrape(tally)
    assert text("duologue_first_token_seconds_bucket", le="0.2") == 0
    assert text("duologue_first_token_seconds_bucket", le="0.3") == 1
    assert text("duologue_first_audio_seconds_bucket", le="0.3") == 0
    assert text("duologue_first_audio_seconds_bucket", le="0.5") == 1
    assert text("duologue_first_audio_seconds_sum") == 0.301


def test_turns_of_both_sides_are_timed() -> None:
    tally = Tally()
    with Call(Agent(ScriptedBrain(["Right away."]))) as call:
        tally.watch(call.conversation)
        call.user("book it").settles()
    text = scrape(tally)
    turns = [signal.turn for signal in call.signals if isinstance(signal, sg.TurnCompleted)]
    for turn in turns:
        assert text("duologue_turn_seconds_sum", role=turn.role) == turn.duration_ms / 1000
        assert text("duologue_turn_seconds_count", role=turn.role) == 1
    assert [turn.role for turn in turns] == ["user", "assistant"]


def test_labels_are_escaped() -> None:
    tally, nasty = Tally(), 'a"b\\c\nd'
    with Call(Agent(ScriptedBrain())) as call:
        tally.watch(call.conversation)
        call.conversation.engine.bus.send(sg.Problem(0, nasty, "x"))
    assert r'{where="a\"b\\c\nd"} 1' in tally.text()
    assert scrape(tally)("duologue_problems_total", where=nasty) == 1


def test_a_histogram_of_nothing_has_no_sum() -> None:
    assert list(Histogram((10,)).samples("x", {})) == [
        'x_bucket{le="0.01"} 0',
        'x_bucket{le="+Inf"} 0',
        "x_sum 0.0",
        "x_count 0",
    ]


# -- What else is counted


def test_check_ins_are_counted() -> None:
    tally = Tally()
    with Call(Agent(ScriptedBrain(["Yes."]), profile=profile("confirm", dead_air_ms=5_000))) as call:
        tally.watch(call.conversation)
        call.user("hello there").settles()
        call.waits(7_000)
    assert scrape(tally)("duologue_check_ins_total") == 1


def agent_with_hanging_tool(jobs_max: int) -> Agent:
    brain = ScriptedBrain([[ToolCall("hang")], "Too bad."])
    return Agent(brain, tools=[scripted_tool("hang", Hang())], profile=profile("confirm", jobs_max=jobs_max))


@pytest.mark.parametrize(
    ("outcome", "jobs_max", "wait_ms"), [("timed_out", 8, 40_000), ("refused", 0, 1_000), ("cancelled", 8, 1_000)]
)
def test_calls_are_counted_by_how_they_ended(outcome: str, jobs_max: int, wait_ms: int) -> None:
    tally = Tally()
    with Call(agent_with_hanging_tool(jobs_max)) as call:
        tally.watch(call.conversation)
        call.user("hello there").waits(wait_ms)
    calls = scrape(tally).all("duologue_tool_calls_total")
    assert {dict(labels)["outcome"]: count for labels, count in calls.items() if count} == {outcome: 1}


# -- Many conversations


def test_any_number_of_conversations_feed_one_tally() -> None:
    tally = Tally()
    with Call(Agent(ScriptedBrain([Hang()]))) as first, Call(Agent(ScriptedBrain([Hang()]))) as second:
        tally.watch(first.conversation)
        tally.watch(second.conversation)
        assert scrape(tally)("duologue_conversations_in_phase", phase="listening") == 2
        first.user("hello there").waits(100)
        text = scrape(tally)
        assert text("duologue_conversations_active") == 2
        phases = {phase: text("duologue_conversations_in_phase", phase=phase) for phase in PHASES}
        assert {phase: count for phase, count in phases.items() if count} == {"listening": 1, "thinking": 1}
        second.user("hello there").waits(100)
        assert scrape(tally)("duologue_requests_total") == 2
    text = scrape(tally)
    assert text("duologue_conversations_active") == 0
    assert sum(text.all("duologue_conversations_in_state").values()) == 0
    assert text("duologue_conversations_total") == text("duologue_requests_total") == 2


def test_what_was_counted_never_gets_less() -> None:
    tally, seen = Tally(), 0.0
    for _ in range(3):
        with Call(Agent(ScriptedBrain(["Yes."]))) as call:
            tally.watch(call.conversation)
            call.user("hello there").settles()
            assert scrape(tally)("duologue_turns_total") == seen + 1
        seen = scrape(tally)("duologue_turns_total")
    assert seen == 3


def test_stopping_keeps_what_was_counted_and_watching_again_counts_nothing_twice() -> None:
    tally = Tally()
    with Call(Agent(ScriptedBrain(["One.", "Two.", "Three."]))) as call:
        stop = tally.watch(call.conversation)
        call.user("hello there").settles()
        stop()
        call.user("nobody counts this").settles()
        assert scrape(tally)("duologue_turns_total") == 1
        assert scrape(tally)("duologue_conversations_active") == 0
        tally.watch(call.conversation)
        call.user("and once more").settles()
        assert scrape(tally)("duologue_turns_total") == 2
    assert scrape(tally)("duologue_first_audio_seconds_count") == 2


def test_a_reply_that_was_requested_before_watching_began_is_not_timed() -> None:
    tally = Tally()
    with Call(Agent(ScriptedBrain(["Yes."], first_ms=500))) as call:
        call.user("hello there").waits(100)
        tally.watch(call.conversation)
        call.settles()
    text = scrape(tally)
    assert text("duologue_first_audio_seconds_count") == 0
    assert text("duologue_sounds_total") == 1
    assert not text.all("duologue_problems_total")


def test_what_the_machine_ignores_counts_for_nothing() -> None:
    tally = Tally()
    with Call(Agent(ScriptedBrain([["Yes.", Delay(500), "No."]], first_ms=300))) as call:
        tally.watch(call.conversation)
        call.user("hello there").waits(400)
        reply = call.conversation.machine_state.reply_id
        call.does(lambda: call.conversation.transition(TokenArrived, reply=reply))
        call.settles()
    assert scrape(tally)("duologue_first_token_seconds_count") == 1


def test_a_conversation_that_never_begins_is_not_counted() -> None:
    async def refused() -> Tally:
        tally, line = Tally(), ScriptedLine()
        line.primed = False
        conversation = Conversation(Agent(ScriptedBrain()), line, seats=Seats())
        tally.watch(conversation)
        with pytest.raises(StartRefused):
            await conversation.start()
        return tally

    text = scrape(run_simulated(refused()))
    assert text("duologue_conversations_total") == text("duologue_conversations_active") == 0


def test_a_conversation_that_is_watched_before_it_begins_is_counted_once_it_does() -> None:
    async def whole() -> tuple[Scraped, Scraped]:
        tally = Tally()
        conversation = Conversation(Agent(ScriptedBrain()), ScriptedLine(open_ms=200), seats=Seats())
        tally.watch(conversation)
        async with conversation:
            during = scrape(tally)
        return during, scrape(tally)

    during, after = run_simulated(whole())
    assert during("duologue_conversations_active") == during("duologue_conversations_total") == 1
    assert after("duologue_conversations_active") == 0
