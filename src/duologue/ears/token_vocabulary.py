"""The tokens of a speech-to-text model, and the words that they form.

Reads both of Moonshine's file formats: `tokenizer.bin` and `tokenizer.json`. Rule: a token stands for bytes, because
one letter may be split over several tokens.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path

_SPACE = "▁".encode()
_BYTE = re.compile(r"<0x([0-9A-F]{2})>")
_SPECIAL = re.compile(rb"<s>|</s>|<unk>|<<ST_\d+>>")
_SIGNS = re.compile("([.,;:!?])[.,;:!?]+")  # several punctuation marks in a row
_NO_WORDS = re.compile("[♪♫]+|[\"“”]+'?")  # music symbols, and quotation marks, which can't be heard


@dataclass(frozen=True, slots=True)
class WrittenWord:
    """A word of a transcript and the model's confidence in it. `ends` is the number of tokens from the start of the
    transcript to the end of the word."""

    text: str
    confidence: float
    ends: int


class Vocabulary:
    """The bytes that each token stands for."""

    def __init__(self, pieces: list[bytes]) -> None:
        self._pieces = [b"" if _SPECIAL.fullmatch(piece) else piece.replace(_SPACE, b" ") for piece in pieces]

    def __len__(self) -> int:
        return len(self._pieces)

    def text(self, tokens: tuple[int, ...]) -> str:
        """The text of these tokens."""
        written = b"".join(self._pieces[token] for token in tokens).decode("utf-8", errors="ignore")
        return " ".join(_SIGNS.sub(r"\1", _NO_WORDS.sub("", written)).split())

    def words(self, tokens: tuple[int, ...], probabilities: tuple[float, ...]) -> tuple[WrittenWord, ...]:
        """The words of these tokens. The confidence of a word is the lowest probability among its tokens. Tokens of
        punctuation are left out of this, because punctuation can't be heard."""
        starts = [at for at, token in enumerate(tokens) if at == 0 or self._pieces[token].startswith(b" ")]
        found: list[WrittenWord] = []
        for start, end in zip(starts, [*starts[1:], len(tokens)], strict=False):
            text = self.text(tokens[start:end])
            sure = [probabilities[at] for at in range(start, end) if self._has_letters(tokens[at])]
            if text and sure:
                found.append(WrittenWord(text, min(sure), end))
            elif text and found:  # punctuation that stands alone belongs to the word before it
                found[-1] = WrittenWord(_SIGNS.sub(r"\1", found[-1].text + text), found[-1].confidence, end)
        return tuple(found)

    def _has_letters(self, token: int) -> bool:
        return any(byte >= 0x80 or chr(byte).isalnum() for byte in self._pieces[token])


def read_vocabulary(path: Path) -> Vocabulary:
    """The vocabulary in this file."""
    return Vocabulary(_from_json(path) if path.suffix == ".json" else _from_bin(path.read_bytes()))


def _from_bin(data: bytes) -> list[bytes]:
    """The bytes of each token. In the file, the length of a token stands before it: the lowest 7 bits in the first
    byte, and the higher bits in a second byte, which exists only if the first byte is at least 128."""
    pieces, at = [], 0
    while at < len(data):
        size, at = data[at], at + 1
        if size >= 0x80:
            size, at = (size & 0x7F) | data[at] << 7, at + 1
        pieces.append(data[at : at + size])
        at += size
    return pieces


def _from_json(path: Path) -> list[bytes]:
    stored = json.loads(path.read_text(encoding="utf-8"))
    tokens = {number: piece for piece, number in stored["model"]["vocab"].items()}
    tokens |= {added["id"]: added["content"] for added in stored["added_tokens"]}
    return [_piece(tokens[number]) for number in range(len(tokens))]


def _piece(written: str) -> bytes:
    single = _BYTE.fullmatch(written)
    return bytes([int(single[1], 16)]) if single else written.encode()
