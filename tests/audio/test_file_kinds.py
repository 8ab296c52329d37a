"""Audio files are recognised by their first bytes."""

from __future__ import annotations

import pytest

from duologue.audio.file_kinds import file_kind


@pytest.mark.parametrize(
    ("data", "kind"),
    [(b"RIFF1234WAVE", "WAV"), (b"ID3\x04", "MP3"), (b"\xff\xfb\x90", "MP3"), (b"OggS", "Ogg"), (b"fLaC", "FLAC")],
)
def test_files_are_known(data: bytes, kind: str) -> None:
    assert file_kind(data) == kind


@pytest.mark.parametrize("data", [b"", bytes(100), b"\x01\x00\x02\x00"])
def test_pcm_is_no_file(data: bytes) -> None:
    assert file_kind(data) == ""
