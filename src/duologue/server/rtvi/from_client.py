"""What happens on each message from a client: one function for each type of message.

Rule: a message that is refused raises MessageRefused, and changes nothing.
"""

from __future__ import annotations

from dataclasses import replace

from . import incoming as im
from .acts import AddToHistory, AskProgram, BeginTalk, EndTalk, ReturnResult, SpeakReplies, TypeForUser
from .exchange import MAJORS, OLD_MAJOR, VERSION, RtviDraft
from .refusal import MessageRefused, quoted


def get_ready(d: RtviDraft, m: im.ClientReady) -> None:
    """Begin the conversation on the first `client-ready` message. A later `client-ready` message gets the same answer,
    but doesn't begin a conversation. If it comes before the conversation has begun, only the last one is answered."""
    version, is_first = agreed_version(m), not d.s.ready_id
    d.set(ready_id=m.id, version=version)
    if d.s.has_begun:
        tell_ready(d)
    elif is_first:
        d.do(BeginTalk())


def agreed_version(m: im.ClientReady) -> str:
    """The version of the protocol that both sides can use. Raises MessageRefused if there isn't one."""
    parts = m.version.split(".")
    if len(parts) != 3 or not all(part.isascii() and part.isdigit() and len(part) < 6 for part in parts):
        raise MessageRefused(f"'version' must be like '{VERSION}', not {quoted(m.version)}.", m.id, fatal=True)
    if int(parts[0]) not in MAJORS:
        why = f"RTVI version {m.version} isn't supported: this server speaks {VERSION} and {OLD_MAJOR}.x."
        raise MessageRefused(why, m.id, fatal=True)
    return m.version if int(parts[0]) == OLD_MAJOR else VERSION


def tell_ready(d: RtviDraft) -> None:
    d.reply_to(d.s.ready_id, "bot-ready", version=d.s.version, about=dict(d.s.about))


def leave(d: RtviDraft, m: im.DisconnectBot) -> None:
    check_begun(d, m)
    d.do(EndTalk())


def take_text(d: RtviDraft, m: im.SendText) -> None:
    check_begun(d, m)
    if not m.runs:
        d.do(AddToHistory(m.text, m.is_agents, m.id))
        return
    if not m.speaks or d.s.is_unspoken:
        d.set(is_unspoken=not m.speaks)
        d.do(SpeakReplies(m.speaks))
    d.do(TypeForUser(m.text, m.id))


def pass_to_program(d: RtviDraft, m: im.SendProgramMessage) -> None:
    check_begun(d, m)
    d.do(AskProgram(m.id, m.kind, m.data))


def take_result(d: RtviDraft, m: im.GiveResult) -> None:
    check_begun(d, m)
    found = next((one for one in d.s.calls if one.id == m.call_id and one.result is None), None)
    if found is None:
        raise MessageRefused(f"No open function call has the id {quoted(m.call_id)}.", m.id)
    if m.name not in ("", found.name):
        raise MessageRefused(f"The function call {found.id} isn't a call of {quoted(m.name)}.", m.id)
    d.set(calls=tuple(replace(one, result=m.result) if one is found else one for one in d.s.calls))
    d.do(ReturnResult(found.call, m.result))


def take_keys(d: RtviDraft, m: im.PressKeys) -> None:
    check_begun(d, m)
    d.do(TypeForUser(m.keys, m.id))


def check_begun(d: RtviDraft, m: im.IncomingMessage) -> None:
    if not d.s.has_begun:
        raise MessageRefused("Send 'client-ready' first.", m.id)
