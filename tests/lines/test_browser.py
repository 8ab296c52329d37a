"""The line to a browser: sound goes out just ahead of what is heard, and a client may come, go and come back."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from duologue.audio.frames import to_pcm
from duologue.audio.resample import resample
from duologue.lines.browser import LOST_MS, BrowserLine
from duologue.lines.playback.inputs import Position
from duologue.lines.playback.state import AHEAD_MS, OUTPUT_HZ, PIECE_MS
from duologue.ports.line import Closed, Finished, Healed, LineEvent, Played, Stopped, Wobbled
from duologue.ports.sound import Sound
from duologue.runtime.simulated_clock import run_simulated
from tests.lines.browser_page import PER_MS, Page, Socket, ramp, sound


class Scene:
    """An open line, a page, and the events of the line."""

    def __init__(self) -> None:
        self.line = BrowserLine()
        self.page = Page(self.line)
        self.told: list[LineEvent] = []

    @property
    def sent(self) -> list[int]:
        """The chunks that left on the newest socket."""
        assert self.page.socket is not None
        return [number for what, _, number in self.page.socket.log if what == "sound"]

    @property
    def actions(self) -> list[str]:
        assert self.page.socket is not None
        return [what for what, _, _ in self.page.socket.log if what not in ("sound", "drop")]

    def told_of(self, kind: type[LineEvent]) -> list[LineEvent]:
        return [event for event in self.told if isinstance(event, kind)]


def on_the_line(script: Callable[[Scene], Awaitable[None]]) -> Scene:
    async def whole() -> Scene:
        scene = Scene()
        scene.page.connect()
        await scene.line.open(scene.told.append)
        await script(scene)
        await asyncio.sleep(0)
        await scene.line.close()
        return scene

    return run_simulated(whole())


def speak(scene: Scene, ms: int, voice: int = 1) -> None:
    scene.line.play(voice, 1, sound(0, ms))


# -- Pace


@pytest.mark.req("V-03")
def test_it_stays_about_a_second_ahead_of_what_was_played() -> None:
    async def script(scene: Scene) -> None:
        speak(scene, 10_000)
        assert len(scene.sent) == AHEAD_MS // PIECE_MS
        for _ in range(450):
            scene.page.play(20)
            ahead_ms = len(scene.page.queue) // 2 // PER_MS
            assert AHEAD_MS - PIECE_MS <= ahead_ms <= AHEAD_MS + PIECE_MS

    on_the_line(script)


def test_sound_that_the_client_has_played_takes_no_memory() -> None:
    async def script(scene: Scene) -> None:
        speak(scene, 10_000)
        assert scene.line.sound_bytes >= 10_000 * PER_MS * 2
        for _ in range(480):
            scene.page.play(20)
        assert scene.line.sound_bytes < 1_000 * PER_MS * 2

    on_the_line(script)


def test_without_acknowledgements_no_more_than_a_second_leaves() -> None:
    async def script(scene: Scene) -> None:
        speak(scene, 10_000)
        for _ in range(50):
            scene.line.play(1, 2, sound(10_000, 100))
        assert len(scene.sent) == AHEAD_MS // PIECE_MS

    on_the_line(script)


def test_the_first_sound_does_not_wait_for_a_whole_piece() -> None:
    async def script(scene: Scene) -> None:
        speak(scene, 20)
        assert scene.sent == [1]

    on_the_line(script)


def test_the_end_of_a_sentence_does_not_wait_for_the_next_sentence() -> None:
    async def script(scene: Scene) -> None:
        speak(scene, 1_060)
        for _ in range(60):
            scene.page.play(20)
        assert bytes(scene.page.heard[1]) == ramp(0, 1_060 * PER_MS)

    on_the_line(script)


def test_the_end_is_sent_after_the_last_piece_and_finishes_the_voice() -> None:
    async def script(scene: Scene) -> None:
        speak(scene, 2_530)
        scene.line.finish(1)
        assert "finish" not in scene.actions
        for _ in range(130):
            scene.page.play(20)
        assert scene.page.socket is not None
        assert scene.page.socket.log[-1][0] == "finish"
        assert scene.told[-1] == Finished(1, 2_530)
        assert bytes(scene.page.heard[1]) == ramp(0, 2_530 * PER_MS)

    on_the_line(script)


def test_an_end_that_the_client_claims_too_early_is_only_progress() -> None:
    async def script(scene: Scene) -> None:
        speak(scene, 5_000)
        scene.line.note_finished(1, 5_000)
        scene.line.finish(1)
        scene.line.note_finished(1, 5_000)
        assert not scene.told_of(Finished)

    on_the_line(script)


# -- Hold, resume, clear


@pytest.mark.req("M-14")
def test_a_held_voice_sends_nothing_and_resumes_with_the_next_sample() -> None:
    async def script(scene: Scene) -> None:
        speak(scene, 3_000)
        scene.page.play(440)
        scene.line.hold(1)
        before = len(scene.sent)
        scene.line.play(1, 2, sound(3_000, 1_000))
        scene.line.note_played(1, 440)
        scene.page.play(700)
        assert len(scene.sent) == before
        assert scene.page.played == 440 * PER_MS
        scene.line.resume(1)
        scene.line.finish(1)
        for _ in range(200):
            scene.page.play(20)
        assert bytes(scene.page.heard[1]) == ramp(0, 4_000 * PER_MS)

    on_the_line(script)


@pytest.mark.req("V-03", "V-05")
def test_nothing_of_a_voice_leaves_after_it_was_cleared() -> None:
    async def script(scene: Scene) -> None:
        speak(scene, 5_000)
        scene.page.play(300)
        scene.line.clear(1)
        before = len(scene.sent)
        scene.line.play(1, 2, sound(5_000, 1_000))
        scene.line.note_played(1, 300)
        scene.line.resume(1)
        scene.line.finish(1)
        scene.line.note_played(1, 900)
        await asyncio.sleep(0)
        assert len(scene.sent) == before
        assert "finish" not in scene.actions
        assert scene.page.socket is not None
        assert ("drop", 1, 0) in scene.page.socket.log
        assert scene.told_of(Stopped) == [Stopped(1, 300)]

    on_the_line(script)


def test_a_voice_that_ended_just_as_it_was_cleared_has_stopped() -> None:
    async def script(scene: Scene) -> None:
        speak(scene, 500)
        scene.line.finish(1)
        assert scene.page.socket is not None
        scene.page.socket.is_cut = True  # the clear is still on its way
        scene.line.clear(1)
        scene.line.note_finished(1, 500)
        assert scene.told[-1] == Stopped(1, 500)

    on_the_line(script)


@pytest.mark.req("V-05")
def test_reports_about_an_old_voice_do_not_change_the_new_one() -> None:
    async def script(scene: Scene) -> None:
        speak(scene, 500)
        scene.line.clear(1)
        speak(scene, 5_000, voice=2)
        await asyncio.sleep(0)
        before = len(scene.sent)
        for stale in (scene.line.hold, scene.line.clear, scene.line.finish):
            stale(1)
        scene.line.note_played(1, 400)
        scene.line.note_finished(1, 500)
        assert len(scene.sent) == before
        for _ in range(100):
            scene.page.play(20)
        assert bytes(scene.page.heard[2]) == ramp(0, 2_000 * PER_MS)

    on_the_line(script)


# -- What a client says


@pytest.mark.req("V-01")
def test_a_client_cannot_have_heard_more_than_was_sent() -> None:
    async def script(scene: Scene) -> None:
        speak(scene, 5_000)
        scene.line.note_played(1, 4_900)
        assert scene.told[-1] == Played(1, AHEAD_MS)
        scene.line.clear(1)
        scene.line.note_stopped(1, 86_400_000)
        assert scene.told[-1] == Stopped(1, 2 * AHEAD_MS)
        speak(scene, 100, voice=2)
        scene.line.note_stopped(1, 5_000)
        assert scene.told[-1] == Stopped(1, 2 * AHEAD_MS)

    on_the_line(script)


def test_acknowledgements_that_go_backwards_change_nothing() -> None:
    async def script(scene: Scene) -> None:
        speak(scene, 5_000)
        scene.line.note_played(1, 700)
        scene.line.note_played(1, 200)
        assert scene.told[-1] == Played(1, 700)
        assert len(scene.sent) == 17

    on_the_line(script)


def test_a_flood_of_acknowledgements_sends_no_more_than_there_is() -> None:
    async def script(scene: Scene) -> None:
        speak(scene, 5_000)
        for ms in (0, 10**9, 3, 10**15) * 500:
            scene.line.note_played(1, ms)
        scene.line.finish(1)
        assert scene.sent == list(range(1, 51))

    on_the_line(script)


def test_stopped_without_a_clear_is_only_a_position() -> None:
    async def script(scene: Scene) -> None:
        speak(scene, 5_000)
        scene.line.note_stopped(1, 300)
        assert scene.told[-1] == Played(1, 300)
        scene.line.note_stopped(77, 300)
        assert scene.told[-1] == Played(1, 300)

    on_the_line(script)


# -- Other rates


@pytest.mark.parametrize("rate_hz", [8_000, 16_000, 22_050, 24_000, 44_100, 48_000])
def test_a_minute_of_any_rate_arrives_whole(rate_hz: int) -> None:
    async def script(scene: Scene) -> None:
        left = 60 * rate_hz
        while left:
            some = min(left, rate_hz // 7)
            scene.line.play(1, 1, Sound(max(1, some * 1000 // rate_hz), ramp(0, some), rate_hz))
            left -= some
        scene.line.finish(1)
        while not scene.told_of(Finished):
            scene.page.play(100)
        assert abs(len(scene.page.heard[1]) / 2 - 60 * OUTPUT_HZ) <= PER_MS
        finished = scene.told_of(Finished)[0]
        assert isinstance(finished, Finished)
        assert abs(finished.heard_ms - 60_000) <= 1

    on_the_line(script)


def test_the_tail_of_a_resampled_voice_is_its_own_and_not_the_next_ones() -> None:
    import numpy as np

    tone = np.sin(np.arange(22_050) * 0.05).astype(np.float32) * 0.5

    async def script(scene: Scene) -> None:
        for voice in (1, 2):
            scene.line.play(voice, 1, Sound(1_000, to_pcm(tone), 22_050))
            if voice == 1:
                scene.line.clear(1)  # its tail stays in the resampler
        scene.line.finish(2)
        while not scene.told_of(Finished):
            scene.page.play(100)
        got = np.frombuffer(bytes(scene.page.heard[2]), np.int16) / 32_768
        wanted = resample(tone, 22_050, OUTPUT_HZ)
        inner = slice(200, 23_800)
        assert float(np.abs(got[inner] - wanted[inner]).max()) < 0.01

    on_the_line(script)


def test_a_voice_that_changes_its_rate_loses_nothing() -> None:
    async def script(scene: Scene) -> None:
        for rate_hz in (22_050, 16_000, 24_000, 22_050):
            scene.line.play(1, 1, Sound(500, ramp(0, rate_hz // 2), rate_hz))
        scene.line.finish(1)
        while not scene.told_of(Finished):
            scene.page.play(100)
        assert abs(len(scene.page.heard[1]) / 2 - 2 * OUTPUT_HZ) <= PER_MS

    on_the_line(script)


def test_half_a_sample_is_refused() -> None:
    async def script(scene: Scene) -> None:
        with pytest.raises(ValueError, match="even number of bytes"):
            scene.line.play(1, 1, Sound(100, b"\0" * 4_801))

    on_the_line(script)


# -- Coming back


def hear_all(scene: Scene, limit_ms: int = 60_000) -> None:
    for _ in range(limit_ms // 20):
        scene.page.play(20)


@pytest.mark.req("V-01")
def test_chunks_that_went_into_a_dead_socket_are_sent_again_and_none_twice() -> None:
    async def script(scene: Scene) -> None:
        speak(scene, 4_000)
        scene.line.finish(1)
        scene.page.play(300)
        scene.page.cut()
        scene.line.note_played(1, 600)  # on its way when the socket broke: sends more, to nobody
        scene.page.play(500)
        scene.page.lose()
        scene.page.connect()
        hear_all(scene)
        assert bytes(scene.page.heard[1]) == ramp(0, 4_000 * PER_MS)
        assert scene.told[-1] == Finished(1, 4_000)

    on_the_line(script)


def test_a_client_that_only_knows_an_older_voice_gets_the_new_one_from_its_start() -> None:
    async def script(scene: Scene) -> None:
        speak(scene, 400)
        scene.page.play(200)
        scene.page.cut()
        scene.line.clear(1)
        speak(scene, 3_000, voice=2)  # a second of it goes into the dead socket
        scene.line.finish(2)
        scene.page.play(100)
        scene.page.lose()
        scene.page.connect()
        assert Stopped(1, 300) in scene.told
        hear_all(scene)
        assert bytes(scene.page.heard[2]) == ramp(0, 3_000 * PER_MS)
        assert scene.told[-1] == Finished(2, 3_000)

    on_the_line(script)


@pytest.mark.req("V-01")
def test_a_reloaded_page_continues_where_the_old_one_was() -> None:
    async def script(scene: Scene) -> None:
        speak(scene, 3_000)
        scene.line.finish(1)
        for _ in range(143):
            scene.page.play(10)
        scene.page.lose()
        socket = scene.page.connect(anew=True)
        assert socket.log[0] == ("begin", 1, 1_430)
        hear_all(scene)
        assert bytes(scene.page.heard[1]) == ramp(0, 3_000 * PER_MS)
        assert scene.told[-1] == Finished(1, 3_000)

    on_the_line(script)


def test_a_page_that_reloads_after_the_last_sample_only_reports_the_end() -> None:
    async def script(scene: Scene) -> None:
        speak(scene, 800)
        scene.line.finish(1)
        scene.page.play(800, tells=False)
        scene.line.note_played(1, 800)
        scene.page.lose()
        scene.page.connect(anew=True)
        scene.page.play(20)
        assert scene.told[-1] == Finished(1, 800)
        assert bytes(scene.page.heard[1]) == ramp(0, 800 * PER_MS)

    on_the_line(script)


@pytest.mark.parametrize("position", [Position(1, 86_400_000, 1 << 53), Position(1, 86_400_000, 0), Position(99, 5, 5)])
def test_a_position_that_is_nonsense_blocks_nothing(position: Position) -> None:
    async def script(scene: Scene) -> None:
        speak(scene, 4_000)
        scene.line.finish(1)
        scene.page.play(500)
        scene.page.lose()
        scene.page.load()
        scene.page.is_placed = False
        scene.page.socket = Socket(scene.page)
        scene.line.attach(scene.page.socket, position)
        hear_all(scene)
        assert scene.told_of(Finished)

    on_the_line(script)


def test_a_voice_cleared_during_a_lost_connection_is_stopped_after_it_and_reported() -> None:
    async def script(scene: Scene) -> None:
        speak(scene, 3_000)
        scene.page.play(400)
        scene.page.lose()
        scene.page.play(300)
        scene.line.clear(1)
        await asyncio.sleep(0)
        assert scene.told_of(Stopped) == [Stopped(1, 400, is_exact=False)]
        scene.page.connect()
        assert "clear" in scene.actions
        assert "resume" not in scene.actions
        scene.page.play(300)
        await asyncio.sleep(0)
        assert scene.told_of(Stopped)[-1] == Stopped(1, 700)
        assert scene.page.played == 700 * PER_MS
        assert not scene.sent

    on_the_line(script)


def test_a_hold_or_resume_during_a_lost_connection_is_sent_after_it() -> None:
    async def script(scene: Scene) -> None:
        speak(scene, 3_000)
        scene.page.lose()
        scene.line.hold(1)
        scene.page.connect()
        scene.page.play(400)
        assert scene.page.is_held
        scene.page.lose()
        scene.line.resume(1)
        scene.page.connect()
        assert not scene.page.is_held

    on_the_line(script)


def test_a_second_socket_takes_over_and_the_first_is_ignored() -> None:
    async def script(scene: Scene) -> None:
        speak(scene, 3_000)
        first = scene.page.socket
        assert first is not None
        other = Page(scene.line)
        other.connect()
        assert first.log[-1] == ("drop", 1, 0)
        scene.line.detach(first)
        assert scene.line.is_attached
        assert not scene.told_of(Wobbled)
        before = len(first.log)
        other.play(500)
        assert len(first.log) == before

    on_the_line(script)


# -- Nobody is there


def test_a_line_without_a_client_for_too_long_is_reported_as_closed() -> None:
    """A machine that prepares, renews or mends does not hear of a wobble."""

    async def script(scene: Scene) -> None:
        scene.page.lose()
        await asyncio.sleep(LOST_MS / 1000 - 0.01)
        assert scene.told == [Wobbled()]
        await asyncio.sleep(0.02)
        assert scene.told == [Wobbled(), Closed()]

    on_the_line(script)


def test_a_line_whose_client_is_back_in_time_is_not_closed_later() -> None:
    async def script(scene: Scene) -> None:
        scene.page.lose()
        await asyncio.sleep(1)
        scene.page.connect()
        await asyncio.sleep(10)
        assert scene.told == [Wobbled(), Healed()]

    on_the_line(script)


def test_opening_waits_for_a_client_and_the_last_opener_gets_the_events() -> None:
    async def script(scene: Scene) -> None:
        scene.page.lose()
        newer: list[LineEvent] = []
        opening = asyncio.ensure_future(scene.line.open(newer.append))
        await asyncio.sleep(60)
        assert not opening.done()
        assert not scene.told_of(Closed)
        scene.page.connect()
        await opening
        assert newer == [Healed()]

    on_the_line(script)


def test_closing_cancels_an_open_that_waits() -> None:
    async def whole() -> None:
        line = BrowserLine()
        opening = asyncio.ensure_future(line.open(lambda event: None))
        await asyncio.sleep(0)
        await line.close()
        with pytest.raises(asyncio.CancelledError):
            await opening

    run_simulated(whole())


# -- Cues


def test_a_cue_goes_to_the_client_at_its_rate_and_touches_no_voice() -> None:
    async def script(scene: Scene) -> None:
        speak(scene, 300)
        scene.line.play_cue(4, Sound(500, bytes(16_000), 16_000))
        scene.line.stop_cue()
        assert scene.page.socket is not None
        assert scene.page.socket.log[-2:] == [("cue", 4, 24_000), ("stop cue", 0, 0)]
        assert not scene.told

    on_the_line(script)


def test_without_a_client_a_cue_is_dropped() -> None:
    async def script(scene: Scene) -> None:
        scene.page.lose()
        scene.line.play_cue(1, Sound(500))
        scene.line.stop_cue()
        assert scene.page.connect().log == []

    on_the_line(script)


def test_ambient_sound_is_sent_to_each_client_and_ends_with_the_line() -> None:
    async def script(scene: Scene) -> None:
        scene.line.set_ambient(Sound(1_000, bytes(48_000)))
        scene.page.lose()
        socket = scene.page.connect(anew=True)
        assert ("ambient", 0, 48_000) in socket.log
        await scene.line.close()
        assert socket.log[-1] == ("ambient", 0, 0)
        assert ("ambient", 0, 48_000) not in scene.page.connect().log

    on_the_line(script)


# -- Whatever happens

acts = st.lists(
    st.one_of(
        st.tuples(st.sampled_from(["speak", "play", "play silently", "wait"]), st.integers(1, 900)),
        st.tuples(
            st.sampled_from(["hold", "resume", "cut", "lose", "connect", "reload", "clear", "next", "finish"]),
            st.integers(0, 3_000),
        ),
    ),
    max_size=60,
)


class Story:
    """One random life of a line, and what a perfect client must have heard of it."""

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self.voice = 1
        self.made: dict[int, int] = {1: 0}
        self.is_cleared = self.is_complete = False

    def act(self, what: str, amount: int) -> None:
        line, page = self.scene.line, self.scene.page
        match what:
            case "speak" if not self.is_cleared and not self.is_complete:
                line.play(self.voice, 1, sound(self.made[self.voice], amount))
                self.made[self.voice] += amount
            case "play":
                page.play(amount)
            case "play silently" if not page.is_connected:
                page.play(amount, tells=False)
            case "hold":
                line.hold(self.voice)
            case "resume":
                line.resume(self.voice)
            case "cut" if page.socket is not None:
                page.cut()
            case "lose" if page.socket is not None:
                page.lose()
            case "connect" if not page.is_connected:
                page.connect()
            case "reload" if page.is_connected:  # having told all that it played
                page.lose()
                page.connect(anew=True)
            case "clear" if self.made[self.voice]:
                line.clear(self.voice)
                self.is_cleared = True
            case "next" if self.is_cleared:
                self.voice += 1
                self.made[self.voice] = 0
                self.is_cleared = self.is_complete = False
            case "finish" if self.made[self.voice]:
                line.finish(self.voice)
                self.is_complete = True
        self.check()

    def check(self) -> None:
        """Nothing twice, nothing skipped, nothing that was not said."""
        for voice, heard in self.scene.page.heard.items():
            if voice:
                assert len(heard) <= self.made[voice] * PER_MS * 2
                assert bytes(heard) == ramp(0, len(heard) // 2)
        for event in self.scene.told:
            if isinstance(event, Played | Finished | Stopped) and event.voice in self.made:
                assert event.heard_ms <= self.made[event.voice]


@settings(max_examples=250, deadline=None)
@given(acts)
def test_a_client_hears_every_sample_once_and_in_order(script: list[tuple[str, int]]) -> None:
    async def whole(scene: Scene) -> None:
        story = Story(scene)
        for what, amount in script:
            story.act(what, amount)
            await asyncio.sleep(amount / 1000 if what == "wait" else 0)
        if not scene.page.is_connected:
            story.act("connect", 0)
        if not story.is_cleared:
            scene.line.resume(story.voice)
            story.act("finish", 0)
            for _ in range(2 + sum(story.made.values()) // 500):
                story.act("play", 500)
            assert len(scene.page.heard[story.voice]) == story.made[story.voice] * PER_MS * 2

    on_the_line(whole)


def test_a_voice_that_runs_out_of_sound_while_it_goes_on_is_noted() -> None:
    async def script(scene: Scene) -> None:
        dry: list[int] = []
        scene.line.note_dry = dry.append
        speak(scene, 500)
        assert not dry, "the client has half a second left"
        scene.line.note_played(1, 200)
        assert not dry
        scene.line.note_played(1, 310)
        assert dry == [1]
        scene.line.hold(1)
        scene.line.note_played(1, 320)
        assert dry == [1], "it isn't played on"
        scene.line.resume(1)
        assert dry == [1, 1]
        scene.line.play(1, 2, sound(500, 300))
        assert dry == [1, 1], "there is more"
        scene.line.finish(1)
        scene.line.note_played(1, 700)
        assert dry == [1, 1], "it ends, and the client knows"

    on_the_line(script)
