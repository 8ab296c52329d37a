"""The player of a call over WebRTC, without a network."""

from __future__ import annotations

from duologue.lines.browser import BrowserLine
from duologue.ports.sound import Sound
from duologue.runtime.simulated_clock import run_simulated
from duologue.server.realtime.track_player import TrackPlayer


def test_the_call_is_told_of_sound_its_end_and_what_was_heard() -> None:
    told: list[object] = []

    async def work() -> None:
        line = BrowserLine()
        player = TrackPlayer(
            line,
            lambda voice, pcm: told.append(("sound", voice, len(pcm) // 48)),
            lambda voice: told.append(("complete", voice)),
            lambda voice, is_cut: told.append(("ended", voice, is_cut)),
        )
        line.attach(player)
        await line.open(lambda event: None)
        line.play(1, 1, Sound(100, b"\1\1" * 2_400, 24_000))
        line.finish(1)
        assert player.stop(1, 0)  # it is heard
        for count in range(20):
            player.packets.take(count * 960)
            player.packets.look()
        assert (player.reported_ms(1), player.played_ms(1), player.stop(1, 0)) == (0, None, False)
        line.play(2, 1, Sound(1_000, b"\1\1" * 24_000, 24_000))
        for count in range(20, 30):
            player.packets.take(count * 960)
        player.packets.look()
        assert (player.reported_ms(2), player.played_ms(2)) == (100, 200)
        line.clear(2)
        for count in range(30, 50):
            player.packets.take(count * 960)
            player.packets.look()

    run_simulated(work())
    assert told[0] == ("sound", 1, 100)
    assert ("complete", 1) in told
    assert [one for one in told if one[0] == "ended"] == [("ended", 1, False), ("ended", 2, True)]  # type: ignore[index]
