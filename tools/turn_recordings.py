"""The features of all pauses in a turn-taking set, cached on disk: part of tools/fit_turns.py.

Every recording is played to the whole agent, with a policy that never ends a turn and records its inputs, so
that only what a running agent would know at that moment is used. More examples are made by cutting complete
sentences at word gaps ("not over yet") and by adding pink noise to copies. Rule: training data comes only from
sources with permissive licences.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import pickle
import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from duologue.core.settings import profile
from duologue.ears.local import LocalEars
from duologue.lab.recordings.busy_clock import run_timed
from duologue.lab.recordings.listener import LEAD_MS, Listener, read
from duologue.ports.ears import Heard as EarsEvent
from duologue.ports.ears import Pause, VoiceFrame
from duologue.turns.endpoint import SilenceWait
from duologue.turns.features import LevelShape, PauseFeatures
from duologue.turns.voicing import FRAME_MS

RATE_HZ = 16_000
SOURCES = ("picovoice-", "fsdd", "moonshine", "vap-phrases", "pyannote-ami", "easyturn")
NOISES = (None, "pink", "white")  # other noises in the set come from recordings that may not be trained on
EARLY_MS = 150  # a decision at most this early before the labelled end counts as correct
Samples = Any


@dataclass(frozen=True)
class Heard:
    """A pause and all that the agent learned about it. `over`: was it the end of the turn? None if unknown."""

    id: str
    group: str
    kind: str
    scenario: str
    over: bool | None
    learn: bool
    start_ms: int  # the first silent frame
    ready_ms: int  # when all features were known
    voice_ms: float  # when the user spoke again; infinite if never
    features: PauseFeatures


class RecordingPolicy:
    """A policy that never ends a turn and records its inputs, with the pauses that the ears report."""

    def __init__(self) -> None:
        self.pauses: list[dict[str, Any]] = []
        self._began = asyncio.get_running_loop().time() + LEAD_MS / 1000

    def _now_ms(self) -> int:
        return round((asyncio.get_running_loop().time() - self._began) * 1000)

    def wait(self, pause: PauseFeatures) -> SilenceWait:
        if pause.text is not None and self.pauses and pause.voiced_ms == self.pauses[-1]["voiced_ms"]:
            self.pauses[-1].update(features=pause, ready_ms=self._now_ms())
        return SilenceWait(None)

    def hear(self, event: EarsEvent) -> None:
        match event:
            case Pause() if not self.pauses or self.pauses[-1]["voiced_ms"] != event.features.voiced_ms:
                start_ms = round((self._now_ms() - event.quiet_ms) / FRAME_MS) * FRAME_MS
                self.pauses.append(
                    {"voiced_ms": event.features.voiced_ms, "start_ms": start_ms, "voice_ms": float("inf")}
                )
            case VoiceFrame(quiet_ms=0) if self.pauses and self.pauses[-1]["voice_ms"] == float("inf"):
                self.pauses[-1]["voice_ms"] = self._now_ms()


class Recordings:
    """An agent that listens to recordings."""

    def __init__(self) -> None:
        self._ears = LocalEars(final_model="tiny")
        self._ears.load()

    def pauses(self, audio: Samples) -> list[dict[str, Any]]:
        """Every pause in which the policy was called: its start and its features."""
        return run_timed(self._pauses(audio))

    async def _pauses(self, audio: Samples) -> list[dict[str, Any]]:
        policy = RecordingPolicy()
        settings = replace(profile("confirm"), settle_ms_max=20_000, talk_ms_max=60_000)
        await Listener(self._ears, policy, settings).listen(audio, tap=policy.hear)
        return [pause for pause in policy.pauses if "features" in pause]


# -- The set


def read_labels(folder: Path) -> list[dict[str, Any]]:
    lines = (folder / "labels.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines if line]


def may_learn(label: dict[str, Any]) -> bool:
    """Do all sources of this recording allow training?"""
    return all(s.startswith(SOURCES) for s in label["sources"]) and label["tags"].get("noise") in NOISES


def group_of(label: dict[str, Any]) -> str:
    """The group of a recording; a group is never split between folds. It is a recording with all its
    variants, all digits of one speaker, or all versions of one phrase."""
    source = label["sources"][0]
    if source == "fsdd":
        return f"fsdd {label['tags']['speaker']}"
    if digit := re.match(r"fsdd/recordings__\d_(\w+?)_\d+", source):
        return f"fsdd {digit[1]}"
    if phrase := re.search(r"vap-phrases/.*audio__(\w+?)_(?:short|long)", source):
        return f"phrase {phrase[1]}"
    return str(source)


def is_over(label: dict[str, Any], start_ms: int) -> bool | None:
    if label["expected"]:
        return bool(start_ms >= label["expected"][0]["at_ms"] - EARLY_MS)
    if label["scenario"] == "natural_hold":
        return False if start_ms < label["forbidden"][0]["to_ms"] - 2 * FRAME_MS else None
    return None


def hear_set(folder: Path, build: Path) -> list[Heard]:
    """Every pause of the set and of its variants, from the cache where possible."""
    listener: Recordings | None = None
    found: list[Heard] = []
    build.mkdir(parents=True, exist_ok=True)
    for label in read_labels(folder):
        cached = build / f"{label['id']}.pickle"
        if not cached.exists():
            listener = listener or Recordings()
            cached.write_bytes(pickle.dumps([asdict(item) for item in _hear(listener, folder, label)]))
        found += [_restored(item) for item in pickle.loads(cached.read_bytes())]
    return found


def _restored(item: dict[str, Any]) -> Heard:
    known = item["features"]
    shape = LevelShape(**known["shape"]) if known["shape"] else None
    return Heard(**{**item, "features": PauseFeatures(**{**known, "shape": shape})})


def _hear(listener: Recordings, folder: Path, label: dict[str, Any]) -> list[Heard]:
    audio = read(folder / label["wav"])
    found: list[Heard] = []
    if label["mode"] == "listen":
        found += [_heard(label, "set", pause, may_learn(label)) for pause in listener.pauses(audio)]
    for kind, over, made in _variants(label, audio):
        pauses = listener.pauses(made)
        for pause in pauses if kind == "noisy" else pauses[-1:]:
            item = _heard(label, kind, pause, learn=True)
            found.append(item if over is None else replace(item, over=over))
    return found


def _heard(label: dict[str, Any], kind: str, pause: dict[str, Any], learn: bool) -> Heard:
    over = is_over(label, pause["start_ms"])
    return Heard(
        id=label["id"],
        group=group_of(label),
        kind=kind,
        scenario=label["scenario"],
        over=over,
        learn=learn and over is not None,
        start_ms=pause["start_ms"],
        ready_ms=pause["ready_ms"],
        voice_ms=pause["voice_ms"],
        features=pause["features"],
    )


# -- More examples from the same recordings


def _variants(label: dict[str, Any], audio: Samples) -> Iterator[tuple[str, bool | None, Samples]]:
    """Variants of a recording: sentences cut at word gaps (not over), speech to a talking agent (over), and a
    copy with pink noise. Only for clean recordings that allow training."""
    scenario, tags = label["scenario"], label["tags"]
    clean = may_learn(label) and tags.get("noise") is None and tags.get("echo_db") is None
    if not clean or not label["user_speech_ms"] or scenario == "natural_hold":
        return
    start, end = label["user_speech_ms"][0][0] * 16, label["user_speech_ms"][-1][1] * 16
    if scenario.startswith("barge_in"):
        yield "alone", True, audio[: end + RATE_HZ // 2]
    if not re.match(r"picovoice-s2i|vap-phrases", label["sources"][0]):
        return
    whole, stop, skip = audio, end, None
    if scenario.startswith(("pause_", "pair_hold")):  # take the inserted pause out again
        (left, right) = (at * 16 for at in label["pauses_ms"][0])
        whole, stop, skip = np.concatenate([audio[:left], audio[right:]]), end - right + left, left
    tone = audio[: RATE_HZ * 4 // 10]
    for cut in _word_gaps(whole, start, stop):
        if skip is None or abs(cut - skip) > RATE_HZ * 15 // 100:
            piece = whole[:cut].copy()
            piece[-160:] *= np.linspace(1, 0, 160, dtype=np.float32)
            yield "cut", False, np.concatenate([piece, tone[::-1], tone])
    if label["mode"] == "listen":
        chance = np.random.RandomState(int(hashlib.md5(label["id"].encode()).hexdigest()[:7], 16))
        loud = np.sqrt((whole[start:stop] ** 2).mean()) * 10 ** (-chance.choice([8, 12, 18]) / 20)
        short = audio[: end + RATE_HZ * 6 // 10]
        yield "noisy", None, np.clip(short + loud * _pink(len(short), chance), -1, 1).astype(np.float32)


def _word_gaps(audio: Samples, start: int, end: int) -> list[int]:
    """The three longest gaps of at least 50 ms, well inside the sentence."""
    count = (end - start) // 160
    power = (audio[start : start + count * 160].reshape(count, 160).astype(np.float64) ** 2).mean(axis=1)
    levels = 10 * np.log10(power + 1e-10)
    low = [*(levels < np.percentile(levels, 90) - 22), False]
    gaps, since = [], None
    for place, quiet in enumerate(low):
        if quiet and since is None:
            since = place
        elif not quiet and since is not None:
            if place - since >= 5 and since > 25 and count - place > 20:
                gaps.append((place - since, start + (since + min(3, (place - since) // 2)) * 160))
            since = None
    return [cut for _, cut in sorted(gaps, reverse=True)[:3]]


def _pink(count: int, chance: Any) -> Samples:
    spectrum = np.fft.rfft(chance.randn(count))
    noise = np.fft.irfft(spectrum / np.sqrt(np.maximum(1, np.arange(len(spectrum)))), count)
    return noise / np.sqrt((noise**2).mean())
