"""Scenario files: they play, mistakes are reported with their lines, and a failure explains itself."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pytest
from typer.testing import CliRunner, Result

from duologue.cli.app import app
from duologue.cli.simulate import play_scenarios
from duologue.core.errors import DuologueError
from duologue.replay.journal import read_journal, replay
from duologue.replay.words_file import read_words, words_path
from duologue.testing.scenario import InvalidScenario, load, play
from duologue.testing.scenario_steps import BRAIN_LINES, STEPS, TOOL_STEPS
from tests.testing.bad_scenario import BAD, TOLD

ROOT = Path(__file__).parent.parent.parent
OURS = sorted((Path(__file__).parent / "scenarios").glob("*.yaml"))
EXAMPLES = sorted((ROOT / "examples" / "scenarios").glob("*.yaml"))
DOC = (ROOT / "docs" / "scenarios.md").read_text(encoding="utf-8")
DOC_SCENARIOS = re.findall(r"```yaml\n(.*?)```", DOC, re.DOTALL)
DOC_AGENT = re.findall(r"```python\n# my_agent.py\n(.*?)```", DOC, re.DOTALL)[0]

GOOD = "brain: [Hello!]\ncall:\n  - user: hi\n"
FAILING = """name: A caller expects too much
brain:
  - There are two flights. One at nine and one at noon.
call:
  - user: book a flight
  - interrupts: no wait
  - expect_heard: Which one?
  - user: this is never said
"""


Write: TypeAlias = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Write:
    """Writes a file into a folder of its own, which is the current one."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))

    def to_file(text: str | bytes, name: str = "scenario.yaml") -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path.relative_to(tmp_path)

    return to_file


def problems_of(path: Path) -> list[tuple[int, str]]:
    with pytest.raises(InvalidScenario) as caught:
        load(path)
    return [(problem.line, problem.text) for problem in caught.value.problems]


# -- What plays


@pytest.mark.parametrize("path", [*OURS, *EXAMPLES], ids=lambda path: f"{path.parent.parent.name}/{path.stem}")
def test_a_scenario_plays(path: Path) -> None:
    result = play(path)
    assert result.passed, result.message
    assert result.simulated_ms > 0
    assert (result.line, result.message, result.journal) == (0, "", None)


def test_a_scenario_goes_the_same_way_every_time() -> None:
    scenario = load(OURS[0])
    first, second = play(scenario), play(scenario)
    assert first.passed
    assert (first.passed, first.simulated_ms) == (second.passed, second.simulated_ms)


def test_the_name_of_the_file_will_do(write: Write) -> None:
    assert load(write(GOOD, "says_hello.yaml")).name == "says_hello"


# -- Agents


AGENT = """
from duologue import Agent, tool
from duologue.ports.sound import Sound

@tool
def lookup(city: str) -> str:
    "Looks a city up."
    return "the real thing"

class Cloud:
    def speak(self, text):
        raise OSError("there is no network here")

agent = Agent(brain=lambda request: f"You said {request.text}", tools=[lookup], voice=Cloud(), profile="immediate")
number = 42
"""


def test_an_agent_is_found_in_the_current_folder_and_its_voice_is_simulated(write: Write) -> None:
    write(AGENT, "agent_alone.py")
    path = write("agent: agent_alone:agent\ncall:\n  - user: hello\n  - expect_heard: You said hello\n", "a.yaml")
    result = play(path)
    assert result.passed, result.message
    assert load(path).make_agent().profile == "immediate"


def test_what_the_file_scripts_takes_the_place_of_what_the_agent_has(write: Write) -> None:
    write(AGENT, "agent_scripted.py")
    text = "agent: agent_scripted:agent\nprofile: confirm\nbrain:\n  - {call: lookup, with: {city: Rome}}\n  - Found.\n"
    steps = "call:\n  - user: hi\n  - expect_heard: Found.\n  - expect_called: lookup\n"
    assert play(write(text + steps)).passed
    made = load(write(text + "tools: {lookup: faked, other: x}\n" + steps)).make_agent()
    assert [worker.tool.name for worker in made.workers] == ["lookup", "other"]
    assert made.profile == "confirm"


@pytest.mark.parametrize(
    ("agent", "complaint"),
    [
        ("agent_found", "agent must be module:attribute, not 'agent_found'"),
        (":agent", "agent must be module:attribute, not ':agent'"),
        ("agent_nowhere:agent", "agent: agent_nowhere can't be imported: ModuleNotFoundError: No module named"),
        ("agent_broken:agent", "agent: agent_broken can't be imported: RuntimeError: not today"),
        ("agent_leaving:agent", "agent: agent_leaving can't be imported: SystemExit: bye"),
        ("agent_found:agnet", "agent: agent_found:agnet does not exist; did you mean agent?"),
        ("agent_found:number", "agent: agent_found:number is int, not Agent; it has agent"),
        ("json:loads", "agent: json:loads is function, not Agent; json has no Agent"),
    ],
)
def test_a_missing_agent_is_reported_with_its_line(write: Write, agent: str, complaint: str) -> None:
    write(AGENT, "agent_found.py")
    write("raise RuntimeError('not\\n today')", "agent_broken.py")
    write("raise SystemExit('bye')", "agent_leaving.py")
    [(line, text)] = problems_of(write(f"name: x\n\nagent: {agent}\ncall: [settles]\n"))
    assert line == 3
    assert text.startswith(complaint)


# -- What is wrong with a file


def test_a_few_aliases_that_stand_for_millions_of_values_are_refused(write: Write) -> None:
    rows = [f"x{n}: &x{n} [{', '.join([f'*x{n - 1}'] * 10)}]" for n in range(1, 9)]
    found = problems_of(write("\n".join(["x0: &x0 [hi]", *rows, ""])))
    assert [text for _, text in found if "large" in text] == ["too large: more than 10000 values"]


def test_a_missing_file_is_reported(write: Write) -> None:
    write(GOOD)
    assert problems_of(Path("nowhere.yaml")) == [(0, "No such file or directory")]


def test_without_pyyaml_it_is_said_what_to_install(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(GOOD)
    monkeypatch.setitem(sys.modules, "yaml", None)
    with pytest.raises(DuologueError, match=r"^scenario files need PyYAML: pip install 'duologue\[testing\]'$"):
        load(path)


def test_the_test_kit_and_the_command_line_do_without_pyyaml_until_a_file_is_read() -> None:
    code = "import sys, duologue.testing.scenario, duologue.cli.simulate; sys.exit('yaml' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


# -- What fails


def test_a_failure_names_scenario_file_line_and_step_and_tells_the_story(write: Write) -> None:
    result = play(write(FAILING))
    assert not result.passed
    assert result.line == 7
    lines = result.message.splitlines()
    assert lines[0] == "A caller expects too much"
    assert lines[1].startswith("scenario.yaml:7: expect_heard: 'Which one?' was not heard; the user heard ")
    assert "  agent: There are [cut off: two flights. One at nine and one at noon.]" in lines
    assert result.message.count("What was said:") == result.message.count("What happened:") == 1
    assert "this is never said" not in result.message


@pytest.mark.parametrize("step", ["user: more", "coughs", "line_drops: 6000", "types: more", "hangs_up"])
def test_after_the_end_of_the_call_the_user_can_not_act(write: Write, step: str) -> None:
    result = play(write(f"{GOOD}  - hangs_up\n  - {step}\n"))
    assert result.line == 5
    assert f"scenario.yaml:5: {step.partition(':')[0]}: the call is over\n\nWhat was said:" in result.message


def test_an_interruption_of_an_agent_that_never_speaks_fails(write: Write) -> None:
    result = play(write(f"{GOOD}  - interrupts: stop\n    after_ms: 50000\n"))
    assert "interrupts: the agent did not speak for 50000 ms" in result.message


def test_whatever_an_agent_raises_fails_the_step_and_not_the_run(write: Write) -> None:
    write(AGENT.replace("agent = Agent(", "agent = Agent(session=lambda: 1 / 0, "), "agent_breaking.py")
    result = play(write("agent: agent_breaking:agent\ncall:\n  - user: hi\n"), Path("call.jsonl"))
    assert (result.passed, result.line, result.journal) == (False, 3, None)
    assert "the call did not start: ZeroDivisionError" in result.message


def test_the_journal_of_a_failure_replays_and_its_words_lie_beside_it(write: Write) -> None:
    journal = Path("kept/call.jsonl")
    result = play(write(FAILING), journal)
    assert result.journal == journal
    with journal.open(encoding="utf-8") as lines:
        records = list(replay(read_journal(lines)))
    assert records[-1].after.link.value == "idle"
    with words_path(journal).open(encoding="utf-8") as lines:
        assert [spoken.text for spoken in read_words(lines)][:2] == ["book a flight", "There are"]


def test_what_passes_leaves_no_journal(write: Write) -> None:
    assert play(write(GOOD), Path("kept/call.jsonl")).passed
    assert not Path("kept").exists()


# -- The command


def run(*args: str) -> Result:
    return CliRunner().invoke(app, ["simulate", *args])


def test_what_passes_is_a_table_and_exit_code_0(write: Write) -> None:
    write(GOOD, "one.yaml")
    write("name: The [second] one\n" + GOOD, "two.yml")
    done = run("one.yaml", "two.yml")
    assert done.exit_code == 0, done.output
    head, one, two = done.output.splitlines()
    assert head.split() == ["scenario", "result", "simulated", "real"]
    assert one.split()[:4] == ["one", "passed", "650", "ms"]
    assert two.startswith("The [second] one")


def test_a_folder_is_searched_and_a_file_is_played_once(write: Write) -> None:
    for name in ("calls/one.yaml", "calls/more/two.yml", "calls/.hidden/three.yaml", "calls/notes.txt"):
        write(GOOD, name)
    done = run("calls", "calls/one.yaml", "--json")
    files = [entry["file"] for entry in json.loads(done.output)["scenarios"]]
    assert files == ["calls/more/two.yml", "calls/one.yaml"]


def test_a_failure_is_told_with_its_journal_and_exit_code_1(write: Write) -> None:
    write(GOOD, "good.yaml")
    write(FAILING, "bad.yaml")
    done = run("good.yaml", "bad.yaml", "--journals", "kept")
    assert done.exit_code == 1
    assert "bad.yaml:7: expect_heard: 'Which one?' was not heard" in done.output
    assert "duologue timeline kept/bad.jsonl" in done.output
    for command in ("timeline", "replay"):
        assert CliRunner().invoke(app, [command, "kept/bad.jsonl"]).exit_code == 0
    assert sorted(path.name for path in Path("kept").iterdir()) == ["bad.jsonl", "bad.words.jsonl"]


def test_journals_of_one_name_do_not_meet(write: Write) -> None:
    write(FAILING, "a/call.yaml")
    write(FAILING, "b/call.yaml")
    data = json.loads(run("a", "b", "--json", "--journals", "kept").output)
    assert [entry["journal"] for entry in data["scenarios"]] == ["kept/call.jsonl", "kept/call-2.jsonl"]


def test_without_a_folder_journals_go_to_a_new_one_that_is_left_only_if_needed(
    write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "tmp"))
    (tmp_path / "tmp").mkdir()
    assert run(str(write(GOOD))).exit_code == 0
    assert not list((tmp_path / "tmp").iterdir())
    data = json.loads(run(str(write(FAILING)), "--json").output)
    assert Path(data["scenarios"][0]["journal"]).is_relative_to(tmp_path / "tmp")
    assert Path(data["scenarios"][0]["journal"]).exists()


def test_a_file_that_is_wrong_is_exit_code_2_and_the_others_are_played(write: Write) -> None:
    write(BAD, "bad.yaml")
    write(FAILING, "failing.yaml")
    (Path.cwd() / "empty").mkdir()
    done = run("bad.yaml", "failing.yaml", "nowhere.yaml", "empty", "--journals", "kept")
    assert done.exit_code == 2
    assert "bad.yaml:31: expect_phase: 'listning' is not a phase; did you mean listening?" in done.output
    assert "nowhere.yaml: No such file or directory" in done.output
    assert "empty: no scenario (*.yaml) in this folder" in done.output
    assert "failing.yaml:7: expect_heard" in done.output


def test_machines_get_one_json_object(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    write("print('hello from the agent')\n" + AGENT, "agent_talkative.py")
    good = write("name: Good\nagent: agent_talkative:agent\ncall:\n  - user: hi\n", "good.yaml")
    paths = [good, write(FAILING, "failing.yaml"), write("name: Bad\n" + GOOD + "  - usr: hi\n", "bad.yaml")]
    assert play_scenarios(paths, True, Path("kept")) == 2
    data = json.loads(capsys.readouterr().out)
    assert (data["passed"], data["failed"], data["invalid"]) == (1, 1, 1)
    passed, failed, invalid = data["scenarios"]
    assert passed.pop("real_ms") >= 0
    assert passed == {
        "file": "good.yaml",
        "name": "Good",
        "result": "passed",
        "simulated_ms": 650,
        "line": None,
        "message": None,
        "journal": None,
        "problems": [],
    }
    assert (failed["result"], failed["line"], failed["journal"]) == ("failed", 7, "kept/failing.jsonl")
    assert "What happened:" in failed["message"]
    assert invalid["result"] == "invalid"
    assert invalid["problems"] == [{"line": 5, "problem": "unknown step 'usr'; did you mean user?"}]


def test_a_folder_that_journals_cannot_go_to_is_one_line(write: Write) -> None:
    with pytest.raises(DuologueError, match=r"scenario\.yaml: File exists"):
        play_scenarios([write(FAILING)], False, Path("scenario.yaml"))


def test_nothing_to_play_is_one_line(write: Write) -> None:
    write(GOOD)
    assert isinstance(run().exception, DuologueError)


# -- The page


@pytest.mark.parametrize("text", DOC_SCENARIOS, ids=lambda text: text.splitlines()[0])
def test_a_scenario_of_the_page_plays(write: Write, text: str) -> None:
    write(DOC_AGENT, "my_agent.py")
    result = play(write(text))
    assert result.passed, result.message


def test_the_page_shows_every_key_step_and_line() -> None:
    shown = set(re.findall(r"`(\w+)", DOC)) | set(re.findall(r"^ *-? *(\w+):", DOC, re.MULTILINE))
    keys = {"name", "agent", "brain", "tools", "profile", "pace", "call", "otherwise", "does", "mode", "cancellable"}
    shapes = {**STEPS, **BRAIN_LINES, **TOOL_STEPS}
    options = {option for shape in shapes.values() for option in shape.options}
    assert keys | set(shapes) | options <= shown


def test_the_complaints_on_the_page_are_ours() -> None:
    block = re.findall(r"```text\n(.*?)```", DOC, re.DOTALL)[0]
    for line in block.splitlines():
        assert line.split(": ", 1)[1] in [text for _, text in TOLD]


def test_the_test_on_the_page_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    code = re.findall(r"```python\n(from duologue.testing.scenario.*?)```", DOC, re.DOTALL)[0]
    monkeypatch.chdir(ROOT)
    names: dict[str, object] = {}
    exec(code, names)
    names["test_it_changes_course"]()  # type: ignore[operator]


FLOW_DESK = """
from duologue import Agent, FlowBrain, LocalNlu
from duologue.flows import parse_flows
from duologue.flows.registry import Registry

FLOWS = '''
version: 1
slots:
  name: {type: text, prompt: "What is your name?"}
flows:
  sign_in:
    description: sign in
    examples: [sign me in]
    steps: [collect: name]
    completed: Welcome.
'''
agent = Agent(FlowBrain(parse_flows(FLOWS), Registry(), LocalNlu(words_only=True)))
other = Agent(lambda request: "Hm.")


def make(context):
    return other
"""
BESIDE = """agent: flow_desk:{agent}
beside: [It is on the first floor.]
call:
  - user: sign me in
  - user: where is your coffee machine
  - expect_heard: It is on the first floor. What is your name?
"""


def test_a_script_stands_in_for_the_llm_beside_the_flows(write: Write) -> None:
    write(FLOW_DESK, "flow_desk.py")
    result = play(write(BESIDE.replace("{agent}", "agent")))
    assert result.passed, result.message
    with pytest.raises(InvalidScenario, match=r"scenario\.yaml:2: `beside` needs an agent whose brain is a FlowBrain"):
        load(write(BESIDE.replace("{agent}", "other")))
    with pytest.raises(InvalidScenario, match="but not both"):
        load(write(BESIDE.replace("{agent}", "agent") + "brain: [Hello.]\n"))
    made = play(write(BESIDE.replace("{agent}", "make")))
    assert not made.passed
    assert "`beside` needs an agent whose brain is a FlowBrain" in made.message
