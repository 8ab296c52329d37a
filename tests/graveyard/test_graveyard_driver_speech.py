"""Speech that went wrong elsewhere, through the real driver: playout, interruption, what was heard.

Graveyard rows 5, 6, 7, 8, 10 and 14. The line in these tests knows by itself which words sounded; the
history has to say the same. Rule: every story ends with `ends_well`.
"""

from __future__ import annotations

import pytest

from duologue.brains.scripted import ScriptedBrain
from duologue.core import effects as fx
from duologue.core.leaves import Ask, ErrorClass, FaultSource, Timer
from duologue.hearing.policy import HearingPolicy
from duologue.observe import signals as sg
from duologue.ports import AgentSaid, Sound, ToolCall
from duologue.ports.line import Finished, Played, Stopped
from duologue.testing import Delay, ScriptedVoice, scripted_tool
from tests.graveyard.staged_call import PROFILES, Staged, TruthfulLine

ANSWER = "Sure, I can do that for you. When do you want to go?"
ANSWER_MS = 3_180  # at 60 ms a character
PREAMBLE = "Let me look that up for you now."
every_profile = pytest.mark.parametrize("profile", PROFILES)


def interrupted(call: Staged) -> list[AgentSaid]:
    return [item for item in call.history if isinstance(item, AgentSaid) and item.interrupted]


def bid(call: Staged) -> None:
    """Take the floor as this profile wants it, to the millisecond; the turn stays open."""
    call.begins_speaking()
    if call.settings.name != "immediate":
        call.partial_text("no wait")


def finish_bid(call: Staged, text: str = "no wait please") -> None:
    call.waits(300).stops_speaking().waits(120).final_text(text)


# -- 5: waiting for a silence that is never reported


@pytest.mark.graveyard(5)
@every_profile
def test_a_result_waits_for_a_silence_that_never_comes_no_longer_than_its_deadline(profile: str) -> None:
    """livekit/agents#4413: interrupted just before a tool says something, the agent waits for a silence
    event that is never emitted, until the participant leaves."""
    brain = ScriptedBrain([[ToolCall("look_up")], "There are three."])
    with Staged(brain, scripted_tool("look_up", Delay(1_100), "three"), profile=profile) as call:
        call.says("is there a room")
        asked, patience_ms = len(call.when(fx.StartReply)), HearingPolicy().wordless_ms_max
        call.waits(1_000)
        began_at = call.now_ms
        call.begins_speaking()  # and its end is never seen
        call.until(lambda: bool(call.outputs))
        call.waits(patience_ms)
        dismissed_at = began_at + patience_ms + call.settings.beat_ms
        assert call.when(fx.StartReply)[asked:] == [dismissed_at]
        assert call.when(fx.StartPlayback)[-1] == dismissed_at
        call.waits(3_000).settles()
        assert call.asked == ["is there a room", ""], "the call has dealt with the words"
        assert call.heard[-1] == "There are three."
        assert call.outputs == [(1, "three")]
        assert call.acts("clear") == []
        call.ends_well()


@pytest.mark.graveyard(5)
@every_profile
def test_a_line_that_never_confirms_its_silence_holds_up_nothing_but_400_ms(profile: str) -> None:
    """livekit/agents#4413: every event waits behind one that is never emitted."""
    brain = ScriptedBrain([[PREAMBLE, ToolCall("look_up")], "There are three."])
    line = TruthfulLine(stop_ms=None)
    with Staged(brain, scripted_tool("look_up", Delay(200), "three"), profile=profile, line=line) as call:
        call.says("is there a room")
        call.plays(600)
        bid(call)
        stopped_at = call.now_ms
        call.waits(20).stops_speaking().final_text("no wait please")
        asked = len(call.asked)
        call.until(lambda: len(call.asked) > asked)
        assert call.when(fx.TruncateReply) == [stopped_at + call.settings.stop_ms_max]
        assert call.now_ms <= stopped_at + 20 + 400 + call.settings.beat_ms
        call.settles()
        assert call.asked[-1] == "no wait please"
        assert call.heard[-1] == "There are three."
        assert call.outputs == [(1, "three")]
        call.ends_well(heard_exactly=False)


# -- 6: waiting for playout


@pytest.mark.graveyard(6)
@every_profile
@pytest.mark.parametrize("heard_ms", [1, 600, 1_799])
def test_an_interruption_clears_the_line_in_its_own_millisecond(profile: str, heard_ms: int) -> None:
    """livekit/agents#5359: a tool waits for its preamble, the user interrupts, the wait goes on for 5 s."""
    brain = ScriptedBrain([[PREAMBLE, ToolCall("look_up")], "There are three."])
    with Staged(brain, scripted_tool("look_up", Delay(2_500), "three"), profile=profile) as call:
        call.says("is there a room")
        call.plays(heard_ms)
        bid(call)
        assert call.acts("clear") == [(call.now_ms, "clear")]
        assert call.conversation.phase == "interrupted"
        interrupted_at = call.now_ms
        call.waits(call.settings.breath_ms)
        assert call.when(fx.TruncateReply) == [interrupted_at + call.settings.breath_ms]
        finish_bid(call)
        call.settles()
        assert call.asked[1:] == ["no wait please"], "asked once, with the result of the tool"
        assert call.outputs == [(1, "three")]
        assert call.heard[-1] == "There are three."
        call.ends_well()


@pytest.mark.graveyard(6)
@every_profile
@pytest.mark.parametrize("offset_ms", [-1, 0, 1])
def test_an_interruption_in_the_very_millisecond_of_the_end_is_one_turn_like_any(profile: str, offset_ms: int) -> None:
    """livekit/agents#5359, at its edge: playout ends as the user begins to speak."""
    with Staged(ScriptedBrain([ANSWER, "Tomorrow then."]), profile=profile) as call:
        call.says("book a flight")
        call.waits(ANSWER_MS + offset_ms)
        bid(call)
        finish_bid(call, "no wait tomorrow")
        call.settles()
        assert call.asked == ["book a flight", "no wait tomorrow"]
        assert call.heard[-1] == "Tomorrow then."
        assert call.heard[-2] in (ANSWER, ANSWER.removesuffix(" go?"))
        call.ends_well()


# -- 7: played means played


@pytest.mark.graveyard(7)
@every_profile
def test_what_was_made_and_not_played_is_neither_heard_nor_waited_for(profile: str) -> None:
    """livekit/agents#6569: speech counts as played when it was generated, and the tool's answer is lost."""
    brain = ScriptedBrain([[PREAMBLE, ToolCall("look_up"), "It may take a while."], "There are three."])
    with Staged(brain, scripted_tool("look_up", "three"), profile=profile) as call:
        call.says("is there a room")
        call.plays(500)
        assert call.outputs == [(1, "three")], "the result is there, the preamble still plays"
        assert len(call.asked) == 1
        call.until(lambda: len(call.asked) == 2)
        finished = [record.event.at for record in call.records if type(record.event).__name__ == "PlaybackFinished"]
        assert call.when(fx.StartReply)[-1] == finished[-1] + call.settings.beat_ms
        call.settles()
        assert call.heard[-2:] == [f"{PREAMBLE} It may take a while.", "There are three."]
        call.ends_well()


@pytest.mark.graveyard(7)
@every_profile
def test_a_preamble_cut_off_at_its_first_word_keeps_the_answer_of_its_tool(profile: str) -> None:
    """livekit/agents#6569: the preamble was generated in full, hardly heard, and its tool's answer gone."""
    brain = ScriptedBrain([[PREAMBLE, ToolCall("look_up")], "There are three."])
    with Staged(brain, scripted_tool("look_up", "three"), profile=profile) as call:
        call.says("is there a room")
        call.plays(300)
        bid(call)
        finish_bid(call, "no wait a double one")
        call.settles()
        assert [item.text for item in interrupted(call)] == ["Let"]
        assert call.outputs == [(1, "three")]
        assert call.asked == ["is there a room", "no wait a double one"]
        assert any("three" in item.output for item in call.brain.requests[1].history if hasattr(item, "output"))
        assert call.heard[-1] == "There are three."
        call.ends_well()


@pytest.mark.graveyard(7)
def test_a_line_that_claims_to_have_finished_what_it_never_got_is_not_believed() -> None:
    """livekit/agents#6569: "played" comes early. The rest of the reply is not even made yet."""
    brain = ScriptedBrain([["Sure, I can.", Delay(1_500), "When do you want to go?"]])
    with Staged(brain) as call:
        call.says("book a flight")
        voice = call.conversation.machine_state.voice_id
        call.waits(1_000).does(lambda: call.line.tell(Finished(voice, 60_000)))
        call.does(lambda: call.line.tell(Played(voice, 60_000)))
        assert call.conversation.phase == "speaking"
        call.settles()
        assert call.heard == ["Sure, I can. When do you want to go?"]
        call.ends_well()


@pytest.mark.graveyard(7)
def test_a_line_that_played_less_than_it_got_decides_what_was_heard() -> None:
    """livekit/agents#6569: what counts is the line's own count, also when it ends before the sound does."""
    with Staged(ScriptedBrain([ANSWER])) as call:
        call.says("book a flight")
        voice = call.conversation.machine_state.voice_id
        call.plays(700).does(lambda: call.line.hold(voice))  # its buffer is gone, and so is the rest
        call.does(lambda: call.line.tell(Finished(voice, 700)))
        call.settles()
        said = [item for item in call.history if isinstance(item, AgentSaid)]
        assert [(item.text, item.heard_ms) for item in said] == [("Sure, I", 700)]


class Tearing(TruthfulLine):
    """Loses its connection to the loudspeaker in mid-reply."""

    def play(self, voice: int, chunk: int, sound: Sound) -> None:
        if chunk == 6:
            raise OSError("the device is gone")
        super().play(voice, chunk, sound)


@pytest.mark.graveyard(7)
@pytest.mark.parametrize("gap_ms", [0, 500], ids=["at-once", "in-mid-stream"])
def test_a_line_that_breaks_while_a_reply_streams_is_told_and_nothing_unplayed_is_history(gap_ms: int) -> None:
    """livekit/agents#6569 of its kind: a chunk that never left must not count, and somebody must say so."""
    brain = ScriptedBrain([["Sure, I can.", Delay(gap_ms), "When do you want to go?"]])
    with Staged(brain, line=Tearing()) as call:
        call.says("book a flight")
        call.waits(12_000)
        assert [(fault.part, fault.error) for fault in call.told(sg.Failed)] == [
            (FaultSource.VOICE, ErrorClass.NETWORK_TIMEOUT)
        ]
        for heard, sounded in zip(call.heard, call.truth.heard, strict=False):
            assert sounded.startswith(heard), "the history holds what was played"


# -- 8: the history is what was heard, to the word


@pytest.mark.graveyard(8)
@every_profile
@pytest.mark.parametrize("heard_ms", [1, 359, 360, 361, 479, 480, 481, 1_000, 1_199, 1_200, 1_201, 2_999, 3_179])
def test_the_brain_is_told_what_was_heard_to_the_word(profile: str, heard_ms: int) -> None:
    """pipecat#4996: the interruption overtakes text that was already played, and the agent repeats
    itself. Word ends lie at 360, 480, … ms; the interruption comes just before, at and just after."""
    with Staged(ScriptedBrain([ANSWER, "Fine."]), profile=profile) as call:
        call.says("book a flight")
        call.plays(heard_ms)
        bid(call)
        finish_bid(call)
        call.settles()
        known = [item.text for item in call.brain.requests[-1].history if isinstance(item, AgentSaid)]
        assert known == call.truth.heard[:-1], "the next request knows what sounded"
        assert [item.heard_ms for item in interrupted(call)] in ([heard_ms], [])
        assert call.heard[-1] == "Fine."
        call.ends_well()


@pytest.mark.graveyard(8)
@pytest.mark.parametrize("ack_ms", [20, 200])
@pytest.mark.parametrize("stop_ms", [1, 49, 51, 399])
@pytest.mark.parametrize("chunk_ms", [20, 500])
def test_however_slowly_a_line_reports_the_history_is_what_sounded(ack_ms: int, stop_ms: int, chunk_ms: int) -> None:
    """pipecat#4996: acknowledgements are on their way while the interruption is decided."""
    line, voice = TruthfulLine(ack_ms=ack_ms, stop_ms=stop_ms), ScriptedVoice(chunk_ms=chunk_ms)
    with Staged(ScriptedBrain([ANSWER, "Fine."]), profile="immediate", line=line, voice=voice) as call:
        call.says("book a flight")
        call.plays(1_199)
        bid(call)
        finish_bid(call)
        call.settles()
        assert interrupted(call)[0].text == "Sure, I can do"
        call.ends_well()


@pytest.mark.graveyard(8)
def test_a_line_that_confirms_a_little_after_the_deadline_still_mends_the_history() -> None:
    """pipecat#4996: the truth about what was played comes 50 ms late; the user is still speaking, so the
    next request can know it."""
    line = TruthfulLine(ack_ms=200, stop_ms=450)
    with Staged(ScriptedBrain([ANSWER, "Fine."]), profile="immediate", line=line) as call:
        call.says("book a flight")
        call.plays(790)
        bid(call)
        call.waits(900)
        finish_bid(call)
        call.settles()
        assert interrupted(call)[0].text == "Sure, I can"
        call.ends_well()


@pytest.mark.graveyard(8)
@pytest.mark.parametrize("ack_ms", [100, 200])
def test_a_fault_in_mid_reply_keeps_every_word_that_sounded(ack_ms: int) -> None:
    """pipecat#4996 without an interruption: the ears fail, the sound is stopped, and the line says at once
    what it has played; the words since its last report are not to be said again."""
    line = TruthfulLine(ack_ms=ack_ms)
    with Staged(ScriptedBrain([ANSWER, "Fine."]), line=line) as call:
        call.says("book a flight")
        call.plays(490).does(lambda: call.person.ears.fail(ValueError("nonsense")))
        assert call.conversation.phase == "error"
        call.waits(call.settings.dismiss_ms + 10).settles()
        assert call.truth.heard == ["Sure, I"]
        assert call.heard == call.truth.heard
        call.ends_well()


@pytest.mark.graveyard(8)
@pytest.mark.parametrize("profile", ["confirm", "words"])
def test_sound_that_was_held_and_went_on_is_counted_once(profile: str) -> None:
    """pipecat#4996 of its kind: pauses for a cough and a "mhm" must not shift the words."""
    with Staged(ScriptedBrain([ANSWER, "Fine."]), profile=profile) as call:
        call.says("book a flight")
        call.plays(333).coughs(100).waits(700)
        call.begins_speaking().waits(120).stops_speaking().waits(100).final_text("mhm").waits(300)
        call.plays(2_000)
        bid(call)
        finish_bid(call)
        call.settles()
        assert [item.heard_ms for item in interrupted(call)] == [call.truth.sounded_ms[interrupted_voice(call)]]
        assert call.asked == ["book a flight", "no wait please"]
        assert "mhm" in call.said
        call.ends_well()


def interrupted_voice(call: Staged) -> int:
    return int(call.effects(fx.StopPlayback)[-1].voice)


@pytest.mark.graveyard(8)
@every_profile
def test_interrupted_again_and_again_the_history_stays_true(profile: str) -> None:
    """pipecat#4996, three times in one call: nothing of an older reply is repeated or lost."""
    with Staged(ScriptedBrain(otherwise=ANSWER), profile=profile) as call:
        call.says("book a flight")
        for heard_ms in (450, 1_300, 2_222):
            call.plays(heard_ms)
            bid(call)
            finish_bid(call, "no wait listen")
        call.settles()
        assert len(interrupted(call)) == 3
        assert len(call.asked) == 4
        assert call.heard[-1] == ANSWER
        call.ends_well()


@pytest.mark.graveyard(8)
def test_a_model_that_speaks_by_itself_is_cut_between_its_own_pieces() -> None:
    """pipecat#4996 with a speech-to-speech model: each piece of sound brings its text, so text of a piece
    that never began to sound can't have been heard."""
    pieces = [Sound(3_000, text="Hm… "), Sound(1_000, text="I think that we should go by train. ")]
    with Staged(ScriptedBrain([pieces, "Fine."]), profile="immediate") as call:
        call.says("book a flight")
        call.plays(1_500)
        bid(call)
        finish_bid(call)
        call.settles()
        assert not any("I" in text.split() for text in call.heard)
        assert call.heard[-1] == "Fine."


@pytest.mark.graveyard(8)
@pytest.mark.parametrize("heard_ms", [100, 1_000, 2_000, 3_100])
def test_a_voice_without_word_times_is_cut_where_its_length_says(heard_ms: int) -> None:
    """pipecat#4996: no times, still no word that did not sound."""
    with Staged(ScriptedBrain([ANSWER, "Fine."]), profile="immediate", voice=ScriptedVoice(times=False)) as call:
        call.says("book a flight")
        call.plays(heard_ms)
        bid(call)
        finish_bid(call)
        call.settles()
        heard = interrupted(call)[0].text if interrupted(call) else ""
        assert ANSWER.startswith(heard)
        assert len(heard) * 60 <= heard_ms
        assert heard_ms - len(heard) * 60 <= 60 * (len("want ") + 1), "and no heard word is missing"


# -- 10: an interrupted reply, committed twice


@pytest.mark.graveyard(10)
@every_profile
def test_a_line_that_confirms_again_and_again_commits_the_reply_once(profile: str) -> None:
    """livekit/agents#2094: the interrupted answer stands twice in the context, the second time in full."""
    with Staged(ScriptedBrain([ANSWER, "Fine, later then.", "As you like."]), profile=profile) as call:
        call.says("book a flight")
        call.plays(700)
        voice = call.conversation.machine_state.voice_id
        bid(call)
        for _ in range(3):
            call.does(lambda: call.line.tell(Stopped(voice, 700))).waits(40)
        call.waits(call.settings.stop_ms_max).does(lambda: call.line.tell(Finished(voice, 9_000)))
        finish_bid(call)
        call.plays(100).does(lambda: call.line.tell(Played(voice, 9_000)))
        call.plays(400).does(lambda: call.line.tell(Finished(voice, 9_000)))
        bid(call)
        finish_bid(call, "no wait never mind")
        call.does(lambda: call.line.tell(Stopped(voice, 700))).settles()
        assert [(item.text, item.unheard) for item in interrupted(call)] == [
            ("Sure, I", "can do that for you. When do you want to go?"),
            ("Fine,", "later then."),
        ]
        assert call.heard[-1] == "As you like."
        assert len(call.told(sg.TurnInterrupted)) == 2
        call.ends_well()


# -- 14: the idle prompt over the carrier's playback


@pytest.mark.graveyard(14)
@every_profile
def test_dead_air_begins_when_the_carrier_has_played_everything(profile: str) -> None:
    """pipecat#2741: the reply is handed over faster than life, the idle timer runs while it still plays."""
    long = " ".join(["This is one more of the many things that I have to tell you today."] * 12)
    with Staged(ScriptedBrain([long]), profile=profile, settings={"dead_air_ms": 10_000}) as call:
        call.says("tell me everything")
        call.settles()
        played_ms = len(long.split()) * 60 + len(long.replace(" ", "")) * 60
        assert played_ms > 3 * call.settings.dead_air_ms
        assert call.heard[-1] == long
        asks = [effect.ask for effect in call.effects(fx.StartReply)]
        assert set(asks) == {Ask.ANSWER}, "there was no check-in"
        assert call.due(Timer.DEAD_AIR) == call.now_ms + 10_000
        call.waits(9_999)
        assert len(call.effects(fx.StartReply)) == len(asks)
        call.waits(1)
        assert [effect.ask for effect in call.effects(fx.StartReply)][len(asks) :] == [Ask.CHECK_IN]
        call.ends_well()
