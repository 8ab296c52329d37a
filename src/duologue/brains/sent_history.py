"""Tracks which part of the history a speech-to-speech model already knows, because its server heard the audio.

The server of such a model has its own copy of the conversation. This copy grows with the audio that the server hears.
This module is shared by the models that have to keep such a copy up to date. Rule: words that the server heard are
never sent again as text.
"""

from __future__ import annotations

from dataclasses import dataclass

from duologue.ports.history import AgentSaid, CallOutput, Item, UserSaid
from duologue.ports.session import SessionContext

UNMATCHED_MAX = 100  # how many utterances that no turn of the history contains are remembered


@dataclass(slots=True)
class _Spoken:
    """Words of the user that the server heard. `item` is the id of the server's item for these words; empty if the
    server gives no ids."""

    item: str
    words: list[str]


class HeardSpeech:
    """Words of the user that the server has heard, but that haven't been found in a turn of our history yet."""

    def __init__(self) -> None:
        self._spoken: list[_Spoken] = []

    def add(self, item: str, text: str) -> None:
        """Record that the server heard the user say this text. `item` is the id of the item in which the server has
        stored it."""
        if text.split():
            self._spoken.append(_Spoken(item, text.split()))
            del self._spoken[:-UNMATCHED_MAX]

    def match(self, words: list[str]) -> tuple[list[str], list[str]]:
        """Find the words of a turn among the words that the server heard. Returns the words that the server hasn't
        heard, and the ids of the items in which it heard the others. Heard words that were found are forgotten."""
        heard: list[str] = []
        for spoken in list(self._spoken):
            at = _find(spoken.words, words)
            if at is not None:
                words = words[:at] + words[at + len(spoken.words) :]
                self._spoken.remove(spoken)
                heard.append(spoken.item)
        for spoken in self._spoken:  # an item that was split into two turns
            at = _find(words, spoken.words) if words else None
            if at is not None:
                del spoken.words[at : at + len(words)]
                words = []
        self._spoken = [spoken for spoken in self._spoken if spoken.words]
        return words, heard


def key_of(item: Item) -> object:
    """A key for this item of the history. The key stays the same when text is added to the item."""
    match item:
        case UserSaid(turn=turn):
            return ("user", turn)
        case AgentSaid(reply=reply):
            return ("agent", reply)
        case CallOutput(call=call):
            return ("output", call)
        case _:
            return item


def place_of(first: object | None, history: tuple[Item, ...]) -> int:
    """The index of the item with this key; 0 if there is no key or no such item."""
    if first is None:
        return 0
    return next((place for place, item in enumerate(history) if key_of(item) == first), 0)


def needed_summary(context: SessionContext) -> str:
    """The summary in this context, without the lines about turns that the context also contains word for word."""
    said = [item for item in context.recent if isinstance(item, UserSaid | AgentSaid)]
    texts = {" ".join(item.text.split()) for item in said}
    more = [line for line in context.summary.splitlines() if line.strip() and line.partition(": ")[2] not in texts]
    return "\n".join(more)


def _find(part: list[str], whole: list[str]) -> int | None:
    """The index at which `part` occurs in `whole`; None if it doesn't occur."""
    size = len(part)
    return next((at for at in range(len(whole) - size + 1) if whole[at : at + size] == part), None)
