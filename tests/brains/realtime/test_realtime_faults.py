"""A conversation goes on when its Realtime server fails, is lost or is renewed."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from duologue import Phrases
from duologue.core.leaves import TIMER_INDEX, Link, Timer
from duologue.observe import signals as sg
from duologue.ports import AgentSaid
from duologue.ports.sound import Sound
from duologue.replay.journal import read_journal, replay
from duologue.testing.realtime.server import BreakDown, FallSilent, ProtocolFault, RealtimeServer, Speak
from tests.brains.realtime_call import QUICK_RETRIES, RealtimeCall, ask, converse, links


def replays(path: Path) -> bool:
    with path.open(encoding="utf-8") as lines:
        return len(list(replay(read_journal(lines)))) > 10


# -- Errors


@pytest.mark.req("L-12", "L-13")
def test_a_request_is_repeated_after_a_rate_limit() -> None:
    async def act(call: RealtimeCall) -> None:
        await ask(call)
        assert call.model.limits == (("requests", 999, 0.06),), "as the server reported them"

    faults = [ProtocolFault("refused", "response.create", times=2, code="rate_limit_exceeded")]
    call = converse(act, RealtimeServer(faults=faults), machine=QUICK_RETRIES)
    assert call.heard == ["I see."]
    assert len(call.server.got("response.create")) == 3


@pytest.mark.req("L-12")
def test_a_response_that_fails_before_any_sound_is_requested_again() -> None:
    call = converse(ask, RealtimeServer([BreakDown(), Speak("Now it works.")]), machine=QUICK_RETRIES)
    assert call.heard == ["Now it works."]


def test_a_response_that_fails_while_it_is_heard_is_explained_in_the_same_voice() -> None:
    async def act(call: RealtimeCall) -> None:
        call.conversation.type("hello")
        await call.until(lambda: call.heard)
        await call.rests()

    server = RealtimeServer([[Speak("There are two.", ms=1_200, paced=True), BreakDown()]])
    call = converse(act, server, phrases=Phrases(broken_off="I lost the rest."))
    assert call.heard == ["There are two. I lost the rest."]


# -- Losing the line


@pytest.mark.req("L-14", "M-12")
def test_a_lost_connection_is_restored_and_the_question_asked_again(tmp_path: Path) -> None:
    async def act(call: RealtimeCall) -> None:
        call.conversation.type("my name is Ada")
        await call.rests()
        call.conversation.type("what is my name")
        await call.until(lambda: len(call.server.gave("response.created")) == 2)
        call.server.session.hang_up()
        await call.until(lambda: "Ada." in call.heard)
        await call.rests()

    server = RealtimeServer([Speak("Hello Ada."), FallSilent(), Speak("Ada.")])
    call = converse(act, server, journal=tmp_path / "call.jsonl")
    assert call.heard == ["Hello Ada.", "Ada."]
    assert links(call) == [Link.PREPARING, Link.UP, Link.BACKING_OFF, Link.RECONNECTING, Link.UP]
    restored = [(item["role"], item["content"][0].get("text")) for item in server.session.items[:-1]]
    assert restored == [("user", "my name is Ada"), ("assistant", "Hello Ada."), ("user", "what is my name")]
    assert call.signals_of(sg.Lost) == []
    assert replays(tmp_path / "call.jsonl")


def test_a_loss_in_the_middle_of_speech_keeps_what_was_heard() -> None:
    async def act(call: RealtimeCall) -> None:
        call.conversation.type("tell me")
        await call.until(lambda: call.line.heard_ms >= 700)
        call.server.session.hang_up()
        await call.until(lambda: len(call.server.sessions) == 2)
        await call.until(lambda: call.conversation.machine_state.link is Link.UP)
        await call.rests()
        call.conversation.type("go on")
        await call.until(lambda: call.heard[-1] == "I see.")

    text = "There are two flights today and one of them leaves very early."
    call = converse(act, RealtimeServer([Speak(text, ms=4_000, paced=True)]))
    (cut,) = [item for item in call.conversation.history if isinstance(item, AgentSaid) and item.interrupted]
    assert text.startswith(cut.text)
    restored = [item["content"][0].get("text") for item in call.server.session.items]
    assert restored[:3] == ["tell me", cut.text, "go on"]


@pytest.mark.req("L-12", "L-14")
def test_an_expired_session_is_replaced_with_its_context() -> None:
    async def act(call: RealtimeCall) -> None:
        await ask(call)
        await call.server.session.expire()
        await call.until(lambda: len(call.server.sessions) == 2)
        await call.until(lambda: call.conversation.machine_state.link is Link.UP)
        call.conversation.type("and now")
        await call.until(lambda: len(call.heard) == 2)

    call = converse(act)
    assert call.heard == ["I see.", "I see."]
    assert [item["role"] for item in call.server.session.items] == ["user", "assistant", "user", "assistant"]


# -- Renewing


@pytest.mark.req("H-10.summary")
@pytest.mark.req("L-16.times", "L-16.session", "C-AC-005", "M-07.renewed")
def test_a_session_is_renewed_before_its_limit_with_the_summary(tmp_path: Path) -> None:
    async def act(call: RealtimeCall) -> None:
        call.conversation.type("my name is Ada")
        await call.rests()
        await call.until(lambda: len(call.server.sessions) == 2)
        await call.until(lambda: call.conversation.machine_state.due[TIMER_INDEX[Timer.SESSION_LIMIT]])
        call.conversation.type("what is my name")
        await call.until(lambda: "Ada." in call.heard)

    machine = {"session_ms_max": 1_500, "session_warning_ms": 900}
    server = RealtimeServer([Speak("Hello Ada.", ms=200), Speak("Ada.", ms=200)])
    call = converse(act, server, machine=machine, journal=tmp_path / "call.jsonl")
    assert call.heard == ["Hello Ada.", "Ada."]
    assert set(links(call)) == {Link.PREPARING, Link.UP}, "the renewal shows as nothing"
    second = server.sessions[1].items
    assert second[0]["role"] == "system"
    assert "In short:" in second[0]["content"][0]["text"], "the model made the summary itself"
    assert [item["role"] for item in second[1:4]] == ["user", "assistant", "user"]
    assert replays(tmp_path / "call.jsonl")


@pytest.mark.req("L-16", "H-10.silent")
def test_a_renewal_is_not_heard() -> None:
    """The agent speaks when the limit comes, and goes on while the next session is opened."""

    async def act(call: RealtimeCall) -> None:
        call.conversation.type("tell me")
        await call.until(lambda: len(call.server.sessions) == 2)
        assert call.conversation.machine_state.voice.value == "playing"
        await call.until(lambda: call.heard)
        await call.rests()

    text = "This is a rather long answer that goes on while the session is renewed."
    server = RealtimeServer([Speak(text, ms=6_000, paced=True)])
    machine = {"session_ms_max": 3_000, "session_warning_ms": 1_500}  # so late that the answer has begun on any machine
    call = converse(act, server, machine=machine)
    assert call.heard == [text]
    assert [event["response"]["status"] for event in server.gave("response.done")][-1] == "completed"
    assert not server.got("response.cancel")
    assert {act.what for act in call.line.log} & {"hold", "clear"} == set()
    assert set(links(call)) == {Link.PREPARING, Link.UP}


STORY = "Once there was a fox. It lived in a wood. One day it met a bear. They became friends."


def _text_of(item: dict[str, Any]) -> str:
    return " ".join(part.get("text") or part.get("transcript") or "" for part in item.get("content", ()))


def _answer_from(items: list[dict[str, Any]]) -> Speak:
    """The answer of a model that knows only what is in its own session."""
    asked = _text_of([item for item in items if item.get("role") == "user"][-1])
    known = " ".join(map(_text_of, items))
    if asked == "tell me a story":
        return Speak(STORY, ms=6_000, paced=True)
    if asked == "what is my name":
        return Speak("Your name is Ada." if "my name is Ada" in known else "I don't know your name.")
    if asked == "who met the fox":
        return Speak("A bear met it." if STORY in known else "I told you of no fox.")
    return Speak("Good.")


@pytest.mark.req("H-10.summary", "H-10.silent", "L-16.summary", "L-16.unnoticed", "C-AC-005", "C-REQ-008")
def test_a_renewal_in_the_middle_of_an_answer_is_not_noticed_and_forgets_nothing() -> None:
    """Every sample of the answer is played once and without a gap, the sessions change after it, and the new session
    knows the name that was given more turns ago than are restored word for word."""
    samples: dict[int, bytes] = {}

    async def act(call: RealtimeCall) -> None:
        play = call.line.play

        def record(voice: int, chunk: int, sound: Sound) -> None:
            samples[voice] = samples.get(voice, b"") + sound.pcm
            play(voice, chunk, sound)

        call.line.play = record  # type: ignore[method-assign]
        for text in ("my name is Ada", *(f"this is number {number}" for number in range(1, 13))):
            call.conversation.type(text)
            await call.until(lambda text=text: text in call.said)
            await call.rests()
        limit = call.conversation.machine_state.due[TIMER_INDEX[Timer.SESSION_LIMIT]]
        await asyncio.sleep((limit - call.conversation.machine_state.at) / 1000 - 3.0)
        assert len(call.server.sessions) == 1
        call.conversation.type("tell me a story")
        await call.until(lambda: len(call.server.sessions) == 2)
        assert call.conversation.machine_state.voice.value == "playing"
        await call.until(lambda: STORY in call.heard)
        await call.rests()
        for text in ("what is my name", "who met the fox"):
            call.conversation.type(text)
            await call.until(lambda text=text: text in call.said)
            await call.rests()

    server = RealtimeServer(_answer_from)
    call = converse(act, server, machine={"session_ms_max": 60_000, "session_warning_ms": 45_000})
    assert call.heard[-3:] == [STORY, "Your name is Ada.", "A bear met it."]
    story = max(samples, key=lambda voice: len(samples[voice]))
    stretches = [one for one in call.line.sounded if one.what == "voice" and one.number == story]
    assert len(samples[story]) == 6_000 * 48, "every sample, and each of them once"
    assert sum(one.end_ms - one.start_ms for one in stretches) == 6_000
    (around,) = [one for one in stretches if one.end_ms > 59_000]
    assert around.start_ms < 59_000 < 61_000 < around.end_ms, "one stretch of sound, from before the limit to the end"
    assert {act.what for act in call.line.log} & {"hold", "resume", "clear"} == set()
    first, second = (list(map(_text_of, session.items)) for session in server.sessions)
    assert STORY in first, "the old session finished its answer"
    assert "my name is Ada" in second[0]
    assert not any("Ada" in text for text in second[1:11]), "the name isn't among the turns that are restored"
    assert set(links(call)) == {Link.PREPARING, Link.UP}
    states = {one.state for one in call.signals_of(sg.StateEntered) if one.view == "conversation"}
    assert "suspended" not in states


@pytest.mark.req("M-18")
def test_audio_that_comes_while_there_is_no_session_is_kept_for_the_next() -> None:
    async def act(call: RealtimeCall) -> None:
        call.server.session.hang_up()
        await call.until(lambda: call.conversation.machine_state.link is Link.BACKING_OFF)
        call.server.hears.append("are you there")
        call.sound(300)
        call.sound(600, level=0)
        await call.until(lambda: call.said == ["are you there"])
        await call.rests()

    call = converse(act, machine={"backoff_ms": (200, 300, 400)})
    assert call.heard == ["I see."]


def test_speech_without_a_transcript_is_answered_and_not_sent_again_as_text() -> None:
    async def act(call: RealtimeCall) -> None:
        session = call.server.session
        await session.begin_speech()
        item = call.server.gave("input_audio_buffer.speech_started")[-1]["item_id"]
        await session.send("input_audio_buffer.speech_stopped", audio_end_ms=0, item_id=item)
        await session.send("input_audio_buffer.committed", item_id=item)
        kind = "conversation.item.input_audio_transcription.failed"
        await session.send(kind, item_id=item, content_index=0, error={"type": "x", "message": "no text"})
        await call.until(lambda: call.heard)

    call = converse(act)
    assert call.said == ["[not transcribed]"]
    assert call.heard == ["I see."]
    assert call.server.got("conversation.item.create") == []
