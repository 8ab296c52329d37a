"""The measure of silence notices every kind of it, and doesn't use the machine's own notion of waiting."""

from __future__ import annotations

import pytest

from duologue.core import events as ev
from duologue.core.effects import StartReply
from duologue.core.leaves import Link
from duologue.core.settings import PROFILES
from duologue.core.state import State, initial
from duologue.core.step_record import StepRecord
from duologue.lab.sim.silence import Silence, WaitSpan, measure, waits
from duologue.lines.scripted import LineAct, Sounded
from duologue.observe.signals import CueGiven

OPEN = [LineAct(0, "open")]


def state(**fields: object) -> State:
    return initial(PROFILES["confirm"])._replace(link=Link.UP)._replace(**fields)  # type: ignore[arg-type]


def call(asked_ms: int = 1_000, ended_ms: int = 31_000) -> list[StepRecord]:
    """A question at one time, and its answer at the other."""
    asked = StepRecord(ev.TextTyped(asked_ms, 1), state(), state(turn=1, said=1, asked=1), (StartReply(1, 1, 1),), ())
    done = StepRecord(
        ev.PlaybackFinished(ended_ms, 1, 500), asked.after, state(turn=1, said=1, asked=1, answered=1), (), ()
    )
    return [asked, done]


def test_a_caller_waits_from_the_question_to_the_end_of_its_answer() -> None:
    assert list(waits(call(), OPEN)) == [WaitSpan(1_000, 31_000)]


@pytest.mark.req("H-01")
def test_without_a_sound_the_whole_wait_is_silence() -> None:
    assert measure(call(), [], OPEN, []) == Silence(30_000, 30_000, 0)


@pytest.mark.req("H-01")
def test_a_sound_is_a_sign_but_no_words() -> None:
    sounds = [Sounded("cue", 1, 4_000, 4_600), Sounded("voice", 1, 20_000, 31_000)]
    assert measure(call(), sounds, OPEN, [CueGiven(4_000, "sound", "")]) == Silence(3_000, 19_000, 15_400)


@pytest.mark.req("H-01")
def test_a_cue_with_words_counts_as_words() -> None:
    sounds = [Sounded("cue", 1, 6_000, 8_000)]
    assert measure(call(), sounds, OPEN, [CueGiven(6_000, "words", "One moment.")]) == Silence(5_000, 5_000, 23_000)


def test_while_the_line_is_away_nothing_can_be_heard() -> None:
    line = [*OPEN, LineAct(2_000, "away"), LineAct(28_000, "open")]
    assert measure(call(), [], line, []) == Silence(3_000, 3_000, 0)


def test_a_sound_that_began_before_the_wait_is_no_silence() -> None:
    assert measure(call(), [Sounded("voice", 1, 500, 31_000)], OPEN, []) == Silence(0, 0, 0)
