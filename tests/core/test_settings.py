"""Settings are one table, checked as a whole, with every problem listed at once."""

from __future__ import annotations

import pickle
from copy import copy
from dataclasses import FrozenInstanceError, fields, replace
from typing import Any

import pytest

from duologue.core import effects as fx
from duologue.core.codec import settings_to_json
from duologue.core.errors import InvalidSettings
from duologue.core.leaves import Ask, Overlap
from duologue.core.settings import PROFILES, Settings, profile, with_changes
from duologue.lab.sim.stage import Stage

WEEK_MS = 7 * 24 * 3_600_000
NUMBERS = [field.name for field in fields(Settings) if field.type == "int"]
LISTS = [field.name for field in fields(Settings) if field.type == "tuple[int, ...]"]
MAY_BE_ZERO = {"suspend_ms_max", "session_ms_max", "session_warning_ms", "dead_air_ms", "check_ins_max", "jobs_max"}
MAY_BE_ZERO |= {"early_requests_max"}


def problems(name: str = "confirm", **changes: Any) -> tuple[str, ...]:
    """The problems of this profile with these changes."""
    with pytest.raises(InvalidSettings) as raised:
        profile(name, **changes)
    return raised.value.problems


# -- One table


@pytest.mark.req("L-23")
def test_the_defaults_are_the_numbers_of_the_requirements() -> None:
    s = Settings()
    assert (s.talk_ms_max, s.commit_ms, s.sent_text_ms_max) == (600_000, 30_000, 600)
    assert (s.answer_ms_max, s.attempt_ms_max) == (30_000, 8_000)
    assert (s.tool_ms_max, s.delegate_ms_max, s.heartbeat_ms_max) == (30_000, 300_000, 60_000)
    assert (s.feedback_ms, s.retry_ms, s.backoff_ms) == (
        (5_000, 15_000, 30_000),
        (1_000, 2_000, 4_000),
        (1_000, 3_000, 10_000),
    )
    assert (s.connect_ms_max, s.reconnect_ms_max, s.heal_ms_max) == (30_000, 45_000, 2_000)
    assert (s.dismiss_ms, s.fatal_ms, s.suspend_ms_max, s.long_speech_ms) == (10_000, 6_000, 0, 120_000)
    assert (s.cue_ms, s.offer_ms, s.stall_ms_max) == ((2_500, 3_000, 8_000), 700, 8_000)
    assert (s.dead_air_ms, s.check_ins_max, s.hangs_up) == (300_000, 1, False)
    assert (s.session_warning_ms, s.session_ms_max) == (870_000, 900_000)
    assert (s.breath_ms, s.stop_ms_max, s.beat_ms) == (50, 400, 1)


@pytest.mark.req("L-23")
def test_a_conversation_can_not_change_its_settings() -> None:
    with pytest.raises(FrozenInstanceError):
        Settings().talk_ms_max = 1  # type: ignore[misc]


# -- Profiles


@pytest.mark.req("L-23", "M-14", "H-09.phone", "H-09.browser")
def test_the_profiles_differ_in_overlap_greeting_and_patience_and_in_nothing_else() -> None:
    confirm = PROFILES["confirm"]
    assert confirm == Settings()
    assert PROFILES["immediate"] == replace(confirm, name="immediate", overlap=Overlap.IMMEDIATE)
    phone = {"greets": True, "dead_air_ms": 10_000, "check_ins_max": 2, "hangs_up": True}
    assert PROFILES["words"] == replace(confirm, name="words", overlap=Overlap.WORDS, **phone)  # type: ignore[arg-type]


@pytest.mark.req("L-23")
@pytest.mark.parametrize(("name", "greets"), [("immediate", False), ("confirm", False), ("words", True)])
def test_only_on_the_phone_the_agent_speaks_first(name: str, greets: bool) -> None:
    stage = Stage(profile(name))
    stage.start()
    stage.wait(1)
    assert stage.effects(fx.StartReply) == [fx.StartReply(1, 1, 0)] * greets


@pytest.mark.req("L-23", "L-17")
@pytest.mark.parametrize(("name", "patience_ms"), [("immediate", 300_000), ("confirm", 300_000), ("words", 10_000)])
def test_each_profile_has_its_own_patience_with_silence(name: str, patience_ms: int) -> None:
    stage = Stage(profile(name, greets=False))
    stage.start()
    stage.wait(patience_ms - 1)
    assert stage.effects(fx.StartReply) == []
    stage.wait(1)
    assert stage.effects(fx.StartReply) == [fx.StartReply(1, 1, 0, Ask.CHECK_IN)]


@pytest.mark.req("L-17.optional", "L-23")
def test_silence_is_never_broken_if_the_setting_is_off() -> None:
    stage = Stage(profile("confirm", dead_air_ms=0))
    stage.start()
    stage.wait(800_000)
    assert stage.effects(fx.StartReply) == []


@pytest.mark.req("L-23")
def test_a_profile_can_be_changed_without_changing_the_built_in_one() -> None:
    assert profile("words", talk_ms_max=5_000).talk_ms_max == 5_000
    assert PROFILES["words"].talk_ms_max == 600_000


@pytest.mark.req("L-23", "H-09.phone")
def test_hanging_up_after_silence_without_check_ins_is_refused() -> None:
    problem = "hangs_up=True needs dead_air_ms above 0: with 0, silence never leads to a check-in or a goodbye"
    assert problems("confirm", dead_air_ms=0, hangs_up=True) == (problem,)
    assert problems("words", dead_air_ms=0, hangs_up=True, check_ins_max=-1)[-1] == problem, "all problems at once"
    with pytest.raises(InvalidSettings):
        replace(PROFILES["words"], dead_air_ms=0)


@pytest.mark.req("L-23", "H-09.phone")
def test_check_ins_that_are_switched_off_take_hanging_up_with_them() -> None:
    assert not profile("words", dead_air_ms=0).hangs_up
    assert not with_changes(PROFILES["words"], dead_air_ms=0, greets=False).hangs_up
    assert with_changes(PROFILES["words"], dead_air_ms=5_000).hangs_up


# -- Names


@pytest.mark.req("L-23")
def test_an_unknown_profile_is_refused_with_the_names_that_there_are() -> None:
    assert problems("polite") == ("unknown profile 'polite' (available: immediate, confirm, words)",)


@pytest.mark.req("L-23")
def test_unknown_settings_are_refused_together() -> None:
    assert problems(talk_ms=1, patience=2) == ("unknown setting 'talk_ms'", "unknown setting 'patience'")


@pytest.mark.req("L-23")
def test_an_unknown_profile_and_an_unknown_setting_are_listed_together() -> None:
    assert len(problems("polite", patience=2)) == 2


# -- Values


@pytest.mark.req("L-23")
@pytest.mark.parametrize("name", [name for name in NUMBERS if name not in MAY_BE_ZERO])
def test_zero_is_refused_where_something_must_end(name: str) -> None:
    assert f"{name} must be between 1 and {WEEK_MS}, is 0" in problems(**{name: 0})


@pytest.mark.req("L-23")
@pytest.mark.parametrize(
    "changes",
    [
        {"session_ms_max": 0, "session_warning_ms": 0},
        {"session_warning_ms": 0},
        {"dead_air_ms": 0},
        {"suspend_ms_max": 0},
        {"check_ins_max": 0},
        {"jobs_max": 0},
    ],
)
def test_zero_is_allowed_where_it_turns_something_off(changes: dict[str, int]) -> None:
    settings = profile("confirm", **changes)
    assert all(getattr(settings, name) == 0 for name in changes)


@pytest.mark.req("L-23")
@pytest.mark.parametrize("name", NUMBERS)
def test_a_negative_number_is_refused(name: str) -> None:
    least = 0 if name in MAY_BE_ZERO else 1
    assert f"{name} must be between {least} and {WEEK_MS}, is -1" in problems(**{name: -1})


@pytest.mark.req("L-23")
@pytest.mark.parametrize("name", NUMBERS)
def test_more_than_a_week_is_a_mistake_in_units(name: str) -> None:
    assert any(problem.startswith(f"{name} must be between") for problem in problems(**{name: WEEK_MS + 1}))


@pytest.mark.req("L-23")
@pytest.mark.parametrize("name", NUMBERS)
@pytest.mark.parametrize("value", [1.5, "30", None, True, (1,)])
def test_a_number_of_another_type_is_refused(name: str, value: Any) -> None:
    assert f"{name} must be int, not {value!r}" in problems(**{name: value})


@pytest.mark.req("L-23")
@pytest.mark.parametrize("name", LISTS)
@pytest.mark.parametrize("value", [(), (0,), (1_000, -1), (1.5,), ("1",), (True,), (WEEK_MS + 1,)])
def test_a_list_of_times_holds_whole_milliseconds_above_zero(name: str, value: tuple[Any, ...]) -> None:
    assert f"{name} must hold whole milliseconds above 0, not {value!r}" in problems(**{name: value})


@pytest.mark.req("L-23")
@pytest.mark.parametrize("name", LISTS)
def test_a_list_of_times_is_a_tuple(name: str) -> None:
    assert f"{name} must be tuple, not [1000]" in problems(**{name: [1_000]})


@pytest.mark.req("L-23")
@pytest.mark.parametrize(
    ("name", "value", "kind"), [("overlap", "confirm", "Overlap"), ("overlap", None, "Overlap"), ("greets", 1, "bool")]
)
def test_a_choice_of_another_type_is_refused(name: str, value: Any, kind: str) -> None:
    assert f"{name} must be {kind}, not {value!r}" in problems(**{name: value})


# -- Together


@pytest.mark.req("L-23")
@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"breath_ms": 400}, "breath_ms must be below stop_ms_max"),
        ({"overlap_quiet_ms_max": 1_501}, "overlap_quiet_ms_max must not exceed overlap_ms_max"),
        ({"attempt_ms_max": 30_001}, "attempt_ms_max must not exceed answer_ms_max"),
        ({"noise_ms_max": 3_001}, "noise_ms_max must not exceed settle_ms_max"),
        ({"tool_ms_max": 300_001}, "tool_ms_max must not exceed delegate_ms_max"),
        ({"feedback_ms": (5_000, 5_000)}, "feedback_ms must increase"),
        ({"feedback_ms": (15_000, 5_000)}, "feedback_ms must increase"),
        ({"backoff_ms": (45_000,)}, "reconnect_ms_max must exceed the first backoff_ms"),
        ({"session_warning_ms": 900_000}, "session_warning_ms must be below session_ms_max"),
        ({"session_ms_max": 0}, "session_warning_ms must be below session_ms_max"),
    ],
)
def test_settings_that_contradict_each_other_are_refused(changes: dict[str, Any], problem: str) -> None:
    assert problems(**changes) == (problem,)


@pytest.mark.req("L-23")
@pytest.mark.parametrize(
    "changes",
    [
        {"breath_ms": 399},
        {"overlap_quiet_ms_max": 1_500},
        {"attempt_ms_max": 30_000},
        {"noise_ms_max": 3_000},
        {"tool_ms_max": 300_000},
        {"session_warning_ms": 899_999},
        {"backoff_ms": (44_999,)},
    ],
)
def test_settings_that_just_agree_are_taken(changes: dict[str, Any]) -> None:
    settings = profile("confirm", **changes)
    assert {name: getattr(settings, name) for name in changes} == changes


@pytest.mark.req("L-23")
def test_impossible_values_are_listed_all_at_once_in_the_order_of_the_table() -> None:
    found = problems(jobs_max=-1, talk_ms_max=0, overlap="confirm", retry_ms=())
    assert [problem.split()[0] for problem in found] == ["overlap", "talk_ms_max", "retry_ms", "jobs_max"]


@pytest.mark.req("L-23")
def test_contradictions_are_listed_all_at_once() -> None:
    found = problems(breath_ms=500, attempt_ms_max=40_000, feedback_ms=(2, 1))
    assert [problem.split()[0] for problem in found] == ["breath_ms", "attempt_ms_max", "feedback_ms"]


@pytest.mark.req("L-23")
def test_an_impossible_value_and_a_contradiction_elsewhere_are_listed_together() -> None:
    assert [problem.split()[0] for problem in problems(talk_ms_max=0, breath_ms=500)] == ["talk_ms_max", "breath_ms"]


@pytest.mark.req("L-23")
def test_the_message_names_every_problem_in_one_line() -> None:
    with pytest.raises(InvalidSettings) as raised:
        Settings(talk_ms_max=0, jobs_max=-1)
    text = str(raised.value)
    assert text.startswith("invalid settings: ")
    assert "talk_ms_max" in text
    assert "jobs_max" in text
    assert "\n" not in text


# -- What the user chose


def test_settings_know_which_fields_were_chosen() -> None:
    assert profile("confirm").chosen == frozenset()
    assert profile("confirm", check_ins_max=1, dead_air_ms=0).chosen == {"check_ins_max", "dead_air_ms", "hangs_up"}
    assert with_changes(profile("words", greets=True), jobs_max=2).chosen == {"greets", "jobs_max"}


def test_what_was_chosen_is_no_part_of_the_value() -> None:
    chosen, plain = profile("confirm", check_ins_max=1), profile("confirm")
    assert chosen == plain
    assert hash(chosen) == hash(plain)
    assert repr(chosen) == repr(plain)
    assert settings_to_json(chosen) == settings_to_json(plain)
    assert copy(chosen) == chosen
    assert pickle.loads(pickle.dumps(chosen)) == chosen
