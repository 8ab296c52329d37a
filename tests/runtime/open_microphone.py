"""A line whose microphone is always open, and sounds for it: synthetic speech, a hum, babble, a cough.

Rule: frames arrive at the pace of the clock, in simulated time.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import numpy as np

from duologue.audio.frames import Samples, to_pcm, to_samples
from duologue.audio.resample import resample
from duologue.lines.scripted import ScriptedLine
from duologue.ports.ears import Frame
from duologue.ports.voice import Voice
from tests.runtime.runtime_fakes import Stage, play

RATE_HZ = 16_000
FRAME_MS = 32
_FRAME = RATE_HZ * FRAME_MS // 1000


def spoken(voice: Voice, text: str) -> Samples:
    """This text, said by this voice, at 16 kHz."""

    async def speak() -> Samples:
        pieces = [sound async for sound in voice.speak(text) if sound.pcm]
        samples = np.concatenate([to_samples(sound.pcm) for sound in pieces])
        return resample(samples, pieces[0].rate_hz, RATE_HZ)

    return asyncio.run(speak())


def trimmed(sound: Samples) -> Samples:
    """Without the silence before and behind the speech."""
    (loud,) = np.nonzero(np.abs(sound) > 0.01)
    return sound[loud[0] : loud[-1] + 1]


def without_pauses(sound: Samples, pause_ms_max: int = 150) -> Samples:
    """The same speech with shorter pauses."""
    size = RATE_HZ // 100
    pieces = np.split(sound[: sound.size // size * size], sound.size // size)
    kept, quiet_ms = list[Samples](), 0
    for piece in pieces:
        quiet_ms = 0 if np.abs(piece).max() > 0.01 else quiet_ms + 10
        if quiet_ms <= pause_ms_max:
            kept.append(piece)
    return np.concatenate(kept)


def hum(length_s: float, level: float = 0.02) -> Samples:
    """A mains hum with its harmonics, as of a fan or a refrigerator."""
    t = np.arange(int(length_s * RATE_HZ)) / RATE_HZ
    tones = [np.sin(2 * np.pi * hz * t) / number for number, hz in enumerate((100, 200, 300, 500), 1)]
    return np.asarray(level * np.sum(tones, axis=0), np.float32)


def babble(voices: list[Samples], length_s: float, level: float) -> Samples:
    """Several people who speak at the same time, none of them to the agent."""
    size = int(length_s * RATE_HZ)
    return np.sum([level * np.resize(np.roll(one, at * 5_000), size) for at, one in enumerate(voices)], axis=0)


def cough(ms: int, pitch_hz: int, breath: float) -> Samples:
    """A burst of voice and breath through the resonances of an open mouth: it sounds like a voice and has no words.
    `breath` is the share of noise in it, from 0 to 1."""
    t = np.arange(ms * RATE_HZ // 1000) / RATE_HZ
    voice = np.sum([np.sin(2 * np.pi * pitch_hz * k * t + 0.3 * k) / k for k in range(1, 25)], axis=0)
    noise = np.random.default_rng(1).standard_normal(t.size) / 3
    source = (1 - breath) * voice / np.abs(voice).max() + breath * noise
    sound = np.zeros(t.size)
    for hz, width_hz, share in ((700, 150, 1.0), (1_200, 200, 0.7), (2_500, 300, 0.4)):
        ring = np.exp(-np.pi * width_hz * t) * np.sin(2 * np.pi * hz * t)
        rung = np.convolve(source, ring)[: t.size]
        sound += share * rung / np.abs(rung).max()
    sound *= np.minimum(1, t / 0.015) * np.exp(-2.5 * t * 1000 / ms)
    return np.asarray(0.5 * sound / np.abs(sound).max(), np.float32)


class OpenMicrophone(ScriptedLine):
    """A line whose microphone hears what is said into it, over `background`, which is repeated for ever."""

    def __init__(self, background: Samples | None = None) -> None:
        super().__init__()
        self.background = background
        self.is_dead = False  # True: no frame arrives
        self._said = np.empty(0, np.float32)
        self._frames = 0

    def hears(self, sound: Samples) -> None:
        """Begin this sound now, or behind the sounds that are still going on."""
        self._said = np.concatenate((self._said, sound))

    @property
    def left_ms(self) -> int:
        """How much longer the sounds go on, without the background."""
        return self._said.size * 1000 // RATE_HZ

    async def listen(self) -> None:
        """Send one frame after the other, for ever."""
        loop = asyncio.get_running_loop()
        began = loop.time()
        while True:
            self._frames += 1
            await asyncio.sleep(max(0.0, began + self._frames * FRAME_MS / 1000 - loop.time()))
            frame = self._next()
            if not self.is_dead:
                self._notify(Frame(to_pcm(frame), RATE_HZ, b""))

    def _next(self) -> Samples:
        frame = np.zeros(_FRAME, np.float32)
        said, self._said = self._said[:_FRAME], self._said[_FRAME:]
        frame[: said.size] += said
        if self.background is not None and self.background.size:
            frame += np.take(self.background, np.arange(_FRAME) + self._frames * _FRAME, mode="wrap")
        return np.clip(frame, -1, 1)


def play_with_microphone(
    scene: Callable[[Stage, OpenMicrophone], Awaitable[None]],
    brain: Any,
    background: Samples | None = None,
    **agent: Any,
) -> Stage:
    """Run a scene in which the microphone is open all the time, and end the conversation."""
    line = OpenMicrophone(background)

    async def script(stage: Stage) -> None:
        listening = asyncio.ensure_future(line.listen())
        try:
            await scene(stage, line)
        finally:
            listening.cancel()

    return play(script, brain, line=line, **agent)
