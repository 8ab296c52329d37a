"""Speech to text with the model Moonshine. It consists of an encoder, and a decoder that writes one token after
another.

The model transcribes a piece of audio as a whole; `dictation` uses it for audio that is still growing. A caller can
pass a draft, usually the previous transcript. The draft is checked in one run of the decoder, which takes a fraction of
the time that writing it again token by token would take. Rule: a draft saves time but never changes the result.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from .model_input import RATE_HZ, NDArray, OnnxSession, Samples, UnusableAudio, checked, find_file, np, session
from .token_vocabulary import Vocabulary, WrittenWord, read_vocabulary

SAMPLES_MIN = RATE_HZ // 4  # the encoder needs this much; shorter audio is padded with silence
SAMPLES_MAX = 30 * RATE_HZ
TOKENS_PER_S_MAX = 9  # speech is never faster, so in a longer transcript the model is repeating itself
TOKENS_SPARE = 3
_START, _END = 1, 2
_DRAFTS_MAX = 4  # the most checks of one draft, each one run of the decoder
_DRAFT_TOKENS_MIN = 3  # writing fewer tokens is faster than checking them again
_LOOP_TOKENS_MAX = 12
# For each length of a repeated part, in tokens: how many times in a row are a loop. The same token four times isn't a
# loop; the same five tokens three times are one.
_LOOP_TIMES = {1: 7, 2: 5, 3: 4, 4: 4}
_LOOP_TIMES_LONG = 3
_LOOP_TIMES_PER_S = 4  # people don't repeat themselves faster than this
_LOOP_DOUBT = 0.5  # the confidence of a looped transcript is multiplied by this
_SPEECHLESS = ("You",)  # what the tiny model writes, without a full stop, for audio without speech

Size = Literal["tiny", "base"]
PARTIAL_MS: dict[Size, int] = {"tiny": 288, "base": 768}  # how often one core can transcribe growing audio


@dataclass(frozen=True, slots=True)
class Transcription:
    """The transcript of a piece of audio. `confidence` estimates the share of words that are right."""

    text: str
    confidence: float
    words: tuple[WrittenWord, ...] = ()
    tokens: tuple[int, ...] = ()
    looped: bool = False
    """The model repeated itself endlessly and was stopped."""
    decoder_runs: int = field(default=0, compare=False)
    """How many times the decoder ran. A good draft makes this number smaller."""


NOTHING = Transcription("", 0.0)


@dataclass(frozen=True, slots=True)
class _Loaded:
    encoder: OnnxSession
    decoder: OnnxSession
    vocabulary: Vocabulary
    empty: dict[str, NDArray[np.float32]]  # the decoder's cache before the first token
    outputs: tuple[str, ...]  # the names of the outputs of the first run
    steps: tuple[
        str, ...
    ]  # the outputs of later runs, without the part of the cache for the audio, which never changes
    masked: bool


class Moonshine:
    """The speech-to-text model. It keeps no state between calls, so all conversations can share one object."""

    languages = frozenset({"en"})

    def __init__(self, size: Size = "tiny", folder: Path | None = None) -> None:
        self.name = model = f"moonshine-{size}"
        self._files = [find_file(model, [f"{part}.ort", f"{part}.onnx"], folder) for part in ("encoder", "decoder")] + [
            find_file(model, ["tokenizer.bin", "tokenizer.json"], folder)
        ]
        self.partial_ms = PARTIAL_MS[size]
        self._loaded: _Loaded | None = None
        self._loading = threading.Lock()

    def load(self) -> None:
        """Load the model now rather than when the first words are transcribed."""
        self.transcribe(np.zeros(SAMPLES_MIN, np.float32))

    def transcribe(self, audio: Samples, draft: Sequence[int] = ()) -> Transcription:
        """The transcript of this audio, which must have a sample rate of 16 kHz. `draft` contains tokens with which the
        transcript will probably start."""
        if checked(audio).size > SAMPLES_MAX:
            raise UnusableAudio(
                f"{audio.size // RATE_HZ} s of audio is too long: transcribe at most {SAMPLES_MAX // RATE_HZ} s"
            )
        if not audio.size:
            return NOTHING
        return _Decoding(self._model(), np.pad(audio, (0, max(0, SAMPLES_MIN - audio.size)))).run(draft)

    @property
    def vocabulary(self) -> Vocabulary:
        """The texts of the tokens. Reading this property loads the model."""
        return self._model().vocabulary

    def _model(self) -> _Loaded:
        with self._loading:
            if self._loaded is None:
                self._loaded = _load(*self._files)
            return self._loaded


def _load(encoder: Path, decoder: Path, vocabulary: Path) -> _Loaded:
    writer = session(decoder)
    inputs = writer.get_inputs()
    outputs = [output.name for output in writer.get_outputs()]
    return _Loaded(
        session(encoder),
        writer,
        read_vocabulary(vocabulary),
        {
            given.name: np.zeros((1, given.shape[1], 0, given.shape[3]), np.float32)
            for given in inputs
            if given.name.startswith("past_key_values")
        },
        tuple(outputs),
        tuple(name for name in outputs if ".encoder." not in name),
        any(given.name == "encoder_attention_mask" for given in inputs),
    )


class _Decoding:
    """The transcription of one piece of audio, while it is being written."""

    def __init__(self, model: _Loaded, audio: Samples) -> None:
        self._model = model
        self._tokens: list[int] = []
        self._sure: list[float] = []
        self._looped = False
        self._runs = 0
        self._tokens_max = audio.size * TOKENS_PER_S_MAX // RATE_HZ + TOKENS_SPARE
        self._times_max = audio.size * _LOOP_TIMES_PER_S // RATE_HZ
        self._past: dict[str, NDArray[np.float32]] = {}
        # The model declares both masks with one entry for each sample. On long audio, only masks of that length work.
        mask = np.ones((1, audio.size), np.int64)
        given: dict[str, Any] = {"input_values": audio[None]}
        if model.masked:
            given["attention_mask"] = mask
        (hidden,) = model.encoder.run(None, given)
        self._fixed: dict[str, Any] = {"encoder_hidden_states": hidden}
        if model.masked:
            self._fixed["encoder_attention_mask"] = mask

    def run(self, draft: Sequence[int]) -> Transcription:
        self._check(draft[: self._tokens_max])
        while self._tokens[-1] != _END and not self._is_looping() and len(self._tokens) < self._tokens_max:
            self._step()
        if self._tokens[-1] == _END:
            self._tokens.pop()
        return self._transcript()

    def _check(self, draft: Sequence[int]) -> None:
        """Check the whole draft in one run of the decoder, and keep its start, up to the first token that the model
        would not have written. If much of the draft follows that token, correct the token (such as a comma that became
        a full stop) and check the draft again."""
        draft = list(draft)
        for _ in range(_DRAFTS_MAX):
            logits = self._decode([_START, *draft], self._model.outputs, cached=False)
            best = logits.argmax(axis=1)
            kept = next((at for at, token in enumerate(draft) if token != best[at]), len(draft))
            if len(draft) - kept <= _DRAFT_TOKENS_MIN or best[kept] == _END:
                break
            draft[kept] = int(best[kept])
        for place in range(kept + 1):
            self._add(logits[place], int(best[place]))
        if kept < len(draft):
            self._past = {
                name: value if ".encoder." in name else np.ascontiguousarray(value[:, :, : kept + 1])
                for name, value in self._past.items()
            }

    def _step(self) -> None:
        logits = self._decode([self._tokens[-1]], self._model.steps, cached=True)[-1]
        self._add(logits, int(logits.argmax()))

    def _decode(self, tokens: list[int], outputs: Sequence[str], cached: bool) -> NDArray[np.float32]:
        given = {"input_ids": np.array([tokens], np.int64), "use_cache_branch": np.array([cached])}
        past = self._past if cached else self._model.empty
        self._runs += 1
        found = self._model.decoder.run(outputs, given | self._fixed | past)
        for name, value in zip(outputs[1:], found[1:], strict=True):
            self._past[name.replace("present", "past_key_values")] = value
        logits: NDArray[np.float32] = found[0][0]
        return logits

    def _add(self, logits: NDArray[np.float32], token: int) -> None:
        self._tokens.append(token)
        self._sure.append(1 / float(np.exp(logits - logits[token]).sum()))

    def _is_looping(self) -> bool:
        """Has the model begun to repeat itself endlessly? If so, the repetitions are deleted from the tokens, and the
        transcript ends there."""
        spare = repeated_tokens(self._tokens, self._times_max)
        if spare:
            del self._tokens[-spare:], self._sure[-spare:]
            self._looped = True
        return self._looped

    def _transcript(self) -> Transcription:
        tokens = tuple(self._tokens)
        worth = _LOOP_DOUBT if self._looped else 1.0
        words = self._model.vocabulary.words(tokens, tuple(sure * worth for sure in self._sure))
        text = " ".join(word.text for word in words)
        if not words or text in _SPEECHLESS:
            return NOTHING
        return Transcription(text, mean_confidence(words), words, tokens, self._looped, self._runs)


def mean_confidence(words: Sequence[WrittenWord]) -> float:
    """The mean confidence of these words; 0 for no words."""
    return sum(word.confidence for word in words) / len(words) if words else 0.0


def repeated_tokens(tokens: Sequence[int], times_max: int) -> int:
    """How many tokens at the end only repeat the tokens before them: 6 if the last seven tokens are the same. 0 if
    there are so few repetitions that a person may really have said them. `times_max` limits how many repetitions are
    allowed; it is smaller for short audio."""
    for size in range(1, _LOOP_TOKENS_MAX + 1):
        times = min(_LOOP_TIMES.get(size, _LOOP_TIMES_LONG), max(2, times_max))
        span = size * times
        if len(tokens) >= span and all(tokens[-at] == tokens[-at - size] for at in range(1, span - size + 1)):
            return span - size
    return 0
