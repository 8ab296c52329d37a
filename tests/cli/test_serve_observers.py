"""The structured log and the spans of every conversation that is served."""

from __future__ import annotations

import gzip
import json
import os
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from duologue import Agent, CallInfo, Phrases
from duologue.cli.serve_observers import (
    check_recording,
    exporting_tracer,
    observers_of,
    recorder_into,
    spans_with,
    structured_log,
    with_consent,
)
from duologue.cli.served_agent import ServeOptions, make_server
from duologue.core.errors import DuologueError
from duologue.fairness.fair_threads import ENCODING
from duologue.observe.diagnostics import correlation_id
from duologue.observe.stereo_file import read_stereo
from duologue.server.phone.briefing import briefing_agent
from duologue.server.phone.machine_message import message_agent
from duologue.server.settings import ServerSettings
from duologue.testing import Call, ScriptedBrain
from tests.limits import WAIT_S


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
    assert {span.name for span in memory.get_finished_spans()} >= {
        "conversation",
        "turn",
        "stt",
        "reply",
        "tts",
        "voice",
    }


class Collector(ThreadingHTTPServer):
    """An OTLP receiver, as far as an exporter of spans needs one."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), CollectorRequest)
        self.spans: list[Any] = []
        self.got_some = threading.Event()


class CollectorRequest(BaseHTTPRequestHandler):
    server: Collector

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.headers["Content-Encoding"] == "gzip":
            body = gzip.decompress(body)
        told = ExportTraceServiceRequest.FromString(body)
        self.server.spans += [span for one in told.resource_spans for scope in one.scope_spans for span in scope.spans]
        self.server.got_some.set()
        self.send_response(200)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name in the standard library
        return


@pytest.fixture
def collector(monkeypatch: pytest.MonkeyPatch) -> Iterator[Collector]:
    with Collector() as made:
        thread = threading.Thread(target=made.serve_forever, args=(0.01,))
        thread.start()
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", f"http://127.0.0.1:{made.server_address[1]}")
        yield made
        made.shutdown()
        thread.join()


def test_the_spans_of_a_call_reach_a_collector_over_otlp(collector: Collector) -> None:
    tracer: Any = exporting_tracer()
    with Call(ScriptedBrain(["Good day."])) as call:
        spans_with(tracer)(call.conversation)
        call.user("hello").expect_heard("Good day.")
    assert tracer.span_processor.force_flush()
    names = {span.name for span in collector.spans}
    assert names >= {"conversation", "turn", "stt", "reply", "tts", "voice"}
    assert len({span.trace_id for span in collector.spans}) == 1
    assert "hello" not in str(collector.spans)
    assert "Good day" not in str(collector.spans)


def test_the_option_otel_exports_the_spans_of_a_server(
    collector: Collector, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_BSP_SCHEDULE_DELAY", "10")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "otel_desk.py").write_text("from duologue import Agent\nagent = Agent(lambda request: 'Good day.')\n")
    given = ServeOptions("otel_desk:agent", "none", "", "", None, "", otel=True)
    server, _ = make_server(given, ServerSettings(), "http://127.0.0.1:8765/")
    with Call(server.conversations.source.first) as call:
        for observe in server.conversations.observers:
            observe(call.conversation)
        call.user("hello").expect_heard("Good day.")
    until = time.monotonic() + WAIT_S
    while not any(span.name == "conversation" for span in collector.spans) and time.monotonic() < until:
        collector.got_some.wait(0.1)
    assert {span.name for span in collector.spans} >= {"conversation", "turn", "reply"}


def test_without_the_exporter_the_command_to_install_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry.exporter.otlp.proto.http.trace_exporter", None)
    with pytest.raises(DuologueError, match=r"pip install 'duologue\[otel\]'"):
        exporting_tracer()


def test_calls_are_recorded_by_the_id_in_the_log_and_private_ones_are_not(tmp_path: Path) -> None:
    observe = recorder_into(tmp_path / "calls")
    for private in (False, True):
        with Call(Agent(ScriptedBrain(["Good day."]), private=private)) as call:
            observe(call.conversation)
            call.user("hello").expect_heard("Good day.")
            name = correlation_id(call.conversation.id)
            assert (tmp_path / "calls" / f"{name}.wav").exists() is not private


def test_an_opus_recording_of_a_call_is_there_when_it_is_encoded(tmp_path: Path) -> None:
    pytest.importorskip("soundfile", reason="pip install 'duologue[speech]'")
    observe = recorder_into(tmp_path / "calls", "opus")
    with Call(Agent(ScriptedBrain(["Good day."]))) as call:
        observe(call.conversation)
        call.user("hello").expect_heard("Good day.")
        name = correlation_id(call.conversation.id)
    ENCODING.submit_for("another call", lambda: None).result()  # it waits its turn
    (path,) = (tmp_path / "calls").glob(f"{name}*")
    assert path.name == f"{name}.opus"
    assert read_stereo(path).media_type == "audio/ogg"


def test_the_consent_phrase_comes_before_the_greeting_and_a_private_agent_says_none() -> None:
    greets = Agent(ScriptedBrain(["x"]), phrases=Phrases(greeting="Good day."))
    assert with_consent(greets, "This call is recorded.").phrases.greeting == "This call is recorded. Good day."
    assert with_consent(greets, "").phrases.greeting == "Good day."
    assert with_consent(replace(greets, private=True), "This call is recorded.").phrases.greeting == "Good day."
    with Call(with_consent(Agent(ScriptedBrain(["x"])), "This call is recorded.")) as call:
        call.settles()
        assert call.heard == ["This call is recorded."]


def test_what_begins_without_the_consent_phrase_is_not_recorded(tmp_path: Path) -> None:
    consent = "This call is recorded."
    observe = recorder_into(tmp_path / "calls", consent=consent)
    told = with_consent(Agent(ScriptedBrain(["Good day."]), phrases=Phrases(greeting="Hello.")), consent)
    briefing = briefing_agent(told, "Ada asks about an invoice.", lambda accepts: None)
    back = replace(told, phrases=Phrases(greeting="I couldn't reach anyone there."))
    for agent, info, is_recorded in (
        (told, CallInfo(), True),
        (briefing, CallInfo(), False),
        (message_agent(told, "Your book is here."), CallInfo(), False),
        (back, CallInfo(returned="busy"), True),
    ):
        with Call(agent, info=info) as call:
            observe(call.conversation)
            assert call.conversation.engine.sound_recording.is_on is is_recorded


def test_recording_without_a_word_about_it_is_refused_and_old_recordings_go(tmp_path: Path) -> None:
    with pytest.raises(DuologueError, match="--record needs --record-consent"):
        check_recording(tmp_path, "", "wav", 30)
    with pytest.raises(DuologueError, match="--record-consent needs --record"):
        check_recording(None, "Recorded.", "wav", 30)
    with pytest.raises(DuologueError, match="--record-format must be wav or opus, not 'mp3'"):
        check_recording(tmp_path, "none", "mp3", 30)
    with pytest.raises(DuologueError, match="--record-format needs --record FOLDER"):
        check_recording(None, "", "opus", 30)
    (tmp_path / "old.wav").write_bytes(b"")
    (tmp_path / "new.wav").write_bytes(b"")
    os.utime(tmp_path / "old.wav", (1_000, 1_000))
    check_recording(tmp_path, "none", "wav", 30)
    assert [path.name for path in tmp_path.iterdir()] == ["new.wav"]
