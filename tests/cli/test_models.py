"""`duologue models`: results on standard output, progress on standard error, one line for a problem."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console
from typer.testing import CliRunner, Result

from duologue.cli import models as command
from duologue.cli.app import app
from duologue.cli.models import pull_or_stand_in
from duologue.models import DEMO, cache
from duologue.models import MODELS as REAL_MODELS
from duologue.models import pull as pull_module
from duologue.models.failure import PullFailed
from duologue.models.pull import Pulled, silent
from tests.cli.command_line import run as run_command
from tests.models.fake_packages import MODELS, FakeRegistry
from tests.voice.onnx_by_hand import piper_model


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DUOLOGUE_MODELS", str(tmp_path / "models"))
    return tmp_path / "models"


@pytest.fixture
def fakes(folder: Path, monkeypatch: pytest.MonkeyPatch) -> FakeRegistry:
    """The command has only the small fake models, and gets them without a network."""
    registry = FakeRegistry()
    monkeypatch.setattr(command, "MODELS", MODELS)
    monkeypatch.setattr(command, "DEMO", ("hearing", "turning"))
    for function in (cache.is_present, cache.verify_and_stamp, pull_module.pull):
        monkeypatch.setitem(function.__kwdefaults__, "models", MODELS)
    monkeypatch.setattr(pull_module, "Installers", lambda: registry)
    return registry


def run(*args: str) -> Result:
    return CliRunner().invoke(app, ["models", *args])


# -- list


def test_every_model_is_listed_with_its_licence_and_whether_it_is_here(folder: Path) -> None:
    done = run("list")
    assert done.exit_code == 0
    for model in REAL_MODELS.values():
        (line,) = [line for line in done.stdout.splitlines() if line.startswith(f"{model.name} ")]
        assert model.licence in line
        assert line.rstrip().endswith("no")
    assert "duologue models pull" not in done.stdout
    assert not folder.exists()


def test_the_list_as_json(fakes: FakeRegistry, folder: Path) -> None:
    run("pull", "speaking")
    data = json.loads(run("list", "--json").stdout)
    assert data["folder"] == str(folder)
    present = {model["name"]: model["present"] for model in data["models"]}
    assert present == {"hearing": False, "turning": False, "speaking": True}
    assert data["models"][2]["packages"] == [
        {"registry": "npm", "package": "@fake/voice@2.0", "download_bytes": 2_000},
        {"registry": "pypi", "package": "fake-ears==1.0", "download_bytes": 1_000},
    ]


# -- pull


def test_without_a_name_what_the_demo_needs_is_pulled(fakes: FakeRegistry, folder: Path) -> None:
    assert set(DEMO) < set(REAL_MODELS)
    done = run("pull")
    assert done.exit_code == 0
    lines = [line.split() for line in done.stdout.splitlines()]
    assert [(line[0], line[1], line[-1]) for line in lines] == [
        ("hearing", "pulled", str(folder / "hearing")),
        ("turning", "pulled", str(folder / "turning")),
    ]


def test_models_that_work_together_are_pulled_together(fakes: FakeRegistry, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "MODELS", {**MODELS, "hearing": replace(MODELS["hearing"], pulled_with=("turning",))})
    done = run("pull", "hearing")
    assert [line.split()[:2] for line in done.stdout.splitlines()] == [["hearing", "pulled"], ["turning", "pulled"]]


def test_pulling_a_gpl_model_prints_its_licence(fakes: FakeRegistry) -> None:
    assert "speaking: " not in run("pull", "hearing").stdout
    assert "speaking: " in run("pull", "--all").stdout


def test_a_model_that_was_there_is_reported_as_such(fakes: FakeRegistry) -> None:
    run("pull", "hearing")
    assert "hearing         was there" in run("pull", "hearing").stdout


def test_the_steps_go_to_standard_error(fakes: FakeRegistry) -> None:
    done = run("pull", "hearing")
    assert done.stderr.splitlines() == [
        "fake-ears==1.0: fetching, 0.0 MB",
        "hearing: unpacking, 0.0 MB",
        "hearing: ready, 0.0 MB",
    ]


def test_on_a_terminal_the_steps_are_bars(tmp_path: Path) -> None:
    with (tmp_path / "terminal").open("w+", encoding="utf-8") as terminal:
        with command.progress_bars(Console(file=terminal, force_terminal=True, width=100)) as tell:
            tell("fake-ears==1.0", pull_module.PullStage.FETCHING, 500, 1_000)
            tell("fake-ears==1.0", pull_module.PullStage.FETCHING, 1_000, 1_000)
            tell("hearing", pull_module.PullStage.WAITING, 0, 0)
        terminal.seek(0)
        assert "fake-ears==1.0: fetching" in terminal.read()


def test_all_and_names_exclude_each_other(folder: Path) -> None:
    done = run_command("models", "pull", "--all", "silero-vad")
    assert (done.returncode, done.stderr) == (1, "error: use either --all or names, not both\n")


def test_an_unknown_name_is_one_line(folder: Path) -> None:
    for action in ("pull", "verify"):
        done = run_command("models", action, "silero")
        assert done.returncode == 1
        assert done.stderr.startswith("error: no model 'silero'; known models: silero-vad, ")
        assert len(done.stderr.splitlines()) == 1


def test_without_npm_the_command_says_what_to_do(folder: Path) -> None:
    done = run_command("models", "pull", "moonshine-base", env={"PATH": "/nowhere"})
    assert done.returncode == 1
    assert done.stderr == (
        "error: @usefulsensors/moonshine-js needs npm: install Node's npm, or don't pull this model\n"
    )
    assert [path.name for path in folder.iterdir()] == [".lock"]


def test_without_a_compiler_the_command_says_what_to_do(folder: Path) -> None:
    done = run_command("models", "pull", "svox-pico", env={"PATH": "/nowhere"})
    assert done.returncode == 1
    assert done.stderr == "error: svox-pico needs a C compiler: install gcc or clang, or don't pull this model\n"


def refuse_once(monkeypatch: pytest.MonkeyPatch, failure: PullFailed) -> list[list[str]]:
    """The first pull fails. Returns the names that each pull is asked for."""
    pulled: list[list[str]] = []

    def pull(names: Sequence[str], report: object) -> list[Pulled]:
        pulled.append(list(names))
        if len(pulled) == 1:
            raise failure
        return []

    monkeypatch.setattr(pull_module, "pull", pull)
    return pulled


def test_what_the_demo_pulls_without_a_compiler_has_the_other_voice_and_one_line_says_so(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    failure = PullFailed("svox-pico needs a C compiler")
    failure.models = ("svox-pico",)
    pulled = refuse_once(monkeypatch, failure)
    err = Console(file=io.StringIO(), width=200)
    pull_or_stand_in(["silero-vad", "svox-pico"], silent, err)
    assert pulled == [["silero-vad", "svox-pico"], ["silero-vad", "espeak-ng"]]
    assert isinstance(err.file, io.StringIO)
    assert err.file.getvalue() == "espeak-ng speaks instead: svox-pico needs a C compiler\n"


@pytest.mark.parametrize("models", [(), ("moonshine-tiny",)], ids=["the cache folder", "another model"])
def test_a_failure_of_something_else_is_no_reason_for_another_voice(
    folder: Path, monkeypatch: pytest.MonkeyPatch, models: tuple[str, ...]
) -> None:
    failure = PullFailed("moonshine-tiny is damaged, or the folder isn't writable")
    failure.models = models
    pulled = refuse_once(monkeypatch, failure)
    err = Console(file=io.StringIO(), width=200)
    with pytest.raises(PullFailed, match="damaged"):
        pull_or_stand_in(["moonshine-tiny", "svox-pico"], silent, err)
    assert len(pulled) == 1
    assert isinstance(err.file, io.StringIO)
    assert err.file.getvalue() == ""


def test_a_cache_that_cannot_be_created_ends_the_pull_of_the_demo(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder.write_text("a file")
    err = Console(file=io.StringIO(), width=200)
    with pytest.raises(PullFailed, match="can't be created"):
        pull_or_stand_in(["silero-vad", "svox-pico"], silent, err)
    assert isinstance(err.file, io.StringIO)
    assert err.file.getvalue() == ""


# -- verify


def test_a_complete_model_is_reported_as_complete(fakes: FakeRegistry) -> None:
    run("pull", "--all")
    done = run("verify")
    assert done.exit_code == 0
    assert done.stdout == "hearing: whole\nturning: whole\nspeaking: whole\n"


def test_a_changed_file_is_exit_code_1_and_says_how_to_mend_it(fakes: FakeRegistry, folder: Path) -> None:
    run("pull", "--all")
    (folder / "hearing" / "ears.onnx").write_bytes(b"short")
    done = run("verify")
    assert done.exit_code == 1
    assert done.stdout.splitlines() == [
        "hearing: ears.onnx has 5 bytes, expected 850",
        "turning: whole",
        "speaking: whole",
        "run `duologue models pull hearing`",
    ]
    assert run("pull", "hearing").exit_code == 0
    assert run("verify").exit_code == 0


def test_problems_as_json(fakes: FakeRegistry) -> None:
    run("pull", "hearing")
    done = run("verify", "hearing", "turning", "--json")
    assert done.exit_code == 1
    assert json.loads(done.stdout)["models"] == {
        "hearing": {"whole": True, "problems": []},
        "turning": {"whole": False, "problems": ["turn.onnx is missing"]},
    }


def test_an_empty_cache_has_nothing_wrong_with_it(folder: Path) -> None:
    done = run("verify")
    assert done.exit_code == 0
    assert done.stdout.startswith("no models in ")


def test_a_voice_is_added_listed_and_checked(tmp_path: Path) -> None:
    pytest.importorskip("onnxruntime", reason="pip install 'duologue[speech]'")
    model, env = tmp_path / "anna.onnx", {"DUOLOGUE_MODELS": str(tmp_path / "cache")}
    model.write_bytes(piper_model())
    letters = {letter: [number] for number, letter in enumerate("_^$ abc")}
    settings = {"audio": {"sample_rate": 16_000}, "phoneme_type": "text", "phoneme_id_map": letters}
    (tmp_path / "anna.onnx.json").write_text(json.dumps(settings))
    done = run_command("models", "add", "anna", str(model), "--language", "en", env=env)
    assert done.stdout.startswith("anna: a Piper voice for en, 16000 Hz\n")
    listed = json.loads(run_command("models", "list", "--json", env=env).stdout)
    assert [voice["name"] for voice in listed["added"]] == ["anna"]
    model.write_bytes(b"no model")
    done = run_command("models", "add", "anna", str(model), env=env)
    assert done.returncode == 1
    assert "wasn't added" in done.stderr
    listed = json.loads(run_command("models", "list", "--json", env=env).stdout)
    assert [voice["name"] for voice in listed["added"]] == ["anna"], "the one that was there is kept"
