"""Cues and ambient sound on a telephone line: heard between voices, and never at a voice's cost."""

from __future__ import annotations

import asyncio

import numpy as np
import pytest

from duologue.audio.frames import to_samples
from duologue.audio.g711 import ulaw_to_pcm
from duologue.audio.levels import rms, to_dbfs
from duologue.lab.sim.offline_call import OfflineCall
from duologue.lines.phone.carriers import TWILIO, Carrier
from duologue.lines.phone.line import PhoneLine
from duologue.ports.ears import Frame
from duologue.ports.line import Finished, LineEvent, Played, Stopped
from duologue.ports.sound import Sound
from duologue.voice.built_in_sounds import thinking_sound
from tests.lines.phone.test_line import Told, both, events, on_a_line, tone

HUM = Sound(1_000, (np.sin(np.arange(24_000) * 0.05) * 300).astype("<i2").tobytes())


def heard_ms(exchange: OfflineCall) -> int:
    return exchange.carrier.played_ms


def level_dbfs(exchange: OfflineCall, start_ms: int, end_ms: int) -> float:
    """How loud what the caller heard in this time was, measured from its samples."""
    frames = [frame.coded for frame in exchange.carrier.frames if start_ms <= frame.at_ms < end_ms]
    return to_dbfs(rms(to_samples(ulaw_to_pcm(b"".join(frames))))) if frames else -120.0


@both
def test_a_cue_is_heard_to_its_end_and_reports_nothing(carrier: Carrier) -> None:
    async def script(exchange: OfflineCall, line: PhoneLine, told: Told) -> None:
        line.play_cue(1, thinking_sound())
        await asyncio.sleep(2)
        assert heard_ms(exchange) == thinking_sound().ms
        assert level_dbfs(exchange, 0, 600) > -45
        assert told == []

    on_a_line(carrier, script)


@both
def test_a_stopped_cue_is_silent_as_soon_as_the_clear_arrives(carrier: Carrier) -> None:
    async def script(exchange: OfflineCall, line: PhoneLine, told: Told) -> None:
        line.play_cue(1, thinking_sound())
        await asyncio.sleep(0.3)
        line.stop_cue()
        await asyncio.sleep(2)
        assert heard_ms(exchange) <= 320
        assert len(events(exchange, "clear")) == 1
        line.stop_cue()
        assert len(events(exchange, "clear")) == 1, "there is nothing left to stop"

    on_a_line(carrier, script)


@both
def test_a_voice_silences_the_cue_and_is_heard_completely(carrier: Carrier) -> None:
    async def script(exchange: OfflineCall, line: PhoneLine, told: Told) -> None:
        line.play_cue(1, tone(2_000))
        await asyncio.sleep(0.5)
        line.play(1, 1, tone(400))
        line.finish(1)
        await asyncio.sleep(3)
        assert told[-1] == Finished(1, 400)
        assert [event.heard_ms for event in told if isinstance(event, Played)] == [100, 200, 300]
        assert 400 + 400 <= heard_ms(exchange) <= 400 + 540, "the cue until then, and the voice"

    on_a_line(carrier, script)


@pytest.mark.req("V-05")
@both
def test_a_cue_waits_until_a_starved_voice_was_heard_and_stopping_it_costs_the_voice_nothing(carrier: Carrier) -> None:
    async def script(exchange: OfflineCall, line: PhoneLine, told: Told) -> None:
        line.play(1, 1, tone(150))
        line.play_cue(7, tone(1_000))  # the voice still has sound at the carrier
        line.stop_cue()
        line.play_cue(8, tone(1_000))
        await asyncio.sleep(0.6)
        assert told[-1] == Played(1, 140)
        assert heard_ms(exchange) > 140, "the cue is heard while no more of the voice comes"
        line.stop_cue()
        line.play(1, 2, tone(150))
        line.finish(1)
        await asyncio.sleep(2)
        assert told[-1] == Finished(1, 300)

    on_a_line(carrier, script)


def test_a_cue_during_a_voice_is_dropped() -> None:
    async def script(exchange: OfflineCall, line: PhoneLine, told: Told) -> None:
        line.play(1, 1, tone(1_000))
        line.play_cue(1, tone(500))
        line.finish(1)
        await asyncio.sleep(3)
        assert heard_ms(exchange) == 1_000
        assert events(exchange, "clear") == []

    on_a_line(TWILIO, script)


def test_a_cue_sounds_while_a_voice_is_held_and_a_resumed_voice_silences_it() -> None:
    async def script(exchange: OfflineCall, line: PhoneLine, told: Told) -> None:
        line.play(1, 1, tone(1_000))
        line.finish(1)
        await asyncio.sleep(0.3)
        line.hold(1)
        before = heard_ms(exchange)
        line.play_cue(1, tone(2_000))
        await asyncio.sleep(0.5)
        assert heard_ms(exchange) - before > 300
        line.resume(1)
        await asyncio.sleep(3)
        assert told[-1] == Finished(1, 1_000)

    on_a_line(TWILIO, script)


def test_a_clear_of_a_held_voice_leaves_the_cue() -> None:
    async def script(exchange: OfflineCall, line: PhoneLine, told: Told) -> None:
        line.play(1, 1, tone(500))
        await asyncio.sleep(0.2)
        line.hold(1)
        line.play_cue(1, tone(1_000))
        line.clear(1)
        before = heard_ms(exchange)
        await asyncio.sleep(2)
        assert isinstance(told[-1], Stopped)
        assert heard_ms(exchange) - before >= 800

    on_a_line(TWILIO, script)


def test_more_of_the_same_cue_follows_it_and_another_replaces_it() -> None:
    async def script(exchange: OfflineCall, line: PhoneLine, told: Told) -> None:
        line.play_cue(1, tone(300))
        line.play_cue(1, tone(300))
        await asyncio.sleep(1.5)
        assert heard_ms(exchange) == 600
        line.play_cue(2, tone(2_000))
        line.play_cue(3, tone(200))
        await asyncio.sleep(3)
        assert 800 <= heard_ms(exchange) <= 840, "of the replaced one, what was heard before the clear arrived"

    on_a_line(TWILIO, script)


def test_a_cue_on_a_call_that_has_ended_is_dropped() -> None:
    async def script(exchange: OfflineCall, line: PhoneLine, told: Told) -> None:
        line.hung_up()
        line.play_cue(1, tone(300))
        line.set_ambient(HUM)
        line.stop_cue()
        assert events(exchange, "media") == []

    on_a_line(TWILIO, script)


def test_ambient_sound_never_stops_and_is_quieter_under_a_voice() -> None:
    async def script(exchange: OfflineCall, line: PhoneLine, told: Told) -> None:
        line.set_ambient(HUM)
        await asyncio.sleep(2)
        assert heard_ms(exchange) >= 1_900
        alone = level_dbfs(exchange, 1_000, 2_000)
        line.play(1, 1, Sound(2_000, bytes(96_000)))
        line.finish(1)
        await asyncio.sleep(4)
        assert told[-1] == Finished(1, 2_000)
        assert -9 < level_dbfs(exchange, 3_000, 3_800) - alone < -7
        assert abs(level_dbfs(exchange, 5_000, 5_800) - alone) < 1
        assert heard_ms(exchange) >= 5_700, "with hardly a gap"
        line.set_ambient(None)
        before = heard_ms(exchange)
        await asyncio.sleep(2)
        assert heard_ms(exchange) - before <= 60

    on_a_line(TWILIO, script)


def test_a_voice_over_ambient_sound_starts_at_once() -> None:
    async def script(exchange: OfflineCall, line: PhoneLine, told: Told) -> None:
        line.set_ambient(HUM)
        await asyncio.sleep(1)
        line.play(1, 1, tone(400))
        line.finish(1)
        await asyncio.sleep(0.1)
        assert level_dbfs(exchange, 1_060, 1_120) > -20

    on_a_line(TWILIO, script)


@pytest.mark.parametrize("gap_s", [0.5, 3.0])
def test_the_ears_are_told_what_was_played_of_cues_and_of_the_voice_behind_them(gap_s: float) -> None:
    """The sound that comes back 60 ms later is the sound that was reported, a little before."""

    async def script(exchange: OfflineCall, line: PhoneLine, told: Told) -> None:
        frames: list[Frame] = []

        def note(event: LineEvent) -> None:
            if isinstance(event, Frame):
                frames.append(event)

        await line.open(note)
        line.play_cue(1, thinking_sound())
        await asyncio.sleep(gap_s)
        line.play(1, 1, tone(1_000))
        line.finish(1)
        await asyncio.sleep(2)
        reported = [at * 20 for at, frame in enumerate(frames) if any(frame.played)]
        began_ms = exchange.carrier.frames[0].at_ms
        assert abs(reported[0] - began_ms) <= 100
        voice_ms = next(at for at, frame in enumerate(frames) if level(frame.played) > -20) * 20
        heard = next(frame.at_ms for frame in exchange.carrier.frames if level(ulaw_to_pcm(frame.coded)) > -20)
        assert -20 <= heard - voice_ms <= 140

    on_a_line(TWILIO, script)


def level(pcm: bytes) -> float:
    return to_dbfs(rms(to_samples(pcm)))
