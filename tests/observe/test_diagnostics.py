"""The log of a conversation says what happened and contains no words."""

from __future__ import annotations

import dataclasses
import hashlib
import io
import json
from typing import Any

import pytest

from duologue import Agent, ToolCall, tool
from duologue.core.effects import CommitAudio
from duologue.core.events import SpeechStarted
from duologue.core.leaves import ErrorClass, FaultSource, Outcome
from duologue.core.step_record import StepRecord
from duologue.observe import signals as sg
from duologue.observe.diagnostics import FIELDS, OWN_TOOLS, Diagnostics, correlation_id, watch
from duologue.observe.hearing_fact import HearingStatus
from duologue.runtime.tool_calls import ANSWER_TOOL, CANCEL_TOOL
from duologue.testing import AskPerson, Call, Delay, Fail, Progress, ScriptedBrain, scripted_tool

KEY = "sk-live-4f9a2"


def read(out: io.StringIO) -> list[dict[str, Any]]:
    """The lines, as strict JSON."""

    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} is not JSON")

    return [json.loads(line, parse_constant=refuse) for line in out.getvalue().splitlines()]


def of_kind(lines: list[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    return [line for line in lines if line["kind"] == kind]


# -- No words


@tool
def charge(card: str) -> str:
    """Charge a card."""
    raise RuntimeError(f"the bank refused {KEY} for {card}")


def an_agent_full_of_words() -> Agent:
    """Speaks, calls, asks, reports and fails, with a different planted word each time."""
    rooms = scripted_tool(
        "find_rooms",
        Progress("papaya so far"),
        Delay(20_000),
        AskPerson("persimmon or not?"),
        "mangosteen",
        mode="delegate",
    )
    replies: list[Any] = [
        ["Tangerine first.", ToolCall("find_rooms", {"where": "kumquat"})],
        "It asks whether it should be so.",
        [ToolCall("answer_job", {"job": 1, "answer": "lychee"})],
        [ToolCall("durian please", {"fig": "pomelo"}), ToolCall("charge", {"card": "rambutan"})],
        Fail(ErrorClass.SERVER_ERROR, f"quince said {KEY}"),
        "Here is a jackfruit that takes a long while to be told to its very end.",
        Fail(ErrorClass.AUTH_FAILURE, f"{KEY} is no good, says the medlar"),
    ]
    return Agent(ScriptedBrain(replies), tools=[rooms, charge])


PLANTED_ON_THE_BUS = "tangerine papaya persimmon apricot cherimoya soursop jackfruit guava".split()
PLANTED_IN_MESSAGES = ("rambutan", "quince", "medlar", KEY)
PLANTED_ELSEWHERE = "durian kumquat mangosteen lychee fig pomelo".split()


def hold_that_call() -> tuple[Call, io.StringIO]:
    out = io.StringIO()
    with Call(an_agent_full_of_words()) as call:
        watch(call.conversation, out)
        call.user("find me an apricot").waits(25_000)
        call.user("cherimoya it is").interrupts("soursop please", after_ms=700)
        call.conversation.engine.bus.send(sg.Ended(call.now_ms, "guava"))  # a program's own reason
        call.waits(5_000)
    return call, out


@pytest.mark.req("C-SEC-001", "C-SEC-003")
def test_no_word_and_no_secret_of_a_call_is_in_its_log() -> None:
    call, out = hold_that_call()
    told, log = repr(call.signals).lower(), out.getvalue().lower()
    assert [word for word in PLANTED_ON_THE_BUS if word not in told] == [], "the call no longer says what it should"
    planted = (*PLANTED_ON_THE_BUS, *PLANTED_IN_MESSAGES, *PLANTED_ELSEWHERE)
    assert [word for word in planted if word in log] == []


@pytest.mark.req("C-SEC-003")
def test_what_a_service_says_of_its_failure_does_not_even_reach_the_bus() -> None:
    call, _ = hold_that_call()
    assert sum(isinstance(signal, sg.Problem) for signal in call.signals) == 4
    assert [word for word in PLANTED_IN_MESSAGES if word in repr(call.signals)] == []


def test_the_call_of_these_tests_sends_all_but_the_rarest_signals() -> None:
    _, out = hold_that_call()
    rare = {"WorkSilent", "Recovered", "TimedOut", "TurnDropped", "TurnLimited", "Commanded"}
    rare |= {"HearingChanged", "AttentionChanged", "AgentChanged", "ServiceSwitched"}
    assert {kind.__name__ for kind in FIELDS} - {line["kind"] for line in read(out)} <= rare


def every_kind() -> list[type[sg.Signal]]:
    return [value for value in vars(sg).values() if isinstance(value, type) and issubclass(value, sg.Signal)][1:]


NAMES = {
    "part",
    "view",
    "state",
    "source",
    "target",
    "cause",
    "timer",
    "role",
    "mode",
    "command",
    "why",
    "decision",
    "code",
    "level",
    "cue",
}  # always out of our own code


def full_of(marker: str, kind: Any) -> Any:
    """A signal with this word in every field that can hold text."""
    values: dict[str, Any] = {
        "int": 1,
        "bool": True,
        "str": marker,
        "float | None": 0.5,
        "float": 0.5,
        "dict[str, Any]": {marker: marker, "session": marker, "pending_calls": [marker], "last_error": None},
        "tuple[str, ...]": (marker,),
        "FaultSource": FaultSource.BRAIN,
        "ErrorClass": ErrorClass.UNKNOWN,
        "Outcome": Outcome.DONE,
        "HearingStatus": HearingStatus.BROKEN,
    }
    given = {}
    for field in dataclasses.fields(kind):
        if field.type == "TurnContext":
            given[field.name] = full_of(marker, sg.TurnContext)
        else:
            given[field.name] = "name" if field.name in NAMES else values[str(field.type)]
    if kind in (sg.Problem, sg.Raised):
        given["where"] = f"tool {marker}"
    return kind(**given)


@pytest.mark.req("C-SEC-001")
@pytest.mark.parametrize("kind", every_kind(), ids=lambda kind: kind.__name__)
def test_no_field_of_any_signal_brings_a_word_into_the_log(kind: type[sg.Signal]) -> None:
    out = io.StringIO()
    Diagnostics(out, "1", tools={"known"}).note(full_of("cloudberry jam: yes", kind))
    assert "cloudberry" not in out.getvalue()
    assert read(out)[0]["kind"] == kind.__name__


def test_every_kind_of_signal_is_in_the_table_and_every_field_in_it_exists() -> None:
    assert set(FIELDS) == set(every_kind())
    for kind, fields in FIELDS.items():
        assert set(fields) <= {field.name for field in dataclasses.fields(kind)}


@dataclasses.dataclass(frozen=True, slots=True)
class Confided(sg.Signal):
    """A kind of signal that isn't in the table."""

    secret: str


@dataclasses.dataclass(frozen=True, slots=True)
class Chattier(sg.WorkSilent):
    """A known kind of signal with one more field."""

    secret: str = "cloudberry"


@pytest.mark.req("C-SEC-001")
@pytest.mark.parametrize("signal", [Confided(7, "cloudberry"), Chattier(7, 1)], ids=["kind", "field"])
def test_what_the_table_does_not_name_is_not_written(signal: sg.Signal) -> None:
    out = io.StringIO()
    Diagnostics(out, "1").note(signal)
    assert read(out) == [{"at_ms": 7, "kind": type(signal).__name__, "conversation": correlation_id("1")}]


def test_the_context_of_a_state_is_written_key_by_key() -> None:
    out = io.StringIO()
    context = {"session": 1, "summary": "cloudberry", "pending_calls": [1, "cloudberry"], "last_error": "RATE_LIMIT"}
    Diagnostics(out, "1").note(sg.StateEntered(0, "conversation", "listening", "Listening", context))
    (line,) = read(out)
    assert line["context"]["session"] == 1
    assert line["context"]["pending_calls"] == [1]
    assert line["context"]["last_error"] == "RATE_LIMIT"
    assert "summary" not in line["context"]


# -- What it does tell


@pytest.mark.req("C-GUD-002")
def test_every_signal_is_one_line_of_json_that_begins_the_same() -> None:
    call, out = hold_that_call()
    lines = read(out)
    seen = call.signals[-len(lines) :]
    assert [line["kind"] for line in lines] == [type(signal).__name__ for signal in seen]
    assert [line["at_ms"] for line in lines] == [signal.at for signal in seen]
    assert all(list(line)[:3] == ["at_ms", "kind", "conversation"] for line in lines)


@pytest.mark.req("C-SEC-001")
def test_the_id_of_a_conversation_is_hashed() -> None:
    out = io.StringIO()
    Diagnostics(out, "caller +49 30 1234").note(sg.WorkSilent(0, 1))
    assert read(out)[0]["conversation"] == hashlib.sha256(b"caller +49 30 1234").hexdigest()[:12]
    assert "1234" not in out.getvalue().replace(correlation_id("caller +49 30 1234"), "")


def test_two_conversations_in_one_log_are_told_apart() -> None:
    out = io.StringIO()
    for name in ("a", "b", "a"):
        Diagnostics(out, name).note(sg.WorkSilent(0, 1))
    first, second, third = (line["conversation"] for line in read(out))
    assert first == third != second


def logged_audio(out: io.StringIO) -> list[tuple[int, int, int]]:
    """When audio was committed, of which turn and how long it was, as the log has it."""
    return [(line["at_ms"], line["turn"], line["audio_ms"]) for line in of_kind(read(out), "TurnAudioCommitted")]


@pytest.mark.req("L-03.logged")
def test_the_length_of_a_turns_audio_is_logged_when_it_is_committed() -> None:
    out = io.StringIO()
    with Call(Agent(ScriptedBrain(["Right away.", "That too."]))) as call:
        watch(call.conversation, out)
        records: list[StepRecord] = []
        call.conversation.engine.watchers.append(records.append)
        call.user("book me a table for two please").settles()
        call.user("and a taxi").settles()
    began = [one.event.at for one in records if isinstance(one.event, SpeechStarted)]
    committed = [one.event.at for one in records for effect in one.effects if isinstance(effect, CommitAudio)]
    assert len(began) == len(committed) == 2
    assert logged_audio(out) == [
        (at, turn, at - since) for turn, (at, since) in enumerate(zip(committed, began, strict=True), start=1)
    ]


@pytest.mark.req("C-SEC-001", "C-GUD-002")
def test_states_are_logged_with_durations_and_causes_and_words_with_their_length() -> None:
    out = io.StringIO()
    with Call(Agent(ScriptedBrain(["Right away."]))) as call:
        watch(call.conversation, out)
        call.user("book it").settles()
    lines = read(out)
    moves = [line for line in of_kind(lines, "Transitioned") if line["view"] == "conversation"]
    assert {"source": "listening", "target": "processing", "cause": "TurnEnded"}.items() <= moves[0].items()
    exits = [line for line in of_kind(lines, "StateExited") if line["state"] == "speaking"]
    assert exits[0]["duration_ms"] == 720
    done = of_kind(lines, "TurnCompleted")
    assert [(line["role"], line["transcript_chars"]) for line in done] == [
        ("user", len("book it")),
        ("assistant", len("Right away.")),
    ]
    captions = [line for line in of_kind(lines, "Caption") if line["final"]]
    assert [line["text_chars"] for line in captions] == [len("book it"), len("Right away.")]


def test_a_tool_is_named_only_if_it_is_the_agents_own() -> None:
    out = io.StringIO()
    with Call(an_agent_full_of_words()) as call:
        watch(call.conversation, out)
        call.user("find me an apricot").waits(25_000)
        call.user("cherimoya it is").settles()
    named = [line["tool"] for line in of_kind(read(out), "WorkStarted")]
    assert named[:4] == ["find_rooms", "answer_job", None, "charge"]


def test_the_runtimes_own_tools_are_known_by_name() -> None:
    assert set(OWN_TOOLS) == {ANSWER_TOOL.name, CANCEL_TOOL.name}


def test_a_problem_is_logged_with_its_place_and_its_class() -> None:
    out = io.StringIO()
    diagnostics = Diagnostics(out, "1")
    diagnostics.note(sg.Problem(0, "tool durian", f"ServiceError: {KEY}"))
    diagnostics.note(sg.Problem(0, "voice", "the agent has been speaking for very long"))
    first, second = read(out)
    assert (first["where"], first["error"]) == ("tool", "ServiceError")
    assert (second["where"], second["what_chars"]) == ("voice", 41)


def test_the_runtimes_own_reasons_for_an_end_are_logged() -> None:
    out = io.StringIO()
    with Call(Agent(ScriptedBrain())) as call:
        watch(call.conversation, out)
        call.hangs_up().waits(100)
    assert read(out)[-1]["reason"] == "hung up"


def test_a_number_that_is_not_finite_is_left_out() -> None:
    out = io.StringIO()
    diagnostics = Diagnostics(out, "1", tools={"find"})
    for fraction in (float("nan"), float("inf"), "half of the cloudberries", 0.5):
        diagnostics.note(sg.WorkProgressed(0, 1, "find", "so far", fraction))  # type: ignore[arg-type]
    assert [line.get("fraction") for line in read(out)] == [None, None, None, 0.5]


# -- Doing no harm


class FullDisk(io.StringIO):
    def write(self, text: str) -> int:
        if self.tell() > 1_000:
            raise OSError("no space left on device")
        return super().write(text)


def test_a_log_that_cant_be_written_is_given_up_and_the_call_goes_on() -> None:
    with Call(Agent(ScriptedBrain(["Right away."]))) as call:
        watch(call.conversation, FullDisk())
        call.user("book it").expect_heard("Right away.")
    problems = [signal for signal in call.signals if isinstance(signal, sg.Problem)]
    assert [problem.what for problem in problems] == ["OSError"]


def test_after_stopping_nothing_more_is_written() -> None:
    out = io.StringIO()
    with Call(Agent(ScriptedBrain(["Right away."]))) as call:
        stop = watch(call.conversation, out)
        stop()
        call.user("book it").settles()
    assert out.getvalue() == ""


@pytest.mark.req("C-SEC-003")
def test_refused_credentials_are_reported_with_a_hint_and_without_any_of_their_detail() -> None:
    out = io.StringIO()
    with Call(Agent(ScriptedBrain([Fail(ErrorClass.AUTH_FAILURE, f"invalid key {KEY}")]))) as call:
        watch(call.conversation, out)
        call.user("hello there").waits(1_000)
    (failed,) = (signal for signal in call.signals if isinstance(signal, sg.Failed))
    assert "credentials" in failed.hint
    assert "key" in failed.hint
    assert KEY not in failed.hint
    (line,) = of_kind(read(out), "Failed")
    assert (line["part"], line["error"], line["fatal"]) == ("brain", "AUTH_FAILURE", True)
    assert KEY not in out.getvalue()


def test_a_traceback_is_logged_without_its_message_unless_the_agent_is_private() -> None:
    def fails(_: object) -> str:
        raise KeyError("rambutan")

    for private in (False, True):
        out = io.StringIO()
        with Call(Agent(fails, private=private)) as call:
            watch(call.conversation, out)
            call.user("hello")
            call.until(lambda: any(isinstance(one, sg.Raised) for one in call.signals))
        raised = [line for line in read(out) if line["kind"] == "Raised"]
        assert "rambutan" not in out.getvalue()
        assert bool(raised) is not private
    with Call(Agent(fails)) as call:
        watch(call.conversation, out)
        call.user("hello")
        call.until(lambda: "Raised" in out.getvalue())
    line = next(line for line in read(out) if line["kind"] == "Raised")
    assert line["error"] == "KeyError"
    assert line["frames"][-1].endswith(" fails")


def test_a_warning_has_the_id_that_connects_it_with_the_structured_log(caplog: pytest.LogCaptureFixture) -> None:
    def fails(_: object) -> str:
        raise KeyError("rambutan")

    with Call(Agent(fails)) as call:
        call.user("hello")
        call.until(lambda: any(isinstance(one, sg.Problem) for one in call.signals))
        first = next(record for record in caplog.records if record.levelname == "WARNING")
        assert first.getMessage() == f"{correlation_id(call.conversation.id)}: brain: KeyError"
