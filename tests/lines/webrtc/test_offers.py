"""Offers that can work and that can't, and answers for a server behind a router."""

from __future__ import annotations

import pytest

from duologue.lines.webrtc.offers import OFFER_BYTES_MAX, OfferRefused, prepare_offer, with_address

AUDIO = "m=audio 9 UDP/TLS/RTP/SAVPF 111\r\na=rtpmap:111 opus/48000/2\r\n"
PUBLIC = "a=candidate:1 1 udp 1 198.51.100.7 50000 typ host"
HIDDEN = "a=candidate:2 1 udp 1 0b5c3a9e.local 50000 typ host"
LOOPBACK = "a=candidate:3 1 udp 1 127.0.0.1 22 typ host"
TCP = "a=candidate:4 1 tcp 1 198.51.100.7 9 typ host tcptype active"


@pytest.mark.parametrize(
    ("sdp", "code"),
    [
        ("", "invalid_offer"),
        ("{}", "invalid_offer"),
        ("v=0\r\n" + "x" * OFFER_BYTES_MAX, "invalid_offer"),
        ("v=0\r\n" + AUDIO + "m=video 9 A 96\r\n" * 4, "invalid_offer"),
        ("v=0\r\n", "no_audio"),
        ("v=0\r\nm=application 9 UDP/DTLS/SCTP webrtc-datachannel\r\n", "no_audio"),
        ("v=0\r\n" + AUDIO.replace(" 9 ", " 0 "), "no_audio"),
        ("v=0\r\n" + AUDIO + AUDIO, "no_audio"),
        ("v=0\r\n" + AUDIO + "a=inactive\r\n", "no_audio"),
        ("v=0\r\n" + AUDIO.replace("opus", "G722"), "no_opus"),
        ("v=0\r\n" + AUDIO.replace("opus", "G722") + "m=video 9 A 96\r\na=rtpmap:96 opus/48000\r\n", "no_opus"),
    ],
)
def test_an_offer_that_cannot_work_is_refused(sdp: str, code: str) -> None:
    with pytest.raises(OfferRefused) as refused:
        prepare_offer(sdp)
    assert refused.value.code == code


def test_addresses_of_the_client_are_used_only_with_a_relay_and_only_if_they_can_be_another_machine() -> None:
    sdp = "\r\n".join(["v=0", AUDIO.strip(), PUBLIC, HIDDEN, LOOPBACK, TCP, "a=end-of-candidates", ""])
    assert [line for line in prepare_offer(sdp).splitlines() if "candidate" in line] == [
        "a=candidate:1 1 udp 1 127.0.0.1 9 typ host"
    ]
    assert [line for line in prepare_offer(sdp, is_relayed=True).splitlines() if "candidate" in line] == [PUBLIC]


def test_each_section_of_an_offer_has_an_address() -> None:
    sdp = "v=0\r\na=group:BUNDLE 0 1\r\n" + AUDIO + "m=application 9 UDP/DTLS/SCTP webrtc-datachannel\r\n"
    lines = prepare_offer(sdp).splitlines()
    assert [at for at, line in enumerate(lines) if "candidate" in line] == [4, 6]


def test_an_answer_names_the_address_at_which_a_router_forwards() -> None:
    answer = "\r\n".join(
        [
            "v=0",
            "a=candidate:1 1 udp 1 10.0.0.5 50000 typ host",
            "a=candidate:2 1 udp 1 fd00::2 50001 typ host",
            "a=candidate:3 1 udp 1 192.0.2.9 50002 typ relay raddr 10.0.0.5 rport 50000",
            "a=sendrecv",
            "",
        ]
    )
    assert with_address(answer, "") == answer
    changed = with_address(answer, "198.51.100.7").splitlines()
    assert changed[1:] == [
        "a=candidate:1 1 udp 1 198.51.100.7 50000 typ host",
        "a=candidate:3 1 udp 1 192.0.2.9 50002 typ relay raddr 10.0.0.5 rport 50000",
        "a=sendrecv",
    ]
