"""The state of the exchange of events with one client, as one frozen value, and the draft (a working copy) that one
step changes.

Rule: all decisions about the protocol are made from this value alone.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, NamedTuple

from .acts import Act, Send
from .fields import JsonObject
from .items import ITEMS_MAX, ItemKind, ItemRecord
from .session_config import SessionConfig


@dataclass(frozen=True, slots=True)
class ResponseWish:
    """A client's request for one response: its configuration, and values that are only sent back to the client."""

    config: SessionConfig
    metadata: JsonObject | None = None
    event_id: str | None = None


class OpenResponse(NamedTuple):
    """A response that the client was told of, and that isn't complete yet."""

    id: str
    reply: int
    wish: ResponseWish
    is_own: bool = False  # the agent speaks by itself: neither the client nor the user has asked
    output: tuple[ItemRecord, ...] = ()
    voice: int = 0
    input_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0

    @property
    def message(self) -> ItemRecord | None:
        """The item with the words of the response; None if it has no words yet."""
        return next((item for item in self.output if item.kind is not ItemKind.CALL), None)

    def index_of(self, item: ItemRecord) -> int:
        return next(at for at, one in enumerate(self.output) if one.id == item.id)


class ExchangeState(NamedTuple):
    """The state of the exchange with one client. It is a named tuple and not a dataclass, because changing a field of a
    tuple takes a tenth of the time, and each event of a client changes several fields."""

    session_id: str
    conversation_id: str
    config: SessionConfig = SessionConfig()
    has_ears: bool = True
    has_voice: bool = True
    has_track: bool = False  # sound goes over WebRTC, and not in events
    is_fixed: bool = False  # a speech-to-speech model answers, which can't be changed during a call
    own_tools: tuple[str, ...] = ()  # names of tools that the agent runs itself
    voices: tuple[str, ...] = ()  # names of voices that the client may choose
    language: str = "en"  # that the agent hears
    counted: int = 0  # ids that were given to events, items and responses
    items: tuple[ItemRecord, ...] = ()
    deleted: tuple[ItemRecord, ...] = ()
    appended_ms: int = 0  # of sound that the client has sent
    kept_ms: int = 0  # of sound that the client hasn't committed yet
    speaking_turn: int = 0  # the user's turn that the client was told of
    speaking_item: str = ""
    speaking_from_ms: int = 0  # the place in the sound that the client has sent at which this turn begins
    unanswered: tuple[str, ...] = ()  # items of the user that no response was asked for
    typing: tuple[str, ...] = ()  # items that are being passed on as one turn
    outputs: tuple[str, ...] = ()  # items with outputs of calls that wait for response.create
    open_calls: tuple[int, ...] = ()
    asked: ResponseWish | None = None  # a response that was asked for and hasn't begun
    awaits_text: bool = False  # it waits for the text of committed sound
    response: OpenResponse | None = None
    track_voice: int = 0  # the voice that is heard on the track, and its response
    track_response: str = ""


class ExchangeDraft:
    """The working copy that one step changes: the state so far, and the acts to perform."""

    def __init__(self, state: ExchangeState) -> None:
        self.s = state
        self.acts: list[Act] = []

    def set(self, **changes: Any) -> None:
        self.s = self.s._replace(**changes)

    def do(self, act: Act) -> None:
        self.acts.append(act)

    def new_id(self, prefix: str) -> str:
        self.s = self.s._replace(counted=self.s.counted + 1)
        return f"{prefix}_{self.s.session_id[-8:]}{self.s.counted:06d}"

    def send(self, kind: str, voice: int = 0, **fields: Any) -> None:
        self.acts.append(Send({"type": kind, "event_id": self.new_id("event"), **fields}, voice))

    # -- Items

    @property
    def last_id(self) -> str | None:
        """The id of the newest item; None if there is no item."""
        response = self.s.response
        if response is not None and response.output:
            return response.output[-1].id
        return self.s.items[-1].id if self.s.items else None

    def find(self, item_id: str) -> ItemRecord | None:
        open_items = self.s.response.output if self.s.response is not None else ()
        return next((item for item in chain(open_items, reversed(self.s.items)) if item.id == item_id), None)

    def find_voice(self, voice: int) -> ItemRecord | None:
        open_items = self.s.response.output if self.s.response is not None else ()
        items = chain(open_items, reversed(self.s.items)) if voice else ()
        return next((item for item in items if item.voice == voice), None)

    def add(self, item: ItemRecord, at: int | None = None) -> None:
        items = list(self.s.items)
        items.insert(len(items) if at is None else at, item)
        self.set(items=tuple(items[-ITEMS_MAX:]))

    def change(self, item: ItemRecord, **changes: Any) -> ItemRecord:
        """Change these fields of an item. Returns the changed item."""
        changed = replace(item, **changes)
        if self.s.response is not None and any(one.id == item.id for one in self.s.response.output):
            output = tuple(changed if one.id == item.id else one for one in self.s.response.output)
            self.set(response=self.s.response._replace(output=output))
        else:
            self.set(items=tuple(changed if one.id == item.id else one for one in self.s.items))
        return changed

    def announce(self, item: ItemRecord, previous: str | None, done: bool = True) -> None:
        """Tell the client that an item was added and, if `done`, that it is complete."""
        self.send("conversation.item.added", item=item.as_json(), previous_item_id=previous)
        if done:
            self.send("conversation.item.done", item=item.as_json(), previous_item_id=previous)
