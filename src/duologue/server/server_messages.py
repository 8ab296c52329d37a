"""The messages that the server sends to its clients: turns the signals of a conversation into messages of the protocol
(docs/protocol.md).

A table says which function writes the message for each kind of signal. Rule: a signal that isn't in the table isn't
sent to clients.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from datetime import datetime
from typing import Any, TypeAlias

from duologue.core.leaves import ErrorClass
from duologue.observe import signals as sg
from duologue.observe.hearing_fact import HearingStatus
from duologue.observe.labels import WAITS, label
from duologue.observe.metrics import Metrics
from duologue.observe.notices import Notice, about
from duologue.observe.prices import PriceTable
from duologue.observe.usage import UsageRow, total_of
from duologue.phrases.overrides import Phrases
from duologue.ports.brain import Form
from duologue.ports.history import AgentSaid, Item, UserSaid
from duologue.runtime.conversation import Conversation

from .latency import LatencyStages
from .situation import Situation

ServerMessage: TypeAlias = dict[str, Any]


def message(kind: str, **payload: Any) -> ServerMessage:
    """A message of the protocol, with this type and payload."""
    return {"type": f"duologue.{kind}", "payload": payload}


def iso(time: datetime) -> str:
    """A time in UTC, in ISO 8601 with milliseconds."""
    return time.isoformat(timespec="milliseconds").replace("+00:00", "Z")


class MessageWriter:
    """Turns the signals of one conversation into messages in one client's language."""

    def __init__(self, conversation: Conversation, language: str) -> None:
        self._conversation = conversation
        self.language = language
        self._phrases = conversation.agent.phrases
        self._sent: tuple[int, str, str] | None = None  # the newest state message: when, state, phase

    def write(self, signal: sg.Signal) -> ServerMessage | None:
        """The message for a signal; None if this kind of signal isn't sent to clients."""
        make = _WRITERS.get(type(signal))
        return make(self, signal) if make is not None else None

    # -- States

    def state(self) -> ServerMessage:
        """The message with the current state of the conversation."""
        now = self._conversation.snapshot()
        context, moves = now.metadata, self._conversation.view("conversation").transitions
        return message(
            "state",
            state=now.state,
            previous=now.previous_state,
            localizedLabel=label(now.phase, self.language, self._phrases),
            cause=moves[-1].cause if moves else "",
            phase=now.phase,
            previousPhase=now.previous_phase,
            at=now.since,
            since=iso(self._conversation.time_of(now.since)),
            turnId=f"turn-{now.turn}" if now.turn else None,
            turnRole=now.turn_role,
            metadata={
                "sessionId": context["session"],
                "turn": context["turn"],
                "replyId": context["reply"],
                "transcriptId": context["transcript"],
                "pendingCalls": context["pending_calls"],
                "pendingActions": context["pending_actions"],
                "reason": context["reason"],
                "interruptionCount": context["interruptions"],
                "retryCount": context["retries"],
                "lastError": context["last_error"],
                "queuedTurns": context["queued_turns"],
            },
        )

    def _entered(self, signal: sg.StateEntered) -> ServerMessage | None:
        """The message with the new state. None if the signal is about a view that clients don't get, or if this state
        was sent already: if a step changes both the state and the phase, only one message is sent."""
        now = (signal.at, self._conversation.view("conversation").state, self._conversation.phase)
        if signal.view not in ("conversation", "phase") or now == self._sent:
            return None
        self._sent = now
        return self.state()

    def _waiting(self, signal: sg.Waiting) -> ServerMessage:
        text = label(WAITS[min(signal.stage, len(WAITS) - 1)], self.language, self._phrases)
        return message("wait", call=signal.call, stage=signal.stage, label=text, detail=signal.detail)

    # -- Notices

    def _noticed(self, signal: sg.Noticed) -> ServerMessage:
        about_part = {"part": signal.part} if signal.part else {}
        text = self._phrases.notice(self.language, signal.text, **about_part)
        return notification(signal.level, signal.code, text, signal.actions, signal.fatal)

    def _lost(self, signal: sg.Lost) -> ServerMessage:
        text = self._phrases.notice(self.language, "lost", said=" ".join(signal.texts))
        return notification("warning", "lost", text)

    def _problem(self, signal: sg.Problem) -> ServerMessage | None:
        """The message for a problem. None if there is no notice for this kind of problem; such a problem is only
        logged."""
        if ErrorClass.INVALID_ARGS.value in signal.what:
            return None  # a mistake of the brain, which corrects it
        notice = about(f"problem_{signal.where.partition(' ')[0]}")
        return written(notice, self.language, self._phrases) if notice is not None else None


# -- One function for each kind


def _turn(event: str, turn: sg.TurnContext, why: str = "") -> ServerMessage:
    return message(
        "turn",
        event=event,
        turnId=f"turn-{turn.turn}",
        role=turn.role,
        durationMs=turn.duration_ms,
        confidence=turn.confidence,
        interruptions=turn.interruptions,
        why=why,
    )


def _caption(signal: sg.Caption) -> ServerMessage:
    return message(
        "caption",
        role=signal.role,
        text=signal.text,
        unheard=signal.unheard,
        final=signal.final,
        turn=signal.turn,
        reply=signal.reply,
    )


def _work(event: str, signal: Any, **more: Any) -> ServerMessage:
    return message("work", event=event, call=signal.call, tool=signal.tool, **more)


def notification(level: str, code: str, text: str, actions: tuple[str, ...] = (), fatal: bool = False) -> ServerMessage:
    """The message with a notice for the user. `actions` are the commands that the page offers with the notice."""
    return message("notification", level=level, code=code, message=text, actions=list(actions), fatal=fatal)


def written(notice: Notice, language: str, phrases: Phrases | None = None) -> ServerMessage:
    """The message for this notice, written in this language."""
    text = (phrases or Phrases()).notice(language, notice.text)
    return notification(notice.level, notice.code, text, notice.actions, notice.fatal)


# -- What a reconnecting client needs


def history(items: tuple[Item, ...], lost: Collection[int] = ()) -> ServerMessage:
    """The message with everything that was said. `lost` are the numbers of the turns that got no answer."""
    return message("history", items=[shown for item in items if (shown := _item(item, lost)) is not None])


def _item(item: Item, lost: Collection[int]) -> ServerMessage | None:
    match item:
        case UserSaid():
            is_lost = item.turn in lost
            return {
                "role": "user",
                "text": item.text,
                "turn": item.turn,
                "overheard": item.overheard,
                "lost": is_lost,
            }
        case AgentSaid() if item.text or item.unheard:
            return {
                "role": "assistant",
                "text": item.text,
                "unheard": item.unheard,
                "reply": item.reply,
                "interrupted": item.interrupted,
                "speaker": item.speaker,
            }
    return None


def dialogue(form: Form | None) -> ServerMessage:
    """The message with the open flow and its slots, or with an idle dialogue if no flow is open."""
    if form is None:
        return message("dialogue", flow=None, title="", state="idle", question=None, slots=[])
    slots = [{"name": slot.name, "label": slot.label, "value": slot.value, "state": slot.state} for slot in form.slots]
    return message("dialogue", flow=form.flow, title=form.title, state=form.state, question=form.question, slots=slots)


def status(hearing: HearingStatus, now: Situation, at: int, session_at: int) -> ServerMessage:
    """The message with the details of the state: whether the user can be heard, why the user has to wait, and which
    turns are queued."""
    return message(
        "status",
        hearing=hearing.value,
        why=now.why,
        attempt=now.attempt,
        attemptsMax=now.attempts_max,
        inMs=max(0, now.until - at) if now.until else None,
        queued=list(range(now.queued_first, now.queued_last + 1)) if now.queued_last else [],
        at=at,
        sessionAt=session_at,
    )


def usage(rows: Sequence[UsageRow], prices: PriceTable | None) -> dict[str, Any]:
    """How much the conversation has used of each service, and what that costs at the operator's prices. The total
    `cost` is None if nothing that was used has a price, and the `cost` of a row is None if the row has no price."""
    total = total_of(rows)
    return {
        "tokens": total["input_tokens"] + total["output_tokens"],
        "characters": total["characters"],
        "heardMs": total["heard_ms"],
        "spokenMs": total["spoken_ms"],
        "cost": prices.cost_of_all(rows) if prices is not None else None,
        "currency": prices.currency if prices is not None else "",
        "rows": [{**row.to_json(), "cost": prices.cost_of(row) if prices is not None else None} for row in rows],
    }


def metrics(measured: Metrics, session_ms: int, latency: LatencyStages, used: dict[str, Any]) -> ServerMessage:
    """The message with the metrics of the conversation. Its `stages` are the durations of the newest answer's stages.
    Its `meanAnswerMs` is the mean duration of all answers, from the end of the user's speech to the first sound. `used`
    is the result of `usage`."""
    return message(
        "metrics",
        sessionMs=session_ms,
        turns=measured.turns,
        meanAnswerMs=latency.mean_ms,
        meanFirstTokenMs=measured.first_token_ms,
        meanFirstAudioMs=measured.first_audio_ms,
        interruptionRate=measured.interruption_rate,
        calls=measured.calls,
        callSuccessRate=measured.call_success_rate,
        errors=measured.errors,
        checkIns=measured.check_ins,
        early=measured.early,
        earlyUsed=measured.early_used,
        earlyMs=measured.early_ms,
        stages=latency.newest,
        usage=used,
    )


# Shared by all writers: a table of its own would take more memory than everything else that a writer has.
_WRITERS: dict[type[sg.Signal], Callable[[MessageWriter, Any], ServerMessage | None]] = {
    sg.StateEntered: MessageWriter._entered,
    sg.TurnStarted: lambda _, signal: _turn("turn-started", signal.turn),
    sg.TurnCompleted: lambda _, signal: _turn("turn-completed", signal.turn),
    sg.TurnInterrupted: lambda _, signal: _turn("turn-interrupted", signal.turn, signal.by),
    sg.TurnDropped: lambda _, signal: _turn("turn-dropped", signal.turn, signal.why),
    sg.Caption: lambda _, signal: _caption(signal),
    sg.Decided: lambda _, signal: message(
        "decision",
        at=signal.at,
        decision=signal.decision,
        reasons=list(signal.reasons),
        confidence=signal.confidence,
    ),
    sg.WorkStarted: lambda _, signal: _work("started", signal, mode=signal.mode),
    sg.WorkProgressed: lambda _, signal: _work("progressed", signal, text=signal.text, fraction=signal.fraction),
    sg.WorkAsked: lambda _, signal: _work("asked", signal, question=signal.question),
    sg.WorkEnded: lambda _, signal: _work("ended", signal, outcome=signal.outcome.value, durationMs=signal.duration_ms),
    sg.WorkSilent: lambda _, signal: message("work", event="silent", call=signal.call),
    sg.Waiting: MessageWriter._waiting,
    sg.AgentChanged: lambda _, signal: message("agent", name=signal.name),
    sg.CueGiven: lambda _, signal: message("cue", action="play", cue=signal.cue, text=signal.text),
    sg.Noticed: MessageWriter._noticed,
    sg.Lost: MessageWriter._lost,
    sg.Problem: MessageWriter._problem,
}
