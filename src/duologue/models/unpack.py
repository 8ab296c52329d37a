"""Take the wanted parts out of a package's archive, and nothing else.

Rule: a name in an archive never decides where bytes go, but for the files of a wanted folder, and those
never leave it; no part may bring more bytes than the catalogue says.
"""

from __future__ import annotations

import gzip
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import IO

from .catalogue import Part
from .failure import PullFailed

_CHUNK_BYTES = 1 << 20
_DAMAGE = (zipfile.BadZipFile, tarfile.TarError, gzip.BadGzipFile, zlib.error, EOFError, RuntimeError)


def unpack(archive: Path, parts: Sequence[Part], into: Path) -> None:
    """Write the parts into a folder. Whether all are there and right is for the caller to inspect."""
    left_bytes = [part.size_bytes for part in parts]
    try:
        for name, open_file in _files_of(archive):
            for number, part in enumerate(parts):
                if target := _target(part, name, into):
                    left_bytes[number] -= _copy(open_file, target, left_bytes[number], name)
    except _DAMAGE as error:
        raise PullFailed(f"{archive.name} is damaged: {error}") from error


def _target(part: Part, name: str, into: Path) -> Path | None:
    """Where a file of the archive goes as this part, if it belongs to it."""
    if not part.files:
        return into / part.cached_as if name == part.inside else None
    if not name.startswith(f"{part.inside}/"):
        return None
    steps = name.removeprefix(f"{part.inside}/").split("/")
    if any(step in ("", ".", "..") or "\\" in step or ":" in step for step in steps):
        raise PullFailed(f"the package has a file that leads out of its folder: {name!r}")
    return (into / part.cached_as).joinpath(*steps)


def _copy(open_file: Callable[[], IO[bytes] | None], target: Path, bytes_max: int, name: str) -> int:
    target.parent.mkdir(parents=True, exist_ok=True)
    written, source = 0, open_file()
    assert source is not None, "only regular files are offered"
    with source, target.open("wb") as out:
        while chunk := source.read(_CHUNK_BYTES):
            written += len(chunk)
            if written > bytes_max:
                raise PullFailed(f"{name} is larger than expected; nothing was kept")
            out.write(chunk)
    return written


# -- Wheels and npm's tarballs look alike from here


def _files_of(archive: Path) -> Iterator[tuple[str, Callable[[], IO[bytes] | None]]]:
    """Every regular file by its name; links and devices are passed over."""
    if archive.suffix == ".tgz":
        with tarfile.open(archive, "r:gz") as tar:
            for member in tar:
                if member.isreg():
                    yield member.name, partial(tar.extractfile, member)
    else:
        with zipfile.ZipFile(archive) as wheel:
            for entry in wheel.infolist():
                if not entry.is_dir():
                    yield entry.filename, partial(wheel.open, entry)
