"""The translation between a client of the RTVI protocol and a conversation: `step(state, input) -> (state, acts)`.

The translation is pure: it has no clock, never awaits, and handles neither sockets nor sound. The inputs are messages
from the client and facts about the conversation. Rule: the table has one function for each kind of input. A refused
message changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from ..realtime import facts as fa
from . import facts as fc
from . import from_client as client
from . import from_conversation as conversation
from . import incoming as im
from .acts import Disconnect, RtviAct
from .exchange import RtviDraft, RtviState
from .refusal import MessageRefused

RtviInput: TypeAlias = im.IncomingMessage | fc.RtviFact | MessageRefused
RtviHandler: TypeAlias = Callable[[RtviDraft, Any], None]

TABLE: dict[type, RtviHandler] = {
    im.ClientReady: client.get_ready,
    im.DisconnectBot: client.leave,
    im.SendText: client.take_text,
    im.SendProgramMessage: client.pass_to_program,
    im.GiveResult: client.take_result,
    im.PressKeys: client.take_keys,
    fc.TalkBegan: conversation.begin_talk,
    fc.PartialHeard: conversation.show_partial,
    fc.AgentSounded: conversation.begin_sound,
    fc.AgentFellSilent: conversation.fall_silent,
    fc.PlayedSoFar: conversation.follow_sound,
    fc.OwnCallBegan: conversation.begin_own_call,
    fc.OwnCallEnded: conversation.end_own_call,
    fc.AnswerMeasured: conversation.measure_answer,
    fc.CharactersUsed: conversation.count_characters,
    fc.ProgramAnswered: conversation.answer_message,
    fc.ProgramSent: conversation.send_message,
    fc.InputRefused: conversation.refuse_input,
    fa.UserBegan: conversation.begin_turn,
    fa.UserEnded: conversation.end_turn,
    fa.UserDropped: conversation.drop_turn,
    fa.ReplyStarted: conversation.start_reply,
    fa.ReplyWorded: conversation.word_reply,
    fa.SoundCut: conversation.cut_sound,
    fa.SoundHeard: conversation.note_heard,
    fa.ReplyDropped: conversation.drop_reply,
    fa.ReplyComplete: conversation.complete_reply,
    fa.Rested: conversation.rest,
    fa.FaultShown: conversation.show_fault,
    fa.SessionLost: conversation.lose_session,
    fa.TokensUsed: conversation.count_tokens,
    fa.CallMade: conversation.make_call,
    fa.CallEnded: conversation.end_call,
}


def step(state: RtviState, given: RtviInput) -> tuple[RtviState, tuple[RtviAct, ...]]:
    """Take one input. Returns the state after it, and the acts to perform now, in order."""
    if isinstance(given, MessageRefused):
        return _refuse(state, given)
    draft = RtviDraft(state)
    try:
        TABLE[type(given)](draft, given)
    except MessageRefused as why:
        return _refuse(state, why)
    return draft.s, tuple(draft.acts)


def _refuse(state: RtviState, why: MessageRefused) -> tuple[RtviState, tuple[RtviAct, ...]]:
    draft = RtviDraft(state)
    draft.refuse(why.message, why.id)
    if why.fatal:
        draft.send("error", error=why.message, message=why.message, fatal=True)
        draft.do(Disconnect(why.message))
    return draft.s, tuple(draft.acts)
