"""The translation between a client of the Realtime protocol and a conversation: `step(state, input) -> (state, acts)`.

The translation is pure: it has no clock, never awaits, and uses no socket. The inputs are events from the client and
facts about the conversation. Rule: the table has one function for each kind of input. A refused event changes nothing;
only an error is sent.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from . import client_events as ce
from . import facts as fa
from . import from_client as client
from . import from_conversation as conversation
from .acts import Act
from .exchange import ExchangeDraft, ExchangeState
from .refusal import EventRefused
from .session_config import SessionConfig

ExchangeInput: TypeAlias = ce.ClientEvent | fa.Fact | EventRefused
Handler: TypeAlias = Callable[[ExchangeDraft, Any], None]

TABLE: dict[type, Handler] = {
    ce.SessionUpdate: client.update_session,
    ce.AudioAppend: client.append_audio,
    ce.AudioCommit: client.commit_audio,
    ce.AudioClear: client.clear_audio,
    ce.OutputClear: client.clear_output,
    ce.ItemCreate: client.create_item,
    ce.ItemRetrieve: client.retrieve_item,
    ce.ItemDelete: client.delete_item,
    ce.ItemTruncate: client.truncate_item,
    ce.ResponseCreate: client.create_response,
    ce.ResponseCancel: client.cancel_response,
    fa.UserBegan: conversation.begin_turn,
    fa.UserEnded: conversation.end_turn,
    fa.UserDropped: conversation.drop_turn,
    fa.AudioWritten: conversation.note_text,
    fa.ReplyStarted: conversation.start_reply,
    fa.ReplyWorded: conversation.word_reply,
    fa.TrackHeard: conversation.hear_track,
    fa.TrackEnded: conversation.end_track,
    fa.SoundSent: conversation.send_sound,
    fa.SoundComplete: conversation.complete_sound,
    fa.SoundCut: conversation.cut_sound,
    fa.SoundHeard: conversation.note_heard,
    fa.ReplyDropped: conversation.drop_reply,
    fa.ReplyComplete: conversation.complete_reply,
    fa.Rested: conversation.rest,
    fa.FaultShown: conversation.show_fault,
    fa.SessionLost: conversation.lose_session,
    fa.TokensUsed: conversation.count_tokens,
    fa.AskRefused: conversation.refuse_ask,
    fa.CallMade: conversation.make_call,
    fa.CallEnded: conversation.end_call,
}


def step(state: ExchangeState, given: ExchangeInput) -> tuple[ExchangeState, tuple[Act, ...]]:
    """Take one input. Returns the state after it, and the acts to perform now, in order."""
    if isinstance(given, EventRefused):
        return _refuse(state, given, getattr(given, "event_id", None))
    draft = ExchangeDraft(state)
    try:
        TABLE[type(given)](draft, given)
    except EventRefused as why:
        return _refuse(state, why, getattr(given, "event_id", None))
    return draft.s, tuple(draft.acts)


def _refuse(state: ExchangeState, why: EventRefused, event_id: str | None) -> tuple[ExchangeState, tuple[Act, ...]]:
    draft = ExchangeDraft(state)
    draft.send("error", error=why.as_error(event_id))
    return draft.s, tuple(draft.acts)


def greet(state: ExchangeState) -> tuple[ExchangeState, tuple[Act, ...]]:
    """Send the events that a client gets first: its session, and its conversation. The session may have been configured
    in advance, with a short-lived key or in the request for a call. If this agent can't work with that configuration,
    the defaults are used instead, and the client is told why."""
    draft, refused = ExchangeDraft(state), None
    try:
        draft.set(config=client.possible(state, state.config, "session"))
    except EventRefused as why:
        refused = why
        modalities = ("audio",) if state.has_voice else ("text",)
        draft.set(config=SessionConfig(state.config.model, output_modalities=modalities))
    draft.send("session.created", session=draft.s.config.as_json(state.session_id))
    shown = {"id": state.conversation_id, "object": "realtime.conversation"}
    draft.send("conversation.created", conversation=shown)
    if refused is not None:
        draft.send("error", error=refused.as_error(None))
    return draft.s, tuple(draft.acts)
