"""`duologue listen`, mostly with made-up speech: a recording is shown, or refused in one line."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from duologue.audio.frames import Samples, to_pcm
from duologue.audio.resample import resample
from duologue.cli.app import app
from duologue.core.errors import DuologueError
from duologue.lab.recordings.listener import RATE_HZ
from tests.cli.command_line import run
from tests.lab.recordings.made_up_speech import (
    joined,
    listener,
    say,
    silence,
    wav,
)
from tests.needs import needs_model


@pytest.fixture
def _made_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("duologue.cli.listen.make_listener", lambda *options: listener())


def listens(*args: str | Path) -> Any:
    return CliRunner().invoke(app, ["listen", *map(str, args)])


def wav_bytes(data: bytes, codec: int, bits: int, rate_hz: int, channels: int = 1) -> bytes:
    """A WAV file as it stands on a disk; nothing checks it."""
    block = channels * bits // 8
    form = struct.pack("<HHIIHH", codec, channels, rate_hz, rate_hz * block, block, bits)
    chunks = b"fmt " + struct.pack("<I", len(form)) + form + b"data" + struct.pack("<I", len(data)) + data
    return b"RIFF" + struct.pack("<I", 4 + len(chunks)) + b"WAVE" + chunks


def float_wav(samples: Samples, rate_hz: int = RATE_HZ) -> bytes:
    return wav_bytes(samples.astype("<f4").tobytes(), 3, 32, rate_hz)


def pcm_wav(pcm: bytes, rate_hz: int = RATE_HZ, channels: int = 1) -> bytes:
    return wav_bytes(pcm, 1, 16, rate_hz, channels)


SPOKEN = joined(silence(0.3), say(3, 5, 7), silence(0.3))


HANDLED: dict[str, bytes] = {
    "16 bits": pcm_wav(to_pcm(SPOKEN)),
    "float": float_wav(SPOKEN),
    "stereo": pcm_wav(to_pcm(np.repeat(SPOKEN, 2)), channels=2),
    "8 kHz": pcm_wav(to_pcm(resample(SPOKEN, RATE_HZ, 8_000)), 8_000),
    "22.05 kHz": pcm_wav(to_pcm(resample(SPOKEN, RATE_HZ, 22_050)), 22_050),
    "44.1 kHz float": float_wav(resample(SPOKEN, RATE_HZ, 44_100), 44_100),
    "48 kHz": pcm_wav(to_pcm(resample(SPOKEN, RATE_HZ, 48_000)), 48_000),
    "clipped": pcm_wav(to_pcm(SPOKEN * 9)),
    "too loud float": float_wav(SPOKEN * 9),
    "quiet offset": pcm_wav(to_pcm(SPOKEN + np.float32(0.02))),
}


@pytest.mark.usefixtures("_made_up")
@pytest.mark.parametrize("name", HANDLED)
def test_a_recording_of_any_plain_kind_is_heard(tmp_path: Path, name: str) -> None:
    file = tmp_path / "heard.wav"
    file.write_bytes(HANDLED[name])
    done = listens(file, "--json")
    assert done.exit_code == 0, done.exception
    shown = json.loads(done.stdout)
    assert shown["duration_ms"] == pytest.approx(1_200, abs=1)
    assert [made["kind"] for made in shown["decisions"]] == ["end_of_turn"]
    assert all(made["reasons"] for made in shown["decisions"])


REFUSED: dict[str, tuple[bytes, str]] = {
    "empty": (b"", "empty"),
    "no samples": (pcm_wav(b""), "no samples"),
    "truncated": (HANDLED["16 bits"][:-1_000], "truncated"),
    "only a head": (HANDLED["16 bits"][:20], "truncated"),
    "nan": (float_wav(np.where(np.arange(SPOKEN.size) == 99, np.nan, SPOKEN)), "NaN"),
    "infinite": (float_wav(np.where(np.arange(SPOKEN.size) == 99, np.inf, SPOKEN)), "NaN or infinite"),
    "rate of 0": (pcm_wav(to_pcm(SPOKEN), 0), "sample rate"),
    "rate of 100": (pcm_wav(to_pcm(SPOKEN), 100), "sample rate"),
    "half a sample": (pcm_wav(to_pcm(SPOKEN) + b"\0"), "truncated"),
    "text": (b"hello there, this is no sound at all", "neither WAV nor FLAC"),
    "mp3": (b"ID3\x04" + bytes(400), "MP3"),
    "flac cut": (b"fLaC" + bytes(40), "FLAC"),
}


@pytest.mark.usefixtures("_made_up")
@pytest.mark.parametrize("name", REFUSED)
@pytest.mark.parametrize("side", ["heard", "agent"])
def test_a_recording_that_cant_be_used_is_refused_in_one_line(tmp_path: Path, name: str, side: str) -> None:
    content, why = REFUSED[name]
    bad, good = tmp_path / "bad.wav", tmp_path / "good.wav"
    bad.write_bytes(content)
    good.write_bytes(HANDLED["16 bits"])
    done = listens(bad) if side == "heard" else listens(good, "--agent", bad)
    assert isinstance(done.exception, DuologueError), done.exception
    message = str(done.exception)
    assert why in message
    assert "\n" not in message
    assert done.output == ""


# A past bug: a sample rate that can't be resampled was refused without the name of the file.
@pytest.mark.usefixtures("_made_up")
def test_a_refusal_always_names_the_file(tmp_path: Path) -> None:
    for content, _ in REFUSED.values():
        bad = tmp_path / "bad.wav"
        bad.write_bytes(content)
        assert str(bad) in str(listens(bad).exception)


@pytest.mark.usefixtures("_made_up")
def test_an_offset_louder_than_speech_is_still_a_recording(tmp_path: Path) -> None:
    file = tmp_path / "offset.wav"
    file.write_bytes(pcm_wav(to_pcm(SPOKEN * 0.3 + np.float32(0.4))))
    done = listens(file)
    assert done.exit_code == 0
    assert "offset.wav" in done.stdout


@pytest.mark.usefixtures("_made_up")
def test_a_picture_is_drawn_of_every_length(tmp_path: Path) -> None:
    for number, samples in enumerate((1, 511, 512, 40_000)):
        done = listens(wav(tmp_path / f"{number}.wav", np.full(samples, 0.3, np.float32)))
        assert done.exit_code == 0, done.exception


@pytest.mark.usefixtures("_made_up")
@pytest.mark.parametrize(
    ("args", "why"),
    [
        ((), "name one recording, or use --labels"),
        (("a.wav", "--labels", "b.jsonl"), "name one recording, or use --labels"),
        (("--labels", "b.jsonl"), "--labels also needs --out FILE"),
        (("none.wav",), "none.wav: No such file"),
        (("--labels", "none.jsonl", "--out", "x"), "none.jsonl can't be read"),
    ],
)
def test_options_that_dont_fit_together_are_refused_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, args: tuple[str, ...], why: str
) -> None:
    monkeypatch.chdir(tmp_path)
    done = listens(*args)
    assert isinstance(done.exception, DuologueError), done.exception
    assert why in str(done.exception)
    assert "\n" not in str(done.exception)


@pytest.mark.parametrize(
    ("option", "value", "why"),
    [
        ("--policy", "fast", "unknown endpoint policy 'fast'"),
        ("--profile", "fast", "unknown profile 'fast'"),
        ("--model", "huge", "unknown STT model 'huge'"),
    ],
)
def test_an_unknown_name_is_refused_before_any_model_is_loaded(option: str, value: str, why: str) -> None:
    done = listens("a.wav", option, value)
    assert isinstance(done.exception, DuologueError), done.exception
    assert why in str(done.exception)


@pytest.mark.usefixtures("_made_up")
def test_a_set_is_decided_into_a_file(tmp_path: Path) -> None:
    wav(tmp_path / "one.wav", SPOKEN)
    labels, out = tmp_path / "labels.jsonl", tmp_path / "decisions.jsonl"
    labels.write_text('{"id": "a", "wav": "one.wav"}\n{"id": "b", "wav": "one.wav"}\n', encoding="utf-8")
    assert listens("--labels", labels, "--out", out).exit_code == 0
    lines = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    assert [(line["id"], line["kind"]) for line in lines] == [("a", "end_of_turn"), ("b", "end_of_turn")]


# A past bug: a file name with a NUL raised ValueError instead of OSError, which gave a traceback.
@pytest.mark.usefixtures("_made_up")
@pytest.mark.parametrize("row", ['{"id": "a", "wav": "bad.wav"}', '{"id": "a", "wav": "a\\u0000b.wav"}'])
def test_a_set_with_an_unusable_recording_names_it_in_one_line(tmp_path: Path, row: str) -> None:
    (tmp_path / "bad.wav").write_bytes(b"nothing")
    labels = tmp_path / "labels.jsonl"
    labels.write_text(row, encoding="utf-8")
    done = listens("--labels", labels, "--out", tmp_path / "out.jsonl")
    assert isinstance(done.exception, DuologueError), done.exception
    assert "\n" not in str(done.exception)


def test_the_command_refuses_in_one_line_and_exit_code_1(tmp_path: Path) -> None:
    for model in ("silero-vad", "moonshine-tiny", "smart-turn"):
        needs_model(model)
    bad = tmp_path / "bad.wav"
    bad.write_bytes(REFUSED["nan"][0])
    done = run("listen", bad)
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr == f"error: {bad}: some samples are NaN or infinite\n"
