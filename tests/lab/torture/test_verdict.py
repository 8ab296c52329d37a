"""Every check of a torture run finds its violation, and finds nothing in a good conversation."""

from __future__ import annotations

import pytest

from duologue.lab.torture.person_notes import (
    AcceptedWrite,
    ConversationNotes,
    LoggedAction,
    SavedConversation,
    TypedTurn,
)
from duologue.lab.torture.rendered_audio import Stretch
from duologue.lab.torture.verdict import CHECKS, judge, told_lost, told_lost_max

ID = "c" * 32


def turn(text: str, item: str, *heard: str, **more: object) -> TypedTurn:
    made = TypedTurn("1", text, item, 0.0, is_safe=True, is_closed=True, heard=list(heard))
    for name, value in more.items():
        setattr(made, name, value)
    return made


def talk(*turns: TypedTurn) -> ConversationNotes:
    voices = [heard for one in turns for heard in one.heard]
    sound = [(number * 2 + 1, text) for number, text in enumerate(voices)]
    return ConversationNotes(1, ID, list(turns), sound, ended="hung up")


def good() -> ConversationNotes:
    return talk(turn("order 1001", "1001", "Shall I order 1001? "), turn("yes", "1001", "Now 1001 is ordered. "))


SAVED = SavedConversation(ID, ("order 1001", "yes"), 0, False)
ACTIONS = [LoggedAction("order", "1001", "", stage, "a1") for stage in ("begun", "done")]
WRITES = [AcceptedWrite(ID, "a1", 1, 1), AcceptedWrite(ID, "a1", 1, 2), AcceptedWrite(ID, "b1", 4, 3)]


def found(
    made: ConversationNotes | None = None,
    saved: SavedConversation | None = SAVED,
    writes: list[AcceptedWrite] = WRITES,
    actions: list[LoggedAction] = ACTIONS,
) -> list[str]:
    failures = judge([made or good()], {ID: saved} if saved else {}, writes, actions, 1)
    return sorted({failure.check for failure in failures})


def test_a_good_conversation_has_no_findings() -> None:
    assert found() == []


@pytest.mark.parametrize("user", [("order 1001",), ("yes",), ("order 1001", "yes", "yes"), ()])
def test_a_turn_that_is_missing_or_there_twice_is_found(user: tuple[str, ...]) -> None:
    assert found(saved=SavedConversation(ID, user, 0, False)) == ["turns_lost"]
    assert found(saved=None) == ["turns_lost"]


def test_a_turn_without_an_answer_is_found_unless_the_person_was_notified() -> None:
    silent = talk(turn("order 1001", "1001"), turn("yes", "1001", "Now 1001 is ordered. "))
    assert found(silent) == ["turns_lost"]
    silent.turns[0].is_reported_lost = True
    assert found(silent) == []


def test_a_confirmed_turn_that_is_not_in_the_store_is_found_even_if_its_person_was_told_that_it_got_no_answer() -> None:
    told = talk(turn("order 1001", "1001", is_reported_lost=True), turn("yes", "1001", "Now 1001 is ordered. "))
    assert found(told, SavedConversation(ID, ("yes",), 0, False)) == ["turns_lost"]
    told.turns[0].is_safe = False
    assert found(told, SavedConversation(ID, ("yes",), 0, False)) == []


def test_the_notice_that_nothing_is_saved_excuses_only_what_was_typed_while_it_stood() -> None:
    made = good()
    made.is_unsaved = True  # the newest notice, when the conversation ended
    only_first, only_second = (SavedConversation(ID, (text,), 0, False) for text in ("order 1001", "yes"))
    assert found(made, only_first) == found(made, only_second) == ["turns_lost"]
    made.turns[1].is_typed_unsaved = True
    assert found(made, only_first) == []
    assert found(made, only_second) == ["turns_lost"]
    assert found(made, None) == ["turns_lost"]


def test_the_notice_excuses_no_silence_while_the_conversation_goes_on() -> None:
    made = talk(turn("order 1001", "1001", is_typed_unsaved=True), turn("yes", "1001", "Now 1001 is ordered. "))
    assert found(made) == ["turns_lost"]  # it went on until its person hung up
    made.ended, made.away_s = "gone", 2.0
    assert found(made) == ["turns_lost"]  # the second message was typed without the notice
    made.turns[1].is_typed_unsaved = True
    assert found(made) == []
    made.ended, made.stuck = "", "still open"
    assert found(made) == ["stuck", "turns_lost"]


def test_an_answer_that_broke_off_is_found_unless_the_page_showed_its_rest_or_the_person_interrupted_it() -> None:
    def broken() -> ConversationNotes:
        return talk(turn("order 1001", "1001", "Shall I or"), turn("yes", "1001", "Now 1001 is ordered. "))

    shown, interrupted, other = broken(), broken(), broken()
    shown.turns[0].shown = ["Shall I order 1001?"]
    interrupted.turns[0].is_cut_short = True
    other.turns[0].shown = ["Shall I order 1000?"]
    assert found(broken()) == found(other) == ["turns_lost"]
    honest = broken()
    honest.turns[0].shown = ["I was interrupted and can't tell whether that went through."]
    assert found(shown) == found(interrupted) == found(honest) == []


def test_the_answer_to_cancel_names_nothing_and_must_be_shown_all_the_same() -> None:
    made = talk(turn("cancel", "1001", "All ri"))
    saved = SavedConversation(ID, ("cancel",), 0, False)
    assert found(made, saved, actions=[]) == ["turns_lost"]
    made.turns[0].shown = ["All right, I have cancelled that."]
    assert found(made, saved, actions=[]) == []


def test_a_turn_that_was_given_up_is_found() -> None:
    made = good()
    made.turns[1].is_closed = False
    assert found(made) == ["turns_lost"]


def test_a_turn_that_is_missing_in_one_place_and_doubled_in_another_is_found() -> None:
    made = good()
    made.turns += [turn("order 1002", "1002", "Shall I order 1002? "), turn("yes", "1002", "Now 1002 is ordered. ")]
    actions = [*ACTIONS, *(LoggedAction("order", "1002", "", stage, "a1") for stage in ("begun", "done"))]
    right = SavedConversation(ID, ("order 1001", "yes", "order 1002", "yes"), 0, False)
    wrong = SavedConversation(ID, ("order 1001", "order 1002", "yes", "yes"), 0, False)
    assert found(made, right, actions=actions) == []
    assert found(made, wrong, actions=actions) == ["turns_lost"]


def test_an_answer_that_does_not_name_the_item_is_found() -> None:
    astray = talk(turn("order 1001", "1001", "Shall I order 1001? "), turn("yes", "1001", "Sorry, which one? "))
    assert found(astray) == ["turns_lost"]


def test_something_that_was_said_to_be_done_and_was_not_is_found() -> None:
    assert found(actions=[]) == ["turns_lost"]


def test_a_sentence_that_was_heard_twice_is_found_and_half_of_it_is_not() -> None:
    twice, half = good(), good()
    twice.heard.append((9, "Shall I order 1001? "))
    half.heard.append((9, "Shall I order 10"))
    assert found(twice) == ["heard_twice"]
    assert found(half) == []


def test_an_action_that_was_done_twice_is_found_and_one_repeated_with_its_key_is_not() -> None:
    assert found(actions=[*ACTIONS, *ACTIONS]) == ["actions_twice"]
    made = talk(turn("reserve 1001", "1001", "Shall I reserve 1001? "), turn("yes", "1001", "Now 1001 is reserved. "))
    saved = SavedConversation(ID, ("reserve 1001", "yes"), 0, False)
    again = [LoggedAction("reserve", "1001", "k", stage, "a1") for stage in ("begun", "begun", "done")]
    assert found(made, saved, actions=again) == []
    other_key = LoggedAction("reserve", "1001", "another", "begun", "b1")
    assert found(made, saved, actions=[*again, other_key]) == ["actions_twice"]


@pytest.mark.parametrize(
    "wrong",
    [
        [AcceptedWrite(ID, "a1", 1, 1), AcceptedWrite(ID, "b1", 1, 2)],
        [AcceptedWrite(ID, "a1", 5, 1), AcceptedWrite(ID, "b1", 4, 2)],
        [AcceptedWrite(ID, "a1", 1, 1), AcceptedWrite(ID, "a1", 1, 1)],
    ],
)
def test_two_owners_are_found_by_what_the_store_has_accepted(wrong: list[AcceptedWrite]) -> None:
    assert found(writes=wrong) == ["two_owners"]


def test_two_servers_that_are_heard_at_once_are_found() -> None:
    made = good()
    made.stretches = [Stretch(1, "a1", 0.0, 1.0), Stretch(3, "b1", 0.8, 2.0)]
    assert found(made) == ["two_owners"]
    made.stretches = [Stretch(1, "a1", 0.0, 1.0), Stretch(3, "b1", 1.0, 2.0)]
    assert found(made) == []


def test_a_turn_with_neither_an_answer_nor_an_end_is_found() -> None:
    assert found(talk(*good().turns[:1], turn("yes", "1001", is_stuck=True))) == ["stuck"]
    assert found(saved=SavedConversation(ID, SAVED.user, 1, False, {"voice": "silent"})) == ["stuck"]


# -- An answer that a lost line cuts off

STORY = ("This is the story of 1001. ", "It has a middle, and here 1001 ends. ")
TOLD = SavedConversation(ID, ("tell 1001",), 0, False)


@pytest.mark.parametrize(
    ("heard", "checks"),
    [
        (("".join(STORY),), []),
        ((STORY[0] + "It has a mid", STORY[1]), []),  # the sentence that was cut is said again
        ((STORY[0], STORY[1]), []),
        ((STORY[0] + "It has a mid",), ["turns_lost"]),
        ((STORY[0],), ["turns_lost"]),  # cut between two sentences
        ((STORY[0] + "It has a mid", "The connection is back. Shall I go on? "), []),
        ((STORY[0] + "It has a mid", "I'm sorry, I lost the rest of that. "), []),
        ((STORY[0] + "It has a mid", "".join(STORY)), ["heard_twice"]),  # also the sentence that was heard
        (("".join(STORY), STORY[1]), ["heard_twice"]),
    ],
)
def test_a_story_that_was_cut_off_is_taken_up_or_offered_and_nothing_of_it_is_heard_twice(
    heard: tuple[str, ...], checks: list[str]
) -> None:
    made = talk(turn("tell 1001", "1001", *heard, shown=["".join(STORY)]))
    assert found(made, TOLD, actions=[]) == checks


def test_the_rest_of_an_honest_answer_that_was_cut_off_is_honest_too() -> None:
    made = good()
    made.turns[1].heard = ["I encountered an error. Say re", "Say retry or cancel. "]
    made.heard = [(1, "Shall I order 1001? "), (3, made.turns[1].heard[0]), (5, made.turns[1].heard[1])]
    assert found(made) == []
    made.turns[1].heard[1] = "Sorry, which one? "
    assert found(made) == ["turns_lost"]


def test_a_story_that_its_person_interrupted_or_that_the_conversation_did_not_survive_needs_no_rest() -> None:
    for change in ({"is_cut_short": True}, {"is_reported_lost": True}):
        made = talk(turn("tell 1001", "1001", STORY[0], shown=["".join(STORY)], **change))
        assert found(made, TOLD, actions=[]) == []
    made = talk(turn("tell 1001", "1001", STORY[0], shown=["".join(STORY)]))
    made.ended, made.away_s = "gone", 30.0
    assert found(made, TOLD, actions=[]) == []


# -- Attempts to lose something unnoticed


def test_a_conversation_that_is_missing_in_the_notes_is_found() -> None:
    other = SavedConversation("d" * 32, ("pay 2001",), 0, True)
    failures = judge([good()], {ID: SAVED, other.id: other}, WRITES, ACTIONS, 1)
    assert [(failure.check, failure.conversation) for failure in failures] == [("turns_lost", other.id)]
    silent = SavedConversation("d" * 32, (), 0, True)
    assert judge([good()], {ID: SAVED, silent.id: silent}, WRITES, ACTIONS, 1) == []


def test_a_person_who_is_missing_in_the_notes_is_found() -> None:
    assert [failure.what for failure in judge([good()], {ID: SAVED}, WRITES, ACTIONS, 2)] == [
        "person 2 has never typed anything"
    ]


def test_a_conversation_without_an_end_is_found() -> None:
    made = good()
    made.ended = ""
    assert found(made) == ["stuck"]


def test_a_conversation_that_another_one_replaced_is_found() -> None:
    made = good()
    made.ended = "replaced"
    assert found(made) == ["turns_lost"]


def test_a_conversation_that_the_server_ended_is_found_although_all_its_messages_were_answered() -> None:
    made = good()
    made.ended = "the agent failed"
    assert found(made) == ["turns_lost"]


def test_a_conversation_that_was_forgotten_within_the_time_to_come_back_is_found() -> None:
    made = good()
    made.ended, made.away_s = "gone", 2.0
    assert found(made) == ["turns_lost"]
    made.away_s = 30.0
    assert found(made) == []
    made.away_s = 2.0
    for one in made.turns:
        one.is_typed_unsaved = True
    assert found(made) == []


def test_a_conversation_whose_sound_never_ends_is_found() -> None:
    assert found(saved=SavedConversation(ID, SAVED.user, 0, False, {"voice": "playing"})) == ["stuck"]
    assert found(saved=SavedConversation(ID, SAVED.user, 0, True, {"voice": "playing"})) == []


def test_a_sentence_that_comes_twice_in_one_answer_is_found() -> None:
    assert found(talk(good().turns[0], turn("yes", "1001", "Now 1001 is ordered. Now 1001 is ordered. "))) == [
        "heard_twice"
    ]
    honest = "I can't tell whether that went through. "
    assert found(talk(good().turns[0], turn("yes", "1001", honest, honest))) == ["heard_twice"]


def test_servers_that_are_heard_at_once_are_found_even_with_a_short_sound_between_them() -> None:
    made = good()
    made.stretches = [Stretch(1, "a1", 0.0, 9.0), Stretch(3, "a1", 1.0, 2.0), Stretch(5, "b1", 3.0, 4.0)]
    assert found(made) == ["two_owners"]


def test_an_action_that_was_not_asked_for_is_found() -> None:
    assert found(actions=[*ACTIONS, LoggedAction("pay", "7777", "", "begun", "a1")]) == ["actions_twice"]
    unconfirmed = talk(turn("order 1001", "1001", "Shall I order 1001? "))
    assert found(unconfirmed, SavedConversation(ID, ("order 1001",), 0, False)) == ["actions_twice"]


def test_one_percent_of_the_turns_may_get_no_answer_and_no_more() -> None:
    def many(told: int) -> ConversationNotes:
        turns = [turn("look 1001", "1001", "") for _ in range(200)]
        for number, one in enumerate(turns):
            one.is_reported_lost = number < told
            one.text, one.item = f"look {1000 + number}", str(1000 + number)
            one.heard = [] if one.is_reported_lost else [f"Now {one.item} has been looked up. "]
        return talk(*turns)

    def checks(told: int) -> list[str]:
        made = many(told)
        saved = SavedConversation(ID, tuple(one.text for one in made.turns), 0, False)
        actions = [LoggedAction("look", one.item, "", stage, "a1") for one in made.turns for stage in ("begun", "done")]
        assert (told_lost([made], {ID: saved}), told_lost_max([made])) == (told, 2)
        return found(made, saved, actions=actions)

    assert checks(2) == []
    assert checks(3) == ["unanswered"]
    assert "unanswered" in CHECKS
