"""The formats in which sound goes over a client's socket. Server and client agree on them in the hello message.

`input` is the sound of the client's microphone, `output` is what the client plays. Rule: PCM always works. Opus is used
in a direction only if the client has offered it for that direction and this server supports it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from duologue.lines.opus import why_no_opus

PCM = "pcm"
OPUS = "opus"
FORMATS = (PCM, OPUS)
OFFERS_MAX = 8  # formats that one hello may name


class SoundFormats(NamedTuple):
    """The format of the sound in each direction."""

    input: str = PCM
    output: str = PCM


def agreed_formats(
    offered: Mapping[str, Sequence[str]], is_wanted: bool, why_no_opus: Callable[[], str | None] = why_no_opus
) -> SoundFormats:
    """The formats to use for a client that offers `offered`. `is_wanted` says whether the server's settings allow Opus.
    libopus isn't loaded before the first client offers Opus."""
    offers = [OPUS in offered.get(direction, ()) for direction in SoundFormats._fields]
    if not is_wanted or not any(offers) or why_no_opus() is not None:
        return SoundFormats()
    return SoundFormats(*(OPUS if is_offered else PCM for is_offered in offers))
