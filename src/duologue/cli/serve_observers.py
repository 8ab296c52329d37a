"""The observers of every conversation of `duologue serve`: structured log, OpenTelemetry and recordings, if requested.

Rule: an observer never ends a conversation. If a package that an observer needs isn't installed, this is reported
before the server listens.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from duologue.core.errors import DuologueError
from duologue.observe.diagnostics import correlation_id, watch
from duologue.observe.opus_file import check_opus
from duologue.runtime.agent import Agent

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
    typer.Option("--otel", help="Export OpenTelemetry spans over OTLP, to OTEL_EXPORTER_OTLP_ENDPOINT."),
]
PricesOption: TypeAlias = Annotated[
    Path | None, typer.Option(help="The prices of services (TOML), to show the cost of a call in the panel.")
]
RecordOption: TypeAlias = Annotated[
    Path | None,
    typer.Option(help="Record both sides of every call in stereo into this folder, but not of private agents."),
]
ConsentOption: TypeAlias = Annotated[
    str, typer.Option(help="The words that begin each recorded call; the word none if callers have agreed before.")
]
RecordFormatOption: TypeAlias = Annotated[
    str, typer.Option(help="wav, or opus, which is about a fifteenth of the size and is encoded after each call.")
]
_INSTALL = "pip install 'duologue[otel]'"


def observers_of(
    log: Path | None, otel: bool, recordings: Path | None = None, record_format: str = "wav", consent: str = ""
) -> list[ConversationObserver]:
    """The observers that the user requested with these options."""
    observers: list[ConversationObserver] = []
    if log is not None:
        observers.append(structured_log(log))
    if otel:
        observers.append(spans_with(exporting_tracer()))
    if recordings is not None:
        observers.append(recorder_into(recordings, record_format, consent))
    return observers


def recorder_into(folder: Path, format_: str = "wav", consent: str = "") -> ConversationObserver:
    """An observer that records the sound of each conversation into this folder, unless its agent is private. A
    conversation that doesn't begin with the consent text isn't recorded either."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        from duologue.observe.call_recording import recording_path
    except OSError as problem:
        raise DuologueError(f"--record {folder}: {problem.strerror}; choose another folder") from None
    except ModuleNotFoundError as missing:
        raise DuologueError(f"--record needs {missing.name}: pip install 'duologue[speech]'") from None

    def observe(conversation: Conversation) -> None:
        if not _says(consent, conversation):
            return
        try:
            path = recording_path(folder, correlation_id(conversation.id), f".{format_}")
            conversation.engine.sound_recording.start(path)
        except OSError as failure:
            conversation.engine.report_failure("recording", failure)

    return observe


def _says(consent: str, conversation: Conversation) -> bool:
    """Does the agent tell the person that the call is recorded? Agents that brief a person, leave a message or
    apologise don't, because their greeting lacks the consent text. A call that has come back from a transfer counts as
    told, because it began with that text."""
    is_back = bool(conversation.call_context.info.returned)
    return is_back or conversation.engine.root.phrases.greeting.startswith(consent)


def with_consent(agent: Agent, consent: str) -> Agent:
    """The agent with a greeting that first says that the call is recorded. A private agent is returned unchanged,
    because it isn't recorded."""
    if not consent or agent.private:
        return agent
    greeting = f"{consent} {agent.phrases.greeting}".strip()
    return replace(agent, phrases=replace(agent.phrases, greeting=greeting))


def check_recording(folder: Path | None, consent: str, format_: str, keep_days: int) -> tuple[Path | None, str, str]:
    """Check the options for recordings, and delete recordings that are too old. Returns the folder, the consent text
    and the format. Raises DuologueError if the consent text is missing or the format is unknown."""
    if format_ not in ("wav", "opus"):
        raise DuologueError(f"--record-format must be wav or opus, not {format_!r}")
    if folder is None:
        if consent or format_ != "wav":
            raise DuologueError(f"--record-{'consent' if consent else 'format'} needs --record FOLDER")
        return None, "", format_
    if format_ == "opus":
        check_opus()
    if not consent:
        raise DuologueError(
            '--record needs --record-consent "This call is recorded.", which is said first; write --record-consent '
            "none if callers have agreed before"
        )
    if folder.is_dir():
        from duologue.observe.call_recording import delete_old_recordings

        delete_old_recordings(folder, time.time() - keep_days * 86_400)
    return folder, consent, format_


def structured_log(path: Path) -> ConversationObserver:
    """An observer that appends a line for each signal of a conversation to this file. Several processes may share the
    file."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        out = path.open("a", encoding="utf-8")
    except OSError as problem:
        raise DuologueError(f"--log {path}: {problem.strerror}; choose another file") from None

    def observe(conversation: Conversation) -> None:
        watch(conversation, out)

    return observe


def spans_with(tracer: Tracer) -> ConversationObserver:
    """An observer that records each conversation as OpenTelemetry spans, with this tracer."""
    from duologue.observe.telemetry import trace

    def observe(conversation: Conversation) -> None:
        trace(conversation, tracer)

    return observe


def exporting_tracer() -> Tracer:
    """A tracer that exports spans over OTLP (HTTP). OpenTelemetry's own environment variables set the address and the
    name of the service: OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_SERVICE_NAME and others."""
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
