"""A neural voice on this machine: a Piper or Kokoro model that the user added, run by onnxruntime.

espeak-ng turns the text into phonemes, unless the model reads letters. A sentence is synthesised in parts, so that the
first part can be heard while the next is being made. Rule: if the stream is closed, the model stops after the graph
node that it is computing.
"""

from __future__ import annotations

import threading
from collections.abc import AsyncGenerator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing
from functools import partial
from typing import TYPE_CHECKING, Any

from duologue.core.leaves import ErrorClass
from duologue.models.added import SPEAKERS, AddedVoice, added_voice
from duologue.models.onnx_sessions import OnnxSession, UnusableModel, run_options, session
from duologue.ports.failure import ServiceError
from duologue.ports.sound import Sound, Word
from duologue.ports.voice import Voice

from .neural_text import PhonemeIds, inference_scales, parts_of, phoneme_ids, word_ends
from .sentence_thread import Send, read_sentence
from .speaking_style import PAUSE_MS, RATE_WPM, SpeakingStyle, pause_after

if TYPE_CHECKING:
    from .espeak import Library

GRAIN_MS = 20  # the length of a sound is a multiple of this
_PIECE_MS = 200
_DURATIONS = "/Ceil_output_0"  # the frames of each phoneme, a value within Piper's models
_THREADS = ThreadPoolExecutor(2, thread_name_prefix="neural")
_KOKORO_IDS_MAX = 510


class NeuralFailed(ServiceError):
    """A neural voice failed. The message never contains the spoken text."""

    is_own = True


class NeuralVoice(Voice):
    """Speaks with a voice that was added by `duologue models add`.

    `name` is the name under which the voice was added. `speaker` chooses one of the speakers if the model has several,
    by name or by number. `rate_wpm` and `sentence_pause_ms` are explained at `SpeakingStyle`.
    """

    joins_words = True

    def __init__(
        self,
        name: str,
        *,
        speaker: str | int | None = None,
        rate_wpm: int = RATE_WPM,
        sentence_pause_ms: int = PAUSE_MS,
    ) -> None:
        style = SpeakingStyle(rate_wpm=rate_wpm, sentence_pause_ms=sentence_pause_ms)
        self.voice = added_voice(name)
        self.model = _MODELS[self.voice.kind](self.voice, speaker, RATE_WPM / style.rate_wpm)
        self._pause_ms = style.sentence_pause_ms
        self._phonemes = phonemizer(self.voice)

    async def speak(self, text: str) -> AsyncGenerator[Sound, None]:
        """The sound of a text, piece by piece, with the times of its words."""
        if not any(map(str.isalnum, text)):
            return
        run = _Run()
        try:
            make = partial(self._make, text, run)
            async with aclosing(read_sentence(_THREADS, make, run.abort)) as sounds:
                async for sound in sounds:
                    yield sound
        finally:
            run.abort()

    def _make(self, text: str, run: _Run, send: Send) -> None:
        """Synthesise a text, part by part. Runs in a thread."""
        parts = parts_of(text)
        for number, part in enumerate(parts, start=1):
            ids = phoneme_ids(part, self.model.known, self._phonemes, self.model.pads)
            pcm, lengths = self.model.synthesise(ids, run)
            if run.is_aborted:
                return
            pause_ms = pause_after(part, self._pause_ms) if number == len(parts) else 0
            if not send(_sounds(part, ids, pcm, lengths, self.voice.rate_hz, pause_ms)):
                return


class _Run:
    """One synthesis, which can be aborted from another thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._options: Any = None
        self.is_aborted = False

    def abort(self) -> None:
        with self._lock:
            self.is_aborted = True
            if self._options is not None:
                self._options.terminate = True

    def of(self, model: OnnxSession, feed: dict[str, Any]) -> list[Any]:
        """Run a model and return its outputs. If the run is aborted, the list is empty."""
        with self._lock:
            if self.is_aborted:
                return []
            options = self._options = run_options()
        run: Callable[..., list[Any]] = model.run
        try:
            return run(None, feed, options)
        except Exception as failure:  # noqa: BLE001 - onnxruntime raises classes without a common base
            if self.is_aborted:
                return []
            raise NeuralFailed(ErrorClass.SERVER_ERROR, f"the neural voice failed ({type(failure).__name__})") from None


class _Piper:
    """Runs a Piper model."""

    pads = True

    def __init__(self, voice: AddedVoice, speaker: str | int | None, pace: float) -> None:
        config = voice.config()
        self.known: dict[str, list[int]] = config["phoneme_id_map"]
        self._scales = inference_scales(config, pace)
        self._speaker = _speaker_number(config, speaker, voice.name)
        path = voice.folder / "model.onnx"
        try:  # with the lengths of phonemes among the outputs
            self._session = session(path, (_DURATIONS,))
        except UnusableModel:
            self._session = session(path)
        self._inputs = {one.name for one in self._session.get_inputs()}
        if not {"input", "input_lengths", "scales"} <= self._inputs:
            raise UnusableModel(f"{path} isn't a Piper model: it has no inputs named input, input_lengths and scales")

    def synthesise(self, ids: PhonemeIds, run: _Run) -> tuple[Any, list[float]]:
        import numpy as np

        feed: dict[str, Any] = {
            "input": np.array([ids.ids], np.int64),
            "input_lengths": np.array([len(ids.ids)], np.int64),
            "scales": np.array(self._scales, np.float32),
        }
        if "sid" in self._inputs:
            feed["sid"] = np.array([self._speaker], np.int64)
        made = run.of(self._session, feed)
        return _audio(made)


class _Kokoro:
    """Runs a Kokoro model."""

    pads = False

    def __init__(self, voice: AddedVoice, speaker: str | int | None, pace: float) -> None:
        import numpy as np

        vocabulary: dict[str, int] = voice.config()["vocab"]
        self.known = {symbol: [number] for symbol, number in vocabulary.items() if symbol not in "^$_"}
        self._speed = 1 / pace
        with np.load(voice.folder / SPEAKERS) as styles:
            chosen = str(speaker) if speaker is not None else sorted(styles.files)[0]
            if chosen not in styles.files:
                raise ValueError(f"{voice.name} has no speaker {chosen!r}, only {', '.join(sorted(styles.files))}")
            self._styles = styles[chosen].astype(np.float32)
        self._session = session(voice.folder / "model.onnx")
        names = {one.name for one in self._session.get_inputs()}
        self._ids_name = "tokens" if "tokens" in names else "input_ids"
        if not {self._ids_name, "style", "speed"} <= names:
            raise UnusableModel(f"{voice.folder} isn't a Kokoro model: it has no inputs named tokens, style and speed")

    def synthesise(self, ids: PhonemeIds, run: _Run) -> tuple[Any, list[float]]:
        import numpy as np

        numbers = ids.ids[:_KOKORO_IDS_MAX]
        style = self._styles[min(len(numbers), len(self._styles) - 1)]
        feed = {
            self._ids_name: np.array([[0, *numbers, 0]], np.int64),
            "style": style.reshape(1, -1),
            "speed": np.array([self._speed], np.float32),
        }
        pcm, lengths = _audio(run.of(self._session, feed))
        return pcm, lengths[1:-1]


_MODELS: dict[str, type[_Piper] | type[_Kokoro]] = {"piper": _Piper, "kokoro": _Kokoro}


def _audio(made: list[Any]) -> tuple[Any, list[float]]:
    """The samples, from -1 to 1, and the duration of each phoneme. The list of durations is empty if the model doesn't
    return any."""
    import numpy as np

    if not made:
        return np.zeros(0, np.float32), []
    samples = np.nan_to_num(np.asarray(made[0], np.float32).reshape(-1))
    lengths = [float(one) for one in np.asarray(made[1]).reshape(-1)] if len(made) > 1 else []
    return samples, lengths


def _sounds(part: str, ids: PhonemeIds, samples: Any, lengths: list[float], rate_hz: int, pause_ms: int) -> list[Sound]:
    """The audio of one part of a text, cut into sounds. Each sound lists the words that end in it."""
    import numpy as np

    words = part.split()
    ends = [-(-end * 1000 // rate_hz) for end in word_ends(ids.owners, lengths, len(words), len(samples))]
    starts = [0, *ends[:-1]]
    pcm = (np.clip(samples, -1, 1) * 32_767).astype("<i2").tobytes() + bytes(rate_hz * pause_ms // 1000 * 2)
    grain = rate_hz * GRAIN_MS // 1000 * 2
    pcm += bytes(-len(pcm) % grain)
    total_ms, sounds, next_word = len(pcm) // grain * GRAIN_MS, [], 0
    for at_ms in range(0, total_ms, _PIECE_MS):
        ms = min(_PIECE_MS, total_ms - at_ms)
        ended = []
        while next_word < len(words) and ends[next_word] <= at_ms + ms:
            ended.append(Word(words[next_word], starts[next_word] - at_ms, ends[next_word] - at_ms))
            next_word += 1
        piece = pcm[at_ms // GRAIN_MS * grain : (at_ms + ms) // GRAIN_MS * grain]
        sounds.append(Sound(ms, piece, rate_hz, tuple(ended)))
    return sounds


def _speaker_number(config: dict[str, Any], speaker: str | int | None, name: str) -> int:
    names: dict[str, int] = config.get("speaker_id_map") or {}
    count = int(config.get("num_speakers") or 1)
    if speaker is None:
        return 0
    if isinstance(speaker, str) and speaker in names:
        return names[speaker]
    if type(speaker) is int and 0 <= speaker < count:
        return speaker
    known = ", ".join(names) or f"the numbers 0 to {count - 1}"
    raise ValueError(f"{name} has no speaker {speaker!r}; its speakers are {known}")


def phonemizer(voice: AddedVoice) -> Callable[[str], str] | None:
    """The function that turns a clause into IPA (phonetic letters); None if the model reads ordinary letters. Raises
    ModelMissing if espeak-ng isn't installed."""
    if not voice.espeak_voice:
        return None
    from .espeak import find_library

    library: Library = find_library(None)
    return lambda clause: library.phonemes(clause, voice.espeak_voice)
