"""The machine of the user's speech, explored: every sequence of inputs."""

from __future__ import annotations

from duologue.brains.gemini.speech_floor import ACTIVE, HOLDS, ROWS, FloorInput, FloorOutput, SpeechFloor, step


def after(*inputs: FloorInput) -> tuple[SpeechFloor, list[FloorOutput]]:
    floor, found = SpeechFloor.QUIET, []
    for one in inputs:
        floor, outputs = step(floor, one)
        found += outputs
    return floor, found


def test_every_state_is_reached_and_left() -> None:
    found, left = {SpeechFloor.QUIET}, [SpeechFloor.QUIET]
    while left:
        floor = left.pop()
        for one in FloorInput:
            nxt, _ = step(floor, one)
            if nxt not in found:
                found.add(nxt)
                left.append(nxt)
    assert found == set(SpeechFloor)
    assert {floor for floor, _ in ROWS} == set(SpeechFloor)


def test_activities_begin_once_and_end_once_and_only_for_a_request() -> None:
    for (floor, given), (nxt, outputs) in ROWS.items():
        active = floor in ACTIVE
        for output in outputs:
            if output is FloorOutput.BEGIN:
                assert not active, (floor, given)
                active = True
            elif output is FloorOutput.END:
                assert active, (floor, given)
                assert given is FloorInput.ASKED
                active = False
        if given is not FloorInput.LOST:
            assert active is (nxt in ACTIVE), (floor, given)


def test_after_a_loss_nothing_is_open_on_the_server() -> None:
    for floor in SpeechFloor:
        nxt, outputs = step(floor, FloorInput.LOST)
        assert nxt not in ACTIVE
        assert set(outputs) <= {FloorOutput.DROP}


def test_a_sound_without_words_never_goes_to_the_server() -> None:
    assert after(FloorInput.SPEECH, FloorInput.FREED, FloorInput.NOISE) == (SpeechFloor.QUIET, [FloorOutput.DROP])
    floor, outputs = after(
        FloorInput.SPEECH, FloorInput.WORDS, FloorInput.FREED, FloorInput.TURN_OVER, FloorInput.SPEECH, FloorInput.NOISE
    )
    assert (floor, outputs[2:]) == (SpeechFloor.PAUSED, [FloorOutput.DROP])


def test_words_wait_until_the_model_is_free() -> None:
    floor, outputs = after(FloorInput.SPEECH, FloorInput.WORDS)
    assert (floor, outputs) == (SpeechFloor.HELD, [])
    assert floor in HOLDS
    assert step(floor, FloorInput.FREED) == (SpeechFloor.OPEN, (FloorOutput.BEGIN, FloorOutput.HELD))


def test_a_turn_that_was_held_goes_with_its_request() -> None:
    floor, outputs = after(FloorInput.SPEECH, FloorInput.WORDS, FloorInput.TURN_OVER, FloorInput.ASKED)
    assert (floor, outputs) == (SpeechFloor.QUIET, [FloorOutput.BEGIN, FloorOutput.HELD, FloorOutput.END])


def test_a_request_without_speech_sends_nothing() -> None:
    assert after(FloorInput.ASKED) == (SpeechFloor.QUIET, [])
    assert after(FloorInput.SPEECH, FloorInput.ASKED) == (SpeechFloor.UNSURE, [])
