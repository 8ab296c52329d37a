"""A notice that isn't true is found, and a notice that is true isn't, from the lines of a journal alone."""

from __future__ import annotations

import ast
import io
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from duologue.core import events as ev
from duologue.core.leaves import ErrorClass, FaultSource, Timer
from duologue.core.settings import profile
from duologue.lab.sim import untrue_notices as judge
from duologue.lab.sim.caller_account import CallerAccount, ServiceSpan
from duologue.lab.sim.stage import Stage
from duologue.lab.sim.untrue_notices import JUDGED, OF_SERVERS, untrue_notices
from duologue.observe import signals as sg
from duologue.observe.notices import NOTICE_ROWS
from duologue.observe.signals import Lost, Noticed, Problem
from tests.observe.test_notices import shown

E, P, T = ErrorClass, FaultSource, Timer


def journal_of(stage: Stage) -> list[str]:
    out = io.StringIO()
    stage.write_journal(out)
    return out.getvalue().splitlines()


def up(**changes: object) -> Stage:
    stage = Stage(profile("confirm", **{"dead_air_ms": 0, **changes}))
    stage.start()
    return stage


def asked(**changes: object) -> Stage:
    stage = up(**changes)
    stage.say()
    return stage


def broken_ears() -> Stage:
    stage = asked()
    stage.happen(ev.ServiceFailed, part=P.EARS, error=E.UNKNOWN)
    return stage


def back_after_a_loss() -> Stage:
    stage = up()
    stage.happen(ev.LinkClosed)
    stage.wait_for(T.BACKOFF)
    stage.happen(ev.SessionReady)
    return stage


def back_on_request() -> Stage:
    stage = up()
    stage.happen(ev.ReconnectRequested)
    stage.wait_for(T.BACKOFF)
    stage.happen(ev.SessionReady)
    return stage


def renewed() -> Stage:
    stage = up()
    stage.wait_for(T.SESSION_LIMIT)
    stage.happen(ev.SessionReady)
    return stage


def given_up() -> Stage:
    stage = up()
    stage.happen(ev.LinkClosed)
    stage.wait(stage.settings.reconnect_ms_max)
    return stage


def works_again() -> Stage:
    stage = broken_ears()
    stage.wait_for(T.DISMISS)
    stage.happen(ev.SessionReady)
    stage.wait_for(T.BEAT)
    stage.say()
    return stage


def stalls() -> Stage:
    stage = asked()
    stage.think()
    stage.speak(400)
    stage.wait_for(T.STALL)
    return stage


def long_turn() -> Stage:
    stage = up(talk_ms_max=5_000)
    stage.begin_talking()
    stage.hear_words()
    stage.wait(5_000)
    return stage


def long_speech() -> Stage:
    stage = asked(long_speech_ms=1_000)
    stage.think()
    stage.speak(2_000)
    return stage


def pause_over() -> Stage:
    stage = up(suspend_ms_max=30_000)
    stage.happen(ev.SuspendRequested)
    stage.wait_for(T.SUSPEND)
    return stage


def refused_key() -> Stage:
    stage = asked()
    stage.fail_reply(E.AUTH_FAILURE)
    return stage


TRUE: dict[str, Callable[[], Stage]] = {
    "restored": back_after_a_loss,
    "not_restored": given_up,
    "recovered": works_again,
    "stalled": stalls,
    "long_turn": long_turn,
    "long_speech": long_speech,
    "pause_over": pause_over,
    "UNKNOWN": broken_ears,
    "AUTH_FAILURE": refused_key,
}
OTHERS: dict[str, tuple[Callable[[], Stage], ...]] = {
    "restored": (back_on_request, renewed, up),
    "not_restored": (back_after_a_loss, stalls),
    "recovered": (broken_ears, asked),
    "stalled": (long_speech, broken_ears),
    "long_turn": (asked, long_speech),
    "long_speech": (stalls, long_turn),
    "pause_over": (up, given_up),
    "UNKNOWN": (stalls, refused_key),
    "AUTH_FAILURE": (broken_ears, asked),
}


def noticed(stage: Stage, at: int | None = None) -> list[sg.Signal]:
    """The notices that the product shows in this conversation, as their signals."""
    found: list[sg.Signal] = []
    for one in shown(stage):
        if one.code != "lost":
            found.append(
                Noticed(_shown_at(stage, one.code), one.code, one.level, one.text, one.actions, one.fatal, one.part)
            )
    return found


def _shown_at(stage: Stage, code: str) -> int:
    for place in range(len(stage.records)):
        part = Stage(stage.settings)
        part.records = stage.records[: place + 1]
        if any(one.code == code for one in shown(part)):
            return stage.records[place].event.at
    raise AssertionError(code)


@pytest.mark.req("H-11.so")
@pytest.mark.parametrize("code", TRUE)
def test_a_notice_that_is_shown_when_it_is_true_is_not_complained_about(code: str) -> None:
    stage = TRUE[code]()
    signals = noticed(stage)
    assert code in [one.code for one in signals if isinstance(one, Noticed)]
    assert untrue_notices(journal_of(stage), signals) == []


@pytest.mark.req("H-11.so")
@pytest.mark.parametrize(("code", "other"), [(code, other) for code, others in OTHERS.items() for other in others])
def test_the_same_notice_in_another_conversation_is_found(code: str, other: Callable[[], Stage]) -> None:
    true = TRUE[code]()
    notice = next(one for one in noticed(true) if isinstance(one, Noticed) and one.code == code)
    stage = other()
    at = stage.records[-1].event.at
    found = untrue_notices(journal_of(stage), [*noticed(stage), replace(notice, at=at)])
    assert found == [f"{code!r} was shown at {at} ms, but it was not true"]


@pytest.mark.req("H-11.so")
@pytest.mark.parametrize("code", TRUE)
def test_a_notice_that_comes_too_early_is_found(code: str) -> None:
    stage = TRUE[code]()
    early = [replace(one, at=0) if one.code == code else one for one in noticed(stage)]  # type: ignore[attr-defined]
    assert f"{code!r} was shown at 0 ms, but it was not true" in untrue_notices(journal_of(stage), early)


@pytest.mark.req("H-11.so")
def test_a_fault_is_judged_by_its_part_its_class_and_whether_it_ends_the_conversation() -> None:
    stage = broken_ears()
    stage.wait_for(T.DISMISS)
    stage.happen(ev.SessionReady)
    stage.wait_for(T.BEAT)
    stage.answer()
    (told, *_) = (one for one in noticed(stage) if isinstance(one, Noticed))
    lines = journal_of(stage)
    assert untrue_notices(lines, [told]) == []
    for other in (replace(told, part="brain"), replace(told, fatal=True), replace(told, code="RATE_LIMIT")):
        assert untrue_notices(lines, [other]) == [f"{other.code!r} was shown at {told.at} ms, but it was not true"]


@pytest.mark.req("H-11.so")
def test_a_fault_that_is_said_to_pass_may_not_end_the_conversation() -> None:
    stage = refused_key()
    stage.wait_for(T.DISMISS)
    stage.happen(ev.SessionClosed)
    (told,) = (one for one in noticed(stage) if isinstance(one, Noticed))
    assert untrue_notices(journal_of(stage), [told]) == []
    assert untrue_notices(journal_of(stage), [replace(told, fatal=False)]) != []


@pytest.mark.req("H-11.so")
def test_the_connection_is_back_only_once() -> None:
    stage = back_after_a_loss()
    (told,) = noticed(stage)
    assert untrue_notices(journal_of(stage), [told, replace(told, at=told.at + 5)]) != []


LOST = Lost(5_000, 1, 1, ("a table",))


def journal_with(*events: ev.Event) -> list[str]:
    header = json.loads(journal_of(up())[0])
    lines = [{**header, "digest": "0"}]
    lines += [{"event": json.loads(one), "digest": str(place)} for place, one in enumerate(map(_as_json, events), 1)]
    return [json.dumps(line) for line in lines]


def _as_json(event: ev.Event) -> str:
    from duologue.core.codec import canonical, event_to_json

    return canonical(event_to_json(event))


@pytest.mark.req("H-11.so", "H-02.told")
@pytest.mark.parametrize(
    ("requests", "events", "is_true"),
    [
        ([], [], True),
        ([(6_000, "a table")], [], False),
        ([(6_000, "and now a table please")], [], False),
        ([(6_000, "something else")], [], True),
        ([(4_000, "a table")], [], True),
        ([(6_000, "a table")], [ev.TextTyped(5_500, 9)], True),
        ([(6_000, "a table")], [ev.WordsHeard(5_500, 9, 2, 2, 2)], True),
        ([(6_000, "a table")], [ev.WordsHeard(5_500, 9, 2, 0, 0)], False),
        ([(6_000, "a table")], [ev.JobFinished(5_500, 7)], True),
    ],
)
def test_a_turn_that_is_told_to_be_lost_is_not_answered_later_by_itself(
    requests: list[tuple[int, str]], events: list[ev.Event], is_true: bool
) -> None:
    account = CallerAccount(asked=requests)
    assert (untrue_notices(journal_with(*events), [LOST], account) == []) is is_true


@pytest.mark.req("H-11.so")
@pytest.mark.parametrize("is_answer", [True, False])
@pytest.mark.parametrize(
    "heard",
    [
        (ev.PlaybackFinished(9_500, 4, 800),),
        (ev.PlaybackProgressed(9_300, 4, 100), ev.PlaybackStopped(9_500, 4, 300)),
        (ev.ReplyFinished(9_500, 5),),
    ],
)
def test_only_an_answer_shows_that_it_works_again(heard: tuple[ev.Event, ...], is_answer: bool) -> None:
    """The same sound is an answer or only a check-in, as the brain has noted its request."""
    failed = ev.ReplyFailed(5_000, 3, E.SERVER_ERROR, P.BRAIN)
    lines = journal_with(failed, ev.AudioBuffered(9_000, 5), *heard)
    signals: list[sg.Signal] = [
        Noticed(5_000, "SERVER_ERROR", "error", "fault_server_error", part="brain"),
        Noticed(9_500, "recovered", "info", "recovered"),
    ]
    account = CallerAccount(answering={3, 5} if is_answer else {3})
    found = untrue_notices(lines, signals, account)
    assert found == ([] if is_answer else ["'recovered' was shown at 9500 ms, but it was not true"])


@pytest.mark.req("H-11.so")
@pytest.mark.parametrize(
    ("where", "services"),
    [
        ("brain", ["brain"]),
        ("cue", ["voice"]),
        ("line", ["line"]),
        ("session", ["session", "line", "close"]),
        ("close", ["close"]),
        ("tool lookup", ["tool"]),
        ("journal", []),
    ],
)
def test_a_problem_of_every_service_is_judged(where: str, services: list[str]) -> None:
    lines, problem = journal_of(up()), Problem(9_000, where, "ServiceError")
    for service in ("brain", "voice", "line", "session", "close", "tool", "ears", "journal"):
        account = CallerAccount(failed=[(8_900, service)])
        assert (untrue_notices(lines, [problem], account) == []) is (service in services), service
    slow = [ServiceSpan(8_600, 9_500, "close")]
    assert (untrue_notices(lines, [problem], CallerAccount(worked=slow)) == []) is (where in ("close", "session"))


@pytest.mark.req("H-11.so")
def test_a_problem_is_true_only_if_the_service_has_failed_or_was_slow() -> None:
    lines, problem = journal_of(up()), Problem(9_000, "voice", "VoiceFailed")
    assert untrue_notices(lines, [problem]) == ["a problem of 'voice' was reported at 9000 ms, but it had not failed"]
    assert untrue_notices(lines, [problem], CallerAccount(failed=[(8_900, "ears")])) != []
    assert untrue_notices(lines, [problem], CallerAccount(failed=[(9_100, "voice")])) != []
    assert untrue_notices(lines, [problem], CallerAccount(failed=[(8_900, "voice")])) == []
    assert untrue_notices(lines, [problem], CallerAccount(worked=[ServiceSpan(1_000, 9_500, "voice")])) == []
    assert untrue_notices(lines, [replace(problem, where="on_message")]) == [], "the agent's own code isn't simulated"


@pytest.mark.req("H-11.so")
def test_a_notice_that_the_judge_does_not_know_is_reported() -> None:
    found = untrue_notices(journal_of(up()), [Noticed(5, "all_is_well", "info", "all_is_well")])
    assert found == ["'all_is_well' was shown at 5 ms, and nothing is known about this notice"]


@pytest.mark.req("H-11.so")
def test_every_notice_that_a_call_can_show_is_judged() -> None:
    codes = {row.code for row in NOTICE_ROWS}
    assert codes == {*JUDGED, *OF_SERVERS, "problem_tools"}, "no simulated call opens a tool server"


def test_the_judge_imports_nothing_of_the_machine() -> None:
    tree = ast.parse(Path(judge.__file__).read_text())
    imported = [node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    assert not [name for name in imported if "core" in name or "runtime" in name or "notices" in name], imported
