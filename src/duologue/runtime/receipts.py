"""Receipts: records of answers that are being played. The client keeps the receipts, because the answers are perhaps
not in the store yet.

When a client connects to another server, it presents its receipts. They tell the new server which turns were answered,
and with which words. The new server repeats nothing that was heard, even if the store failed while the answer was
played. A receipt is sealed with a secret of the conversation, because the client must not be able to put words into the
agent's mouth. Rule: this module has only values and functions. A receipt that can't be read or has a wrong seal is
ignored.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from duologue.ports.brain import Part, Request
from duologue.ports.line import Played
from duologue.voice.ledger import Ledger

RECEIPTS_MAX = 4  # of one client; while a store fails, no more answers than this are played
RECEIPT_CHARS_MAX = 60_000


class ReceiptTurn(NamedTuple):
    """A turn of the user that the answer is about. `typed` is the id that the client gave to a typed message; empty for
    a spoken turn."""

    turn: int
    text: str
    typed: str = ""


@dataclass(frozen=True, slots=True)
class AnswerReceipt:
    """An answer that is being played: the number of its sound (`voice`), the turns that it answers, and its ledger (its
    words and their times)."""

    voice: int
    turns: tuple[ReceiptTurn, ...]
    ledger: dict[str, Any]


def seal(receipt: AnswerReceipt, secret: str) -> str:
    """Turn the receipt into a text with a seal, which only a server with this secret can make. The result is empty if
    the text would be too long."""
    data = {"voice": receipt.voice, "turns": [list(turn) for turn in receipt.turns], "ledger": receipt.ledger}
    content = base64.urlsafe_b64encode(json.dumps(data, separators=(",", ":")).encode()).decode()
    text = f"{content}.{_mac(content, secret)}"
    return text if len(text) <= RECEIPT_CHARS_MAX else ""


def read_receipts(texts: Iterable[str], secret: str) -> tuple[AnswerReceipt, ...]:
    """The receipts that can be read and have a valid seal, in the order in which their answers were played. If several
    are about the same answer, only the last is returned."""
    found = (_read(text, secret) for text in texts)
    by_voice = {one.voice: one for one in found if one is not None}
    return tuple(by_voice[voice] for voice in sorted(by_voice))


def _mac(content: str, secret: str) -> str:
    return hmac.new(secret.encode(), content.encode(), hashlib.sha256).hexdigest()


def _read(text: str, secret: str) -> AnswerReceipt | None:
    content, _, mac = text.partition(".")
    if not secret or not hmac.compare_digest(mac.encode(), _mac(content, secret).encode()):
        return None
    try:
        data = json.loads(base64.urlsafe_b64decode(content))
        turns = tuple(ReceiptTurn(int(turn), str(words), str(typed)) for turn, words, typed in data["turns"])
        Ledger.load(data["ledger"])
        return AnswerReceipt(int(data["voice"]), turns, data["ledger"])
    except (KeyError, TypeError, ValueError):  # sealed by another version
        return None


# -- What was heard


class HeardAnswer(NamedTuple):
    """An answer that the user has heard at least in part, but that isn't in the store. It answers the user's turns up
    to number `turn`. `heard` contains the sentences that were heard completely, and `text` is the whole answer."""

    turn: int
    heard: str
    text: str

    def turn_before(self, last: int) -> int:
        """The number of the last turn that this answer answers. But 0 if the answer wasn't heard completely, or if that
        turn isn't before `last`."""
        is_whole = _plain(self.heard) == _plain(self.text)
        return self.turn if is_whole and self.turn < last else 0


def heard_of(ledger: Ledger, heard_ms: int | None) -> tuple[str, str]:
    """Two texts: the sentences of an answer that were heard completely, and the whole answer. `heard_ms` is how much of
    its sound was heard; None means all of it, because another answer followed."""
    text = f"{ledger.earlier} {ledger.text}".strip()
    if heard_ms is None:
        return text, text
    ledger.assume(heard_ms)
    ledger.note_heard(heard_ms)
    return ledger.heard_sentences(), text


def heard_answer(receipt: AnswerReceipt, played: Played | None, turn: int) -> HeardAnswer | None:
    """The answer in this receipt, with the sentences that the client has heard, as `played` reports. None if the client
    has played nothing of the answer."""
    if played is None or played.voice < receipt.voice or not played.heard_ms:
        return None
    is_newest = played.voice == receipt.voice
    heard, text = heard_of(Ledger.load(receipt.ledger), played.heard_ms if is_newest else None)
    return HeardAnswer(turn, heard, text)


def joined(answers: Sequence[HeardAnswer]) -> HeardAnswer:
    """Join several answers into one. It answers the turns up to the `turn` of the last one."""
    heard, text = (
        " ".join(filter(None, texts)) for texts in zip(*((one.heard, one.text) for one in answers), strict=True)
    )
    return HeardAnswer(answers[-1].turn, heard, text)


class HeardText:
    """The words of an answer that were already heard. When the brain makes the answer again, `has` says which sentences
    must be left out."""

    def __init__(self, heard: str = "") -> None:
        self._rest = _plain(heard)

    def has(self, sentence: str) -> bool:
        """Was this sentence heard? Call this for the sentences in their order: after a sentence is found, only the
        words after that sentence are searched."""
        wanted = _plain(sentence)
        _, found, after = self._rest.partition(wanted) if wanted else ("", "", "")
        if found:
            self._rest = after
        return bool(found)


class ToldBrain:
    """A brain that repeats an answer word for word."""

    def __init__(self, text: str) -> None:
        self._text = text

    async def reply(self, request: Request) -> AsyncIterator[Part]:  # noqa: ARG002
        yield self._text


def _plain(text: str) -> str:
    return " ".join(text.split())
