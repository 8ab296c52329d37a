"""What an agent's file needs is found in its imports, and listed at once with the commands that get it."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import duologue
from duologue.cli import requirements
from duologue.cli.requirements import EXTRAS, NAMES, Requirements, requirements_of, requirements_of_agent
from duologue.core.errors import DuologueError
from duologue.models.catalogue import MODELS

ROOT = Path(__file__).parents[2]
SOURCE = """
from duologue import Agent, ChatBrain, LocalEars
from duologue.voice.espeak import EspeakVoice
from other import LocalNlu
"""


def test_extras_and_models_are_found_by_the_names_that_a_file_imports_from_duologue() -> None:
    found = requirements_of(SOURCE, ["server"])
    assert found.extras == ("server", "llm", "speech")
    assert found.models == ("silero-vad", "smart-turn", "moonshine-tiny", "espeak-ng")


def test_what_is_missing_comes_with_the_commands_that_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(requirements, "is_installed", lambda extra: extra == "server")
    monkeypatch.setattr(requirements, "is_present", lambda name: name == "smart-turn")
    missing = requirements_of(SOURCE, ["server"]).missing()
    assert missing.commands() == [
        "pip install 'duologue[llm,speech]'",
        "duologue models pull silero-vad moonshine-tiny espeak-ng",
    ]


def test_nothing_missing_needs_no_command() -> None:
    assert Requirements().commands() == []


def test_a_file_that_cant_be_read_needs_only_what_was_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "broken.py").write_text("this is not python", encoding="utf-8")
    assert requirements_of_agent("broken:agent", ["server"]) == Requirements(("server",))
    assert requirements_of_agent("absent:agent", ["server"]) == Requirements(("server",))


def test_the_extras_are_those_of_the_package() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert set(EXTRAS) <= set(project["optional-dependencies"])
    for extra in EXTRAS:
        assert requirements.is_installed(extra) or extra == "talk", f"the tests have no {extra}"


def test_the_models_are_in_the_catalogue() -> None:
    everything = requirements_of("from duologue import LocalEars, EspeakVoice, LocalNlu")
    assert set(everything.models) <= set(MODELS)


def test_a_name_that_is_not_listed_can_be_imported_with_the_standard_library_alone() -> None:
    """Each listed package counts as not installed, and each name that needs none of them is imported."""
    script = f"""
import sys
for module in {sorted({module for modules in EXTRAS.values() for module in modules})}:
    sys.modules[module] = None
import duologue
for name in {sorted(set(duologue.__all__) - set(NAMES))}:
    getattr(duologue, name)
"""
    subprocess.run([sys.executable, "-c", script], check=True)


def test_every_listed_name_is_public_and_needs_known_extras() -> None:
    assert set(NAMES) <= set(duologue.__all__)
    assert {extra for extras in NAMES.values() for extra in extras} <= set(EXTRAS)


@pytest.mark.parametrize(
    ("name", "extras"),
    [
        ("AnthropicBrain", ("anthropic",)),
        ("GeminiLive", ("realtime",)),
        ("PluginVoice", ("livekit",)),
        ("SpeechEndpointVoice", ("llm", "speech")),
        ("tool", ("tools",)),
    ],
)
def test_services_plugins_and_tools_bring_their_extras(name: str, extras: tuple[str, ...]) -> None:
    assert requirements_of(f"from duologue import {name}").extras == extras


def test_a_command_says_in_one_line_which_of_its_extras_are_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(requirements, "is_installed", lambda extra: extra == "server")
    with pytest.raises(DuologueError) as refused:
        requirements.require_extras("the test", "server", "flows", "postgres")
    expected = "the test needs packages that aren't installed; run `pip install 'duologue[flows,postgres]'`"
    assert str(refused.value) == expected
    requirements.require_extras("the test", "server")


def test_a_module_of_a_package_that_is_missing_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(EXTRAS, "testing", ("no_such_package.agents",))
    assert not requirements.is_installed("testing")
