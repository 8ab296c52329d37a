"""Measures echo on the telephone: calls in which the agent hears itself, at several levels and delays.

There are two calls for each level and delay. In one, the agent hears only the echo. In the other, people interrupt the
agent: synthetic voices, and the voices in the recordings that come with Duologue. Rule: the people are as loud as the
agent on average, and no phrase is left out.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

import numpy as np

from duologue.audio.frames import Samples, to_pcm, to_samples
from duologue.audio.g711 import pcm_to_ulaw
from duologue.audio.levels import rms, to_dbfs
from duologue.audio.resample import resample
from duologue.audio.wav import read_audio
from duologue.lab.recordings.busy_clock import run_timed
from duologue.lab.sim.echo_calls import DELAYS_MS, LEVELS_DB, NO_ECHO_DB, EchoCall, Interruption, hold_call
from duologue.models.cache import model_path
from duologue.voice.espeak import EspeakVoice

RATE_HZ = 8_000
LOUDNESS_DB = -22.0  # as loud as the agent
GAP_MS = 160  # a pause between two phrases of a recording
PHRASE_MS_MIN, PHRASE_MS_MAX = 900, 8_000
VOICES = (("en-us+f1", 150), ("en-us+f4", 170), ("en-us+m3", 160), ("en+m1", 160))
PHRASES = (
    "Wait a moment, please.",
    "No, that is not what I asked for.",
    "Stop, please, I want something else.",
    "Can you repeat the last part?",
    "Actually I need a different date.",
    "Sorry, I have another question.",
    "Please let me talk to my colleague.",
    "Hold on, let me get a pen.",
    "I would rather travel on Friday.",
    "That is too expensive for me.",
    "Could you speak more slowly?",
    "Cancel that and start again.",
)
_GRAIN_MS = 20


def bench_echo(minutes: float, progress: Callable[[str], object]) -> dict[str, Any]:
    """Hold all calls. Each minute of a call takes some seconds of CPU time."""
    from duologue.ears.local import LocalEars
    from duologue.ears.moonshine import Moonshine

    ears, voice = LocalEars(Moonshine("tiny"), cancels_echo=False), EspeakVoice()
    ears.load()
    people = [*asyncio.run(synthetic_people()), *recorded_people()]
    calls: list[dict[str, Any]] = []
    for level_db, delay_ms in ((NO_ECHO_DB, 0), *((level, delay) for level in LEVELS_DB for delay in DELAYS_MS)):
        progress(f"{level_db} dB, {delay_ms} ms")
        alone = run_timed(hold_call(ears, voice, level_db, delay_ms, minutes * 60))
        seconds = len(people) * 60.0
        overlapped = run_timed(hold_call(ears, voice, level_db, delay_ms, seconds, people))
        calls.append(row_of(alone, overlapped))
    return {"minutes": minutes, "people": len(people), "calls": calls}


def row_of(alone: EchoCall, overlapped: EchoCall) -> dict[str, Any]:
    """One result for both calls with the same echo: the call in which the caller is silent (`alone`), and the call in
    which people interrupt (`overlapped`)."""
    stops = sorted(overlapped.stop_ms)
    tried = len(stops) + len(overlapped.missed)
    return {
        "level_db": alone.level_db,
        "delay_ms": alone.delay_ms,
        "self_interruptions": alone.self_interruptions + overlapped.self_interruptions,
        "self_answers": len(alone.self_answers) + len(overlapped.self_answers),
        "interruptions": tried,
        "worked_pct": round(100 * len(stops) / tried, 1) if tried else 0.0,
        "stop_ms_p50": stops[len(stops) // 2] if stops else None,
        "alone": asdict(alone),
        "overlapped": asdict(overlapped),
    }


def report(result: dict[str, Any]) -> list[tuple[str, str, str]]:
    """The rows of the table: the echo, how often the agent interrupted or answered itself, and how well people could
    interrupt it."""
    rows = []
    for call in result["calls"]:
        is_silent = call["level_db"] == NO_ECHO_DB
        echo = "no echo" if is_silent else f"{call['level_db']} dB after {call['delay_ms']} ms"
        own = f"{call['self_interruptions']} / {call['self_answers']}"
        stop = f", p50 {call['stop_ms_p50']} ms" if call["stop_ms_p50"] is not None else ""
        rows.append((echo, own, f"{call['worked_pct']:.0f} % of {call['interruptions']}{stop}"))
    return rows


# -- People


async def synthetic_people() -> list[Interruption]:
    """Every phrase of PHRASES, each said by one synthetic voice. The voices take turns."""
    people = []
    for place, text in enumerate(PHRASES):
        name, rate_wpm = VOICES[place % len(VOICES)]
        sounds = [sound async for sound in EspeakVoice(name, rate_wpm).speak(text)]
        samples = resample(to_samples(b"".join(sound.pcm for sound in sounds)), sounds[0].rate_hz, RATE_HZ)
        people.append(Interruption(text, _coded(samples)))
    return people


def recorded_people() -> list[Interruption]:
    """The phrases in the recordings that come with Duologue. In them, people read aloud."""
    people = []
    for path in sorted(model_path("speech-samples").glob("*.wav")):
        found = read_audio(path)
        for number, phrase in enumerate(phrases_of(resample(found.samples, found.rate_hz, RATE_HZ)), 1):
            people.append(Interruption(f"{path.stem} {number}", _coded(phrase)))
    return people


def phrases_of(samples: Samples) -> list[Samples]:
    """The phrases of a recording: the stretches of sound between its pauses. Very short and very long stretches are
    left out."""
    size = RATE_HZ * _GRAIN_MS // 1000
    levels = [to_dbfs(rms(samples[at : at + size])) for at in range(0, samples.size - size + 1, size)]
    least = max(levels, default=0.0) - 35
    phrases, start, quiet = list[Samples](), -1, 0
    for place, level in enumerate([*levels, *[-120.0] * (GAP_MS // _GRAIN_MS + 1)]):
        if level > least:
            start, quiet = (place if start < 0 else start), 0
            continue
        quiet += 1
        if start >= 0 and quiet * _GRAIN_MS > GAP_MS:
            ms = (place - quiet + 1 - start) * _GRAIN_MS
            if PHRASE_MS_MIN <= ms <= PHRASE_MS_MAX:
                phrases.append(samples[start * size : (place - quiet + 1) * size])
            start = -1
    return phrases


def _coded(samples: Samples) -> bytes:
    """These samples as telephone audio, with the same loudness for every person."""
    gain = 10 ** ((LOUDNESS_DB - to_dbfs(rms(samples))) / 20)
    return pcm_to_ulaw(to_pcm((samples * gain).astype(np.float32)))
