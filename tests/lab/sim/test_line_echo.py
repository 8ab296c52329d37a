"""A simulated line that returns the agent's voice."""

from __future__ import annotations

import numpy as np
import pytest

from duologue.audio.frames import to_pcm, to_samples
from duologue.audio.g711 import pcm_to_ulaw, ulaw_to_pcm
from duologue.audio.levels import rms, to_dbfs
from duologue.lab.sim.line_echo import RATE_HZ, LineEcho
from duologue.lab.sim.offline_call import OfflineCall
from duologue.ports.ears import Frame
from duologue.ports.line import LineEvent
from duologue.ports.sound import Sound
from duologue.runtime.simulated_clock import run_simulated

FRAME = RATE_HZ // 50
SILENCE = b"\xff" * FRAME


def loud(level: float) -> bytes:
    tone = level * np.sin(np.arange(FRAME) * 2 * np.pi * 440 / RATE_HZ)
    return pcm_to_ulaw(to_pcm(tone.astype(np.float32)))


def level_db(coded: bytes) -> float:
    return to_dbfs(rms(to_samples(ulaw_to_pcm(coded))))


def test_what_was_played_comes_back_quieter_and_later() -> None:
    echo = LineEcho(level_db=-20, delay_ms=60)
    came = []
    for frame in (loud(0.5), *[SILENCE] * 5):
        came.append(echo.mix(SILENCE))
        echo.play(frame)
    assert [level_db(frame) > -60 for frame in came] == [False] * 3 + [True] + [False] * 2
    assert level_db(came[3]) == pytest.approx(level_db(loud(0.5)) - 20, abs=1)


def test_the_callers_voice_is_still_there() -> None:
    echo = LineEcho(level_db=-20, delay_ms=0)
    echo.play(loud(0.5))
    assert level_db(echo.mix(loud(0.3))) == pytest.approx(level_db(loud(0.3)), abs=2)


@pytest.mark.req("H-12")
@pytest.mark.parametrize("delay_ms", [60, 200, 400])
def test_the_line_reports_what_it_played_before_its_echo_comes(delay_ms: int) -> None:
    async def call() -> list[Frame]:
        exchange = OfflineCall(echo=LineEcho(-12, delay_ms))
        frames: list[Frame] = []

        def note(event: LineEvent) -> None:
            if isinstance(event, Frame):
                frames.append(event)

        line = await exchange.connect()
        await line.open(note)
        for voice in (1, 2):
            tone = np.sin(np.arange(RATE_HZ // 2) * 2 * np.pi * 440 / RATE_HZ).astype(np.float32) * 0.5
            line.play(voice, 1, Sound(500, to_pcm(tone), RATE_HZ))
            line.finish(voice)
            frames.clear()
            while exchange.carrier.played_ms < 500 * voice or len(frames) < 80:
                exchange.carrier.changed.clear()
                await exchange.carrier.changed.wait()
        await line.close()
        return frames

    frames = run_simulated(call())
    heard = [rms(to_samples(frame.pcm)) > 0.01 for frame in frames]
    played = [bool(frame.played) and rms(to_samples(frame.played)) > 0.01 for frame in frames]
    late_ms = (heard.index(True) - played.index(True)) * 20
    assert delay_ms <= late_ms <= delay_ms + 100, "early by at most a few frames, and never late"
    assert sum(played) == pytest.approx(25, abs=2)
    assert all(len(frame.played) in (0, len(frame.pcm)) for frame in frames)
