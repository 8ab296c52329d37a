"""The agent of a torture run: it orders, reserves, pays and tells stories, and logs every action.

Its services answer within a second, and the same words get the same answer on every node. Its voice can be decoded:
every sample of a character is the character's code point, so a client knows from the sound what was heard. Rule: lines
are only appended to the log of actions. The log is never rewritten.
"""

from __future__ import annotations

import asyncio
import json
import os
import zlib
from array import array
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from duologue.core.settings import profile
from duologue.flows import parse_flows
from duologue.flows.brain import FlowBrain
from duologue.flows.registry import Registry
from duologue.nlu.understanding import Guess, MessageScope, Quote, Understanding
from duologue.ports.brain import Memory, Part, Request
from duologue.ports.history import AgentSaid, CallOutput, UserSaid
from duologue.ports.sound import Sound, Word
from duologue.ports.tool_call import ToolCall
from duologue.runtime.agent import Agent, Phrases
from duologue.workers.function_tools import tool

RATE_HZ = 24_000
CHAR_MS = 40
CHAR_SAMPLES = CHAR_MS * RATE_HZ // 1000
_PIECE_CHARS = 5
RECONNECT_MS_MAX = 20_000
ANSWER_MS_MAX = 12_000

FLOWS = """
version: 1
slots:
  item:
    type: text
    prompt: Which one?
flows:
  order:
    description: order something
    examples: [order something]
    steps:
      - collect: item
      - confirm: "Shall I order {item}?"
      - action: place_order
        slots: [item]
        on_failure:
          - end: "I don't know whether {item} was ordered."
    completed: "Now {item} is ordered."
  reserve:
    description: reserve something
    examples: [reserve something]
    steps:
      - collect: item
      - confirm: "Shall I reserve {item}?"
      - action: make_reservation
        slots: [item]
        on_failure:
          - end: "I don't know whether {item} was reserved."
    completed: "Now {item} is reserved."
"""
TOOL_WORDS = ("pay", "look", "tell")


class ActionLog:
    """Logs the actions of a node. The beginning and the end of an action are separate lines, because the node may be
    killed in between."""

    def __init__(self, file: Path, node: str) -> None:
        self._file = file
        self._node = node

    def note(self, name: str, item: str, key: str, stage: str) -> None:
        """Append one line."""
        line = json.dumps({"name": name, "item": item, "key": key, "stage": stage, "node": self._node})
        number = os.open(self._file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            os.write(number, line.encode() + b"\n")  # a single append of a short line is atomic
        finally:
            os.close(number)

    async def do(self, name: str, item: str, key: str = "") -> None:
        """Do an action: log that it began, wait, log that it is done."""
        self.note(name, item, key, "begun")
        await asyncio.sleep(_takes_s(name, item))
        self.note(name, item, key, "done")


def _takes_s(name: str, item: str) -> float:
    """How many seconds an action takes: less than 0.7, and the same on every node."""
    return zlib.crc32(f"{name} {item}".encode()) % 700 / 1000


class LegibleVoice:
    """A TTS in which every character lasts CHAR_MS, and every sample of a character is the character's code point."""

    async def speak(self, text: str) -> AsyncIterator[Sound]:
        whole = " ".join(text.split()) + " "
        words: list[Word] = []
        at = 0
        for token in whole.split():
            end = at + len(token)
            words.append(Word(token, at * CHAR_MS, end * CHAR_MS))
            at = end + 1  # the space after a word is a pause
        for start in range(0, len(whole), _PIECE_CHARS):
            piece = whole[start : start + _PIECE_CHARS]
            begins_ms, ends_ms = start * CHAR_MS, (start + len(piece)) * CHAR_MS
            ended = [word for word in words if begins_ms < word.end_ms <= ends_ms]
            timed = tuple(Word(one.text, one.start_ms - begins_ms, one.end_ms - begins_ms) for one in ended)
            yield Sound(len(piece) * CHAR_MS, encode_text(piece), RATE_HZ, words=timed)
            await asyncio.sleep(0)


def encode_text(text: str) -> bytes:
    """Fake speech that the test can read back, as 16-bit PCM. Each character becomes CHAR_SAMPLES samples, and the
    value of these samples is the character's code point."""
    samples = array("h")
    for character in text:
        samples.extend([ord(character)] * CHAR_SAMPLES)
    return samples.tobytes()


class PlainNlu:
    """An NLU that understands only the name of a flow followed by an item, such as "order 1001"."""

    async def understand(self, message: str, scope: MessageScope) -> Understanding:
        verb, _, item = message.partition(" ")
        for intent in scope.intents:
            if intent.name.split()[-1] == verb and item:
                return Understanding((Guess(intent.name, 1.0),), True, 1.0, (Quote("item", item),), by="words")
        return Understanding(by="words")


class TortureBrain:
    """Answers a conversation itself if the first message of the conversation starts with "pay", "look" or "tell".
    Passes every other conversation to the flows."""

    def __init__(self, log: ActionLog) -> None:
        async def place_order(item: str) -> None:
            await log.do("order", item)

        async def make_reservation(item: str, key: str) -> None:
            await log.do("reserve", item, key)

        registry = Registry([place_order, make_reservation])
        self._flows = FlowBrain(parse_flows(FLOWS, "torture.yaml"), registry, PlainNlu())

    def remember(self, memory: Memory) -> None:
        self._flows.remember(memory)

    async def has_more(self, conversation: str) -> bool:
        return await self._flows.has_more(conversation)

    async def reply(self, request: Request) -> AsyncIterator[Part]:
        said = [item for item in request.history if isinstance(item, UserSaid)]
        if said and said[0].text.split()[0] in TOOL_WORDS:
            for part in _answer(request, said[-1].text):
                yield part
            return
        async for part in self._flows.reply(request):
            yield part


def story_of(item: str) -> tuple[str, str]:
    """The two sentences of the story that is told about an item."""
    return f"This is the story of {item}. ", f"It has a middle, and here {item} ends."


def _answer(request: Request, text: str) -> list[Part]:
    verb, _, item = text.partition(" ")
    if verb == "tell":
        return list(story_of(item))
    wanted = ToolCall(verb, {"item": item})
    calls = {
        number for one in request.history if isinstance(one, AgentSaid) for number, call in one.calls if call == wanted
    }
    outputs = [one for one in request.history if isinstance(one, CallOutput) and one.call in calls]
    if not outputs:
        return [wanted]
    known = outputs[-1].output
    return [f"Now {item} has {known}." if known.startswith("been") else f"I don't know whether {item} worked."]


def make_agent(log: ActionLog) -> Agent:
    """The agent of a node, shared by all its conversations."""

    @tool
    async def pay(item: str) -> str:
        """Pays for an item."""
        await log.do("pay", item)
        return "been paid"

    @tool(idempotent=True)
    async def look(item: str) -> str:
        """Looks an item up."""
        await log.do("look", item)
        return "been looked up"

    settings: Any = profile(
        "confirm", dead_air_ms=0, reconnect_ms_max=RECONNECT_MS_MAX, answer_ms_max=ANSWER_MS_MAX, dismiss_ms=2_000
    )
    return Agent(
        TortureBrain(log),
        name="Torture",
        voice=LegibleVoice(),
        tools=[pay, look],
        profile=settings,
        phrases=Phrases(),
        spoken_forms=False,  # what is heard is compared with what was written
    )
