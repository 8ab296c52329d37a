"""What the models hear in the recordings of a turn-taking set, kept on disk: part of tools/fit_turns.py.

Hears every pause once, as a running system would: asked 64 ms into the silence, nothing after it. Also cuts
complete sentences at their own word gaps (more examples of "not yet") and adds pink noise to copies.
Needs numpy, soundfile and onnxruntime. Rule: what is learned from comes from permissive sources only.
"""

from __future__ import annotations

import hashlib
import json
import pickle
import re
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import soundfile

from duologue.audio.levels import rms, to_dbfs
from duologue.ears.inference import find_file
from duologue.ears.moonshine import Moonshine
from duologue.ears.silero import FRAME_SAMPLES, SileroVad, VadMemory
from duologue.ears.smart_turn import last_window, log_mel
from duologue.turns.features import DOUBT_MS, PauseFeatures, Shape, is_weak, shape_of
from duologue.turns.pitch import steady_pitch_ms
from duologue.turns.voicing import FRAME_MS, Voicing

RATE_HZ = 16_000
ASK_FRAMES = 2  # of silence, before the models are asked
BEFORE_MS = 200  # of sound before the first voice that the words are read from
SOURCES = ("picovoice-", "fsdd", "moonshine", "vap-phrases", "pyannote-ami", "easyturn")
NOISES = (None, "pink", "white")  # other noises in the set come from recordings that may not be learned from
EARLY_MS = 150  # an end this near before the label is the end
Samples = Any


@dataclass(frozen=True)
class Heard:
    """A pause and what is known 64 ms into it. `over`: was it the end? None: nobody can say."""

    id: str
    group: str
    kind: str
    scenario: str
    over: bool | None
    learn: bool
    start_ms: int
    frames: int
    last: bool
    features: PauseFeatures
    cost_ms: tuple[float, float] = field(default=(0.0, 0.0))  # Smart Turn, speech to text


class EncodedTurn:
    """Smart Turn with its log-odds unrounded and the pooled output of its encoder."""

    OUTPUTS = ("linear_28", "sum_1")

    def __init__(self) -> None:
        # Two protobuf messages in a row are one message, so outputs can be appended to the file.
        extra = b"".join(_output(name) for name in self.OUTPUTS)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        model = find_file("smart-turn", ["smart_turn.onnx"]).read_bytes() + extra
        self._session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])

    def hear(self, audio: Samples) -> tuple[float, tuple[float, ...]]:
        features = log_mel(last_window(audio))[None]
        logit, pooled = self._session.run(list(self.OUTPUTS), {"input_features": features})
        return float(logit.ravel()[0]), tuple(float(value) for value in pooled.ravel())


def _output(name: str) -> bytes:
    def message(tag: int, content: bytes) -> bytes:
        return bytes([tag, len(content)]) + content

    return message(0x3A, message(0x62, message(0x0A, name.encode())))  # model.graph.output.name


class Listener:
    """The models, and how they are asked."""

    def __init__(self) -> None:
        self._vad, self._turn, self._stt = SileroVad(), EncodedTurn(), Moonshine()

    def frames(self, audio: Samples) -> Iterator[tuple[float, float]]:
        """The probability of voice and the level of each frame."""
        memory = VadMemory()
        for start in range(0, len(audio) - FRAME_SAMPLES + 1, FRAME_SAMPLES):
            frame = audio[start : start + FRAME_SAMPLES]
            yield self._vad.probabilities([frame], [memory])[0], to_dbfs(rms(frame))

    def pauses(self, audio: Samples) -> list[dict[str, Any]]:
        """Every pause of at least 64 ms: where it starts, how long it is and what was known in it."""
        voicing, found, first = Voicing(), [], 0
        for place, (vad, level) in enumerate(self.frames(audio)):
            begun, voiced = voicing.begun, voicing.voiced
            voicing.update(vad, level)
            if voicing.begun and not begun:
                first = place
            if voicing.voiced and not voiced and found and found[-1]["last"]:
                found[-1].update(last=False, frames=place - found[-1]["place"])
            if not voicing.voiced and voicing.silence_ms == ASK_FRAMES * FRAME_MS:
                known, cost = self.ask(audio[: (place + 1) * FRAME_SAMPLES], first, voicing)
                found.append({"place": place - ASK_FRAMES + 1, "last": True, "features": known, "cost_ms": cost})
        for pause in found:
            pause.setdefault("frames", len(audio) // FRAME_SAMPLES - pause["place"])
            if is_weak(pause["features"]):
                until = pause["place"] + min(pause["frames"], DOUBT_MS // FRAME_MS)
                sound = audio[max(0, first - 3) * FRAME_SAMPLES : until * FRAME_SAMPLES][-RATE_HZ:]
                pause["features"] = replace(pause["features"], pitched_ms=steady_pitch_ms(sound.tolist()))
        return found

    def ask(self, audio: Samples, first: int, voicing: Voicing) -> tuple[PauseFeatures, tuple[float, float]]:
        began = time.perf_counter()
        logit, pooled = self._turn.hear(audio)
        between = time.perf_counter()
        said = self._stt.transcribe(audio[max(0, first * FRAME_SAMPLES - BEFORE_MS * RATE_HZ // 1000) :])
        ended = time.perf_counter()
        known = PauseFeatures(
            voiced_ms=voicing.voiced_ms,
            evidence=voicing.evidence,
            shape=shape_of(voicing.levels_db, FRAME_MS),
            turn_logit=logit,
            turn_embedding=pooled,
            text=said.text,
            confidence=said.confidence,
            last_confidence=said.words[-1].confidence if said.words else None,
        )
        return known, ((between - began) * 1000, (ended - between) * 1000)


# -- The set


def read_labels(folder: Path) -> list[dict[str, Any]]:
    lines = (folder / "labels.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines if line]


def read_audio(folder: Path, name: str) -> Samples:
    audio, rate = soundfile.read(folder / name, dtype="float32")
    assert rate == RATE_HZ, rate
    return audio


def may_learn(label: dict[str, Any]) -> bool:
    """Is all of this recording from sources that weights may be fitted on?"""
    return all(s.startswith(SOURCES) for s in label["sources"]) and label["tags"].get("noise") in NOISES


def group_of(label: dict[str, Any]) -> str:
    """What goes into the same fold: a recording with everything made of it; of digits, a speaker; of
    phrases, all versions of one."""
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
    """Every pause of the set and of what was made of it, from disk where it was heard before."""
    listener: Listener | None = None
    found: list[Heard] = []
    build.mkdir(parents=True, exist_ok=True)
    for label in read_labels(folder):
        kept = build / f"{label['id']}.pickle"
        if not kept.exists():
            listener = listener or Listener()
            kept.write_bytes(pickle.dumps([asdict(item) for item in _hear(listener, folder, label)]))
        found += [_kept(item) for item in pickle.loads(kept.read_bytes())]
    return found


def _kept(item: dict[str, Any]) -> Heard:
    known = item["features"]
    shape = Shape(**known["shape"]) if known["shape"] else None
    return Heard(**{**item, "features": PauseFeatures(**{**known, "shape": shape})})


def _hear(listener: Listener, folder: Path, label: dict[str, Any]) -> list[Heard]:
    audio = read_audio(folder, label["wav"])
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
    start_ms = pause["place"] * FRAME_MS
    over = is_over(label, start_ms)
    return Heard(
        id=label["id"],
        group=group_of(label),
        kind=kind,
        scenario=label["scenario"],
        over=over,
        learn=learn and over is not None,
        start_ms=start_ms,
        frames=pause["frames"],
        last=pause["last"],
        features=pause["features"],
        cost_ms=pause["cost_ms"],
    )


# -- More examples out of the same recordings


def _variants(label: dict[str, Any], audio: Samples) -> Iterator[tuple[str, bool | None, Samples]]:
    """Sentences cut at their own word gaps (not over), what was said to a talking agent (over), and a copy
    of each recording in pink noise. Only of clean recordings that may be learned from."""
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
    """The three longest dips in level of 50 ms and more, well inside the sentence."""
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
