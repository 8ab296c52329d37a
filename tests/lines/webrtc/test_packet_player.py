"""The player of a peer connection: pieces of 20 ms, hold and resume to the sample, what was heard."""

from __future__ import annotations

import asyncio

import numpy as np

from duologue.lines.ambient_loop import DUCKED
from duologue.lines.browser import BrowserLine
from duologue.lines.opus import PACKET_CLOCKS
from duologue.lines.webrtc.packet_player import PLAYOUT_MS, PacketPlayer
from duologue.ports.line import Finished, LineEvent, Played, Stopped
from duologue.ports.sound import Sound
from duologue.runtime.simulated_clock import run_simulated

LATE = PLAYOUT_MS // 20  # packets until one is heard


class Rig:
    """A line with a player, and a network that takes a packet every 20 ms."""

    def __init__(self) -> None:
        self.line = BrowserLine()
        self.player = PacketPlayer(self.line, lambda: self.count * 20, lambda _: None)
        self.told: list[LineEvent] = []
        self.count = 0
        self.sent: list[bytes] = []

    async def open(self) -> None:
        self.line.attach(self.player)
        await self.line.open(self.told.append)
        self.told.clear()

    def packets(self, count: int, quiet_ms: int = 0) -> None:
        for _ in range(count):
            if self.count % 5 == 0:
                self.player.look(quiet_ms)
            self.sent.append(self.player.take(self.count * PACKET_CLOCKS))
            self.count += 1

    def say(self, voice: int, ms: int) -> None:
        self.line.play(voice, 1, Sound(ms, b"\1\2" * 24 * ms, 24_000))
        self.line.finish(voice)

    @property
    def voiced(self) -> int:
        return sum(1 for piece in self.sent if piece)


def rig(work: object) -> Rig:
    made = Rig()

    async def run() -> None:
        await made.open()
        work(made)  # type: ignore[operator]
        await asyncio.sleep(0)

    run_simulated(run())
    return made


def test_a_voice_is_heard_to_its_end() -> None:
    def work(made: Rig) -> None:
        made.say(1, 3_000)
        made.packets(200)

    made = rig(work)
    assert made.told[-1] == Finished(1, 3_000)
    assert made.voiced == 150
    assert b"".join(made.sent) == b"\1\2" * 24 * 3_000


def test_a_held_voice_goes_on_at_the_very_sample() -> None:
    def work(made: Rig) -> None:
        made.say(1, 1_000)
        made.packets(20)
        made.line.hold(1)
        made.packets(50)
        assert made.voiced == 20
        made.line.resume(1)
        made.packets(100)

    made = rig(work)
    assert made.told[-1] == Finished(1, 1_000)
    assert b"".join(made.sent) == b"\1\2" * 24 * 1_000


def test_a_cleared_voice_stops_at_once_and_counts_what_was_sent() -> None:
    def work(made: Rig) -> None:
        made.say(1, 1_000)
        made.packets(25)
        made.line.clear(1)
        made.packets(25)

    made = rig(work)
    assert made.voiced == 25
    assert made.told[-1] == Stopped(1, 500)


def test_what_the_client_says_is_believed_but_not_more_than_was_sent() -> None:
    def work(made: Rig) -> None:
        made.say(1, 1_000)
        made.packets(25)
        made.player.note_stamp(99 * PACKET_CLOCKS)
        assert Played(1, 500) not in made.told
        made.player.note_stamp(20 * PACKET_CLOCKS)
        assert made.told[-1] == Played(1, 400)
        made.packets(100)

    made = rig(work)
    assert made.told[-1] == Played(1, 400)  # it said nothing since


def test_what_is_sent_while_nothing_comes_back_does_not_count() -> None:
    def work(made: Rig) -> None:
        made.say(1, 3_000)
        made.packets(26)
        for quiet in range(10):
            made.packets(5, 100 + quiet * 100)

    made = rig(work)
    heard = [event.heard_ms for event in made.told if isinstance(event, Played)]
    assert max(heard) <= 26 * 20


def test_another_carrier_goes_on_from_what_was_heard() -> None:
    class Socket:
        """A wire that notes what it gets."""

        def __init__(self) -> None:
            self.pcm, self.begun = b"", -1

        def send_sound(self, voice: int, chunk: int, pcm: bytes) -> None:
            self.pcm += pcm

        def send_play(self, action: str, voice: int, ms: int = 0) -> None:
            self.begun = ms if action == "begin" else self.begun

        def drop_sound(self, voice: int) -> None: ...

        def send_cue(self, cue: int, pcm: bytes) -> None: ...

        def stop_cue(self) -> None: ...

        def send_ambient(self, pcm: bytes) -> None: ...

    socket = Socket()

    def work(made: Rig) -> None:
        made.say(1, 1_000)
        made.packets(26)
        made.player.leave()
        made.line.attach(socket)
        assert made.voiced == 26
        made.packets(5)
        assert made.voiced == 26

    rig(work)
    assert socket.begun == (25 - LATE) * 20
    assert len(socket.pcm) // 48 == 1_000 - socket.begun


def test_cues_are_heard_until_the_voice_begins() -> None:
    def work(made: Rig) -> None:
        made.line.play_cue(1, Sound(200, b"\7\7" * 24 * 200, 24_000))
        made.packets(3)
        assert made.voiced == 3
        made.say(1, 100)
        made.packets(10)
        assert made.sent[3] == b"\1\2" * 480
        assert made.voiced == 8

    rig(work)


def levels(packets: list[bytes]) -> list[tuple[int, int]]:
    """The lowest and the highest sample of each packet."""
    samples = [np.frombuffer(packet, np.int16) for packet in packets]
    return [(int(one.min()), int(one.max())) for one in samples]


def constant(level: int, ms: int) -> Sound:
    return Sound(ms, np.full(24 * ms, level, np.int16).tobytes(), 24_000)


def test_an_ambient_sound_is_mixed_into_everything_and_is_quieter_under_a_voice() -> None:
    ambient, voice, cue = 5_000, 10_000, 2_000
    ducked = round(ambient * DUCKED)
    ramp = 15  # packets until the ambient sound has changed its level

    def work(made: Rig) -> None:
        made.line.set_ambient(constant(ambient, 100))
        made.packets(10)
        assert levels(made.sent) == [(ambient, ambient)] * 10, "nothing else plays"
        made.line.play_cue(1, constant(cue, 100))
        made.packets(5)
        assert levels(made.sent[10:]) == [(cue + ambient, cue + ambient)] * 5
        made.line.play(1, 1, constant(voice, 1_000))
        made.line.finish(1)
        made.packets(50)
        heard = levels(made.sent[15:])
        assert heard[0][1] <= voice + ambient
        assert [lowest for lowest, _ in heard] == sorted((lowest for lowest, _ in heard), reverse=True), "no jump up"
        assert max(highest - lowest for lowest, highest in heard) <= ambient * 0.05 + 2, "no step that can be heard"
        assert all(abs(level - voice - ducked) <= 2 for one in heard[ramp:] for level in one)
        made.packets(ramp + 5)
        after = levels(made.sent[65:])
        assert after[0][0] < ambient, "it comes back slowly"
        assert all(abs(level - ambient) <= 2 for one in after[ramp:] for level in one)
        made.line.set_ambient(None)
        made.packets(2)
        assert made.sent[-2:] == [b"", b""]

    rig(work)
