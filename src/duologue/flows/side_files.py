"""Reads files that belong to a flow file: lists of names, other flow files, and an FAQ.

Rule: such a file must be in the folder of the flow file, or in a folder inside it. A flow file can't read any other
file.
"""

from __future__ import annotations

from pathlib import Path

from .problems import quoted


class UnreadableSideFile(Exception):
    """A file that belongs to a flow file can't be used. The message says why, in one line."""


def read_side_file(name: str, folder: Path | None, chars_max: int, instead: str) -> tuple[Path, str]:
    """The path and the text of a file. `instead` completes the error message for flows that weren't loaded from a file:
    it says what to do instead. Raises UnreadableSideFile if the file can't be used."""
    if folder is None:
        raise UnreadableSideFile(f"file {quoted(name)} can't be found, because the flows aren't in a file; {instead}")
    try:
        file = (folder / name).resolve()
        if not file.is_relative_to(folder.resolve()):
            raise UnreadableSideFile(f"file {quoted(name)} is outside the folder of the flow file; move it there")
        with file.open(encoding="utf-8-sig") as opened:
            text = opened.read(chars_max + 1)
    except UnicodeDecodeError:
        raise UnreadableSideFile(f"file {quoted(name)} isn't UTF-8 text; save it in this encoding") from None
    except (OSError, ValueError) as error:
        raise UnreadableSideFile(
            f"file {quoted(name)} can't be read: {getattr(error, 'strerror', None) or error}"
        ) from None
    if len(text) > chars_max:
        raise UnreadableSideFile(f"file {quoted(name)} is too large; at most {chars_max:,} characters are allowed")
    return file, text
