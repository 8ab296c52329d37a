"""Tracks what the server's copy of the conversation contains, and writes the events that bring it up to date.

Our own history is always right. The server's copy grows by itself: the server adds the audio that it hears and the
responses that it gives. Rule: before each request, the copy is changed to match the history. Typed words are added,
speech that the user never heard is truncated or deleted, and every tool call gets exactly one output.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from duologue.brains.sent_history import HeardSpeech, key_of, needed_summary, place_of
from duologue.ports.history import AgentSaid, CallOutput, Item, News, Note, UserSaid
from duologue.ports.session import SessionContext
from duologue.ports.spoken_words import count_words, new_words
from duologue.ports.tool_call import ToolCall

from . import client_events as ce

if TYPE_CHECKING:
    from .client_events import ClientEvent


SENDS_MAX = 4  # how often an item is sent if the server keeps refusing it
CHANGING_MAX = 50  # how many of the newest history items may still change


@dataclass(slots=True)
class _Made:
    """An item that a response added to the server's copy."""

    item: str
    is_message: bool
    ms: int = 0
    call: str = ""
    is_deleted: bool = False


@dataclass(slots=True)
class _Reply:
    made: list[_Made] = field(default_factory=list)
    is_truncated: bool = False


class Mirror:
    """What the server's copy of the conversation contains in one session."""

    def __init__(self, context: SessionContext | None = None) -> None:
        self._context = context or SessionContext()
        self._first = key_of(self._context.recent[0]) if self._context.recent else None
        self._heard = HeardSpeech()
        self._said: dict[int, int] = {}  # by turn: how many of its words the server has
        self._agent_said: dict[int, str] = {}  # the text of replies that earlier sessions made
        self._replies: dict[int, _Reply] = {}
        self._known: dict[object, None] = {}  # items of the history that the server has
        self._calls: dict[int, str] = {}  # call -> its id on the server
        self._names: dict[str, None] = {}
        self._again: list[ClientEvent] = []  # refused items, to be sent again
        self._refused: list[ClientEvent] = []
        self._settled_items = 0  # how many of the oldest history items no longer change
        self._settled_reply = 0

    # -- How the server's copy grows

    def hear(self, item: str, text: str) -> None:
        """Record that the server heard the user say this text. `item` is the id of the item in which the server has
        stored it."""
        self._heard.add(item, text)

    def begin_item(self, reply: int, item: str, is_message: bool) -> None:
        made = self._replies.setdefault(reply, _Reply()).made
        if all(one.item != item for one in made):
            made.append(_Made(item, is_message))

    def add_sound(self, reply: int, item: str, ms: int) -> None:
        self.begin_item(reply, item, True)
        self._item(reply, item).ms += ms

    def add_call(self, reply: int, item: str, name: str) -> None:
        self.begin_item(reply, item, False)
        self._item(reply, item).call = name

    def _item(self, reply: int, item: str) -> _Made:
        return next(one for one in self._replies[reply].made if one.item == item)

    def refuse(self, event: ClientEvent) -> None:
        """Record that the server refused to add the item in this event. The event is sent again with the next request,
        but at most SENDS_MAX times in all."""
        self._refused.append(event)
        if sum(one is event for one in self._refused) < SENDS_MAX:
            self._again.append(event)

    # -- What has to be sent to the server

    def restore(self) -> list[ClientEvent]:
        """The events that tell a new session what happened in the earlier sessions."""
        events: list[ClientEvent] = []
        summary = needed_summary(self._context)
        if summary:
            events.append(ce.system_item(f"Earlier in this conversation: {summary}"))
        if self._context.notes:
            events.append(ce.system_item("Keep in mind: " + "; ".join(self._context.notes)))
        return [*events, *self.catch_up(self._context.recent)]

    def truncate(self, reply: int, heard_ms: int) -> list[ClientEvent]:
        """Return the events that shorten this reply, in the server's copy, to the audio that the user heard. Empty if
        the reply isn't in the copy, or was shortened before."""
        known = self._replies.get(reply)
        if known is None or known.is_truncated:
            return []
        known.is_truncated = True
        events: list[ClientEvent] = []
        for made in known.made:
            if not made.is_message or made.is_deleted:
                continue
            if heard_ms <= 0:
                made.is_deleted = True
                events.append(ce.delete_item(made.item))
            elif heard_ms < made.ms:
                events.append(ce.truncate_item(made.item, heard_ms))
            heard_ms -= made.ms
        return events

    def catch_up(self, history: tuple[Item, ...], reply: int = 0) -> list[ClientEvent]:
        """Return the events that make the server's copy match this history, and treat them as sent. Called before reply
        number `reply` is requested."""
        events, self._again = self._again, []
        recent = history[max(place_of(self._first, history), self._settled_items) :]
        for item in recent:
            match item:
                case UserSaid():
                    events += self._catch_up_user(item)
                case AgentSaid():
                    events += self._catch_up_agent(item)
                case CallOutput():
                    events += self._catch_up_output(item)
                case News() | Note():
                    if self._is_new(item):
                        events.append(ce.news_item(item) if isinstance(item, News) else ce.system_item(item.text))
        heard = {item.reply for item in recent if isinstance(item, AgentSaid)}
        for number in self._replies:
            if self._settled_reply <= number < reply and number not in heard:
                events += self._forget(number)
        self._settled_reply = max(self._settled_reply, reply)
        self._settled_items = max(self._settled_items, len(history) - CHANGING_MAX)
        return events

    def _is_new(self, item: Item) -> bool:
        key = key_of(item)
        if key in self._known:
            return False
        self._known[key] = None
        return True

    # -- The user

    def _catch_up_user(self, item: UserSaid) -> list[ClientEvent]:
        """The events that add the words of this turn that the server doesn't have in this session, because they were
        typed or because only an earlier session heard them. If the words were overheard, the events that delete
        them."""
        before = self._said.get(item.turn, 0)
        self._said[item.turn] = max(before, count_words(item.text))
        rest, heard = self._heard.match(new_words(item.text, before).split())
        if item.overheard:  # the model must not answer overheard words
            return [ce.delete_item(name) for name in heard if name]
        return [ce.user_item(" ".join(rest))] if rest else []

    # -- The agent

    def _catch_up_agent(self, item: AgentSaid) -> list[ClientEvent]:
        known = self._replies.get(item.reply)
        if known is None:
            return self._add_reply(item)
        events: list[ClientEvent] = []
        taken = {call.id for _, call in item.calls}
        for number, call in item.calls:
            self._calls.setdefault(number, call.id)
        for made in known.made:
            if made.call and made.call not in taken and not made.is_deleted:  # a call that was never run
                made.is_deleted = True
                events.append(ce.delete_item(made.item))
        return events + (self.truncate(item.reply, item.heard_ms) if item.interrupted else [])

    def _add_reply(self, item: AgentSaid) -> list[ClientEvent]:
        """The events that add a reply from an earlier session. Text and tool calls that were already added aren't added
        again."""
        before = self._agent_said.get(item.reply, "")
        rest = item.text.removeprefix(before).strip()
        self._agent_said[item.reply] = item.text
        events: list[ClientEvent] = [ce.agent_item(rest)] if rest else []
        fresh = [(number, call) for number, call in item.calls if number not in self._calls]
        return events + [ce.call_item(call, self._name(number, call)) for number, call in fresh]

    def _name(self, number: int, call: ToolCall) -> str:
        """A unique id, on the server, for a tool call from an earlier session."""
        name = call.id or f"call_{number}"
        if name in self._names:
            name = f"{name}_{number}"
        self._names[name] = None
        self._calls[number] = name
        return name

    def _catch_up_output(self, item: CallOutput) -> list[ClientEvent]:
        if not self._is_new(item):
            return []
        name = self._calls.get(item.call)
        if name is None:
            return [ce.late_output_item(item)]
        return [ce.output_item(name, item.output or item.outcome.value)]

    def _forget(self, number: int) -> list[ClientEvent]:
        """Return the events that delete a reply from the server's copy, and treat it as deleted. The reply isn't in the
        history, because the user heard nothing of it and none of its tool calls was run."""
        left = [made for made in self._replies[number].made if not made.is_deleted]
        for made in left:
            made.is_deleted = True
        return [ce.delete_item(made.item) for made in left]
