"""Subtracts the echo of the agent's voice from the caller's sound, with an adaptive linear filter.

The filter models the path from the played sound to its echo: a partitioned frequency-domain filter, adapted by
normalised least mean squares. The lag of the echo is already known, so the filter covers only a fifth of a second
around this lag, is small and learns within seconds. If a person speaks during the echo, the filter would learn wrong
weights, so there are two copies of it. The first copy learns all the time. The second copy is used, and gets the
weights of the first copy only when these have proved better. Only transcription needs this filter: whether a person
speaks is decided from the unfiltered sound. Rule: the result is never louder than the unfiltered sound.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from duologue.audio.frames import Samples

from .echo_level import UNKNOWN

PARTITIONS = 6  # frames that the filter covers
BEFORE = 2  # how many of them lie before the lag, which is only known to within a frame
REACH = 24  # the longest lag in frames
STEP = 1.0  # how fast the filter learns
HANGOVER = 6  # frames in which nothing is learned after a sound that isn't echo
BETTER = 0.7  # the learned filter is better if it leaves less than this share of what the used filter leaves, ...
REMOVED = 0.5  # ... and less than this share of the incoming sound: while a person speaks, much is left
WORSE = 4.0  # the learned filter is bad if it leaves more than this many times what the used filter leaves
_QUIET = 1e-6  # power below which nothing is learned

Spectrum = NDArray[np.complex64]


@dataclass(frozen=True, slots=True, eq=False)
class LinearEcho:
    """The filter of one conversation, as a value that doesn't change. `after` returns the next filter."""

    size: int  # samples in a frame
    lag: int = UNKNOWN
    used: Spectrum | None = None
    learned: Spectrum | None = None
    spectra: tuple[Spectrum, ...] = ()  # the spectra of what was played, the newest first
    played: Samples = field(default_factory=lambda: np.empty(0, np.float32))
    blocked: int = 0  # frames until the filter may learn again

    def after(self, heard: Samples, played: Samples, lag: int, is_echo: bool) -> tuple[LinearEcho, Samples]:
        """Process a frame. Returns the filter to use for the next frame, and this frame without the echo. `lag` is how
        many frames later than its sound the echo comes. `is_echo` is True if the frame may be nothing but echo, without
        any speech of a person."""
        before = self.played if self.played.size else np.zeros(self.size, np.float32)
        spectrum = np.fft.rfft(np.concatenate((before, played))).astype(np.complex64)
        spectra = (spectrum, *self.spectra)[: REACH + PARTITIONS]
        blocked = max(0, self.blocked - 1) if is_echo else HANGOVER
        now = replace(self, spectra=spectra, played=played, blocked=blocked)
        if lag == UNKNOWN:
            return now, heard
        if now.lag == UNKNOWN or abs(lag - now.lag) >= BEFORE:  # the filter still covers a lag that moved by a frame
            zero = np.zeros((PARTITIONS, self.size + 1), np.complex64)
            now = replace(now, lag=lag, used=zero, learned=zero)
        return now._filter(heard)

    def _filter(self, heard: Samples) -> tuple[LinearEcho, Samples]:
        start = max(0, self.lag - BEFORE)
        source = np.stack((self.spectra + (self.spectra[0] * 0,) * (REACH + PARTITIONS))[start : start + PARTITIONS])
        power = (source.real**2 + source.imag**2).sum(axis=0)
        if power.mean() < _QUIET * self.size:
            return self, heard
        assert self.used is not None
        assert self.learned is not None
        left, learned_left = self._left(heard, self.used, source), self._left(heard, self.learned, source)
        energy, used_energy, learned_energy = (float(np.dot(x, x)) for x in (heard, left, learned_left))
        used, learned = self.used, self.learned
        if learned_energy < BETTER * used_energy and learned_energy < REMOVED * energy:
            used, left, used_energy = learned, learned_left, learned_energy
        elif learned_energy > WORSE * used_energy:
            learned, learned_left = used, left
        if not self.blocked:
            learned = self._moved(learned, source, power, learned_left)
        return replace(self, used=used, learned=learned), left if used_energy < energy else heard

    def _left(self, heard: Samples, weights: Spectrum, source: Spectrum) -> Samples:
        echo = np.fft.irfft((weights * source).sum(axis=0))[self.size :]
        return heard - echo.astype(np.float32)

    def _moved(self, weights: Spectrum, source: Spectrum, power: NDArray[np.float32], left: Samples) -> Spectrum:
        """The weights after one step of learning, which makes the remaining sound (`left`) smaller. The second half of
        each part of the filter is set to zero, so that the filter stays causal."""
        error = np.fft.rfft(np.concatenate((np.zeros(self.size, np.float32), left)))
        step = STEP * source.conj() * error / (power + 1e-3 * power.max() + 1e-9)
        moved = np.fft.irfft(weights + step, axis=1)
        moved[:, self.size :] = 0
        return np.fft.rfft(moved, axis=1).astype(np.complex64)
