"""What a client is told about each fact of the conversation: one function for each fact.

Rule: a function never fails. A fact about something that the client was never told of changes nothing.
"""

from __future__ import annotations

from dataclasses import replace

from . import facts as fa
from .acts import UseConfig
from .exchange import ExchangeDraft
from .from_client import KEPT_MS_MAX, ask, take_sound
from .items import ItemKind, ItemRecord
from .responses import (
    add_call,
    add_sound,
    add_words,
    cancel_response,
    close_response,
    fail_response,
    open_response,
)

# -- The user


def hear_track(d: ExchangeDraft, f: fa.TrackHeard) -> None:
    """Take sound from the client's microphone. It is ignored if the agent has no ears, or if too much sound is kept
    already."""
    if not d.s.has_ears:
        return
    if d.s.config.is_manual and d.s.kept_ms + f.ms > KEPT_MS_MAX:
        return
    take_sound(d, f.pcm, f.rate_hz, f.ms)


def begin_turn(d: ExchangeDraft, f: fa.UserBegan) -> None:
    """Tell the client that the user has begun to speak. Most clients then stop their playback."""
    if d.s.speaking_turn == f.turn:
        return
    _seed_unanswered(d)
    item_id = d.new_id("item")
    start_ms = max(0, d.s.appended_ms - _padding(d))
    d.set(speaking_turn=f.turn, speaking_item=item_id, speaking_from_ms=start_ms)
    d.send("input_audio_buffer.speech_started", audio_start_ms=start_ms, item_id=item_id)


def _padding(d: ExchangeDraft) -> int:
    turns = d.s.config.turn_detection
    return turns.prefix_padding_ms if turns is not None else 0


def _seed_unanswered(d: ExchangeDraft) -> None:
    """Forget which texts wait for an answer, because the user has begun to speak before the client requested a
    response. These texts stay in the history, but get no answer of their own any more."""
    d.set(unanswered=tuple(id_ for id_ in d.s.unanswered if (item := d.find(id_)) is not None and item.text is None))


def end_turn(d: ExchangeDraft, f: fa.UserEnded) -> None:
    if f.typed:
        for id_ in d.s.typing:
            if (item := d.find(id_)) is not None:
                d.change(item, turn=f.turn)
        d.set(typing=())
        return
    begin_turn(d, fa.UserBegan(f.turn))
    item = ItemRecord(d.s.speaking_item, ItemKind.USER_AUDIO, f.text, turn=f.turn)
    previous = d.last_id
    d.set(speaking_turn=0, speaking_item="")
    d.send("input_audio_buffer.speech_stopped", audio_end_ms=d.s.appended_ms, item_id=item.id)
    d.send("input_audio_buffer.committed", item_id=item.id, previous_item_id=previous)
    d.add(item)
    d.announce(replace(item, text=None), previous)
    _tell_text(d, item.id, f.text, d.s.appended_ms - d.s.speaking_from_ms)


def _tell_text(d: ExchangeDraft, item_id: str, text: str, ms: int) -> None:
    """Tell the client the text of this item, whose sound lasts `ms` milliseconds."""
    if d.s.config.transcription is None:
        return
    kind = "conversation.item.input_audio_transcription"
    d.send(f"{kind}.delta", item_id=item_id, content_index=0, delta=text)
    usage = {"type": "duration", "seconds": ms / 1000}
    d.send(f"{kind}.completed", item_id=item_id, content_index=0, transcript=text, usage=usage)


def drop_turn(d: ExchangeDraft, f: fa.UserDropped) -> None:
    if d.s.speaking_turn == f.turn:
        d.send("input_audio_buffer.speech_stopped", audio_end_ms=d.s.appended_ms, item_id=d.s.speaking_item)
        d.set(speaking_turn=0, speaking_item="")


def note_text(d: ExchangeDraft, f: fa.AudioWritten) -> None:
    """Note the text of audio that the client committed."""
    item = d.find(f.item_id)
    if item is None:
        return
    d.change(item, text=f.text or "")
    if f.text is not None:
        _tell_text(d, item.id, f.text, f.ms)
    elif d.s.config.transcription is not None:
        error = {
            "type": "transcription_error",
            "code": "audio_unintelligible",
            "message": "It couldn't be transcribed.",
        }
        d.send("conversation.item.input_audio_transcription.failed", item_id=item.id, content_index=0, error=error)
    if d.s.awaits_text:
        ask(d)


# -- Replies


def start_reply(d: ExchangeDraft, f: fa.ReplyStarted) -> None:
    """Begin a response for this reply. But if a response without any output is open, the reply is a new attempt at that
    response, and no new response begins."""
    response = d.s.response
    if response is not None and not response.output and (d.s.asked is None or d.s.awaits_text):
        d.set(response=response._replace(reply=f.reply))
        return
    close_response(d, "completed")
    open_response(d, f.reply, f.answers)


def word_reply(d: ExchangeDraft, f: fa.ReplyWorded) -> None:
    if d.s.response is not None and d.s.response.reply == f.reply:
        add_words(d, f.spoken, f.shown)


def send_sound(d: ExchangeDraft, f: fa.SoundSent) -> None:
    if d.s.response is not None and d.s.response.reply == f.reply:
        add_sound(d, f.voice, f.data, f.ms)


def end_track(d: ExchangeDraft, f: fa.TrackEnded) -> None:
    if d.s.track_voice == f.voice:
        kind = "cleared" if f.is_cut else "stopped"
        d.send(f"output_audio_buffer.{kind}", response_id=d.s.track_response)
        d.set(track_voice=0, track_response="")


def complete_sound(d: ExchangeDraft, f: fa.SoundComplete) -> None:
    if d.s.response is not None and d.s.response.voice == f.voice:
        close_response(d, "completed")


def cut_sound(d: ExchangeDraft, f: fa.SoundCut) -> None:
    if d.s.response is not None and d.s.response.voice == f.voice:
        cancel_response(d, f.by_client)


def note_heard(d: ExchangeDraft, f: fa.SoundHeard) -> None:
    """Record how much was heard of a reply's sound that was cut off. If the client hasn't truncated the item itself,
    tell it that the item is truncated."""
    item = d.find_voice(f.voice)
    if item is None:
        return
    if item.heard_ms is None:
        d.send("conversation.item.truncated", item_id=item.id, content_index=0, audio_end_ms=f.heard_ms)
    d.change(item, heard_ms=f.heard_ms, text=f.text, status="incomplete")


def drop_reply(d: ExchangeDraft, f: fa.ReplyDropped) -> None:
    response = d.s.response
    if response is not None and response.reply == f.reply and not response.voice:
        cancel_response(d, f.by_client)


def complete_reply(d: ExchangeDraft, f: fa.ReplyComplete) -> None:
    if d.s.response is not None and d.s.response.reply == f.reply:
        close_response(d, "completed")


def rest(d: ExchangeDraft, _: fa.Rested) -> None:
    """End the open response, if there is one, because the agent has nothing more to say."""
    close_response(d, "completed")


def show_fault(d: ExchangeDraft, f: fa.FaultShown) -> None:
    message = f"The {f.part} doesn't work right now."
    fail_response(d, f.error, message)
    error = {"type": "server_error", "code": f.error, "message": message, "param": None, "event_id": None}
    d.send("error", error=error)


def lose_session(d: ExchangeDraft, _: fa.SessionLost) -> None:
    """End a response whose words or sound were partly sent: it can't go on in the next session. A response without
    output stays open, because it is made again."""
    if d.s.response is not None and d.s.response.output:
        fail_response(d, "session_lost", "The agent's session was lost, and is being opened again.")


def count_tokens(d: ExchangeDraft, f: fa.TokensUsed) -> None:
    if (r := d.s.response) is not None:
        d.set(
            response=r._replace(
                input_tokens=r.input_tokens + f.input,
                cached_tokens=r.cached_tokens + f.cached,
                output_tokens=r.output_tokens + f.output,
            )
        )


def refuse_ask(d: ExchangeDraft, f: fa.AskRefused) -> None:
    """Tell the client that the conversation has refused its input. The input stays unanswered until the client requests
    a response again."""
    asked = d.s.asked
    waiting = tuple(id_ for id_ in d.s.typing)
    d.set(asked=None, awaits_text=False, typing=(), unanswered=(*waiting, *d.s.unanswered))
    event_id = asked.event_id if asked is not None else None
    kind = "rate_limit_error" if f.code == "rate_limit_exceeded" else "invalid_request_error"
    error = {"type": kind, "code": f.code, "message": f.message, "param": None, "event_id": event_id}
    d.send("error", error=error)
    if asked is not None and asked.config != d.s.config:
        d.do(UseConfig(d.s.config))


# -- Calls


def make_call(d: ExchangeDraft, f: fa.CallMade) -> None:
    if d.s.response is None:
        open_response(d, 0)
    add_call(d, f.call, f.name, f.arguments)


def end_call(d: ExchangeDraft, f: fa.CallEnded) -> None:
    kept = tuple(id_ for id_ in d.s.outputs if (item := d.find(id_)) is None or item.call != f.call)
    d.set(open_calls=tuple(call for call in d.s.open_calls if call != f.call), outputs=kept)
