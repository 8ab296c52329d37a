"""What observes every conversation of `duologue serve`: the structured log and OpenTelemetry, if the options ask for
them.

Rule: an observer never ends a conversation, and what is missing for it is reported before the server listens.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from duologue.core.errors import DuologueError
from duologue.observe.diagnostics import watch

if TYPE_CHECKING:
    from opentelemetry.trace import Tracer

    from duologue.runtime.conversation import Conversation

ConversationObserver: TypeAlias = Callable[["Conversation"], object]
LogOption: TypeAlias = Annotated[
    Path | None,
    typer.Option(help="Append a structured log to this file: JSON lines with states, times and tracebacks, no words."),
]
OtelOption: TypeAlias = Annotated[
    bool,
    typer.Option("--otel", help="Export OpenTelemetry spans over OTLP; OTEL_EXPORTER_OTLP_ENDPOINT says where to."),
]
_INSTALL = "pip install 'duologue[otel]'"


def observers_of(log: Path | None, otel: bool) -> list[ConversationObserver]:
    """The observers that these options ask for."""
    observers: list[ConversationObserver] = []
    if log is not None:
        observers.append(structured_log(log))
    if otel:
        observers.append(spans_with(exporting_tracer()))
    return observers


def structured_log(path: Path) -> ConversationObserver:
    """Append a line for each signal of a conversation to this file. Several processes may share the file."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        out = path.open("a", encoding="utf-8")
    except OSError as problem:
        raise DuologueError(f"--log {path}: {problem.strerror}; choose another file") from None

    def observe(conversation: Conversation) -> None:
        watch(conversation, out)

    return observe


def spans_with(tracer: Tracer) -> ConversationObserver:
    """Make spans of each conversation with this tracer."""
    from duologue.observe.telemetry import trace

    def observe(conversation: Conversation) -> None:
        trace(conversation, tracer)

    return observe


def exporting_tracer() -> Tracer:
    """A tracer that exports spans over OTLP (HTTP). OpenTelemetry's own variables say where to and under which name:
    OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_SERVICE_NAME and the others."""
    try:
        exporters = import_module("opentelemetry.exporter.otlp.proto.http.trace_exporter")
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError as missing:
        raise DuologueError(f"--otel needs {missing.name}: {_INSTALL}") from None
    provider = TracerProvider(resource=Resource.create({"service.name": "duologue"}))
    provider.add_span_processor(BatchSpanProcessor(exporters.OTLPSpanExporter()))
    return provider.get_tracer("duologue")
