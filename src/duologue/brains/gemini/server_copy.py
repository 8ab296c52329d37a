"""Tracks what the server's copy of the conversation contains, and writes the texts that bring it up to date.

Our own history is always right. The server's copy grows by itself: the server adds the audio that it hears and the
answers that it gives. Nothing in the copy can be deleted or shortened, so a text corrects what is wrong in it. Rule:
before each request, the server gets everything that it doesn't know yet: typed words, how much of an interrupted answer
the user heard, results of tool calls and news of jobs.
"""

from __future__ import annotations

import copy
import json
from dataclasses import dataclass, field

from duologue.brains.sent_history import HeardSpeech, key_of, needed_summary, place_of
from duologue.ports.history import AgentSaid, CallOutput, Item, News, Note, UserSaid
from duologue.ports.session import SessionContext
from duologue.ports.spoken_words import count_words, new_words

from . import client_messages as cm
from .client_messages import Told

CHANGING_MAX = 50  # how many of the newest history items may still change
NOT_RUN = "This call was not run, because the person interrupted you."


@dataclass(frozen=True, slots=True)
class CatchUp:
    """What the server must get before a request or with it: texts, and outputs of tool calls as (id, function,
    output)."""

    told: tuple[Told, ...] = ()
    outputs: tuple[tuple[str, str, str], ...] = ()


@dataclass(slots=True)
class _Made:
    """An answer that the server made in this session."""

    has_sound: bool = False
    is_corrected: bool = False
    calls: list[str] = field(default_factory=list)


class ServerCopy:
    """What the server knows about the conversation in one session. If the session is resumed on a new connection, the
    new connection uses a `snapshot` of this object."""

    def __init__(self, context: SessionContext | None = None) -> None:
        self._context = context or SessionContext()
        self._first = key_of(self._context.recent[0]) if self._context.recent else None
        self._heard = HeardSpeech()
        self._said: dict[int, int] = {}  # by turn: how many of its words the server has
        self._agent_said: dict[int, str] = {}  # the text of replies that earlier sessions made
        self._made: dict[int, _Made] = {}  # by reply
        self._known: dict[object, None] = {}
        self._ids: dict[int, str] = {}  # call -> its id on the server
        self._waiting: dict[str, str] = {}  # calls whose output the server waits for: id -> function
        self._settled_items = 0
        self._settled_reply = 0

    def snapshot(self) -> ServerCopy:
        """An independent copy of this object, for a connection that resumes the session from this point."""
        return copy.deepcopy(self)

    # -- How the server's copy grows

    def hear(self, text: str) -> None:
        """Record that the server got the audio of these words."""
        self._heard.add("", text)

    def begin_answer(self, reply: int) -> None:
        self._made.setdefault(reply, _Made())

    def add_sound(self, reply: int) -> None:
        self.begin_answer(reply)
        self._made[reply].has_sound = True

    def add_call(self, reply: int, call: str, name: str) -> None:
        self.begin_answer(reply)
        self._made[reply].calls.append(call)
        self._waiting[call] = name

    def cancel_calls(self, ids: tuple[str, ...] | None = None) -> None:
        """Record that the server no longer waits for the outputs of the tool calls with these ids. If `ids` is None,
        the server no longer waits for any output."""
        for call in [*self._waiting] if ids is None else ids:
            self._waiting.pop(call, None)

    # -- What the server must be told

    def restore(self) -> tuple[Told, ...]:
        """The texts that tell a new session what happened in the earlier sessions."""
        found: list[Told] = []
        summary = needed_summary(self._context)
        if summary:
            found.append(cm.note(f"Earlier in this conversation: {summary}"))
        if self._context.notes:
            found.append(cm.note("Keep in mind: " + "; ".join(self._context.notes)))
        return (*found, *self.catch_up(self._context.recent).told)

    def catch_up(self, history: tuple[Item, ...], reply: int = 0) -> CatchUp:
        """Return the texts and outputs that make the server's copy match this history, and treat them as sent. Called
        before reply number `reply` is requested."""
        told: list[Told] = []
        outputs: list[tuple[str, str, str]] = []
        recent = history[max(place_of(self._first, history), self._settled_items) :]
        for item in recent:
            match item:
                case UserSaid():
                    told += self._user(item)
                case AgentSaid():
                    told += self._agent(item)
                case CallOutput() if self._is_new(item):
                    name = self._ids.get(item.call, "")
                    if name in self._waiting:
                        outputs.append((name, self._waiting.pop(name), item.output or item.outcome.value))
                    else:
                        told.append(cm.late_output(item))
                case News() if self._is_new(item):
                    told.append(cm.news(item))
                case Note() if self._is_new(item):
                    told.append(cm.note(item.text))
        told += self._unheard({item.reply for item in recent if isinstance(item, AgentSaid)}, reply)
        outputs += self._not_run(reply)
        self._settled_reply = max(self._settled_reply, reply)
        self._settled_items = max(self._settled_items, len(history) - CHANGING_MAX)
        return CatchUp(tuple(told), tuple(outputs))

    def _is_new(self, item: Item) -> bool:
        key = key_of(item)
        if key in self._known:
            return False
        self._known[key] = None
        return True

    def _user(self, item: UserSaid) -> list[Told]:
        """The words of this turn that the server doesn't have in this session, because they were typed or because only
        an earlier session heard them. Empty if the words were overheard."""
        before = self._said.get(item.turn, 0)
        self._said[item.turn] = max(before, count_words(item.text))
        rest, _ = self._heard.match(new_words(item.text, before).split())
        return [Told("user", " ".join(rest))] if rest and not item.overheard else []

    def _agent(self, item: AgentSaid) -> list[Told]:
        for number, call in item.calls:
            if call.id:
                self._ids.setdefault(number, call.id)
        made = self._made.get(item.reply)
        if made is None:
            before = self._agent_said.get(item.reply, "")
            self._agent_said[item.reply] = item.text
            rest = item.text.removeprefix(before).strip()
            return [Told("model", rest)] if rest else []
        if not item.interrupted or made.is_corrected:
            return []
        made.is_corrected = True
        return [_heard_only(item.text)]

    def _unheard(self, heard: set[int], reply: int) -> list[Told]:
        """Texts which tell the server that the user heard nothing of some of its answers. Such answers aren't in the
        history."""
        found: list[Told] = []
        for number, made in self._made.items():
            if self._settled_reply <= number < reply and number not in heard and not made.is_corrected:
                made.is_corrected = True
                found += [_heard_only("")] if made.has_sound else []
        return found

    def _not_run(self, reply: int) -> list[tuple[str, str, str]]:
        """Outputs for tool calls that were never run. Without these outputs, the server would wait forever."""
        taken = set(self._ids.values())
        made = [call for number, one in self._made.items() if number < reply for call in one.calls]
        left = [call for call in made if call in self._waiting and call not in taken]
        return [(call, self._waiting.pop(call), NOT_RUN) for call in left]


def _heard_only(text: str) -> Told:
    if not text.strip():
        return cm.note("The person heard nothing of your last answer.")
    quoted = json.dumps(text.strip(), ensure_ascii=False)
    return cm.note(f"The person interrupted your last answer. They heard only: {quoted}")
