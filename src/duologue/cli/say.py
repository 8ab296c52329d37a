"""`duologue say`: speaks a text with espeak-ng, or a voice that the user added, into a WAV file. With
`--json`, also prints the time of every word.

Rule: the file is written when the audio is complete, so a failing voice leaves no file behind.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Annotated

import typer

from duologue.core.errors import DuologueError
from duologue.ports import Sound, Voice, Word

from .json_output import JsonOption, write_json
from .terminal_style import write_ms


def say_command(
    text: Annotated[str, typer.Argument(help="The text to speak.")],
    out: Annotated[Path, typer.Option("--out", help="Write the audio to this WAV file.")],
    voice: Annotated[
        str, typer.Option(help="An espeak-ng voice, such as en-us, de or en-us+f4, or one from `duologue models add`.")
    ] = "en-us",
    rate: Annotated[int, typer.Option(min=80, max=450, help="The speed in words per minute.")] = 170,
    as_json: JsonOption = False,
) -> None:
    """Speak a text into a WAV file."""
    try:
        from duologue.audio.wav import write_wav
    except ModuleNotFoundError as missing:
        raise DuologueError(str(missing)) from None
    sounds = asyncio.run(_speak(_voice_of(voice, rate), text))
    if not sounds:
        raise DuologueError("the text is empty: there is nothing to speak")
    words = _words(sounds)
    ms = sum(sound.ms for sound in sounds)
    try:
        write_wav(out, b"".join(sound.pcm for sound in sounds), sounds[0].rate_hz)
    except OSError as error:
        raise DuologueError(f"{out}: {error.strerror}") from None
    if as_json:
        timed = [{"text": word.text, "start_ms": word.start_ms, "end_ms": word.end_ms} for word in words]
        write_json({"file": str(out), "ms": ms, "words": timed})
    else:
        sys.stdout.write(f"{out}: {write_ms(ms)}, {len(words)} word{'s' if len(words) > 1 else ''}\n")


def _voice_of(name: str, rate: int) -> Voice:
    from duologue.models.added import added_voices

    if any(added.name == name for added in added_voices()):
        from duologue.voice.neural import NeuralVoice

        return NeuralVoice(name, rate_wpm=rate)
    from duologue.voice.espeak import EspeakVoice

    return EspeakVoice(name, rate)


async def _speak(voice: Voice, text: str) -> list[Sound]:
    return [sound async for sound in voice.speak(text)]


def _words(sounds: list[Sound]) -> list[Word]:
    """All words, with times from the beginning of the file."""
    words, at_ms = [], 0
    for sound in sounds:
        words += [Word(word.text, word.start_ms + at_ms, word.end_ms + at_ms) for word in sound.words]
        at_ms += sound.ms
    return words
