"""A simulated network for WebRTC: each UDP packet of this event loop arrives late, in another order, or never.

The sockets are real and on this machine. A packet that has arrived is held back or dropped before its receiver gets it,
in simulated time (`jumping_clock`). TCP isn't affected: it repeats lost packets by itself. Rule: what happens to a
packet depends only on the seed and on how many packets of its kind (sound, or anything else) came before it.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, TypeVar

from .jumping_clock import JumpingLoop

T = TypeVar("T")
_DTLS_HANDSHAKE = range(20, 23)  # the first byte: change of keys, alert, handshake
_RTP = range(128, 192)
_RTCP = range(192, 224)  # the second byte
_CLOCKED = ("rtcrtpsender", "rtcrtpreceiver", "rtcsctptransport")  # modules of aiortc that read the time of day


@dataclass
class LossyNetwork:
    """A network that loses the share `loss` of all packets, and delays each by up to `jitter_ms`. Counts RTP packets
    (sound) and other packets. Packets of OpenSSL's handshake are never lost, because OpenSSL would repeat them in real
    time."""

    loss: float = 0.0
    jitter_ms: int = 0
    seed: int = 1
    sound_packets: int = 0
    sound_lost: int = 0
    other_packets: int = 0
    other_lost: int = 0
    first_stamps: dict[int, int] = field(default_factory=dict)  # by sender (SSRC): the timestamp of its first packet

    def __post_init__(self) -> None:
        self._chances = {kind: random.Random(f"{kind} {self.seed}") for kind in (True, False)}  # is it sound?

    def delay_ms(self, data: bytes) -> float | None:
        """Count this packet, and decide at random when it arrives. Returns its delay in milliseconds; None if it is
        lost."""
        if data and data[0] in _DTLS_HANDSHAKE:
            return 0.0
        chance = self._chances[is_sound(data)]
        is_lost, delay_ms = chance.random() < self.loss, chance.uniform(0, self.jitter_ms)
        if is_sound(data):
            self.first_stamps.setdefault(int.from_bytes(data[8:12], "big"), int.from_bytes(data[4:8], "big"))
            self.sound_packets += 1
            self.sound_lost += is_lost
        else:
            self.other_packets += 1
            self.other_lost += is_lost
        return None if is_lost else delay_ms


def is_sound(data: bytes) -> bool:
    """Is this an RTP packet?"""
    return len(data) >= 12 and data[0] in _RTP and data[1] not in _RTCP


class _HeldBack(asyncio.DatagramProtocol):
    """Holds back or drops the packets for the receiver of a socket, as the simulated network decides."""

    def __init__(self, receiver: Any, network: LossyNetwork) -> None:
        self.receiver = receiver
        self._network = network

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.receiver.connection_made(transport)

    def connection_lost(self, exc: Exception | None) -> None:
        self.receiver.connection_lost(exc)

    def error_received(self, exc: Exception) -> None:
        self.receiver.error_received(exc)

    def datagram_received(self, data: bytes, addr: Any) -> None:
        delay_ms = self._network.delay_ms(data)
        if delay_ms is not None:
            asyncio.get_running_loop().call_later(delay_ms / 1000, self.receiver.datagram_received, data, addr)


class LossyLoop(JumpingLoop):
    """A `JumpingLoop` whose UDP sockets are connected by a simulated network."""

    def __init__(self, network: LossyNetwork) -> None:
        super().__init__()
        self._network = network

    async def create_datagram_endpoint(self, protocol_factory: Callable[[], Any], *args: Any, **named: Any) -> Any:
        transport, held = await super().create_datagram_endpoint(
            lambda: _HeldBack(protocol_factory(), self._network), *args, **named
        )
        return transport, held.receiver


@contextmanager
def _simulated_time(loop: asyncio.AbstractEventLoop) -> Iterator[None]:
    """Let aiortc measure round trips in simulated time. Otherwise it would use the time of day, which doesn't jump."""
    import aiortc

    modules = [getattr(aiortc, name) for name in _CLOCKED]
    before = [module.time for module in modules]
    for module in modules:
        module.time = SimpleNamespace(time=loop.time)
    try:
        yield
    finally:
        for module, original in zip(modules, before, strict=True):
            module.time = original


def run_lossy(main: Coroutine[Any, Any, T], network: LossyNetwork) -> T:
    """Run a coroutine like `run_jumping`, with this network between its UDP sockets, and return its result."""
    with asyncio.Runner(loop_factory=lambda: LossyLoop(network)) as runner, _simulated_time(runner.get_loop()):
        return runner.run(main)
