"""Voices that the user added: files of Piper and Kokoro, copied into the model cache.

Duologue contains no neural voice, because no package offers the weights of such a voice under a permissive licence.
Rule: the files of a voice are read and checked before the voice is added. Its folder is either complete or doesn't
exist.
"""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from duologue.core.errors import DuologueError

from .cache import cache_folder
from .onnx_sessions import forget_sessions

FOLDER = "voices"
MODEL, CONFIG, SPEAKERS = "model.onnx", "config.json", "speakers.bin"
KOKORO_RATE_HZ = 24_000
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")


class VoiceRefused(DuologueError, ValueError):
    """A file can't be added as a voice. The message says which file and why."""


@dataclass(frozen=True, slots=True)
class AddedVoice:
    """A voice in the cache that the user added. `espeak_voice` is the espeak-ng voice that turns text into phonemes for
    this voice; empty if the model reads letters."""

    name: str
    folder: Path
    kind: Literal["piper", "kokoro"]
    language: str
    rate_hz: int
    espeak_voice: str

    def config(self) -> dict[str, Any]:
        """The content of the voice's settings file."""
        return _read_json(self.folder / CONFIG)


def voices_folder() -> Path:
    return cache_folder() / FOLDER


def added_voices() -> list[AddedVoice]:
    """The voices that the user added, sorted by name. A folder that can't be read is left out."""
    if not voices_folder().is_dir():
        return []
    found = []
    for folder in sorted(voices_folder().iterdir()):
        try:
            found.append(_describe(folder))
        except (VoiceRefused, OSError):
            continue
    return found


def added_voice(name: str) -> AddedVoice:
    """The added voice with this name. Raises VoiceRefused if no voice with this name was added."""
    voices = {voice.name: voice for voice in added_voices()}
    if name not in voices:
        known = f"added voices: {', '.join(voices)}" if voices else "no voice was added yet"
        raise VoiceRefused(f"no voice {name!r} ({known}); run `duologue models add {name} FILE.onnx`")
    return voices[name]


def add_voice(
    name: str, model: Path, config: Path | None = None, speakers: Path | None = None, language: str = ""
) -> AddedVoice:
    """Copy the files of a voice into the cache. An added voice with the same name is replaced. The settings of a Piper
    voice are read from FILE.onnx.json, unless `config` is given. For a Kokoro voice, both `config` (which has the
    vocabulary) and `speakers` (the file with the voices) must be given."""
    if not _NAME.fullmatch(name):
        raise VoiceRefused(f"{name!r} can't be the name of a voice: use lower-case letters, digits, dots and dashes")
    config = config or model.with_name(f"{model.name}.json")
    for file in (model, config, *([speakers] if speakers else [])):
        if not file.is_file():
            hint = "; pass the settings of the voice with --config" if file == config else ""
            raise VoiceRefused(f"the file {file} doesn't exist{hint}")
    folder = voices_folder() / name
    partial = folder.with_name(f".{name}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    try:
        shutil.copyfile(model, partial / MODEL)
        settings = _read_json(config)
        if language:
            settings["duologue_language"] = language
        (partial / CONFIG).write_text(json.dumps(settings), encoding="utf-8")
        if speakers:
            shutil.copyfile(speakers, partial / SPEAKERS)
        _describe(partial)
        shutil.rmtree(folder, ignore_errors=True)
        forget_sessions(folder)
        partial.rename(folder)
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    return _describe(folder)


def remove_voice(name: str) -> None:
    """Delete a voice that was added."""
    folder = added_voice(name).folder
    shutil.rmtree(folder)
    forget_sessions(folder)


def _describe(folder: Path) -> AddedVoice:
    """The voice whose files are in this folder. Raises VoiceRefused if the folder doesn't contain a voice."""
    if not (folder / MODEL).is_file():
        raise VoiceRefused(f"the folder {folder} has no file {MODEL}: add the voice again")
    config = _read_json(folder / CONFIG)
    name, own = folder.name, str(config.get("duologue_language", ""))
    if isinstance(config.get("phoneme_id_map"), dict):
        rate_hz = config.get("audio", {}).get("sample_rate")
        if type(rate_hz) is not int or rate_hz < 8_000:
            wanted = "no audio.sample_rate of at least 8000"
            raise VoiceRefused(
                f"the settings of {name} are incomplete, because they have {wanted}: pass others with --config"
            )
        espeak = "" if config.get("phoneme_type") == "text" else str(config.get("espeak", {}).get("voice", ""))
        language = own or str(config.get("language", {}).get("code", "") or espeak or "en")
        return AddedVoice(name, folder, "piper", language.replace("_", "-"), rate_hz, espeak)
    if isinstance(config.get("vocab"), dict):
        if not (folder / SPEAKERS).is_file():
            raise VoiceRefused(f"{name} is a Kokoro model: pass its file of voices with --speakers")
        language = own or "en-US"
        espeak = (
            "en-gb" if language == "en-GB" else "en-us" if language.startswith("en") else language.partition("-")[0]
        )
        return AddedVoice(name, folder, "kokoro", language, KOKORO_RATE_HZ, espeak)
    wanted = "neither a phoneme_id_map (Piper) nor a vocab (Kokoro)"
    raise VoiceRefused(f"the settings of {name} are incomplete, because they have {wanted}: pass others with --config")


def _read_json(file: Path) -> dict[str, Any]:
    try:
        data = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        raise VoiceRefused(f"{file} can't be read as JSON: pass the settings of the voice with --config") from None
    if not isinstance(data, dict):
        raise VoiceRefused(f"{file} must be a JSON object: pass the settings of the voice with --config")
    return data
