"""The transcript: the history of a conversation, and the words of every turn in it.

The hearing machine decides which turn the user's words belong to, and whether they need an answer. The transcript
copies the words from the hearing machine and keeps them. Rule: the history has turns in the order of their completion,
and replies in the order of their start. It contains every word of the user, even words that weren't meant for the agent
(overheard) and words that get no answer (lost).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from duologue.core.effects import RecordOverheard
from duologue.core.events import TextTyped, WordsHeard
from duologue.core.leaves import CLOSED, Outcome
from duologue.core.step_record import StepRecord
from duologue.hearing.words import SaidTurn, SaidWords, TurnMark, recent
from duologue.ports.encodable_text import encodable
from duologue.ports.history import AgentSaid, CallOutput, Item, News, UserSaid
from duologue.ports.tool_call import ToolCall

from .checkpoint import NotRestorable, item_from_json, item_to_json
from .said_json import said_from_json, said_from_old_json, said_to_json
from .transcript_pages import PAGE, TranscriptPages, join_pages
from .validation import numbers, reading, texts_by_number, whole


class Transcript:
    """The words of one conversation."""

    def __init__(self) -> None:
        self._items: list[Item] = []
        self._place_of_turn: dict[int, int] = {}
        self._place_of_reply: dict[int, int] = {}
        self._said: dict[int, SaidTurn] = {}
        self._words = SaidWords()
        self.pages = TranscriptPages()
        self.speaker = ""  # the name of an agent that has taken over the call

    # -- The user

    def take(self, words: SaidWords) -> None:
        """Copy the words of the user from the hearing machine."""
        if words is self._words:
            return
        known, self._words = self._words.turns, words
        is_newest_only = words.turns[:-1] in (known[:-1], known)  # fast, because most turns are the same objects
        for said in words.turns[-1:] if is_newest_only else words.turns:
            if self._said.get(said.turn) is not said:
                self._said[said.turn] = said
                self.pages.touch(said.turn)
                if said.turn in self._place_of_turn:
                    self.place(said.turn)

    def text_of(self, turn: int) -> str:
        """The whole text of a turn."""
        said = self._said.get(turn)
        return said.text if said is not None else ""

    def confidence_of(self, turn: int) -> float:
        said = self._said.get(turn)
        return said.confidence if said is not None else 1.0

    def turns(self, first: int, last: int) -> tuple[SaidTurn, ...]:
        """The turns with numbers from `first` up to and including `last` that have words and need an answer."""
        return self._words.to_answer(first, last)

    @property
    def words(self) -> SaidWords:
        """The words of the newest turns."""
        return self._words

    def follow(self, record: StepRecord) -> None:
        """Process a step: add to the history the turns that were completed, overheard or typed in it."""
        event, before, after = record.event, record.before, record.after
        for effect in record.effects:
            if type(effect) is RecordOverheard:
                self.place(effect.turn)
        if after.said > before.said:
            for turn in range(before.said + 1, after.said + 1):
                self.place(turn)
        elif type(event) is WordsHeard and event.words and event.turn <= after.said:
            self.place(event.turn)  # late text of a turn that seemed to be noise
        elif type(event) is TextTyped or (after.link in CLOSED and before.link not in CLOSED):
            self.place(after.turn)

    def place(self, turn: int) -> None:
        """Add a turn to the history, or update its text if it is there already. A turn without words isn't added."""
        found = self._said.get(turn)
        placed = turn in self._place_of_turn
        if found is None or not (found.text or placed):
            return
        said = UserSaid(turn, found.text, found.mark is TurnMark.OVERHEARD, found.confidence)
        if not placed:
            self._place_of_turn[turn] = self._append(said)
        elif self._items[self._place_of_turn[turn]] != said:
            self._put(self._place_of_turn[turn], said)

    def _append(self, item: Item) -> int:
        """Add an item to the history. Returns its index."""
        self._items.append(item)
        self.pages.touch(len(self._items) - 1)
        return len(self._items) - 1

    def _put(self, place: int, item: Item) -> None:
        """Replace the item at this index."""
        self._items[place] = item
        self.pages.touch(place)

    # -- The agent

    def begin_reply(self, reply: int) -> None:
        """Add the reply to the history, still without text. Called when its sound or its first tool call begins."""
        if reply not in self._place_of_reply:
            self._place_of_reply[reply] = self._append(AgentSaid(reply, "", speaker=self.speaker))

    def add_call(self, reply: int, number: int, call: ToolCall) -> None:
        self.begin_reply(reply)
        said = self._reply(reply)
        self._set_reply(replace(said, calls=(*said.calls, (number, call))))

    def end_reply(self, reply: int, heard: str, unheard: str, heard_ms: int, interrupted: bool) -> None:
        """Record in the history which part of the reply was heard, and which wasn't."""
        self.begin_reply(reply)
        text, rest = encodable(heard), encodable(unheard)
        self._set_reply(
            replace(self._reply(reply), text=text, unheard=rest, heard_ms=heard_ms, interrupted=interrupted)
        )

    def heard_of(self, reply: int) -> str:
        """The heard text of a reply that is over; empty if the reply isn't in the history."""
        return self._reply(reply).text if reply in self._place_of_reply else ""

    def _reply(self, reply: int) -> AgentSaid:
        said = self._items[self._place_of_reply[reply]]
        assert isinstance(said, AgentSaid)
        return said

    def _set_reply(self, said: AgentSaid) -> None:
        self._put(self._place_of_reply[said.reply], said)

    # -- As data

    def dump(self) -> dict[str, Any]:
        """The whole transcript, as JSON values."""
        return join_pages(self.rest(), [self.page(number) for number in self.pages.all])

    def rest(self) -> dict[str, Any]:
        """The data of the transcript that isn't part of any page."""
        typed = [list(one) for one in self._words.typed]
        return {"pages": self.pages.all, "contents": typed, "content": self._words.content}

    def page(self, number: int) -> dict[str, Any]:
        """The data of one page: PAGE items of the history, and the words of PAGE turns."""
        turns = range(number * PAGE, (number + 1) * PAGE)
        placed = list(enumerate(self._items[turns.start : turns.stop], turns.start))
        return {
            "items": [item_to_json(item) for _, item in placed],
            "turns": [[item.turn, place] for place, item in placed if isinstance(item, UserSaid)],
            "replies": [[item.reply, place] for place, item in placed if isinstance(item, AgentSaid)],
            "said": [said_to_json(self._said[turn]) for turn in turns if turn in self._said],
        }

    def load(self, data: dict[str, Any], answered: int) -> None:
        """Restore what `dump` returned. `answered` is the newest turn that was answered. Raises NotRestorable for
        invalid data."""
        with reading("the transcript"):
            items = [item_from_json(item) for item in data["items"]]
            turns, replies = numbers(data["turns"]), numbers(data["replies"])
            for turn, place in turns.items():
                _check_place(isinstance(said := items[place], UserSaid) and said.turn == turn)
            for reply, place in replies.items():
                _check_place(isinstance(answer := items[place], AgentSaid) and answer.reply == reply)
            found = said_from_old_json(data) if "texts" in data else said_from_json(data["said"])
            typed, content = tuple(texts_by_number(data["contents"]).items()), whole(data["content"])
        self._items, self._place_of_turn, self._place_of_reply = items, turns, replies
        self._said = {one.turn: one for one in found}
        self._words = SaidWords(recent(found, answered), content, typed)
        self.pages.set_written((*range(len(items)), *self._said))
        if "texts" in data or "pages" not in data:  # saved by an earlier version, so every page has to be written
            self.pages.touch_all()

    # -- Tool calls and notes

    def add_output(self, call: int, output: str, outcome: Outcome, tool: str) -> None:
        self._append(CallOutput(call, encodable(output), outcome, tool))

    def add_news(self, call: int, text: str, outcome: Outcome, tool: str) -> None:
        self._append(News(call, encodable(text), outcome, tool))

    @property
    def items(self) -> tuple[Item, ...]:
        """The history: everything that was heard, done or noted."""
        return self.since(0)

    def since(self, place: int, until: int | None = None) -> tuple[Item, ...]:
        """The items of the history from index `place` on, up to but not including index `until` (by default, up to the
        end). A reply is left out if it wasn't heard and called no tool."""
        items = self._items[place:until]
        return tuple([item for item in items if type(item) is not AgentSaid or item.text or item.calls])

    def first_after(self, turn: int) -> int:
        """The index, in the history, of the user's first turn after turn number `turn`. If there is no later turn, the
        result is the length of the history."""
        return next((place for newer, place in self._place_of_turn.items() if newer > turn), len(self._items))

    @property
    def settled(self) -> int:
        """How many items at the beginning of the history won't change any more. If a part of the newest reply was
        heard, all items are final. Otherwise only the items before that reply are final."""
        place = next(reversed(self._place_of_reply.values()), None)
        return len(self._items) if place is None or _is_over(self._items[place]) else place

    def __len__(self) -> int:
        """The number of items in the history. Replies that weren't heard are counted too, because a later report may
        say that they were heard."""
        return len(self._items)

    def recent(self, turns_max: int = 10) -> tuple[Item, ...]:
        """The newest `turns_max` turns of the user, and everything between and after them."""
        items = self.items
        starts = [index for index, item in enumerate(items) if isinstance(item, UserSaid)]
        return items[starts[-turns_max] :] if len(starts) > turns_max else items


def _check_place(holds: bool) -> None:
    if not holds:
        raise NotRestorable("the saved transcript is invalid: a turn or a reply isn't in its history")


def _is_over(item: Item) -> bool:
    return isinstance(item, AgentSaid) and bool(item.text)
