"""How much of a history a chat has room for: the newest of it, from where somebody begins to speak.

A call goes on for hours, a model reads so much and no more. Rule: what no reply has dealt with yet is always there, and
a history that was cut says so.
"""

from __future__ import annotations

import re

from duologue.ports import AgentSaid, CallOutput, Item, News, Note, UserSaid

CHARS_MAX = 60_000  # of history: about 15,000 tokens, an hour of talk
CHARS_MIN = 1_000
LEFT_OUT = "What was said before this is left out, because it was long."
_TOO_LONG = re.compile(
    r"context[ _-]?(length|window|size)|too (long|large)|(maximum|max) .{0,40}tokens|many tokens", re.I
)


def newest(history: tuple[Item, ...], chars_max: int) -> tuple[Item, ...]:
    """The history as it is, or its end after a note that there was more."""
    if chars_in(history) <= chars_max:
        return history
    needed = _unanswered(history)
    left, first = chars_max, needed
    for at in range(len(history) - 1, -1, -1):
        left -= _chars(history[at])
        if left < 0:
            break
        if at < needed and isinstance(history[at], UserSaid):
            first = at
    return (Note(LEFT_OUT), *history[first:]) if first else history


def chars_in(history: tuple[Item, ...]) -> int:
    """How long it is, near enough."""
    return sum(map(_chars, history))


def tells_of_length(failure: object) -> bool:
    """Does the service say that it was given too much? Each has words of its own for it."""
    status = getattr(failure, "status_code", None)
    told = " ".join(str(getattr(failure, name, None) or "") for name in ("code", "type", "message"))
    return status == 413 or (status in (None, 400, 422) and _TOO_LONG.search(told[:2_000]) is not None)


def _unanswered(history: tuple[Item, ...]) -> int:
    """Where the part begins that no reply has dealt with."""
    for at in range(len(history) - 1, -1, -1):
        item = history[at]
        if isinstance(item, AgentSaid) and item.text and not item.calls:
            return at + 1
    return 0


def _chars(item: Item) -> int:
    match item:
        case UserSaid(text=text) | News(text=text) | Note(text=text):
            return len(text)
        case CallOutput(output=output):
            return len(output)
        case AgentSaid(text=text, calls=calls):
            return len(text) + sum(len(call.name) + len(str(call.arguments)) for _, call in calls)
    return 0
