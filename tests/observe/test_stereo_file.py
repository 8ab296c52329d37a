"""A stereo file whose sides are written apart."""

from __future__ import annotations

import stat
import wave
from array import array
from pathlib import Path

import pytest

from duologue.observe import stereo_file
from duologue.observe.stereo_file import LEFT, RATE_HZ, RIGHT, StereoFile, read_stereo


def samples_of(path: Path) -> tuple[array[int], array[int]]:
    with wave.open(str(path)) as opened:
        assert (opened.getnchannels(), opened.getsampwidth(), opened.getframerate()) == (2, 2, RATE_HZ)
        both = array("h", opened.readframes(opened.getnframes()))
    return both[LEFT::2], both[RIGHT::2]


def test_each_side_is_where_it_was_written_and_gaps_are_silent(tmp_path: Path) -> None:
    path = tmp_path / "calls" / "a.wav"
    file = StereoFile(path, 250)
    file.write(RIGHT, 4, array("h", [5, 6]))
    file.write(LEFT, 1, array("h", [1, 2, 3, 4]))
    file.write(RIGHT, 0, array("h", [9]))
    file.close()
    left, right = samples_of(path)
    assert list(left) == [0, 1, 2, 3, 4, 0]
    assert list(right) == [9, 0, 0, 0, 5, 6]
    assert read_stereo(path).began_at == 250
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_file_can_be_read_while_it_is_written(tmp_path: Path) -> None:
    path = tmp_path / "a.wav"
    file = StereoFile(path, 0)
    file.write(LEFT, 0, array("h", [7]))
    file.flush()
    assert list(samples_of(path)[LEFT]) == [7]
    file.close()


def test_sound_before_the_start_and_beyond_the_limit_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stereo_file, "SAMPLES_MAX", 3)
    path = tmp_path / "a.wav"
    file = StereoFile(path, 0)
    file.write(LEFT, -2, array("h", [1, 2, 3, 4, 5, 6]))
    file.write(LEFT, 9, array("h", [1]))
    file.close()
    assert list(samples_of(path)[LEFT]) == [3, 4, 5]


def test_another_wav_file_begins_at_zero_and_another_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "b.wav"
    with wave.open(str(path), "wb") as out:
        out.setnchannels(1)
        out.setsampwidth(2)
        out.setframerate(8_000)
        out.writeframes(bytes(4))
    assert read_stereo(path).began_at == 0
    path.write_text("hello")
    with pytest.raises(ValueError, match="neither a WAV file"):
        read_stereo(path)
