"""A model that comes as source: compiled after its hash was checked, or refused in one line."""

from __future__ import annotations

import ctypes
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from duologue.models import Model, is_present, verify
from duologue.models import compile as compile_module
from duologue.models.catalogue import CompiledLibrary, catalogue_of
from duologue.models.compile import find_compiler
from duologue.models.failure import PullFailed
from duologue.models.pull import PullStage, pull
from tests.models.fake_packages import EARS, FakeRegistry, folder_part
from tests.needs import missing

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="libraries are compiled on Linux and macOS")

SOURCES = {"answer.c": b"int answer(void) { return 42; }\n", "NOTICE": b"free\n"}
FILES = {f"fake_ears/lib/{name}": content for name, content in SOURCES.items()}


def model_of(sources: dict[str, bytes]) -> Model:
    part = folder_part(EARS, "fake_ears/lib", "lib", sources)
    return Model("adviser", "answers", "MIT", "", (part,), library=CompiledLibrary("lib", "libanswer.so"))


ADVISER = catalogue_of([model_of(SOURCES)])


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DUOLOGUE_MODELS", str(tmp_path / "models"))
    return tmp_path / "models"


@pytest.fixture
def _compiler() -> None:
    if not find_compiler():
        missing("a C compiler is missing: install gcc or clang")


@pytest.mark.usefixtures("_compiler")
def test_the_library_is_compiled_and_can_be_loaded(cache: Path) -> None:
    stages: list[PullStage] = []
    pull(["adviser"], lambda _, stage, *__: stages.append(stage), models=ADVISER, source=FakeRegistry(FILES))
    assert ctypes.CDLL(str(cache / "adviser" / "libanswer.so")).answer() == 42
    assert (stages[-2], stages[-1]) == (PullStage.COMPILING, PullStage.READY)
    assert is_present("adviser", models=ADVISER)
    assert verify("adviser", models=ADVISER) == []


@pytest.mark.usefixtures("_compiler")
def test_a_library_that_was_changed_or_deleted_is_noticed(cache: Path) -> None:
    pull(["adviser"], models=ADVISER, source=FakeRegistry(FILES))
    library = cache / "adviser" / "libanswer.so"
    library.write_bytes(b"x" * library.stat().st_size)
    assert verify("adviser", models=ADVISER) == ["libanswer.so was changed after it was compiled"]
    library.unlink()
    assert not is_present("adviser", models=ADVISER)
    assert verify("adviser", models=ADVISER) == ["libanswer.so isn't compiled yet"]


@pytest.mark.usefixtures("_compiler")
def test_a_library_of_another_platform_is_compiled_again(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pull(["adviser"], models=ADVISER, source=FakeRegistry(FILES))
    monkeypatch.setattr("duologue.models.catalogue.platform.machine", lambda: "other")
    assert not is_present("adviser", models=ADVISER)


@pytest.mark.usefixtures("_compiler")
def test_source_that_can_not_be_compiled_leaves_nothing(cache: Path) -> None:
    broken = {**SOURCES, "answer.c": b"int answer(void) { return }\n"}
    models = catalogue_of([model_of(broken)])
    registry = FakeRegistry({f"fake_ears/lib/{name}": content for name, content in broken.items()})
    with pytest.raises(PullFailed, match=r"adviser can't be compiled: .*error.*; nothing was installed"):
        pull(["adviser"], models=models, source=registry)
    assert not (cache / "adviser").exists()


def test_nothing_is_compiled_before_its_hash_was_checked(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        pytest.fail("compiled source that was not checked")

    monkeypatch.setattr("duologue.models.pull.compile_library", refuse)
    monkeypatch.setattr(compile_module, "find_compiler", lambda: ("cc",))
    other = FakeRegistry({**FILES, "fake_ears/lib/answer.c": b"int answer(void) { return 41; }\n"})
    with pytest.raises(PullFailed, match="lib has the SHA-256"):
        pull(["adviser"], models=ADVISER, source=other)


def test_without_a_compiler_nothing_is_fetched(cache: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    registry = FakeRegistry(FILES)
    with pytest.raises(PullFailed, match="adviser needs a C compiler: install gcc or clang"):
        pull(["adviser"], models=ADVISER, source=registry)
    assert registry.fetched == []


def test_the_compiler_can_be_chosen(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    program = tmp_path / "mine"
    program.touch(mode=0o755)
    monkeypatch.setenv("CC", f"{program} -m64")
    assert find_compiler() == (str(program), "-m64")
    monkeypatch.setenv("CC", str(tmp_path / "none"))
    assert find_compiler() == ()


def test_a_model_without_a_library_needs_no_compiler(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compile_module, "find_compiler", lambda: ())
    plain = catalogue_of([replace(model_of(SOURCES), library=None)])
    pull(["adviser"], models=plain, source=FakeRegistry(FILES))
    assert is_present("adviser", models=plain)
