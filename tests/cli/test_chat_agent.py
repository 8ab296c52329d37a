"""`duologue chat module:agent`: any agent in writing, with its real brain and tools."""

from __future__ import annotations

from pathlib import Path

import pytest

from duologue import Agent
from duologue.cli.chat_agent import in_writing
from duologue.cli.requirements import EXTRAS
from duologue.core.errors import DuologueError
from duologue.testing import ScriptedModel, ScriptedVoice
from tests.cli.command_line import Done, run

AGENT = '''
import threading
from dataclasses import dataclass
from duologue import Agent, Context, Hooks, Phrases, ToolCall, hand_over_to, tool
from duologue.testing import ScriptedVoice
from duologue.workers.collect import CollectConfirmation

@tool
def opening_hours(day: str) -> str:
    """When we are open."""
    return {"monday": "nine to six"}[day]

def brain(request):
    if request.outputs:
        return [f"We are open {request.outputs[0].output}."]
    if request.text == "order":
        return [ToolCall("order", {})]
    if request.text == "crash":
        return {}["no such key"]
    if request.text.startswith("when"):
        return [ToolCall("opening_hours", {"day": request.text.split()[-1]})]
    return [f"You said {request.text}."]

@tool
async def order(context: Context) -> str:
    """Ask for a name and a confirmation."""
    name = await context.ask("What is your name?")
    sure = await context.run(CollectConfirmation("Shall I order it?"))
    return f"{name} on the line {context.line}: {sure}"

async def lead(context):
    name = await context.ask("Who is there?")
    await context.say(f"Hello {name}.")
    context.end()

def made(context):
    context.data = Data()
    return Agent(brain, hooks=Hooks(on_start=lead))

@dataclass
class Data:
    name: str = "made"

def at_the_till(request, context):
    if request.text == "bye":
        context.end()
    return ["Good bye."]

def hands_over(request):
    return [] if request.outputs else [ToolCall("hand_over", {"to": "till"})]

@dataclass
class Open:
    open: list

def hoard(request, context):
    context.data.open.append(threading.Event())
    return ["Kept."]

hoards = Agent(hoard, data=lambda info: Open([]))
till = Agent(at_the_till, name="till", phrases=Phrases(greeting="Till here."))
shop = Agent(hands_over, agents=(till,), tools=[hand_over_to(till)], data=Data)
tools = [opening_hours, order]
agent = Agent(brain, name="Shop", tools=tools, voice=ScriptedVoice(), phrases=Phrases(greeting="Good day."))
'''


@pytest.fixture
def chat(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest):
    name = f"shop_{abs(hash(request.node.name))}"
    (tmp_path / f"{name}.py").write_text(AGENT)
    monkeypatch.chdir(tmp_path)

    def typed(text: str, *options: str, agent: str = "agent") -> Done:
        return run("chat", f"{name}:{agent}", *options, stdin=text, env={"COLUMNS": "300"})

    return typed


def test_an_agent_greets_and_answers_in_writing(chat) -> None:
    done = chat("hello\n/quit\nnever read\n")
    assert done.returncode == 0
    lines = done.stdout.splitlines()
    assert lines[1:] == [
        "agent  Good day.",
        "you    hello",
        "agent  You said hello.",
        "you    /quit",
    ]


def test_a_tool_is_really_called_and_named(chat) -> None:
    done = chat("when are you open on monday\n")
    assert "tool   opening_hours" in done.stdout
    assert "agent  We are open nine to six." in done.stdout


def test_a_tool_can_ask_questions_in_writing(chat) -> None:
    done = chat("order\nAda\nyes\n")
    assert done.returncode == 0
    asked = [line for line in done.stdout.splitlines() if line.startswith("agent")]
    assert asked[1:] == [
        "agent  What is your name?",
        "agent  Shall I order it?",
        "agent  We are open Ada on the line text: True.",
    ]


def test_a_function_of_the_context_can_make_the_agent_and_a_hook_can_lead_it(chat) -> None:
    done = chat("Ada\n", agent="made")
    *said, end = done.stdout.splitlines()[1:]
    assert said == ["agent  Who is there?", "you    Ada", "agent  Hello Ada."]
    assert end == "The conversation has ended."
    assert done.stderr == ""


def test_what_a_tool_raises_is_shown_with_its_traceback(chat) -> None:
    done = chat("when are you open on sunday\n")
    assert "tool opening_hours failed" in done.stderr
    assert "KeyError: 'sunday'" in done.stderr


def test_the_state_is_shown_on_request(chat) -> None:
    done = chat("hello\n/state\n")
    assert "phase" in done.stdout
    assert "listening" in done.stdout


def test_the_state_has_the_data_of_the_call(chat) -> None:
    done = chat("/state\n", agent="shop")
    assert "name          'made'" in done.stdout


def test_a_hand_over_is_shown_and_an_agent_that_hangs_up_ends_the_chat(chat) -> None:
    done = chat("to the till\nbye\nnever read\n", agent="shop")
    lines = [line for line in done.stdout.splitlines() if not line.startswith("tool")]
    assert lines[1:] == [
        "you    to the till",
        "now    till",
        "agent  Till here.",
        "you    bye",
        "agent  Good bye.",
        "The conversation has ended.",
    ]


def test_an_agent_that_cant_be_imported_is_shown_in_full(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "broken_agent.py").write_text("import no_such_module_here\n")
    monkeypatch.chdir(tmp_path)
    done = run("chat", "broken_agent:agent")
    assert done.returncode == 1
    assert "import no_such_module_here" in done.stderr
    assert done.stderr.rstrip().endswith("No module named 'no_such_module_here'")


def test_packages_that_the_agent_needs_are_named_in_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "lacks_mcp.py").write_text("from duologue import McpServer\nraise ImportError('no mcp')\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(EXTRAS, "mcp", ("no_such_package",))
    done = run("chat", "lacks_mcp:agent")
    assert done.returncode == 1
    assert done.stderr.strip() == (
        "error: lacks_mcp:agent needs packages that aren't installed; run `pip install 'duologue[mcp]'`"
    )


@pytest.mark.parametrize("command", [("chat",), ("simulate", "--calls", "1", "--agent")])
def test_a_function_that_cant_make_the_agent_is_shown_by_its_own_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...]
) -> None:
    text = "from duologue import Context\n\ndef make(context: Context):\n    raise KeyError('no customer')\n"
    (tmp_path / "no_agent_made.py").write_text(text)
    monkeypatch.chdir(tmp_path)
    done = run(*command, "no_agent_made:make")
    assert done.returncode == 1
    assert "your code failed" in done.stderr
    assert done.stderr.rstrip().endswith("KeyError: 'no customer'")
    assert done.stderr.count("  File ") == 1


def test_options_of_flows_are_refused(chat) -> None:
    done = chat("", "--flow", "book")
    assert done.returncode == 1
    assert "--flow works only with a flow file" in done.stderr


def test_a_person_may_take_any_time_to_type() -> None:
    written = in_writing(Agent(lambda _: "hi", voice=ScriptedVoice()))
    assert written.voice is None
    assert written.settings.dead_air_ms == 0


def test_a_model_that_speaks_by_itself_is_refused_by_name() -> None:
    with pytest.raises(DuologueError, match="ScriptedModel hears and speaks by itself"):
        in_writing(Agent(ScriptedModel([])))


def test_data_that_cannot_be_saved_is_reported_once_although_a_chat_is_not_stored(chat) -> None:
    done = chat("one\ntwo\n", agent="hoards")
    assert "data.open[0]: Event can't be saved; use text" in done.stderr
    assert done.stderr.count("data failed") == 1
