"""Recognises audio files by their first bytes.

Rule: use this where raw PCM is expected, because an audio file that is played as PCM is only noise.
"""

from __future__ import annotations

_MAGIC = {b"RIFF": "WAV", b"ID3": "MP3", b"\xff\xfb": "MP3", b"\xff\xf3": "MP3", b"OggS": "Ogg", b"fLaC": "FLAC"}


def file_kind(data: bytes | bytearray) -> str:
    """The kind of audio file that begins with these bytes, such as "MP3"; empty if no such kind is known."""
    return next((name for magic, name in _MAGIC.items() if data.startswith(magic)), "")
