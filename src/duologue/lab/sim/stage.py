"""A stage for scripted conversations: the real machine, a simulated clock, and a log of steps.

The script says which events happen and how much time passes. Deadlines fire by themselves. Rule: the
stage fills in current ids and numbers, so a script names an id only to make an event stale or wrong.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import Any, TextIO, TypeVar

from duologue.core import events as ev
from duologue.core.effects import Effect
from duologue.core.leaves import ErrorClass, Timer
from duologue.core.machine import MACHINE, Machine
from duologue.core.settings import Settings, profile
from duologue.core.state import Deadline, State, initial, next_deadline
from duologue.core.views import VIEWS
from duologue.replay.journal import JournalWriter, StepRecord

FX = TypeVar("FX", bound=Effect)
FIRINGS_MAX = 10_000  # a machine that fires more in one wait is in a loop


class Stage:
    """One scripted conversation. If `watch` is set, it is called with each step."""

    def __init__(self, settings: Settings | None = None, machine: Machine = MACHINE) -> None:
        self.machine = machine
        self.settings = settings or profile("confirm")
        self.state: State = initial(self.settings)
        self.at = 0
        self.seq = 0
        self.records: list[StepRecord] = []
        self.watch: Callable[[StepRecord], None] | None = None

    # -- What happens

    def happen(self, kind: type[ev.Event], **given: Any) -> tuple[Effect, ...]:
        """Make an event of this kind and apply it. Ids that aren't given are the current ones. Returns the effects of
        the event."""
        self.seq += 1
        return self.give(self.make(kind, **given))

    def make(self, kind: type[ev.Event], **given: Any) -> ev.Event:
        """Make an event of this kind without applying it. Ids that aren't given are the current ones."""
        s = self.state
        current = {
            "at": self.at,
            "seq": self.seq,
            "session": s.session_id,
            "reply": s.reply_id,
            "voice": s.voice_id,
            "call": s.call_id,
            "turn": s.turn,
            "onset": s.onset,
        }
        wanted = {field.name for field in fields(kind)}
        return kind(**{**{name: value for name, value in current.items() if name in wanted}, **given})

    def give(self, event: ev.Event) -> tuple[Effect, ...]:
        """Apply this event. Returns the effects of the step."""
        before = self.state
        d = self.machine.advance(before, event)
        if d is None:
            record = StepRecord(event, before, before, (), ())
        else:
            record = StepRecord(event, before, d.build(), tuple(d.effects), tuple(d.fired))
        self.state = record.after
        self.records.append(record)
        if self.watch:
            self.watch(record)
        return record.effects

    def wait(self, for_ms: int) -> None:
        """Let time pass. Each deadline fires when it is due."""
        end = self.at + for_ms
        for _ in range(FIRINGS_MAX):
            deadline = next_deadline(self.state)
            if deadline is None or deadline.due > end:
                self.at = end
                return
            self._fire(deadline)
        raise AssertionError(f"more than {FIRINGS_MAX} deadlines in {for_ms} ms: the machine is in a loop")

    def wait_for(self, timer: Timer) -> tuple[Effect, ...]:
        """Let time pass until this deadline has fired. Returns the effects of that step."""
        for _ in range(FIRINGS_MAX):
            deadline = next_deadline(self.state)
            if deadline is None:
                break
            effects = self._fire(deadline)
            if deadline.timer is timer:
                return effects
        raise AssertionError(f"the deadline {timer.value} never fires")

    def _fire(self, deadline: Deadline) -> tuple[Effect, ...]:
        self.at = max(self.at, deadline.due)
        return self.give(ev.TimerFired(self.at, deadline.timer, deadline.due, deadline.call))

    # -- What people and services commonly do

    def start(self) -> None:
        """Start the conversation and make its session ready."""
        self.happen(ev.StartRequested)
        self.happen(ev.SessionReady)

    def begin_talking(self) -> None:
        """Let the user begin to make a sound."""
        self.happen(ev.SpeechStarted)

    def hear_words(self, words: int = 3, final: bool = False, **given: Any) -> tuple[Effect, ...]:
        """Let a transcript of the current turn come in, with this number of words so far. All words are substantial
        (not fillers such as "um"), unless `substantial` is given."""
        return self.happen(ev.WordsHeard, **{"words": words, "substantial": words, "final": final, **given})

    def say(self, words: int = 3, for_ms: int = 900) -> tuple[Effect, ...]:
        """The user says a whole turn: sound, words, silence, final text, endpoint."""
        self.begin_talking()
        self.wait(for_ms)
        self.hear_words(words)
        self.happen(ev.SpeechStopped)
        self.wait(150)
        self.hear_words(words, final=True)
        self.wait(100)
        return self.happen(ev.TurnEnded)

    def cough(self, for_ms: int = 200) -> None:
        """The user makes a sound without words. The turn stays open until a deadline ends it."""
        self.begin_talking()
        self.wait(for_ms)
        self.happen(ev.SpeechStopped)

    def think(self, for_ms: int = 300) -> None:
        """The brain accepts the request and produces a first token."""
        self.happen(ev.ReplyAccepted)
        self.wait(for_ms)
        self.happen(ev.TokenArrived)

    def speak(self, for_ms: int = 0) -> tuple[Effect, ...]:
        """The reply's first audio is buffered, and `for_ms` of it is played."""
        effects = self.happen(ev.AudioBuffered)
        if for_ms:
            self.play(for_ms)
        return effects

    def play(self, for_ms: int) -> None:
        """Audio is played and acknowledged in steps of 200 ms."""
        heard_ms = self.state.heard_ms
        for _ in range(for_ms // 200):
            self.wait(200)
            heard_ms += 200
            self.happen(ev.PlaybackProgressed, heard_ms=heard_ms)

    def finish(self) -> tuple[Effect, ...]:
        """Playback ends. Since its last report of progress, another 100 ms were heard."""
        return self.happen(ev.PlaybackFinished, heard_ms=self.state.heard_ms + 100)

    def answer(self, for_ms: int = 1000) -> None:
        """The brain accepts the request, and its answer is spoken and heard to its end."""
        self.think()
        self.speak(for_ms)
        self.finish()

    def interrupt(self, words: int = 2) -> tuple[Effect, ...]:
        """The user speaks over the agent, and turn-taking judges the speech to be a bid for the floor."""
        self.begin_talking()
        self.wait(200)
        self.hear_words(words)
        return self.happen(ev.OverlapJudged, bid=True)

    def call_tool(self, cancellable: bool = False) -> int:
        """The reply makes a tool call. Returns the id of the call."""
        call = self.state.call_id + 1
        self.happen(ev.ToolCalled, call=call, cancellable=cancellable)
        return call

    def fail_reply(self, error: ErrorClass) -> tuple[Effect, ...]:
        """The reply fails with this error."""
        return self.happen(ev.ReplyFailed, error=error)

    # -- What was seen

    def effects(self, kind: type[FX]) -> list[FX]:
        """Every effect of this kind so far, in order."""
        return [effect for record in self.records for effect in record.effects if type(effect) is kind]

    def view(self, name: str = "lifecycle") -> str:
        """The current state, as the view with this name shows it."""
        return VIEWS[name].see(self.state)

    def views(self, name: str = "lifecycle") -> list[str]:
        """The states that the view with this name showed so far, in order. A state that was shown during several steps
        in a row is listed once."""
        see = VIEWS[name].see
        seen = [see(initial(self.settings))]
        for record in self.records:
            if see(record.after) != seen[-1]:
                seen.append(see(record.after))
        return seen

    def write_journal(self, out: TextIO, seed: int = 0) -> None:
        """Write the conversation so far as a journal."""
        writer = JournalWriter(out, self.settings, seed)
        for record in self.records:
            writer.add(record.event, record.after)
        writer.close()
