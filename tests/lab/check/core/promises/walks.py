"""Steps of the conversation machine for the tests of promises: scripted calls and short random walks from them."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from functools import cache

from duologue.core import events as ev
from duologue.core.leaves import ErrorClass, Timer
from duologue.core.machine import MACHINE, ROWS, Machine
from duologue.core.settings import PROFILES
from duologue.core.state import State
from duologue.lab.check.core.abstract import abstract
from duologue.lab.check.core.alphabet import fresh, timers
from duologue.lab.check.core.laws import CheckedStep
from duologue.lab.check.core.promises import Promise, index, trigger_of
from duologue.lab.check.core.scopes import CheckScope
from duologue.lab.sim.demo_call import play_demo, stage_for_demo
from duologue.lab.sim.stage import Stage
from tests.core.scenes import asked, speaking, up

EVERYTHING = CheckScope("everything", lambda settings: settings, frozenset())
WALK_STEPS = 8


def walk(machine: Machine = MACHINE) -> Iterator[CheckedStep]:
    """Every step that is possible in the states of a few scripted calls, and on a short random walk from each."""
    dice = random.Random(1)
    for start in _starts():
        state = start
        for _ in range(WALK_STEPS):
            steps = [_take(machine, state, event) for event in (*timers(state), *fresh(state, EVERYTHING))]
            yield from steps
            moves = [step.after for step in steps if step.after is not step.before]
            if not moves:
                break
            state = abstract(dice.choice(moves))


def _take(machine: Machine, state: State, event: ev.Event) -> CheckedStep:
    after, effects = machine.step(state, event)
    return CheckedStep(state, event, after, effects)


@cache
def _starts() -> list[State]:
    demo = stage_for_demo()
    list(play_demo(demo))
    scripts = (
        _lost_often,
        _confirmed_late,
        _renewed_in_a_pause,
        _ended_before_the_next_session,
        _goodbye,
        _words_over_goodbye,
        _ready_behind_fillers,
        _ready_in_a_pause,
        _busy,
        _over_a_firm_reply,
        _paused_with_a_limit,
        _cut_off_by_the_line,
        _cut_off,
        _fatal,
        _asked_hello,
        _about_to_end,
        _said_by_the_program,
        _sound_after_the_text,
    )
    stages = [demo, *(_overlap(name) for name in PROFILES), *(script() for script in scripts)]
    return list(dict.fromkeys(abstract(record.after) for stage in stages for record in stage.records))


def _said_by_the_program() -> Stage:
    """The program says something: its words fail once, and are then cut off before anything of them is heard."""
    stage = up()
    stage.happen(ev.SpeechRequested)
    stage.wait_for(Timer.BEAT)
    stage.fail_reply(ErrorClass.SERVER_ERROR)
    stage.wait_for(Timer.RETRY)
    stage.think()
    stage.speak(0)
    stage.happen(ev.TextTyped)
    stage.wait_for(Timer.STOP)
    return stage


def _sound_after_the_text() -> Stage:
    """A sound goes on after the final text of a turn that isn't over."""
    stage = up()
    stage.begin_talking()
    stage.happen(ev.SpeechStopped)
    stage.hear_words(final=True)
    stage.happen(ev.SpeechStarted)
    return stage


def _overlap(name: str) -> Stage:
    """The user says a whole turn while the agent speaks."""
    stage = speaking(name=name, session_ms_max=600_000, session_warning_ms=540_000)
    stage.say()
    return stage


def _lost_often() -> Stage:
    """The line is lost again and again before the answer is heard; the turn is asked again in each new session."""
    stage = asked()
    for _ in range(stage.state.settings.line_losses_max):
        stage.happen(ev.LinkClosed)
        stage.wait_for(Timer.BACKOFF)
        stage.happen(ev.SessionReady)
        stage.wait_for(Timer.BEAT)
    return stage


def _confirmed_late() -> Stage:
    """An interruption whose stop is not confirmed before the breath is over."""
    stage = speaking()
    stage.interrupt()
    stage.wait_for(Timer.BREATH)
    return stage


def _ended_before_the_next_session() -> Stage:
    """The session ends while the next one is being opened."""
    stage = up(session_ms_max=20_000, session_warning_ms=10_000)
    stage.wait_for(Timer.SESSION_LIMIT)
    stage.happen(ev.SessionEnded)
    return stage


def _renewed_in_a_pause() -> Stage:
    """The session's limit passes during a pause."""
    stage = up(session_ms_max=20_000, session_warning_ms=10_000)
    stage.happen(ev.SuspendRequested)
    stage.wait_for(Timer.SESSION_LIMIT)
    return stage


def _goodbye() -> Stage:
    """The user speaks while the agent says goodbye."""
    stage = up("words", dead_air_ms=10_000, check_ins_max=0)
    stage.wait_for(Timer.DEAD_AIR)
    stage.think()
    stage.speak(200)
    stage.begin_talking()
    return stage


def _words_over_goodbye() -> Stage:
    """The user says words while the agent says goodbye."""
    stage = _goodbye()
    stage.hear_words(1, final=True)
    stage.happen(ev.SpeechStopped)
    return stage


def _ready_behind_fillers() -> Stage:
    """A reply is ready while the user says filler words."""
    stage = asked()
    stage.think()
    stage.begin_talking()
    stage.hear_words(1, substantial=0)
    stage.happen(ev.AudioBuffered)
    return stage


def _ready_in_a_pause() -> Stage:
    """A reply is ready while the conversation is paused."""
    stage = asked()
    stage.think()
    stage.happen(ev.SuspendRequested)
    stage.happen(ev.AudioBuffered)
    return stage


def _over_a_firm_reply() -> Stage:
    """The user speaks over a reply that can't be interrupted."""
    stage = speaking()
    stage.happen(ev.ReplyBecameFirm)
    stage.begin_talking()
    stage.hear_words(3, final=True)
    return stage


def _paused_with_a_limit() -> Stage:
    """A pause that may not last for ever."""
    stage = up(suspend_ms_max=60_000)
    stage.happen(ev.SuspendRequested)
    return stage


def _cut_off() -> Stage:
    """A sound without words has interrupted the answer, and is over."""
    stage = speaking()
    stage.begin_talking()
    stage.happen(ev.OverlapJudged, bid=True)
    stage.happen(ev.PlaybackStopped, heard_ms=600)
    stage.happen(ev.SpeechStopped)
    stage.wait_for(Timer.SETTLE)
    return stage


def _cut_off_by_the_line() -> Stage:
    """The line was lost in the middle of an answer, and a new session is being opened."""
    stage = speaking(600)
    stage.happen(ev.LinkClosed)
    stage.wait_for(Timer.BACKOFF)
    return stage


def _fatal() -> Stage:
    """The user speaks after a fatal fault."""
    stage = asked()
    stage.fail_reply(ErrorClass.AUTH_FAILURE)
    stage.begin_talking()
    stage.hear_words(2)
    stage.happen(ev.SpeechStopped)
    return stage


def _asked_hello() -> Stage:
    """The user asks whether the agent is there, and the text of that comes after the turn's end."""
    stage = asked()
    stage.begin_talking()
    stage.happen(ev.SpeechStopped)
    stage.happen(ev.TurnEnded)
    return stage


def _about_to_end() -> Stage:
    """The conversation ends as soon as everything is said."""
    stage = speaking()
    stage.happen(ev.EndAfterSpeaking, withdrawable=True)
    stage.finish()
    return stage


def _busy() -> Stage:
    """As many calls are open as there may be."""
    stage = asked(jobs_max=1)
    stage.think()
    stage.call_tool()
    return stage


def applied_and_broken(steps: Iterable[CheckedStep], promises: Iterable[Promise]) -> tuple[set[str], set[str]]:
    """The names of the promises that applied to at least one step, and of those that were broken."""
    by_trigger = index(promises)
    tested: set[str] = set()
    broken: set[str] = set()
    for step in steps:
        for promise in by_trigger.get(trigger_of(step.event), ()):
            if promise.when(step.before, step.event):
                tested.add(promise.name)
                if not promise.then(step):
                    broken.add(promise.name)
    return tested, broken


def is_broken(name: str, steps: Iterable[CheckedStep], promises: Iterable[Promise]) -> bool:
    """Is the promise with this name broken? The walk ends as soon as it is."""
    (promise,) = (one for one in promises if one.name == name)
    by_trigger = index([promise])
    return any(
        promise.when(step.before, step.event) and not promise.then(step)
        for step in steps
        if trigger_of(step.event) in by_trigger
    )


def without_row(name: str) -> Machine:
    """The machine without the rows whose name contains `name`."""
    rows = [row for row in ROWS if name not in row.name]
    assert len(rows) < len(ROWS), f"no row is called {name!r}"
    return Machine(rows)
