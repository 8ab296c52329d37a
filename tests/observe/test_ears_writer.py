"""The ear journal is written line by line, and each line has a checksum of everything before it."""

from __future__ import annotations

import io
import json

from duologue.hearing.inputs import Reported, Typed, Woke
from duologue.hearing.policy import HearingPolicy
from duologue.hearing.words import SaidWords
from duologue.observe.ears_writer import EARS_FORMAT, EARS_SCHEMA, EarsWriter, sum_of
from duologue.ports.ears import Final


def _written() -> list[dict[str, object]]:
    out = io.StringIO()
    writer = EarsWriter(out, HearingPolicy(), SaidWords(), "Ada", {"model": "tiny"}, "abc")
    writer.add(Reported(100, Final("hello", 0.9, 1)), 3)
    writer.add(Woke(700), 5)
    writer.close(9, "def")
    return [json.loads(line) for line in out.getvalue().splitlines()]


def test_a_header_says_what_the_file_is_and_to_which_journal_it_belongs() -> None:
    header = _written()[0]
    assert (header["format"], header["schema"]) == (EARS_FORMAT, EARS_SCHEMA)
    assert (header["agent"], header["ears"], header["start"]) == ("Ada", {"model": "tiny"}, "abc")


def test_each_input_has_the_number_of_events_before_it() -> None:
    _, final, woke, end = _written()
    assert (final["n"], final["heard"], final["text"], final["at"]) == (3, "Final", "hello", 100)
    assert (woke["n"], woke["input"]) == (5, "Woke")
    assert (end["end"], end["events"], end["digest"]) == (2, 9, "def")


def test_each_line_has_the_checksum_of_itself_and_the_lines_before_it() -> None:
    known = ""
    for line in _written():
        given = line.pop("sum")
        known = sum_of(known, line)
        assert given == known


def test_a_checksum_depends_on_every_value_and_on_the_lines_before() -> None:
    assert len({sum_of("", {"a": 1}), sum_of("", {"a": 2}), sum_of("x", {"a": 1})}) == 3


def test_a_lone_surrogate_has_a_checksum_too() -> None:
    out = io.StringIO()
    EarsWriter(out, HearingPolicy(), SaidWords()).add(Typed(1, "a\udcff"), 0)
    assert json.loads(out.getvalue().splitlines()[1])["text"] == "a\udcff"
