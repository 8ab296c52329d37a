"""Every check of a torture run finds what it is there for, and nothing where nothing is."""

from __future__ import annotations

import pytest

from duologue.lab.torture.faults import schedule
from duologue.lab.torture.person_notes import (
    AcceptedWrite,
    ConversationNotes,
    LoggedAction,
    StoredConversation,
    TypedTurn,
)
from duologue.lab.torture.rendered_audio import HEADER, AudioRenderer, Stretch
from duologue.lab.torture.report import rows
from duologue.lab.torture.tortured_agent import CHAR_SAMPLES, LegibleVoice, encode_text
from duologue.lab.torture.verdict import CHECKS, claimed_undone, judge

ID = "c" * 32


def turn(text: str, item: str, *heard: str, **more: bool) -> TypedTurn:
    made = TypedTurn("1", text, item, 0.0, is_safe=True, is_closed=True, heard=list(heard))
    for name, value in more.items():
        setattr(made, name, value)
    return made


def talk(*turns: TypedTurn) -> ConversationNotes:
    voices = [heard for one in turns for heard in one.heard]
    return ConversationNotes(1, ID, list(turns), [(number * 2 + 1, text) for number, text in enumerate(voices)])


def good() -> ConversationNotes:
    return talk(turn("order 1001", "1001", "Shall I order 1001? "), turn("yes", "1001", "Now 1001 is ordered. "))


STORED = StoredConversation(ID, ("order 1001", "yes"), 0, False)
ACTIONS = [LoggedAction("order", "1001", "", stage, "a1") for stage in ("begun", "done")]
WRITES = [AcceptedWrite(ID, "a1", 1, 1), AcceptedWrite(ID, "a1", 1, 2), AcceptedWrite(ID, "b1", 4, 3)]


def found(
    made: ConversationNotes | None = None,
    stored: StoredConversation | None = STORED,
    writes: list[AcceptedWrite] = WRITES,
    actions: list[LoggedAction] = ACTIONS,
) -> list[str]:
    talks = [made or good()]
    failures = judge(talks, {ID: stored} if stored else {}, writes, actions) + list(claimed_undone(talks, actions))
    return sorted({failure.check for failure in failures})


def test_where_nothing_is_wrong_nothing_is_found() -> None:
    assert found() == []


@pytest.mark.parametrize("user", [("order 1001",), ("yes",), ("order 1001", "yes", "yes"), ()])
def test_a_turn_that_is_missing_or_there_twice_is_found(user: tuple[str, ...]) -> None:
    assert found(stored=StoredConversation(ID, user, 0, False)) == ["turns_lost"]
    assert found(stored=None) == ["turns_lost"]


def test_a_turn_that_nobody_answered_is_found_unless_the_person_was_told() -> None:
    silent = talk(turn("order 1001", "1001"), turn("yes", "1001", "Now 1001 is ordered. "))
    assert found(silent) == ["turns_lost"]
    silent.turns[0].is_told_lost = True
    assert found(silent) == []


def test_an_answer_beside_the_point_is_found() -> None:
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


def test_a_deed_that_was_done_twice_is_found_and_one_that_says_its_key_again_is_not() -> None:
    assert found(actions=[*ACTIONS, *ACTIONS]) == ["actions_twice"]
    again = [LoggedAction("reserve", "1001", key, "begun", "a1") for key in ("k", "k")]
    assert found(actions=[*ACTIONS, *again]) == []
    assert found(actions=[*ACTIONS, *again, LoggedAction("reserve", "1001", "another", "begun", "b1")]) == [
        "actions_twice"
    ]


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


def test_whoever_got_neither_an_answer_nor_an_end_is_found() -> None:
    assert found(talk(*good().turns[:1], turn("yes", "1001", is_stuck=True))) == ["stuck"]
    assert found(stored=StoredConversation(ID, STORED.user, 1, False, {"voice": "silent"})) == ["stuck"]
    assert found(stored=StoredConversation(ID, STORED.user, 1, False, {"voice": "playing"})) == []


def frame(voice: int, chunk: int, text: str) -> bytes:
    return HEADER.pack(1, 0, 0, voice, chunk) + encode_text(text)


def test_an_ear_reads_what_was_rendered_and_no_more() -> None:
    ear = AudioRenderer()
    ear.advance(10.0)
    ear.receive(frame(1, 1, "Hello "), "a", 10.0)
    ear.receive(frame(1, 1, "Hello "), "b", 10.0)  # known
    ear.advance(10.1)
    assert ear.voices[0].heard == "He"
    ear.receive(frame(1, 2, "you"), "b", 10.1)
    ear.advance(20.0)
    assert ear.voices[0].heard == "Hello you"
    assert ear.command("finish", 1, 20.0) == ("finished", 1, 9 * CHAR_SAMPLES // 24)
    ear.receive(frame(3, 1, "Next"), "b", 20.0)
    assert ear.command("clear", 3, 20.05) == ("stopped", 3, 50)
    ear.advance(30.0)
    assert ear.voices[1].heard == "N"


def test_a_voice_says_its_words_with_their_times() -> None:
    import asyncio

    async def said() -> list[tuple[str, int]]:
        at, words = 0, []
        async for sound in LegibleVoice().speak("Shall I order 1001?"):
            words += [(word.text, at + word.end_ms) for word in sound.words]
            at += sound.ms
        return words

    assert asyncio.run(said()) == [("Shall", 240), ("I", 320), ("order", 560), ("1001?", 800)]


def test_one_seed_makes_one_schedule() -> None:
    assert schedule(7, 3, 60.0, 3.0) == schedule(7, 3, 60.0, 3.0)
    assert schedule(7, 3, 60.0, 3.0) != schedule(8, 3, 60.0, 3.0)
    assert {"kill", "freeze"} <= {fault.kind for fault in schedule(1, 2, 10.0, 3.0)}


def test_the_table_begins_with_what_must_be_nothing() -> None:
    from collections import defaultdict

    made = rows(defaultdict(int))
    assert [row[2] for row in made[: len(CHECKS)]] == ["0"] * len(CHECKS)
