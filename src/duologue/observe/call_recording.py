"""Records the sound of a phone call or other conversation: the person on the left channel, the agent on the right, with
the times of the journal.

The agent's channel contains only the sound that the line reported as heard. Sound that was cut off or never played
isn't in it. Rule: a millisecond in the file is the same millisecond in the journal, to within JITTER_MS.
"""

from __future__ import annotations

import logging
from array import array
from itertools import count
from pathlib import Path

from duologue.audio.frames import to_pcm, to_samples
from duologue.audio.resample import LiveResampler
from duologue.core.errors import DuologueError
from duologue.fairness.fair_threads import ENCODING
from duologue.ports.ears import Frame
from duologue.ports.sound import Sound

from .opus_file import encode_opus
from .stereo_file import LEFT, RATE_HZ, RIGHT, StereoFile

LOG = logging.getLogger("duologue")
WAV, OPUS = ".wav", ".opus"
JITTER_MS = 80  # a report may be early or late by this much and still continue the sound before it
FLUSH_MS = 5_000
_PER_MS = RATE_HZ // 1_000


class _Side:
    """Computes where the next samples of one channel belong. If a sound arrives a little early or late, it is put
    directly after the sound before it."""

    def __init__(self) -> None:
        self._next = -1  # the sample after the last one

    def place(self, end_ms: int, samples: int) -> int:
        """Reserve the place in the channel for the next piece of sound, whose end was heard at `end_ms`. Returns the
        number of the sample at which to write it."""
        exact = end_ms * _PER_MS - samples
        if self._next < 0 or abs(exact - self._next) > JITTER_MS * _PER_MS:
            self._next = max(0, exact)
        at, self._next = self._next, self._next + samples
        return at


class _VoiceSound:
    """One voice (the sound of one reply), at the sample rate of the file, and how much of this sound was heard."""

    def __init__(self, voice: int) -> None:
        self.voice = voice
        self.heard = 0  # samples
        self._samples = array("h")
        self._rate_hz = 0
        self._convert: LiveResampler | None = None

    def add(self, sound: Sound) -> None:
        if sound.rate_hz != self._rate_hz:
            self._rate_hz, self._convert = sound.rate_hz, LiveResampler(sound.rate_hz, RATE_HZ)
        assert self._convert is not None
        if sound.pcm:
            self._samples.frombytes(to_pcm(self._convert.feed(to_samples(sound.pcm))))
        else:
            self._samples.extend(array("h", bytes(2 * sound.ms * _PER_MS)))

    def take(self, heard_ms: int) -> array[int]:
        """Return the samples that were heard since the last call of this method. `heard_ms` is how much of the voice
        was heard so far."""
        upto = min(heard_ms * _PER_MS, len(self._samples))
        taken = self._samples[self.heard : upto]
        self.heard = max(self.heard, upto)
        return taken


class CallRecording:
    """Records one conversation into a `.wav` or `.opus` file. Times are milliseconds of the conversation."""

    def __init__(self, path: Path, began_at: int) -> None:
        self.path = path
        self._began_at = began_at
        self._wav = path.with_suffix(WAV)
        self._file = StereoFile(self._wav, began_at)
        self._person, self._agent = _Side(), _Side()
        self._convert: tuple[int, LiveResampler] | None = None
        self._voices: dict[int, _VoiceSound] = {}
        self._flushed_at = began_at

    def hear(self, frame: Frame, now: int) -> None:
        """Add sound of the person, which ended at the time `now`."""
        if self._convert is None or self._convert[0] != frame.rate_hz:
            self._convert = frame.rate_hz, LiveResampler(frame.rate_hz, RATE_HZ)
        samples = array("h", to_pcm(self._convert[1].feed(to_samples(frame.pcm))))
        self._write(LEFT, self._person, samples, now)

    def queue(self, voice: int, sound: Sound) -> None:
        """Add sound that was sent to the line. It belongs to the voice (the sound of one reply) with this number. The
        sound is kept until the line reports that it was heard."""
        self._voices.setdefault(voice, _VoiceSound(voice)).add(sound)

    def played(self, voice: int, heard_ms: int, now: int) -> None:
        """Write the part of this voice (the sound of one reply) that was heard since the last report. `heard_ms` is how
        much of the voice was heard by now, as the line reports it."""
        sound = self._voices.get(voice)
        if sound is None:
            return
        self._write(RIGHT, self._agent, sound.take(heard_ms), now)
        self._voices = {number: one for number, one in self._voices.items() if number >= voice}

    def close(self) -> None:
        """Finish the file. An Opus file is encoded in a thread, after this method has returned."""
        self._file.close()
        if self.path != self._wav:
            ENCODING.submit_for(str(self.path), self._encode)

    def _encode(self) -> None:
        try:
            encode_opus(self._wav, self.path, self._began_at)
        except (OSError, RuntimeError, DuologueError) as failure:
            LOG.warning("%s stays a WAV file: %s", self._wav.name, type(failure).__name__)

    def _write(self, side: int, place: _Side, samples: array[int], now: int) -> None:
        if samples:
            self._file.write(side, place.place(now - self._began_at, len(samples)), samples)
        if now - self._flushed_at >= FLUSH_MS:
            self._flushed_at = now
            self._file.flush()


# -- Files


def recording_path(folder: Path, name: str, suffix: str = WAV) -> Path:
    """A new path for the recording of the conversation with this name. If another process takes over the conversation,
    it writes a separate file: `call-2.wav` next to `call.wav`."""
    return next(path for number in count(1) if not _existing(path := _numbered(folder, name, number, suffix)))


def _numbered(folder: Path, name: str, number: int, suffix: str) -> Path:
    return folder / (f"{name}{suffix}" if number == 1 else f"{name}-{number}{suffix}")


def _existing(path: Path) -> list[Path]:
    """The existing files of this recording: the WAV file, the Opus file or both."""
    return [one for one in (path.with_suffix(WAV), path.with_suffix(OPUS)) if one.exists()]


def delete_old_recordings(folder: Path, older_than_s: float) -> int:
    """Delete the recordings that were last written before this time, which is in seconds since the epoch. Returns the
    number of deleted files."""
    found = [path for pattern in ("*.wav", "*.opus", "*.opus.part") for path in folder.glob(pattern)]
    old = [path for path in found if path.stat().st_mtime < older_than_s]
    for path in old:
        path.unlink(missing_ok=True)
    return len(old)
