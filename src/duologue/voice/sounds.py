"""The sounds that an agent makes besides its voice: while it thinks, when it is connected, and in the background.

Each sound can be a file (WAV, or FLAC if soundfile is installed), a `Sound`, True for the built-in sound, or False or
None for silence. Files are read when `Sounds` is created. Rule: `problems` has one line for each sound that can't be
used. Creating an agent with such a sound fails, and the error lists all these lines.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, TypeAlias

from duologue.ports.sound import Sound

from .built_in_sounds import connected_sound, thinking_sound

SoundChoice: TypeAlias = str | Path | Sound | bool | None

RATES_HZ = (8_000, 11_025, 12_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000)
SILENT_DBFS = -65
_WINDOW_MS = 50  # the level of a sound is measured in its loudest part of this length


class SoundLimit(NamedTuple):
    """The greatest length and level that a sound may have. For comparison: speech has a level of about -20 dBFS."""

    ms_max: int
    dbfs_max: int


LIMITS = {
    "thinking": SoundLimit(5_000, -15),
    "connected": SoundLimit(5_000, -12),
    "ambient": SoundLimit(120_000, -30),
}
BUILT_IN = ("thinking", "connected")


class UnusableSound(ValueError):
    """A sound that can't be used. The message is one line that says why."""


class _Loaded(NamedTuple):
    """The sounds that could be read, and one line for each sound that couldn't be read."""

    sounds: dict[str, Sound]
    problems: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Sounds:
    """The sounds that an agent makes besides its voice."""

    thinking: SoundChoice = True  # while the user waits for an answer
    connected: SoundChoice = None  # once, when the conversation starts
    ambient: SoundChoice = None  # repeated quietly under everything, still more quietly while the agent speaks
    _loaded: _Loaded = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        sounds: dict[str, Sound] = {}
        problems: list[str] = []
        for name in LIMITS:
            try:
                sound = _load(name, getattr(self, name))
            except ValueError as problem:
                problems.append(f"sounds.{name}: {problem}")
            else:
                if sound is not None:
                    sounds[name] = sound
        object.__setattr__(self, "_loaded", _Loaded(sounds, tuple(problems)))

    def problems(self) -> list[str]:
        """A line for each sound that can't be used."""
        return list(self._loaded.problems)

    @property
    def thinking_sound(self) -> Sound | None:
        """The sound to play while the user waits for an answer; None for silence."""
        return thinking_sound() if self.thinking is True else self._loaded.sounds.get("thinking")

    @property
    def connected_sound(self) -> Sound | None:
        """The sound to play when the conversation starts; None for silence."""
        return connected_sound() if self.connected is True else self._loaded.sounds.get("connected")

    @property
    def ambient_sound(self) -> Sound | None:
        """The background sound, which is repeated during the whole conversation; None for silence."""
        return self._loaded.sounds.get("ambient")


def _load(name: str, choice: object) -> Sound | None:
    """The sound that the developer chose; None if that is silence or the built-in sound. Raises UnusableSound if the
    choice can't be used, and UnusableAudio if a file can't be read."""
    if choice is True and name not in BUILT_IN:
        raise UnusableSound(f"there is no built-in {name} sound: give a WAV file or a Sound")
    if choice is None or isinstance(choice, bool):
        return None
    if isinstance(choice, Sound):
        _check(name, choice, "")
        return choice
    if isinstance(choice, str | Path):
        sound = _read(Path(choice))
        _check(name, sound, f"{choice}: ")
        return sound
    raise UnusableSound(f"must be a file, a Sound, True or False, not {type(choice).__name__}")


def _read(path: Path) -> Sound:
    try:
        from duologue.audio.frames import to_pcm
        from duologue.audio.wav import read_audio
    except ModuleNotFoundError:
        raise UnusableSound(f"{path}: reading a file needs numpy: pip install 'duologue[speech]'") from None
    recording = read_audio(path)
    return Sound(max(1, recording.ms), to_pcm(recording.samples), recording.rate_hz)


def _check(name: str, sound: Sound, where: str) -> None:
    limit = LIMITS[name]
    if sound.rate_hz not in RATES_HZ:
        raise UnusableSound(f"{where}{sound.rate_hz} Hz is not supported: convert it to 24000 Hz")
    if len(sound.pcm) % 2:
        raise UnusableSound(f"{where}16-bit audio must have an even number of bytes, not {len(sound.pcm)}")
    ms = len(sound.pcm) // 2 * 1000 // sound.rate_hz if sound.pcm else sound.ms
    if ms > limit.ms_max:
        raise UnusableSound(f"{where}{ms / 1000:.1f} s is too long: at most {limit.ms_max // 1000} s")
    if not sound.pcm:  # simulated sound has only a length
        return
    level_dbfs = _level_dbfs(sound)
    if level_dbfs > limit.dbfs_max:
        raise UnusableSound(f"{where}{level_dbfs:.0f} dBFS is too loud: at most {limit.dbfs_max} dBFS")
    if level_dbfs < SILENT_DBFS:
        raise UnusableSound(f"{where}the sound is silent")


def _level_dbfs(sound: Sound) -> float:
    """The level of the loudest 50 ms of this sound, in dBFS."""
    from duologue.audio.frames import to_samples
    from duologue.audio.levels import rms, to_dbfs

    samples, size = to_samples(sound.pcm), sound.rate_hz * _WINDOW_MS // 1000
    return to_dbfs(max(rms(samples[at : at + size]) for at in range(0, samples.size, size)))
