"""A simulated network for UDP: the same seed loses and delays the same packets, and handshakes always arrive."""

from __future__ import annotations

import asyncio

import pytest

pytest.importorskip("aiortc", reason="pip install 'duologue[webrtc]'")

from duologue.lab.sim.lossy_network import LossyNetwork, is_sound, run_lossy

SOUND = bytes([128, 111, 0, 1]) + (960).to_bytes(4, "big") + (7).to_bytes(4, "big") + b"opus"
RTCP = bytes([128, 200]) + bytes(26)
HANDSHAKE = bytes([22]) + bytes(40)
STUN = bytes(20)


def test_what_happens_to_packets_depends_only_on_the_seed() -> None:
    def delays(seed: int) -> list[float | None]:
        network = LossyNetwork(0.1, 80, seed)
        return [network.delay_ms(SOUND) for _ in range(1_000)]

    assert delays(1) == delays(1) != delays(2)
    lost = delays(1).count(None)
    assert 70 < lost < 130
    assert 75 < max(ms for ms in delays(1) if ms is not None) <= 80


def test_kinds_of_packets_are_counted_apart_and_a_handshake_is_never_lost() -> None:
    network = LossyNetwork(loss=1.0)
    assert [network.delay_ms(data) for data in (SOUND, RTCP, STUN, HANDSHAKE)] == [None, None, None, 0.0]
    assert (network.sound_packets, network.sound_lost, network.other_packets, network.other_lost) == (1, 1, 2, 2)
    assert network.first_stamps == {7: 960}
    assert [is_sound(data) for data in (SOUND, RTCP, STUN, HANDSHAKE, b"")] == [True, False, False, False, False]


class Receiver(asyncio.DatagramProtocol):
    def __init__(self) -> None:
        self.got: list[tuple[int, float]] = []

    def datagram_received(self, data: bytes, addr: object) -> None:
        self.got.append((data[0], asyncio.get_running_loop().time()))


def test_packets_between_sockets_are_late_out_of_order_or_lost_in_simulated_time() -> None:
    async def send() -> list[tuple[int, float]]:
        loop = asyncio.get_running_loop()
        socket, receiver = await loop.create_datagram_endpoint(Receiver, local_addr=("127.0.0.1", 0))
        sender, _ = await loop.create_datagram_endpoint(Receiver, remote_addr=socket.get_extra_info("sockname"))
        for number in range(100, 120):
            sender.sendto(bytes([number]))
        await asyncio.sleep(1)
        socket.close()
        sender.close()
        assert isinstance(receiver, Receiver)
        return receiver.got

    network = LossyNetwork(0.1, 80)
    got = run_lossy(send(), network)
    numbers = [number for number, _ in got]
    assert len(got) == 20 - network.other_lost < 20
    assert numbers != sorted(numbers)
    assert max(at_s for _, at_s in got) <= 0.1
    assert len({at_s for _, at_s in got}) > 10
