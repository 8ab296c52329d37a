"""Turns that went wrong elsewhere, through the real driver: coughs, splits, stale and late reports.

Graveyard rows 1, 2, 3, 4 and 16. Rule: every story ends with `ends_well`.
"""

from __future__ import annotations

import pytest

from duologue.brains.scripted import ScriptedBrain
from duologue.core import effects as fx
from duologue.core.leaves import Timer, User
from duologue.hearing.policy import HearingPolicy
from duologue.observe import signals as sg
from duologue.ports import Final, Partial, TurnOver, UserSaid
from duologue.testing import SpeakingPace
from duologue.turns.endpoint import ManualEndpoint
from tests.graveyard.staged_call import PROFILES, Staged

ANSWER = "Sure, I can do that for you. When do you want to go?"
every_profile = pytest.mark.parametrize("profile", PROFILES)


def words_of(call: Staged) -> list[str]:
    """Every word that the history ascribes to the person, in its order."""
    return [word for text in call.said for word in text.split()]


# -- 1: a cough


@pytest.mark.graveyard(1)
@every_profile
@pytest.mark.parametrize("after_ms", [0, 1, 150, 298, 299])
def test_a_cough_behind_the_turn_delays_the_reply_by_no_more_than_the_noise(profile: str, after_ms: int) -> None:
    """pipecat#4308: a cough between the turn and its answer cancels the answer, and nothing follows."""
    with Staged(ScriptedBrain([ANSWER], first_ms=300), profile=profile) as call:
        call.says("book a flight")
        sounds = len(call.when(fx.StartPlayback))
        call.waits(after_ms).begins_speaking().waits(200).stops_speaking()
        quiet_at = call.now_ms
        call.waits(call.settings.noise_ms_max - 1)
        assert len(call.when(fx.StartPlayback)) == sounds
        call.waits(1)
        assert call.when(fx.StartPlayback)[sounds:] == [quiet_at + call.settings.noise_ms_max]
        call.settles()
        assert call.asked == ["book a flight"]
        assert call.brain.cancelled == []
        assert call.heard[-1] == ANSWER
        assert call.acts("clear") == call.acts("hold") == []
        assert [discard.turn for discard in call.person.ears.discards] == [2]
        call.ends_well()


@pytest.mark.graveyard(1)
@every_profile
def test_ears_that_know_it_was_a_cough_let_the_reply_speak_at_once(profile: str) -> None:
    """pipecat#4308: the transcriber has nothing to say about the noise; its silence is an answer."""
    with Staged(ScriptedBrain([ANSWER], first_ms=300), profile=profile) as call:
        call.says("book a flight")
        sounds = len(call.when(fx.StartPlayback))
        call.waits(100).begins_speaking().waits(250).stops_speaking().waits(120).final_text("")
        assert call.when(fx.StartPlayback)[sounds:] == [call.now_ms]
        call.settles()
        assert call.asked == ["book a flight"]
        assert call.heard[-1] == ANSWER
        call.ends_well()


@pytest.mark.graveyard(1)
@pytest.mark.parametrize("profile", ["confirm", "words"])
@pytest.mark.parametrize("after_ms", [300, 301, 350, 1_111, 3_299])
def test_a_cough_over_the_answer_costs_nothing_but_a_moment(profile: str, after_ms: int) -> None:
    """pipecat#4308: a noise without words must never end an answer, even from its first millisecond."""
    with Staged(ScriptedBrain([ANSWER], first_ms=300), profile=profile) as call:
        call.says("book a flight")
        call.waits(after_ms).coughs(200)
        call.settles()
        assert call.heard[-1] == ANSWER
        assert call.asked == ["book a flight"]
        assert call.acts("clear") == []
        assert bool(call.acts("hold")) is (profile == "confirm")
        call.ends_well()


@pytest.mark.graveyard(1)
@every_profile
def test_a_noise_that_never_ends_blocks_the_reply_no_longer_than_its_deadline(profile: str) -> None:
    """pipecat#4308 and #4124: the end of the noise is never seen, so nobody may speak any more."""
    with Staged(ScriptedBrain([ANSWER], first_ms=300), profile=profile) as call:
        call.says("book a flight")
        sounds, began_at = len(call.when(fx.StartPlayback)), call.now_ms
        call.begins_speaking().waits(30_000)
        assert call.when(fx.StartPlayback)[sounds] == began_at + HearingPolicy().wordless_ms_max
        assert call.asked == ["book a flight"]
        assert ANSWER in call.heard
        assert call.acts("clear") == []
        call.stops_speaking()
        call.ends_well()


@pytest.mark.graveyard(1)
@every_profile
def test_a_mumble_into_the_silence_leaves_dead_air_timing_alive(profile: str) -> None:
    """pipecat#4343: voice activity without a transcript stops the idle timer for good."""
    with Staged(ScriptedBrain([ANSWER]), profile=profile) as call:
        call.says("book a flight").settles()
        check_in_at = call.now_ms + call.settings.dead_air_ms
        call.waits(5_000).begins_speaking().waits(300).stops_speaking()
        call.waits(call.settings.noise_ms_max)
        assert call.due(Timer.DEAD_AIR) == check_in_at
        call.waits(check_in_at - call.now_ms).settles()
        assert call.heard[-1] == "Are you still there?"
        assert call.asked == ["book a flight"]
        call.ends_well()


# -- 2: a stale reply over the user


@pytest.mark.graveyard(2)
@every_profile
@pytest.mark.parametrize("early_ms", [1, 124, 299])
def test_a_reply_that_becomes_ready_behind_an_onset_is_never_played(profile: str, early_ms: int) -> None:
    """livekit/agents#5509: 124 ms after the user began to speak, the answer to the turn before begins."""
    with Staged(ScriptedBrain([ANSWER, "Rome it is."], first_ms=300), profile=profile) as call:
        call.says("book a flight")
        told = len(call.line.log)
        call.waits(300 - early_ms).begins_speaking().waits(early_ms + 60)
        assert len(call.line.log) == told, "ready, and not a chunk of it has left"
        call.waits(200).partial_text("to Rome please")
        assert len(call.when(fx.CancelReply)) == 1
        call.waits(200).stops_speaking().waits(120).final_text("to Rome please").settles()
        assert call.asked == ["book a flight", "book a flight to Rome please"]
        assert call.heard[-1] == "Rome it is."
        assert ANSWER not in call.heard
        assert call.acts("clear") == []
        call.ends_well()


@pytest.mark.graveyard(2)
@every_profile
def test_an_onset_in_the_very_millisecond_of_the_first_sound_is_heard_out(profile: str) -> None:
    """livekit/agents#5509, at its edge: sound and onset meet; the person's words win, whoever was first."""
    with Staged(ScriptedBrain([ANSWER, "Rome it is."], first_ms=300), profile=profile) as call:
        call.says("book a flight")
        call.waits(300).begins_speaking().waits(250).partial_text("to Rome").waits(250).partial_text("to Rome please")
        call.waits(100).stops_speaking().waits(120).final_text("to Rome please").settles()
        assert call.heard[-1] == "Rome it is."
        assert call.heard.count(ANSWER) == 0
        assert call.asked[-1].endswith("to Rome please")
        call.ends_well()


# -- 3: one turn, several answers


@pytest.mark.graveyard(3)
@every_profile
def test_a_turn_thought_out_loud_is_answered_once(profile: str) -> None:
    """pipecat#4912: each pause starts a generation, and all of them are spoken."""
    brain = ScriptedBrain(lambda request: f"You said {len(request.text.split())} words.", first_ms=1_500)
    with Staged(brain, profile=profile) as call:
        for text in ("I would like", "well let me see", "a flight to Rome"):
            call.says(text)
            call.waits(200)
        call.settles()
        assert call.asked == [
            "I would like",
            "I would like well let me see",
            "I would like well let me see a flight to Rome",
        ]
        assert [text for text in call.heard if text.startswith("You said")] == ["You said 11 words."]
        assert len(call.brain.cancelled) == 2
        call.ends_well()


@pytest.mark.graveyard(3)
@every_profile
def test_an_endpoint_reported_three_times_makes_one_request(profile: str) -> None:
    """pipecat#4707: the completeness of one turn flickers, and the line is spoken two or three times."""
    with Staged(ScriptedBrain([ANSWER], first_ms=100), profile=profile, endpoint=ManualEndpoint()) as call:
        call.begins_speaking().waits(700).final_text("book a flight").stops_speaking()
        for _ in range(3):
            call.waits(40).ears_report(TurnOver(call.person.utterance))
        call.waits(10).final_text("book a flight")
        call.settles()
        call.ears_report(TurnOver(call.person.utterance)).final_text("book a flight").waits(500)
        assert call.asked == ["book a flight"]
        assert call.heard.count(ANSWER) == 1
        assert call.said == ["book a flight"]
        with_an_end_of_its_own(call)


def with_an_end_of_its_own(call: Staged) -> None:
    """Ends a story whose turns are ended by the ears: the rest is as ever."""
    call.begins_speaking().waits(500).final_text("and tomorrow").stops_speaking().waits(100).ears_report(
        TurnOver(call.person.utterance)
    )
    call.settles()
    assert call.asked[-1] == "and tomorrow"
    assert call.heard == call.truth.heard
    assert call.due(Timer.DEAD_AIR) == call.now_ms + call.settings.dead_air_ms
    call.hangs_up().expect_ended()


@pytest.mark.graveyard(3)
@pytest.mark.parametrize("late_text", [False, True], ids=["text-first", "text-late"])
def test_a_verdict_on_an_utterance_that_was_gone_on_from_is_not_believed(late_text: bool) -> None:
    """pipecat#4707, its second half: "complete" resolves after the user has resumed, and the agent
    answers half a sentence. The ears say which utterance they judged."""
    with Staged(ScriptedBrain([ANSWER]), endpoint=ManualEndpoint()) as call:
        call.begins_speaking().waits(600)
        judged = call.person.utterance
        if not late_text:
            call.final_text("I would like")
        call.stops_speaking().waits(200).begins_speaking().waits(50)
        if late_text:
            call.final_text("I would like", judged)
        call.ears_report(TurnOver(judged)).waits(400)
        assert call.asked == [], "the person is still speaking"
        assert call.conversation.machine_state.user is User.TALKING
        call.final_text("a flight to Rome").stops_speaking().waits(100).ears_report(
            TurnOver(call.person.utterance)
        ).settles()
        assert call.asked == ["I would like a flight to Rome"]
        assert call.heard == [ANSWER]
        with_an_end_of_its_own(call)


@pytest.mark.graveyard(3)
def test_final_text_that_is_mended_twice_is_answered_once() -> None:
    """pipecat#4912 of its kind: a transcriber that sends its final text again, better written."""
    with Staged(ScriptedBrain(otherwise=ANSWER, first_ms=800)) as call:
        call.says("book a flight")
        call.waits(100).final_text("Book a flight.").waits(100).final_text("Book a flight.").waits(100).final_text(
            "Book a flight!"
        )
        call.settles()
        assert call.heard == [ANSWER]
        assert call.said == ["Book a flight!"]
        assert call.asked[-1] == "Book a flight!"
        assert len(call.asked) == 3, "the same text again is no news"
        call.ends_well()


# -- 4: an utterance in pieces


@pytest.mark.graveyard(4)
@every_profile
@pytest.mark.parametrize("pause_ms", [100, 399, 400, 401, 750])
def test_an_utterance_split_by_the_detector_gets_one_answer(profile: str, pause_ms: int) -> None:
    """pipecat#1540: both halves of a split utterance are answered, and both answers are played. The
    pause is varied around the 400 ms that end a turn."""
    with Staged(
        ScriptedBrain(otherwise=ANSWER, first_ms=1_000), profile=profile, pace=SpeakingPace(final_lag_ms=50)
    ) as call:
        call.begins_speaking().waits(500).partial_text("I would").stops_speaking().waits(50).final_text("I would like")
        call.waits(pause_ms - 50).begins_speaking().waits(500).partial_text("a flight").stops_speaking().waits(
            120
        ).final_text("a flight")
        call.settles()
        assert call.asked[-1] == "I would like a flight"
        assert call.heard[-1:] == [ANSWER]
        assert call.heard.count(ANSWER) == 1
        assert len(call.asked) == (1 if pause_ms < 400 else 2)
        assert " ".join(call.said) == "I would like a flight"
        call.ends_well()


def grow(call: Staged, words: list[str], word_ms: int = 250) -> None:
    """Say these words; the ears report all of them so far after each, as ears do."""
    for count in range(1, len(words) + 1):
        call.waits(word_ms).partial_text(" ".join(words[:count]))


@pytest.mark.graveyard(4)
def test_a_turn_cut_at_its_limit_tells_no_word_twice() -> None:
    """pipecat#1540 of its kind: not the detector but the 30 s limit cuts the utterance in two."""
    words = [f"word{number}" for number in range(1, 141)]
    with Staged(ScriptedBrain(otherwise=ANSWER, first_ms=400)) as call:
        call.begins_speaking()
        grow(call, words)
        call.stops_speaking().waits(100).final_text(" ".join(words)).settles()
        assert words_of(call) == words
        assert call.asked[-1].split() == words
        assert call.heard == [ANSWER]
        call.ends_well()


@pytest.mark.graveyard(4)
@pytest.mark.parametrize("tail_ms", [0, 1, 200])
def test_a_button_let_go_before_the_detector_notices_splits_no_utterance(tail_ms: int) -> None:
    """pipecat#1540 of its kind: the button comes up, the detector hangs over for some milliseconds."""
    with Staged(ScriptedBrain(otherwise=ANSWER, first_ms=400)) as call:
        call.does(call.conversation.press).waits(50).begins_speaking()
        grow(call, ["book", "a"])
        call.waits(250).does(call.conversation.release)
        call.waits(tail_ms).stops_speaking().waits(100).final_text("book a flight").settles()
        assert call.asked == ["book a flight"]
        assert call.said == ["book a flight"]
        assert call.heard == [ANSWER]
        call.ends_well()


@pytest.mark.graveyard(4)
@pytest.mark.parametrize("by", ["typing", "sending"])
def test_an_utterance_that_goes_on_beside_the_keyboard_is_told_once(by: str) -> None:
    """pipecat#1540 of its kind: a hand ends the turn in mid-utterance; what was said before it must not
    stand in both halves."""
    with Staged(ScriptedBrain(otherwise=ANSWER, first_ms=2_000)) as call:
        call.begins_speaking()
        grow(call, ["book", "a"])
        call.does(call.conversation.send if by == "sending" else lambda: call.conversation.type("(to Rome)"))
        grow(call, ["book", "a", "flight", "today"], word_ms=100)
        call.stops_speaking().waits(100).final_text("book a flight today").settles()
        said = [word for word in words_of(call) if word not in ("(to", "Rome)")]
        assert said == ["book", "a", "flight", "today"]
        asked = [word for word in call.asked[-1].split() if word not in ("(to", "Rome)")]
        assert asked == ["book", "a", "flight", "today"]
        assert call.heard == [ANSWER]
        call.ends_well()


# -- 16: text that is a little late


@pytest.mark.graveyard(16)
@every_profile
def test_text_five_ms_after_the_verdict_is_asked_at_once(profile: str) -> None:
    """pipecat#4098: the text of a short "hi" comes 5 ms after the turn was judged, and stalls it for 5 s."""
    with Staged(ScriptedBrain([ANSWER]), profile=profile, endpoint=ManualEndpoint()) as call:
        asked = len(call.when(fx.StartReply))
        call.begins_speaking().waits(200).stops_speaking().waits(190).ears_report(
            TurnOver(call.person.utterance)
        ).waits(5).final_text("hi there")
        assert call.when(fx.StartReply)[asked:] == [call.now_ms]
        call.settles()
        assert call.asked == ["hi there"]
        assert call.heard[-1] == ANSWER
        with_an_end_of_its_own(call)


@pytest.mark.graveyard(16)
@every_profile
@pytest.mark.parametrize("lag_ms", [1, 395, 399, 400, 405, 595, 599, 605, 1_995, 2_105])
def test_final_text_counts_from_the_moment_it_comes(profile: str, lag_ms: int) -> None:
    """pipecat#4250: a transcript later than some timer waits for a 5 s fallback. Here the lag is varied
    around every deadline of a turn: 400 ms of silence, 600 ms for a noise, 1,500 ms for the text."""
    with Staged(ScriptedBrain([ANSWER]), profile=profile) as call:
        asked = len(call.when(fx.StartReply))
        call.begins_speaking().waits(300).stops_speaking()
        ended_at = call.now_ms
        call.waits(lag_ms).final_text("good morning").waits(400)
        assert call.when(fx.StartReply)[asked:] == [ended_at + max(400, lag_ms)]
        call.settles()
        assert call.asked == call.said == ["good morning"]
        assert call.heard.count(ANSWER) == 1
        call.ends_well()


@pytest.mark.graveyard(16)
@pytest.mark.parametrize("lag_ms", [1, 80, 395, 405])
def test_partial_text_just_after_the_last_sound_starts_the_wait_for_silence(lag_ms: int) -> None:
    """pipecat#4098: ears that write the final text only when told that the turn is over. The first
    partial of a short answer comes a little after its sound; nobody may wait for 3 s because of that."""
    with Staged(ScriptedBrain([ANSWER])) as call:
        call.begins_speaking().waits(250).stops_speaking()
        ended_at = call.now_ms
        call.waits(lag_ms).partial_text("hello")
        call.until(lambda: bool(call.person.ears.commits))
        committed_at = call.now_ms
        call.waits(60).final_text("hello").settles()
        assert call.asked == ["hello"]
        assert call.heard == [ANSWER]
        assert committed_at <= ended_at + max(400, lag_ms) + 1
        call.ends_well()


@pytest.mark.graveyard(16)
def test_late_text_of_an_older_turn_joins_the_question_and_the_history() -> None:
    """pipecat#4250: the words of the first sound come after the second turn was asked."""
    with Staged(ScriptedBrain(otherwise=ANSWER, first_ms=3_000)) as call:
        call.begins_speaking().waits(300).stops_speaking()
        slow = call.person.utterance
        call.waits(700).begins_speaking().waits(300).stops_speaking().waits(50).final_text("tomorrow morning").waits(
            600
        )
        assert call.asked == ["tomorrow morning"]
        call.final_text("to Rome", slow).settles()
        assert call.asked == ["tomorrow morning", "to Rome tomorrow morning"]
        assert sorted(call.said) == ["to Rome", "tomorrow morning"]
        assert call.heard == [ANSWER]
        assert call.told(sg.Lost) == []
        call.ends_well()


@pytest.mark.graveyard(16)
@pytest.mark.parametrize("profile", ["confirm", "words"])
def test_late_text_of_an_answered_turn_is_recorded_without_a_request(profile: str) -> None:
    """pipecat#4250, too late: the answer is being heard, so the words are history and no new question."""
    with Staged(ScriptedBrain([ANSWER]), profile=profile) as call:
        call.begins_speaking().waits(500).partial_text("book a flight").stops_speaking().waits(400)
        call.waits(call.settings.text_ms_max).plays(600).final_text("book a flight please").settles()
        assert call.asked == ["book a flight"]
        assert call.heard.count(ANSWER) == 1
        assert call.said == ["book a flight please"]
        call.ends_well()


@pytest.mark.graveyard(16)
@pytest.mark.parametrize("numbered", [True, False])
def test_ears_that_report_text_alone_are_answered_without_delay(numbered: bool) -> None:
    """pipecat#4098 of its kind: a transcriber without a detector; its final text is the end of speech."""
    with Staged(ScriptedBrain(otherwise=ANSWER)) as call:
        for number, text in enumerate(("good morning", "book a flight"), start=1):
            utterance = number if numbered else 0
            call.ears_report(Partial(text.split()[0], utterance=utterance)).waits(300)
            call.ears_report(Final(text, utterance=utterance))
            final_at = call.now_ms
            call.waits(1_000)
            assert call.asked[-1:] == [text]
            assert call.when(fx.StartReply)[-1] <= final_at + 400
            call.settles().waits(1_000)
        assert call.asked == ["good morning", "book a flight"]
        assert [item.text for item in call.history if isinstance(item, UserSaid)] == call.asked
        assert call.heard == [ANSWER, ANSWER]
