"""What services use is told once."""

from __future__ import annotations

from duologue.observe import signals as sg
from duologue.ports.ears import Frame
from duologue.testing import Call, ScriptedBrain


def test_sound_is_told_when_a_turn_has_words_and_the_rest_at_the_end() -> None:
    with Call(ScriptedBrain(["Yes."])) as call:
        call.does(lambda: call.line.tell(Frame(bytes(320), 8_000)))
        assert not [one for one in call.signals if isinstance(one, sg.Used) and one.part == "stt"]
        call.user("hello").expect_heard("Yes.")
        call.does(lambda: call.line.tell(Frame(bytes(640))))
    told = [one for one in call.signals if isinstance(one, sg.Used) and one.part == "stt"]
    assert [(one.provider, one.heard_ms) for one in told] == [("ScriptedEars", 20), ("ScriptedEars", 20)]
