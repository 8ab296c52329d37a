"""The page on Gemini Live is true, and its code works against the scripted server."""

from __future__ import annotations

import re

import pytest

from duologue import Agent, GeminiLive
from duologue.brains.gemini.server_copy import ServerCopy
from duologue.brains.gemini.server_messages import CONTENT_FIELDS, READERS
from duologue.ports import AgentSaid
from duologue.testing.gemini import GeminiServer
from tests.docs.printed import page, python_blocks
from tests.needs import needs_model

PAGE = page("gemini")
UNUSED = {
    "groundingMetadata",
    "interimInputTranscription",
    "turnCompleteReason",
    "urlContextMetadata",
    "waitingForInput",
}


def test_the_code_on_the_page_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("silero-vad", "moonshine-tiny", "smart-turn"):
        needs_model(name)
    seen: dict[str, object] = {}
    for block in python_blocks(PAGE):
        exec(block, seen)
    agent, vertex = seen["agent"], seen["vertex"]
    assert isinstance(agent, Agent)
    assert isinstance(agent.brain, GeminiLive)
    assert agent.ears is agent.voice is agent.brain
    assert isinstance(vertex, GeminiLive)
    assert vertex.endpoint.host == "us-central1-aiplatform.googleapis.com"
    assert isinstance(seen["server"], GeminiServer)


def test_every_message_that_means_something_is_on_the_page() -> None:
    assert {name for name in READERS if f"`{name}" not in PAGE} == set()
    used = CONTENT_FIELDS - UNUSED
    assert {name for name in used if f".{name}`" not in PAGE} == set()


def test_what_the_model_is_told_is_what_the_page_says() -> None:
    said = re.findall(r"`\[(.*?)\]`", PAGE)
    copy = ServerCopy()
    copy.add_sound(1)
    (heard,) = copy.catch_up((AgentSaid(1, "…", interrupted=True, heard_ms=1),), 2).told
    copy.add_sound(2)
    (unheard,) = copy.catch_up((), 3).told
    assert {heard.text, unheard.text} <= set(said)
