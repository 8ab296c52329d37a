"""A conversation as OpenTelemetry spans. The span of a conversation contains spans of turns, and `stt` spans, which are
transcriptions of the person's speech. A turn contains replies of the LLM, sentences of the TTS, tool calls, and voices
(the sound that is played).

A turn is a question with its answer. It starts with the person's first sound, or when the agent begins to speak on its
own initiative. It ends when the answer was heard, cut short or lost. The span of a reply ends when the conversation
machine increases the reply id, so each attempt has its own span. Rule: every time comes from a step of the
conversation, and the wall clock is read only once, when tracing begins. Spans contain no spoken words, and only a hash
of the conversation's id.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from duologue.core import effects as fx
from duologue.core import events as ev
from duologue.core.leaves import ENDING, PENDING, SOUNDING, ErrorClass, Link, Outcome, Timer, User, Voice
from duologue.core.state import State, has_foreground
from duologue.core.step_record import StepRecord
from duologue.core.views import phase_of
from duologue.ports.usage_report import UNITS

from . import notices
from . import signals as sg
from .diagnostics import REASONS, WatchedConversation, correlation_id, tool_names
from .view_history import cause_of

if TYPE_CHECKING:
    from opentelemetry.context import Context
    from opentelemetry.trace import Span, Tracer
    from opentelemetry.util.types import AttributeValue

_NS_PER_MS = 1_000_000
_GOES_ON = (Outcome.STARTED, Outcome.NEEDS_INPUT)
_FAILURES = (Outcome.FAILED, Outcome.TIMED_OUT, Outcome.REFUSED)
_WORKS_AGAIN = ("recovered", "restored")  # notices that are shown only after something has worked


def trace(
    conversation: WatchedConversation, tracer: Tracer | None = None, *, wall_clock_ns: Callable[[], int] = time.time_ns
) -> Callable[[], None]:
    """Trace a conversation as spans. If there is a current span, the new spans are created inside it. The spans end
    when the conversation ends, or when the returned function is called."""
    try:
        from opentelemetry.context import get_current
        from opentelemetry.trace import get_tracer
    except ImportError:
        raise ImportError("telemetry needs opentelemetry: pip install 'duologue[telemetry]'") from None
    made_at_ns = wall_clock_ns() - conversation.engine.driver.now() * _NS_PER_MS
    spans = _Spans(tracer or get_tracer("duologue"), made_at_ns)
    return _Tracing(conversation, spans, get_current()).stop


class _Spans:
    """Starts and ends spans. The times are milliseconds on the conversation's own clock."""

    def __init__(self, tracer: Tracer, made_at_ns: int) -> None:
        from opentelemetry.trace import StatusCode, set_span_in_context

        self._tracer = tracer
        self._made_at_ns = made_at_ns
        self._error = StatusCode.ERROR
        self.inside = set_span_in_context

    def start(self, name: str, at: int, parent: Context, **attributes: AttributeValue | None) -> Span:
        return self._tracer.start_span(name, parent, attributes=_named(attributes), start_time=self._ns(at))

    def note(self, span: Span, name: str, at: int, **attributes: AttributeValue | None) -> None:
        span.add_event(name, _named(attributes), self._ns(at))

    def fail(self, span: Span, error: ErrorClass) -> None:
        span.set_attribute("error.type", error.value)
        span.set_status(self._error, error.value)

    def end(self, span: Span, at: int, error: ErrorClass | None = None, **attributes: AttributeValue | None) -> None:
        span.set_attributes(_named(attributes))
        if error is not None:
            self.fail(span, error)
        span.end(self._ns(at))

    def _ns(self, at: int) -> int:
        return self._made_at_ns + at * _NS_PER_MS


def _named(attributes: dict[str, AttributeValue | None]) -> dict[str, AttributeValue]:
    return {f"duologue.{name}": value for name, value in attributes.items() if value is not None}


@dataclass(slots=True)
class _Turn:
    span: Span
    last: int  # the newest turn of the person that this span covers
    outcome: str = "cancelled"
    interrupted: bool = False
    error: ErrorClass | None = None  # of a fault that the turn hasn't recovered from


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
    """Follows one conversation and holds its open spans."""

    def __init__(self, conversation: WatchedConversation, spans: _Spans, outside: Context) -> None:
        self._spans = spans
        self._outside = outside
        self._engine = conversation.engine
        self._correlation = correlation_id(conversation.id)
        self._names = tool_names(conversation)
        self._is_broken = False
        self._whole: Span | None = None
        self._turn: _Turn | None = None
        self._reply: _Reply | None = None
        self._sound: _Sound | None = None
        self._tools: dict[int, Span] = {}
        self._work: dict[int, sg.WorkStarted | sg.WorkEnded] = {}  # the last signal about each call
        self._stopped_at = -1  # when the person last stopped making a sound
        self._began_at: dict[int, int] = {}  # when each unanswered turn of the person began
        self._said: list[int] = []  # the unanswered turns that have words
        self._noticed = notices.NoticeHistory()  # what tells whether something works again after a fault
        bus = self._engine.bus
        self._offs = (
            bus.on(sg.WorkStarted, self._note_work),
            bus.on(sg.WorkEnded, self._note_work),
            bus.on(sg.Used, self._note_used),
            bus.on(sg.Ended, self._note_end),
        )
        self._engine.watchers.append(self.see)
        if conversation.phase != "idle":
            self._begin(self._engine.driver.now())

    # -- Beginning and ending

    def _begin(self, at: int) -> Span:
        if self._whole is None:
            self._whole = self._spans.start("conversation", at, self._outside, conversation=self._correlation)
        return self._whole

    def _note_end(self, signal: sg.Ended) -> None:
        if self._whole is not None:
            reason = signal.reason if signal.reason in REASONS else "other"  # the program's reason may contain words
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
        left = [*self._tools.values(), *(part.span for part in (self._sound, self._reply) if part is not None)]
        for span in left:
            self._spans.end(span, at)
        self._tools, self._sound, self._reply = {}, None, None
        self._end_turn(at)
        if self._whole is not None:
            self._spans.end(self._whole, at)
            self._whole = None

    # -- One step

    def see(self, record: StepRecord) -> None:
        """Process one step. If the tracer raises an exception, a Problem signal is sent and tracing stops, but the
        conversation continues."""
        if self._is_broken:
            return
        try:
            self._follow(record)
        except Exception as failure:  # noqa: BLE001 - an observer must not end a conversation
            self._is_broken = True
            self._engine.bus.send(sg.Problem(record.event.at, "telemetry", type(failure).__name__))

    def _follow(self, record: StepRecord) -> None:
        event, before, after = record.event, record.before, record.after
        known, (self._noticed, shown) = self._noticed, notices.step(self._noticed, record)
        if after is before:
            self._note_broken_off(event)
            return
        if self._whole is None and after.link is Link.IDLE:
            return  # the start was refused
        whole = self._begin(event.at)
        self._note_person(record)
        self._end_what_is_over(record)
        for effect in record.effects:
            self._note_effect(effect, record, whole)
        if known.trouble is not None and any(notice.code in _WORKS_AGAIN for notice in shown):
            self._spans.note(whole, "recovered", event.at)
        if type(event) is ev.TokenArrived and self._reply is not None and self._reply.number == event.reply:
            self._reply.span.set_attribute("duologue.ttft_ms", event.at - self._reply.asked_at)
        self._note_state(record, whole)
        if self._turn is not None and after.answered >= self._turn.last and _is_settled(after):
            self._end_turn(event.at)
        if after.answered > before.answered:
            self._began_at = {turn: at for turn, at in self._began_at.items() if turn > after.answered}
            self._said = [turn for turn in self._said if turn > after.answered]

    def _note_person(self, record: StepRecord) -> None:
        before, after = record.before, record.after
        if after.turn > before.turn:
            self._began_at[after.turn] = record.event.at
        if before.user is User.TALKING and after.user is not User.TALKING:
            self._stopped_at = record.event.at
        if after.said > before.said:
            self._said.append(after.said)
            if type(record.event) is not ev.TextTyped and after.said in self._began_at:
                self._note_transcribed(self._began_at[after.said], record.event.at, after.said)

    def _note_state(self, record: StepRecord, whole: Span) -> None:
        source, target = phase_of(record.before), phase_of(record.after)
        if source != target:
            span, cause = self._turn.span if self._turn is not None else whole, cause_of(record.event)
            self._spans.note(span, "phase", record.event.at, phase=target, previous_phase=source, cause=cause)

    def _note_effect(self, effect: fx.Effect, record: StepRecord, whole: Span) -> None:
        at = record.event.at
        match effect:
            case fx.StartReply():
                self._start_reply(effect, record)
            case fx.StartPlayback():
                self._start_sound(effect, at)
            case fx.HoldPlayback() | fx.ResumePlayback() if self._sound is not None:
                name = "held" if isinstance(effect, fx.HoldPlayback) else "resumed"
                self._spans.note(self._sound.span, name, at)
            case fx.PlayCue():
                span = self._turn.span if self._turn is not None else whole
                self._spans.note(span, "cue", at, cue=effect.cue.value)
            case fx.RunCall():
                self._start_tool(effect.call, at)
            case fx.PostOutput() | fx.PostNews() if effect.outcome not in _GOES_ON:
                self._end_tool(effect, record.event)
            case fx.ShowFault():
                self._note_fault(effect, at, whole)
            case fx.ClearFault():
                self._spans.note(whole, "dismissed", at, cause=cause_of(record.event))
            case fx.ReportLost():
                self._spans.note(whole, "lost", at, first=effect.first, last=effect.last)
                if self._turn is not None and effect.first <= self._turn.last:
                    self._turn.outcome = "lost"

    def _note_fault(self, effect: fx.ShowFault, at: int, whole: Span) -> None:
        part, error = effect.part.value, effect.error.value
        self._spans.note(whole, "fault", at, part=part, error=error, fatal=effect.fatal)
        if effect.fatal:
            self._spans.fail(whole, effect.error)
        if self._turn is not None:
            self._turn.error = effect.error

    # -- Turns

    def _open_turn(self, effect: fx.StartReply, at: int) -> _Turn:
        """Return the turn that this request for a reply belongs to. If no turn is open, or the request doesn't continue
        the open turn, start a new turn."""
        turn = self._turn
        if turn is not None and turn.last < effect.first <= effect.last:
            self._end_turn(at)
        if self._turn is None:
            asked = [turn for turn in self._said if effect.first <= turn <= effect.last]
            began_at = min((self._began_at.get(turn, at) for turn in asked), default=at)
            by = "person" if asked else "agent"
            span = self._spans.start("turn", began_at, self._parent(whole=True), by=by, ask=effect.ask.value)
            self._turn = _Turn(span, effect.last)
        self._turn.last = max(self._turn.last, effect.last)
        return self._turn

    def _end_turn(self, at: int) -> None:
        turn, self._turn = self._turn, None
        if turn is not None:
            interrupted = turn.interrupted
            self._spans.end(turn.span, at, turn.error, turn=turn.last, outcome=turn.outcome, interrupted=interrupted)

    def _note_outcome(self, outcome: str) -> None:
        """Set the outcome of the open turn. A fault or a loss can be replaced only by an answer that was heard."""
        turn = self._turn
        if turn is None:
            return
        if outcome in ("answered", "interrupted"):
            turn.outcome, turn.error = outcome, None
        elif turn.outcome != "lost":
            turn.outcome = outcome

    def _parent(self, whole: bool = False) -> Context:
        span = self._whole if whole or self._turn is None else self._turn.span
        assert span is not None
        return self._spans.inside(span)

    # -- Replies and their sound

    def _start_reply(self, effect: fx.StartReply, record: StepRecord) -> None:
        at = record.event.at
        self._open_turn(effect, at)
        ask, attempt = effect.ask.value, record.after.retries + 1
        span = self._spans.start("reply", at, self._parent(), reply=effect.reply, ask=ask, attempt=attempt)
        self._reply = _Reply(span, effect.reply, at)

    def _start_sound(self, effect: fx.StartPlayback, at: int) -> None:
        if self._reply is not None and self._reply.number == effect.reply:
            self._reply.span.set_attribute("duologue.ttfa_ms", at - self._reply.asked_at)
        span = self._spans.start("voice", at, self._parent(), voice=effect.voice, reply=effect.reply)
        self._sound = _Sound(span, effect.voice)

    def _note_broken_off(self, event: ev.Event) -> None:
        """Record the error of a reply that fails while its sound continues to play. The conversation machine itself
        ignores such a failure."""
        if type(event) is ev.ReplyFailed and self._reply is not None and self._reply.number == event.reply:
            self._reply.error = event.error

    def _end_what_is_over(self, record: StepRecord) -> None:
        before, after = record.before, record.after
        if self._sound is not None and before.voice in SOUNDING and after.voice in ENDING:
            self._sound.interrupted = True
            self._spans.note(self._sound.span, "interrupted", record.event.at, cause=cause_of(record.event))
            if self._turn is not None:
                self._turn.interrupted = True
        if self._reply is not None and self._reply.number != after.reply_id:
            self._end_reply(self._reply, record)
        if self._sound is not None and self._sound.number != after.voice_id:
            self._end_sound(self._sound, record)

    def _end_reply(self, reply: _Reply, record: StepRecord) -> None:
        event, self._reply = record.event, None
        error = _error_of(event, ev.ReplyFailed, (Timer.ATTEMPT, Timer.ANSWER)) or reply.error
        is_finished = type(event) in (ev.ReplyFinished, ev.PlaybackFinished)
        outcome = "failed" if error is not None else "finished" if is_finished else "cancelled"
        self._spans.end(reply.span, event.at, error, outcome=outcome)
        self._note_outcome("answered" if is_finished else outcome)

    def _end_sound(self, sound: _Sound, record: StepRecord) -> None:
        event, self._sound = record.event, None
        error = None if sound.interrupted else _error_of(event, ev.PlaybackFailed, (Timer.STALL,))
        cut = next((effect for effect in record.effects if isinstance(effect, fx.TruncateReply)), None)
        outcome = "interrupted" if sound.interrupted else "cut_off" if cut is not None else "finished"
        heard_ms = cut.heard_ms if cut is not None else getattr(event, "heard_ms", None)
        interrupted = sound.interrupted
        self._spans.end(sound.span, event.at, error, outcome=outcome, interrupted=interrupted, heard_ms=heard_ms)
        self._note_outcome("answered" if outcome == "finished" else outcome)

    # -- What services used

    def _note_used(self, signal: sg.Used) -> None:
        """Record what a service used. Usage of an LLM is added to the span of its reply. For usage of a TTS, a separate
        span is made."""
        if self._whole is None or self._is_broken:
            return
        amounts = {unit: amount for unit in UNITS if (amount := getattr(signal, unit))}
        named = {"provider": signal.provider, "model": signal.model or None}
        if signal.part == "llm" and self._reply is not None:
            self._reply.span.set_attributes(_named({**named, **amounts}))
        elif signal.part == "tts":
            span = self._spans.start("tts", signal.began_at, self._parent(), **named, **amounts)
            self._spans.end(span, signal.at)

    def _note_transcribed(self, began_at: int, at: int, turn: int) -> None:
        """Make the span for the transcription of a person's turn, from the first sound of the turn to its final
        text."""
        span = self._spans.start("stt", began_at, self._parent(whole=True), turn=turn)
        self._spans.end(span, at, text_ms=at - self._stopped_at if self._stopped_at >= began_at else None)

    # -- Tools

    def _note_work(self, signal: sg.WorkStarted | sg.WorkEnded) -> None:
        self._work[signal.call] = signal

    def _start_tool(self, call: int, at: int) -> Span:
        signal = self._work.pop(call, None)
        name = signal.tool if signal is not None and signal.tool in self._names else None
        mode = signal.mode if isinstance(signal, sg.WorkStarted) else None
        self._tools[call] = span = self._spans.start("tool", at, self._parent(), call=call, tool=name, mode=mode)
        return span

    def _end_tool(self, effect: fx.PostOutput | fx.PostNews, event: ev.Event) -> None:
        call, outcome = effect.call, effect.outcome
        if outcome is Outcome.REFUSED:
            self._start_tool(call, event.at)  # the call never ran, so it has no span yet
        self._work.pop(call, None)
        span = self._tools.pop(call, None)
        if span is not None:
            error = event.error if isinstance(event, ev.JobFailed) and event.call == call else ErrorClass.TOOL_ERROR
            self._spans.end(span, event.at, error if outcome in _FAILURES else None, outcome=outcome.value)
        if outcome is Outcome.CANCELLED and isinstance(effect, fx.PostOutput):
            self._note_outcome("cancelled")


def _error_of(
    event: ev.Event, failure: type[ev.ReplyFailed | ev.PlaybackFailed], late: tuple[Timer, ...]
) -> ErrorClass | None:
    """The error class in the event, if the event is of the type `failure`. NETWORK_TIMEOUT, if one of the timers in
    `late` has fired. None for any other event."""
    if isinstance(event, failure):
        return event.error
    return ErrorClass.NETWORK_TIMEOUT if isinstance(event, ev.TimerFired) and event.timer in late else None


def _is_settled(s: State) -> bool:
    """Is the answer complete? True if no reply, sound or tool call is running and there is no news that will continue
    the answer."""
    return s.reply not in PENDING and s.voice is Voice.SILENT and not has_foreground(s) and not s.news
