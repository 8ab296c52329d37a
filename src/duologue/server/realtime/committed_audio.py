"""Transcribes the sound that a client commits, in sessions in which the client itself decides when a turn ends.

The conversation's state machine doesn't get this sound. It gets the text when the client asks for a response. Rule: if
sound can't be transcribed in time, it has no text.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from duologue.ports.ears import Commit, Ears, Final, Frame, Incoming
from duologue.ports.streams import reading

FRAME_MS = 20
TRANSCRIBE_S_MAX = 15.0


def frames_of(pcm: bytes, rate_hz: int) -> list[Frame]:
    """Split the sound into frames of 20 ms. The last frame may be shorter."""
    size = rate_hz * FRAME_MS // 1000 * 2
    return [Frame(pcm[at : at + size], rate_hz) for at in range(0, len(pcm), size)]


async def transcribe(ears: Ears, frames: list[Frame]) -> str | None:
    """The text of this sound; None if it can't be transcribed in time."""
    texts: dict[int, str] = {}
    is_committed, is_written = False, asyncio.Event()

    async def sound() -> AsyncIterator[Incoming]:
        nonlocal is_committed
        for frame in frames:
            yield frame
        is_committed = True
        yield Commit(1)
        await is_written.wait()

    try:
        async with asyncio.timeout(TRANSCRIBE_S_MAX), reading(ears.listen(sound())) as heard:
            async for report in heard:
                if isinstance(report, Final):
                    texts[report.utterance] = report.text
                    if is_committed:
                        is_written.set()  # so that the ears end
    except Exception:  # noqa: BLE001 - ears may fail in their own way, and the client is told
        return " ".join(texts.values()) if is_written.is_set() else None
    return " ".join(text for text in texts.values() if text)
