"""Each invariant complains about a call that breaks it, and not about a good one."""

from __future__ import annotations

import io
from dataclasses import replace

import pytest

from duologue.core import effects as fx
from duologue.core import events as ev
from duologue.core.leaves import Link, Outcome
from duologue.core.settings import profile
from duologue.core.state import initial
from duologue.core.step_record import StepRecord
from duologue.lab.sim import invariants as inv
from duologue.lab.sim.audible_sounds import AudibleSound
from duologue.lab.sim.caller_account import CallerAccount
from duologue.lab.sim.invariants import Evidence
from duologue.lab.sim.stage import Stage
from duologue.lines.scripted import LineAct
from duologue.observe import signals as sg
from duologue.ports.brain import Request
from duologue.ports.history import AgentSaid, CallOutput, UserSaid
from duologue.ports.tool_call import ToolCall

START = initial(profile("confirm"))


def did(*effects: fx.Effect) -> StepRecord:
    event = ev.StartRequested(0, 1)
    return StepRecord(event, START, START._replace(link=Link.PREPARING), effects, ())


def waited() -> Evidence:
    """A call in which the brain answered after 20 s, with a sign after 3 s, words after 7 s and words again after 15 s.
    The line was open all the time."""
    stage = Stage(profile("confirm", dead_air_ms=0, attempt_ms_max=30_000, cue_ms=(3_000, 4_000, 8_000)))
    stage.start()
    stage.happen(ev.TextTyped)
    stage.wait(20_000)
    stage.speak(1_000)
    stage.finish()
    sounded = [
        AudibleSound("cue", 1, 3_000, 3_200, False),
        AudibleSound("cue", 2, 7_000, 8_000, True),
        AudibleSound("cue", 3, 15_000, 16_000, True),
    ]
    written = io.StringIO()
    stage.write_journal(written)
    return Evidence(
        records=stage.records,
        journal=written.getvalue().splitlines(),
        connections=[LineAct(0, "open")],
        sounded=[*sounded, AudibleSound("voice", 1, 20_000, 21_000, True)],
        signals=[sg.CueGiven(3_000, "sound", ""), sg.CueGiven(7_000, "words", "One moment.")],
        account=CallerAccount(typed=[0]),
    )


WAITED = waited()
WELL = Evidence(
    records=[did(fx.StartReply(1, 1, 1)), did(fx.StartPlayback(1, 1))],
    history=(
        UserSaid(1, "hello"),
        AgentSaid(1, "hi", heard_ms=300, calls=((1, ToolCall("x")),)),
        CallOutput(1, "done"),
    ),
    line=[
        LineAct(0, "play", 1, 1),
        LineAct(20, "hold", 1),
        LineAct(40, "resume", 1),
        LineAct(60, "play", 1, 2),
        LineAct(80, "clear", 1),
    ],
    played={1: 300},
    requests=[Request(1, "hello")],
    heard_finals=["hello"],
)

BROKEN = {
    "never_stuck": [replace(WELL, came_to_rest=False), replace(WELL, ended=False)],
    "nothing_left_running": [replace(WELL, tasks_left=["reply 1"])],
    "nothing_lost_silently": [replace(WELL, records=[]), replace(WELL, heard_finals=["hello", "goodbye"])],
    "asked_words_reach_the_brain": [replace(WELL, requests=[Request(1, "")])],
    "no_turn_is_asked_and_overheard": [replace(WELL, history=(UserSaid(1, "hello", overheard=True),))],
    "one_output_for_each_call": [
        replace(WELL, history=WELL.history[:2]),
        replace(WELL, history=(*WELL.history, CallOutput(1, "again", Outcome.DONE))),
        replace(WELL, history=(*WELL.history, CallOutput(7, "for no call", Outcome.DONE))),
    ],
    "the_line_obeys_its_order": [
        replace(WELL, line=[*WELL.line, LineAct(90, "play", 1, 3)]),
        replace(WELL, line=[LineAct(0, "play", 1, 1), LineAct(20, "hold", 1), LineAct(30, "play", 1, 2)]),
        replace(WELL, line=[LineAct(0, "play", 1, 2)]),
        replace(WELL, line=[LineAct(0, "play", 3, 1), LineAct(10, "play", 1, 1)]),
    ],
    "history_claims_no_more_than_was_played": [replace(WELL, played={1: 299}), replace(WELL, played={})],
    "no_turn_is_answered_twice": [
        replace(
            WELL,
            records=[did(fx.StartReply(1, 1, 1)), did(fx.StartReply(3, 1, 1))],
            history=(AgentSaid(1, "hi", heard_ms=9), AgentSaid(3, "hi", heard_ms=9)),
        )
    ],
    "no_programming_errors": [replace(WELL, signals=[sg.Problem(0, "StartReply", "KeyError")])],
    "it_replays": [replace(WELL, records=[did()])],
    "no_unexplained_silence": [
        replace(WAITED, sounded=WAITED.sounded[1:]),  # 7 s to the first sign
        replace(WAITED, sounded=[WAITED.sounded[0], *WAITED.sounded[2:]]),  # 15 s to the first words
        replace(WAITED, sounded=[*WAITED.sounded[:2], WAITED.sounded[3]]),  # 12 s between two signs
    ],
    "nothing_untrue_is_shown": [
        replace(WAITED, signals=[sg.Noticed(20_000, "restored", "info", "restored")]),
        replace(WAITED, signals=[sg.Noticed(20_000, "recovered", "info", "recovered")]),
        replace(WAITED, signals=[sg.Noticed(20_000, "long_speech", "info", "long_speech")]),
        replace(WAITED, journal=[], signals=[sg.Noticed(20_000, "lost", "info", "lost")]),
    ],
}


def test_a_call_that_went_well_has_no_complaints() -> None:
    checks = [check for check in inv.INVARIANTS if check is not inv.it_replays]  # these steps are made up
    assert [complaint for check in checks for complaint in check(WELL)] == []
    assert inv.it_replays(WAITED) == inv.no_unexplained_silence(WAITED) == inv.nothing_untrue_is_shown(WAITED) == []


def test_every_invariant_has_a_call_that_breaks_it() -> None:
    assert set(BROKEN) == {check.__name__ for check in inv.INVARIANTS}


@pytest.mark.parametrize(
    ("name", "evidence"), [(name, evidence) for name, cases in BROKEN.items() for evidence in cases]
)
def test_an_invariant_complains_about_a_call_that_breaks_it(name: str, evidence: Evidence) -> None:
    assert getattr(inv, name)(evidence)


def test_a_service_that_fails_is_not_a_programming_error() -> None:
    assert inv.no_programming_errors(replace(WELL, signals=[sg.Problem(0, "reply", "ServiceError: RATE_LIMIT")])) == []
