"""Services that failed elsewhere, through the real driver: dead voices, deaf ears, expired sessions.

Graveyard rows 9, 17, 18 and 20. Rule: every failure is noticed by a deadline, told, and got over; every
story that the call survives ends with `ends_well`.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from duologue.brains.scripted import ScriptedBrain
from duologue.core import effects as fx
from duologue.core.leaves import Ask, ErrorClass, FaultSource, Link, User
from duologue.core.settings import POLICIES
from duologue.observe import signals as sg
from duologue.ports import (
    AgentSaid,
    CallOutput,
    Final,
    Partial,
    Request,
    ServiceError,
    Sound,
    SpeechBegan,
    SpeechEnded,
    ToolCall,
)
from duologue.ports.line import Closed, Unplayable
from duologue.runtime.agent import Phrases
from duologue.testing import Delay, Fail, Hang, ScriptedSession, ScriptedVoice, scripted_tool
from tests.graveyard.staged_call import PROFILES, Staged, TruthfulLine

ANSWER = "Sure, I can do that for you. When do you want to go?"
LIMIT_MS = 600_000
LOST_REST = "Sorry, I lost the rest of that."
SETTINGS = {"session_ms_max": LIMIT_MS, "session_warning_ms": LIMIT_MS - 30_000, "dead_air_ms": 400_000}
every_profile = pytest.mark.parametrize("profile", PROFILES)


class Faulty:
    """A voice in which something goes wrong with some sentences."""

    def __init__(self, wrong: Callable[[str], object], times: int = 1_000) -> None:
        self.wrong = wrong
        self.left = times
        self.tries = 0

    async def speak(self, text: str) -> AsyncIterator[Sound]:
        self.tries += 1
        trouble = self.wrong(text) if self.left else None
        if trouble is None:
            async for sound in ScriptedVoice().speak(text):
                yield sound
            return
        self.left -= 1
        if isinstance(trouble, BaseException):
            raise trouble
        if trouble == "hang":
            await asyncio.get_running_loop().create_future()
        if trouble == "tear":  # some sound, and then nothing more
            yield Sound(200)
            await asyncio.get_running_loop().create_future()
        if trouble == "break":  # 400 ms of the sentence, and then an error
            whole = [sound async for sound in ScriptedVoice().speak(text)]
            for sound in whole[:2]:
                yield sound
            raise OSError("reset by peer")


def faults(call: Staged) -> list[tuple[FaultSource, ErrorClass]]:
    return [(fault.part, fault.error) for fault in call.told(sg.Failed)]


# -- 9: silent deaths, and text that was never spoken


@pytest.mark.graveyard(9)
@every_profile
def test_a_voice_that_dies_in_mid_reply_is_noticed_by_deadline_and_told(profile: str) -> None:
    """pipecat#5305: a silent socket death of the voice, 66 s of dead air, and no error."""
    voice = Faulty(lambda text: "tear" if "When" in text else None, times=1)
    with Staged(ScriptedBrain([ANSWER]), profile=profile, voice=voice) as call:
        call.says("book a flight")
        asked_at = call.now_ms
        call.until(lambda: bool(call.told(sg.Problem)))
        assert call.told(sg.Problem)[0].at == asked_at + call.settings.attempt_ms_max
        assert "NETWORK_TIMEOUT" in call.told(sg.Problem)[0].what
        call.settles()
        assert call.heard[-1] == f"Sure, I can do that for you. {LOST_REST}"
        assert faults(call) == []
        assert not any("When" in text for text in call.heard)
        assert call.asked == ["book a flight"]
        call.ends_well()


@pytest.mark.graveyard(9)
@every_profile
def test_a_voice_that_never_begins_is_noticed_by_the_deadline_of_the_answer(profile: str) -> None:
    """pipecat#5305: not a single sound comes; the user must not wait longer than 30 s to be told."""
    voice = Faulty(lambda text: "hang" if "Sure" in text else None, times=1)
    with Staged(ScriptedBrain([ANSWER]), profile=profile, voice=voice) as call:
        call.says("book a flight")
        asked_at = call.when(fx.StartReply)[-1]
        call.until(lambda: bool(faults(call)))
        assert call.told(sg.Failed)[0].at <= asked_at + call.settings.answer_ms_max
        assert not any("Sure" in text for text in call.heard)
        assert not any(isinstance(item, AgentSaid) and "Sure" in item.text for item in call.history)
        call.does(call.conversation.retry).settles()
        assert call.asked == ["book a flight", "book a flight"]
        assert call.told(sg.Lost) == []
        call.ends_well()


@pytest.mark.graveyard(9)
@every_profile
def test_a_voice_that_gives_no_sound_for_a_text_has_failed(profile: str) -> None:
    """pipecat#5426: text goes to a dead voice, nothing is spoken, and the turn counts as answered."""
    voice = Faulty(lambda text: "mute" if "Sure" in text or "When" in text else None, times=2)
    with Staged(ScriptedBrain([ANSWER, "Here I am."]), profile=profile, voice=voice) as call:
        call.says("book a flight")
        call.waits(9_000)
        retried, told = len(call.asked) > 1, bool(faults(call) or call.told(sg.Lost))
        assert retried or told, "nothing was heard, and no fault was reported"
        call.waits(6_000).settles()
        call.ends_well()


@pytest.mark.graveyard(9)
def test_a_sentence_without_sound_between_two_others_is_not_history() -> None:
    """pipecat#5426: text that was never spoken is committed, because what follows it was heard."""
    voice = Faulty(lambda text: "mute" if "gone" in text else None)
    with Staged(ScriptedBrain(["One is fine. Two is gone. Three is here."]), voice=voice) as call:
        call.says("count for me")
        call.settles()
        assert call.truth.heard == ["One is fine. Three is here."]
        assert call.heard == call.truth.heard
        call.ends_well()


@pytest.mark.graveyard(9)
@every_profile
@pytest.mark.parametrize("sentence", ["Sure", "When"], ids=["first", "second"])
def test_a_voice_that_breaks_in_mid_sentence_commits_only_what_sounded(profile: str, sentence: str) -> None:
    """pipecat#5426: half a sentence is spoken, then the voice fails, and the whole of it is committed."""
    voice = Faulty(lambda text: "break" if sentence in text else None, times=1)
    with Staged(ScriptedBrain([ANSWER]), profile=profile, voice=voice) as call:
        call.says("book a flight")
        call.settles()
        assert call.asked == ["book a flight"], "it was being heard: it is not retried"
        assert not any("go?" in text for text in call.truth.heard)
        assert call.heard == call.truth.heard
        assert "voice" in [problem.where for problem in call.told(sg.Problem)]
        call.ends_well()


@pytest.mark.graveyard(9)
@pytest.mark.parametrize("heard_first", [False, True], ids=["before-a-word", "in-mid-reply"])
def test_a_brain_that_hangs_is_noticed_told_and_got_over(heard_first: bool) -> None:
    """pipecat#5305 for the brain: it accepts the request and never comes back."""
    hanging = [*(["Sure, I can."] if heard_first else []), Hang()]
    with Staged(ScriptedBrain({"book": hanging})) as call:
        call.says("book a flight")
        asked_at = call.now_ms
        if heard_first:
            call.until(lambda: bool(call.told(sg.Problem)))
            assert call.told(sg.Problem)[0].at == asked_at + call.settings.attempt_ms_max
            call.settles()
            assert call.heard == [f"Sure, I can. {LOST_REST}"]
            assert faults(call) == call.told(sg.Lost) == []
        else:
            call.until(lambda: bool(faults(call)))
            assert call.told(sg.Failed)[0].at == asked_at + call.settings.answer_ms_max
            assert call.conversation.phase == "error"
            call.waits(call.settings.dismiss_ms + 100)
            assert call.told(sg.Lost) == [], "it is asked again by itself"
            call.until(lambda: bool(call.told(sg.Lost)))
            assert [lost.texts for lost in call.told(sg.Lost)] == [("book a flight",)]
            assert len(faults(call)) == 2
            call.waits(call.settings.dismiss_ms + 100)
            assert call.heard == []
        assert len(call.brain.cancelled) == len(call.brain.requests), "nothing of it still runs"
        call.settles()
        call.ends_well()


class Frozen(TruthfulLine):
    """Takes everything and plays nothing, until it is thawed."""

    frozen = True

    def play(self, voice: int, chunk: int, sound: Sound) -> None:
        if not self.frozen:
            super().play(voice, chunk, sound)

    def finish(self, voice: int) -> None:
        if not self.frozen:
            super().finish(voice)


@pytest.mark.graveyard(9)
@every_profile
def test_a_line_that_swallows_everything_is_noticed_and_nothing_of_it_is_history(profile: str) -> None:
    """pipecat#5426: the transport is dead and takes every frame; the text becomes history."""
    line = Frozen()
    line.frozen = False
    with Staged(ScriptedBrain([ANSWER, "Here I am."]), profile=profile, line=line) as call:
        line.frozen = True
        call.says("book a flight")
        began_at = call.now_ms
        call.until(lambda: bool(faults(call)))
        assert call.told(sg.Failed)[0].at == began_at + call.settings.stall_ms_max
        assert faults(call) == [(FaultSource.VOICE, ErrorClass.NETWORK_TIMEOUT)]
        assert not any("Sure" in text for text in call.heard)
        line.frozen = False
        call.does(call.conversation.retry).settles()
        assert call.asked == ["book a flight", "book a flight"]
        assert call.heard[-1] == "Here I am."
        call.ends_well()


# -- 17: a request that loses a race


@pytest.mark.graveyard(17)
@every_profile
def test_a_rejected_request_is_asked_again_and_heard_once(profile: str) -> None:
    """livekit/agents#6817: the rejection of a requested reply is not tied to it, and it dies as a 10 s
    timeout."""
    brain = ScriptedBrain([Fail(ErrorClass.SERVER_ERROR), "Still with me?"])
    silent = Phrases("Hello there!" if profile == "words" else "", (), "")
    with Staged(brain, profile=profile, settings={"dead_air_ms": 10_000}, phrases=silent) as call:
        call.waits(10_000)
        assert [effect.ask for effect in call.effects(fx.StartReply)][-1] is Ask.CHECK_IN
        rejected_at = call.now_ms
        call.settles()
        assert call.when(fx.StartReply)[-1] == rejected_at + call.settings.retry_ms[0]
        assert len(call.brain.requests) == 2
        assert call.heard[-1] == "Still with me?"
        assert faults(call) == []


class Late(ScriptedBrain):
    """Fails its first request only after it was cancelled."""

    async def reply(self, request: Any) -> AsyncIterator[Any]:
        self.requests.append(request)
        if len(self.requests) > 1:
            yield ANSWER
            return
        try:
            await asyncio.sleep(30)
        except asyncio.CancelledError:
            self.cancelled.append(request.reply)
            await asyncio.sleep(0.9)
            yield "This is an old story. "
            raise OSError("rejected: a response is active") from None


@pytest.mark.graveyard(17)
@every_profile
def test_the_late_error_of_a_superseded_request_does_not_hurt_the_new_one(profile: str) -> None:
    """livekit/agents#6817: two writers start a response at the same moment."""
    with Staged(Late(), profile=profile) as call:
        call.says("book a flight")
        call.waits(500).says("to Rome please")
        call.waits(2_000).settles()
        assert call.asked == ["book a flight", "book a flight to Rome please"]
        assert call.heard[-1] == ANSWER
        assert faults(call) == []
        assert len(call.when(fx.CancelReply)) == 1
        call.ends_well()


# -- 18: one error policy for every service

CLASSES = [error for error in ErrorClass if error not in (ErrorClass.AUTH_FAILURE, ErrorClass.SESSION_EXPIRED)]


def attempts_of(service: str, error: ErrorClass) -> tuple[list[int], list[tuple[FaultSource, ErrorClass]]]:
    """Let this service fail in this way again and again: when it was tried, and which faults were told."""
    failure = ServiceError(error)
    voice = Faulty(lambda text: failure if service == "voice" and "Sure" in text else None)
    brain = ScriptedBrain(otherwise=Fail(error) if service == "brain" else ANSWER)
    with Staged(brain, voice=voice, settings={"dead_air_ms": 300_000}) as call:
        tried: list[int] = []
        if service == "ears":
            starts, began_at = 0, call.now_ms
            while not faults(call) and call.now_ms < began_at + 20_000:
                if call.person.ears.starts > starts:
                    starts = call.person.ears.starts
                    tried.append(call.now_ms)
                    call.does(lambda: call.person.ears.fail(failure))
                call.waits(100)
        else:
            call.says("book a flight")
            began_at = call.now_ms
            call.until(lambda: bool(faults(call)), 20_000)
            tried = call.when(fx.StartReply)
        return [at - tried[0] for at in tried], faults(call)


@pytest.mark.graveyard(18)
@pytest.mark.parametrize("error", CLASSES, ids=lambda error: error.value)
@pytest.mark.parametrize("service", ["brain", "voice", "ears"])
def test_every_service_has_the_same_patience(service: str, error: ErrorClass) -> None:
    """livekit/agents#5665 and #2897: the first error of the transcriber ends the call, while the others
    have a tolerance."""
    tried, told = attempts_of(service, error)
    retries = min(POLICIES[error].retries_max, 3)
    assert tried == [0, 1_000, 3_000, 7_000][: retries + 1]
    assert [(told_error) for _, told_error in told] == [error]


@pytest.mark.graveyard(18)
@pytest.mark.parametrize("service", ["brain", "voice", "ears"])
def test_a_fault_names_the_service_that_failed(service: str) -> None:
    """livekit/agents#5665: an error must be told so that somebody can act on it; "the brain does not
    answer" sends them to the wrong place when it is the voice."""
    _, told = attempts_of(service, ErrorClass.UNKNOWN)
    assert told == [(FaultSource(service), ErrorClass.UNKNOWN)]


@pytest.mark.graveyard(18)
@pytest.mark.parametrize("service", ["brain", "voice", "ears"])
def test_a_service_that_refuses_the_credentials_ends_the_call_and_says_so(service: str) -> None:
    """livekit/agents#2897: a fatal error ends the call whichever service has it, and it is told first."""
    failure = ServiceError(ErrorClass.AUTH_FAILURE)
    voice = Faulty(lambda text: failure if service == "voice" and "Sure" in text else None)
    brain = ScriptedBrain(otherwise=Fail(ErrorClass.AUTH_FAILURE) if service == "brain" else ANSWER)
    with Staged(brain, voice=voice) as call:
        if service == "ears":
            call.does(lambda: call.person.ears.fail(failure))
        else:
            call.says("book a flight")
        call.waits(call.settings.fatal_ms + 1_500).expect_ended()
        assert [cue.cue for cue in call.told(sg.CueGiven)][-1] == "ended"
        assert [(fault.error, fault.fatal) for fault in call.told(sg.Failed)] == [(ErrorClass.AUTH_FAILURE, True)]
        assert [lost.texts for lost in call.told(sg.Lost)] == ([] if service == "ears" else [("book a flight",)])
        assert len(call.told(sg.Ended)) == 1


@pytest.mark.graveyard(18)
@every_profile
def test_ears_that_fail_once_cost_neither_the_reply_nor_the_call(profile: str) -> None:
    """livekit/agents#5665: the first STT error ends the call. Here the agent just goes on speaking."""
    with Staged(ScriptedBrain([ANSWER]), profile=profile) as call:
        call.says("book a flight")
        call.plays(900).does(lambda: call.person.ears.fail(OSError("reset by peer")))
        call.settles()
        assert call.heard[-1] == ANSWER
        assert call.acts("hold", "clear") == []
        call.waits(1_000)
        assert call.person.ears.starts == 2
        assert faults(call) == []
        assert [problem.where for problem in call.told(sg.Problem)] == ["ears"]
        call.ends_well()


@pytest.mark.graveyard(18)
@every_profile
def test_ears_that_fail_for_good_are_told_and_listen_again_after_the_fault(profile: str) -> None:
    """livekit/agents#2897: after the error nobody listens any more."""
    with Staged(ScriptedBrain(otherwise=ANSWER), profile=profile) as call:
        call.does(lambda: call.person.ears.fail(ValueError("nonsense")))
        assert faults(call) == [(FaultSource.EARS, ErrorClass.UNKNOWN)]
        assert call.conversation.phase == "error"
        call.waits(call.settings.dismiss_ms + 10)
        assert call.conversation.phase == "listening"
        assert call.person.ears.starts == 2
        call.ends_well()


@pytest.mark.graveyard(18)
@every_profile
@pytest.mark.parametrize("words", [True, False], ids=["with-words", "without-words"])
def test_ears_that_die_in_mid_utterance_leave_no_turn_open_for_ever(profile: str, words: bool) -> None:
    """livekit/agents#5665: the transcriber dies while the user speaks. Whoever listens next knows nothing
    of that utterance; the turn ends with the words there are, as if the sound had ended."""
    with Staged(ScriptedBrain(otherwise=ANSWER), profile=profile) as call:
        call.begins_speaking().waits(500)
        if words:
            call.partial_text("book a flight")
        call.waits(250).does(lambda: call.person.ears.fail(OSError("reset by peer")))
        died_at = call.now_ms
        call.waits(call.settings.settle_ms_max + call.settings.text_ms_max + 1_000)
        assert call.conversation.machine_state.user is User.QUIET
        assert call.asked == (["book a flight"] if words else [])
        assert not words or call.when(fx.StartReply)[-1] <= died_at + 6_000
        call.settles()
        call.ends_well()


@pytest.mark.graveyard(18)
@pytest.mark.parametrize("profile", ["confirm", "words"])
def test_ears_that_count_from_one_again_after_a_failure_are_understood(profile: str) -> None:
    """livekit/agents#5665: the new connection of a transcriber numbers its utterances from 1 again; a barge-in
    through it must work as before."""
    with Staged(ScriptedBrain(otherwise=ANSWER), profile=profile) as call:
        call.says("book a flight")
        call.plays(200).does(lambda: call.person.ears.fail(OSError("reset by peer")))
        call.plays(1_500).ears_report(SpeechBegan(1), Partial("no wait", utterance=1))
        assert [at for at, _ in call.acts("clear")] == [call.now_ms], "at the second word"
        call.waits(400).ears_report(SpeechEnded(1)).waits(100).ears_report(
            Final("no wait please", utterance=1)
        ).settles()
        assert call.asked == call.said == ["book a flight", "no wait please"]
        assert call.heard[-1] == ANSWER
        call.ends_well()


@pytest.mark.graveyard(18)
@every_profile
def test_a_line_that_can_not_play_is_told_and_the_question_is_reported(profile: str) -> None:
    """livekit/agents#2897 for the line: it has its fault like every service, and the next answer comes after it."""
    with Staged(ScriptedBrain([ANSWER, "Here I am."], first_ms=50), profile=profile) as call:
        call.says("book a flight")
        call.waits(50).does(lambda: call.line.tell(Unplayable(call.conversation.machine_state.voice_id)))
        assert faults(call) == [(FaultSource.VOICE, ErrorClass.UNKNOWN)]
        assert [lost.texts for lost in call.told(sg.Lost)] == [("book a flight",)]
        assert call.told(sg.CueGiven)[-1].cue == "apology"
        call.does(call.conversation.retry).settles()
        assert call.asked == ["book a flight"]
        call.ends_well(heard_exactly=False)


@pytest.mark.graveyard(18)
@pytest.mark.parametrize("service", ["brain", "voice", "ears"])
def test_an_expired_session_of_any_service_means_a_new_one_and_no_fault(service: str) -> None:
    """livekit/agents#2897: the same class of error means the same for everybody."""
    failure = ServiceError(ErrorClass.SESSION_EXPIRED)
    voice = Faulty(lambda text: failure if service == "voice" and "Sure" in text else None, times=1)
    brain = ScriptedBrain([Fail(ErrorClass.SESSION_EXPIRED)] if service == "brain" else [], otherwise=ANSWER)
    with Staged(brain, voice=voice) as call:
        if service == "ears":
            call.does(lambda: call.person.ears.fail(failure)).waits(2_000).says("book a flight")
        else:
            call.says("book a flight")
        call.waits(3_000).settles()
        assert faults(call) == []
        assert call.line.opens == 2
        assert call.heard == [ANSWER]
        assert call.person.ears.starts == (2 if service == "ears" else 1)
        call.ends_well()


# -- 20: the session's limit


def talk_until_the_limit(call: Staged, early_ms: int) -> None:
    """Two turns, and then silence until shortly before the session's limit."""
    opened_at = next(record.event.at for record in call.records if record.after.link is Link.UP)
    call.says("book a flight").settles()
    call.waits(opened_at + LIMIT_MS // 2 - call.now_ms).says("I am still here").settles()
    call.waits(opened_at + LIMIT_MS - early_ms - call.now_ms)


@pytest.mark.graveyard(20)
@every_profile
def test_a_session_is_renewed_in_mid_sentence_and_not_a_word_is_lost(profile: str) -> None:
    """pipecat#3170: the realtime session ends after its maximal duration, and the conversation with it."""
    session = ScriptedSession(renew_ms=700)
    brain = ScriptedBrain(otherwise=ANSWER)
    with Staged(brain, profile=profile, session=lambda: session, settings=SETTINGS) as call:
        talk_until_the_limit(call, early_ms=1_500)
        call.says("and a train")
        call.until(lambda: bool(call.when(fx.RenewSession)))
        assert call.conversation.phase == "speaking"
        call.settles()
        assert call.acts("hold", "resume", "clear") == []
        assert call.when(fx.RestoreContext)[-1] == call.when(fx.RenewSession)[0] + 700
        assert {record.after.link for record in call.records} <= {Link.PREPARING, Link.UP}
        assert call.heard[-2:] == [ANSWER, ANSWER]
        assert call.asked == ["book a flight", "I am still here", "and a train"]
        assert session.renewals == 1
        context = session.contexts[-1]
        assert context is not None
        assert "User: book a flight" in context.summary
        assert [item.text for item in context.recent if isinstance(item, AgentSaid)][-2:][:1] == [ANSWER]
        assert call.line.opens == 1
        call.ends_well()


@pytest.mark.graveyard(20)
def test_the_old_session_that_goes_during_its_renewal_is_not_missed() -> None:
    """pipecat#3170: at its limit the service closes the old session while the next one is being made."""
    session = ScriptedSession(renew_ms=700)
    with Staged(ScriptedBrain(otherwise=ANSWER), session=lambda: session, settings=SETTINGS) as call:
        talk_until_the_limit(call, early_ms=2_000)
        call.says("and a train")
        call.until(lambda: bool(call.when(fx.RenewSession)))
        call.waits(100).does(lambda: session.tell(Closed())).waits(600).settles()
        assert call.heard == [ANSWER, ANSWER, ANSWER]
        assert call.line.opens == 1
        call.ends_well()


@pytest.mark.graveyard(20)
@every_profile
@pytest.mark.parametrize("tool_ms", [1_999, 2_000, 2_001, 2_350, 2_699, 2_700, 2_701])
def test_a_tool_that_ends_during_the_renewal_is_told_once_after_it(profile: str, tool_ms: int) -> None:
    """livekit/agents#2358: what comes in while the session changes hands is lost. The tool ends around
    the beginning, in the middle and around the end of the renewal."""
    session, worker = ScriptedSession(renew_ms=700), scripted_tool("look_up", Delay(tool_ms), "three")
    brain = ScriptedBrain(lambda request: [ToolCall("look_up")] if _is_new(request) else "There are three.")
    with Staged(brain, worker, profile=profile, session=lambda: session, settings=SETTINGS) as call:
        talk_until_the_limit(call, early_ms=2_000 + 1_400)
        call.says("is there a room")
        call.waits(6_000).settles()
        assert session.renewals == 1
        assert [item.output for item in call.history if isinstance(item, CallOutput)] == ["three"]
        assert call.asked[2:] == ["is there a room", ""], "the call has dealt with the words"
        assert call.heard[-1] == "There are three."
        assert len(worker.calls) == 1
        call.ends_well()


def _is_new(request: Request) -> bool:
    """Is this the question about the room, before anybody looked it up?"""
    return "room" in request.text and not any(isinstance(item, CallOutput) for item in request.history)


@pytest.mark.graveyard(20)
@every_profile
@pytest.mark.parametrize("trouble", ["fails", "hangs"])
def test_a_renewal_that_fails_becomes_a_reconnection_and_loses_no_words(profile: str, trouble: str) -> None:
    """livekit/agents#1252: there is no way to put the conversation into a fresh connection."""
    session = ScriptedSession(renew_ms=200 if trouble == "fails" else 300_000)
    session.renew_failures = [TimeoutError()]
    with Staged(ScriptedBrain(otherwise=ANSWER), profile=profile, session=lambda: session, settings=SETTINGS) as call:
        talk_until_the_limit(call, early_ms=100)
        call.begins_speaking().waits(200).partial_text("and a").waits(300).stops_speaking().waits(100)
        call.final_text("and a train").waits(40_000).settles()
        assert call.asked == ["book a flight", "I am still here", "and a train"]
        assert call.heard[-1] == ANSWER
        assert call.told(sg.Lost) == []
        assert faults(call) == []
        assert session.opens == 2
        assert session.contexts[-1] is not None
        assert "User: book a flight" in session.contexts[-1].summary
        call.ends_well()


@pytest.mark.graveyard(20)
@every_profile
@pytest.mark.parametrize("after", ["a-word", "no-word"])
def test_an_expired_session_is_replaced_and_the_open_turn_is_asked_again(profile: str, after: str) -> None:
    """livekit/agents#2358: "your session hit the maximum duration", and the agent is gone."""
    expired = [*(["Sure."] if after == "a-word" else []), Delay(400), Fail(ErrorClass.SESSION_EXPIRED)]
    with Staged(ScriptedBrain([expired], otherwise=ANSWER), profile=profile) as call:
        call.says("book a flight")
        call.waits(4_000).settles()
        assert call.line.opens == 2
        assert faults(call) == []
        if after == "a-word":  # it was being answered: it is not asked again (M-12)
            assert call.asked == ["book a flight"]
        else:
            assert call.asked == ["book a flight", "book a flight"]
            assert call.heard[-1] == ANSWER
        assert call.told(sg.Lost) == []
        call.ends_well(heard_exactly=False)
