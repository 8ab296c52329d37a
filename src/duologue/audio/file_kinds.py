"""Recognises audio files by their first bytes.

Rule: use this where raw PCM is expected, to notice if an audio file was passed by mistake. Played as PCM, a file such
as an MP3 would only be noise.
"""

from __future__ import annotations

_MAGIC = {b"RIFF": "WAV", b"ID3": "MP3", b"\xff\xfb": "MP3", b"\xff\xf3": "MP3", b"OggS": "Ogg", b"fLaC": "FLAC"}


def file_kind(data: bytes | bytearray) -> str:
    """The kind of the audio file that begins with these bytes, such as "MP3". Empty if the bytes aren't the start of a
    known kind of audio file."""
    return next((name for magic, name in _MAGIC.items() if data.startswith(magic)), "")
