"""Adding voices: what is copied, what is refused, and that a failed addition leaves nothing behind."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from duologue.models.added import VoiceRefused, add_voice, added_voice, added_voices, remove_voice, voices_folder

PIPER = {
    "audio": {"sample_rate": 16_000},
    "espeak": {"voice": "de"},
    "phoneme_id_map": {"_": [0], "a": [1]},
    "language": {"code": "de_DE"},
}


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DUOLOGUE_MODELS", str(tmp_path / "models"))


def write(folder: Path, config: Any, name: str = "some.onnx") -> Path:
    """The files of a voice, as they are downloaded."""
    (folder / name).write_bytes(b"weights")
    (folder / f"{name}.json").write_text(config if isinstance(config, str) else json.dumps(config))
    return folder / name


def test_a_piper_voice_is_copied_with_its_settings(tmp_path: Path) -> None:
    voice = add_voice("anna", write(tmp_path, PIPER))
    assert (voice.kind, voice.language, voice.rate_hz, voice.espeak_voice) == ("piper", "de-DE", 16_000, "de")
    assert (voice.folder / "model.onnx").read_bytes() == b"weights"
    assert added_voices() == [added_voice("anna")] == [voice]
    assert voice.config()["phoneme_id_map"] == PIPER["phoneme_id_map"]


def test_a_kokoro_voice_needs_its_speakers(tmp_path: Path) -> None:
    model, speakers = write(tmp_path, {"vocab": {"a": 1}}), tmp_path / "voices.bin"
    with pytest.raises(VoiceRefused, match="pass its file of voices with --speakers"):
        add_voice("kokoro", model)
    assert added_voices() == []
    speakers.write_bytes(b"styles")
    voice = add_voice("kokoro", model, speakers=speakers, language="en-GB")
    assert (voice.kind, voice.language, voice.rate_hz, voice.espeak_voice) == ("kokoro", "en-GB", 24_000, "en-gb")


def test_a_voice_is_replaced_and_removed_by_its_name(tmp_path: Path) -> None:
    add_voice("anna", write(tmp_path, PIPER))
    add_voice("anna", write(tmp_path, {**PIPER, "audio": {"sample_rate": 22_050}}))
    assert [voice.rate_hz for voice in added_voices()] == [22_050]
    remove_voice("anna")
    assert added_voices() == []


@pytest.mark.parametrize(
    ("config", "problem"),
    [
        ("no json", "can't be read as JSON"),
        ("[]", "must be a JSON object"),
        ({}, "neither a phoneme_id_map .* nor a vocab"),
        ({**PIPER, "audio": {}}, "have no audio.sample_rate of at least 8000: pass others with --config"),
    ],
)
def test_settings_that_cannot_be_used_are_refused_and_nothing_is_left_behind(
    tmp_path: Path, config: Any, problem: str
) -> None:
    with pytest.raises(VoiceRefused, match=problem):
        add_voice("anna", write(tmp_path, config))
    assert list(voices_folder().iterdir()) == []


def test_a_file_that_is_missing_and_a_bad_name_are_refused(tmp_path: Path) -> None:
    with pytest.raises(VoiceRefused, match=r"gone\.onnx doesn't exist"):
        add_voice("anna", tmp_path / "gone.onnx")
    (tmp_path / "bare.onnx").write_bytes(b"weights")
    with pytest.raises(VoiceRefused, match="pass the settings of the voice with --config"):
        add_voice("anna", tmp_path / "bare.onnx")
    with pytest.raises(VoiceRefused, match="can't be the name of a voice"):
        add_voice("../anna", tmp_path / "bare.onnx")


def test_a_voice_that_was_not_added_is_named_with_the_command_that_adds_it() -> None:
    with pytest.raises(VoiceRefused, match=r"no voice was added yet\); run `duologue models add anna FILE.onnx`"):
        added_voice("anna")


def test_a_folder_that_is_no_voice_is_left_out(tmp_path: Path) -> None:
    add_voice("anna", write(tmp_path, PIPER))
    (voices_folder() / "broken").mkdir()
    assert [voice.name for voice in added_voices()] == ["anna"]
