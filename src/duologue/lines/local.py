"""The line to the microphone and the loudspeaker of this computer.

One PortAudio stream records and plays, so each recorded frame comes with the sound that was played at the same time.
The ears need that sound for echo cancellation. Rule: the audio thread only copies bytes; events are sent from the event
loop.
"""

from __future__ import annotations

import asyncio
import importlib
from collections import deque
from collections.abc import Callable
from typing import Any

from duologue.audio.frames import to_pcm, to_samples
from duologue.audio.resample import LiveResampler
from duologue.core.errors import DuologueError
from duologue.ports.ears import Frame
from duologue.ports.line import Closed, Finished, LineEvent, Played, Stopped
from duologue.ports.sound import Sound

from .playout import Playout
from .whole_sound import sound_at

RATE_HZ = 16_000
BLOCK_MS = 20
REPORT_MS = 100  # between two reports of how much was played
_BLOCK = RATE_HZ * BLOCK_MS // 1000


class NoMicrophone(DuologueError):
    """This computer can't record or play sound. The message says why."""


class LocalLine:
    """The line of one conversation on this computer."""

    def __init__(self, microphone: str | int | None = None, speaker: str | int | None = None) -> None:
        self._devices = (microphone, speaker)
        self._playout = Playout(RATE_HZ)
        self._resampler = LiveResampler(RATE_HZ, RATE_HZ)
        self._source: tuple[int, int] = (0, RATE_HZ)  # the voice and the rate that are being resampled
        self._echo: deque[bytes] = deque()
        self._stream: Any = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._notify: Callable[[LineEvent], None] = lambda event: None  # noqa: ARG005
        self._blocks = 0

    # -- The port

    async def prime(self) -> None:
        """Open the microphone and the loudspeaker now, so that a failure is noticed before the conversation starts."""
        if self._stream is None:
            self._loop = asyncio.get_running_loop()
            self._stream = await self._loop.run_in_executor(None, self._start)

    async def open(self, notify: Callable[[LineEvent], None]) -> None:
        await self.prime()
        self._notify = notify

    def play(self, voice: int, chunk: int, sound: Sound) -> None:  # noqa: ARG002 - pieces come in order
        if self._source != (voice, sound.rate_hz):
            self._source = (voice, sound.rate_hz)
            self._resampler = LiveResampler(sound.rate_hz, RATE_HZ)
        self._playout.play(voice, to_pcm(self._resampler.feed(to_samples(sound.pcm))))

    def finish(self, voice: int) -> None:
        if self._source[0] == voice:
            self._playout.play(voice, to_pcm(self._resampler.finish()))
        self._playout.finish(voice)

    def hold(self, voice: int) -> None:
        self._playout.hold(voice)

    def resume(self, voice: int) -> None:
        self._playout.resume(voice)

    def clear(self, voice: int) -> None:
        heard_ms = self._playout.clear(voice)
        self._source = (0, RATE_HZ)
        asyncio.get_running_loop().call_soon(self._notify, Stopped(voice, heard_ms))

    def play_cue(self, cue: int, sound: Sound) -> None:
        self._playout.play_cue(cue, sound_at(sound, RATE_HZ))

    def stop_cue(self) -> None:
        self._playout.stop_cue()

    def set_ambient(self, sound: Sound | None) -> None:
        self._playout.set_ambient(sound_at(sound, RATE_HZ) if sound is not None else b"")

    async def close(self) -> None:
        stream, self._stream = self._stream, None
        self._playout = Playout(RATE_HZ)
        self._source = (0, RATE_HZ)
        if stream is not None:
            await asyncio.get_running_loop().run_in_executor(None, stream.close)

    # -- The device

    def _start(self) -> Any:
        device = _sounddevice()
        try:
            stream = device.RawStream(
                samplerate=RATE_HZ,
                blocksize=_BLOCK,
                dtype="int16",
                channels=1,
                latency="low",
                device=self._devices,
                callback=self._exchange,
                finished_callback=self._finish,
            )
            # Sound that is played now reaches the microphone this many blocks later.
            late = round(sum(stream.latency) * 1000 / BLOCK_MS)
            self._echo = deque([bytes(_BLOCK * 2)] * late)
            try:
                stream.start()
            except device.PortAudioError:
                stream.close()
                raise
        except (device.PortAudioError, ValueError) as problem:
            why = str(problem).splitlines()[0] if str(problem) else type(problem).__name__
            raise NoMicrophone(f"can't open the microphone and the loudspeaker: {why}") from None
        return stream

    def _exchange(self, heard: Any, played: Any, _samples: int, _times: Any, _status: Any) -> None:
        """Take the block of sound that was just recorded, and provide the next block to play. Runs in the audio
        thread."""
        out = self._playout.take(_BLOCK)
        played[:] = out
        self._echo.append(out)
        block = Frame(bytes(heard), RATE_HZ, self._echo.popleft())
        self._soon(self._note, block)

    def _finish(self) -> None:
        """Report to the event loop that the audio stream has ended, because we have closed it or the device is gone.
        Runs in the audio thread."""
        self._soon(self._note_end, None)

    def _soon(self, do: Callable[[Any], None], what: Any) -> None:
        try:
            if self._loop is not None:
                self._loop.call_soon_threadsafe(do, what)
        except RuntimeError:  # the event loop has closed
            return

    def _note_end(self, _: None) -> None:
        stream, self._stream = self._stream, None
        if stream is not None:
            self._notify(Closed())
            asyncio.get_running_loop().run_in_executor(None, stream.close)

    def _note(self, block: Frame) -> None:
        """Pass a recorded block on to the conversation. Every REPORT_MS, also report how much of the agent's utterance
        was played. Runs on the event loop."""
        if self._stream is None:
            return
        self._notify(block)
        self._blocks += 1
        if self._blocks * BLOCK_MS % REPORT_MS == 0 and (found := self._playout.heard()) is not None:
            event = Finished if found.is_all else Played
            self._notify(event(found.voice, found.heard_ms))


def _sounddevice() -> Any:
    try:
        return importlib.import_module("sounddevice")
    except ModuleNotFoundError:
        raise NoMicrophone("the microphone needs sounddevice: pip install 'duologue[talk]'") from None
    except OSError:
        raise NoMicrophone("the microphone needs PortAudio: apt-get install libportaudio2") from None
