"""The responses that a client is sent: how a response begins, how words, sound and tool calls are added to it, and how
it ends.

Rule: for each response, exactly one `response.done` is sent, after all its items have ended.
"""

from __future__ import annotations

import base64
from dataclasses import replace
from typing import Any

from .acts import SendLimits, UseConfig
from .exchange import ExchangeDraft, OpenResponse, ResponseWish
from .fields import JsonObject
from .items import ItemKind, ItemRecord


def open_response(d: ExchangeDraft, reply: int, answers: bool = True) -> OpenResponse:
    """Begin a response for this reply: the response that the client asked for, or one that the conversation begins by
    itself if the client didn't ask. While what the client asked for still waits for a text, a reply can't be it."""
    asked = None if d.s.awaits_text else d.s.asked
    wish = asked or ResponseWish(d.s.config)
    response = OpenResponse(d.new_id("resp"), reply, wish, is_own=asked is None and not answers)
    d.set(response=response, asked=d.s.asked if d.s.awaits_text else None)
    d.send("response.created", response=as_json(d, response, "in_progress"))
    d.do(SendLimits(d.new_id("event")))
    return response


def as_json(d: ExchangeDraft, response: OpenResponse, status: str, details: JsonObject | None = None) -> JsonObject:
    config = response.wish.config
    return {
        "id": response.id,
        "object": "realtime.response",
        "status": status,
        "status_details": details,
        "output": [item.as_json() for item in response.output],
        "conversation_id": d.s.conversation_id,
        "output_modalities": list(config.output_modalities),
        "max_output_tokens": "inf",
        "audio": {"output": {"format": config.output_format.as_json(), "voice": config.voice}},
        "metadata": response.wish.metadata,
        "usage": _usage(response) if status != "in_progress" else None,
    }


def _usage(response: OpenResponse) -> JsonObject:
    """The usage of tokens that the brain's model has reported. Tokens for audio are always 0."""
    used, made = response.input_tokens, response.output_tokens
    cached = {"text_tokens": response.cached_tokens, "audio_tokens": 0, "image_tokens": 0}
    return {
        "total_tokens": used + made,
        "input_tokens": used,
        "output_tokens": made,
        "input_token_details": {
            "text_tokens": used,
            "audio_tokens": 0,
            "image_tokens": 0,
            "cached_tokens": response.cached_tokens,
            "cached_tokens_details": cached,
        },
        "output_token_details": {"text_tokens": made, "audio_tokens": 0},
    }


# -- Its words and sound


def _where(response: OpenResponse, item: ItemRecord) -> dict[str, Any]:
    return {"response_id": response.id, "item_id": item.id, "output_index": response.index_of(item)}


def _message(d: ExchangeDraft, is_sound: bool) -> ItemRecord:
    """The item with the words of the open response. It is created when the response gets its first words or its first
    sound."""
    response = d.s.response
    assert response is not None
    if response.message is not None:
        return response.message
    kind = ItemKind.AGENT_AUDIO if is_sound else ItemKind.AGENT_TEXT
    item = ItemRecord(d.new_id("item"), kind, "", "in_progress", reply=response.reply)
    previous = d.last_id
    response = response._replace(output=(*response.output, item))
    d.set(response=response)
    index = response.index_of(item)
    d.send("response.output_item.added", response_id=response.id, output_index=index, item=item.as_json())
    d.announce(item, previous, done=False)
    d.send("response.content_part.added", **_where(response, item), content_index=0, part=_part(item))
    return item


def _part(item: ItemRecord) -> JsonObject:
    if item.kind is ItemKind.AGENT_AUDIO:
        return {"type": "audio", "transcript": item.text or ""}
    return {"type": "text", "text": item.text or ""}


def add_words(d: ExchangeDraft, spoken: str, shown: str) -> None:
    """Send the words that the client doesn't have yet. `spoken` has all words of the reply that are spoken so far,
    and `shown` all that are only shown."""
    response = d.s.response
    if response is None or not (spoken or shown):
        return
    is_sound = bool(spoken) and response.wish.config.speaks
    item = _message(d, is_sound)
    more = spoken[len(item.said) :] if spoken.startswith(item.said) else ""
    extra = shown[len(item.shown) :] if shown.startswith(item.shown) else ""
    if more or extra:
        text = (item.text or "") + more + extra
        item = d.change(item, text=text, said=item.said + more, shown=item.shown + extra)
        assert d.s.response is not None
        kind = "output_audio_transcript" if item.kind is ItemKind.AGENT_AUDIO else "output_text"
        d.send(f"response.{kind}.delta", **_where(d.s.response, item), content_index=0, delta=more + extra)


def add_sound(d: ExchangeDraft, voice: int, data: bytes, ms: int) -> None:
    response = d.s.response
    if response is None or not response.wish.config.speaks:
        return
    item = _message(d, is_sound=True)
    item = d.change(item, voice=voice, sent_ms=item.sent_ms + ms)
    assert d.s.response is not None
    d.set(response=d.s.response._replace(voice=voice))
    if d.s.has_track:
        _begin_track(d, voice)
        return
    delta = base64.b64encode(data).decode()
    d.send("response.output_audio.delta", voice, **_where(d.s.response, item), content_index=0, delta=delta)


def _begin_track(d: ExchangeDraft, voice: int) -> None:
    """Tell the client that sound begins on the audio track, if the client wasn't told yet."""
    assert d.s.response is not None
    if d.s.track_voice != voice:
        d.set(track_voice=voice, track_response=d.s.response.id)
        d.send("output_audio_buffer.started", response_id=d.s.response.id)


def add_call(d: ExchangeDraft, call: int, name: str, arguments: str) -> None:
    response = d.s.response
    assert response is not None
    previous = d.last_id
    item = ItemRecord(
        d.new_id("item"), ItemKind.CALL, arguments, call=call, name=name, call_id=d.new_id("call"), reply=response.reply
    )
    response = response._replace(output=(*response.output, item))
    d.set(response=response, open_calls=(*d.s.open_calls, call))
    begun = replace(item, status="in_progress", text="")
    index = response.index_of(item)
    d.send("response.output_item.added", response_id=response.id, output_index=index, item=begun.as_json())
    d.announce(begun, previous, done=False)
    where = {**_where(response, item), "call_id": item.call_id}
    d.send("response.function_call_arguments.delta", **where, delta=arguments)
    d.send("response.function_call_arguments.done", **where, name=name, arguments=arguments)
    d.send("response.output_item.done", response_id=response.id, output_index=index, item=item.as_json())
    d.send("conversation.item.done", item=item.as_json(), previous_item_id=previous)


# -- Its end


def close_response(d: ExchangeDraft, status: str, details: JsonObject | None = None) -> None:
    """End the open response, if there is one. `details` says why, if the response wasn't completed."""
    response = d.s.response
    if response is None:
        return
    if response.message is not None:
        _close_message(d, response.message, "completed" if status == "completed" else "incomplete")
    response = d.s.response
    assert response is not None
    d.set(response=None)
    for item in response.output:
        d.add(item)
    d.send("response.done", response=as_json(d, response, status, details))
    next_config = d.s.asked.config if d.s.asked is not None else d.s.config
    if response.wish.config != next_config:
        d.do(UseConfig(next_config))


def _close_message(d: ExchangeDraft, item: ItemRecord, status: str) -> None:
    assert d.s.response is not None
    response, where = d.s.response, _where(d.s.response, item)
    item = d.change(item, status=status)
    if item.kind is ItemKind.AGENT_AUDIO:
        d.send("response.output_audio.done", **where, content_index=0)
        d.send("response.output_audio_transcript.done", **where, content_index=0, transcript=item.text)
    else:
        d.send("response.output_text.done", **where, content_index=0, text=item.text)
    d.send("response.content_part.done", **where, content_index=0, part=_part(item))
    index = response.index_of(item)
    d.send("response.output_item.done", response_id=response.id, output_index=index, item=item.as_json())
    place = response.index_of(item)
    previous = response.output[place - 1].id if place else (d.s.items[-1].id if d.s.items else None)
    d.send("conversation.item.done", item=item.as_json(), previous_item_id=previous)


def cancel_response(d: ExchangeDraft, by_client: bool) -> None:
    reason = "client_cancelled" if by_client else "turn_detected"
    close_response(d, "cancelled", {"type": "cancelled", "reason": reason})


def fail_response(d: ExchangeDraft, code: str, message: str) -> None:
    error = {"type": "server_error", "code": code, "message": message}
    close_response(d, "failed", {"type": "failed", "error": error})
