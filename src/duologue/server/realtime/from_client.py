"""What happens on each event from a client: one function for each type of event.

Rule: a function either changes the draft, or raises EventRefused; if it raises, the event has no effect.
"""

from __future__ import annotations

from dataclasses import replace

from . import acts as do
from . import client_events as ce
from .exchange import ExchangeDraft, ExchangeState, OpenResponse, ResponseWish
from .fields import JsonObject, read_metadata
from .items import CREATED_MAX, ItemKind, ItemRecord, read_item
from .refusal import EventRefused, invalid, unsupported
from .responses import cancel_response as close_cancelled
from .responses import open_response
from .session_config import AGENT, SessionConfig
from .session_fields import read_response, update

COMMIT_MS_MIN = 100
KEPT_MS_MAX = 120_000  # of sound that isn't committed


# -- The session


def update_session(d: ExchangeDraft, e: ce.SessionUpdate) -> None:
    """Change the session. Its model was chosen when the client connected, and stays."""
    config = replace(update(d.s.config, e.session), model=d.s.config.model)
    config = possible(d.s, config, "session")
    d.set(config=config)
    d.do(do.UseConfig(config))
    d.send("session.updated", session=config.as_json(d.s.session_id))


def possible(s: ExchangeState, config: SessionConfig, path: str) -> SessionConfig:
    """This configuration as the agent can have it: with the agent's own voice, if it has no voice with the wanted name.
    Raises EventRefused if the agent can't work with the configuration."""
    if config.voice not in s.voices:
        config = replace(config, voice=AGENT)
    if s.is_fixed:
        _refuse_changes(s.config, config, path)
    if config.speaks and not s.has_voice:
        raise unsupported(f"{path}.output_modalities", "this agent has no voice; send ['text']")
    taken = next((tool.name for tool in config.tools if tool.name in s.own_tools), None)
    if taken is not None:
        raise invalid(f"{path}.tools", f"the agent has a tool {taken!r} of its own: choose another name")
    languages = config.transcription.languages if config.transcription is not None else ()
    if languages and s.language not in [code.partition("-")[0].lower() for code in languages]:
        name = "language" if len(languages) == 1 else "languages"
        raise unsupported(f"{path}.audio.input.transcription.{name}", f"this agent hears '{s.language}'")
    return config


def _refuse_changes(now: SessionConfig, wanted: SessionConfig, path: str) -> None:
    """Raise EventRefused for the first field that would change the agent."""
    for name, old, new in (
        ("instructions", now.instructions, wanted.instructions),
        ("tools", now.tools, wanted.tools),
        ("tool_choice", now.tool_choice, wanted.tool_choice),
        ("audio.input.turn_detection", now.turn_detection, wanted.turn_detection),
        ("audio.output.voice", now.voice, wanted.voice),
    ):
        if old != new:
            why = "this agent's model can't be changed once the conversation has begun"
            raise unsupported(f"{path}.{name}", why)


# -- Sound


def append_audio(d: ExchangeDraft, e: ce.AudioAppend) -> None:
    config = d.s.config
    if d.s.has_track:
        raise unsupported("audio", "with WebRTC, send sound on the audio track")
    if not d.s.has_ears:
        raise unsupported("audio", "this agent can't hear; send text")
    if config.input_format.bytes_per_ms > 8 and len(e.audio) % 2:
        raise invalid("audio", "16-bit PCM has an even number of bytes")
    ms = len(e.audio) // config.input_format.bytes_per_ms
    pcm, rate_hz = config.input_format.decode(e.audio), config.input_format.rate_hz
    if pcm:
        take_sound(d, pcm, rate_hz, ms)


def take_sound(d: ExchangeDraft, pcm: bytes, rate_hz: int, ms: int) -> None:
    """Pass the client's sound on to the agent. If the client itself ends turns, keep the sound until the client commits
    it; raises EventRefused if too much is kept."""
    if not d.s.config.is_manual:
        d.set(appended_ms=d.s.appended_ms + ms)
        d.do(do.PassSound(pcm, rate_hz))
        return
    if d.s.kept_ms + ms > KEPT_MS_MAX:
        raise invalid("audio", f"at most {KEPT_MS_MAX // 1000} s are kept: commit or clear the buffer")
    d.set(appended_ms=d.s.appended_ms + ms, kept_ms=d.s.kept_ms + ms)
    d.do(do.KeepSound(pcm, rate_hz))


def commit_audio(d: ExchangeDraft, _: ce.AudioCommit) -> None:
    """End the user's turn now, if the server detects the ends of turns and the user is speaking. Otherwise make an item
    of the sound that was kept."""
    if not d.s.config.is_manual and d.s.speaking_turn:
        d.do(do.SendTurn())
        return
    if d.s.kept_ms < COMMIT_MS_MIN:
        raise EventRefused(
            "input_audio_buffer_commit_empty",
            f"Error committing input audio buffer: buffer too small. Expected at least {COMMIT_MS_MIN}ms of audio, "
            f"but buffer only has {d.s.kept_ms}ms of audio.",
        )
    item = ItemRecord(d.new_id("item"), ItemKind.USER_AUDIO, None, is_created=True)
    previous = d.last_id
    d.add(item)
    d.set(kept_ms=0, unanswered=(*d.s.unanswered, item.id))
    d.send("input_audio_buffer.committed", item_id=item.id, previous_item_id=previous)
    d.announce(item, previous)
    d.do(do.Transcribe(item.id))


def clear_output(d: ExchangeDraft, _: ce.OutputClear) -> None:
    if not d.s.has_track:
        raise unsupported("type", "this event is only for WebRTC; send response.cancel and conversation.item.truncate")
    if d.s.track_voice:
        d.do(do.Interrupt())


def clear_audio(d: ExchangeDraft, _: ce.AudioClear) -> None:
    d.set(kept_ms=0)
    d.do(do.DropSound())
    d.send("input_audio_buffer.cleared")


# -- Items


def create_item(d: ExchangeDraft, e: ce.ItemCreate) -> None:
    item = read_item(e.item, d.new_id("item"))
    if d.find(item.id) is not None:
        raise invalid("item.id", "an item with this id already exists")
    if sum(one.is_created for one in d.s.items) >= CREATED_MAX:
        raise invalid("item", f"a client may create at most {CREATED_MAX} items: delete some")
    at, previous = _place(d, e.previous_item_id)
    if item.kind is ItemKind.OUTPUT:
        item = _take_output(d, item)
    d.add(item, at)
    if item.kind is ItemKind.USER_TEXT and at is None:
        d.set(unanswered=(*d.s.unanswered, item.id))
    d.announce(item, previous)


def _place(d: ExchangeDraft, previous_id: str | None) -> tuple[int | None, str | None]:
    """Where to insert a new item that should come after the item `previous_id`. Returns two values: the index of the
    new item (None: at the end), and the id of the item before it (None: there is no item before it)."""
    if previous_id is None:
        return None, d.last_id
    if previous_id == "root":
        return 0, None
    if previous_id == d.last_id:
        return None, previous_id
    at = next((at for at, one in enumerate(d.s.items) if one.id == previous_id), None)
    if at is None:
        raise EventRefused("invalid_value", "Item with the given 'previous_item_id' not found.", "previous_item_id")
    return at + 1, previous_id


def _take_output(d: ExchangeDraft, item: ItemRecord) -> ItemRecord:
    """Take the output of a tool call, and return the item for it. If the agent made the tool call, the output is kept
    for the conversation, which waits for it. If the client itself created the tool call as an item, the output only
    becomes an item, too."""
    open_items = d.s.response.output if d.s.response is not None else ()
    made = [one for one in (*d.s.items, *open_items) if one.kind is ItemKind.CALL and one.call_id == item.call_id]
    if not made:
        raise EventRefused("invalid_tool_call_id", "No tool call with the given 'call_id' found.", "item.call_id")
    call = made[0]
    if not call.call:
        return item
    given = [d.find(id_) for id_ in d.s.outputs]
    if call.call not in d.s.open_calls or any(one is not None and one.call == call.call for one in given):
        raise EventRefused("invalid_tool_call_id", "The tool call has its output already, or is over.", "item.call_id")
    d.set(outputs=(*d.s.outputs, item.id))
    return replace(item, call=call.call, reply=call.reply)


def _known(d: ExchangeDraft, item_id: str, what: str) -> ItemRecord:
    item = d.find(item_id)
    if item is None:
        message = f"Error {what} item: the item with the given 'item_id' doesn't exist."
        raise EventRefused(f"item_{_CODES[what]}_invalid_item_id", message, "item_id")
    return item


_CODES = {"retrieving": "retrieve", "deleting": "delete", "truncating": "truncate"}


def retrieve_item(d: ExchangeDraft, e: ce.ItemRetrieve) -> None:
    d.send("conversation.item.retrieved", item=_known(d, e.item_id, "retrieving").as_json())


def delete_item(d: ExchangeDraft, e: ce.ItemDelete) -> None:
    item = _known(d, e.item_id, "deleting")
    if d.s.response is not None and any(one.id == item.id for one in d.s.response.output):
        raise EventRefused("item_delete_invalid_item_id", "The item is in progress: cancel its response.", "item_id")
    d.set(
        items=tuple(one for one in d.s.items if one.id != item.id),
        unanswered=tuple(one for one in d.s.unanswered if one != item.id),
        deleted=(*d.s.deleted, item) if item.turn or item.reply else d.s.deleted,
    )
    d.send("conversation.item.deleted", item_id=item.id)


def truncate_item(d: ExchangeDraft, e: ce.ItemTruncate) -> None:
    """Record that the client has stopped playing an item. Raises EventRefused if the client names more sound than it
    was sent. Sound that the client can't have played yet doesn't count as heard."""
    item = _known(d, e.item_id, "truncating")
    if item.kind is not ItemKind.AGENT_AUDIO or not item.voice:
        raise EventRefused("item_truncate_invalid_item_id", "Only audio of the assistant can be truncated.", "item_id")
    if e.content_index != 0:
        raise invalid("content_index", "it must be 0, because the item has only one content part")
    if e.audio_end_ms > item.sent_ms:
        raise EventRefused(
            "invalid_value",
            f"Audio content of {item.sent_ms}ms is already shorter than {e.audio_end_ms}ms",
            "audio_end_ms",
        )
    limits = [e.audio_end_ms, *(one for one in (item.heard_ms, e.played_ms) if one is not None)]
    heard_ms = max(e.reported_ms, min(limits))
    d.change(item, heard_ms=heard_ms)
    d.send("conversation.item.truncated", item_id=item.id, content_index=0, audio_end_ms=heard_ms)
    if item.heard_ms is None:
        d.do(do.StopPlayer(item.voice, heard_ms))


# -- Responses


def create_response(d: ExchangeDraft, e: ce.ResponseCreate) -> None:
    wish = ResponseWish(_response_config(d, e.response), _metadata(e.response), e.event_id)
    if d.s.asked is not None or (d.s.response is not None and not d.s.outputs and not _gives_way(d, d.s.response)):
        raise EventRefused(
            "conversation_already_has_active_response",
            "Conversation already has an active response in progress. Wait until the response is finished before "
            "creating a new one.",
        )
    d.set(asked=wish)
    if wish.config != d.s.config:
        d.do(do.UseConfig(wish.config))
    ask(d)


def _gives_way(d: ExchangeDraft, response: OpenResponse) -> bool:
    """Does this response end when the client asks for another one? Yes, if the agent speaks by itself, as in a
    greeting, and the client has new text or sound: the client expects an answer to that, and perhaps doesn't know that
    agents greet."""
    return response.is_own and bool(d.s.unanswered)


def ask(d: ExchangeDraft) -> None:
    """Let the conversation begin the response that the client asked for. The agent gets the new outputs of tool calls,
    or otherwise the user's new texts; if there is nothing new, it simply speaks. If audio is still being transcribed,
    wait for its text first."""
    if d.s.outputs:
        items = [item for id_ in d.s.outputs if (item := d.find(id_)) is not None]
        d.set(outputs=(), open_calls=tuple(call for call in d.s.open_calls if call not in [i.call for i in items]))
        d.do(do.GiveOutputs(tuple((item.call, item.text or "") for item in items)))
        return
    waiting = [item for id_ in d.s.unanswered if (item := d.find(id_)) is not None]
    if any(item.text is None for item in waiting):
        d.set(awaits_text=True)
        return
    d.set(awaits_text=False, unanswered=())
    text = "\n".join(item.text for item in waiting if item.text and item.text.strip())
    if text:
        d.set(typing=tuple(item.id for item in waiting))
        d.do(do.TypeText(text))
    else:
        d.do(do.SpeakNow())


def _metadata(given: JsonObject) -> JsonObject | None:
    return read_metadata(given.get("metadata"), "response.metadata")


def _response_config(d: ExchangeDraft, given: JsonObject) -> SessionConfig:
    """The session's configuration, with the changes that the client wants for this response."""
    return possible(d.s, read_response(d.s.config, given), "response")


def cancel_response(d: ExchangeDraft, e: ce.ResponseCancel) -> None:
    """Stop the agent. A response that was asked for and hasn't begun is told as begun and cancelled."""
    response = d.s.response
    is_other = response is not None and e.response_id is not None and e.response_id != response.id
    if is_other or (response is None and d.s.asked is None):
        raise EventRefused("response_cancel_not_active", "Cancellation failed: no active response found")
    if response is None:
        d.set(awaits_text=False)
        open_response(d, 0)
        close_cancelled(d, by_client=True)
    d.do(do.Interrupt())
