"""A response of a script is one part or several."""

from __future__ import annotations

from duologue.testing.realtime.script import CallTool, Speak, parts_of


def test_one_part_and_a_list_of_parts_are_both_a_response() -> None:
    speak, call = Speak("Hello."), CallTool("look")
    assert parts_of(speak) == [speak]
    assert parts_of((speak, call)) == [speak, call]
    assert parts_of(iter([call])) == [call]
