"""Measures WebRTC: the CPU time of a session in which both sides speak, and speech over a network that loses and delays
packets.

This process is the server of the peer connections. Their clients run in another process. To measure the network,
sentences of a synthetic caller are encoded, sent through a simulated network, ordered, decoded and transcribed by the
local STT, and a whole call is played over that network. Rule: the CPU time of the codec is measured separately. All
other CPU time of a session counts as the cost of packets.
"""

from __future__ import annotations

import asyncio
import importlib
import json
import random
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

from duologue.lines.browser import BrowserLine
from duologue.lines.opus import PACKET_CLOCKS, OpusDecoder, OpusEncoder
from duologue.lines.webrtc import arrival_order
from duologue.lines.webrtc.ice_servers import IceServers
from duologue.lines.webrtc.packet_player import PacketPlayer
from duologue.lines.webrtc.path import PathPlace
from duologue.lines.webrtc.peer import Peer
from duologue.ports.sound import Sound
from duologue.server.run import run

from .budget import Budget

PIECE = 960  # bytes of 20 ms at 24 kHz
LOSS, JITTER_MS = 0.10, 80
BUDGETS: tuple[Budget, ...] = (
    Budget("cpu_ms_per_session_s", "CPU of a session-second while both sides speak", 20, "ms"),
)
NOTE = (
    "CPU is that of the server's process alone, with real aiortc clients in another process on this machine: the agent "
    "and the user speak all the time. Encoding and decoding are measured by themselves. The rest is the cost of "
    "packets: RTP, SRTP, ICE, ordering and the received sound."
)


def bench_webrtc(
    sessions: int = 5,
    seconds: float = 10.0,
    progress: Callable[[str], None] = lambda what: None,  # noqa: ARG005
    speech: bool = False,
) -> Any:
    """Measure this many sessions at once for this many seconds."""
    progress("the codec")
    codec = _codec_ms()
    progress(f"{sessions} sessions")
    result: dict[str, Any] = {"sessions": sessions, "seconds": seconds, **codec}

    async def measure() -> None:
        result.update(await _measure(sessions, seconds))

    run(measure())  # with the loop that a server uses
    result["packets_ms_per_session_s"] = result["cpu_ms_per_session_s"] - sum(codec.values())
    progress("a network that loses packets")
    result |= network_numbers(changing_tone(20_000), LOSS, JITTER_MS)
    if speech:
        progress("speech over that network")
        result |= importlib.import_module("duologue.lab.bench.webrtc_speech").speech_numbers(LOSS, JITTER_MS)
        progress("a whole call over that network")
        result |= importlib.import_module("duologue.lab.bench.webrtc_call").call_numbers(LOSS, JITTER_MS)
    result["budget"] = {budget.key: budget.limit for budget in BUDGETS}
    result["within_budget"] = {budget.key: budget.holds(result[budget.key]) for budget in BUDGETS}
    result["note"] = NOTE
    return result


def report(result: dict[str, Any]) -> list[tuple[str, str, str]]:
    """The result as rows of (what, measured, budget). The budget may be empty."""
    shown = [
        ("of it encoding", f"{result['encode_ms_per_session_s']:.2f} ms", ""),
        ("of it decoding", f"{result['decode_ms_per_session_s']:.2f} ms", ""),
        ("of it packets", f"{result['packets_ms_per_session_s']:.2f} ms", ""),
    ]
    network = [
        (f"{LOSS:.0%} loss, {JITTER_MS} ms jitter: share of arrived packets heard", f"{result['heard_share']:.1%}", ""),
        ("lost in this run", f"{result['lost_share']:.1%}", ""),
        ("replaced by a copy in the next packet or by concealment", f"{result['concealed_share']:.1%}", ""),
        ("delay for ordering packets, median", f"{result['order_ms_p50']} ms", ""),
        ("delay for ordering packets, 95 %", f"{result['order_ms_p95']} ms", ""),
        ("delay for ordering packets, longest", f"{result['order_ms_max']} ms", ""),
    ]
    if "word_errors_clean" in result:
        network += [
            ("words that the STT gets wrong, without loss", f"{result['word_errors_clean']:.1%}", ""),
            ("and over this network", f"{result['word_errors_network']:.1%}", ""),
            *_call_rows(result),
        ]
    return [("sessions at once", str(result["sessions"]), ""), *(b.row(result) for b in BUDGETS), *shown, *network]


def _call_rows(result: dict[str, Any]) -> list[tuple[str, str, str]]:
    clean, lossy = result["call_word_errors_clean"], result["call_word_errors"]
    at_ms = result["call_interrupted_at_ms"]
    return [
        (
            "a whole spoken call over this network: turns, answers",
            f"{result['call_turns']}, {result['call_answers']}",
            "",
        ),
        ("packets of sound that were lost in this call", f"{result['call_sound_lost_share']:.1%}", ""),
        ("sound that the client had to conceal", f"{result['call_concealed_share']:.1%}", ""),
        ("words that were misunderstood: without loss, over this network", f"{clean:.1%}, {lossy:.1%}", ""),
        ("end of speech → answer at the loudspeaker, without loss", f"{result['call_answer_ms_clean']} ms", ""),
        ("and over this network", f"{result['call_answer_ms']} ms", ""),
        ("the long answer was interrupted after", f"{at_ms} ms", ""),
    ]


# -- CPU


def changing_tone(ms: int) -> bytes:
    """Sound that a codec can't skip as silence: loudness and pitch change all the time, as in speech."""
    import numpy as np

    rng = np.random.default_rng(7)
    at = np.arange(24 * ms) / 24_000
    pitch = 120 + 40 * np.sin(2 * np.pi * 0.7 * at)
    voice = sum(np.sin(2 * np.pi * harmonic * np.cumsum(pitch) / 24_000) / harmonic for harmonic in range(1, 12))
    loud = np.abs(np.sin(2 * np.pi * 2.1 * at))
    sound = voice * loud * 4_000 + rng.normal(0, 150, at.size)
    return bytes(np.clip(sound, -32_768, 32_767).astype("<i2").tobytes())


def _codec_ms() -> dict[str, float]:
    """The CPU milliseconds for encoding and for decoding a second of sound."""
    pcm, encoder, decoder = changing_tone(10_000), OpusEncoder(), OpusDecoder()
    began = time.process_time()
    packets = [encoder.encode(pcm[at : at + PIECE]) for at in range(0, len(pcm), PIECE)]
    encoded = time.process_time()
    for packet in packets:
        decoder.decode(packet)
    decoded = time.process_time()
    return {
        "encode_ms_per_session_s": (encoded - began) * 100,
        "decode_ms_per_session_s": (decoded - encoded) * 100,
    }


class _Session:
    """A session in which the agent always speaks. It counts the milliseconds of sound that it hears."""

    def __init__(self, pcm: bytes) -> None:
        loop = asyncio.get_running_loop()
        self.line = BrowserLine()
        self.player = PacketPlayer(self.line, lambda: int(loop.time() * 1000), lambda _: None)
        self.peer = Peer(self.player, self, IceServers())
        self.heard_ms = 0
        self.is_up = asyncio.Event()
        self._pcm = pcm

    async def answer(self, sdp: str) -> str:
        self.line.attach(self.player)
        await self.line.open(_ignore)
        answer = await self.peer.answer(sdp)
        self.line.play(1, 1, Sound(len(self._pcm) // 48, self._pcm, 24_000))
        return answer

    def hear(self, pcm: bytes, ms: int) -> None:  # noqa: ARG002
        self.heard_ms += ms

    def move_to(self, place: PathPlace) -> None:
        if place is PathPlace.UP:
            self.is_up.set()

    def open_channel(self, channel: Any) -> None: ...


def _ignore(_: object) -> None: ...


async def _measure(sessions: int, seconds: float) -> dict[str, float]:
    pipe = asyncio.subprocess.PIPE
    clients = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "duologue.lab.bench.webrtc_clients", str(sessions), stdin=pipe, stdout=pipe, limit=1 << 20
    )
    assert clients.stdin is not None
    assert clients.stdout is not None
    pcm = changing_tone(5_000) * (int(seconds) // 5 + 4)
    made = [_Session(pcm) for _ in range(sessions)]
    try:
        for session in made:
            offer = json.loads(await clients.stdout.readline())
            clients.stdin.write(json.dumps(await session.answer(offer)).encode() + b"\n")
        await asyncio.wait_for(asyncio.gather(*(session.is_up.wait() for session in made)), 30)
        await asyncio.sleep(1.0)
        heard_ms, began, cpu = sum(one.heard_ms for one in made), time.monotonic(), time.process_time()
        await asyncio.sleep(seconds)
        took_s, used_s = time.monotonic() - began, time.process_time() - cpu
        heard_s = (sum(one.heard_ms for one in made) - heard_ms) / 1000
    finally:
        clients.stdin.close()
        await asyncio.gather(*(session.peer.close() for session in made))
        await clients.wait()
    return {
        "cpu_ms_per_session_s": used_s * 1000 / (took_s * sessions),
        "client_sound_share": heard_s / (took_s * sessions),
    }


# -- The network


def over_network(packets: list[bytes], loss: float, jitter_ms: int, seed: int = 1) -> tuple[bytes, dict[str, float]]:
    """Send these packets through a simulated network that loses and delays packets. Returns the sound that arrives, and
    statistics of the losses and delays."""
    rng = random.Random(seed)
    sent = [(at * 20 + rng.uniform(0, jitter_ms), at) for at in range(len(packets)) if rng.random() >= loss]
    state, decoder, pcm, delays_ms = arrival_order.ArrivalState(), OpusDecoder(), bytearray(), []
    arrived_ms: dict[int, float] = {}
    for now_ms, at in sorted(sent):
        arrived_ms[at * PACKET_CLOCKS] = now_ms
        state, heard = arrival_order.step(state, at * PACKET_CLOCKS, PACKET_CLOCKS, int(now_ms))
        for one in heard:
            if isinstance(one, arrival_order.HearPacket):
                pcm += decoder.decode(packets[one.stamp // PACKET_CLOCKS])
                delays_ms.append(int(now_ms - arrived_ms[one.stamp]))
            else:
                following = packets[one.following // PACKET_CLOCKS] if one.following is not None else None
                pcm += decoder.conceal(one.clocks, following)
    delays_ms.sort()
    return bytes(pcm), {
        "lost_share": 1 - len(sent) / len(packets),
        "heard_share": len(delays_ms) / len(sent),
        "concealed_share": state.concealed / len(packets),
        "order_ms_p50": int(statistics.median(delays_ms)),
        "order_ms_p95": delays_ms[len(delays_ms) * 95 // 100],
        "order_ms_max": delays_ms[-1],
    }


def encoded(pcm: bytes, loss: float) -> list[bytes]:
    """The packets of this sound at 24 kHz. They are encoded in the same way as by a browser that knows the share of
    packets that get lost (`loss`)."""
    encoder = OpusEncoder()
    encoder.expect_loss(round(loss * 100))
    whole = pcm + bytes(-len(pcm) % PIECE)
    return [encoder.encode(whole[at : at + PIECE]) for at in range(0, len(whole), PIECE)]


def network_numbers(pcm: bytes, loss: float, jitter_ms: int) -> dict[str, float]:
    return over_network(encoded(pcm, loss), loss, jitter_ms)[1]
