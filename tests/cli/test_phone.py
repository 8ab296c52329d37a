"""`duologue phone`: scripted calls from the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.command_line import Done
from tests.cli.command_line import run as run_command


def run(*args: str | Path) -> Done:
    return run_command("phone", *args)


@pytest.fixture
def script(tmp_path: Path) -> Path:
    file = tmp_path / "call.yaml"
    file.write_text(
        "greeting: Good morning.\n"
        "network: {jitter_ms: 10, loss: 0.01, duplicates: 0.02, reordered: 0.02}\n"
        "wait_s: 60\n"
        "steps:\n"
        "  - listen\n"
        "  - dtmf: '4711#'\n"
        "  - expect: {heard: '4711'}\n"
        "  - listen\n"
        "  - hang_up\n"
    )
    return file


@pytest.mark.alone
@pytest.mark.parametrize("carrier", ["twilio", "telnyx"])
def test_a_call_over_a_real_websocket_shows_what_was_heard_and_draws_it(script: Path, carrier: str) -> None:
    picture = script.with_suffix(".html")
    done = run("--simulate", script, "--carrier", carrier, "--json", "--timeline", picture)
    assert done.returncode == 0, done.stdout + done.stderr
    found, _ = json.JSONDecoder().raw_decode(done.stdout)
    assert found["result"] == "passed"
    assert found["carrier"] == carrier
    assert found["ended"] == "hung up"
    assert [said["who"] for said in found["heard"]] == ["agent", "caller", "agent"]
    assert found["heard"][1]["text"] == "4711"
    assert found["line"]["reordered"] > 0
    assert picture.read_text().lstrip().startswith("<!")


def test_a_spoken_call_on_the_simulated_clock(script: Path) -> None:
    script.write_text(
        "steps:\n  - listen\n  - say: Hello.\n  - expect: {heard: hello}\n  - listen\n  - expect: {over: true}\n"
        "wait_s: 120\n"
    )
    done = run("--simulate", script, "--fast")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "You said: Hello" in done.stdout
    assert "I will hang up now. Goodbye!" in done.stdout, "dead air, to its end"


@pytest.mark.parametrize("fast", [True, False])
def test_a_function_of_the_context_makes_the_agent(script: Path, monkeypatch: pytest.MonkeyPatch, fast: bool) -> None:
    (script.parent / "made_for_phone.py").write_text(
        "from duologue import Agent, Context, Phrases\n"
        "def make(context: Context) -> Agent:\n"
        "    greeting = f'Hello on the {context.info.line}.'\n"
        "    return Agent(lambda request: 'Good.', profile='words', phrases=Phrases(greeting=greeting))\n"
    )
    script.write_text("steps:\n  - listen\n  - expect: {said: 'hello on the phone'}\n  - hang_up\nwait_s: 60\n")
    monkeypatch.chdir(script.parent)
    done = run("--simulate", script, "--agent", "made_for_phone:make", *(["--fast"] if fast else []))
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_call_that_differs_from_its_script_fails(script: Path) -> None:
    script.write_text("steps:\n  - listen\n  - expect: {said: abracadabra}\nwait_s: 10\n")
    done = run("--simulate", script, "--fast")
    assert done.returncode == 1
    assert "step 2" in done.stdout


@pytest.mark.parametrize(
    ("text", "args", "why"),
    [
        ("steps: [dance]", (), "step 1"),
        ("{", (), "not valid YAML"),
        ("steps: [listen]", ("--carrier", "pigeon"), "unknown carrier 'pigeon'"),
    ],
)
def test_a_problem_is_one_line(script: Path, text: str, args: tuple[str, ...], why: str) -> None:
    script.write_text(text)
    done = run("--simulate", script, *args)
    assert done.returncode == 1
    assert why in done.stderr
    assert done.stderr.count("\n") == 1


def test_without_a_script_it_says_what_to_do() -> None:
    assert "--simulate" in run().stderr
