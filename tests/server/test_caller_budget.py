"""What a client may send: typed turns, characters and sound. What is refused is told in words."""

from __future__ import annotations

from itertools import pairwise

from duologue.server.caller_budget import (
    TELL_MS,
    CallerBudget,
    Refused,
    TurnsLeft,
    Unanswered,
    command,
    hear_sound,
    new_budget,
    turns_left,
    type_text,
)
from duologue.server.settings import Limits

LIMITS = Limits()
NOTHING = Unanswered(0, 0)
FRAME_MS = 20


def type_all(count: int, chars: int, now_ms: int = 0) -> tuple[CallerBudget, list[Refused]]:
    budget, refused = new_budget(LIMITS, 0), []
    for _ in range(count):
        budget, why = type_text(LIMITS, budget, chars, NOTHING, now_ms)
        refused += [why] if why is not None else []
    return budget, refused


def test_a_person_types_as_fast_as_a_person_can() -> None:
    budget, refused = new_budget(LIMITS, 0), []
    for second in range(600):
        budget, why = type_text(LIMITS, budget, 80, NOTHING, second * 1_000)
        refused.append(why)
    assert not any(refused)


def test_too_many_messages_at_once_are_refused_with_the_time_to_wait() -> None:
    budget, refused = type_all(25, 10)
    assert [why.limit for why in refused] == ["typed_turns"] * 5
    assert refused[0].message == "too many messages at once: send it again in 1 s"
    assert refused[0].wait_ms == 1_000
    assert type_text(LIMITS, budget, 10, NOTHING, 1_000)[1] is None


def test_too_much_text_at_once_is_refused() -> None:
    _, refused = type_all(5, 4_000)
    assert [(why.limit, why.message) for why in refused] == [
        ("typed_chars", "too much text at once: send it again in 20 s")
    ] * 2


def test_a_client_that_gets_no_answers_cant_pile_up_turns() -> None:
    budget = new_budget(LIMITS, 0)
    _, turns = type_text(LIMITS, budget, 10, Unanswered(20, 400), 0)
    assert turns == Refused(
        "unanswered_turns", "20 messages wait for an answer, and that is the limit: wait for the next answer"
    )
    _, chars = type_text(LIMITS, budget, 4_000, Unanswered(4, 12_001), 0)
    assert chars is not None
    assert chars.limit == "unanswered_chars"
    assert "12001 characters wait for an answer, and with these 4000" in chars.message


def test_what_is_refused_uses_nothing_up() -> None:
    budget = new_budget(LIMITS, 0)
    assert type_text(LIMITS, budget, 10, Unanswered(20, 0), 0)[0] == budget


def test_how_many_turns_are_left_is_known() -> None:
    budget, _ = type_all(3, 10)
    assert turns_left(LIMITS, budget, 0) == TurnsLeft(limit=20, remaining=17, full_in_ms=3_000)
    assert turns_left(LIMITS, budget, 1_500) == TurnsLeft(limit=20, remaining=18, full_in_ms=1_500)


def test_commands_may_be_as_fast_as_hands_are_and_no_faster() -> None:
    budget, refused = new_budget(LIMITS, 0), []
    for at_ms in range(0, 60_000, 120):
        budget, why = command(LIMITS, budget, at_ms)
        refused.append(why)
    assert not any(refused)
    for _ in range(200):
        budget, why = command(LIMITS, budget, 60_000)
        refused += [why] if why is not None else []
    assert refused[-1] == Refused("commands", "too many commands at once: send it again in 1 s", 100)
    assert command(LIMITS, budget, 60_100)[1] is None


def test_sound_in_real_time_is_always_heard() -> None:
    budget = new_budget(LIMITS, 0)
    for frame in range(60_000 // FRAME_MS):
        budget, is_heard, told = hear_sound(LIMITS, budget, FRAME_MS, frame * FRAME_MS)
        assert is_heard
        assert told is None


def test_sound_after_a_stall_of_eight_seconds_is_heard_at_once() -> None:
    budget = new_budget(LIMITS, 0)
    for _ in range(8_000 // FRAME_MS):
        budget, is_heard, _ = hear_sound(LIMITS, budget, FRAME_MS, 8_000)
        assert is_heard


def test_sound_at_56_times_real_time_is_heard_at_1_2_times_and_the_rest_is_told() -> None:
    budget, heard_ms, told_ms, told = new_budget(LIMITS, 0), 0, 0, []
    for frame in range(56 * 60_000 // FRAME_MS):
        now_ms = frame * FRAME_MS // 56
        budget, is_heard, why = hear_sound(LIMITS, budget, FRAME_MS, now_ms)
        heard_ms += FRAME_MS if is_heard else 0
        if why is not None:
            told.append(now_ms)
            told_ms += int(why.message.split("spoken: ")[1].split(" ms")[0])
    assert heard_ms <= 10_000 + 1.2 * 60_000
    assert all(later - earlier >= TELL_MS for earlier, later in pairwise(told))
    assert told_ms + budget.untold_ms + heard_ms == 56 * 60_000  # nothing is lost silently


def test_the_rest_is_told_even_if_no_more_sound_is_left_out() -> None:
    budget = new_budget(LIMITS, 0)
    for _ in range(10_060 // FRAME_MS):
        budget, _, _ = hear_sound(LIMITS, budget, FRAME_MS, 0)
    assert budget.untold_ms == 40  # the first frame that was left out was told at once
    budget, is_heard, told = hear_sound(LIMITS, budget, FRAME_MS, TELL_MS)
    assert is_heard
    assert told == Refused("sound", "sound comes faster than it is spoken: 40 ms of it were left out")
    assert budget.untold_ms == 0
