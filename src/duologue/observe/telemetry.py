"""A conversation as OpenTelemetry spans: conversation, turn, and in it replies, tools and the voice.

A turn is a question and its answer: from when the person began to speak, or the agent spoke up by
itself, until the answer was heard, cut short or lost. A reply lasts until its id moves on, so every
attempt has its span. Rule: every time in a span comes from a step of the conversation; the clock on
the wall is read once, when tracing begins. No words, and of ids only what tells nothing.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from duologue.core import effects as fx
from duologue.core import events as ev
from duologue.core.leaves import ENDING, PENDING, SOUNDING, Ask, ErrorClass, Outcome, Timer, Voice
from duologue.core.state import State, has_foreground
from duologue.core.views import CONVERSATION

from . import signals as sg
from .diagnostics import REASONS, Watched, correlation_id, tool_names
from .moment import Moment
from .states import cause_of

if TYPE_CHECKING:
    from opentelemetry.context import Context
    from opentelemetry.trace import Span, Tracer
    from opentelemetry.util.types import AttributeValue

_NS_PER_MS = 1_000_000
_GOES_ON = (Outcome.STARTED, Outcome.NEEDS_INPUT)
_FAILURES = (Outcome.FAILED, Outcome.TIMED_OUT, Outcome.REFUSED)


def trace(
    conversation: Watched, tracer: Tracer | None = None, *, wall_clock_ns: Callable[[], int] = time.time_ns
) -> Callable[[], None]:
    """Make spans of a conversation, inside the current span if there is one. They end with it; what
    is returned ends them at once."""
    try:
        import opentelemetry.context as otel_context
        import opentelemetry.trace as otel_trace
    except ImportError:
        raise ImportError("telemetry needs opentelemetry: pip install 'duologue[telemetry]'") from None
    tracer = tracer or otel_trace.get_tracer("duologue")
    made_at_ns = wall_clock_ns() - conversation.engine.driver.now() * _NS_PER_MS
    return _Tracing(conversation, _Spans(tracer, made_at_ns), otel_context.get_current()).stop


class _Spans:
    """Makes and ends spans at the conversation's own time."""

    def __init__(self, tracer: Tracer, made_at_ns: int) -> None:
        self._tracer = tracer
        self._made_at_ns = made_at_ns

    def start(self, name: str, at: int, context: Context | None, **attributes: AttributeValue | None) -> Span:
        return self._tracer.start_span(name, context, attributes=_attributes(attributes), start_time=self._ns(at))

    def note(self, span: Span, name: str, at: int, **attributes: AttributeValue | None) -> None:
        span.add_event(name, _attributes(attributes), self._ns(at))

    def end(self, span: Span, at: int, error: ErrorClass | None = None, **attributes: AttributeValue | None) -> None:
        span.set_attributes(_attributes(attributes))
        if error is not None:
            self.fail(span, error)
        span.end(self._ns(at))

    @staticmethod
    def fail(span: Span, error: ErrorClass) -> None:
        from opentelemetry.trace import Status, StatusCode

        span.set_attribute("error.type", error.value)
        span.set_status(Status(StatusCode.ERROR, error.value))

    @staticmethod
    def inside(span: Span) -> Context:
        from opentelemetry.trace import set_span_in_context

        return set_span_in_context(span)

    def _ns(self, at: int) -> int:
        return self._made_at_ns + at * _NS_PER_MS


def _attributes(given: dict[str, AttributeValue | None]) -> dict[str, AttributeValue]:
    return {f"duologue.{name}": value for name, value in given.items() if value is not None}


@dataclass(slots=True)
class _Turn:
    """A question and its answer, under way."""

    span: Span
    inside: Context
    last: int  # the newest turn of the person that it answers
    outcome: str = "cancelled"
    interrupted: bool = False
    error: ErrorClass | None = None


@dataclass(slots=True)
class _Reply:
    span: Span
    number: int
    asked_at: int
    error: ErrorClass | None = None


@dataclass(slots=True)
class _Sound:
    span: Span
    number: int
    interrupted: bool = False


class _Tracing:
    """The open spans of one conversation."""

    def __init__(self, conversation: Watched, spans: _Spans, outside: Context) -> None:
        self._spans = spans
        self._outside = outside
        self._engine = conversation.engine
        self._correlation = correlation_id(conversation.id)
        self._tools_known = tool_names(conversation)
        self._whole: Span | None = None
        self._turn: _Turn | None = None
        self._reply: _Reply | None = None
        self._sound: _Sound | None = None
        self._tools: dict[int, Span] = {}
        self._tool_names: dict[int, tuple[str | None, str | None]] = {}  # by call: name and mode
        self._began_at: dict[int, int] = {}  # turns of the person that no request has answered
        bus = self._engine.bus
        self._offs = (
            bus.on(sg.WorkStarted, lambda signal: self._note_tool(signal.call, signal.tool, signal.mode)),
            bus.on(sg.WorkEnded, lambda signal: self._note_tool(signal.call, signal.tool)),
            bus.on(sg.Ended, self._note_end),
        )
        self._engine.watchers.append(self.see)
        if conversation.state != "idle":
            self._begin(self._engine.driver.now())

    # -- Beginning and ending

    def _begin(self, at: int) -> Span:
        if self._whole is None:
            self._whole = self._spans.start("conversation", at, self._outside, conversation=self._correlation)
        return self._whole

    def _note_end(self, signal: sg.Ended) -> None:
        if self._whole is not None:
            reason = signal.reason if signal.reason in REASONS else "other"
            self._whole.set_attribute("duologue.reason", reason)
        self._close(signal.at)

    def stop(self) -> None:
        """End every span now."""
        self._close(self._engine.driver.now())

    def _close(self, at: int) -> None:
        for off in self._offs:
            off()
        if self.see in self._engine.watchers:
            self._engine.watchers.remove(self.see)
        for span in self._tools.values():
            self._spans.end(span, at)
        self._tools.clear()
        if self._sound is not None:
            self._spans.end(self._sound.span, at)
        if self._reply is not None:
            self._spans.end(self._reply.span, at)
        self._sound = self._reply = None
        self._end_turn(at)
        if self._whole is not None:
            self._spans.end(self._whole, at)
            self._whole = None

    # -- One step

    def see(self, moment: Moment) -> None:
        """Follow one step. Spans are made by others' code: what goes wrong there is told, and costs
        the conversation its trace and nothing else."""
        try:
            self._follow(moment)
        except Exception as failure:  # noqa: BLE001 - an observer must not end a conversation
            self._whole = self._turn = self._reply = self._sound = None
            self._tools.clear()
            for off in self._offs:
                off()
            self._follow = lambda moment: None  # type: ignore[method-assign,assignment]  # noqa: ARG005
            self._engine.bus.send(sg.Problem(moment.event.at, "telemetry", type(failure).__name__))
