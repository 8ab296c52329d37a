"""Every recipe of the cookbook runs: in a call on the simulated clock, or with a model's server on a local port."""

from __future__ import annotations

import asyncio
import importlib.util
import json
import re
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from typer.testing import CliRunner

from duologue import Agent, CallInfo, CallOutput, Conversation, Phrases, Request, ToolCall
from duologue.cli.app import app
from duologue.lines.scripted import ScriptedLine
from duologue.ports import AgentSaid, Frame
from duologue.runtime.seats import Seats
from duologue.testing import Call, ScriptedBrain, ScriptedVoice
from tests.brains.chat_server import ChatServer, Script, Wire, answers, says
from tests.limits import WAIT_S
from tests.needs import needs_model

ROOT = Path(__file__).parent.parent.parent
FOLDER = ROOT / "examples" / "cookbook"


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    """A recipe with an LLM can be imported: it needs a key, and no network before the first request."""
    monkeypatch.setenv("LLM_KEY", "a key for tests")


def recipe(name: str) -> ModuleType:
    """A recipe, imported as `duologue serve NAME:agent` imports it."""
    spec = importlib.util.spec_from_file_location(f"cookbook_{name}", FOLDER / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@asynccontextmanager
async def conversation_with(agent: Agent) -> AsyncIterator[Conversation]:
    """A conversation in real time, with a line and a voice that need no device; models need real sockets."""
    quick = replace(agent, ears=None, voice=ScriptedVoice(char_ms=2), phrases=Phrases())
    conversation = Conversation(quick, ScriptedLine(ack_ms=20), seats=Seats())
    async with asyncio.timeout(WAIT_S), conversation:
        yield conversation


def heard(conversation: Conversation) -> str:
    return " ".join(item.text for item in conversation.history if isinstance(item, AgentSaid))


async def until(holds: Callable[[], bool]) -> None:
    while not holds():
        await asyncio.sleep(0.005)


def calls(name: str, arguments: str) -> Script:
    """A model that calls a tool."""

    async def script(wire: Wire) -> None:
        await wire.begin()
        function = {"name": name, "arguments": arguments}
        await wire.delta(tool_calls=[{"index": 0, "id": "call_1", "type": "function", "function": function}])
        await wire.finish("tool_calls")

    return script


# -- On the simulated clock


def test_the_echo_repeats_what_it_hears() -> None:
    with Call(recipe("echo").agent) as call:
        call.user("hello there").expect_heard("You said: hello there")


def test_the_router_stays_with_a_specialist_until_another_is_wanted() -> None:
    with Call(recipe("router").agent) as call:
        call.user("good morning").expect_heard("sales or support")
        call.user("sales please").expect_heard("Sales here")
        call.user("what does it cost").expect_heard("Sales here")
        call.user("I need support").expect_heard("Support here")


def test_the_flow_books_a_table_and_takes_a_correction() -> None:
    with Call(recipe("table_booking").agent) as call:
        call.user("I would like a table").expect_heard("For how many people?")
        call.user("two").expect_heard("At what time?")
        call.user("seven thirty").expect_heard("A table for 2 at 7:30")
        call.user("no, make it three people").expect_heard("A table for 3")
        call.user("yes").expect_heard("Your table is number 7.")


def scripted(*steps: Any) -> Any:
    """A brain that answers each request with the next step: a text, or a tool call."""
    left = list(steps)

    async def brain(request: Request) -> AsyncIterator[Any]:
        yield left.pop(0) if left else "I have nothing more to say."

    return brain


@pytest.mark.parametrize(
    "name",
    ["receptionist", "appointment_desk", "triage", "reminder", "folder_rag", "caller_memory", "flow_in_llm"],
)
def test_an_agent_of_the_cookbook_has_at_most_sixty_lines(name: str) -> None:
    lines = (FOLDER / f"{name}.py").read_text().splitlines()
    code = [line for line in lines if line.strip() and not line.strip().startswith(("#", '"""'))]
    assert len(lines) <= 60
    assert name != "receptionist" or len(code) <= 25


def test_the_receptionist_signs_a_visitor_in() -> None:
    agent = recipe("receptionist").agent
    steps = scripted(
        ToolCall("find_host", {"name": "Ada"}), "Room 12.", ToolCall("sign_in", {"guest": "Grace"}), "Welcome, Grace."
    )
    with Call(replace(agent, brain=steps)) as call:
        call.user("I want to see Ada").expect_called("find_host", name="Ada").expect_heard("Room 12.")
        call.user("my name is Grace").expect_called("sign_in").expect_heard("Welcome, Grace.")
        assert (call.context.data.guest, call.context.data.host) == ("Grace", "Ada")


def test_the_appointment_desk_answers_beside_the_flow_and_comes_back_to_its_question() -> None:
    beside = ScriptedBrain(["Yes, there is a car park behind the house."])
    with Call(recipe("appointment_desk").desk(beside)) as call:
        call.user("I need an appointment").expect_heard("On which day")
        call.user("is there a car park near you").expect_heard("behind the house")
        call.expect_heard("On which day would you like to come?")
        call.user("tomorrow").expect_heard("At what time?")
        call.user("ten").expect_heard("Shall I book it?")
        call.user("yes").expect_heard("It is booked.")
        assert len(beside.requests) == 1


def test_triage_hands_over_to_a_specialist_and_back() -> None:
    brain = scripted(
        ToolCall("hand_over", {"to": "billing"}),
        "Your bill is forty euros.",
        ToolCall("hand_over", {"to": "triage"}),
        ToolCall("hand_over", {"to": "moving"}),
        "Where do you move to?",
        ToolCall("hand_over", {"to": "triage"}),
        ToolCall("hand_over", {"to": "repairs"}),
        "A technician comes at ten.",
    )
    with Call(recipe("triage").team(brain)) as call:
        call.settles().expect_heard("How can we help?")
        call.user("my bill is wrong").expect_heard("Billing, what can I do for you?")
        call.user("how much is it").expect_heard("forty euros")
        call.user("something else").expect_heard("How can we help?")
        assert call.context.agent == "triage"
        call.user("I am moving to another flat").expect_heard("Where do you move to?")
        assert call.context.agent == "moving"
        call.user("no, something else").until(lambda: call.context.agent == "triage").expect_heard("How can we help?")
        call.user("my heating is broken").expect_heard("Repairs here. What is broken?")
        assert call.context.agent == "repairs"
        call.user("the heating").expect_heard("A technician comes at ten.")
        call.expect_nothing_lost()


@pytest.mark.parametrize(("answer", "comes", "heard_then"), [("yes", True, "see you"), ("no", False, "cancelled")])
def test_the_reminder_speaks_first_and_hangs_up(answer: str, comes: bool, heard_then: str) -> None:
    info = CallInfo(parameters={"patient": "Ada", "time": "on Monday at ten"})
    with Call(recipe("reminder").agent, info=info) as call:
        call.settles().expect_heard("Hello Ada, you have an appointment on Monday at ten.")
        call.user(answer).expect_heard(heard_then)
        call.until(lambda: call.conversation.phase == "idle").expect_ended()
        assert call.context.data.comes is comes


def test_the_rag_agent_finds_the_passage_that_fits(tmp_path: Path) -> None:
    (tmp_path / "returns.md").write_text("You can return shoes within thirty days.\n\nSocks can't be returned.")
    (tmp_path / "hours.txt").write_text("The shop opens at nine.")
    module = recipe("folder_rag")
    module.FOLDER = tmp_path
    brain = scripted(ToolCall("search", {"question": "can I return my shoes"}), "Within thirty days.")
    with Call(replace(module.agent, brain=brain)) as call:
        call.user("can I return my shoes").expect_called("search").expect_heard("Within thirty days.")
        (output,) = [item.output for item in call.history if isinstance(item, CallOutput)]
        assert output.startswith("returns.md: You can return shoes within thirty days.")
        assert "nine" not in output


def test_the_memory_of_a_caller_lasts_from_call_to_call(tmp_path: Path) -> None:
    module = recipe("caller_memory")
    module.FILE = tmp_path / "callers.json"
    for number in ("+491", "+492"):
        with Call(module.agent, info=CallInfo(caller=number)) as call:
            call.user(f"I am caller {number[-1]}").expect_heard("This is call number 1.").hangs_up().waits(100)
    with Call(module.agent, info=CallInfo(caller="+491")) as call:
        call.user("hello again").expect_heard("Last time you said: I am caller 1. This is call number 2.")


def test_an_llm_starts_a_flow_as_a_tool_and_gets_its_result() -> None:
    brain = scripted(ToolCall("report_meter", {}), "Is there anything else?")
    with Call(replace(recipe("flow_in_llm").agent, brain=brain)) as call:
        call.user("I want to tell you my meter").expect_heard("What does your meter show?")
        call.user("four hundred").expect_heard("400. Is that right?")
        call.user("yes").expect_heard("Is there anything else?")
        (output,) = [item.output for item in call.history if isinstance(item, CallOutput)]
        assert json.loads(output) == {"state": "completed", "slots": {"meter": "400"}}
        call.expect_nothing_lost()


def test_each_recipe_with_a_flow_and_an_llm_has_a_story_with_a_scripted_llm(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(FOLDER)
    monkeypatch.setattr(sys, "path", list(sys.path))
    done = CliRunner().invoke(app, ["simulate", "scenarios", "--json"])
    told = json.loads(done.stdout)
    assert done.exit_code == 0, told
    assert [Path(one["file"]).stem for one in told["scenarios"]] == ["appointment_desk", "flow_in_llm"]
    assert told["passed"] == 2


def test_the_long_job_runs_beside_the_conversation_and_asks_back() -> None:
    with Call(recipe("long_job").agent) as call:
        call.user("write a report").expect_heard("It is on its way.")
        call.waits(60_000).settles()
        call.expect_heard("How many pages should it have?")
        call.user("twelve").settles()
        call.waits(60_000).expect_heard("Your report is ready: twelve pages on tides.")
        call.expect_called("write_report", topic="tides").expect_nothing_lost()


def test_the_sentence_that_must_be_heard_is_not_interrupted() -> None:
    with Call(recipe("must_be_heard").agent) as call:
        call.user("hello").interrupts("wait what is that", after_ms=500)
        call.settles()
        assert "This call is recorded. Say that you agree, or hang up." in call.heard
        call.user("I agree").expect_heard("Thank you.")


@pytest.mark.parametrize("choice", ["1", "hours please"])
def test_the_menu_takes_keys_and_words(choice: str) -> None:
    with Call(recipe("phone_menu").agent) as call:
        call.settles().expect_heard("Good day!")
        call.types(choice).expect_heard("nine to six")


def test_the_menu_shows_the_program_where_to_transfer() -> None:
    with Call(recipe("phone_menu").agent) as call:
        call.settles()
        call.user("a person please").expect_heard("I will put you through.")
        assert any("front desk" in str(signal) for signal in call.signals)


def test_the_observer_logs_what_was_heard_and_what_was_not() -> None:
    module, log = recipe("observer"), list[str]()
    with Call(module.agent) as call:
        module.watch(call.conversation, log.append)
        call.user("one two three four five six seven eight").interrupts("stop that now", after_ms=900)
        call.settles()
    assert any(line.startswith("assistant: You said:") and "[not heard:" in line for line in log)
    assert any(line == "user: stop that now" for line in log)
    assert log[-1].startswith("ended: 2 turns, first audio after")


def test_the_own_voice_is_cut_off_exactly_to_the_word() -> None:
    with Call(recipe("own_voice").agent, own_voice=True) as call:
        call.user("one two three").interrupts("no stop it", after_ms=450)
        call.expect_cut_off("You said:")


def test_the_own_stt_turns_a_services_messages_into_turns() -> None:
    class Service:
        """What the recipe calls `connect()`: takes audio, gives messages."""

        def __init__(self) -> None:
            self.sent = b""
            self.got_audio = asyncio.Event()

        async def send(self, pcm: bytes) -> None:
            self.sent += pcm
            self.got_audio.set()

        async def __aiter__(self) -> AsyncIterator[dict[str, Any]]:
            await self.got_audio.wait()
            yield {"text": "good", "final": False}
            yield {"text": "good morning", "final": True}
            await asyncio.Event().wait()

    async def main() -> None:
        service = Service()

        async def connect() -> Service:
            return service

        agent = replace(recipe("own_stt").make_agent(connect), voice=ScriptedVoice(char_ms=2))
        line = ScriptedLine(ack_ms=20)
        async with asyncio.timeout(WAIT_S), Conversation(agent, line, seats=Seats()) as conversation:
            line.tell(Frame(bytes(640)))
            await until(lambda: "You said: good morning" in heard(conversation))
            assert service.sent == bytes(640)

    asyncio.run(main())


# -- With a model's server on a local port


def test_the_llm_answers_with_its_instructions(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("silero-vad", "moonshine-tiny", "smart-turn", "espeak-ng"):
        needs_model(name)

    async def main() -> None:
        async with ChatServer(says("Tides come ", "from the moon.")) as server:
            monkeypatch.setenv("LLM_URL", server.url)
            monkeypatch.setenv("LLM_KEY", "secret")
            agent = recipe("llm").agent
            assert agent.ears is not None
            assert agent.voice is not None
            async with conversation_with(agent) as conversation:
                conversation.type("why are there tides")
                await until(lambda: heard(conversation) == "Tides come from the moon.")
            assert "one or two short sentences" in str(server.bodies[0]["messages"])

    asyncio.run(main())


def test_the_llm_calls_the_tool_and_tells_its_result(monkeypatch: pytest.MonkeyPatch) -> None:
    async def main() -> None:
        scripts = calls("opening_hours", '{"day": "Sunday"}'), says("We are closed on Sunday.")
        async with ChatServer(*scripts) as server:
            monkeypatch.setenv("LLM_URL", server.url)
            async with conversation_with(recipe("llm_tools").agent) as conversation:
                conversation.type("are you open on Sunday")
                await until(lambda: "We are closed on Sunday." in heard(conversation))
            assert server.bodies[1]["messages"][-1]["content"] == "closed"

    asyncio.run(main())


def test_the_second_llm_answers_if_the_first_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    async def main() -> None:
        async with ChatServer(answers(503)) as first, ChatServer(says("I am the second.")) as second:
            monkeypatch.setenv("FIRST_URL", first.url)
            monkeypatch.setenv("SECOND_URL", second.url)
            async with conversation_with(recipe("fallback").agent) as conversation:
                conversation.type("hello")
                await until(lambda: heard(conversation) == "I am the second.")
            assert len(first.bodies) == len(second.bodies) == 1

    asyncio.run(main())


# -- The page


def test_every_recipe_is_on_the_page_and_has_a_test() -> None:
    names = {path.stem for path in FOLDER.glob("*.py")}
    page = (ROOT / "docs" / "cookbook.md").read_text(encoding="utf-8")
    assert set(re.findall(r'--8<-- "examples/cookbook/(\w+)\.py"', page)) == names
    tested = set(re.findall(r'recipe\("(\w+)"\)', Path(__file__).read_text(encoding="utf-8")))
    assert tested == names


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.py")), ids=lambda path: path.stem)
def test_a_recipe_is_short(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 60
