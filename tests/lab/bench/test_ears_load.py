"""The bench of ears under load sends what real lines send, and measures ears, the bare model and the lines apart."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import numpy as np

from duologue.lab.bench import ears_load as bench
from duologue.ports.ears import Commit, Frame, Incoming
from duologue.runtime.simulated_clock import run_simulated
from tests.ears.ears_recordings import recording
from tests.needs import needs_model


def test_ears_the_model_and_the_lines_are_measured_with_one_session_and_with_ten() -> None:
    needs_model("silero-vad")
    result = bench.ears_load(recording("two_cities"), 0.5)
    assert set(result) == {f"ears_{part}cpu_ms_{count}" for part in ("", "model_", "line_") for count in (1, 10)}
    assert all(value > 0 for value in result.values())


def test_each_line_sends_its_own_part_of_the_recording_at_its_own_moments() -> None:
    came: dict[int, list[tuple[float, bytes]]] = {}

    async def speaker(audio: AsyncIterator[Incoming], sent: list[Incoming]) -> None:
        number = len(came)
        came[number] = []
        async for item in audio:
            if isinstance(item, Frame):
                came[number].append((round(asyncio.get_running_loop().time(), 6), item.pcm))
            else:
                came[number].append((-1.0, b""))
            if len(came[number]) == 3:
                sent.append(Commit(1))

    audio = np.linspace(-0.5, 0.5, 16_000 * 10).astype(np.float32)
    run_simulated(bench.play_frames(bench.pieces_of(audio), 4, 0.2, speaker))
    assert sorted(came) == [0, 1, 2, 3]
    for number, items in came.items():
        times = [at for at, pcm in items if pcm]
        assert np.allclose(times, [number * 0.005 + place * 0.02 for place in range(10)])
        assert items[3] == (-1.0, b""), "what a speaker sends comes before the next piece"
    assert len({items[0][1] for items in came.values()}) == 4


def test_without_ears_the_lag_is_that_of_an_idle_loop() -> None:
    assert bench.talking_lag_ms(None, np.zeros(16_000, np.float32), 0.1) >= 0
