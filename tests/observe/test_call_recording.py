"""The recording of a call has the milliseconds of its journal."""

from __future__ import annotations

import math
import os
import stat
from array import array
from pathlib import Path

import pytest

from duologue.fairness.fair_threads import ENCODING
from duologue.observe.call_recording import (
    JITTER_MS,
    CallRecording,
    delete_old_recordings,
    recording_path,
)
from duologue.observe.stereo_file import LEFT, RIGHT, read_stereo
from duologue.ports.ears import Frame
from duologue.ports.sound import Sound
from tests.observe.test_stereo_file import samples_of

PER_MS = 16


def frame(value: int, ms: int = 20) -> Frame:
    return Frame(array("h", [value] * ms * PER_MS).tobytes())


def sound(value: int, ms: int) -> Sound:
    return Sound(ms, array("h", [value] * ms * PER_MS).tobytes(), 16_000)


def loud(samples: array[int]) -> tuple[int, int]:
    """The first and the last millisecond that isn't silent."""
    found = [at for at, one in enumerate(samples) if one]
    return found[0] // PER_MS, -(-(found[-1] + 1) // PER_MS)


def test_the_person_is_on_the_left_at_the_time_of_the_frames(tmp_path: Path) -> None:
    recording = CallRecording(tmp_path / "a.wav", 1_000)
    for number in range(1, 6):
        recording.hear(frame(900), 1_500 + 20 * number)
    recording.close()
    left, right = samples_of(tmp_path / "a.wav")
    assert loud(left) == (500, 600)
    assert not any(right)


def test_an_opus_file_has_the_same_milliseconds_and_replaces_the_wav_file(tmp_path: Path) -> None:
    soundfile = pytest.importorskip("soundfile", reason="pip install 'duologue[speech]'")
    recording = CallRecording(recording_path(tmp_path, "abc", ".opus"), 1_000)
    tone = array("h", [round(9_000 * math.sin(at / 4)) for at in range(100 * PER_MS)])
    for number in range(1, 6):
        recording.hear(Frame(tone[(number - 1) * 320 : number * 320].tobytes()), 1_500 + 20 * number)
    recording.close()
    assert recording_path(tmp_path, "abc", ".opus").name == "abc-2.opus"
    ENCODING.submit_for("abc", lambda: None).result()  # it waits its turn
    (path,) = tmp_path.glob("abc*")
    assert path.name == "abc.opus"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    found = read_stereo(path)
    assert (found.began_at, found.media_type) == (1_000, "audio/ogg")
    sound, rate_hz = soundfile.read(path, dtype="int16")
    left = [at for at, one in enumerate(sound[:, 0]) if abs(int(one)) > 1_000]
    assert rate_hz == 16_000
    assert abs(left[0] / 16 - 500) < 10
    assert abs(left[-1] / 16 - 600) < 10
    assert int(abs(sound[:, 1]).max()) < 100
    assert delete_old_recordings(tmp_path, path.stat().st_mtime + 1) == 1


def test_frames_with_jitter_stay_in_one_piece_and_a_pause_is_kept(tmp_path: Path) -> None:
    recording = CallRecording(tmp_path / "a.wav", 0)
    for now in (120, 133, 165, 178):
        recording.hear(frame(900), now)
    recording.hear(frame(900), 178 + 20 + JITTER_MS + 300)
    recording.close()
    left, _ = samples_of(tmp_path / "a.wav")
    assert all(left[100 * PER_MS : 180 * PER_MS])
    assert not any(left[180 * PER_MS : 550 * PER_MS])
    assert loud(left)[1] == 578


def test_the_agent_is_on_the_right_when_it_was_heard_and_only_as_far(tmp_path: Path) -> None:
    recording = CallRecording(tmp_path / "a.wav", 0)
    recording.queue(1, sound(700, 1_000))
    recording.played(1, 100, 600)
    recording.played(1, 200, 700)
    recording.played(1, 300, 2_000)  # it was held in between
    recording.played(2, 50, 2_100)  # a voice that the line was never given
    recording.close()
    _, right = samples_of(tmp_path / "a.wav")
    assert loud(right[: 1_000 * PER_MS]) == (500, 700)
    assert loud(right[1_000 * PER_MS :]) == (900, 1_000)
    assert len(right) == 2_000 * PER_MS


def test_sound_of_another_rate_keeps_its_length(tmp_path: Path) -> None:
    recording = CallRecording(tmp_path / "a.wav", 0)
    recording.queue(1, Sound(1_000, array("h", [700] * 24_000).tobytes(), 24_000))
    recording.hear(Frame(array("h", [900] * 8_000).tobytes(), 8_000), 1_000)
    recording.played(1, 900, 1_000)
    recording.close()
    left, right = samples_of(tmp_path / "a.wav")
    assert abs(loud(left)[1] - loud(left)[0] - 1_000) <= 3
    assert abs(loud(right)[1] - loud(right)[0] - 900) <= 3


def test_the_files_of_one_conversation_are_numbered_and_deleted_when_old(tmp_path: Path) -> None:
    for _ in range(3):
        recording_path(tmp_path, "call").write_bytes(b"")
    assert {path.name for path in tmp_path.iterdir()} == {"call.wav", "call-2.wav", "call-3.wav"}
    os.utime(tmp_path / "call-2.wav", (1_000, 1_000))
    assert delete_old_recordings(tmp_path, 2_000) == 1
    assert not (tmp_path / "call-2.wav").exists()
    assert LEFT != RIGHT
