"""Measures how many conversations one core can serve, and how long the delays are: `duologue bench server`.

The server runs on one core, its clients on another, with real sockets between them. Rule: the clients measure what was
heard and when. The server measures only its own CPU, memory, lag and decisions.
"""

from __future__ import annotations

import multiprocessing
import os
import statistics
from collections.abc import Callable
from typing import Any

from duologue.audio.frames import to_pcm
from duologue.audio.resample import resample
from duologue.audio.wav import read_audio
from duologue.models.cache import model_path

from .budget import Budget
from .measured_server import run_served
from .server_clients import ClientNotes, run_callers

SPEECH_MS = (1_900, 3_900)  # a part of the recording that begins and ends with speech
NOTE = (
    "A server on one core; clients on another stream real speech in 32 ms frames, report what they played every 60 ms "
    "and speak over every other answer. STT, brain and TTS are scripted. turn_ms counts from the last frame with "
    "speech and includes the silence that ends a turn; added_delay counts from the end of the turn; "
    "silence_after_frame from the frame with which the onset was detected to the hold command."
)


def budgets(vad: bool) -> tuple[Budget, ...]:
    """The budgets of a server with VAD, or of one without VAD."""
    return (
        Budget(
            "sessions_per_core",
            f"conversations a core carries, VAD {'on' if vad else 'off'}",
            40 if vad else 200,
            "",
            True,
        ),
        Budget("turn_ms_p50", "end of speech → first sound, median", 1_000, "ms"),
        Budget("turn_ms_p99", "end of speech → first sound, 99 %", 1_500, "ms"),
        Budget("loop_lag_ms_p99", "lag of the event loop, 99 %", 20, "ms"),
        Budget("mb_per_session", "memory of a conversation", 1 if vad else 0.15, "MB"),
        Budget(
            "mb_without_sound", "memory of a conversation, without sound that isn't heard yet", 1 if vad else 0.15, "MB"
        ),
        Budget("audio_gap_ms_max", "longest gap in the sound of an answer", 60, "ms"),
        Budget("silence_after_frame_ms_p95", "speech onset over the agent → hold command, 95 %", 50, "ms"),
        Budget("added_delay_ms_p95", "end of turn decided → first sound, 95 %", 300, "ms"),
    )


def bench_server(
    sessions: int = 40,
    vad: bool = True,
    seconds: float = 20.0,
    progress: Callable[[str], None] = lambda what: None,  # noqa: ARG005
) -> dict[str, Any]:
    """Measure a server with this many conversations at once, for this many seconds, with VAD or without it."""
    cores = sorted(os.sched_getaffinity(0))
    mine, theirs = (cores[0], cores[1]) if len(cores) > 1 else (None, None)
    spawn = multiprocessing.get_context("spawn")
    to_server, served_end = spawn.Pipe()
    to_callers, callers_end = spawn.Pipe()
    server = spawn.Process(target=run_served, args=(served_end, mine, vad, sessions + 10), daemon=True)
    progress("starting the server")
    server.start()
    try:
        port = to_server.recv()
        progress(f"connecting {sessions} clients")
        callers = spawn.Process(
            target=run_callers, args=(callers_end, theirs, port, sessions, speech_of_clients(), seconds), daemon=True
        )
        callers.start()
        to_callers.recv()
        to_server.send("begin")
        connected = to_server.recv()
        progress(f"{connected} conversations, {seconds:.0f} s")
        noted: list[ClientNotes] = to_callers.recv()
        to_server.send("figures")
        figures = to_server.recv()
        to_server.send("stop")
        callers.join(10)
        server.join(10)
    finally:
        server.kill()
    return _result(sessions, connected, vad, noted, figures)


def speech_of_clients() -> bytes:
    """What each client says, as 16-bit PCM at 16 kHz."""
    found = read_audio(model_path("speech-samples") / "two_cities.wav")
    start, end = (found.rate_hz * ms // 1000 for ms in SPEECH_MS)
    return to_pcm(resample(found.samples[start:end], found.rate_hz, 16_000))


def _result(
    sessions: int, connected: int, vad: bool, noted: list[ClientNotes], figures: dict[str, Any]
) -> dict[str, Any]:
    turns = [ms for one in noted for ms in one.turns_ms]
    silences = [ms for one in noted for ms in _silences(one, figures["onsets"].get(one.seat, []))]
    delays = [ms for one in noted for ms in _delays(one, figures["decided"].get(one.seat, []))]
    gaps = [ms for one in noted for ms in one.gaps_ms]
    failures = [what for one in noted for what in one.failures]
    result: dict[str, Any] = {
        "sessions": connected,
        "sessions_wanted": sessions,
        "vad": vad,
        "cpu_share": round(figures["cpu_share"], 3),
        "sessions_per_core": int(connected / max(figures["cpu_share"], 0.01)),
        "turns": len(turns),
        "turn_ms_p50": _share(turns, 50),
        "turn_ms_p99": _share(turns, 99),
        "loop_lag_ms_p99": _share(figures["lags_ms"], 99),
        "mb_per_session": round(figures["mb_per_session"], 3),
        "mb_without_sound": round(figures["mb_per_session"] - figures["sound_mb_per_session"], 3),
        "resident_mb": round(figures["resident_mb"]),
        "audio_gap_ms_max": round(max(gaps, default=0.0), 1),
        "barge_ins": len(silences),
        "silence_after_frame_ms_p95": _share(silences, 95),
        "added_delay_ms_p95": _share(delays, 95),
        "failures": failures[:5],
    }
    held = budgets(vad)
    result["budget"] = {budget.key: budget.limit for budget in held}
    result["within_budget"] = {budget.key: budget.holds(result[budget.key]) for budget in held}
    result["note"] = NOTE
    return result


def _silences(noted: ClientNotes, onsets: list[int]) -> list[float]:
    """How long the agent went on playing after the user began to speak, for each hold command that the client got, in
    milliseconds. The time runs, by the client's clock, from the newest frame in which the server detected speech to the
    hold command. A hold command before which no such frame was sent is omitted."""
    found = []
    sent = [noted.sent_s[frame] for frame in onsets if frame < len(noted.sent_s)]
    for hold_s in noted.holds_s:
        earlier = [sent_s for sent_s in sent if sent_s <= hold_s]
        if earlier:
            found.append((hold_s - earlier[-1]) * 1000)
    return found


def _delays(noted: ClientNotes, decided_s: list[float]) -> list[float]:
    """For each end of a turn: the milliseconds until the first sound of the answer. Turns without an answer are
    omitted."""
    found = []
    for at_s in decided_s:
        later = [sound_s for sound_s in noted.first_sound_s if sound_s >= at_s]
        if later:
            found.append((later[0] - at_s) * 1000)
    return found


def _share(values: list[float], percent: int) -> float:
    if len(values) < 2:
        return round(values[0], 1) if values else float("nan")
    return round(statistics.quantiles(values, n=100, method="inclusive")[percent - 1], 1)


def report(result: dict[str, Any]) -> list[tuple[str, str, str]]:
    """The result as rows of (what, measured, budget)."""
    return [budget.row(result) for budget in budgets(result["vad"])]
