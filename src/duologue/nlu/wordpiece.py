"""BERT's WordPiece tokenizer for lower-case text, with MiniLM's vocabulary.

Gives the same tokens as the reference tokenizer, with two exceptions. "[SEP]" and other special tokens in a message are
treated as plain characters, so a message can't inject them. And if a text is too long, its middle is removed, not its
end. Rule: any text can be tokenized, because unknown words become the token for unknown words.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path

WORD_CHARS_MAX = 100
_START, _END, _UNKNOWN = "[CLS]", "[SEP]", "[UNK]"
_SPACES = "\t\n\r"  # blanks, like all Unicode separators; other control characters are dropped
_SIGNS = "$+<=>^`|~"  # punctuation, like all characters that Unicode calls punctuation
# Each of these characters is a word by itself.
_IDEOGRAPHS = (
    *((0x4E00, 0x9FFF), (0x3400, 0x4DBF), (0x20000, 0x2A6DF), (0x2A700, 0x2B73F), (0x2B740, 0x2B81F)),
    *((0x2B920, 0x2CEAF), (0xF900, 0xFAFF), (0x2F800, 0x2FA1F)),
)


class WordPiece:
    """Splits texts into tokens and returns the token numbers."""

    def __init__(self, vocabulary: Mapping[str, int]) -> None:
        self._numbers = vocabulary
        self._start, self._end, self._unknown = (vocabulary[name] for name in (_START, _END, _UNKNOWN))

    def numbers(self, text: str, pieces_max: int) -> list[int]:
        """The numbers of the tokens of a text, including the start and end tokens. If there are more than `pieces_max`,
        tokens in the middle are left out."""
        assert pieces_max >= 4
        found = [number for word in words(text) for number in self._pieces(word)]
        room = pieces_max - 2
        if len(found) > room:
            found = found[: room - room // 2] + found[-(room // 2) :]
        return [self._start, *found, self._end]

    def _pieces(self, word: str) -> list[int]:
        """The tokens of a word: the longest known token at the start of the word, then the longest known token that
        continues it, and so on. If this fails, the only token is the one for unknown words."""
        if len(word) > WORD_CHARS_MAX:
            return [self._unknown]
        found, at = [], 0
        while at < len(word):
            prefix = "##" if at else ""
            for end in range(len(word), at, -1):
                number = self._numbers.get(prefix + word[at:end])
                if number is not None:
                    found.append(number)
                    at = end
                    break
            else:
                return [self._unknown]
        return found


def words(text: str) -> Iterator[str]:
    """The words and punctuation marks of this text, in lower case and without accents."""
    plain = "".join(map(_plain, text))
    # The whole text is decomposed before accents are removed, because an accent may be a separate character.
    bare = "".join(map(_bare, unicodedata.normalize("NFD", plain)))
    return (word for word in bare.split(" ") if word)


@lru_cache(4_096)
def _plain(char: str) -> str:
    category = unicodedata.category(char)
    if char in _SPACES or category.startswith("Z"):
        return " "
    if char == "\ufffd" or category in ("Cc", "Cf", "Co", "Cs"):
        return ""
    code = ord(char)
    return f" {char} " if any(first <= code <= last for first, last in _IDEOGRAPHS) else char


@lru_cache(4_096)
def _bare(char: str) -> str:
    """One character in lower case. If it is an accent, it is removed; if it is a punctuation mark, a space is put on
    both sides. As in the reference tokenizer, the result doesn't depend on the neighbouring characters."""
    category = unicodedata.category(char)
    if category == "Mn":
        return ""
    return f" {char} " if char in _SIGNS or category.startswith("P") else char.lower()


def read_vocabulary(path: Path) -> dict[str, int]:
    """Read the vocabulary: the number of each token. The file has one token per line, and the lines are numbered from
    zero."""
    lines = path.read_text(encoding="utf-8").split("\n")
    return {piece: number for number, piece in enumerate(lines) if piece}
