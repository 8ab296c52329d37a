"""The sounds of an agent: chosen, read, and refused with a line for each."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from duologue import Agent, Sounds
from duologue.audio.frames import to_pcm
from duologue.audio.wav import write_wav
from duologue.ports.sound import Sound
from duologue.runtime.agent import InvalidAgent
from duologue.voice.built_in_sounds import connected_sound, thinking_sound


def tone(ms: int, peak: float = 0.1, rate_hz: int = 24_000) -> bytes:
    return to_pcm(np.sin(np.arange(ms * rate_hz // 1000, dtype=np.float32) * 0.1) * np.float32(peak))


def file(folder: Path, ms: int = 500, peak: float = 0.1, rate_hz: int = 24_000) -> Path:
    path = folder / "a.wav"
    write_wav(path, tone(ms, peak, rate_hz), rate_hz)
    return path


def test_by_default_only_waiting_has_a_sound() -> None:
    sounds = Sounds()
    assert sounds.thinking_sound is thinking_sound()
    assert sounds.connected_sound is sounds.ambient_sound is None
    assert sounds.problems() == []
    assert Agent(lambda request: "Hello.").sounds == sounds


@pytest.mark.parametrize("off", [None, False])
def test_each_sound_can_be_turned_off(off: bool | None) -> None:
    sounds = Sounds(thinking=off, connected=off, ambient=off)
    assert sounds.thinking_sound is sounds.connected_sound is sounds.ambient_sound is None
    assert sounds.problems() == []


def test_true_is_the_built_in_sound() -> None:
    assert Sounds(connected=True).connected_sound is connected_sound()


def test_a_file_is_read_when_it_is_given(tmp_path: Path) -> None:
    path = file(tmp_path, peak=0.02, rate_hz=16_000)
    sounds = Sounds(thinking=path, connected=str(path), ambient=path)
    path.unlink()
    found = sounds.thinking_sound
    assert found is not None
    assert (found.ms, found.rate_hz, len(found.pcm)) == (500, 16_000, 16_000)
    assert sounds.ambient_sound == sounds.connected_sound == found


def test_a_sound_of_ones_own_is_taken_as_it_is() -> None:
    own = Sound(200, tone(200))
    assert Sounds(thinking=own).thinking_sound is own
    assert Sounds(thinking=Sound(300)).thinking_sound == Sound(300), "simulated sound has only a length"


@pytest.mark.parametrize(
    ("given", "line"),
    [
        ("missing.wav", "sounds.thinking: missing.wav: No such file or directory"),
        (7, "sounds.thinking: must be a file, a Sound, True or False, not int"),
        (b"abc", "sounds.thinking: must be a file, a Sound, True or False, not bytes"),
        (Sound(10, b"\0" * 3), "sounds.thinking: 16-bit audio must have an even number of bytes, not 3"),
        (Sound(10, tone(10), 23_456), "sounds.thinking: 23456 Hz is not supported: convert it to 24000 Hz"),
        (Sound(6_000, tone(6_000)), "sounds.thinking: 6.0 s is too long: at most 5 s"),
        (Sound(99_000), "sounds.thinking: 99.0 s is too long: at most 5 s"),
        (Sound(500, tone(500, peak=0.9)), "sounds.thinking: -4 dBFS is too loud: at most -15 dBFS"),
        (Sound(500, bytes(24_000)), "sounds.thinking: the sound is silent"),
    ],
)
def test_what_can_not_be_used_is_one_clear_line(given: object, line: str) -> None:
    assert Sounds(thinking=given).problems() == [line]  # type: ignore[arg-type]


def test_a_file_that_is_no_audio_or_too_long_is_named(tmp_path: Path) -> None:
    (tmp_path / "b.wav").write_bytes(b"ID3 something")
    long = file(tmp_path, ms=130_000, peak=0.01, rate_hz=8_000)
    problems = Sounds(thinking=tmp_path / "b.wav", ambient=long).problems()
    assert problems == [
        f"sounds.thinking: {tmp_path / 'b.wav'}: MP3 is not supported: convert it to WAV or FLAC",
        f"sounds.ambient: {long}: 130.0 s is too long: at most 120 s",
    ]


def test_ambient_sound_must_be_quieter_than_a_cue() -> None:
    hum = Sound(500, tone(500, peak=0.1))
    assert Sounds(thinking=hum).problems() == []
    assert Sounds(ambient=hum).problems() == ["sounds.ambient: -23 dBFS is too loud: at most -30 dBFS"]


def test_an_agent_lists_all_problems_of_its_sounds_at_once() -> None:
    with pytest.raises(InvalidAgent) as refused:
        Agent(lambda request: "Hello.", sounds=Sounds(thinking="no.wav", ambient=True), language="german")
    assert "sounds.thinking: no.wav: No such file" in str(refused.value)
    assert "sounds.ambient: there is no built-in ambient sound: give a WAV file or a Sound" in str(refused.value)
    assert "german" in str(refused.value)


def test_sounds_must_be_sounds() -> None:
    with pytest.raises(InvalidAgent, match=r"sounds must be Sounds\(…\), not str"):
        Agent(lambda request: "Hello.", sounds="beep.wav")  # type: ignore[arg-type]
