"""Handles messages about presence: "are you there?", and "I'm still here" after the agent has asked that.

Such a message says nothing about the task. The agent replies to it and asks its open question again. Rule: the whole
message has to be about presence. It is no miss, fills no slot and confirms nothing.
"""

from __future__ import annotations

from .apply_commands import apply_commands
from .commands import ChitChat, Help
from .interpreters import MessageInContext
from .language.readings import SlotKind
from .state import Phase


def take_presence(reply: MessageInContext) -> bool:
    """Reply to a message about presence and return True. Return False for any other message, and also for a plain
    greeting while no question is open."""
    said = _text_for(reply)
    if not said:
        return False
    has_question = bool(reply.d.s.stack)
    reply.d.enter(Phase.UNDERSTANDING)
    apply_commands(reply.d, (ChitChat(said),) if has_question else (ChitChat(said), Help()))
    return True


def _text_for(reply: MessageInContext) -> str:
    """The reply to a message about presence; empty for any other message."""
    patterns, words = reply.d.domain.patterns, reply.words
    said = tuple(token.word for token in reply.tokens if token.word not in words.polite | words.fillers)
    if said in words.asks_presence:
        return patterns.here
    kind = _kind_asked_for(reply)
    if said in words.says_presence and kind not in (SlotKind.TEXT, SlotKind.YES_NO):
        return patterns.assent
    is_greeting = reply.signs.courtesy_of(reply.tokens) == "greeting"
    return patterns.greeting if is_greeting and reply.d.s.stack and kind is not SlotKind.TEXT else ""


def _kind_asked_for(reply: MessageInContext) -> SlotKind | None:
    """The kind of value that the open question asks for; None if it asks for no value."""
    slot = reply.d.s.waiting_for
    return reply.d.spec(slot).kind if slot is not None else None
