"""The structured log and the spans of every conversation that is served."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from duologue.cli.serve_observers import exporting_tracer, observers_of, spans_with, structured_log
from duologue.core.errors import DuologueError
from duologue.testing import Call, ScriptedBrain


def test_without_options_there_are_no_observers() -> None:
    assert observers_of(None, otel=False) == []


def test_conversations_share_one_log_in_which_each_has_its_id(tmp_path: Path) -> None:
    path = tmp_path / "logs" / "calls.jsonl"
    (observe,) = observers_of(path, otel=False)
    for _ in range(2):
        with Call(ScriptedBrain(["Good day."])) as call:
            observe(call.conversation)
            call.user("hello").expect_heard("Good day.")
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert len({line["conversation"] for line in lines}) == 2
    assert [line["kind"] for line in lines].count("Ended") == 2
    assert "hello" not in path.read_text()


def test_a_log_that_cant_be_written_is_refused_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(DuologueError, match=r"--log .*; choose another file"):
        structured_log(tmp_path)


def test_each_conversation_has_spans() -> None:
    memory, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(memory))
    with Call(ScriptedBrain(["Good day."])) as call:
        spans_with(provider.get_tracer("test"))(call.conversation)
        call.user("hello").expect_heard("Good day.")
    assert {span.name for span in memory.get_finished_spans()} >= {"conversation", "turn", "reply", "voice"}


def test_without_the_exporter_the_command_to_install_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry.exporter.otlp.proto.http.trace_exporter", None)
    with pytest.raises(DuologueError, match=r"pip install 'duologue\[otel\]'"):
        exporting_tracer()
