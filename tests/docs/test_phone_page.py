"""The first example of the page on the telephone: its script, called with the commands that the page prints."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.command_line import Done, run
from tests.docs.printed import page, shell_lines
from tests.limits import TEST_S
from tests.needs import needs_model

STORIES = Path(__file__).parents[2] / "examples" / "phone"


@pytest.fixture
def script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """call.yaml as the page prints it, in the folder in which the commands run."""
    for name in ("silero-vad", "moonshine-tiny", "smart-turn", "espeak-ng"):
        needs_model(name)
    (printed, *_) = re.findall(r"```yaml\n(# call\.yaml\n.*?)```", page("phone"), re.DOTALL)
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "call.yaml"
    file.write_text(printed, encoding="utf-8")
    return file


def call(is_fast: bool) -> Done:
    """Run the one of the two printed commands that uses the simulated clock, or the other one."""
    printed = [line for line in shell_lines(page("phone")) if line.startswith("duologue phone --simulate call.yaml")]
    (command,) = [line for line in printed if "--to" not in line and ("--fast" in line) is is_fast]
    if not is_fast:
        return run(*shlex.split(command)[1:])
    # A process of its own: how espeak sounds depends on what it has said before in the same process.
    done = subprocess.run(
        [sys.executable, "-m", *shlex.split(command)], capture_output=True, text=True, timeout=TEST_S, check=False
    )
    return Done(done.returncode, done.stdout, done.stderr)


def test_the_first_call_of_the_page_works_as_printed_on_the_simulated_clock(script: Path) -> None:
    done = call(is_fast=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"caller  .*weather in Berlin", done.stdout)
    assert re.search(r"agent  Hello, this is[^.]* —\n", done.stdout), "the greeting was cut off in its first sentence"


@pytest.mark.alone
def test_the_first_call_of_the_page_works_as_printed_over_a_websocket(script: Path) -> None:
    done = call(is_fast=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Heard on telnyx" in done.stdout
    assert script.with_suffix(".html").read_text(encoding="utf-8").lstrip().startswith("<!")


def test_the_story_of_the_page_works_as_printed(tmp_path: Path) -> None:
    for name in ("silero-vad", "moonshine-tiny", "smart-turn", "svox-pico"):
        needs_model(name)
    (printed,) = re.findall(r"```yaml\n(# machine\.yaml\n.*?)```", page("phone"), re.DOTALL)
    (tmp_path / "machine.yaml").write_text(printed, encoding="utf-8")
    shutil.copy(STORIES / "desk.py", tmp_path)
    done = run("phone", "--simulate", str(tmp_path / "machine.yaml"))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "message left on twilio" in done.stdout


def test_the_page_lists_every_story_and_prints_commands_with_stories_that_exist() -> None:
    text = page("phone")
    names = {file.stem for file in STORIES.glob("*.yaml")}
    listed = re.search(r"\| story in `examples/phone/`.*?\n\n", text, re.DOTALL)
    assert listed is not None
    assert set(re.findall(r"`(\w+)`", listed.group())) == names
    for line in shell_lines(text):
        for place in re.findall(r"examples/phone/(\w+)\.yaml", line):
            assert place in names
