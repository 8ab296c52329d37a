"""Sound of a client over its socket: passed on at the pace of speech, and refused with a reason if it comes faster."""

from __future__ import annotations

from collections.abc import Callable

from duologue.lines.browser import BrowserLine
from duologue.runtime.simulated_clock import run_simulated
from duologue.server.caller_budget import Refused
from duologue.server.client_sound import ClientSound
from duologue.server.limited_caller import LimitedCaller
from duologue.server.microphone_frames import OpusMicrophone, PcmMicrophone
from duologue.server.settings import Limits, WebRtcSettings

from .opus_client import microphone_packets

FRAME = bytes(1_024)  # 32 ms at 16 kHz
PCM = PcmMicrophone(16_000)


class HeardLine(BrowserLine):
    """A line that counts what it hears."""

    def __init__(self) -> None:
        super().__init__(16_000)
        self.heard = 0

    def hear(self, pcm: bytes) -> None:
        self.heard += len(pcm)


def sound_of(line: HeardLine) -> tuple[ClientSound, list[Refused]]:
    refused: list[Refused] = []
    caller = LimitedCaller(Limits(), lambda limit: None)
    return ClientSound(line, caller, WebRtcSettings(enabled=False), refused.append), refused


def play(scene: Callable[[HeardLine, ClientSound, list[Refused]], None]) -> None:
    """Play a scene at one moment."""

    async def main() -> None:
        line = HeardLine()
        scene(line, *sound_of(line))

    run_simulated(main())


def test_sound_of_the_socket_is_heard() -> None:
    def scene(line: HeardLine, sound: ClientSound, refused: list[Refused]) -> None:
        for _ in range(10):
            sound.hear_socket(FRAME, 32, PCM)
        assert line.heard == 10 * len(FRAME)
        assert not refused

    play(scene)


def test_sound_that_comes_much_faster_than_speech_is_left_out_and_the_client_is_told() -> None:
    def scene(line: HeardLine, sound: ClientSound, refused: list[Refused]) -> None:
        for _ in range(1_000):  # 32 s at once
            sound.hear_socket(FRAME, 32, PCM)
        assert line.heard < 500 * len(FRAME)
        assert refused

    play(scene)


def test_sound_of_a_peer_connection_that_comes_much_faster_than_speech_is_left_out_too() -> None:
    def scene(line: HeardLine, sound: ClientSound, refused: list[Refused]) -> None:
        for _ in range(1_000):
            sound.hear(FRAME)
        assert line.heard == Limits().sound_ms.burst // 32 * len(FRAME)
        assert [one.limit for one in refused] == ["sound"], "told once a moment, and not for each frame"

    play(scene)


class CountedMicrophone(OpusMicrophone):
    """Counts the packets that are decoded."""

    decoded = 0

    def pcm_of(self, frame: bytes) -> bytes:
        self.decoded += 1
        return super().pcm_of(frame)


def test_packets_that_decode_to_more_than_speech_are_left_out_before_they_are_decoded() -> None:
    longest = b"\x01" + bytes([31 << 3 | 3, 6]) + bytes(6)  # 120 ms in 9 bytes

    def scene(line: HeardLine, sound: ClientSound, refused: list[Refused]) -> None:
        frames = CountedMicrophone(16_000)
        for packet in microphone_packets(100):
            sound.hear_socket(packet, frames.ms_of(packet), frames)
        assert line.heard == 3_200
        for _ in range(300):  # 36 s at once, of 2.7 kB
            sound.hear_socket(longest, frames.ms_of(longest), frames)
        burst_ms = Limits().sound_ms.burst
        assert line.heard <= burst_ms * 32
        assert frames.decoded == 5 + (burst_ms - 100) // 120
        assert refused[0].limit == "sound"

    play(scene)


def test_without_a_peer_connection_its_reports_change_nothing() -> None:
    def scene(line: HeardLine, sound: ClientSound, refused: list[Refused]) -> None:
        sound.note_heard({"rtp": 7})
        sound.use_socket({})
        sound.offer(None, {"sdp": "v=0"})
        sound.leave()
        assert not refused

    play(scene)
