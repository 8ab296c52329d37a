"""A recording as Ogg Opus: about a fifteenth of the size of WAV.

During a call, the recording is written as WAV, because its two sides are written separately. After the call, the file
is encoded. Rule: at any time, at least one of the two files is complete. The WAV file is deleted after the Opus file is
complete.
"""

from __future__ import annotations

import json
import os
import re
from importlib import import_module
from pathlib import Path
from typing import Any

from duologue.core.errors import DuologueError

BLOCK = 1 << 16  # samples of each side
_BEGAN_AT = re.compile(rb'"began_at_ms": (\d{1,12})')
_HEAD_BYTES = 4_096  # the comment of the file is in its first bytes


def check_opus() -> None:
    """Raise DuologueError if this machine can't write Opus files."""
    soundfile = _soundfile()
    if "OPUS" not in soundfile.available_subtypes("OGG"):
        raise DuologueError(f"libsndfile {soundfile.__libsndfile_version__} can't write Opus: record as wav")


def encode_opus(wav: Path, opus: Path, began_at: int) -> None:
    """Encode a WAV file as Opus, and then delete the WAV file. `began_at` is the time in the conversation, in
    milliseconds, at which the recording starts. If the encoding fails, OSError or RuntimeError is raised and the WAV
    file is kept."""
    soundfile = _soundfile()
    partial = opus.with_suffix(".opus.part")
    kind = {"format": "OGG", "subtype": "OPUS"}
    try:
        with (
            os.fdopen(os.open(partial, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600), "r+b") as raw,
            soundfile.SoundFile(wav) as source,
            soundfile.SoundFile(raw, "w", source.samplerate, source.channels, **kind) as target,
        ):
            target.comment = json.dumps({"began_at_ms": began_at})
            for block in source.blocks(BLOCK, dtype="int16"):
                target.write(block)
        if wav.exists():  # otherwise the call was forgotten meanwhile
            partial.replace(opus)
    finally:
        partial.unlink(missing_ok=True)
    wav.unlink(missing_ok=True)


def began_at_of(data: bytes) -> int:
    """The time in the conversation, in milliseconds, at which this recording starts; 0 if the file doesn't contain
    it."""
    found = _BEGAN_AT.search(data[:_HEAD_BYTES])
    return int(found.group(1)) if found else 0


def _soundfile() -> Any:
    try:
        return import_module("soundfile")
    except ModuleNotFoundError as missing:
        raise DuologueError(f"Opus needs {missing.name}: pip install 'duologue[speech]'") from None
