"""A snapshot of a conversation, for programs and panels.

Rule: a snapshot holds no words of the conversation, so it may be logged.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from duologue.core.leaves import Reply, User, Voice
from duologue.core.state import State, floor_is_free, is_owed
from duologue.observe.labels import label

if TYPE_CHECKING:
    from .engine import Engine


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The state of a conversation, with the fields that the panel's protocol requires."""

    state: str
    previous_state: str | None
    label: str
    phase: str
    previous_phase: str | None
    since: int
    turn: int
    turn_role: str | None
    metadata: dict[str, Any] = field(default_factory=dict)
    machine: State | None = None


def snapshot_of(engine: Engine, end_reason: str = "") -> Snapshot:
    """The snapshot of a conversation. `end_reason` is the reason why the conversation has ended or is ending; empty if
    it goes on."""
    s, states = engine.driver.state, engine.announcer.conversation
    speaking = engine.playback.speech is not None
    return Snapshot(
        state=states.state,
        previous_state=states.previous,
        label=label(engine.announcer.phase.state, engine.agent.language, engine.agent.phrases),
        phase=engine.announcer.phase.state,
        previous_phase=engine.announcer.phase.previous,
        since=states.entered_at,
        turn=s.turn,
        turn_role="assistant" if speaking else "user" if s.user is not User.QUIET else None,
        metadata=context_of(engine) | ({"reason": end_reason} if end_reason else {}),
        machine=s,
    )


def context_of(engine: Engine) -> dict[str, Any]:
    """Ids, counts and times of the conversation, without any of its words."""
    s, speech = engine.driver.state, engine.playback.speech
    return {
        "session": s.session_id,
        "session_started_at": engine.sessions.started_at,
        "turn": s.turn,
        "reply": s.reply_id,
        "audio_item": speech.reply if speech else None,
        "audio_started_at": engine.announcer.audio_started_at(speech.reply) if speech else None,
        "audio_played_ms": speech.ledger.heard_ms if speech else 0,
        "transcript": engine.transcript.words.content or None,  # the id of the newest final or typed text
        "pending_calls": [job.call for job in s.jobs],
        "pending_actions": [pending.tool for pending in engine.tool_calls.running()],
        "reason": engine.announcer.reason_in(s),  # why it is paused or in a fault
        "last_error": engine.announcer.last_error,
        "retries": s.retries,
        "interruptions": engine.announcer.meter.interrupted,
        "queued_turns": s.said - s.answered,
    }


def is_at_rest(engine: Engine) -> bool:
    """Is the conversation quiet: neither side speaks, and no answer is pending? This is also true while the program
    waits for the user's answer to its question."""
    s = engine.driver.state
    if engine.program.listens and s.user is User.QUIET and s.voice is Voice.SILENT:
        return s.reply is Reply.NONE
    return floor_is_free(s) and not is_owed(s) and not s.says
