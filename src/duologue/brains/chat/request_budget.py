"""Limits how many characters a request to an LLM contains: its history, the user's new words and the tool outputs.

Answered turns are left out first (`history_budget`). If the unanswered part alone is too long, the user's newest words
get up to half of the limit, and the rest is for the newest results of tools. Rule: if something is cut or left out, a
text in the request says so, so that the model can ask for it. The instructions and the tools aren't limited here,
because the developer decides how long they are.
"""

from __future__ import annotations

from dataclasses import replace

from duologue.ports import AgentSaid, CallOutput, Item, News, Note, Request, ToolCall, UserSaid

from .history_budget import LEFT_OUT, chars_in, first_unanswered, newest
from .messages import words_not_in_history

NOTES_CHARS_MAX = 500  # the texts that say what was left out; they come on top of the limit
PIECE_CHARS_MIN = 100  # a shorter piece of a tool's output helps no model
_CUT_WORDS = "[The first {chars} characters of this message are left out, because they don't fit.] "
_LEFT_OUT_TURNS = "[{turns} earlier messages of the user with {chars} characters are left out, because they don't fit.]"
_LEFT_OUT_WORK = "[{results} earlier results of tools and jobs are left out, because they don't fit.]"
_CUT_RESULT = " [… cut off: {chars} more characters don't fit]"


def bounded(request: Request, chars_max: int) -> Request:
    """This request with at most `chars_max` characters of history and new words, plus NOTES_CHARS_MAX characters that
    say what is missing. A request that fits is returned unchanged."""
    missing = words_not_in_history(request)
    if chars_in(request.history) + len(missing) <= chars_max:
        return request
    shorter = newest(request.history, max(0, chars_max - len(missing)))
    if chars_in(shorter) + len(missing) <= chars_max + len(LEFT_OUT):
        return replace(request, history=shorter)
    first = first_unanswered(request.history)
    return _Shortened(request, request.history[first:], missing, chars_max).request(bool(first))


class _Shortened:
    """A request whose unanswered part doesn't fit."""

    def __init__(self, request: Request, open_items: tuple[Item, ...], missing: str, chars_max: int) -> None:
        self._request = request
        self._items = [item for item in open_items if not (isinstance(item, UserSaid) and item.overheard)]
        turns = [item.text for item in self._items if isinstance(item, UserSaid)]
        self._texts = _newest_texts([*turns, missing], chars_max // 2)
        self._left_out_turns = [text for text, kept in zip(turns, self._texts, strict=False) if text and not kept]
        self._room = chars_max - sum(map(len, self._texts))
        self._left_out_results = 0
        self._kept_calls: set[int] = set()
        self._ended = {item.call for item in self._items if isinstance(item, CallOutput)}

    def request(self, has_earlier: bool) -> Request:
        texts = self._texts[:-1]
        kept: list[Item] = []
        for item in reversed(self._items):
            found = replace(item, text=texts.pop()) if isinstance(item, UserSaid) else self._fitted(item)
            if found is not None and not (isinstance(found, UserSaid) and not found.text):
                kept.append(found)
        kept.reverse()
        notes = self._notes(has_earlier)
        text = " ".join(text for text in self._texts if text)
        return replace(self._request, history=(*notes, *kept), text=text if self._request.text else "")

    def _fitted(self, item: Item) -> Item | None:
        """Return the item, cut to the number of characters that are still free, and count its characters as used; None
        if too few are free. Call this for the newest item first."""
        match item:
            case AgentSaid():
                return self._fitted_reply(item)
            case CallOutput():
                output = self._piece(item.output)
                if output or not item.output:
                    self._kept_calls.add(item.call)
                    return replace(item, output=output)
            case News() | Note():
                text = self._piece(item.text)
                if text or not item.text:
                    return replace(item, text=text)
        self._left_out_results += 1
        return None

    def _fitted_reply(self, item: AgentSaid) -> AgentSaid | None:
        """Return the reply, cut to the characters that are still free, and count its characters as used. A tool call is
        kept if its output is in the request or if the call is still running."""
        calls = tuple(
            (number, self._fitted_call(call))
            for number, call in item.calls
            if number in self._kept_calls or number not in self._ended
        )
        text = self._piece(item.text)
        return replace(item, text=text, calls=calls) if text or calls else None

    def _fitted_call(self, call: ToolCall) -> ToolCall:
        chars = len(call.name) + len(str(call.arguments))
        if chars <= self._room:
            self._room -= chars
            return call
        return replace(call, arguments={"left_out": f"{len(str(call.arguments))} characters"})

    def _piece(self, text: str) -> str:
        """Return as much of this text as fits, and count its characters as used. After a text that had to be cut,
        nothing is left for the next (older) text."""
        if len(text) <= self._room:
            self._room -= len(text)
            return text
        room, self._room = self._room, 0
        if room < PIECE_CHARS_MIN:
            return ""
        notice = _CUT_RESULT.format(chars=len(text) - room)
        return text[: max(0, room - len(notice))] + notice

    def _notes(self, has_earlier: bool) -> list[Note]:
        notes = [Note(LEFT_OUT)] if has_earlier else []
        if self._left_out_turns:
            chars = sum(map(len, self._left_out_turns))
            notes.append(Note(_LEFT_OUT_TURNS.format(turns=len(self._left_out_turns), chars=chars)))
        if self._left_out_results:
            notes.append(Note(_LEFT_OUT_WORK.format(results=self._left_out_results)))
        return notes


def _newest_texts(texts: list[str], chars_max: int) -> list[str]:
    """The texts, with at most `chars_max` characters in all: the oldest texts are replaced by empty ones until the
    others fit. If the newest text alone is too long, only its end is kept, after a note that says how much is
    missing."""
    kept, room = [""] * len(texts), chars_max
    for place in range(len(texts) - 1, -1, -1):
        text = texts[place]
        if len(text) <= room:
            kept[place] = text
            room -= len(text)
            continue
        if room == chars_max:  # all newer texts are empty
            kept[place] = _CUT_WORDS.format(chars=len(text) - room) + text[-room:]
        break
    return kept
