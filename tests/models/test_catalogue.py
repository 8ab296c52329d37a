"""The catalogue is complete, plain and safe to unpack."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path, PurePosixPath

import pytest

from duologue.models import DEMO, MODELS, UnknownModel
from duologue.models import catalogue as catalogue_module
from duologue.models.catalogue import Model, megabytes, model_named, parts_here, runs_here, with_companions

ALL = list(MODELS.values())


def be_on(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setattr(catalogue_module, "platform_name", lambda: name)


@pytest.mark.parametrize("model", ALL, ids=lambda model: model.name)
def test_every_part_is_pinned_by_size_and_hash(model: Model) -> None:
    for part in model.parts:
        assert re.fullmatch(r"[0-9a-f]{64}", part.sha256)
        assert part.size_bytes > 0
        assert part.package.download_bytes > 0
        assert re.fullmatch(r"\d+(\.\d+)*(a\d+)?", part.package.version)


@pytest.mark.parametrize("model", ALL, ids=lambda model: model.name)
def test_every_part_stays_in_its_folder(model: Model) -> None:
    for part in model.parts:
        for path in (PurePosixPath(part.inside), PurePosixPath(part.cached_as)):
            assert not path.is_absolute()
            assert ".." not in path.parts


@pytest.mark.parametrize("model", ALL, ids=lambda model: model.name)
def test_every_model_says_what_it_is_and_under_which_licence(model: Model) -> None:
    assert model.what
    assert model.licence_note.startswith(model.licence)
    assert "\n" not in model.what + model.licence_note + model.note


def test_models_that_are_pulled_together_are_in_the_catalogue() -> None:
    assert with_companions(["minilm", "e5-small"], MODELS) == ["minilm", "e5-small"]
    assert {name for model in ALL for name in model.pulled_with} <= set(MODELS)


def test_the_gpl_licence_is_named() -> None:
    assert [model.name for model in ALL if model.is_gpl] == ["espeak-ng"]


def test_the_demo_needs_no_npm() -> None:
    assert all(package.registry == "pypi" for name in DEMO for package in MODELS[name].packages)


def test_silero_and_smart_turn_share_one_download() -> None:
    assert MODELS["silero-vad"].packages == MODELS["smart-turn"].packages


def test_no_model_of_a_closed_licence_comes_along() -> None:
    assert not [part.inside for model in ALL for part in model.parts if "non-commercial" in part.inside]


@pytest.mark.parametrize(
    ("name", "files"),
    [
        ("silero-vad", {"silero_vad.onnx"}),
        ("smart-turn", {"smart_turn.onnx", "LICENSE"}),
        ("moonshine-tiny", {"encoder.ort", "decoder.ort", "tokenizer.bin", "LICENSE"}),
        ("moonshine-base", {"encoder.onnx", "decoder.onnx", "tokenizer.json", "LICENSE"}),
        ("minilm", {"model.safetensors", "vocab.txt", "README.md"}),
        ("e5-small", {"e5-small.onnx", "e5-small.onnx.data", "LICENSE"}),
        ("svox-pico", {"lang", "lib"}),
        ("espeak-ng", {"libespeak-ng.so", "espeak-ng-data"}),
    ],
)
def test_the_layout_that_others_rely_on_stays(monkeypatch: pytest.MonkeyPatch, name: str, files: set[str]) -> None:
    be_on(monkeypatch, "linux-x86_64")
    assert {part.cached_as for part in parts_here(MODELS[name])} == files


def test_each_platform_gets_its_own_library(monkeypatch: pytest.MonkeyPatch) -> None:
    espeak = MODELS["espeak-ng"]
    for part in espeak.parts:
        if part.only_on:
            be_on(monkeypatch, part.only_on)
            assert runs_here(espeak)
            assert [other for other in parts_here(espeak) if other.only_on] == [part]


def test_a_platform_without_a_library_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    be_on(monkeypatch, "plan9-mips")
    assert not runs_here(MODELS["espeak-ng"])
    assert runs_here(MODELS["silero-vad"])


def test_a_library_is_compiled_on_linux_and_macos_only(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, is_compiled in (("linux-aarch64", True), ("darwin-arm64", True), ("win32-amd64", False)):
        be_on(monkeypatch, name)
        assert runs_here(MODELS["svox-pico"]) is is_compiled


def test_a_package_of_source_is_pinned_as_a_whole() -> None:
    for model in ALL:
        hashes = {package.source_sha256 for package in model.packages}
        assert (model.library is None) == (hashes == {""})
        assert all(re.fullmatch(r"([0-9a-f]{64})?", each) for each in hashes)


def test_an_unknown_name_lists_the_known_ones() -> None:
    with pytest.raises(UnknownModel, match=r"^no model 'silero'; known models: silero-vad, smart-turn, "):
        model_named("silero", MODELS)


def test_the_catalogue_cannot_be_changed() -> None:
    with pytest.raises(TypeError):
        MODELS["silero-vad"] = MODELS["smart-turn"]  # type: ignore[index]


def test_sizes_are_written_for_people() -> None:
    assert (megabytes(2_327_524), megabytes(43_944_900)) == ("2.3 MB", "44 MB")


def test_nothing_is_fetched_and_no_process_started_by_importing(tmp_path: Path) -> None:
    code = (
        "import sys; sys.addaudithook(lambda event, _: event.startswith(('subprocess', 'socket', 'os.mkdir'))"
        " and sys.exit(f'{event} while importing'))\n"
        "import duologue.models, duologue.models.pull, duologue.cli.models"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        env={"DUOLOGUE_MODELS": str(tmp_path / "models"), "PYTHONDONTWRITEBYTECODE": "1"},
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert not (tmp_path / "models").exists()


def test_the_page_about_models_names_each_with_its_licence_size_and_packages() -> None:
    page = (Path(__file__).parent.parent.parent / "docs" / "models.md").read_text(encoding="utf-8")
    for model in ALL:
        (line,) = [line for line in page.splitlines() if line.startswith(f"| `{model.name}` ")]
        size = sum(part.size_bytes for part in model.parts if part.only_on in ("", "linux-x86_64"))
        for said in (model.licence, megabytes(size), *(f"{each.name} {each.version}" for each in model.packages)):
            assert said in line


def test_no_file_names_the_address_of_a_registry() -> None:
    for path in Path(catalogue_module.__file__).parent.glob("*.py"):
        assert "://" not in path.read_text(encoding="utf-8")
