"""Ears that run on this computer: Silero detects speech, Moonshine transcribes it, and Smart Turn judges whether a turn
is over.

Silero runs on the event loop. If there are several conversations, all frames that arrive within a few milliseconds are
handled by one run of the model. Every other model runs in a thread. Onsets (the first signs of speech) and ends of
speech are reported as soon as they are known, without waiting for text. Texts are reported in the order in which they
were said. The pure state machine in `stream.py` decides when an utterance begins and ends, when a model runs, and what
is reported. Rule: when the computer is too slow, partial transcripts are skipped, but final transcripts never are.
Every onset gets exactly one final transcript, unless its audio is discarded.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import asdict, replace
from typing import Any, Literal

from duologue.ports.ears import Heard, Incoming
from duologue.ports.words import WordService

from .dictation import Transcribes
from .echo_canceller import is_default
from .final_model import FinalChoice, FinalModel
from .local_stream import LocalStream, Models
from .model_input import Samples
from .model_threads import ModelThreads, shared_threads
from .moonshine import Moonshine, Transcription
from .noise_suppressor import NoiseSuppressor
from .silero import SileroVad
from .smart_turn import SmartTurn
from .speech_gate import GateRule
from .stream_state import StreamSettings, TextPace
from .threaded_vad import VoiceDetector

BASE_MS_MAX = 2_000  # if `base` was chosen, its final text may take this long


class LocalEars:
    """VAD, STT and end-of-turn detection on this computer, for any number of conversations at once. The default model
    transcribes English.

    With `cancels_echo`, the agent's echo is removed before transcribing. By default, it is removed if `duologue[echo]`
    is installed and the plugins of `duologue[livekit]` aren't, because these plugins install the same package. If
    `judges_turns` is false, no end-of-turn model runs.

    `final_model` chooses the model for final texts. `tiny` is the default. `base` is more accurate, and is downloaded
    in the background if it is missing. `auto` uses `base` if it is installed and fast enough. `doubt` uses `tiny`, and
    asks `base`, if it is installed, about doubtful sounds: sounds that may not be speech, and clear voices in which
    `tiny` found no word. The detection of turn ends was tuned with the texts of `tiny`, which is also the default of
    `stt`.

    `words` is a service that transcribes everything instead of `stt`, such as `PluginEars(deepgram.STT())`. With
    `turn_end="service"`, a turn also ends when the service says so. `noise_suppressor` is a class or function, such as
    `WebrtcNoiseSuppressor`. For each conversation, it makes an object that removes noise before transcribing. It is off
    by default, because transcripts had more errors with it in measurements.
    """

    def __init__(
        self,
        stt: Transcribes | None = None,
        vad: Callable[[], VoiceDetector] = SileroVad,
        turn: SmartTurn | None = None,
        *,
        judges_turns: bool = True,
        cancels_echo: bool | None = None,
        rule: GateRule | None = None,
        threads: ModelThreads | None = None,
        final_model: FinalChoice = "tiny",
        words: WordService | None = None,
        turn_end: Literal["local", "service"] = "local",
        noise_suppressor: Callable[[], NoiseSuppressor] | None = None,
    ) -> None:
        _check_words(words, stt, final_model, turn_end)
        final = FinalModel(final_model)
        stt = stt or (Moonshine() if words is None else NoModel())
        # The first partial transcript comes early, so that short words are known soon.
        pace = TextPace(stt.partial_ms // 2, stt.partial_ms)
        settings = StreamSettings(rule or GateRule(), pace)
        if final.choice == "base":
            settings = replace(settings, refine_ms_max=BASE_MS_MAX)
        self._models = Models(
            stt,
            vad,
            turn or (SmartTurn() if judges_turns else None),
            settings,
            threads or shared_threads(),
            is_default() if cancels_echo is None else cancels_echo,
            final,
            words=words,
            turn_end_by_service=turn_end == "service",
            noise_suppressor=noise_suppressor,
        )
        vad()  # a missing model raises now, not in the first call
        _check_suppressor(noise_suppressor)
        self._is_loaded = False

    def load(self) -> None:
        """Load the models now, in this thread, rather than in the first conversation."""
        self._models.vad().load()
        self._models.stt.load()
        if self._models.turn is not None:
            self._models.turn.load()
        self._models.final.load()
        self._is_loaded = True

    @property
    def is_ready(self) -> bool:
        """Are the models loaded?"""
        return self._is_loaded

    async def prepare(self) -> None:
        """Load the models in a thread, if they aren't loaded."""
        if not self._is_loaded:
            await asyncio.to_thread(self.load)

    @property
    def languages(self) -> frozenset[str] | None:
        """The codes of the languages that the STT model transcribes; None if the model doesn't say."""
        return getattr(self._models.words or self._models.stt, "languages", None)

    @property
    def settings(self) -> dict[str, Any]:
        """The names and all settings of the models, to be written to a journal."""
        models = self._models
        return {
            "vad": getattr(models.vad, "__name__", type(models.vad).__name__),
            "stt": getattr(models.stt, "name", type(models.stt).__name__),
            "words": None if models.words is None else getattr(models.words, "settings", type(models.words).__name__),
            "turn_end": "service" if models.turn_end_by_service else "local",
            "turn": type(models.turn).__name__ if models.turn is not None else None,
            "cancels_echo": models.cancels_echo,
            "noise_suppressor": None if models.noise_suppressor is None else type(models.noise_suppressor()).__name__,
            **models.final.status,
            **asdict(models.settings),
        }

    async def listen(self, audio: AsyncIterator[Incoming]) -> AsyncIterator[Heard]:
        """Yield what is heard in this audio, as soon as it is known. Ends when the audio ends."""
        self._models.final.start()
        stream = LocalStream(self._models)
        tasks = [asyncio.ensure_future(stream.read(audio)), asyncio.ensure_future(stream.write())]
        for task in tasks:
            task.add_done_callback(stream.heard.close)
        try:
            while (heard := await stream.heard.get()) is not None:
                yield heard
        finally:
            for task in tasks:
                task.cancel()
            stream.stop()
            await asyncio.gather(*tasks, return_exceptions=True)


class NoModel:
    """Stands in for the STT model in ears that get their words from a service."""

    partial_ms = 288

    def load(self) -> None:
        """Do nothing: there is no model to load."""

    def transcribe(self, audio: Samples, draft: Sequence[int] = ()) -> Transcription:  # noqa: ARG002
        raise AssertionError("there is no local STT model: these ears get their text from a service")


def _check_suppressor(make: Callable[[], NoiseSuppressor] | None) -> None:
    """Raise an error if this isn't a class or function that makes a noise suppressor, or if its package isn't
    installed."""
    if make is None:
        return
    if not callable(make) or not hasattr(make(), "feed"):
        raise TypeError(
            "noise_suppressor must be a class or function that makes objects with `feed`, such as WebrtcNoiseSuppressor"
        )


def _check_words(words: WordService | None, stt: Transcribes | None, final_model: str, turn_end: str) -> None:
    """Raise an error if these settings contradict each other."""
    if turn_end not in ("local", "service"):
        raise ValueError(f"turn_end={turn_end!r}: choose local or service")
    if words is None:
        if turn_end == "service":
            raise ValueError("turn_end='service' needs a service that writes the words: pass words=PluginEars(...)")
        return
    if not isinstance(words, WordService):
        raise TypeError(f"words takes a service with open_words, such as PluginEars(...), not {type(words).__name__}")
    if stt is not None or final_model != "tiny":
        raise ValueError("words replaces stt and final_model: pass neither of these two with words")
