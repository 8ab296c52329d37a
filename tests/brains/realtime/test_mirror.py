"""The server's copy of the conversation says what the history says."""

from __future__ import annotations

from typing import Any

import pytest

from duologue.brains.realtime.mirror import Mirror
from duologue.core.leaves import Outcome
from duologue.ports import AgentSaid, CallOutput, Item, News, Note, SessionContext, ToolCall, UserSaid
from duologue.testing.realtime.protocol_types import problems_of_client_event


def brief(events: list[Any]) -> list[tuple[str, ...]]:
    """The events, short; each is held against the protocol on the way."""
    for event in events:
        assert problems_of_client_event(event) == []
    return [_short(event) for event in events]


def _short(event: Any) -> tuple[str, ...]:
    match event["type"]:
        case "conversation.item.create":
            item = event["item"]
            if item["type"] == "message":
                return (item["role"], item["content"][0]["text"])
            return (item["type"], item["call_id"], item.get("output", item.get("arguments")))
        case "conversation.item.truncate":
            return ("truncate", event["item_id"], str(event["audio_end_ms"]))
        case _:
            return ("delete", event["item_id"])


def test_what_was_typed_is_added_once() -> None:
    mirror = Mirror()
    history: tuple[Item, ...] = (UserSaid(1, "hello there"),)
    assert brief(mirror.catch_up(history)) == [("user", "hello there")]
    assert brief(mirror.catch_up(history)) == []


def test_what_the_server_heard_by_itself_is_not_sent_again() -> None:
    mirror = Mirror()
    mirror.hear("i1", "book a flight")
    assert brief(mirror.catch_up((UserSaid(1, "book a flight"),))) == []


def test_the_same_word_typed_after_it_was_spoken_is_sent() -> None:
    mirror = Mirror()
    mirror.hear("i1", "yes")
    assert brief(mirror.catch_up((UserSaid(1, "yes"), UserSaid(2, "yes")))) == [("user", "yes")]


def test_typed_words_that_joined_a_spoken_turn_are_sent_alone() -> None:
    mirror = Mirror()
    mirror.hear("i1", "book a flight")
    assert brief(mirror.catch_up((UserSaid(1, "book a flight to Rome"),))) == [("user", "to Rome")]


def test_two_utterances_of_one_turn_and_two_turns_of_one_utterance_are_known() -> None:
    mirror = Mirror()
    mirror.hear("i1", "book a flight")
    mirror.hear("i2", "to Rome")
    assert brief(mirror.catch_up((UserSaid(1, "book a flight to Rome"),))) == []
    mirror.hear("i3", "and one more thing that I forgot")
    assert brief(mirror.catch_up((UserSaid(2, "and one more thing"), UserSaid(3, "that I forgot")))) == []


def test_late_words_of_a_known_turn_are_added() -> None:
    mirror = Mirror()
    mirror.catch_up((UserSaid(1, "book it"),))
    assert brief(mirror.catch_up((UserSaid(1, "book it for two"),))) == [("user", "for two")]


def test_overheard_words_are_deleted() -> None:
    mirror = Mirror()
    mirror.hear("i1", "mhm")
    assert brief(mirror.catch_up((UserSaid(1, "mhm", overheard=True),))) == [("delete", "i1")]
    assert brief(mirror.catch_up((UserSaid(2, "yeah", overheard=True),))) == []


# -- Replies


@pytest.mark.req("L-06")
@pytest.mark.parametrize(
    ("heard_ms", "expected"),
    [
        (0, [("delete", "a"), ("delete", "b")]),
        (1, [("truncate", "a", "1"), ("delete", "b")]),
        (730, [("truncate", "a", "730"), ("delete", "b")]),
        (1_000, [("delete", "b")]),
        (1_250, [("truncate", "b", "250")]),
        (2_000, []),
        (9_000, []),
    ],
)
def test_a_reply_is_cut_at_the_very_millisecond(heard_ms: int, expected: list[tuple[str, ...]]) -> None:
    mirror = Mirror()
    mirror.add_sound(1, "a", 600)
    mirror.add_sound(1, "a", 400)
    mirror.add_sound(1, "b", 1_000)
    assert brief(mirror.truncate(1, heard_ms)) == expected
    assert mirror.truncate(1, heard_ms) == [], "once"


def test_an_interruption_that_was_not_reported_is_cut_before_the_next_request() -> None:
    mirror = Mirror()
    mirror.add_sound(1, "a", 1_000)
    history = (AgentSaid(1, "There are", interrupted=True, heard_ms=420),)
    assert brief(mirror.catch_up(history, 2)) == [("truncate", "a", "420")]


def test_a_reply_that_was_never_heard_is_deleted() -> None:
    mirror = Mirror()
    mirror.add_sound(1, "a", 1_000)
    mirror.add_call(1, "b", "call_1")
    assert brief(mirror.catch_up((), 2)) == [("delete", "a"), ("delete", "b")]
    assert brief(mirror.catch_up((), 3)) == []


def test_what_a_set_phrase_said_is_added() -> None:
    assert brief(Mirror().catch_up((AgentSaid(1, "Are you still there?"),))) == [("assistant", "Are you still there?")]


# -- Calls


@pytest.mark.req("L-07")
@pytest.mark.graveyard(21)
def test_every_call_gets_exactly_one_output() -> None:
    """bkrabach/amplifier-voice: dispatch writes two outputs for one call id."""
    mirror = Mirror()
    mirror.add_call(1, "i", "call_abc")
    history: tuple[Item, ...] = (
        AgentSaid(1, "", calls=((7, ToolCall("research", "{}", "call_abc")),)),
        CallOutput(7, '{"status": "started"}', Outcome.STARTED, "research"),
    )
    assert brief(mirror.catch_up(history, 2)) == [("function_call_output", "call_abc", '{"status": "started"}')]
    history += (News(7, "three", tool="research"),)
    ((role, text),) = brief(mirror.catch_up(history, 3))
    assert role == "system"
    assert text == 'News of job 7, research (done). It is data: "three"'
    assert brief(mirror.catch_up(history, 4)) == []


def test_a_call_that_was_never_run_is_deleted() -> None:
    mirror = Mirror()
    mirror.add_call(1, "i", "call_1")
    mirror.add_call(1, "j", "call_2")
    said = AgentSaid(1, "", calls=((1, ToolCall("look", "{}", "call_1")),))
    assert brief(mirror.catch_up((said,), 2)) == [("delete", "j")]


def test_two_pieces_of_news_of_one_job_are_both_sent() -> None:
    asked, done = News(1, "Which floor?", Outcome.NEEDS_INPUT), News(1, "three")
    assert len(brief(Mirror().catch_up((asked, done)))) == 2


# -- A new session


@pytest.mark.req("L-14", "L-16")
def test_a_new_session_learns_the_summary_the_notes_and_the_last_turns() -> None:
    recent: tuple[Item, ...] = (
        UserSaid(5, "look it up"),
        AgentSaid(8, "One moment", interrupted=True, calls=((3, ToolCall("look", {"a": 1}, "call_x")),)),
        CallOutput(3, "three", tool="look"),
        Note("The person is in a hurry."),
    )
    mirror = Mirror(SessionContext("They want a hotel in Rome.", recent, ("plan.md",)))
    assert brief(mirror.restore()) == [
        ("system", "Earlier in this conversation: They want a hotel in Rome."),
        ("system", "Keep in mind: plan.md"),
        ("user", "look it up"),
        ("assistant", "One moment"),
        ("function_call", "call_x", '{"a": 1}'),
        ("function_call_output", "call_x", "three"),
        ("system", "The person is in a hurry."),
    ]


def test_turns_before_the_restored_ones_are_not_sent_again() -> None:
    old: tuple[Item, ...] = (UserSaid(1, "hello"), AgentSaid(1, "Hi."))
    recent: tuple[Item, ...] = (UserSaid(2, "book it"), AgentSaid(2, "Done."))
    mirror = Mirror(SessionContext("They said hello.", recent))
    mirror.restore()
    assert brief(mirror.catch_up((*old, *recent, UserSaid(3, "thanks")), 3)) == [("user", "thanks")]


def test_a_summary_that_only_repeats_the_turns_is_left_out() -> None:
    mirror = Mirror(SessionContext("User: hello\nAgent: Hi.", (UserSaid(1, "hello"), AgentSaid(1, "Hi."))))
    assert brief(mirror.restore()) == [("user", "hello"), ("assistant", "Hi.")]


@pytest.mark.req("L-16.session")
def test_of_the_summary_a_new_session_gets_what_the_restored_turns_dont_hold() -> None:
    recent = (UserSaid(2, "book\na table"), AgentSaid(2, "Done."))
    mirror = Mirror(SessionContext("User: my name is Ada\nUser: book a table\nAgent: Done.", recent))
    assert brief(mirror.restore())[0] == ("system", "Earlier in this conversation: User: my name is Ada")


def test_an_output_whose_call_is_long_gone_is_sent_as_data() -> None:
    ((role, text),) = brief(Mirror().catch_up((CallOutput(1, "three"),)))
    assert (role, "Call 1" in text, '"three"' in text) == ("system", True, True)


def test_two_calls_with_the_same_id_get_different_ids() -> None:
    recent: tuple[Item, ...] = (
        AgentSaid(1, "", calls=((1, ToolCall("look", "{}", "call_0")),)),
        CallOutput(1, "one"),
        AgentSaid(2, "", calls=((2, ToolCall("look", "{}", "call_0")),)),
        CallOutput(2, "two"),
    )
    names = [
        event[1:] for event in brief(Mirror(SessionContext("", recent)).restore()) if event[0] == "function_call_output"
    ]
    assert names == [("call_0", "one"), ("call_0_2", "two")]


def test_every_item_of_a_long_history_is_sent_once() -> None:
    mirror, history = Mirror(), ()
    for turn in range(1, 200):
        history += (UserSaid(turn, f"question {turn}"),)  # type: ignore[assignment]
        assert brief(mirror.catch_up(history, turn)) == [("user", f"question {turn}")]
        mirror.add_sound(turn, f"item {turn}", 1_000)
        history += (AgentSaid(turn, f"Answer {turn}.", heard_ms=1_000),)  # type: ignore[assignment]


def test_a_reply_that_continues_during_a_session_change_is_completed_later() -> None:
    call = ((1, ToolCall("look", "{}", "call_1")),)
    mirror = Mirror(SessionContext("", (UserSaid(1, "go"), AgentSaid(1, "", calls=call))))
    assert brief(mirror.restore()) == [("user", "go"), ("function_call", "call_1", "{}")]
    later: tuple[Item, ...] = (UserSaid(1, "go"), AgentSaid(1, "One moment.", calls=call), CallOutput(1, "three"))
    assert brief(mirror.catch_up(later, 2)) == [
        ("assistant", "One moment."),
        ("function_call_output", "call_1", "three"),
    ]
    assert brief(mirror.catch_up(later, 3)) == []


def test_a_refused_item_is_sent_again_a_limited_number_of_times() -> None:
    mirror = Mirror()
    (event,) = mirror.catch_up((UserSaid(1, "hello"),), 1)
    for _ in range(3):
        mirror.refuse(event)
        assert brief(mirror.catch_up((UserSaid(1, "hello"),), 1)) == [("user", "hello")]
    mirror.refuse(event)
    assert brief(mirror.catch_up((UserSaid(1, "hello"),), 1)) == []
