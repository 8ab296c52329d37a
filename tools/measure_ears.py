"""Measure the ears on this machine: cost of each model, delay of final texts, word errors, lag of the loop.

    .venv/bin/python tools/measure_ears.py [--size base] [--conversations 4] [more.wav=what.txt ...]

CPU times are of one core and the best of several runs; delays are wall time, so an idle machine tells more.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "tests" / "ears"))

from ears_recordings import BECKETT, TWO_CITIES, frames_of, recording, seconds, silence, word_errors  # noqa: E402

from duologue.audio.frames import Samples  # noqa: E402
from duologue.audio.resample import resample  # noqa: E402
from duologue.audio.wav import read_audio  # noqa: E402
from duologue.ears.local import LocalEars  # noqa: E402
from duologue.ears.moonshine import Moonshine  # noqa: E402
from duologue.ears.silero import FRAME_SAMPLES, SileroVad, VadMemory  # noqa: E402
from duologue.ears.smart_turn import SmartTurn, last_window, log_mel  # noqa: E402
from duologue.ears.streaming import Dictation  # noqa: E402
from duologue.ports.ears import Final, Frame, Heard, SpeechEnded  # noqa: E402

TICK_S = 0.005


def tell(what: str, value: str) -> None:
    print(f"{what:<58}{value}")  # noqa: T201 - it is what this is for


def memory_mb() -> float:
    """What this process holds, as Linux tells it."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096 / 1e6


def cpu_ms(work: Callable[[], object], times: int = 10) -> float:
    best = float("inf")
    for _ in range(times):
        started = time.process_time()
        work()
        best = min(best, time.process_time() - started)
    return best * 1000


def measure_vad() -> None:
    vad, audio = SileroVad(), recording("two_cities")
    frames = audio[: audio.size // FRAME_SAMPLES * FRAME_SAMPLES].reshape(-1, FRAME_SAMPLES)[:200]
    vad.load()
    tell("VAD, CPU per 32 ms", f"{cpu_ms(lambda: [vad.probability(frame) for frame in frames]) / 200:.3f} ms")
    memories = [VadMemory() for _ in range(16)]
    batch = [frames[at] for at in range(16)]
    cost = cpu_ms(lambda: [vad.probabilities(batch, memories) for _ in range(20)]) / 20 / 16
    tell("VAD, CPU per 32 ms, 16 streams in one run", f"{cost:.3f} ms")


def measure_turn() -> None:
    turn, audio = SmartTurn(), recording("two_cities")
    turn.load()
    tell("Smart Turn, CPU of its features", f"{cpu_ms(lambda: log_mel(last_window(audio))):.1f} ms")
    tell("Smart Turn, CPU in all", f"{cpu_ms(lambda: turn.complete(audio)):.1f} ms")


def dictate(model: Moonshine, audio: Samples) -> str:
    dictation, step = Dictation(model), model.partial_ms * 16
    for at in range(0, audio.size, step):
        dictation.add(audio[at : at + step])
        dictation.write()
        if dictation.is_long:
            dictation.settle()
    return dictation.finish(audio.size).text


def measure_stt(model: Moonshine) -> None:
    model.load()
    for length_s in (3, 15):
        audio = seconds(recording("two_cities"), 0.2, 0.2 + length_s)
        once = cpu_ms(lambda audio=audio: model.transcribe(audio), 3)  # type: ignore[misc]
        grown = cpu_ms(lambda audio=audio: dictate(model, audio), 3)  # type: ignore[misc]
        tell(f"STT of {length_s} s, real-time factor at once", f"{once / 1000 / length_s:.3f}")
        tell(f"STT of {length_s} s, with partials every {model.partial_ms} ms", f"{grown / 1000 / length_s:.3f}")


async def play(audio: Samples, times: list[float]) -> AsyncIterator[Frame]:
    """In real time; notes when each frame came."""
    begun = asyncio.get_running_loop().time()
    for number, frame in enumerate(frames_of(audio)):
        await asyncio.sleep(begun + number * 0.02 - asyncio.get_running_loop().time())
        times.append(time.perf_counter())
        yield frame


async def hear(ears: LocalEars, audio: Samples, times: list[float]) -> list[tuple[float, Heard]]:
    return [(time.perf_counter(), heard) async for heard in ears.listen(play(audio, times))]


async def measure_delay(ears: LocalEars) -> None:
    since_voice, since_end = [], []
    for _ in range(5):
        times: list[float] = []
        audio = np.concatenate((seconds(recording("two_cities"), 0.2, 3.2), silence(0.6)))
        heard = await hear(ears, audio, times)
        final = next(at for at, item in heard if isinstance(item, Final))
        ended = next(at for at, item in heard if isinstance(item, SpeechEnded))
        since_voice.append((final - times[149]) * 1000)
        since_end.append((final - ended) * 1000)
    tell(
        "final text after the last sound of 3 s, median / worst",
        f"{np.median(since_voice):.0f} / {max(since_voice):.0f} ms",
    )
    tell("final text after SpeechEnded, median / worst", f"{np.median(since_end):.1f} / {max(since_end):.1f} ms")


async def measure_lag(ears: LocalEars, conversations: int) -> None:
    lags: list[float] = []

    async def tick() -> None:
        while True:
            before = time.perf_counter()
            await asyncio.sleep(TICK_S)
            lags.append((time.perf_counter() - before - TICK_S) * 1000)

    for count, what in ((0, "idle"), (1, "1 conversation"), (conversations, f"{conversations} conversations")):
        lags.clear()
        ticking = asyncio.ensure_future(tick())
        audio = recording("two_cities")
        await asyncio.gather(*(hear(ears, audio, []) for _ in range(count)), asyncio.sleep(5))
        ticking.cancel()
        p50, p99 = np.percentile(lags, (50, 99))
        tell(f"lag of the loop, {what}, p50 / p99 / worst", f"{p50:.2f} / {p99:.2f} / {max(lags):.1f} ms")


async def measure_words(ears: LocalEars, model: Moonshine, recordings: list[tuple[str, Samples, str]]) -> None:
    for name, audio, said in recordings:
        whole = model.transcribe(audio).text if audio.size < 30 * 16_000 else ""
        heard = [item async for item in ears.listen(_at_once(audio))]
        utterances = " ".join(item.text for item in heard if isinstance(item, Final))
        parts = [f"{word_errors(said, text):.1%}" for text in (whole, dictate(model, audio), utterances) if text]
        tell(f"word errors of {name}: {'whole, ' if whole else ''}growing, by utterance", ", ".join(parts))


async def _at_once(audio: Samples) -> AsyncIterator[Frame]:
    for frame in frames_of(audio):
        yield frame


def read_pair(given: str) -> tuple[str, Samples, str]:
    wav, _, text = given.partition("=")
    found = read_audio(Path(wav))
    return Path(wav).stem, resample(found.samples, found.rate_hz, 16_000), Path(text).read_text(encoding="utf-8")


async def measure_live(model: Moonshine, conversations: int, more: list[str]) -> None:
    ears = LocalEars(model)
    ears.load()
    await measure_delay(ears)
    await measure_lag(ears, conversations)
    known = [("beckett", recording("beckett"), BECKETT), ("two_cities", recording("two_cities"), TWO_CITIES)]
    await measure_words(ears, model, known + [read_pair(given) for given in more])


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure the ears on this machine.")
    parser.add_argument("--size", choices=["tiny", "base"], default="tiny")
    parser.add_argument("--conversations", type=int, default=4)
    parser.add_argument("more", nargs="*", help="recording.wav=text.txt")
    args = parser.parse_args()
    before = memory_mb()
    measure_vad()
    measure_turn()
    model = Moonshine(args.size)
    measure_stt(model)
    tell("memory of all models, loaded and used", f"{memory_mb() - before:.0f} MB of {memory_mb():.0f} MB")
    asyncio.run(measure_live(model, args.conversations, args.more))


if __name__ == "__main__":
    main()
