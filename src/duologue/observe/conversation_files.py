"""The files that a conversation has left in a folder: journals, words, ear journals, recordings, and copies of them.

A file belongs to a conversation if its name begins with the conversation's id or with the hash of its id. Rule: a file
whose name doesn't begin with such an id or hash is never deleted.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from .diagnostics import correlation_id

_OURS = re.compile(r"(?:[0-9a-f]{32}|[0-9a-f]{12})(?![0-9a-f])")
_CHUNK_BYTES = 1 << 20


def names_of(conversation: str) -> tuple[str, ...]:
    """The names that the files of a conversation begin with: the id of the conversation and the hash of this id.
    `conversation` may also be the hash; then the hash is the only name."""
    is_hash = re.fullmatch("[0-9a-f]{12}", conversation) is not None
    return (conversation,) if is_hash else (conversation, correlation_id(conversation))


def files_of(folder: Path, conversation: str) -> list[Path]:
    """The files of a conversation in this folder and its subfolders."""
    names = names_of(conversation)
    return sorted(path for path in _files(folder) if any(_begins(path.name, name) for name in names))


def old_files(folder: Path, older_than_s: float, now_s: float) -> list[Path]:
    """The files of conversations in this folder and its subfolders that were last written at least `older_than_s`
    seconds ago."""
    return sorted(
        path for path in _files(folder) if _OURS.match(path.name) and now_s - _written_s(path, now_s) >= older_than_s
    )


def delete(paths: Iterable[Path]) -> int:
    """Delete these files. Returns their number."""
    count = 0
    for path in paths:
        path.unlink(missing_ok=True)
        count += 1
    return count


def search(places: Iterable[Path], traces: Iterable[bytes]) -> list[Path]:
    """The files whose name or content contains one of the byte strings in `traces`. `places` lists the files and
    folders to search; folders are searched with their subfolders."""
    wanted = [trace for trace in traces if trace]
    files = [file for place in places for file in (_files(place) if place.is_dir() else [place])]
    return [file for file in files if file.is_file() and _contains(file, wanted)]


def _contains(file: Path, wanted: list[bytes]) -> bool:
    if any(trace in file.name.encode() for trace in wanted):
        return True
    overlap = max((len(trace) for trace in wanted), default=1) - 1
    before = b""
    with file.open("rb") as opened:
        while chunk := opened.read(_CHUNK_BYTES):
            data = before + chunk
            if any(trace in data for trace in wanted):
                return True
            before = data[len(data) - overlap :] if overlap else b""
    return False


def _begins(file: str, name: str) -> bool:
    return file.startswith(name) and not re.match("[0-9a-f]", file[len(name) :])


def _files(folder: Path) -> Iterator[Path]:
    return (path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())


def _written_s(path: Path, now_s: float) -> float:
    try:
        return path.stat().st_mtime
    except OSError:  # deleted meanwhile
        return now_s
