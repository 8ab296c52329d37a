"""Checks a client's offer and prepares it for aiortc. Also changes the addresses in the answer, for a server behind a
router.

Clients may send an offer before they know their own addresses, and aiortc fails at once if an offer has no address. The
client always knows our address and contacts us first, so addresses in an offer are needed only to connect through a
relay (TURN). Rule: these functions take and return text. An offer that can't work is refused with a code and a reason.
"""

from __future__ import annotations

import ipaddress
import re

from duologue.core.errors import DuologueError

OFFER_BYTES_MAX = 32_768
MEDIA_MAX = 4  # sections of an offer
CANDIDATES_MAX = 32
_NO_ADDRESS = "a=candidate:1 1 udp 1 127.0.0.1 9 typ host"  # the discard port, which never answers


class OfferRefused(DuologueError, ValueError):
    """An offer that can't be answered. The message says why, and `code` is the reason in a form for programs."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


def prepare_offer(sdp: str, is_relayed: bool = False) -> str:
    """The offer in the form that aiortc needs. Without `is_relayed`, all addresses of the client are removed. With
    `is_relayed`, addresses that can belong to another computer are kept. Raises OfferRefused if the offer can't
    work."""
    if not sdp.strip():
        raise OfferRefused("invalid_offer", "the offer is empty: send the SDP of an RTCPeerConnection")
    if len(sdp.encode("utf-8", "surrogatepass")) > OFFER_BYTES_MAX:
        raise OfferRefused("invalid_offer", f"the offer has more than {OFFER_BYTES_MAX} bytes")
    lines = [line.rstrip() for line in sdp.strip().splitlines()]
    if lines[0] != "v=0":
        raise OfferRefused("invalid_offer", "this isn't SDP: it must begin with v=0")
    _check_media(lines)
    kept = [line for line in lines if not line.startswith(("a=candidate:", "a=end-of-candidates"))]
    given = [line for line in lines if line.startswith("a=candidate:")] if is_relayed else []
    usable = [line for line in given[:CANDIDATES_MAX] if _is_usable(line)]
    return "\r\n".join([*_with_candidates(kept, usable or [_NO_ADDRESS]), ""])


def _check_media(lines: list[str]) -> None:
    media = [line for line in lines if line.startswith("m=")]
    if len(media) > MEDIA_MAX:
        raise OfferRefused("invalid_offer", f"the offer has {len(media)} sections, but at most {MEDIA_MAX} are allowed")
    audio = [line for line in media if line.startswith("m=audio ")]
    if len(audio) != 1 or audio[0].split()[1] == "0":
        raise OfferRefused("no_audio", "the offer needs one audio section: add a microphone track, or a transceiver")
    section = _section(lines, lines.index(audio[0]))
    if "a=inactive" in section:
        raise OfferRefused("no_audio", "the audio section of the offer is inactive")
    if not any(re.match(r"a=rtpmap:\d+ opus/48000", line, re.IGNORECASE) for line in section):
        raise OfferRefused("no_opus", "the offer has no Opus, which is the only codec of this server")


def _section(lines: list[str], start: int) -> list[str]:
    end = next((at for at in range(start + 1, len(lines)) if lines[at].startswith("m=")), len(lines))
    return lines[start:end]


def _with_candidates(lines: list[str], candidates: list[str]) -> list[str]:
    """The lines of an offer, with these candidates (lines with addresses) added at the end of each media section."""
    out: list[str] = []
    for at, line in enumerate(lines):
        out.append(line)
        is_last = at + 1 == len(lines) or lines[at + 1].startswith("m=")
        if is_last and any(one.startswith("m=") for one in out):
            out += candidates
    return out


def _is_usable(candidate: str) -> bool:
    """Does this candidate have a UDP address that can belong to another computer? A host name isn't such an address."""
    parts = candidate.split()
    if len(parts) < 8 or parts[2].lower() != "udp":
        return False
    try:
        address = ipaddress.ip_address(parts[4])
    except ValueError:
        return False
    return not (address.is_loopback or address.is_multicast or address.is_unspecified or address.is_link_local)


def with_address(sdp: str, address: str) -> str:
    """The answer with this address in place of the computer's own addresses. This is for a server behind a router that
    forwards to it. Addresses of relays don't change. If `address` is empty, the answer is returned unchanged."""
    if not address:
        return sdp
    lines: dict[str, None] = {}  # in order, each once
    for at, line in enumerate(sdp.splitlines()):
        if line.startswith("a=candidate:") and " typ host" in line:
            parts = line.split()
            if ":" in parts[4] and ":" not in address:
                continue  # an IPv6 address can't be reached at an IPv4 address
            parts[4] = address
            line = " ".join(parts)
        lines[line if line.startswith("a=candidate:") else f"{at}\0{line}"] = None
    return "\r\n".join([line.partition("\0")[2] or line for line in lines] + [""])
