"""The local voice: picks the best voice on this machine that speaks a language. It needs neither an API key nor a
network.

A neural voice that the user added (`duologue models add`) comes first. SVOX Pico speaks English, German, Spanish,
French and Italian. espeak-ng speaks all other languages. Installing Pico requires a C compiler; where Pico can't be
installed, espeak-ng speaks these five languages too. Rule: if espeak-ng is used in place of Pico, or if an added voice
can't be used, one line in the log says so.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

from duologue.core.errors import DuologueError
from duologue.ports.sound import Sound
from duologue.ports.voice import Voice

from .espeak import RATE_WPM as ESPEAK_RATE_WPM
from .espeak import EspeakVoice
from .pico import PicoVoice, voice_language
from .speaking_style import PAUSE_MS, PITCH, RATE_WPM, RATE_WPM_MIN, SpeakingStyle

if TYPE_CHECKING:
    from duologue.models.added import AddedVoice

    from .neural import NeuralVoice

PICO, ESPEAK = "svox-pico", "espeak-ng"
_LOG = logging.getLogger("duologue.voice")
_ESPEAK_NAMES = {"en": "en-us", "en-US": "en-us", "en-GB": "en-gb", "pt-BR": "pt-br", "zh": "cmn", "no": "nb"}
"""The espeak-ng voices whose name differs from the code of the language."""


def voice_model(language: str) -> str:
    """The name of the model that speaks this language on this machine. The model may still have to be pulled."""
    from duologue.models.cache import is_present
    from duologue.models.catalogue import MODELS, runs_here
    from duologue.models.compile import find_compiler

    if not voice_language(language):
        return ESPEAK
    can_be_pulled = runs_here(MODELS[PICO]) and bool(find_compiler())
    return PICO if can_be_pulled or is_present(PICO) else ESPEAK


def espeak_name(language: str) -> str:
    """The espeak-ng voice for a language code such as "nl" or "pt-BR"."""
    code = language.replace("_", "-")
    return _ESPEAK_NAMES.get(code) or _ESPEAK_NAMES.get(code.partition("-")[0]) or code.partition("-")[0].lower()


class LocalVoice(Voice):
    """Speaks with the best local voice for the language. This is a neural voice, if the user added one for the
    language. Otherwise it is SVOX Pico, if Pico speaks the language and is available. Otherwise it is espeak-ng.

    `language` is a code such as "de" or "en-GB"; by default, it is the agent's language. `rate_wpm`, `pitch` and
    `sentence_pause_ms` are explained at `SpeakingStyle`. If the model of the voice wasn't pulled, the agent can't be
    created, and the error names the missing model.
    """

    joins_words = True

    def __init__(
        self,
        language: str | None = None,
        *,
        rate_wpm: int = RATE_WPM,
        pitch: int = PITCH,
        sentence_pause_ms: int = PAUSE_MS,
    ) -> None:
        self._style = SpeakingStyle(rate_wpm=rate_wpm, pitch=pitch, sentence_pause_ms=sentence_pause_ms)
        self._engine = _choose(language, self._style) if language is not None else None

    @property
    def engine(self) -> NeuralVoice | PicoVoice | EspeakVoice:
        """The voice that makes the sound; it is made when this is first read. If no language was chosen, it is an
        English voice."""
        if self._engine is None:
            self._engine = _choose("en", self._style)
        return self._engine

    def in_language(self, language: str) -> LocalVoice:
        """A voice for an agent that speaks this language. If a language was already chosen for this voice, the voice
        itself is returned."""
        if self._engine is not None:
            return self
        style = self._style
        return LocalVoice(
            language, rate_wpm=style.rate_wpm, pitch=style.pitch, sentence_pause_ms=style.sentence_pause_ms
        )

    def load(self) -> None:
        """Start the engine now, so that the first sentence needn't wait for it."""
        if isinstance(self.engine, PicoVoice):
            self.engine.load()

    def speak(self, text: str) -> AsyncIterator[Sound]:
        """The sound of a text, sentence by sentence."""
        return self.engine.speak(text)


def added_for(language: str) -> AddedVoice | None:
    """The neural voice that the user added for this language; None if no such voice was added. A voice for the same
    region, such as "de-AT", is preferred. Otherwise any voice of the language is used."""
    from duologue.models.added import added_voices

    wanted = language.replace("_", "-").lower()
    voices = [voice for voice in added_voices() if voice.language.lower().split("-")[0] == wanted.split("-")[0]]
    return next((voice for voice in voices if voice.language.lower() == wanted), voices[0] if voices else None)


def _choose(language: str, style: SpeakingStyle) -> NeuralVoice | PicoVoice | EspeakVoice:
    from duologue.models.cache import ModelMissing, is_present

    if (added := added_for(language)) is not None and style.pitch == PITCH:
        from .neural import NeuralVoice

        try:
            return NeuralVoice(added.name, rate_wpm=style.rate_wpm, sentence_pause_ms=style.sentence_pause_ms)
        except (DuologueError, ModuleNotFoundError, ValueError) as problem:
            _LOG.warning("the added voice %s can't be used: %s", added.name, problem)
    is_pico, wanted = bool(voice_language(language)), voice_model(language)
    if is_pico and is_present(PICO):
        return PicoVoice(
            language, rate_wpm=style.rate_wpm, pitch=style.pitch, sentence_pause_ms=style.sentence_pause_ms
        )
    if not is_present(ESPEAK):
        raise ModelMissing(wanted)
    if is_pico:
        _say_that_espeak_stands_in(wanted)
    rate_wpm = max(RATE_WPM_MIN, round(style.rate_wpm * ESPEAK_RATE_WPM / RATE_WPM))
    return EspeakVoice(espeak_name(language), rate_wpm, pitch=style.pitch, sentence_pause_ms=style.sentence_pause_ms)


def _say_that_espeak_stands_in(wanted: str) -> None:
    remedy = "run `duologue models pull svox-pico`" if wanted == PICO else "it needs a C compiler"
    _LOG.warning("espeak-ng is used, because the better voice svox-pico isn't available: %s", remedy)
