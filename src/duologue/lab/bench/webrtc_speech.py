"""Measures how well the local STT transcribes speech over a network that loses and delays packets.

Rule: the same sentences, voice and STT are also measured without losses and delays, so the difference is due to the
network.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from duologue.ears.local import LocalEars
from duologue.lines.whole_sound import sound_at
from duologue.server.realtime.committed_audio import frames_of, transcribe
from duologue.voice.local import LocalVoice

from .webrtc import encoded, over_network

SENTENCES = (
    "I would like to book a table for four people on Friday evening.",
    "My order number is seven two nine four one.",
    "Could you please move the meeting to Thursday at three in the afternoon?",
    "The package has not arrived, and I would like to have my money back.",
    "Two tickets from London to Paris, one way, leaving next Monday.",
    "No, the second address is the right one.",
    "Please send the invoice to my new email address.",
    "How long does it take until the heating is repaired?",
)
_RATE_HZ = 16_000
_SILENCE = bytes(_RATE_HZ // 2 * 2)


def speech_numbers(loss: float, jitter_ms: int, seeds: int = 3) -> dict[str, float]:
    """The share of words that the STT gets wrong: over a network without losses and delays, and over one with this loss
    and jitter."""
    return asyncio.run(_measure(loss, jitter_ms, seeds))


async def _measure(loss: float, jitter_ms: int, seeds: int) -> dict[str, float]:
    ears, voice = LocalEars(), LocalVoice("en")
    words = clean = wrong = 0
    for sentence in SENTENCES:
        pieces = [sound_at(sound, 24_000) async for sound in voice.speak(sentence)]
        packets = encoded(b"".join(pieces), loss)
        words += len(plain_words(sentence)) * seeds
        direct = over_network(packets, 0.0, 0)[0]
        clean += word_errors(sentence, await _text(ears, direct)) * seeds
        for seed in range(seeds):
            wrong += word_errors(sentence, await _text(ears, over_network(packets, loss, jitter_ms, seed)[0]))
    return {"word_errors_clean": clean / words, "word_errors_network": wrong / words}


async def _text(ears: LocalEars, pcm: bytes) -> str:
    return await transcribe(ears, frames_of(_SILENCE + pcm + _SILENCE * 2, _RATE_HZ)) or ""


def plain_words(text: str) -> list[str]:
    return "".join(letter for letter in text.lower() if letter.isalnum() or letter == " ").split()


def word_errors(said: str, heard: str) -> int:
    """How many words must be changed, added or removed to turn one text into the other."""
    wanted, found = plain_words(said), plain_words(heard)
    row: Sequence[int] = range(len(found) + 1)
    for count, word in enumerate(wanted, 1):
        before, row = row, [count]
        for at, other in enumerate(found):
            row.append(min(before[at] + (word != other), before[at + 1] + 1, row[at] + 1))
    return row[-1]
