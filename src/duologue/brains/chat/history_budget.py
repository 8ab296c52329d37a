"""Limits how much history a chat request contains.

A conversation may last for hours, but a model's context window is limited. If a history is too long, only its newest
part is sent, beginning with a user turn. Rule: turns that no reply has answered yet are always included; if they alone
are too long, `request_budget` shortens them. A shortened history begins with a note that the earlier part is left out.
"""

from __future__ import annotations

import re

from duologue.ports import AgentSaid, CallOutput, Item, News, Note, UserSaid

CHARS_MAX = 60_000  # characters of history: about 15,000 tokens, or an hour of talk
CHARS_MIN = 1_000
LEFT_OUT = "The earlier part of this conversation is left out, because it is long."
_TOO_LONG = re.compile(
    r"context[ _-]?(length|window|size)|too (long|large)|(maximum|max) .{0,40}tokens|many tokens", re.I
)


def newest(history: tuple[Item, ...], chars_max: int) -> tuple[Item, ...]:
    """The whole history, if it fits in `chars_max` characters. Otherwise a note and the newest items that fit. Items
    that no reply has answered yet are always included."""
    if chars_in(history) <= chars_max:
        return history
    needed = first_unanswered(history)
    left, first = chars_max, needed
    for at in range(len(history) - 1, -1, -1):
        left -= _chars(history[at])
        if left < 0:
            break
        if at < needed and isinstance(history[at], UserSaid):
            first = at
    return (Note(LEFT_OUT), *history[first:]) if first else history


def chars_in(history: tuple[Item, ...]) -> int:
    """Roughly how many characters this history takes in a request."""
    return sum(map(_chars, history))


def is_length_error(failure: object) -> bool:
    """Does this failure say that the request was too long? Services word this message differently, so the message is
    searched for several patterns."""
    status = getattr(failure, "status_code", None)
    text = " ".join(str(getattr(failure, name, None) or "") for name in ("code", "type", "message"))
    return status == 413 or (status in (None, 400, 422) and _TOO_LONG.search(text[:2_000]) is not None)


def first_unanswered(history: tuple[Item, ...]) -> int:
    """The index of the first item that no reply has answered yet: the item after the last reply that has text and no
    tool call."""
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
