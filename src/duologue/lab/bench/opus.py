"""Measures Opus on clients' sockets (`duologue bench opus`): bytes, CPU time, and the delay compared with PCM.

Recorded speech goes through the same code as in a conversation: the agent's voice in chunks of 100 ms, the user's voice
in packets of 20 ms. Rule: only the CPU time of the server is measured, not the CPU time of the client (the page).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from duologue.audio.frames import Samples, to_pcm
from duologue.audio.resample import resample
from duologue.audio.wav import read_audio
from duologue.core.errors import DuologueError
from duologue.lines.opus import PACKET_MS, OpusEncoder, why_no_opus
from duologue.lines.playback.state import OUTPUT_HZ, PIECE_MS
from duologue.models.cache import model_path
from duologue.server.microphone_frames import IS_PACKET, MicrophoneFrames, OpusMicrophone, PcmMicrophone
from duologue.server.voice_frames import OpusFrames, PacketStream, PcmFrames, VoiceFrames

from .budget import Budget

INPUT_HZ = 16_000
CHUNK_BYTES = OUTPUT_HZ * 2 * PIECE_MS // 1000
PCM_FRAME_BYTES = 1_024  # as the page sends PCM
BUDGETS: tuple[Budget, ...] = (
    Budget("output_kbit_s", "agent speaks: sound to the client, with headers", 40, "kbit/s"),
    Budget("input_kbit_s", "user speaks: sound from the client, with headers", 40, "kbit/s"),
    Budget("codec_ms_per_session_s", "CPU of a session-second while both speak", 6, "ms"),
    Budget("output_late_ms", "longest wait of the agent's sound for a full packet", 40, "ms"),
    Budget("input_late_ms", "longest wait of the user's sound for a full packet", 40, "ms"),
)
NOTE = (
    "The CPU is what Opus adds to PCM: encoding the agent's voice at 24 kHz and decoding the user's at 16 kHz, with "
    "frames. As PCM, the user's sound waits for a frame of 32 ms, and the agent's sound doesn't wait."
)


def bench_opus(seconds: float = 30.0, progress: Callable[[str], None] = lambda what: None) -> dict[str, Any]:  # noqa: ARG005
    """Measure this many seconds of speech."""
    if (why := why_no_opus()) is not None:
        raise DuologueError(why)
    progress("reading speech")
    agent, user = (speech(seconds, rate_hz) for rate_hz in (OUTPUT_HZ, INPUT_HZ))
    progress("the agent's voice")
    encode_ms, sent = _sent(OpusFrames(), agent)
    pcm_out_ms, pcm_sent = _sent(PcmFrames(), agent)
    progress("the user's voice")
    packets = microphone_packets(user)
    decode_ms, received = _received(OpusMicrophone(INPUT_HZ), packets)
    frames = [user[at : at + PCM_FRAME_BYTES] for at in range(0, len(user) - PCM_FRAME_BYTES + 1, PCM_FRAME_BYTES)]
    pcm_in_ms, pcm_received = _received(PcmMicrophone(INPUT_HZ), frames)
    result: dict[str, Any] = {
        "seconds": seconds,
        "output_kbit_s": sent * 8 / seconds / 1000,
        "input_kbit_s": received * 8 / seconds / 1000,
        "output_pcm_kbit_s": pcm_sent * 8 / seconds / 1000,
        "input_pcm_kbit_s": pcm_received * 8 / seconds / 1000,
        "encode_ms_per_session_s": (encode_ms - pcm_out_ms) / seconds,
        "decode_ms_per_session_s": (decode_ms - pcm_in_ms) / seconds,
        "output_late_ms": output_late_ms(agent),
        "input_late_ms": PACKET_MS + OpusEncoder(INPUT_HZ, is_low_delay=True).lookahead * 1000 / INPUT_HZ,
    }
    result["codec_ms_per_session_s"] = result["encode_ms_per_session_s"] + result["decode_ms_per_session_s"]
    result["budget"] = {budget.key: budget.limit for budget in BUDGETS}
    result["within_budget"] = {budget.key: budget.holds(result[budget.key]) for budget in BUDGETS}
    result["note"] = NOTE
    return result


def report(result: dict[str, Any]) -> list[tuple[str, str, str]]:
    """The result as rows of (what, measured, budget). The budget may be empty."""
    return [
        *(budget.row(result) for budget in BUDGETS),
        ("of it encoding", f"{result['encode_ms_per_session_s']:.2f} ms", ""),
        ("of it decoding", f"{result['decode_ms_per_session_s']:.2f} ms", ""),
        ("the same sound as PCM, to the client", f"{result['output_pcm_kbit_s']:.0f} kbit/s", ""),
        ("the same sound as PCM, from the client", f"{result['input_pcm_kbit_s']:.0f} kbit/s", ""),
    ]


def speech(seconds: float, rate_hz: int) -> bytes:
    """A recording of a person, repeated until it has this length. Its pauses are kept."""
    found = read_audio(model_path("speech-samples") / "two_cities.wav")
    samples: Samples = resample(found.samples, found.rate_hz, rate_hz)
    return to_pcm(np.resize(samples, int(rate_hz * seconds)))


def microphone_packets(pcm: bytes) -> list[bytes]:
    """The frames that a page sends if its microphone records this sound."""
    encoder = OpusEncoder(INPUT_HZ, is_low_delay=True)
    step = encoder.samples * 2
    return [bytes((IS_PACKET,)) + encoder.encode(pcm[at : at + step]) for at in range(0, len(pcm) - step + 1, step)]


def output_late_ms(pcm: bytes) -> float:
    """The delay of the agent's sound in milliseconds: the largest amount of sound that the encoder has got but the
    client can't decode yet, measured after each chunk."""
    stream = PacketStream()
    given = decoded = late = 0
    for at in range(0, len(pcm), CHUNK_BYTES - 2):  # an odd length: chunks don't end with packets
        chunk = pcm[at : at + CHUNK_BYTES - 2]
        given += len(chunk) // 2
        decoded += len(stream.add(chunk)) * OUTPUT_HZ * PACKET_MS // 1000
        late = max(late, given - (decoded - stream.skip))
    return late * 1000 / OUTPUT_HZ


def _sent(frames: VoiceFrames, pcm: bytes) -> tuple[float, int]:
    """The CPU milliseconds that it takes to encode this sound for sending, and the number of bytes to send."""
    chunks = [pcm[at : at + CHUNK_BYTES] for at in range(0, len(pcm), CHUNK_BYTES)]
    before = time.process_time()
    made = [frames.chunk(1, number, chunk) for number, chunk in enumerate(chunks, 1)]
    made.append(frames.rest(1) or b"")
    return (time.process_time() - before) * 1000, sum(map(len, made))


def _received(frames: MicrophoneFrames, sent: list[bytes]) -> tuple[float, int]:
    """The CPU milliseconds that it takes to decode these received frames, and the number of bytes that they have."""
    before = time.process_time()
    for frame in sent:
        frames.ms_of(frame)
        frames.pcm_of(frame)
    return (time.process_time() - before) * 1000, sum(map(len, sent))
