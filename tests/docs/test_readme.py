"""The README's code runs as printed, and its commands, targets, extras and pages exist."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path

import pytest

from duologue import Agent
from duologue.models import DEMO, MODELS
from tests.docs.printed import ROOT, check_commands, check_extras, page, python_blocks
from tests.needs import needs_model

pytest_plugins = ["pytester"]
README = (ROOT / "README.md").read_text(encoding="utf-8")
HELLO, LLM, FIRST_TEST = python_blocks(README)


def test_it_is_short_and_its_pictures_exist() -> None:
    assert len(README.splitlines()) < 150
    pictures = re.findall(r"^!\[.+\]\((.+)\)$", README, re.MULTILINE)
    assert pictures
    assert all((ROOT / picture).is_file() for picture in pictures)


def test_hello_world_runs_as_printed(tmp_path: Path) -> None:
    assert len(HELLO.splitlines()) <= 12
    file = tmp_path / "hello.py"
    file.write_text(HELLO, encoding="utf-8")
    done = subprocess.run([sys.executable, str(file)], capture_output=True, text=True, check=True)
    printed = re.search(r"print\(call\.heard\)  # (.*)", HELLO)
    assert printed
    assert done.stdout.strip() == printed.group(1)


def test_the_agent_with_an_llm_ears_and_a_voice_is_made_as_printed() -> None:
    for name in ("silero-vad", "moonshine-tiny", "smart-turn", "espeak-ng"):
        needs_model(name)
    seen: dict[str, object] = {}
    exec(LLM, seen)
    assert isinstance(seen["agent"], Agent)
    assert [worker.tool.name for worker in seen["agent"].workers] == ["opening_hours"]


def test_the_first_test_passes_as_printed(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(test_first=FIRST_TEST)
    pytester.runpytest_subprocess("-q", "-p", "no:cacheprovider").assert_outcomes(passed=1)


def test_a_test_without_an_agent_is_told_what_to_do(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("def test_without_an_agent(call):\n    call.user('hello')\n")
    result = pytester.runpytest_subprocess("-q", "-p", "no:cacheprovider")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*define a fixture `agent`*"])


def test_its_commands_exist() -> None:
    assert check_commands(README) >= 6


def test_every_make_target_that_is_named_exists() -> None:
    named = set(re.findall(r"`make ([a-z-]+)`|^make ([a-z-]+)", README, re.MULTILINE))
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    assert {first or second for first, second in named} <= targets


def megabytes_of(names: Sequence[str]) -> int:
    packages = {package for name in names for package in MODELS[name].packages}
    return round(sum(package.download_bytes for package in packages) / 1e6)


def test_the_download_of_the_models_is_what_their_packages_weigh() -> None:
    weight = f"{megabytes_of(DEMO)} MB"
    assert f"{weight} of speech models" in README
    assert f"fetches about {weight}" in page("quickstart")
    assert f"{weight} of models" in page("choosing")


def test_the_parts_of_the_download_of_the_demo_add_up() -> None:
    (packages,) = map(int, re.findall(r"(\d+) MB of packages into `\.venv`", README))
    understanding = megabytes_of(["minilm"])
    assert f"{understanding} MB of models that understand messages" in README
    assert f"downloads {packages + megabytes_of(DEMO) + understanding} MB once" in README
    assert f"packages into $(VENV): about {packages} MB" in (ROOT / "Makefile").read_text(encoding="utf-8")


def test_the_extras_are_complete() -> None:
    check_extras(README)
    data = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    listed = set(re.findall(r"`\[([a-z]+)\]`", README))
    assert listed == set(data["project"]["optional-dependencies"])
    (sentence,) = re.findall(r"`\[all\]` installs all extras for users except (.*?)\.", README)
    left_out = set(re.findall(r"\[([a-z]+)\]", sentence))
    (whole,) = data["project"]["optional-dependencies"]["all"]
    of_developers = {"all", "demo", "dev", "docs", "bench", "oracles", "providers"}
    assert set(whole.removeprefix("duologue[").removesuffix("]").split(",")) == listed - left_out - of_developers
