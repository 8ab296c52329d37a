"""Every parser of input from outside, with valid examples.

A target gets bytes and accepts or refuses them as documented. Rule: an exception from `feed` is always a bug.
"""

from __future__ import annotations

import asyncio
import functools
import io
import json
import random
import struct
import tempfile
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from duologue import Agent
from duologue.audio.frames import UnusableAudio
from duologue.audio.wav import decode as decode_sound
from duologue.brains.realtime import server_events
from duologue.core.codec import event_from_json, restore, snapshot
from duologue.core.errors import DuologueError
from duologue.core.events import Event
from duologue.core.leaves import CLOSED
from duologue.dialogue.codec import BadCheckpoint, from_json, to_json
from duologue.flows import InvalidFlows, load_flows, parse_flows
from duologue.flows.dialogue_session import DialogueSession
from duologue.flows.name_files import read_name_files
from duologue.flows.problems import ProblemList
from duologue.flows.registry import Registry
from duologue.flows.stories import InvalidStories, read_stories
from duologue.lines.phone.carriers import CARRIERS
from duologue.lines.phone.media_stream import Stream, StreamRefused
from duologue.lines.scripted import ScriptedLine
from duologue.nlu.local import LocalNlu
from duologue.ports.scripted_steps import Delay
from duologue.ports.store import StoredConversation, StoreFailed
from duologue.ports.tool_call import ToolCall
from duologue.replay.journal import InvalidJournal, read_journal, replay
from duologue.replay.words_file import InvalidWords, read_words
from duologue.runtime.checkpoint import NotRestorable, machine_part, read_checkpoint
from duologue.runtime.conversation import Conversation
from duologue.runtime.simulated_clock import run_simulated
from duologue.runtime.transcript_pages import page_name
from duologue.server.app import replay_response
from duologue.server.client_messages import TABLE, BadMessage, read_message
from duologue.server.restore import read_earlier, read_events
from duologue.server.rtvi.frames import InvalidFrame, audio_frame, interruption_frame, message_frame, read_frame
from duologue.server.rtvi.incoming import read_message as read_rtvi
from duologue.server.rtvi.refusal import MessageRefused
from duologue.store.memory import MemoryStore
from duologue.store.write_content import decode
from duologue.testing import ScriptedBrain, ScriptedVoice
from duologue.testing.scenario import InvalidScenario, load
from duologue.workers.scripted import scripted_tool
from tests.fuzz.mutation import as_bytes, odd_bytes, odd_json

ROOT = Path(__file__).parent.parent.parent
FLOWS = ROOT / "examples"
SCENARIOS = ROOT / "examples" / "scenarios"


@dataclass(frozen=True)
class Target:
    """`seeds` returns valid inputs. With `is_json`, single values in them are changed too."""

    feed: Callable[[bytes], object]
    seeds: Callable[[], Sequence[bytes]]
    is_json: bool = True
    weight: int = 1  # how expensive it is, relative to the others

    def example(self, dice: random.Random) -> bytes:
        """A nearly valid input."""
        seed = dice.choice(self.seeds())
        if self.is_json and dice.random() < 0.7:
            lines = seed.split(b"\n")
            at = dice.randrange(len(lines))
            if lines[at]:
                lines[at] = as_bytes(odd_json(json.loads(lines[at]), dice))
            return b"\n".join(lines)
        return odd_bytes(seed, dice)


def text_of(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def parsed(data: bytes) -> Any:
    """Parse JSON, as a store or a socket does before the parser; invalid JSON never reaches the parser."""
    try:
        return json.loads(text_of(data))
    except (ValueError, RecursionError):
        return None


def _is_one_line(problem: Exception) -> None:
    """Check that a refusal is readable text."""
    message = str(problem)
    assert 0 < len(message) < 600, message
    assert "\n" not in message, message


# -- What clients, carriers and models send


def feed_protocol(data: bytes) -> None:
    try:
        read_message(text_of(data))
    except BadMessage as problem:
        _is_one_line(problem)


def protocol_seeds() -> list[bytes]:
    hello = {"version": 1, "seat": "a", "token": "t", "audio": {"rate_hz": 16_000}, "take_over": True}
    hello |= {
        "played": {"voice": 1, "ms": 2, "chunk": 3, "held": True},
        "receipts": ["r"],
        "conversation": "c",
        "key": "k",
        "language": "de",
    }
    some = {"text": "hi", "id": "m1", "call": 1, "voice": 1, "ms": 20, "on": True, "t": 1.5, "here": True, "key": "k"}
    some |= {"microphone": "on", "state": "on", "sdp": "v=0", "rtp": 7, "carrier": "socket"}
    messages = [{"type": "hello", "payload": hello}]
    messages += [
        {"type": kind, "payload": {name: some[name] for name in fields}}
        for kind, fields in TABLE.items()
        if kind != "hello"
    ]
    return [as_bytes(message) for message in messages]


class _Wire:
    """A connection without a peer."""

    def send(self, text: str) -> None: ...

    def close(self, code: int, reason: str) -> None: ...


def feed_carrier(name: str, data: bytes) -> None:
    async def call() -> None:
        stream = Stream(CARRIERS[name], _Wire(), lambda started: None)  # type: ignore[arg-type]
        for line in text_of(data).split("\n"):
            try:
                stream.receive(line)
            except StreamRefused as refused:
                _is_one_line(refused)
                break
        stream.end()

    run_simulated(call())


def carrier_seeds(name: str) -> list[bytes]:
    names = CARRIERS[name]
    form = {"encoding": next(iter(names.encodings)), names.sample_rate: 8000, "channels": 1}
    start = {names.call_id: "call", names.media_format: form, names.parameters: {"token": "t"}}
    messages: list[dict[str, Any]] = [
        {"event": "connected", "protocol": "Call"},
        {"event": "start", names.stream_id: "s", "start": start},
        {"event": "media", names.stream_id: "s", "media": {"chunk": "1", "payload": "////", "track": "inbound"}},
        {"event": "dtmf", names.stream_id: "s", "dtmf": {"digit": "5"}},
        {"event": "mark", names.stream_id: "s", "mark": {"name": "m"}},
        {"event": "stop", names.stream_id: "s"},
    ]
    return [b"\n".join(map(as_bytes, messages))]


def feed_realtime(data: bytes) -> None:
    assert server_events.read(parsed(data)) is not None


def feed_rtvi_frame(data: bytes) -> None:
    with suppress(InvalidFrame):
        read_frame(data)


def rtvi_frame_seeds() -> list[bytes]:
    return [audio_frame(bytes(32), 16_000), message_frame('{"label": "rtvi-ai"}'), interruption_frame()]


def feed_rtvi_message(data: bytes) -> None:
    with suppress(MessageRefused):
        read_rtvi(data.decode("utf-8", "replace"))


def rtvi_message_seeds() -> list[bytes]:
    given: dict[str, Any] = {
        "client-ready": {"version": "2.1.0", "about": {"library": "x"}},
        "send-text": {"content": "hi", "options": {"run_immediately": True}},
        "append-to-context": {"role": "user", "content": "hi"},
        "client-message": {"t": "x", "d": [1]},
        "llm-function-call-result": {"function_name": "f", "tool_call_id": "call_1", "result": {"a": 1}},
        "dtmf": {"buttons": ["1"]},
    }
    return [
        json.dumps({"label": "rtvi-ai", "type": kind, "id": "a", "data": data}).encode() for kind, data in given.items()
    ]


def realtime_seeds() -> list[bytes]:
    of_item = {"response_id": "r", "item_id": "i", "output_index": 0, "content_index": 0}
    call = {"id": "i", "type": "function_call", "name": "look", "arguments": "{}", "call_id": "c"}
    usage = {"total_tokens": 3, "input_tokens": 1, "output_tokens": 2}
    events: list[dict[str, Any]] = [
        {"type": "session.created", "session": {"expires_at": 99}},
        {"type": "input_audio_buffer.speech_started", "item_id": "i", "audio_start_ms": 1},
        {"type": "conversation.item.input_audio_transcription.completed", "item_id": "i", "transcript": "hello"},
        {"type": "response.created", "response": {"id": "r", "metadata": {server_events.REQUEST_KEY: "q"}}},
        {"type": "response.output_item.added", "response_id": "r", "item": {"id": "i", "type": "message"}},
        {"type": "response.output_audio.delta", "delta": "AAEC", **of_item},
        {"type": "response.output_text.delta", "delta": "hi", **of_item},
        {"type": "response.output_item.done", "response_id": "r", "item": call},
        {
            "type": "response.done",
            "response": {"id": "r", "status": "failed", "status_details": {"error": {"code": "x"}}, "usage": usage},
        },
        {"type": "rate_limits.updated", "rate_limits": [{"name": "tokens", "remaining": 1, "reset_seconds": 0.5}]},
        {"type": "error", "error": {"type": "invalid_request_error", "code": "x", "message": "no", "event_id": "e"}},
    ]
    return [as_bytes(event) for event in events]


# -- Journals and words files


@functools.cache
def journal_seeds() -> list[bytes]:
    """A short call with a tool, and one that was cut off."""

    async def call(file: Path) -> bytes:
        conversation = Conversation(_agent(), ScriptedLine(ack_ms=500), journal=file)
        await conversation.start()
        for text in ("hello", "find it"):
            conversation.type(text)
            await asyncio.sleep(4)
        await conversation.end()
        return file.read_bytes()

    with tempfile.TemporaryDirectory() as folder:
        whole = run_simulated(call(Path(folder) / "call.jsonl"))
    return [whole, b"\n".join(whole.split(b"\n")[:12]) + b"\n"]


def feed_journal(data: bytes) -> None:
    for complete in (True, False):
        try:
            for _ in replay(read_journal(text_of(data).splitlines(keepends=True), complete)):
                pass
        except (InvalidJournal, DuologueError):
            continue


def feed_replay_address(data: bytes) -> None:
    assert replay_response(data).status_code in (200, 422)


def words_seeds() -> list[bytes]:
    lines: list[dict[str, Any]] = [
        {"format": "duologue-words", "schema": 1},
        {"at": 1, "text": "hello", "kind": "user", "turn": 1},
        {"at": 2, "text": "hi", "kind": "agent", "reply": 1, "voice": 1, "unheard": "there"},
    ]
    return [b"\n".join(map(as_bytes, lines)) + b"\n"]


def feed_words(data: bytes) -> None:
    for complete in (True, False):
        try:
            read_words(text_of(data).splitlines(keepends=True), complete)
        except InvalidWords:
            continue


def feed_events(data: bytes) -> None:
    """Lines of a journal in a store."""
    lines = text_of(data).split("\n")
    assert all(isinstance(event, Event) for event in read_events(lines, len(lines)))
    try:
        event_from_json(parsed(data))
    except DuologueError:
        return


def event_seeds() -> list[bytes]:
    entries = read_journal(text_of(journal_seeds()[0]).splitlines(keepends=True)).entries[:12]
    from duologue.core.codec import event_to_json

    numbered = [{"n": number, "event": event_to_json(one.event)} for number, one in enumerate(entries, 1)]
    return [b"\n".join(map(as_bytes, numbered)), as_bytes(numbered[3]["event"])]


def feed_snapshot(data: bytes) -> None:
    try:
        restore(text_of(data))
    except DuologueError:
        return


@functools.cache
def snapshot_seeds() -> list[bytes]:
    return [snapshot(state).encode() for state in _states()]


@functools.cache
def _states() -> tuple[Any, ...]:
    journal = read_journal(text_of(journal_seeds()[0]).splitlines(keepends=True))
    after = [record.after for record in replay(journal)]
    return tuple(after[:: max(1, len(after) // 12)])


# -- Stored conversations


def _agent() -> Agent:
    brain = ScriptedBrain({"find": [ToolCall("look", {"a": 1}, "c")]}, otherwise="An answer that takes a while to say.")
    return Agent(brain, voice=ScriptedVoice(), tools=[scripted_tool("look", Delay(2_000), "found")])


class _Parts:
    """A checkpoint writer that stores nothing: it hands out the functions that make the parts of a checkpoint."""

    def __init__(self) -> None:
        self.makers: dict[str, Callable[[], Any]] = {}

    def add_part(self, name: str, make: Callable[[], Any], _pages: object = None) -> None:
        self.makers[name] = make

    def mark(self, *names: str) -> None: ...

    def log(self, line: str) -> None: ...

    async def wait_until_saved(self) -> None: ...

    async def once(self, _key: str, _name: str, work: Callable[[], Coroutine[Any, Any, Any]], _repeatable: bool) -> Any:
        return await work()


@functools.cache
def stored_seeds() -> list[bytes]:
    """Stored states of a call: while it speaks, while a tool runs, and at rest."""

    async def call() -> list[bytes]:
        conversation = Conversation(_agent(), ScriptedLine())
        await conversation.start()
        engine, found, parts = conversation.engine, [], _Parts()
        engine.save_with(parts)  # type: ignore[arg-type]
        for text, wait_s in (("hello", 1.0), ("and", 8.0), ("find it", 1.0), ("", 20.0)):
            if text:
                conversation.type(text)
            await asyncio.sleep(wait_s)
            machine = machine_part(conversation.machine_state, engine.events)
            room = {"seat": "a", "language": "en", "began": "2026-01-01T00:00:00+00:00", "typed": ["m1"]}
            said = engine.transcript
            pages = {page_name("words", page): said.page(page) for page in said.pages.all}
            found.append(as_bytes({"machine": machine, "words": parts.makers["words"](), "room": room, **pages}))
        await conversation.end()
        return found

    return run_simulated(call())


def feed_stored(data: bytes) -> None:
    """A conversation that can be read can be continued: it listens, answers and ends."""
    parts = parsed(data)
    if not isinstance(parts, dict):
        return
    run_simulated(_revive(parts))


async def _revive(parts: dict[str, Any]) -> None:
    agent = _agent()
    failures: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: failures.append(context))
    try:
        await read_earlier(MemoryStore(), StoredConversation("call", 1, 1, parts), agent.settings, None)
        saved = read_checkpoint(parts, agent.settings)
        conversation = Conversation(agent, ScriptedLine(), checkpoint=saved)
    except NotRestorable:
        return
    assert saved.state.link not in CLOSED
    going = asyncio.ensure_future(conversation.restore())
    await asyncio.wait([going], timeout=90)
    over = asyncio.ensure_future(conversation.wait())
    await asyncio.wait([over], timeout=0.01)
    if not over.done():
        with suppress(DuologueError):
            conversation.type("hello again")
        await asyncio.sleep(30)
        await asyncio.wait_for(conversation.end(), 60)
    assert conversation.snapshot() is not None
    json.dumps(machine_part(conversation.machine_state, 1))
    going.cancel()
    over.cancel()
    await asyncio.gather(going, over, return_exceptions=True)
    assert not failures, failures


def feed_row(data: bytes) -> None:
    try:
        decode(text_of(data), "call", "a part")
    except StoreFailed as problem:
        _is_one_line(problem)


# -- Dialogues


@functools.cache
def _domain() -> Any:
    return load_flows(FLOWS / "flights.yaml")


def _registry() -> Registry:
    from duologue.flows.find_functions import find_functions

    return find_functions(FLOWS / "flights.yaml", None)


@functools.cache
def checkpoint_seeds() -> list[bytes]:
    async def call() -> list[bytes]:
        talk, found = _talk(), []
        for text in ("I want to book a flight", "New York", "Los Angeles", "next Friday", "what?"):
            async for _ in talk.hear(text):
                pass
            found.append(as_bytes(to_json(talk.domain, talk.state)))
        return found

    return asyncio.run(call())


def _talk(**more: Any) -> DialogueSession:
    return DialogueSession(
        _domain(), _registry(), LocalNlu(words_only=True), today=lambda: "2025-12-02", now=lambda: 1_000_000, **more
    )


def feed_checkpoint(data: bytes) -> None:
    """A dialogue that can be read can be continued."""
    kept = parsed(data)
    try:
        state = from_json(_domain(), kept)
    except BadCheckpoint as problem:
        _is_one_line(problem)
        return
    to_json(_domain(), state)

    async def go_on() -> None:
        talk = _talk()
        talk.state = state
        async for _ in talk.hear("New York"):
            pass

    asyncio.run(asyncio.wait_for(go_on(), 20))


# -- Files that users write


def feed_flows(data: bytes) -> None:
    try:
        parse_flows(text_of(data))
    except InvalidFlows:
        return


def flow_seeds() -> list[bytes]:
    return [file.read_bytes() for file in sorted(FLOWS.glob("*.yaml")) if ".stories." not in file.name]


def _in_file(name: str, data: bytes, read: Callable[[Path], object], known: tuple[type[Exception], ...]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / name
        file.write_bytes(data)
        try:
            read(file)
        except known:
            return


def feed_stories(data: bytes) -> None:
    _in_file("a.stories.yaml", data, read_stories, (InvalidStories,))


def story_seeds() -> list[bytes]:
    return [file.read_bytes() for file in sorted(FLOWS.glob("*.stories.yaml"))]


def feed_scenario(data: bytes) -> None:
    _in_file("a.yaml", data, load, (InvalidScenario,))


def scenario_seeds() -> list[bytes]:
    files = [*sorted(SCENARIOS.glob("*.yaml")), *sorted((ROOT / "tests" / "testing" / "scenarios").glob("*.yaml"))]
    return [data for file in files if b"agent:" not in (data := file.read_bytes())]


def feed_names(data: bytes) -> None:
    def read(file: Path) -> None:
        notes = ProblemList("flows.yaml")
        read_name_files({"slots": {"city": {"type": "name", "names": file.name}}}, file.parent, notes)

    _in_file("names.txt", data, read, ())


def name_seeds() -> list[bytes]:
    return [(FLOWS / "cities.txt").read_bytes()[:600], b"\xef\xbb\xbfParis | Lutetia | City of Light # a comment\n"]


# -- Audio


def feed_sound(data: bytes) -> None:
    try:
        recording = decode_sound(data)
    except UnusableAudio:
        return
    assert recording.samples.ndim == 1
    assert recording.rate_hz > 0
    assert recording.ms >= 0


@functools.cache
def sound_seeds() -> list[bytes]:
    found = []
    for codec, bits in ((1, 8), (1, 16), (1, 24), (1, 32), (3, 32), (3, 64), (6, 8), (7, 8), (0xFFFE, 16)):
        block = 2 * bits // 8
        form = struct.pack("<HHIIHH", codec, 2, 8000, 8000 * block, block, bits)
        if codec == 0xFFFE:
            form += struct.pack("<HHI", 22, 16, 3) + struct.pack("<H", 1) + bytes(14)
        sound = bytes(range(block)) * 20
        chunks = b"WAVEfmt " + struct.pack("<I", len(form)) + form + b"LIST" + struct.pack("<I", 4) + b"abcd"
        chunks += b"data" + struct.pack("<I", len(sound)) + sound
        found.append(b"RIFF" + struct.pack("<I", len(chunks)) + chunks)
    try:
        import numpy as np
        import soundfile
    except ModuleNotFoundError:
        return found
    flac = io.BytesIO()
    soundfile.write(flac, np.sin(np.arange(800) / 9), 8000, format="FLAC")
    return [*found, flac.getvalue()]


TARGETS: dict[str, Target] = {
    "protocol": Target(feed_protocol, protocol_seeds),
    "twilio": Target(functools.partial(feed_carrier, "twilio"), lambda: carrier_seeds("twilio")),
    "telnyx": Target(functools.partial(feed_carrier, "telnyx"), lambda: carrier_seeds("telnyx")),
    "realtime": Target(feed_realtime, realtime_seeds),
    "rtvi frames": Target(feed_rtvi_frame, rtvi_frame_seeds, is_json=False),
    "rtvi messages": Target(feed_rtvi_message, rtvi_message_seeds),
    "journal": Target(feed_journal, journal_seeds, weight=8),
    "replay address": Target(feed_replay_address, journal_seeds, weight=8),
    "words": Target(feed_words, words_seeds),
    "events": Target(feed_events, event_seeds),
    "snapshot": Target(feed_snapshot, snapshot_seeds),
    "kept conversation": Target(feed_stored, stored_seeds, weight=4),
    "store row": Target(feed_row, words_seeds),
    "checkpoint": Target(feed_checkpoint, checkpoint_seeds, weight=4),
    "flows": Target(feed_flows, flow_seeds, is_json=False, weight=20),
    "stories": Target(feed_stories, story_seeds, is_json=False, weight=8),
    "scenarios": Target(feed_scenario, scenario_seeds, is_json=False, weight=4),
    "names": Target(feed_names, name_seeds, is_json=False),
    "sound": Target(feed_sound, sound_seeds, is_json=False),
}
