"""What a client is told about each fact of the conversation: one function for each fact.

Rule: a function never fails. A fact about something that the client was never told of changes nothing.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from ..realtime import facts as fa
from . import facts as fc
from .acts import DropHeldSound, SpeakReplies
from .exchange import GivenCall, RtviDraft, SpokenSegment, call_id
from .from_client import tell_ready

USER_ID = "user"


def begin_talk(d: RtviDraft, _: fc.TalkBegan) -> None:
    d.set(has_begun=True)
    tell_ready(d)


# -- The user


def begin_turn(d: RtviDraft, f: fa.UserBegan) -> None:
    if d.s.speaking_turn != f.turn:
        _speak_again(d)
        if d.s.speaking_turn:
            d.send("user-stopped-speaking")
        d.set(speaking_turn=f.turn)
        d.send("user-started-speaking")


def show_partial(d: RtviDraft, f: fc.PartialHeard) -> None:
    if f.text and f.text != d.s.partial:
        d.set(partial=f.text)
        _transcribe(d, f.text, final=False)


def end_turn(d: RtviDraft, f: fa.UserEnded) -> None:
    if not f.typed:
        begin_turn(d, fa.UserBegan(f.turn))
        _transcribe(d, f.text, final=True)
        d.set(speaking_turn=0, partial="")
        d.send("user-stopped-speaking")
    d.send("user-llm-text", text=f.text)


def drop_turn(d: RtviDraft, f: fa.UserDropped) -> None:
    if d.s.speaking_turn == f.turn:
        d.set(speaking_turn=0, partial="")
        d.send("user-stopped-speaking")


def _transcribe(d: RtviDraft, text: str, final: bool) -> None:
    d.send_stamped("user-transcription", text=text, user_id=USER_ID, final=final)


# -- The text of replies


def start_reply(d: RtviDraft, f: fa.ReplyStarted) -> None:
    _stop_thinking(d)
    d.set(reply=f.reply, is_thinking=True, spoken="", shown="", segments=())
    d.send("bot-llm-started")


def word_reply(d: RtviDraft, f: fa.ReplyWorded) -> None:
    if f.reply != d.s.reply:
        return
    more, only_shown = f.spoken[len(d.s.spoken) :], f.shown[len(d.s.shown) :]
    if more:
        start = len(d.s.spoken) + len(more) - len(more.lstrip())
        d.set(spoken=f.spoken)
        d.send("bot-llm-text", text=more)
        if more.strip():
            segment = SpokenSegment(d.next_number(), start, len(f.spoken.rstrip()), start)
            d.set(segments=(*d.s.segments, segment))
            _tell_segment(d, segment, "new")
    if only_shown:
        d.set(shown=f.shown)
        d.send("bot-llm-text", text=only_shown)
        data: dict[str, Any] = {"will_be_spoken": False, "spoken": False, "spoken_status": "new"}
        d.send("bot-output", text=only_shown, aggregated_by="sentence", segment_id=d.next_number(), **data)


def _tell_segment(d: RtviDraft, segment: SpokenSegment, status: str) -> None:
    text = d.s.spoken[segment.start : segment.end]
    data: dict[str, Any] = {"text": text, "aggregated_by": "sentence", "spoken": status == "completed"}
    if d.s.is_old:
        if status != "in-progress":
            d.send("bot-output", **data)
        return
    heard = segment.heard - segment.start
    progress = {"accumulated_text": text[:heard], "remaining_text": text[heard:]}
    d.send(
        "bot-output",
        **data,
        segment_id=segment.id,
        will_be_spoken=True,
        spoken_status=status,
        spoken_progress=progress,
    )


def complete_reply(d: RtviDraft, f: fa.ReplyComplete) -> None:
    if f.reply == d.s.reply:
        _stop_thinking(d)


def drop_reply(d: RtviDraft, f: fa.ReplyDropped) -> None:
    if f.reply == d.s.reply:
        _stop_thinking(d)


def rest(d: RtviDraft, _: fa.Rested) -> None:
    _stop_thinking(d)
    _speak_again(d)


def _stop_thinking(d: RtviDraft) -> None:
    if d.s.is_thinking:
        d.set(is_thinking=False)
        d.send("bot-llm-stopped")


def _speak_again(d: RtviDraft) -> None:
    """If the last answer was only shown and not spoken, let the agent speak its answers again from now on."""
    if d.s.is_unspoken:
        d.set(is_unspoken=False)
        d.do(SpeakReplies(True))


# -- The sound of replies


def begin_sound(d: RtviDraft, f: fc.AgentSounded) -> None:
    if d.s.voice != f.voice:
        fall_silent(d, fc.AgentFellSilent())
        d.set(voice=f.voice)
        d.send("bot-tts-started")
        d.send("bot-started-speaking")


def follow_sound(d: RtviDraft, f: fc.PlayedSoFar) -> None:
    """Tell the client how much of the reply was heard: the words since the last report, and the progress of each
    segment."""
    if f.reply != d.s.reply:
        return
    for segment in d.s.segments:
        heard = min(segment.end, f.chars)
        if heard <= segment.heard:
            continue
        words = d.s.spoken[segment.heard : heard].strip()
        moved = replace(segment, heard=heard)
        d.set(segments=tuple(moved if one.id == segment.id else one for one in d.s.segments))
        if words:
            d.send("bot-tts-text", text=words)
        _tell_segment(d, moved, "completed" if moved.is_heard else "in-progress")
        if moved.is_heard:
            d.send("bot-transcription", text=d.s.spoken[moved.start : moved.end])


def cut_sound(d: RtviDraft, f: fa.SoundCut) -> None:
    if d.s.voice == f.voice:
        d.do(DropHeldSound())
        d.send("bot-interrupted")


def note_heard(d: RtviDraft, f: fa.SoundHeard) -> None:
    """Tell the client how much was heard of a reply's sound that was cut off. The text after that counts as never
    spoken."""
    if not d.s.voice or f.voice != d.s.voice:
        return
    follow_sound(d, fc.PlayedSoFar(d.s.reply, len(f.text)))
    broken = next((one for one in d.s.segments if one.start < one.heard < one.end), None)
    if broken is not None:
        d.send("bot-transcription", text=d.s.spoken[broken.start : broken.heard].strip())


def fall_silent(d: RtviDraft, _: fc.AgentFellSilent) -> None:
    if d.s.voice:
        d.set(voice=0)
        d.send("bot-tts-stopped")
        d.send("bot-stopped-speaking")


# -- Function calls


def make_call(d: RtviDraft, f: fa.CallMade) -> None:
    made = GivenCall(f.call, f.name)
    d.set(calls=(*d.s.calls, made))
    d.send("llm-function-call-started", function_name=f.name)
    arguments = json.loads(f.arguments)
    d.send("llm-function-call-in-progress", function_name=f.name, tool_call_id=made.id, arguments=arguments)


def end_call(d: RtviDraft, f: fa.CallEnded) -> None:
    ended = next((one for one in d.s.calls if one.call == f.call), None)
    if ended is None:
        return
    d.set(calls=tuple(one for one in d.s.calls if one is not ended))
    result = {} if ended.result is None else {"result": ended.result}
    is_cancelled = ended.result is None
    name = ended.name
    d.send("llm-function-call-stopped", function_name=name, tool_call_id=ended.id, cancelled=is_cancelled, **result)


def begin_own_call(d: RtviDraft, f: fc.OwnCallBegan) -> None:
    """Tell the client that the agent runs a tool. The tool's name isn't sent, because clients aren't shown the names of
    the agent's own tools."""
    if f.call not in d.s.own_calls:
        d.set(own_calls=(*d.s.own_calls, f.call))
        d.send_any("llm-function-call-started", {})
        d.send("llm-function-call-in-progress", tool_call_id=call_id(f.call))


def end_own_call(d: RtviDraft, f: fc.OwnCallEnded) -> None:
    if f.call in d.s.own_calls:
        d.set(own_calls=tuple(call for call in d.s.own_calls if call != f.call))
        d.send("llm-function-call-stopped", tool_call_id=call_id(f.call), cancelled=f.is_cancelled)


# -- Programs


def answer_message(d: RtviDraft, f: fc.ProgramAnswered) -> None:
    if f.why:
        d.refuse(f.why, f.id)
    else:
        d.reply_to(f.id, "server-response", t=f.kind, d=f.value)


def send_message(d: RtviDraft, f: fc.ProgramSent) -> None:
    d.send_any("server-message", f.data)


# -- Measures and trouble


def measure_answer(d: RtviDraft, f: fc.AnswerMeasured) -> None:
    measured = (("brain", f.brain_ms), ("voice", f.voice_ms))
    values = [{"processor": part, "value": ms / 1000} for part, ms in measured if ms is not None]
    if values:
        d.send("metrics", ttfb=values)


def count_tokens(d: RtviDraft, f: fa.TokensUsed) -> None:
    used = {"prompt_tokens": f.input, "completion_tokens": f.output, "total_tokens": f.input + f.output}
    d.send("metrics", tokens=[{"processor": "brain", **used, "cache_read_input_tokens": f.cached}])


def count_characters(d: RtviDraft, f: fc.CharactersUsed) -> None:
    d.send("metrics", characters=[{"processor": "voice", "value": f.count}])


def show_fault(d: RtviDraft, f: fa.FaultShown) -> None:
    _stop_thinking(d)
    d.refuse(f"The {f.part} doesn't work right now ({f.error}).")


def lose_session(d: RtviDraft, _: fa.SessionLost) -> None:
    """End the reply that was being made. If it is made again in the next session, it starts from its first word."""
    _stop_thinking(d)


def refuse_input(d: RtviDraft, f: fc.InputRefused) -> None:
    _speak_again(d)
    d.refuse(f.message, f.id)
