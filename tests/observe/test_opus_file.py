"""A recording as Ogg Opus."""

from __future__ import annotations

from array import array
from pathlib import Path

import pytest

from duologue.observe.opus_file import began_at_of, check_opus, encode_opus
from duologue.observe.stereo_file import LEFT, StereoFile

pytest.importorskip("soundfile", reason="pip install 'duologue[speech]'")


def wav_at(path: Path) -> Path:
    file = StereoFile(path, 250)
    file.write(LEFT, 0, array("h", [500] * 16_000))
    file.close()
    return path


def test_the_file_says_when_it_begins_and_is_much_smaller(tmp_path: Path) -> None:
    check_opus()
    wav = wav_at(tmp_path / "a.wav")
    size = wav.stat().st_size
    encode_opus(wav, tmp_path / "a.opus", 250)
    assert began_at_of((tmp_path / "a.opus").read_bytes()) == 250
    assert [path.name for path in tmp_path.iterdir()] == ["a.opus"]
    assert (tmp_path / "a.opus").stat().st_size * 5 < size


def test_a_file_that_cant_be_encoded_stays_as_it_is(tmp_path: Path) -> None:
    broken = tmp_path / "a.wav"
    broken.write_bytes(b"no sound")
    with pytest.raises((OSError, RuntimeError)):
        encode_opus(broken, tmp_path / "a.opus", 0)
    assert [path.name for path in tmp_path.iterdir()] == ["a.wav"]


def test_a_call_that_is_forgotten_while_it_is_encoded_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wav = wav_at(tmp_path / "a.wav")
    monkeypatch.setattr(
        Path, "exists", lambda path: path.unlink(missing_ok=True) or False
    )  # `duologue forget`, just then
    encode_opus(wav, tmp_path / "a.opus", 0)
    assert list(tmp_path.iterdir()) == []


def test_a_file_of_others_begins_at_zero() -> None:
    assert began_at_of(b"OggS something else") == 0
