"""The models on this machine: where each model is stored, and whether it is complete.

Reads the files of each model and its stamp, which is a file with hashes. Never downloads anything. Rule: when a process
first uses a model, the hashes of the model's files are compared with the catalogue. They are compared again if the size
or the time of a file has changed. To find out only whether a model is in the cache, the sizes of its files are
compared.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from duologue.core.errors import DuologueError

from .catalogue import MODELS, Model, PackagePart, model_named, parts_here, platform_name, runs_here
from .compile import OPTIONS

STAMP = ".duologue.json"
_CHUNK_BYTES = 1 << 20


class ModelMissing(DuologueError, LookupError):
    """A model isn't in the cache, or isn't complete there."""

    def __init__(self, name: str) -> None:
        self.name = name
        super().__init__(f"the model {name} is missing; run `duologue models pull {name}`")


class ModelChanged(DuologueError):
    """The files of a model differ from the catalogue: they are damaged, or another program has changed them."""

    def __init__(self, name: str, problem: str) -> None:
        self.name = name
        super().__init__(
            f"the model {name} can't be used: {problem}; run `duologue models pull {name}` to get it again"
        )


FileStates: TypeAlias = tuple[tuple[str, int, int], ...]  # path, size and time of change
_verified: dict[Path, FileStates] = {}  # by folder: the files as they were when their hashes were compared


def cache_folder() -> Path:
    """The folder for models. This is DUOLOGUE_MODELS if that variable is set. Otherwise it is the folder `models` in
    DUOLOGUE_CACHE if that variable is set. Otherwise it is `duologue/models` in the user's cache folder."""
    if chosen := os.environ.get("DUOLOGUE_MODELS"):
        return Path(chosen).expanduser().absolute()
    if chosen := os.environ.get("DUOLOGUE_CACHE"):
        return Path(chosen).expanduser().absolute() / "models"
    cache = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser()
    if not cache.is_absolute():  # the XDG specification says to ignore relative paths
        cache = Path("~/.cache").expanduser()
    return cache / "duologue" / "models"


def model_path(name: str, *, models: Mapping[str, Model] = MODELS) -> Path:
    """The folder of a model. The files in it have been verified. Raises `ModelMissing` if the model isn't in the cache
    or isn't complete, and `ModelChanged` if a file was changed."""
    if not is_present(name, models=models):
        raise ModelMissing(name)
    folder = cache_folder() / name
    states = _file_states(folder)
    if _verified.get(folder) != states:
        problems = inspect(folder, model_named(name, models)).problems
        if problems:
            with contextlib.suppress(OSError):
                (folder / STAMP).unlink()  # so that a pull repairs it
            raise ModelChanged(name, problems[0])
        _verified[folder] = states
    return folder


def _file_states(folder: Path) -> FileStates:
    paths = [folder / path for path in _paths_in(folder)]
    return tuple((str(path), (stat := path.stat()).st_size, stat.st_mtime_ns) for path in paths)


def is_present(name: str, *, models: Mapping[str, Model] = MODELS) -> bool:
    """Is the model complete, as far as this can be told without reading its files? True if it was verified with the
    hashes that are now in the catalogue, and its files still have the same sizes."""
    model = model_named(name, models)
    folder = cache_folder() / name
    stamp = read_stamp(folder)
    if stamp is None or stamp["pins"] != pins_of(model):
        return False
    return all(_size_of(folder / path) == fact["size_bytes"] for path, fact in stamp["files"].items())


def verify(name: str, *, models: Mapping[str, Model] = MODELS) -> list[str]:
    """The problems of a model, one line for each problem; empty if the model is fine. Every byte is read, and nothing
    is changed."""
    return inspect(cache_folder() / name, model_named(name, models)).problems


def verify_and_stamp(name: str, *, models: Mapping[str, Model] = MODELS) -> list[str]:
    """Verify a model and return its problems. If there are no problems, the model's stamp is written. Otherwise the
    stamp is removed, so that the next pull repairs the model."""
    model = model_named(name, models)
    folder = cache_folder() / name
    found = inspect(folder, model)
    if found.problems:
        if (folder / STAMP).is_file():
            (folder / STAMP).unlink()
    elif not is_present(name, models=models):
        write_stamp(folder, model, found)
    return found.problems


# -- Comparing every byte


@dataclass(frozen=True, slots=True)
class FolderContents:
    """The files in a model's folder, each with its size and hash, and the problems that were found."""

    files: dict[str, dict[str, Any]]
    problems: list[str]


def inspect(folder: Path, model: Model) -> FolderContents:
    """Compare the files in a model's folder with the catalogue, by size and hash."""
    files: dict[str, dict[str, Any]] = {}
    problems = [] if runs_here(model) else [f"{model.name} doesn't support {platform_name()}"]
    for part in parts_here(model):
        target = folder / part.cached_as
        if part.files:
            facts = {f"{part.cached_as}/{path}": _facts(target / path) for path in _paths_in(target)}
            problems += _folder_problems(part, facts, read_stamp(folder))
            files |= facts
        elif target.is_file():
            files[part.cached_as] = _facts(target)
            problems += _file_problems(part, files[part.cached_as])
        else:
            problems.append(f"{part.cached_as} is missing")
    if model.library is not None:
        made = model.library.cached_as
        if (folder / made).is_file():
            files[made] = _facts(folder / made)
            problems += _library_problems(made, files[made], read_stamp(folder))
        else:
            problems.append(f"{made} isn't compiled yet")
    return FolderContents(files, problems)


def _library_problems(made: str, fact: dict[str, Any], stamp: dict[str, Any] | None) -> Iterator[str]:
    """The problems of a library that was compiled on this machine. The hash of such a library isn't in the catalogue,
    only in the stamp."""
    if stamp is not None and stamp["files"].get(made) != fact:
        yield f"{made} was changed after it was compiled"


def _file_problems(part: PackagePart, fact: dict[str, Any]) -> Iterator[str]:
    if fact["size_bytes"] != part.size_bytes:
        yield f"{part.cached_as} has {fact['size_bytes']} bytes, expected {part.size_bytes}"
    elif fact["sha256"] != part.sha256:
        yield f"{part.cached_as} has the SHA-256 {fact['sha256']}, expected {part.sha256}"


def _folder_problems(
    part: PackagePart, facts: dict[str, dict[str, Any]], stamp: dict[str, Any] | None
) -> Iterator[str]:
    """The problems of a part of a model that is a whole folder. The catalogue has only one hash for the whole folder.
    If there is a stamp, its hashes are used to find out which files have changed."""
    if not facts:
        yield f"{part.cached_as} is missing"
        return
    digest = folder_digest({path.removeprefix(f"{part.cached_as}/"): fact["sha256"] for path, fact in facts.items()})
    if digest == part.sha256:
        return
    known = {path: fact for path, fact in (stamp or {"files": {}})["files"].items() if path.startswith(part.cached_as)}
    if known:
        yield from (f"{path} is missing" for path in known if path not in facts)
        yield from (f"{path} isn't part of the model" for path in facts if path not in known)
        yield from (f"{path} was changed" for path in facts if path in known and facts[path] != known[path])
    count = "" if len(facts) == part.files else f" ({len(facts)} files instead of {part.files})"
    yield f"{part.cached_as} has the SHA-256 {digest}, expected {part.sha256}{count}"


def folder_digest(hashes: Mapping[str, str]) -> str:
    """One SHA-256 for all files of a folder: the hash of the lines that `sha256sum` prints for them, sorted by path."""
    lines = "".join(f"{hashes[path]}  {path}\n" for path in sorted(hashes))
    return hashlib.sha256(lines.encode()).hexdigest()


def _paths_in(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def _facts(path: Path) -> dict[str, Any]:
    digest, size_bytes = hashlib.sha256(), 0
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK_BYTES):
            digest.update(chunk)
            size_bytes += len(chunk)
    return {"size_bytes": size_bytes, "sha256": digest.hexdigest()}


def _size_of(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return -1


# -- The stamp


def pins_of(model: Model) -> dict[str, str]:
    """The hash that the catalogue expects, for each path of a model. A stamp with other hashes is out of date. For a
    compiled library, the platform and the compiler options take the place of the hash."""
    pins = {part.cached_as: part.sha256 for part in parts_here(model)}
    if model.library is not None:
        pins[model.library.cached_as] = f"compiled on {platform_name()} with {' '.join(OPTIONS)}"
    return pins


def read_stamp(folder: Path) -> dict[str, Any] | None:
    """The stamp in a model's folder; None if there is no stamp or it can't be read."""
    try:
        stamp = json.loads((folder / STAMP).read_text(encoding="utf-8"))
        sizes = [fact["size_bytes"] for fact in stamp["files"].values()]
        return stamp if stamp["pins"] and sizes else None
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return None  # an incomplete or foreign stamp is treated as missing; the next pull writes it again


def write_stamp(folder: Path, model: Model, found: FolderContents) -> None:
    """Write the stamp of a model's folder, which records that the folder is complete."""
    assert not found.problems
    stamp = {"model": model.name, "pins": pins_of(model), "files": found.files}
    partial = folder / f"{STAMP}.{os.getpid()}"
    partial.write_text(json.dumps(stamp, indent=1) + "\n", encoding="utf-8")
    os.replace(partial, folder / STAMP)
