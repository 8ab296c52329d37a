"""Converts a text to the input of a neural voice: a list of phoneme ids (the model's numbers for phonemes). For each
id, the word that it belongs to is known.

Rule: the ids are in the order of the words. Each id belongs to a word or to the punctuation mark after a word. So the
times of the words follow from the durations of the phonemes, if the model reports them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

_CLAUSE = re.compile(r"[^,;:.!?…]+[,;:.!?…]*|[,;:.!?…]+")
_MARKS = ",;:.!?…"
FIRST_CHARS_MAX, CHARS_MAX = 60, 160  # the first part of a sentence is short, so that the voice starts early


@dataclass(frozen=True, slots=True)
class PhonemeIds:
    """The phoneme ids of a text. For each id, `owners` has the number of the word that the id belongs to."""

    ids: tuple[int, ...]
    owners: tuple[int, ...]


def parts_of(text: str) -> list[str]:
    """Cut the text into parts, after punctuation if possible and never within a word. The first part is short, so that
    the voice starts early."""
    found: list[str] = []
    rest = " ".join(text.split())
    while rest:
        chars_max = CHARS_MAX if found else FIRST_CHARS_MAX
        if len(rest) <= chars_max:
            return [*found, rest]
        cut = max(rest.rfind(f"{mark} ", 0, chars_max) for mark in _MARKS) + 1
        if cut < chars_max // 4:
            space = rest.rfind(" ", 0, chars_max)
            cut = space if space > 0 else rest.find(" ") if " " in rest else len(rest)
        found.append(rest[:cut])
        rest = rest[cut:].lstrip()
    return found


def phoneme_ids(
    text: str, known: Mapping[str, Sequence[int]], phonemes: Callable[[str], str] | None, pads: bool
) -> PhonemeIds:
    """The phoneme ids of a text. `known` maps each phoneme to its ids. `phonemes` is the function that turns a clause
    into IPA; if it is None, the letters of the clause are used as phonemes. If `pads` is true, the id of "_" is put
    between all other ids, as Piper's models expect."""
    pad = tuple(known.get("_", ())) if pads else ()
    ids, owners = [*known.get("^", ()), *pad], [0] * (len(known.get("^", ())) + len(pad))
    word = 0
    for clause in _CLAUSE.findall(text):
        count = len(clause.split())
        symbols = _symbols(clause, phonemes)
        groups = symbols.count(" ") + 1
        place = 0
        for symbol in symbols:
            place += symbol == " "
            own = tuple(known.get(symbol, ()))
            if own:
                owner = word + min(count - 1, place * count // groups) if count else max(0, word - 1)
                ids += [*own, *pad]
                owners += [max(0, owner)] * (len(own) + len(pad))
        word += count
    end = tuple(known.get("$", ()))
    return PhonemeIds((*ids, *end), (*owners, *[max(0, word - 1)] * len(end)))


def _symbols(clause: str, phonemes: Callable[[str], str] | None) -> str:
    """The phonemes of a clause, with spaces between the words and the clause's punctuation mark at the end."""
    bare = clause.rstrip(_MARKS + " ")
    marks = "".join(mark for mark in clause[len(bare) :] if mark in _MARKS)[:1].replace("…", ".")
    said = phonemes(bare.strip()) if phonemes is not None else bare.strip().lower()
    return " ".join(said.split()) + marks + (" " if clause.endswith(" ") else "")


def word_ends(owners: Sequence[int], lengths: Sequence[float], words: int, samples: int) -> list[int]:
    """The sample number at which each word ends. `lengths` has the duration of the sound of each phoneme id, in any
    unit. If the number of durations differs from the number of ids, all ids are treated as equally long."""
    if len(lengths) != len(owners) or not sum(lengths) > 0:
        lengths = [1.0] * len(owners)
    total, at = float(sum(lengths)), 0.0
    ends = [0] * words
    for owner, length in zip(owners, lengths, strict=True):
        at += float(length)
        if owner < words:
            ends[owner] = round(samples * at / total)
    for number in range(1, words):
        ends[number] = max(ends[number], ends[number - 1])
    return ends


def inference_scales(config: Mapping[str, Any], pace: float) -> tuple[float, float, float]:
    """The three numbers that control a Piper model: the amount of noise in the sound, the duration of the phonemes, and
    the amount of noise in these durations."""
    own = config.get("inference", {})
    noise, length, width = (own.get(name, usual) for name, usual in _SCALES)
    return float(noise), float(length) * pace, float(width)


_SCALES = (("noise_scale", 0.667), ("length_scale", 1.0), ("noise_w", 0.8))
