"""A WebRTC client of tests: a real aiortc peer with a microphone that plays what it is given."""

from __future__ import annotations

import asyncio
import re
from fractions import Fraction
from typing import Any

import numpy as np
from aiortc import MediaStreamTrack, RTCPeerConnection, RTCSessionDescription
from av import AudioFrame

RATE_HZ = 48_000
SAMPLES = 960


class MicrophoneTrack(MediaStreamTrack):
    """Sends PCM at 48 kHz in real time, and silence after it."""

    kind = "audio"

    def __init__(self, pcm: bytes = b"") -> None:
        super().__init__()
        self.pcm = bytearray(pcm)
        self._count = 0
        self._began = 0.0

    async def recv(self) -> AudioFrame:
        loop = asyncio.get_running_loop()
        self._began = self._began or loop.time()
        await asyncio.sleep(max(0.0, self._began + self._count * 0.02 - loop.time()))
        piece = bytes(self.pcm[: SAMPLES * 2]).ljust(SAMPLES * 2, b"\0")
        del self.pcm[: SAMPLES * 2]
        frame = AudioFrame.from_ndarray(np.frombuffer(piece, dtype="<i2").reshape(1, -1), "s16", "mono")
        frame.sample_rate, frame.pts, frame.time_base = RATE_HZ, self._count * SAMPLES, Fraction(1, RATE_HZ)
        self._count += 1
        return frame


def unreachable(sdp: str) -> str:
    """The same offer or answer, with addresses at which nothing answers: ICE can't connect."""
    return re.sub(r"(a=candidate:\S+ \d \w+ \d+ \S+) \d+ ", r"\1 9 ", sdp)


class AiortcClient:
    """One client. `heard` is what it gets, as PCM at 48 kHz mono."""

    def __init__(self, microphone: MicrophoneTrack | None = None) -> None:
        self.connection = RTCPeerConnection()
        self.microphone = microphone or MicrophoneTrack()
        self.heard = bytearray()
        self.sender = self.connection.addTrack(self.microphone)
        self.connection.on("track", self._take)
        self._reading: asyncio.Task[None] | None = None

    def open_channel(self, name: str) -> Any:
        return self.connection.createDataChannel(name)

    async def offer(self) -> str:
        await self.connection.setLocalDescription(await self.connection.createOffer())
        return str(self.connection.localDescription.sdp)

    async def accept(self, sdp: str) -> None:
        await self.connection.setRemoteDescription(RTCSessionDescription(sdp, "answer"))

    def _take(self, track: MediaStreamTrack) -> None:
        self._reading = asyncio.ensure_future(self._read(track))

    async def _read(self, track: MediaStreamTrack) -> None:
        while True:
            frame: Any = await track.recv()
            self.heard += frame.to_ndarray().reshape(-1)[::2].astype("<i2").tobytes()

    async def close(self) -> None:
        if self._reading is not None:
            self._reading.cancel()
        await self.connection.close()


def tone(ms: int, hz: int, rate_hz: int = RATE_HZ, level: float = 0.3) -> bytes:
    at = np.arange(rate_hz * ms // 1000) / rate_hz
    return bytes((np.sin(2 * np.pi * hz * at) * level * 32767).astype("<i2").tobytes())


def loudest_hz(pcm: bytes, rate_hz: int) -> float:
    samples = np.frombuffer(pcm, dtype="<i2").astype(float)
    spectrum = np.abs(np.fft.rfft(samples))
    return float(np.argmax(spectrum) * rate_hz / len(samples))
