"""The spans of a conversation: their tree, times and errors, and that every span is ended."""

from __future__ import annotations

import asyncio
import sys
from collections import Counter
from collections.abc import AsyncIterator, Callable
from typing import Any, NamedTuple

import pytest

pytest.importorskip("opentelemetry.sdk", reason="pip install 'duologue[otel]'")

from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import NoOpTracer, StatusCode

from duologue import Agent, ToolCall
from duologue.core.leaves import ErrorClass
from duologue.core.settings import profile
from duologue.lines.scripted import ScriptedLine
from duologue.observe import signals as sg
from duologue.observe.diagnostics import correlation_id
from duologue.observe.telemetry import trace
from duologue.ports.line import Unplayable
from duologue.ports.sound import Sound
from duologue.ports.usage_report import report_usage
from duologue.runtime.conversation import Conversation, StartRefused
from duologue.runtime.seats import Seats
from duologue.testing import (
    Call,
    Delay,
    Fail,
    Hang,
    Progress,
    ScriptedBrain,
    ScriptedVoice,
    run_simulated,
    scripted_tool,
)

NOON_NS = 1_800_000_000 * 10**9
LONG = "This is a long story that goes on and on until somebody has had enough of it."


class ReadSpan(NamedTuple):
    """A span in a form that is easy to compare: times are the conversation's milliseconds."""

    name: str
    parent: str | None
    start: int
    end: int
    attributes: dict[str, Any]
    error: str | None
    events: list[tuple[str, int, dict[str, Any]]]

    def __getitem__(self, name: Any) -> Any:
        return self.attributes.get(name if "." in name else f"duologue.{name}")


class Counting(SpanProcessor):
    """Counts the spans that were started and ended."""

    def __init__(self) -> None:
        self.begun = self.ended = 0

    def on_start(self, span: Any, parent_context: Any = None) -> None:
        self.begun += 1

    def on_end(self, span: ReadableSpan) -> None:
        self.ended += 1


class Kit:
    """A tracer and the spans that it made."""

    def __init__(self) -> None:
        self.exporter = InMemorySpanExporter()
        self.counting = Counting()
        self.provider = TracerProvider()
        self.provider.add_span_processor(SimpleSpanProcessor(self.exporter))
        self.provider.add_span_processor(self.counting)
        self.tracer = self.provider.get_tracer("test")

    def trace(self, conversation: Conversation) -> Callable[[], None]:
        return trace(conversation, self.tracer, wall_clock_ns=lambda: NOON_NS)

    def spans(self) -> list[ReadSpan]:
        """The spans in the order of their start, outer ones first, without those of STT and TTS."""
        return [span for span in self.all_spans() if span.name not in ("stt", "tts")]

    def all_spans(self) -> list[ReadSpan]:
        spans = self.exporter.get_finished_spans()
        names = {span.context.span_id: span.name for span in spans if span.context}
        found = [read_span(span, names) for span in spans]
        return sorted(found, key=lambda span: (span.start, -span.end, span.name != "conversation"))

    def named(self, name: str) -> list[ReadSpan]:
        return [span for span in self.all_spans() if span.name == name]


def read_span(span: ReadableSpan, names: dict[int, str]) -> ReadSpan:
    assert span.start_time is not None
    assert span.end_time is not None
    error = span.status.description if span.status.status_code is StatusCode.ERROR else None
    events = [(event.name, _ms(event.timestamp), dict(event.attributes or {})) for event in span.events]
    parent = names.get(span.parent.span_id) if span.parent else None
    times = _ms(span.start_time), _ms(span.end_time)
    return ReadSpan(span.name, parent, *times, dict(span.attributes or {}), error, events)


def _ms(time_ns: int) -> int:
    ms, rest = divmod(time_ns - NOON_NS, 1_000_000)
    assert rest == 0, "a time that no step has"
    return ms


@pytest.fixture
def kit() -> Kit:
    return Kit()


def call_with(kit: Kit, *replies: Any, tools: Any = (), **settings: Any) -> Call:
    """A call to an agent that thinks for 300 ms and whose voice needs 100 ms."""
    brain, voice = ScriptedBrain(replies, first_ms=300), ScriptedVoice(first_ms=100)
    call = Call(Agent(brain, tools=tools, voice=voice, profile=profile("confirm", **settings)), own_voice=True)
    kit.trace(call.conversation)
    return call


# -- The tree and its times


def test_a_conversation_has_turns_and_a_turn_has_its_reply_and_its_sound(kit: Kit) -> None:
    with call_with(kit, "Right away.", "Bye.") as call:
        call.user("book it").settles()
        call.waits(1_000)
        call.user("good bye").settles()
    tree = [(span.name, span.parent) for span in kit.spans()]
    turn = [("turn", "conversation"), ("reply", "turn"), ("voice", "turn")]
    assert tree == [("conversation", None), *turn, *turn]


def test_spans_last_as_long_as_things_took_in_simulated_time(kit: Kit) -> None:
    with call_with(kit, "Right away.") as call:
        call.user("book it").settles()
        call.waits(1_000)
    whole, turn, reply, voice = kit.spans()
    spoken_ms = call.signals[-1].at - 1_000 - 1_300  # the person needs 500 ms and 400 of silence, the agent 400
    assert (turn.start, turn.end) == (0, 1_300 + spoken_ms)
    assert (reply.start, reply.end) == (900, turn.end)
    assert (voice.start, voice.end) == (1_300, turn.end)
    assert (whole.start, whole.end) == (0, turn.end + 1_000)
    assert voice["heard_ms"] == spoken_ms == 720


def test_what_was_transcribed_and_each_sentence_are_spans_with_their_times(kit: Kit) -> None:
    with call_with(kit, "Right away. It is done.") as call:
        call.user("book it").settles()
    (stt,) = kit.named("stt")
    assert (stt.parent, stt.start, stt["turn"]) == ("conversation", 0, 1)
    assert stt["text_ms"] == stt.end - 500  # the person speaks for 500 ms
    first, second = kit.named("tts")
    assert {span.parent for span in (first, second)} == {"turn"}
    assert (first["characters"], first["provider"]) == (len("Right away."), "ScriptedVoice")
    assert second.start >= first.end
    assert first["spoken_ms"] > 0


def test_the_tokens_of_a_reply_are_attributes_of_its_span(kit: Kit) -> None:
    async def brain(_: object) -> AsyncIterator[str]:
        yield "Yes."
        report_usage("llm", "api.example.com", "small", input_tokens=12, output_tokens=3)

    with Call(brain) as call:
        kit.trace(call.conversation)
        call.user("book it").settles()
    (reply,) = kit.named("reply")
    assert (reply["provider"], reply["model"], reply["input_tokens"]) == ("api.example.com", "small", 12)


def test_the_waits_for_a_reply_are_attributes(kit: Kit) -> None:
    with call_with(kit, "Right away.") as call:
        call.user("book it").settles()
    (reply,) = kit.named("reply")
    assert (reply["ttft_ms"], reply["ttfa_ms"], reply["outcome"]) == (300, 400, "finished")
    assert call.conversation.metrics.first_audio_ms == 400


def test_the_wall_clock_is_read_once() -> None:
    kit, reads = Kit(), []
    with Call(Agent(ScriptedBrain(["Right away."]))) as call:
        call.waits(2_500)
        trace(call.conversation, kit.tracer, wall_clock_ns=lambda: reads.append(1) or NOON_NS)  # type: ignore[func-returns-value]
        call.user("book it").settles()
    assert reads == [1]
    assert kit.spans()[0].start == 0  # what was 2.5 s into the conversation is now, on the wall


def test_a_tool_is_a_child_of_the_turn_that_called_it_and_the_answer_belongs_to_it(kit: Kit) -> None:
    look = scripted_tool("look", Delay(2_000), "found")
    with call_with(kit, [ToolCall("look")], "It is there.", tools=[look]) as call:
        call.user("find it").settles()
        call.waits(5_000)
    whole, turn, first, tool, second, voice = kit.spans()
    assert [span.name for span in (first, tool, second, voice)] == ["reply", "tool", "reply", "voice"]
    assert {span.parent for span in (first, tool, second, voice)} == {"turn"}
    assert tool.end - tool.start == 2_000
    assert (tool["tool"], tool["mode"], tool["outcome"]) == ("look", "tool", "done")
    assert (first["outcome"], second["outcome"], turn["outcome"]) == ("finished", "finished", "answered")
    assert second.start == tool.end
    assert turn.end == voice.end < whole.end


@pytest.mark.parametrize("tool_ms", [100, 5_000], ids=["ends before the sound", "ends after the sound"])
def test_a_turn_goes_on_until_the_call_that_it_announced_has_its_answer(kit: Kit, tool_ms: int) -> None:
    look = scripted_tool("look", Delay(tool_ms))
    with call_with(kit, ["Let me look at that.", ToolCall("look")], "There it is.", tools=[look]) as call:
        call.user("find it").waits(10_000)
    (turn,) = kit.named("turn")
    assert [span.parent for span in kit.named("reply")] == ["turn", "turn"]
    assert turn.end == kit.named("voice")[1].end


def test_what_is_said_during_a_call_is_a_separate_turn(kit: Kit) -> None:
    look = scripted_tool("look", Delay(5_000))
    with call_with(kit, [f"I look. {LONG}", ToolCall("look")], "There it is.", tools=[look], dead_air_ms=0) as call:
        call.user("find it").interrupts("make it two", after_ms=500).waits(15_000)
    first, second = kit.named("turn")
    (tool,) = kit.named("tool")
    assert first["outcome"] == "interrupted"
    assert second["outcome"] == "answered"
    assert second.start < tool.end <= first.end < second.end


def test_a_job_in_the_background_outlives_its_turn_and_its_news_is_a_turn_of_the_agent(kit: Kit) -> None:
    job = scripted_tool("research", Delay(20_000), "all of it", mode="dispatch")
    with call_with(kit, [ToolCall("research")], "I am on it.", "Here it is.", tools=[job], dead_air_ms=0) as call:
        call.user("look it up").waits(30_000)
    first, news = kit.named("turn")
    (tool,) = kit.named("tool")
    assert tool.parent == "turn"
    assert tool.start < first.end < tool.end
    assert tool.end - tool.start == 20_000
    assert (first["by"], news["by"]) == ("person", "agent")
    assert tool.end <= news.start <= tool.end + 1


def test_a_cough_is_not_a_turn_and_does_not_make_the_next_one_longer(kit: Kit) -> None:
    with call_with(kit, "Right away.", dead_air_ms=0) as call:
        call.coughs().waits(30_000)
        began_at = call.now_ms
        call.user("book it").settles()
    (turn,) = kit.named("turn")
    assert turn.start == began_at


def test_a_check_in_is_a_turn_of_the_agent(kit: Kit) -> None:
    with call_with(kit, "Right away.", dead_air_ms=5_000) as call:
        call.user("book it").settles()
        call.waits(7_000)
    turn, check_in = kit.named("turn")
    assert (turn["by"], turn["ask"]) == ("person", "answer")
    assert (check_in["by"], check_in["ask"]) == ("agent", "check_in")
    assert check_in.end == kit.named("voice")[1].end, "it lasts until it was heard"


def test_states_are_events_of_the_turn_in_which_they_come(kit: Kit) -> None:
    with call_with(kit, "Right away.") as call:
        call.user("book it").settles()
    (turn,) = kit.named("turn")
    moves = [(attributes["duologue.previous_phase"], attributes["duologue.phase"]) for _, _, attributes in turn.events]
    assert moves == [("user_speaking", "thinking"), ("thinking", "speaking"), ("speaking", "listening")]
    whole = kit.spans()[0]
    assert [attributes["duologue.phase"] for _, _, attributes in whole.events] == ["user_speaking", "ending", "idle"]


def test_the_id_of_the_conversation_is_hashed(kit: Kit) -> None:
    with call_with(kit) as call:
        pass
    assert kit.spans()[0]["conversation"] == correlation_id(call.conversation.id) != call.conversation.id


# -- Interruptions


def test_an_interrupted_sound_and_its_turn_say_so(kit: Kit) -> None:
    with call_with(kit, LONG, "Sorry.") as call:
        call.user("tell me").interrupts("stop that now", after_ms=700).settles()
    cut, whole = kit.named("voice")
    assert (cut["interrupted"], cut["outcome"]) == (True, "interrupted")
    assert cut["heard_ms"] in (700, 710)  # the simulated person looks every 10 ms how much was heard
    assert (whole["interrupted"], whole["outcome"]) == (False, "finished")
    first, second = kit.named("turn")
    assert (first["interrupted"], first["outcome"]) == (True, "interrupted")
    assert (second["interrupted"], second["outcome"]) == (False, "answered")
    assert [name for name, _, _ in cut.events] == ["held", "interrupted"]
    assert second.start == cut.events[0][1], "the next turn began when the person did"
    assert first.error is None


def test_a_line_that_fails_while_it_falls_silent_leaves_an_interruption_what_it_is(kit: Kit) -> None:
    class Stubborn(ScriptedLine):
        def clear(self, voice: int) -> None:
            self.hold(voice)
            failure = Unplayable(voice, ErrorClass.SERVER_ERROR)
            asyncio.get_running_loop().call_later(0.1, self.tell, failure)

    with Call(Agent(ScriptedBrain([LONG, "Sorry."])), line=Stubborn()) as call:
        kit.trace(call.conversation)
        call.user("tell me").interrupts("stop that now", after_ms=700).settles()
    cut = kit.named("voice")[0]
    assert (cut["outcome"], cut.error) == ("interrupted", None)


def test_a_turn_whose_work_is_cancelled_is_cancelled_though_some_of_it_was_heard(kit: Kit) -> None:
    look = scripted_tool("look", Hang())
    with call_with(kit, ["Let me look.", ToolCall("look")], tools=[look]) as call:
        call.user("find it").waits(3_000)
        call.does(lambda: call.conversation.cancel(1))
        call.settles()
    (turn,) = kit.named("turn")
    assert (turn["outcome"], kit.named("tool")[0]["outcome"]) == ("cancelled", "cancelled")


def test_a_turn_that_ends_with_the_call_before_its_answer_is_lost(kit: Kit) -> None:
    with call_with(kit, [ToolCall("look")], tools=[scripted_tool("look", Hang())]) as call:
        call.user("find it").waits(1_000).hangs_up()
    (turn,) = kit.named("turn")
    assert (turn["outcome"], turn.error) == ("lost", None)


def test_a_held_sound_that_goes_on_was_not_interrupted(kit: Kit) -> None:
    with call_with(kit, LONG) as call:
        call.user("tell me").coughs(after_ms=700).settles()
    (voice,) = kit.named("voice")
    assert [name for name, _, _ in voice.events] == ["held", "resumed"]
    assert voice["interrupted"] is False


def test_a_question_that_goes_on_while_it_is_thought_about_stays_one_turn(kit: Kit) -> None:
    with call_with(kit, [Delay(1_000), "A flight."], "A flight to Rome.") as call:
        call.user("book a flight").says("to Rome please").settles()
    (turn,) = kit.named("turn")
    first, second = kit.named("reply")
    assert (first["outcome"], second["outcome"], turn["outcome"]) == ("cancelled", "finished", "answered")


# -- Trouble


def test_each_attempt_has_its_span_and_a_turn_that_was_answered_after_all_is_no_error(kit: Kit) -> None:
    with call_with(kit, Fail(ErrorClass.RATE_LIMIT), Fail(ErrorClass.RATE_LIMIT), "Here.") as call:
        call.user("find it").settles()
    attempts = kit.named("reply")
    assert [(span["attempt"], span["outcome"], span.error) for span in attempts] == [
        (1, "failed", "RATE_LIMIT"),
        (2, "failed", "RATE_LIMIT"),
        (3, "finished", None),
    ]
    assert kit.named("turn")[0].error is None


def test_a_fault_is_an_error_of_the_reply_and_of_the_turn_that_it_lost(kit: Kit) -> None:
    with call_with(kit, Fail(ErrorClass.UNKNOWN), "Here.") as call:
        call.user("find it").waits(15_000)
        call.user("once more").settles()
    reply, lost, turn = kit.named("reply")[0], *kit.named("turn")
    assert (reply.error, reply["error.type"]) == ("UNKNOWN", "UNKNOWN")
    assert (lost.error, lost["outcome"]) == ("UNKNOWN", "lost")
    assert (turn.error, turn["outcome"]) == (None, "answered")
    whole = kit.spans()[0]
    assert whole.error is None, "the conversation went on"
    told = [(name, attributes) for name, _, attributes in whole.events if name != "phase"]
    assert told[0] == ("fault", {"duologue.part": "brain", "duologue.error": "UNKNOWN", "duologue.fatal": False})
    assert [name for name, _ in told[1:]] == ["lost", "dismissed", "recovered"]
    assert told[2][1] == {"duologue.cause": "timer:dismiss"}


def test_a_fault_that_a_retry_recovers_from_leaves_the_turn_without_an_error(kit: Kit) -> None:
    with call_with(kit, Fail(ErrorClass.SERVER_ERROR), Fail(ErrorClass.SERVER_ERROR), "Here.") as call:
        call.user("find it").waits(2_000)
        call.does(call.conversation.retry)
        call.settles().waits(2_000)
    (turn,) = kit.named("turn")
    assert (turn.error, turn["outcome"]) == (None, "answered")
    assert [span.error for span in kit.named("reply")] == ["SERVER_ERROR", "SERVER_ERROR", None]


def test_a_question_that_is_asked_again_after_a_fault_is_one_turn_without_an_error(kit: Kit) -> None:
    with call_with(kit, Fail(ErrorClass.SERVER_ERROR), Fail(ErrorClass.SERVER_ERROR), "Here.") as call:
        call.user("find it").waits(20_000)
    (turn,) = kit.named("turn")
    assert (turn.error, turn["outcome"]) == (None, "answered")
    assert [name for name, _, _ in kit.spans()[0].events if name != "phase"] == [
        "fault",
        "dismissed",
        "recovered",
    ]


def test_a_fault_that_is_dismissed_is_recovered_from_only_once_an_answer_was_heard(kit: Kit) -> None:
    with call_with(kit, Fail(ErrorClass.SERVER_ERROR), Fail(ErrorClass.SERVER_ERROR), "Here.") as call:
        call.user("find it").waits(2_000)
        call.does(call.conversation.dismiss)
        call.waits(5_000)
    told = [(name, attributes) for name, _, attributes in kit.spans()[0].events if name not in ("phase", "cue")]
    assert [name for name, _ in told] == ["fault", "lost", "dismissed"]
    assert told[-1][1] == {"duologue.cause": "DismissRequested"}


def test_a_connection_that_was_lost_without_a_fault_is_not_recovered_from_a_fault(kit: Kit) -> None:
    with call_with(kit, "Here.") as call:
        call.user("find it").settles()
        call.line_drops(2_000).waits(5_000)
        call.user("and now").settles()
    assert "recovered" not in [name for name, _, _ in kit.spans()[0].events]


def test_a_fatal_fault_is_an_error_of_the_whole_conversation(kit: Kit) -> None:
    with call_with(kit, Fail(ErrorClass.AUTH_FAILURE)) as call:
        call.user("find it").waits(2_000)
    assert {span.name: span.error for span in kit.spans()} == dict.fromkeys(
        ("conversation", "turn", "reply"), "AUTH_FAILURE"
    )


def test_a_brain_that_is_too_late_failed(kit: Kit) -> None:
    with call_with(kit, Hang(), "Here.") as call:
        call.user("find it").waits(20_000)
    late, good = kit.named("reply")
    assert (late["outcome"], late.error, late.end - late.start) == ("failed", "NETWORK_TIMEOUT", 8_000)
    assert good.error is None


def test_a_reply_that_breaks_off_while_it_is_heard_failed_though_its_sound_did_not(kit: Kit) -> None:
    with call_with(kit, ["The first half.", Delay(500), Fail(ErrorClass.SERVER_ERROR)]) as call:
        call.user("tell me").settles()
    assert [(span.error, span["outcome"]) for span in kit.named("reply")] == [("SERVER_ERROR", "failed")]
    assert [(span.error, span["outcome"]) for span in kit.named("voice")] == [(None, "finished")]


@pytest.mark.parametrize(
    ("steps", "jobs_max", "outcome", "error"),
    [
        ([Fail(ErrorClass.INVALID_ARGS)], 8, "failed", "INVALID_ARGS"),
        ([Hang()], 8, "timed_out", "TOOL_ERROR"),
        (["done"], 0, "refused", "TOOL_ERROR"),
    ],
)
def test_a_failed_tool_is_an_error_of_its_span_and_not_of_the_turn(
    kit: Kit, steps: list[Any], jobs_max: int, outcome: str, error: str
) -> None:
    with call_with(kit, [ToolCall("look")], "Sorry.", tools=[scripted_tool("look", *steps)], jobs_max=jobs_max) as call:
        call.user("find it").waits(40_000)
    (tool,) = kit.named("tool")
    assert (tool["tool"], tool["outcome"], tool.error) == ("look", outcome, error)
    assert kit.named("turn")[0].error is None


def test_a_line_that_cant_play_is_an_error_of_the_voice(kit: Kit) -> None:
    class Mute(ScriptedLine):
        def play(self, voice: int, chunk: int, sound: Sound) -> None:
            raise OSError("no device")

    with Call(Agent(ScriptedBrain(["Right away."])), line=Mute()) as call:
        kit.trace(call.conversation)
        call.user("book it").waits(2_000)
    (voice,) = kit.named("voice")
    assert (voice["outcome"], voice.error) == ("cut_off", "NETWORK_TIMEOUT")


# -- Nothing is left open


def hang_up_while_it_speaks(call: Call) -> None:
    call.user("tell me")
    call.hears_agent(500)
    call.hangs_up()


def hang_up_while_a_tool_runs(call: Call) -> None:
    call.user("use the tool").waits(1_000).hangs_up()


def hang_up_while_it_thinks(call: Call) -> None:
    call.user("tell me").hangs_up()


def lose_the_line_while_it_speaks(call: Call) -> None:
    call.user("tell me")
    call.hears_agent(500)
    call.line_drops(5_000).settles()


def wobble_while_it_speaks(call: Call) -> None:
    call.user("tell me")
    call.hears_agent(500)
    call.line_drops(500).settles()


def type_over_it(call: Call) -> None:
    call.user("tell me")
    call.hears_agent(500)
    call.does(lambda: call.conversation.type("something else"))
    call.settles()


def interrupt_by_command(call: Call) -> None:
    call.user("tell me")
    call.does(lambda: call.conversation.interrupt())
    call.settles()


def cancel_the_tool(call: Call) -> None:
    call.user("use the tool").waits(1_000)
    call.does(lambda: call.conversation.cancel(1))
    call.settles()


def suspend_and_end(call: Call) -> None:
    call.user("tell me")
    call.hears_agent(500)
    call.does(lambda: call.conversation.suspend())


def talk_until_the_end(call: Call) -> None:
    call.settles()
    call.run(call.person.say("and then I said"))


def run_into_faults(call: Call) -> None:
    while call.conversation.phase != "idle":  # until the breaker opens
        call.user("fail now").waits(8_000)


STORIES = (
    hang_up_while_it_speaks,
    hang_up_while_a_tool_runs,
    hang_up_while_it_thinks,
    lose_the_line_while_it_speaks,
    wobble_while_it_speaks,
    type_over_it,
    interrupt_by_command,
    cancel_the_tool,
    suspend_and_end,
    talk_until_the_end,
    run_into_faults,
)


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.__name__)
def test_no_span_is_left_open_and_none_ends_before_it_begins(story: Callable[[Call], None], kit: Kit) -> None:
    script = {"tool": [ToolCall("work")], "tell": LONG, "fail": Fail(ErrorClass.UNKNOWN)}
    brain = ScriptedBrain(script, first_ms=300)
    agent = Agent(brain, tools=[scripted_tool("work", Progress("x"), Delay(9_000))], voice=ScriptedVoice(first_ms=100))
    with Call(agent, own_voice=True) as call:
        kit.trace(call.conversation)
        story(call)
    assert kit.counting.begun == kit.counting.ended > 0
    spans = kit.spans()
    assert Counter(span.name for span in spans)["conversation"] == 1
    assert {span.parent for span in spans} <= {None, "conversation", "turn"}
    whole = spans[0]
    for span in spans:
        assert whole.start <= span.start <= span.end <= whole.end
        assert all(span.start <= at <= span.end for _, at, _ in span.events)


def test_stopping_ends_every_span_at_once(kit: Kit) -> None:
    with Call(Agent(ScriptedBrain([LONG]))) as call:
        stop = kit.trace(call.conversation)
        call.user("tell me")
        call.hears_agent(500)
        stop()
        stopped_at, begun = call.now_ms, kit.counting.begun
        call.settles()
    assert kit.counting.begun == kit.counting.ended == begun == 6  # with one of STT and one of TTS
    assert {span.end for span in kit.spans()} == {stopped_at}


def test_a_conversation_is_traced_from_its_beginning_if_tracing_came_first(kit: Kit) -> None:
    async def whole() -> None:
        conversation = Conversation(Agent(ScriptedBrain()), ScriptedLine(open_ms=200), seats=Seats())
        kit.trace(conversation)
        assert kit.counting.begun == 0
        await conversation.start()
        await conversation.end()

    run_simulated(whole())
    (span,) = kit.spans()
    assert (span.name, span.end - span.start, span["reason"]) == ("conversation", 200, "ended by the program")
    states = [attributes["duologue.phase"] for _, _, attributes in span.events]
    assert states == ["starting", "listening", "ending", "idle"]


def test_a_conversation_that_never_begins_leaves_no_span(kit: Kit) -> None:
    async def refused() -> None:
        line = ScriptedLine()
        line.primed = False
        conversation = Conversation(Agent(ScriptedBrain()), line, seats=Seats())
        kit.trace(conversation)
        with pytest.raises(StartRefused):
            await conversation.start()

    run_simulated(refused())
    assert kit.counting.begun == 0


def test_a_conversation_belongs_to_the_span_in_which_tracing_began(kit: Kit) -> None:
    with Call(Agent(ScriptedBrain(["Yes."]))) as call:
        with kit.tracer.start_as_current_span("request", start_time=NOON_NS, end_on_exit=False) as outer:
            kit.trace(call.conversation)
        call.user("hello there").settles()
    outer.end(NOON_NS)
    assert [span.parent for span in kit.named("conversation")] == ["request"]
    assert {span.parent for span in kit.named("turn")} == {"conversation"}


def test_a_conversation_that_begins_later_belongs_to_that_span_too(kit: Kit) -> None:
    async def whole() -> None:
        conversation = Conversation(Agent(ScriptedBrain()), ScriptedLine(), seats=Seats())
        with kit.tracer.start_as_current_span("request", start_time=NOON_NS, end_on_exit=False) as outer:
            kit.trace(conversation)
        await conversation.start()
        await conversation.end()
        outer.end(NOON_NS)

    run_simulated(whole())
    assert [span.parent for span in kit.named("conversation")] == ["request"]


# -- No words


@pytest.mark.req("C-SEC-001")
def test_no_word_of_the_conversation_is_in_any_span(kit: Kit) -> None:
    look = scripted_tool("look", Progress("papaya"), Delay(1_000), "mangosteen")
    made_up = ToolCall("durian please", {"fig": "pomelo"})
    failing = scripted_tool("break", Fail(ErrorClass.TOOL_ERROR, "rambutan sk-live-4f9a2"))
    calls = [ToolCall("look", {"where": "kumquat"}), made_up, ToolCall("break")]
    replies = [["Tangerine.", *calls], f"Jackfruit. {LONG}", Fail(ErrorClass.AUTH_FAILURE, "quince sk-live-4f9a2")]
    with call_with(kit, *replies, tools=[look, failing]) as call:
        call.user("apricot please").waits(3_500)
        call.interrupts("soursop now", after_ms=500).waits(3_000)
    told = " ".join(span.to_json() for span in kit.exporter.get_finished_spans()).lower()
    words = "papaya mangosteen durian fig pomelo rambutan sk-live kumquat tangerine jackfruit quince apricot soursop"
    assert [word for word in words.split() if word in told] == []
    assert {span["tool"] for span in kit.named("tool")} == {"look", "break", None}


def test_a_programs_own_reason_for_an_end_is_not_recorded_because_it_may_contain_words(kit: Kit) -> None:
    with call_with(kit) as call:
        call.run(call.conversation.end("guava"))
    (whole,) = kit.spans()
    assert whole["reason"] == "other"
    assert "guava" not in repr(whole)


# -- Doing no harm


class Broken(NoOpTracer):
    def start_span(self, *args: Any, **kwargs: Any) -> Any:
        if args[0] == "reply":
            raise RuntimeError("the exporter is gone")
        return super().start_span(*args, **kwargs)


def test_a_tracer_that_fails_costs_the_trace_and_nothing_else() -> None:
    with Call(Agent(ScriptedBrain(["Yes.", "No."]))) as call:
        trace(call.conversation, Broken())
        call.user("hello there").expect_heard("Yes.")
        call.user("hello again").expect_heard("No.")
    problems = [(signal.where, signal.what) for signal in call.signals if isinstance(signal, sg.Problem)]
    assert problems == [("telemetry", "RuntimeError")]


def test_without_a_tracer_the_global_one_is_used() -> None:
    with Call(Agent(ScriptedBrain(["Yes."]))) as call:
        trace(call.conversation)  # no provider is set up, so the spans record nothing
        call.user("hello there").expect_heard("Yes.")


def test_missing_opentelemetry_is_reported_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry.context", None)
    with Call(Agent(ScriptedBrain())) as call, pytest.raises(ImportError, match=r"pip install 'duologue\[telemetry\]'"):
        trace(call.conversation)
