"""The hearing machine: `step(policy, state, input) -> (state, intents)`.

This state machine converts what the ears (STT and VAD) report to what the conversation machine needs: onsets, words and
verdicts about turn-taking, each with its turn. It is pure: no clock, no await, no callback. Time arrives in inputs, and
`due_times` says when to wake the machine. Rule: for each input, the machine applies the first row of HEARING_ROWS whose
guard is true. An input without a row changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, TypeAlias

from duologue.core.leaves import CLOSED
from duologue.ports.ears import Final, Partial, Pause, SpeechBegan, SpeechEnded, TurnOver, VoiceFrame

from . import actions as act
from . import core_steps as core
from .endpoint import due_endpoint, due_overlap, due_unchanged, due_wordless, propose_guess, update_wait
from .inputs import (
    AgentAsks,
    AgentSpoke,
    ButtonPressed,
    ButtonReleased,
    CoreStepped,
    EarsStopped,
    HeardLate,
    Input,
    Reported,
    TextJudged,
    Typed,
    Woke,
)
from .intents import Intent
from .policy import HearingPolicy
from .state import HearingDraft, HearingState

HearingAction: TypeAlias = Callable[[HearingDraft, Any], None]
HearingGuard: TypeAlias = Callable[[HearingDraft, Any], bool]


@dataclass(frozen=True, slots=True)
class HearingRow:
    """One row of the state machine: for an input of one of the kinds in `on`, if the guard `when` is true, call
    `do`."""

    on: tuple[type[Any], ...]  # kinds of inputs, or of reports of the ears
    do: HearingAction
    when: HearingGuard | None = None
    why: str = ""

    @property
    def name(self) -> str:
        """A name for the row in reports, made from its inputs, guard and action."""
        kinds = "/".join(kind.__name__ for kind in self.on)
        guard = f" [{self.when.__name__}]" if self.when else ""
        return f"{kinds}{guard} -> {self.do.__name__}"


HEARING_ROWS: tuple[HearingRow, ...] = (
    # What the ears report
    HearingRow((SpeechBegan,), act.note_onset, act.has_begun_already, "the onset is late or reported twice"),
    HearingRow((SpeechBegan,), act.begin_speech),
    HearingRow((SpeechEnded,), act.note_early_end, act.is_of_unknown_utterance, "the onset is late or was lost"),
    HearingRow((SpeechEnded,), act.end_speech, act.is_about_newest, "the end of an older utterance changes nothing"),
    HearingRow((VoiceFrame,), act.follow_frame),
    HearingRow((Pause,), act.note_pause, act.is_about_newest),
    HearingRow((Partial,), act.ignore, act.has_final_text, "a partial text after the final text"),
    HearingRow((Partial, Final), act.ignore, act.is_text_of_nothing, "empty text that belongs to no known utterance"),
    HearingRow((Partial, Final), act.hear_missed, act.is_missed, "text of an utterance whose onset was not reported"),
    HearingRow((Partial, Final), act.hear_first, act.is_first_sign, "the utterance is reported by its text first"),
    HearingRow((Partial, Final), act.hear_text),
    HearingRow((TurnOver,), act.end_turn_by_server, act.has_utterances),
    HearingRow((EarsStopped,), act.forget_ears),
    # What the user and the program do
    HearingRow((ButtonPressed,), act.press),
    HearingRow((ButtonReleased,), act.release),
    HearingRow((Typed,), act.take_typed),
    HearingRow((AgentSpoke,), act.note_agent),
    HearingRow((AgentAsks,), act.note_question),
    HearingRow((HeardLate,), act.note_heard_late),
    HearingRow((TextJudged,), act.note_judgement),
    # What the conversation machine did
    HearingRow((CoreStepped,), core.go_on_with_button, core.ended_under_button, "push-to-talk is still pressed"),
    HearingRow((CoreStepped,), core.go_on_speaking, core.ended_in_speech, "the user goes on speaking"),
    HearingRow((CoreStepped,), core.give_up_sound, core.ended_in_noise, "the ears missed the end of the sound"),
    HearingRow((CoreStepped,), core.begin_rest, core.is_withheld_no_more, "the brain has been asked by now"),
    HearingRow((CoreStepped,), core.take_answer, core.answer_came_early, "the answer began before the question ended"),
    HearingRow((CoreStepped,), core.take_words, core.turn_ended_after_sound, "the line was late to report the end"),
    HearingRow((CoreStepped,), core.repeat_question, core.came_back_in_question, "the lost line cut the question off"),
    HearingRow((CoreStepped,), core.follow),
    # Time
    HearingRow((Woke,), act.end_turn_by_silence, due_endpoint),
    HearingRow((Woke,), act.judge_duration, due_overlap),
    HearingRow((Woke,), act.dismiss_sound, due_wordless),
    HearingRow((Woke,), act.end_unchanged, due_unchanged, "the ears have missed the end of speech"),
)


class HearingMachine:
    """The state machine with these rows. The rows are stored by the kind of input."""

    def __init__(self, rows: Iterable[HearingRow] = HEARING_ROWS) -> None:
        self.load(rows)

    def load(self, rows: Iterable[HearingRow]) -> None:
        """Replace the rows. The checker uses this to insert faults on purpose."""
        self.rows = tuple(rows)
        table: dict[type[Any], list[HearingRow]] = {}
        for row in self.rows:
            for kind in row.on:
                table.setdefault(kind, []).append(row)
        self._table = {kind: tuple(found) for kind, found in table.items()}

    def step(self, policy: HearingPolicy, s: HearingState, i: Input) -> tuple[HearingState, tuple[Intent, ...]]:
        """Process one input. Returns the next state and the intents for the conversation machine. If nothing changes,
        the same state object is returned."""
        given: Any = i.heard if type(i) is Reported else i
        if type(i) is Reported and s.core.link in CLOSED:
            return s, ()
        rows = self._table.get(type(given), ())
        d = HearingDraft(policy, s, i.at)
        if type(i) is CoreStepped:
            core.see(d, i)
        for row in rows:
            if row.when is None or row.when(d, given):
                row.do(d, given)
                break
        update_wait(d)
        propose_guess(d)
        return d.build(), tuple(d.intents)


HEARING = HearingMachine()
step = HEARING.step
