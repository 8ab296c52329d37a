"""Measures what local hearing and speaking cost: models, threads and the decisions of turn-taking.

Costs are CPU time, the best of several runs. The delay of a final text is measured as if the computer had nothing else
to do. Rule: the speech is a real recording (`duologue models pull speech-samples`), played at its own pace.
"""

from __future__ import annotations

import asyncio
import math
import statistics
import time
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from pathlib import Path
from typing import Any

import numpy as np

from duologue.audio.frames import Samples, to_pcm
from duologue.audio.resample import resample
from duologue.audio.wav import read_audio
from duologue.ears.dictation import Dictation
from duologue.ears.echo_level import EchoGate
from duologue.ears.local import LocalEars
from duologue.ears.moonshine import Moonshine
from duologue.ears.silero import FRAME_MS, FRAME_SAMPLES, SileroVad
from duologue.ears.smart_turn import SmartTurn
from duologue.ears.stream import step
from duologue.ears.stream_state import RequestText, SoundFrame, StreamSettings, StreamState, TextWritten
from duologue.lab.recordings.busy_clock import run_timed
from duologue.models.cache import model_path
from duologue.ports.ears import Final, Frame, Heard
from duologue.turns.controller import PRESETS, Acoustic, FrameRule, Linguistic
from duologue.turns.endpoint import SemanticEndpoint
from duologue.turns.features import LevelShape, PauseFeatures
from duologue.turns.overlap import OVERLAP_RULES
from duologue.voice.espeak import EspeakVoice
from duologue.voice.pico import PicoVoice

from .budget import Budget
from .ears_load import ears_load, talking_lag_ms

RATE_HZ = 16_000
LAG_S = 6.0
LOAD_S = 4.0
ROUNDS = 5
_LONG_SENTENCE = "Your appointment is on Tuesday the fourteenth at three thirty in the afternoon, so bring your papers."
_DICTATION_ROUNDS = 3  # a round takes seconds
BUDGETS: tuple[Budget, ...] = (
    Budget("frame_us", "turn-taking per frame, without models", 50, "µs"),
    Budget("wait_us", "choosing the wait for one pause, all features known", 5_000, "µs"),
    Budget("vad_ms", "VAD of one frame of 32 ms", 0.7, "ms"),
    Budget("stt_rtf", "real-time factor of partial texts, the worse of 3 s and 15 s", 0.35, ""),
    Budget("stt_final_ms", "last sound of 3 s of speech → final text", 300, "ms"),
    Budget("voice_first_ms", "text → first audio of espeak-ng", 20, "ms"),
    Budget("voice_abort_ms", "stopping espeak-ng in mid-sentence", 20, "ms"),
    Budget("pico_first_ms", "text → first audio of SVOX Pico", 40, "ms"),
    Budget("pico_abort_ms", "stopping SVOX Pico in mid-sentence", 20, "ms"),
    Budget("pico_rtf", "real-time factor of SVOX Pico, wall time", 0.05, ""),
    Budget("models_mb", "memory of all local models", 600, "MB"),
    Budget("ears_cpu_ms_1", "CPU of ears per second of a session, 1 talking session, STT scripted", 8, "ms"),
    Budget("ears_cpu_ms_10", "CPU of ears per second of a session, 10 talking sessions, STT scripted", 5, "ms"),
    Budget("loop_lag_ms_p99", "lag of the event loop while 10 sessions talk and are transcribed, 99 %", 10, "ms"),
)
NOTE = (
    "Costs are CPU time on one core. stt_final_ms is simulated time, in which a model takes as long as its CPU time. "
    "voice_first_ms, voice_abort_ms, the numbers of Pico and the lags are wall time; loop_lag_idle_ms_p99 is the lag "
    "of the same loop with nothing to do. ears_cpu_ms is measured at the pace of real lines, without what the lines "
    "themselves cost (ears_line_cpu_ms); ears_model_cpu_ms is the voice detection model alone at the same pace, in "
    "one batch for all sessions."
)


def bench_ears(rounds: int = ROUNDS) -> dict[str, Any]:
    """Measure everything. Most numbers are the best or the median of at most `rounds` runs. This takes about a
    minute."""
    audio = _recording()
    before = _memory_mb()
    vad, turn, stt, voice = SileroVad(), SmartTurn(), Moonshine(), EspeakVoice()
    ears = LocalEars(stt)
    ears.load()
    result: dict[str, Any] = {
        "frame_us": round(_frame_us(rounds), 2),
        "wait_us": round(_wait_us(rounds), 1),
        "vad_ms": round(_vad_ms(vad, audio, rounds), 3),
        "turn_ms": round(_best_ms(lambda: turn.hear(audio[: 8 * RATE_HZ]), rounds), 1),
    }
    by_length = {f"stt_rtf_{length}s": round(_rtf(stt, audio[: length * RATE_HZ], rounds), 3) for length in (3, 15)}
    result |= by_length | {"stt_rtf": max(by_length.values())}
    result["voice_first_ms"] = round(asyncio.run(_voice_first_ms(voice)), 2)
    result["voice_abort_ms"] = round(asyncio.run(_voice_abort_ms(voice, rounds)), 3)
    result |= asyncio.run(_pico(rounds))
    result["stt_final_ms"] = round(run_timed(_final_ms(ears, audio[: 3 * RATE_HZ], rounds)))
    result |= ears_load(audio, LOAD_S)
    result["loop_lag_idle_ms_p99"] = round(talking_lag_ms(None, audio, LAG_S / 2), 2)
    result["loop_lag_ms_p99"] = round(talking_lag_ms(ears, audio, LAG_S), 2)
    result["models_mb"] = round(_memory_mb() - before)
    result["within_budget"] = {budget.key: budget.holds(result[budget.key]) for budget in BUDGETS}
    result["note"] = NOTE
    return result


def report(result: dict[str, Any]) -> list[tuple[str, str, str]]:
    """The result as rows of (what, measured, budget)."""
    return [budget.row(result) for budget in BUDGETS]


def _recording() -> Samples:
    found = read_audio(model_path("speech-samples") / "two_cities.wav")
    return resample(found.samples, found.rate_hz, RATE_HZ)[int(0.9 * RATE_HZ) :]


def _memory_mb() -> float:
    """The resident memory of this process in MB. Works only on Linux."""
    return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * 4096 / 1e6


def _best_ms(work: Callable[[], object], times: int) -> float:
    best = float("inf")
    for _ in range(times):
        started = time.process_time()
        work()
        best = min(best, time.process_time() - started)
    return best * 1000


# -- Decisions


def _frame_us(rounds: int) -> float:
    """The CPU microseconds that all decisions about one frame take: is it echo, has speech begun or ended, does it
    interrupt the agent, and is the turn over?"""
    frames = [(0.9 if place % 40 < 30 else 0.05, -20.0 - place % 7, -30.0 - place % 11) for place in range(2_000)]

    def work() -> None:
        echo, settings, state = EchoGate(FRAME_MS), StreamSettings(), StreamState()
        overlap, rule = OVERLAP_RULES["confirm"], FrameRule(PRESETS["balanced"], 1)
        memory = overlap.begin(True)
        said = Linguistic("a table for two", 0.9, 1.0)
        for place, (probability, heard_db, played_db) in enumerate(frames):
            echo.excess_db(heard_db, played_db)
            state, outputs = step(settings, state, SoundFrame(probability, 0.05, heard_db, math.inf))
            for asked in outputs:
                if isinstance(asked, RequestText):
                    state, _ = step(settings, state, TextWritten(asked.utterance, asked.work, covers=state.frames))
            memory, _ = overlap.frame(memory, probability)
            rule.step(Acoustic(place * FRAME_MS, 0.05, probability, state.turn.voicing.silence_ms), said)

    return _best_ms(work, rounds) * 1000 / len(frames)


def _wait_us(rounds: int) -> float:
    embedding = tuple(np.linspace(-1, 1, 384).tolist())
    pause = PauseFeatures(2_000, 90.0, None, LevelShape(), 1.5, embedding, "I want a table for two.", 0.9, 0.8)
    policy = SemanticEndpoint.named()
    return _best_ms(lambda: [policy.wait(pause) for _ in range(100)], rounds) * 10


# -- Models


def _vad_ms(vad: SileroVad, audio: Samples, rounds: int) -> float:
    frames = audio[: 200 * FRAME_SAMPLES].reshape(-1, FRAME_SAMPLES)
    return _best_ms(lambda: [vad.probability(frame) for frame in frames], rounds) / len(frames)


def _rtf(model: Moonshine, audio: Samples, rounds: int) -> float:
    def dictate() -> None:
        dictation, step = Dictation(model), model.partial_ms * RATE_HZ // 1000
        for at in range(0, audio.size, step):
            dictation.add(audio[at : at + step])
            dictation.write()
            if dictation.is_long:
                dictation.settle()
        dictation.finish(audio.size)

    return _best_ms(dictate, min(rounds, _DICTATION_ROUNDS)) * RATE_HZ / 1000 / audio.size


async def _pico(rounds: int) -> dict[str, float]:
    """Measure SVOX Pico. There are three numbers: the time until its first sound, the time that it takes to stop if it
    is closed in mid-sentence, and the time to synthesize a sentence, as a share of the sentence's duration. All are
    wall times, because Pico runs in a separate process."""
    voice = PicoVoice()
    first_ms, abort_ms = await _voice_first_ms(voice), await _voice_abort_ms(voice, rounds)
    made = []
    for _ in range(max(3, rounds)):
        started = time.perf_counter()
        spoken_ms = sum([sound.ms async for sound in voice.speak(_LONG_SENTENCE)])
        made.append((time.perf_counter() - started) * 1000 / spoken_ms)
    return {
        "pico_first_ms": round(first_ms, 2),
        "pico_abort_ms": round(abort_ms, 3),
        "pico_rtf": round(min(made), 4),
    }


async def _voice_abort_ms(voice: EspeakVoice | PicoVoice, rounds: int) -> float:
    """The longest time that the voice takes to stop if it is closed in mid-sentence."""
    aborted = []
    for _ in range(max(3, rounds)):
        async with aclosing(voice.speak(_LONG_SENTENCE)) as sounds:
            await anext(sounds)
            started = time.perf_counter()
        aborted.append((time.perf_counter() - started) * 1000)
    return max(aborted)


async def _voice_first_ms(voice: EspeakVoice | PicoVoice) -> float:
    spent = []
    for _ in range(20):
        started = time.perf_counter()
        stream = voice.speak("Your table for two is booked for seven.")
        async for _ in stream:
            spent.append((time.perf_counter() - started) * 1000)
            break
        await stream.aclose()
    return statistics.median(spent)


# -- Live


async def _play(audio: Samples, came: list[float]) -> AsyncIterator[Frame]:
    """Yield the frames of the audio at its own pace, and append the time of each frame to `came`."""
    size = RATE_HZ // 50
    now = asyncio.get_running_loop().time
    begun = now()
    for place, at in enumerate(range(0, audio.size, size), 1):
        await asyncio.sleep(max(0.0, begun + place * 0.02 - now()))
        came.append(now())
        yield Frame(to_pcm(audio[at : at + size]))


async def _hear(ears: LocalEars, audio: Samples, came: list[float]) -> list[tuple[float, Heard]]:
    now = asyncio.get_running_loop().time
    return [(now(), heard) async for heard in ears.listen(_play(audio, came))]


async def _final_ms(ears: LocalEars, audio: Samples, rounds: int) -> float:
    late = []
    for _ in range(rounds):
        came: list[float] = []
        heard = await _hear(ears, np.concatenate((audio, np.zeros(RATE_HZ * 6 // 10, np.float32))), came)
        final = next(at for at, item in heard if isinstance(item, Final))
        late.append((final - came[audio.size // (RATE_HZ // 50) - 1]) * 1000)
    return statistics.median(late)
