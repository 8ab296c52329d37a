"""A plugin's stream in the form that ears use: events are read, failures classified, usage counted."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from types import SimpleNamespace
from typing import Any

import pytest

from duologue.ears.service_utterances import OnsetHeard
from duologue.plugins.plugin_stream import PluginStream
from duologue.ports import ServiceError
from duologue.ports.usage import Usage, UsageCount
from tests.limits import TEST_S


class Recognizing:
    """A stream of LiveKit's, reduced to what is used."""

    def __init__(self, *events: Any) -> None:
        self.events = events
        self.calls: list[str] = []

    def flush(self) -> None:
        self.calls.append("flush")

    def end_input(self) -> None:
        self.calls.append("end")

    async def aclose(self) -> None:
        self.calls.append("close")

    async def __aiter__(self) -> AsyncIterator[Any]:
        for event in self.events:
            if isinstance(event, Exception):
                raise event
            yield event


def test_events_are_read_and_usage_is_counted() -> None:
    async def work() -> None:
        used = SimpleNamespace(type="recognition_usage", recognition_usage=SimpleNamespace(audio_duration=2.0))
        recognizing = Recognizing(SimpleNamespace(type="start_of_speech"), used)
        count = UsageCount(None)
        stream = PluginStream(recognizing, "Vendor", count)
        assert [given async for given in stream] == [OnsetHeard()]
        assert count.total == Usage(heard_ms=2_000)
        stream.flush()
        stream.end()
        await stream.close()
        assert recognizing.calls == ["flush", "end", "close"]
        assert stream.at_ms == 0

    asyncio.run(asyncio.wait_for(work(), TEST_S))


def test_a_failure_of_the_plugin_is_classified() -> None:
    async def work() -> None:
        stream = PluginStream(Recognizing(OSError("secret words")), "Vendor", UsageCount(None))
        with pytest.raises(ServiceError, match="Vendor can't be reached"):
            _ = [given async for given in stream]

    asyncio.run(asyncio.wait_for(work(), TEST_S))
