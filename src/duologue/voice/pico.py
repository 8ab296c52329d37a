"""SVOX Pico as a voice: soft and fast, with six voices in five languages, under the Apache licence.

The engine runs in helper processes. It reports no word times, so they are later estimated from the text. Rule: if a
sentence is aborted, at most the piece of sound that is being made is wasted.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path

from duologue.core.leaves import ErrorClass
from duologue.ports.sound import Sound
from duologue.ports.voice import Voice

from .pico_process import RATE_HZ, Engines, Levels, PicoFailed, PicoProcess, engines_of
from .pico_text import parts, speakable
from .sentence_edges import SentenceEdges
from .sentence_thread import Send, read_sentence
from .sentences import Sentences
from .speaking_style import PAUSE_MS, PITCH, RATE_WPM, SpeakingStyle, pause_after

GRAIN_MS = 20  # the length of a sound is a multiple of this
PART_PAUSE_MS = 100  # after a part of a long sentence
LANGUAGES = {
    "en-US": "en-US_ta.bin\0en-US_lh0_sg.bin",
    "en-GB": "en-GB_ta.bin\0en-GB_kh0_sg.bin",
    "de-DE": "de-DE_ta.bin\0de-DE_gl0_sg.bin",
    "es-ES": "es-ES_ta.bin\0es-ES_zl0_sg.bin",
    "fr-FR": "fr-FR_ta.bin\0fr-FR_nk0_sg.bin",
    "it-IT": "it-IT_ta.bin\0it-IT_cm0_sg.bin",
}
"""The files of the voice for each language."""
_BRITISH = frozenset(("GB", "UK", "IE", "AU", "NZ", "ZA", "IN"))
_NATURAL_WPM = 200  # the speed at level 100: measured on English text, with its pauses
_VOLUME = 55  # at level 100 loud vowels are clipped
_HALVED_CHARS_MIN = 20
_GRAIN_BYTES = RATE_HZ * GRAIN_MS // 1000 * 2


def voice_language(language: str) -> str:
    """The language code of the Pico voice that speaks this language, such as "de-DE" for "de-AT". Empty if Pico doesn't
    speak the language."""
    base, _, region = language.replace("_", "-").partition("-")
    if base.lower() == "en":
        return "en-GB" if region.upper() in _BRITISH else "en-US"
    return next((known for known in LANGUAGES if known.startswith(f"{base.lower()}-")), "")


class PicoVoice(Voice):
    """Speaks with SVOX Pico.

    `language` is a code such as "en-GB" or "de". Pico speaks English, German, Spanish, French and Italian. `rate_wpm`,
    `pitch` and `sentence_pause_ms` are explained at `SpeakingStyle`. `folder` is the model's folder; by default, it is
    the folder that `duologue models pull svox-pico` creates. In simulated time there are no threads, and synthesis
    takes no time.
    """

    joins_words = True

    def __init__(
        self,
        language: str = "en-US",
        *,
        rate_wpm: int = RATE_WPM,
        pitch: int = PITCH,
        sentence_pause_ms: int = PAUSE_MS,
        folder: Path | str | None = None,
    ) -> None:
        style = SpeakingStyle(rate_wpm=rate_wpm, pitch=pitch, sentence_pause_ms=sentence_pause_ms)
        self.language = voice_language(language)
        if not self.language:
            raise ValueError(
                f"Pico doesn't speak {language!r}, only {', '.join(LANGUAGES)}: use EspeakVoice or a service"
            )
        levels = Levels(round(100 * style.rate_wpm / _NATURAL_WPM), style.pitch, _VOLUME)
        self._spoken = _Spoken(LANGUAGES[self.language], levels, style.sentence_pause_ms)
        self._engines = engines_of(_find_folder(folder))

    def load(self) -> None:
        """Start an engine now, so that the first sentence needn't wait for it."""
        self._engines.threads.submit(_SpokenSentence(self._engines, self._spoken, "a").make, lambda _: False)

    async def speak(self, text: str) -> AsyncGenerator[Sound, None]:
        """The sound of a text, sentence by sentence."""
        sentences = Sentences()
        for sentence in (*sentences.feed(text), sentences.rest()):
            if plain := speakable(sentence):
                made = _SpokenSentence(self._engines, self._spoken, plain)
                async with aclosing(read_sentence(self._engines.threads, made.make, made.end)) as sounds:
                    async for sound in sounds:
                        yield sound


@dataclass(frozen=True, slots=True)
class _Spoken:
    """The files, levels and pause with which a voice speaks, as the engine expects them."""

    files: str
    levels: Levels
    pause_ms: int


class _SpokenSentence:
    """Synthesises one sentence with one engine."""

    def __init__(self, engines: Engines, spoken: _Spoken, text: str) -> None:
        self._engines, self._spoken, self._text = engines, spoken, text
        self._process: PicoProcess | None = None
        self._pcm = bytearray()  # less than a grain

    def end(self) -> None:
        """End the engine's process. Called when the engine hangs."""
        if self._process is not None:
            self._process.kill()

    def make(self, send: Send) -> None:
        """Synthesise the sentence, part by part."""
        self._process = self._engines.mine()
        *inner, last = parts(self._text)
        for part in inner:
            if not self._say(part, PART_PAUSE_MS, send):
                return
        if self._say(last, pause_after(last, self._spoken.pause_ms), send):
            self._pcm += bytes(-len(self._pcm) % _GRAIN_BYTES)
            send(self._whole_grains())

    def _say(self, text: str, pause_ms: int, send: Send) -> bool:
        """Say a part of the sentence. If the engine fails on this part before it makes any sound, the part is said in
        two halves. Returns False if the reader has stopped reading."""
        assert self._process is not None
        edges, goes_on, has_sound = SentenceEdges(RATE_HZ, pause_ms), True, False

        def take(pcm: bytes) -> bool:
            nonlocal goes_on, has_sound
            has_sound = has_sound or bool(pcm)
            self._pcm += edges.take(pcm)
            goes_on = send(self._whole_grains())
            return goes_on

        try:
            self._process.speak(text, self._spoken.files, self._spoken.levels, take)
        except PicoFailed:
            halves = parts(text, len(text) // 2 + 1)
            if has_sound or len(text) < _HALVED_CHARS_MIN or len(halves) < 2:
                raise
            return all(self._say(half, pause_ms, send) for half in halves)
        self._pcm += edges.rest()
        return goes_on

    def _whole_grains(self) -> list[Sound]:
        count = len(self._pcm) // _GRAIN_BYTES
        pcm = bytes(self._pcm[: count * _GRAIN_BYTES])
        del self._pcm[: count * _GRAIN_BYTES]
        return [Sound(count * GRAIN_MS, pcm, RATE_HZ)] if count else []


def _find_folder(folder: Path | str | None) -> Path:
    if folder is None:
        from duologue.models.cache import model_path

        return model_path("svox-pico")
    if not (Path(folder) / "lang").is_dir():
        raise PicoFailed(
            ErrorClass.INVALID_ARGS, f"{folder} isn't the folder of the model svox-pico: pass another folder"
        )
    return Path(folder).absolute()
