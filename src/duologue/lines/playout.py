"""The queue of samples between the event loop, which fills it, and the audio thread, which plays it.

The queue holds one voice at a time (the sound of one utterance), as 16-bit mono PCM with one sample rate. It can also
hold a cue, which is played only while no voice plays, and an ambient sound, which is mixed into everything.
`playout_state` decides what is played. Rule: samples that the audio thread has taken count as played. After a hold, the
next sample is silence. After a clear, the rest of the voice is dropped. Played sound is counted in samples, not
measured with a clock.
"""

from __future__ import annotations

import threading
from typing import NamedTuple

from .ambient_loop import AmbientLoop
from .playback.inputs import ClearAsked, HoldAsked, ResumeAsked, SoundAdded, SoundEnded, VoiceBegan
from .playout_state import AmountAsked, CueAdded, CueEnded, PlayoutDone, PlayoutInput, PlayoutState, SamplesNeeded, step

_SAMPLE = 2  # bytes


class PlayedAmount(NamedTuple):
    """How much of an utterance was played, and whether that is all of it."""

    voice: int
    heard_ms: int
    is_all: bool


class Playout:
    """A queue of sound that two threads may use at the same time."""

    def __init__(self, rate_hz: int) -> None:
        self._rate_hz = rate_hz
        self._lock = threading.Lock()
        self._state = PlayoutState()
        self._voice_pcm = bytearray()
        self._cue_pcm = bytearray()
        self._ambient = AmbientLoop()

    def _step(self, given: PlayoutInput) -> PlayoutDone:
        """Pass this input to the state machine `playout_state`, and drop the queued samples that it says to drop. The
        caller must hold the lock."""
        self._state, done = step(self._state, given)
        if done.drops_voice:
            self._voice_pcm.clear()
        if done.drops_cue:
            self._cue_pcm.clear()
        return done

    # -- For the event loop

    def play(self, voice: int, pcm: bytes) -> None:
        """Queue a piece of sound of an utterance of the agent. A new utterance replaces the previous one."""
        with self._lock:
            self._step(VoiceBegan(voice))
            self._step(SoundAdded(voice, len(pcm) // _SAMPLE))
            self._voice_pcm += pcm

    def finish(self, voice: int) -> None:
        with self._lock:
            self._step(SoundEnded(voice, 0))

    def hold(self, voice: int) -> None:
        with self._lock:
            self._step(HoldAsked(voice))

    def resume(self, voice: int) -> None:
        with self._lock:
            self._step(ResumeAsked(voice))

    def clear(self, voice: int) -> int:
        """Drop the rest of an utterance of the agent. Returns how much of it was heard, in ms."""
        with self._lock:
            return self._ms(self._step(ClearAsked(voice)).played)

    def play_cue(self, cue: int, pcm: bytes) -> None:
        """Queue sound of a cue (a short signal). It is played only while no utterance of the agent is heard. A new cue
        replaces the previous cue."""
        with self._lock:
            self._step(CueAdded(cue, len(pcm) // _SAMPLE))
            self._cue_pcm += pcm

    def stop_cue(self) -> None:
        with self._lock:
            self._step(CueEnded())

    def set_ambient(self, pcm: bytes) -> None:
        """Play this sound quietly, again and again, together with everything else. An empty sound turns this off."""
        with self._lock:
            self._ambient = AmbientLoop(pcm)

    def heard(self) -> PlayedAmount | None:
        """How much of the agent's current utterance was played; None if the agent says nothing. If all of it was played
        (`is_all`), it is removed, so that its end is returned only once."""
        with self._lock:
            voice = self._state.voice
            done = self._step(AmountAsked())
            return PlayedAmount(voice, self._ms(done.played), done.is_all) if voice else None

    def _ms(self, samples: int) -> int:
        return samples * 1000 // self._rate_hz

    # -- For the audio thread

    def take(self, samples: int) -> bytes:
        """Take the next samples to play, padded with silence if too few are queued. Samples of the agent's utterance
        come first; as soon as they are played, the rest of a cue is dropped."""
        with self._lock:
            done = self._step(SamplesNeeded(samples))
            taken = _take(self._voice_pcm, done.voice_samples) or _take(self._cue_pcm, done.cue_samples)
            silence = bytes(samples * _SAMPLE - len(taken))
            return self._ambient.mix(taken + silence, is_voice=done.voice_samples > 0)


def _take(queue: bytearray, samples: int) -> bytes:
    """Take samples from the front of a queue."""
    taken = bytes(queue[: samples * _SAMPLE])
    del queue[: samples * _SAMPLE]
    return taken
