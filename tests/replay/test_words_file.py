"""The words file of a call; an error names the line that is wrong."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from duologue.core.errors import DuologueError
from duologue.replay.words_file import InvalidWords, Spoken, read_words, words_path

HEADER = {"format": "duologue-words", "schema": 1}
USER = {"kind": "user", "turn": 1, "text": "is it cold?", "at": 2_000}
AGENT = {"kind": "agent", "reply": 1, "voice": 3, "text": "it will", "unheard": "be mild", "at": 4_000}


def lines_of(*entries: Any) -> list[str]:
    return [json.dumps(entry) + "\n" for entry in entries]


def test_turns_and_sounds_are_read_in_order() -> None:
    assert read_words(lines_of(HEADER, USER, AGENT)) == (
        Spoken("user", 2_000, "is it cold?", turn=1),
        Spoken("agent", 4_000, "it will", "be mild", reply=1, voice=3),
    )


def test_a_file_may_hold_no_words_at_all() -> None:
    assert read_words(lines_of(HEADER)) == ()


def test_an_answer_may_be_known_by_its_turn_alone() -> None:
    spoken = {"kind": "agent", "turn": 2, "text": "yes", "at": 5}
    assert read_words(lines_of(HEADER, spoken)) == (Spoken("agent", 5, "yes", turn=2),)


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([], "line 1: not JSON, the line is cut off"),
        (["[]\n"], "line 1: expected a JSON object"),
        (lines_of({"format": "duologue-journal", "schema": 1}), "line 1: not a Duologue words file"),
        (lines_of({**HEADER, "schema": 2}), "line 1: the file has schema 2, but this version reads only 1"),
        ([*lines_of(HEADER), "{\n"], "line 2: not JSON"),
        (lines_of(HEADER, USER, {**USER, "kind": "cat"}), "line 3: kind must be user or agent, not 'cat'"),
        (lines_of(HEADER, {**USER, "kind": []}), "line 2: kind must be user or agent, not []"),
        (
            lines_of(HEADER, {"kind": "user", "text": "", "at": 1}),
            "line 2: a line of the kind user must have the field 'turn'",
        ),
        (lines_of(HEADER, {"kind": "agent", "at": 1}), "line 2: a line of the kind agent must have the field 'text'"),
        (lines_of(HEADER, {**USER, "at": "2"}), "line 2: at must be int, not '2'"),
        (lines_of(HEADER, {**USER, "at": True}), "line 2: at must be int, not True"),
        (lines_of(HEADER, {**USER, "text": None}), "line 2: text must be str, not None"),
        (lines_of(HEADER, {**USER, "mood": "good"}), "line 2: unknown field 'mood'"),
    ],
)
def test_a_wrong_line_is_named(lines: list[str], message: str) -> None:
    with pytest.raises(InvalidWords) as raised:
        read_words(lines)
    assert str(raised.value) == message
    assert isinstance(raised.value, DuologueError)


def test_a_last_line_that_was_cut_off_is_an_error_or_left_out() -> None:
    lines = [*lines_of(HEADER, USER), '{"kind": "age']
    with pytest.raises(InvalidWords, match="line 3: not JSON, the line is cut off"):
        read_words(lines)
    assert len(read_words(lines, complete=False)) == 1


def test_a_broken_line_before_the_end_is_an_error_in_any_case() -> None:
    with pytest.raises(InvalidWords, match="line 2: not JSON"):
        read_words([*lines_of(HEADER), "{", *lines_of(USER)], complete=False)


@pytest.mark.parametrize("harm", ["\x1b[2J", "\x00", "\n", "\x9b31m", "\u202e", "\ud800"])
def test_characters_that_control_a_terminal_are_replaced(harm: str) -> None:
    (spoken,) = read_words(lines_of(HEADER, {**USER, "text": f"a{harm}b"}))
    assert harm[0] not in spoken.text
    assert spoken.text[0] + spoken.text[-1] == "ab"
    spoken.text.encode()


def test_letters_that_belong_together_stay_together() -> None:
    family = "\U0001f469\u200d\U0001f467 می\u200cروم"
    (spoken,) = read_words(lines_of(HEADER, {**USER, "text": family}))
    assert spoken.text == family


@pytest.mark.parametrize(
    ("journal", "words"),
    [("call.jsonl", "call.words.jsonl"), ("demo.journal", "demo.words.jsonl"), ("a.b.jsonl", "a.b.words.jsonl")],
)
def test_the_words_file_is_next_to_the_journal(journal: str, words: str) -> None:
    assert words_path(Path("/calls") / journal) == Path("/calls") / words
