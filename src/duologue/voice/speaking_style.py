"""How a local voice speaks: its speed, its pitch and the pause after a sentence.

Rule: if an engine doesn't support a setting, creating the voice fails.
"""

from __future__ import annotations

from dataclasses import dataclass

RATE_WPM, PITCH, PAUSE_MS = 165, 100, 120
PART_PAUSE_MS = 20  # after a part of a sentence; PAUSE_MS would sound like the end of the sentence
RATE_WPM_MIN, RATE_WPM_MAX = 80, 450
PITCH_MIN, PITCH_MAX = 50, 200
PAUSE_MS_MAX = 5_000


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeakingStyle:
    """How a local voice speaks. `rate_wpm` is the speed in words per minute, measured with English text. Other
    languages are spoken at the same pace. `pitch` is in percent of the voice's own pitch. `sentence_pause_ms` is the
    silence at the end of every sentence."""

    rate_wpm: int = RATE_WPM
    pitch: int = PITCH
    sentence_pause_ms: int = PAUSE_MS

    def __post_init__(self) -> None:
        for name, lowest, highest, unit in (
            ("rate_wpm", RATE_WPM_MIN, RATE_WPM_MAX, " words per minute"),
            ("pitch", PITCH_MIN, PITCH_MAX, " percent"),
            ("sentence_pause_ms", 0, PAUSE_MS_MAX, " milliseconds"),
        ):
            value = getattr(self, name)
            if type(value) is not int or not lowest <= value <= highest:
                raise ValueError(f"{name} must be from {lowest} to {highest}{unit}, not {value!r}")


def pause_after(text: str, sentence_pause_ms: int) -> int:
    """The length of the silence after a text. If the text ends with a punctuation mark, it is the pause after a
    sentence. Otherwise it is very short, because the sentence continues."""
    ends = text.rstrip(" \"')]\u201d\u2019\u00bb")[-1:]
    return sentence_pause_ms if not ends.isalnum() else min(PART_PAUSE_MS, sentence_pause_ms)
