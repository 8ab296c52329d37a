"""Puts the packets from the client's microphone in order. `step` is a pure function that is called for each packet that
arrives.

Packets may arrive late, twice or never. A packet that arrives in order is passed on at once, so on a good network there
is no delay. If a packet is missing, the packets after it wait for it. How long they wait depends on how late packets
have been on this network. After that, the gap is concealed: similar sound fills it. Stamps are counted in RTP clocks
(48 per millisecond) and don't wrap around. The state has the stamps of packets, but not their sound. Rule: sound is
passed on in the order in which it was spoken, and no packet is passed on twice.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple, TypeAlias

from ..opus import CLOCK_HZ, PACKET_CLOCKS

CLOCKS_PER_MS = CLOCK_HZ // 1000
WAIT_MS_MIN = 30
WAIT_MS_MAX = 240
FADE_PACKETS = 16  # after this many packets, the expected lateness decreases by a millisecond
CONCEALED_MS_MAX = 200  # the longest sound that fills one gap; the rest of a longer gap is left out
JUMP_MS = 5_000  # timestamps that differ by more belong to another stream
WAITING_MAX = 64


class HearPacket(NamedTuple):
    """Decode the packet with this stamp."""

    stamp: int


class Conceal(NamedTuple):
    """Generate sound in place of a lost packet; `clocks` is its length. `following` is the stamp of the next packet, if
    that packet may contain a copy of the lost packet; otherwise None."""

    clocks: int
    following: int | None


Heard: TypeAlias = HearPacket | Conceal


class WaitingPacket(NamedTuple):
    stamp: int
    clocks: int


@dataclass(frozen=True, slots=True)
class ArrivalState:
    """What is remembered about the packets that have arrived. It decides how the next packet is handled."""

    next_stamp: int | None = None  # of the sound that is heard next; None before the first packet
    waiting: tuple[WaitingPacket, ...] = ()  # by stamp
    transit_ms: int = 0  # how long the fastest packets take, plus the unknown difference between both clocks
    spread_ms: int = 0  # other packets take up to this much longer
    concealed: int = 0  # packets that were lost or too late
    late: int = 0  # of these, packets that arrived after their gap was concealed

    @property
    def wait_ms(self) -> int:
        """How long to wait for a missing packet."""
        return min(max(self.spread_ms + 10, WAIT_MS_MIN), WAIT_MS_MAX)


ArrivalDone: TypeAlias = tuple[ArrivalState, tuple[Heard, ...]]


def unwrap(stamp: int, near: int | None) -> int:
    """Convert a 32-bit timestamp, which wraps around, to a number that doesn't wrap around. The result is the number
    nearest to `near` that has the same lower 32 bits. If `near` is None, the timestamp is returned unchanged."""
    if near is None:
        return stamp
    return near + ((stamp - near + (1 << 31)) % (1 << 32)) - (1 << 31)


def step(s: ArrivalState, stamp: int, clocks: int, now_ms: int) -> ArrivalDone:
    """Return the state after a packet with this stamp and length has arrived, and the sound that is passed on now."""
    stamp = unwrap(stamp, s.next_stamp)
    if s.next_stamp is None or abs(stamp - s.next_stamp) > JUMP_MS * CLOCKS_PER_MS:
        s = ArrivalState(stamp, (), now_ms - stamp // CLOCKS_PER_MS, 0, s.concealed, s.late)
    s = _note_transit(s, now_ms - stamp // CLOCKS_PER_MS, stamp // PACKET_CLOCKS % FADE_PACKETS == 0)
    assert s.next_stamp is not None
    if stamp == s.next_stamp and not s.waiting:  # almost always
        return _go_on(s, stamp + clocks), (HearPacket(stamp),)
    if stamp < s.next_stamp:
        return replace(s, late=s.late + 1), ()
    if not any(one.stamp == stamp for one in s.waiting):
        s = replace(s, waiting=tuple(sorted((*s.waiting, WaitingPacket(stamp, clocks)))))
    return _leave(s, now_ms)


def _note_transit(s: ArrivalState, transit_ms: int, fades: bool) -> ArrivalState:
    """Remember how much later slow packets arrive than the fastest packets. The remembered value slowly decreases, so
    that an improvement of the network is noticed."""
    fastest = min(transit_ms, s.transit_ms)
    late_ms = transit_ms - fastest
    spread_ms = max(late_ms, s.spread_ms - fades)
    drifted = fastest + 1 if late_ms > WAIT_MS_MAX else fastest  # the client's clock is slower, or the way is longer
    spread_ms = min(spread_ms, WAIT_MS_MAX)
    if drifted == s.transit_ms and spread_ms == s.spread_ms:
        return s
    return replace(s, transit_ms=drifted, spread_ms=spread_ms)


def _go_on(s: ArrivalState, next_stamp: int) -> ArrivalState:
    return ArrivalState(next_stamp, (), s.transit_ms, s.spread_ms, s.concealed, s.late)


def _leave(s: ArrivalState, now_ms: int) -> ArrivalDone:
    """Pass on all packets that needn't wait any longer, in order. A gap is concealed when the missing packet is too
    late."""
    heard: list[Heard] = []
    next_stamp, waiting, concealed = s.next_stamp, list(s.waiting), s.concealed
    assert next_stamp is not None
    while waiting:
        first = waiting[0]
        if first.stamp > next_stamp:
            due_ms = next_stamp // CLOCKS_PER_MS + s.transit_ms + s.wait_ms
            if now_ms < due_ms and len(waiting) < WAITING_MAX:
                break
            gap = _conceal(first.stamp - next_stamp, first.stamp)
            heard += gap
            concealed += len(gap)
        heard.append(HearPacket(first.stamp))
        next_stamp = first.stamp + first.clocks
        del waiting[0]
        while waiting and waiting[0].stamp < next_stamp:  # it overlaps the one before it
            del waiting[0]
    return replace(s, next_stamp=next_stamp, waiting=tuple(waiting), concealed=concealed), tuple(heard)


def _conceal(clocks: int, following: int) -> list[Heard]:
    """The pieces of sound that fill a gap. Only the last piece can be the real sound, because the packet after the gap
    may contain a copy of it."""
    clocks = min(clocks, CONCEALED_MS_MAX * CLOCKS_PER_MS)
    whole, rest = divmod(clocks, PACKET_CLOCKS)
    sizes = [*([rest] if rest else []), *[PACKET_CLOCKS] * whole]
    return [Conceal(size, following if at == len(sizes) - 1 else None) for at, size in enumerate(sizes)]
