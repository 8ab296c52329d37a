"""The transcript: what the user said, and what was heard of the agent's speech.

The state machine knows turns only by number. Their words are stored here and nowhere else. Rule: the history has turns
in the order of their completion and replies in the order of their start. It contains every word of the user, including
words that were only overheard or that were lost.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from duologue.core.effects import RecordOverheard, StartReply
from duologue.core.events import TextTyped, WordsHeard
from duologue.core.leaves import CLOSED, Outcome
from duologue.core.step_record import StepRecord
from duologue.ports.encodable_text import encodable
from duologue.ports.history import AgentSaid, CallOutput, Item, News, UserSaid
from duologue.ports.tool_call import ToolCall

from .checkpoint import NotRestorable, item_from_json, item_to_json
from .transcript_pages import PAGE, TranscriptPages, join_pages
from .validation import number, numbers, pairs, reading, text, texts_by_number, whole

TYPED = -1  # utterance number of typed text


class Transcript:
    """The words of one conversation."""

    def __init__(self) -> None:
        self._items: list[Item] = []
        self._place_of_turn: dict[int, int] = {}
        self._place_of_reply: dict[int, int] = {}
        self._texts: dict[int, dict[int, str]] = {}  # turn -> utterance -> text
        self._confidence: dict[int, float] = {}
        self._overheard: set[int] = set()
        self._requested: set[int] = set()
        self._contents: dict[int, str] = {}  # content id -> typed text that is not in a turn yet
        self._known: dict[int, dict[str, int]] = {}  # turn -> final text -> its content id
        self._content = 0
        self.pages = TranscriptPages()

    # -- The user

    def hear(self, turn: int, utterance: int, text: str, confidence: float = 1.0) -> None:
        """Set the text of an utterance in this turn. An earlier text of the utterance is replaced."""
        self.pages.touch(turn)
        self._texts.setdefault(turn, {})[utterance] = encodable(text.strip())
        if text.strip():
            self._confidence[turn] = confidence
        place = self._place_of_turn.get(turn)
        if place is not None:
            said = self._items[place]
            assert isinstance(said, UserSaid)
            self._put(place, replace(said, text=self.text_of(turn), confidence=self.confidence_of(turn)))

    def said_in(self, turn: int, utterance: int) -> str:
        """The text of one utterance in this turn."""
        return self._texts.get(turn, {}).get(utterance, "")

    def content_of(self, turn: int, text: str) -> int:
        """An id for the final text of a turn. The same text of the same turn gets the same id."""
        known = self._known.setdefault(turn, {})
        if text not in known:
            self._content += 1
            known[text] = self._content
            self.pages.touch(turn)
        return known[text]

    def store_typed(self, text: str) -> int:
        """Store typed text until the state machine assigns it to a turn. Returns the content id of the text."""
        self._content += 1
        self._contents[self._content] = encodable(text)
        return self._content

    def text_of(self, turn: int) -> str:
        """The whole text of a turn."""
        return " ".join(text for text in self._texts.get(turn, {}).values() if text)

    def confidence_of(self, turn: int) -> float:
        return self._confidence.get(turn, 1.0)

    def turns(self, first: int, last: int) -> list[tuple[int, str]]:
        """The turns from `first` up to and including `last` that have words and need an answer, each as (number,
        text)."""
        wanted = sorted(turn for turn in self._texts if first <= turn <= last and turn not in self._overheard)
        return [(turn, text) for turn in wanted if (text := self.text_of(turn))]

    def follow(self, record: StepRecord) -> None:
        """Update the history after a step: which turns are complete, and which were only overheard."""
        event, before, after = record.event, record.before, record.after
        if type(event) is TextTyped and event.content in self._contents:
            text = self._contents.pop(event.content)
            said = self._texts.setdefault(after.turn, {})
            said[TYPED - len(said)] = text
            self.pages.touch(after.turn)
        for effect in record.effects:
            if type(effect) is RecordOverheard:
                if effect.turn not in self._requested:  # a turn that was in a request isn't overheard
                    self._overheard.add(effect.turn)
                    self.pages.touch(effect.turn)
                self.place(effect.turn)
            elif type(effect) is StartReply:
                for turn, _ in self.turns(effect.first, effect.last):
                    self._requested.add(turn)
                    self.pages.touch(turn)
        if after.said > before.said:
            if after.link not in CLOSED:  # closing the conversation advances `said` although nothing was said
                self._overheard.discard(after.said)
                self.pages.touch(after.said)
            for turn in range(before.said + 1, after.said + 1):
                self.place(turn)
        elif type(event) is WordsHeard and event.words and event.turn <= after.said:
            self.place(event.turn)  # late text of a turn that seemed to be noise
        elif type(event) is TextTyped or (after.link in CLOSED and before.link not in CLOSED):
            self.place(after.turn)

    def place(self, turn: int) -> None:
        """Add a turn to the history, or update its text there. A turn without words isn't added."""
        text = self.text_of(turn)
        if not text:
            return
        said = UserSaid(turn, text, turn in self._overheard, self._confidence.get(turn, 1.0))
        if turn in self._place_of_turn:
            self._put(self._place_of_turn[turn], said)
        else:
            self._place_of_turn[turn] = self._append(said)

    def _append(self, item: Item) -> int:
        """Add an item to the history. Returns its place, which is its index."""
        self._items.append(item)
        self.pages.touch(len(self._items) - 1)
        return len(self._items) - 1

    def _put(self, place: int, item: Item) -> None:
        """Replace the item at this place."""
        self._items[place] = item
        self.pages.touch(place)

    # -- The agent

    def begin_reply(self, reply: int) -> None:
        """Give the reply its place in the history. Called when its sound or its first tool call begins."""
        if reply not in self._place_of_reply:
            self._place_of_reply[reply] = self._append(AgentSaid(reply, ""))

    def add_call(self, reply: int, number: int, call: ToolCall) -> None:
        self.begin_reply(reply)
        said = self._reply(reply)
        self._set_reply(replace(said, calls=(*said.calls, (number, call))))

    def end_reply(self, reply: int, heard: str, unheard: str, heard_ms: int, interrupted: bool) -> None:
        """Set what was heard of the reply."""
        self.begin_reply(reply)
        text, rest = encodable(heard), encodable(unheard)
        self._set_reply(
            replace(self._reply(reply), text=text, unheard=rest, heard_ms=heard_ms, interrupted=interrupted)
        )

    def heard_of(self, reply: int) -> str:
        """What was heard of a reply that is over."""
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
        """The part of the data that isn't in any page."""
        return {"pages": self.pages.all, "contents": list(self._contents.items()), "content": self._content}

    def page(self, number: int) -> dict[str, Any]:
        """The data of one page: PAGE places of the history, and PAGE turns."""
        turns = range(number * PAGE, (number + 1) * PAGE)
        placed = list(enumerate(self._items[turns.start : turns.stop], turns.start))
        return {
            "items": [item_to_json(item) for _, item in placed],
            "turns": [[item.turn, place] for place, item in placed if isinstance(item, UserSaid)],
            "replies": [[item.reply, place] for place, item in placed if isinstance(item, AgentSaid)],
            "texts": [[turn, list(self._texts[turn].items())] for turn in turns if turn in self._texts],
            "confidence": [[turn, self._confidence[turn]] for turn in turns if turn in self._confidence],
            "overheard": [turn for turn in turns if turn in self._overheard],
            "requested": [turn for turn in turns if turn in self._requested],
            "known": [[f"{turn}:{text}", id_] for turn in turns for text, id_ in self._known.get(turn, {}).items()],
        }

    def load(self, data: dict[str, Any]) -> None:
        """Restore what `dump` returned. Raises NotRestorable for invalid data."""
        with reading("the transcript"):
            items = [item_from_json(item) for item in data["items"]]
            turns, replies = numbers(data["turns"]), numbers(data["replies"])
            for turn, place in turns.items():
                _check_place(isinstance(said := items[place], UserSaid) and said.turn == turn)
            for reply, place in replies.items():
                _check_place(isinstance(answer := items[place], AgentSaid) and answer.reply == reply)
            texts = {whole(turn): _utterances(said) for turn, said in pairs(data["texts"])}
            confidence = {whole(turn): number(value) for turn, value in pairs(data["confidence"])}
            overheard, requested = set(map(whole, data["overheard"])), set(map(whole, data["requested"]))
            contents, content = texts_by_number(data["contents"]), whole(data["content"])
            known: dict[int, dict[str, int]] = {}
            for key, id_ in pairs(data["known"]):
                turn_known, _, said_known = text(key).partition(":")
                known.setdefault(int(turn_known), {})[said_known] = whole(id_)
        self._items, self._place_of_turn, self._place_of_reply = items, turns, replies
        self._texts, self._confidence, self._overheard, self._requested = texts, confidence, overheard, requested
        self._contents, self._content, self._known = contents, content, known
        self.pages.set_written((*range(len(items)), *texts, *confidence, *overheard, *requested, *known))
        if "pages" not in data:  # saved by a version without pages, so every page has to be written
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

    def since(self, place: int) -> tuple[Item, ...]:
        """The items of the history from this place on, except replies that were neither heard nor called a tool."""
        return tuple(item for item in self._items[place:] if not _is_empty(item))

    def __len__(self) -> int:
        """The number of places in the history. An empty reply has a place too, because it may later be reported as
        heard."""
        return len(self._items)

    def recent(self, turns_max: int = 10) -> tuple[Item, ...]:
        """The newest `turns_max` turns of the user, and everything between and after them."""
        items = self.items
        starts = [index for index, item in enumerate(items) if isinstance(item, UserSaid)]
        return items[starts[-turns_max] :] if len(starts) > turns_max else items


def _utterances(data: Any) -> dict[int, str]:
    """The texts of a turn by utterance number. Typed texts have the numbers -1, -2 and so on."""
    if any(type(utterance) is not int for utterance, _ in pairs(data)):
        raise NotRestorable("the transcript has an utterance without a number")
    return {utterance: text(said) for utterance, said in pairs(data)}


def _check_place(holds: bool) -> None:
    if not holds:
        raise NotRestorable("a saved turn or reply has no item in the transcript")


def _is_empty(item: Item) -> bool:
    """Is this item a reply that was neither heard nor called a tool?"""
    return isinstance(item, AgentSaid) and not item.text and not item.calls
