"""Where models are stored, and what is reported about incomplete ones."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from duologue.core.errors import DuologueError
from duologue.models import ModelMissing, cache_folder, is_present, model_path, verify
from duologue.models import cache as cache_module
from duologue.models.cache import STAMP, ModelChanged, verify_and_stamp
from duologue.models.pull import pull
from tests.models.fake_packages import DICTIONARIES, HEARS, MODELS, SPEAKS, TURNS, FakeRegistry


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache with the model that hears and the one that speaks."""
    monkeypatch.setenv("DUOLOGUE_MODELS", str(tmp_path / "models"))
    pull(["hearing", "speaking"], models=MODELS, source=FakeRegistry())
    return tmp_path / "models"


# -- Where


def test_the_folder_can_be_chosen(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("DUOLOGUE_MODELS", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", "/elsewhere")
    assert cache_folder() == tmp_path


def test_the_default_folder_is_in_the_users_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("DUOLOGUE_MODELS", raising=False)
    monkeypatch.delenv("DUOLOGUE_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder() == tmp_path / "duologue" / "models"


@pytest.mark.parametrize("xdg", [None, "", "relative/path"])
def test_without_a_usable_cache_setting_the_folder_is_at_home(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, xdg: str | None
) -> None:
    monkeypatch.delenv("DUOLOGUE_MODELS", raising=False)
    monkeypatch.delenv("DUOLOGUE_CACHE", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    if xdg is not None:
        monkeypatch.setenv("XDG_CACHE_HOME", xdg)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cache_folder() == tmp_path / ".cache" / "duologue" / "models"


def test_the_projects_own_variable_comes_before_the_users_cache(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("DUOLOGUE_MODELS", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "users"))
    monkeypatch.setenv("DUOLOGUE_CACHE", str(tmp_path / "ours"))
    assert cache_folder() == tmp_path / "ours" / "models"


def test_a_tilde_and_a_relative_folder_are_understood(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("DUOLOGUE_MODELS", "~/weights")
    assert cache_folder() == tmp_path / "weights"
    monkeypatch.setenv("DUOLOGUE_MODELS", "weights")
    assert cache_folder() == Path.cwd() / "weights"


# -- Present or missing


def test_a_pulled_model_is_found(cache: Path) -> None:
    path = model_path("hearing", models=MODELS)
    assert path == cache / "hearing"
    assert (path / "ears.onnx").read_bytes() == HEARS


def test_a_missing_model_says_in_one_line_what_to_run(cache: Path) -> None:
    with pytest.raises(ModelMissing) as missing:
        model_path("turning", models=MODELS)
    assert str(missing.value) == "the model turning is missing; run `duologue models pull turning`"
    assert missing.value.name == "turning"
    assert isinstance(missing.value, DuologueError)


def test_a_process_hashes_a_model_once(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model_path("speaking", models=MODELS)
    monkeypatch.setattr(cache_module, "hashlib", None)
    assert model_path("speaking", models=MODELS)


@pytest.mark.parametrize("was_used", [False, True])
def test_a_changed_file_of_the_same_size_is_refused_until_the_model_is_pulled_again(
    cache: Path, was_used: bool
) -> None:
    if was_used:
        model_path("speaking", models=MODELS)
    file = cache / "speaking" / "data" / "en_dict"
    good = file.read_bytes()
    file.write_bytes(bytes(reversed(good)))
    os.utime(file, ns=(1, 1))
    with pytest.raises(
        ModelChanged, match=r"^the model speaking can't be used: .* run `duologue models pull speaking`"
    ):
        model_path("speaking", models=MODELS)
    with pytest.raises(ModelMissing):
        model_path("speaking", models=MODELS)
    pull(["speaking"], models=MODELS, source=FakeRegistry())
    assert model_path("speaking", models=MODELS)
    assert file.read_bytes() == good


@pytest.mark.parametrize("spoil", ["longer", "shorter", "gone", "folder"])
def test_a_file_of_another_size_makes_a_model_missing(cache: Path, spoil: str) -> None:
    file = cache / "speaking" / "data" / "en_dict"
    if spoil == "longer":
        file.write_bytes(DICTIONARIES["en_dict"] + b"!")
    elif spoil == "shorter":
        file.write_bytes(b"")
    else:
        file.unlink()
        if spoil == "folder":
            file.mkdir()
    assert not is_present("speaking", models=MODELS)
    with pytest.raises(ModelMissing):
        model_path("speaking", models=MODELS)


@pytest.mark.parametrize(
    "stamp", ["", "{", "[]", "null", '{"pins": {}, "files": {}}', '{"pins": {"a": "b"}, "files": 3}']
)
def test_an_unreadable_stamp_counts_as_missing(cache: Path, stamp: str) -> None:
    (cache / "hearing" / STAMP).write_text(stamp, encoding="utf-8")
    assert not is_present("hearing", models=MODELS)


def test_a_stamp_of_another_version_counts_as_missing(cache: Path) -> None:
    path = cache / "hearing" / STAMP
    stamp = json.loads(path.read_text(encoding="utf-8"))
    stamp["pins"]["ears.onnx"] = "0" * 64
    path.write_text(json.dumps(stamp), encoding="utf-8")
    assert not is_present("hearing", models=MODELS)


# -- Complete or damaged


def test_a_complete_model_has_no_problems(cache: Path) -> None:
    assert verify("hearing", models=MODELS) == []
    assert verify("speaking", models=MODELS) == []


def test_a_model_that_was_never_pulled_lists_its_missing_parts(cache: Path) -> None:
    assert verify("turning", models=MODELS) == ["turn.onnx is missing"]


def test_a_wrong_size_is_reported(cache: Path) -> None:
    (cache / "hearing" / "ears.onnx").write_bytes(HEARS[:-1])
    assert verify("hearing", models=MODELS) == [f"ears.onnx has {len(HEARS) - 1} bytes, expected {len(HEARS)}"]


def test_a_wrong_hash_is_reported_with_both_hashes(cache: Path) -> None:
    part = MODELS["hearing"].parts[0]
    (cache / "hearing" / "ears.onnx").write_bytes(HEARS[::-1])
    (problem,) = verify("hearing", models=MODELS)
    assert problem.startswith("ears.onnx has the SHA-256 ")
    assert problem.endswith(f", expected {part.sha256}")


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda data: (data / "en_dict").write_bytes(b"three two one"), "data/en_dict was changed"),
        (lambda data: (data / "en_dict").unlink(), "data/en_dict is missing"),
        (lambda data: (data / "lang" / "more").write_bytes(b""), "data/lang/more isn't part of the model"),
    ],
)
def test_a_changed_file_of_a_folder_is_named(cache: Path, change: object, says: str) -> None:
    change(cache / "speaking" / "data")  # type: ignore[operator]
    problems = verify("speaking", models=MODELS)
    assert problems[0] == says
    assert problems[1].startswith("data has the SHA-256 ")
    assert len(problems) == 2


def test_without_a_stamp_a_changed_folder_is_reported_as_one(cache: Path) -> None:
    (cache / "speaking" / STAMP).unlink()
    (cache / "speaking" / "data" / "en_dict").unlink()
    (problem,) = verify("speaking", models=MODELS)
    assert problem.endswith("(2 files instead of 3)")


def test_verifying_changes_nothing(cache: Path) -> None:
    (cache / "hearing" / "ears.onnx").write_bytes(HEARS[::-1])
    before = (cache / "hearing" / STAMP).read_bytes()
    verify("hearing", models=MODELS)
    assert (cache / "hearing" / STAMP).read_bytes() == before


def test_a_damaged_model_is_missing_until_it_is_pulled_again(cache: Path) -> None:
    (cache / "hearing" / "ears.onnx").write_bytes(HEARS[::-1])  # the same size: the stamp can't know
    assert is_present("hearing", models=MODELS)
    assert verify_and_stamp("hearing", models=MODELS)
    assert not is_present("hearing", models=MODELS)
    pull(["hearing"], models=MODELS, source=FakeRegistry())
    assert verify("hearing", models=MODELS) == []


def test_files_put_there_by_hand_are_stamped_once_verified(cache: Path) -> None:
    (cache / "turning").mkdir()
    (cache / "turning" / "turn.onnx").write_bytes(TURNS)
    assert not is_present("turning", models=MODELS)
    assert verify_and_stamp("turning", models=MODELS) == []
    assert is_present("turning", models=MODELS)


def test_verifying_a_complete_model_writes_nothing(cache: Path) -> None:
    before = (cache / "speaking" / STAMP).stat().st_mtime_ns
    assert verify_and_stamp("speaking", models=MODELS) == []
    assert (cache / "speaking" / STAMP).stat().st_mtime_ns == before
    assert (cache / "speaking" / "voice.onnx").read_bytes() == SPEAKS
