"""What a program can ask of a conversation and what it is told (C-API, L-20, L-21)."""

from __future__ import annotations

import asyncio
from dataclasses import asdict
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from duologue.core import events as ev
from duologue.core.leaves import ErrorClass
from duologue.core.views import PHASES
from duologue.observe import signals as sg
from duologue.observe.labels import LANGUAGES, WAITS, label
from duologue.observe.recorder import words_path
from duologue.ports import Finished, Played, ToolCall
from duologue.ports.ears import Final, Partial, SpeechBegan, SpeechEnded
from duologue.replay.journal import read_journal, replay
from duologue.testing import Delay, Fail, Hang, ScriptedBrain, ScriptedLine, scripted_tool
from tests.runtime.runtime_fakes import Stage, play

TWO = "Here is the first sentence. And here comes the second one, which is longer."


async def talk(stage: Stage) -> None:
    """A whole life: a turn, an interruption, a tool, a fault."""
    await stage.say("hello there")
    await stage.sleep(700)
    await stage.say("no stop it please")
    await stage.rest()
    await stage.say("use the tool")
    await stage.rest()
    await stage.say("break down")
    await stage.rest()


def talker() -> tuple[ScriptedBrain, dict[str, Any]]:
    brain = ScriptedBrain([TWO, "Fine.", ToolCall("work"), "Used.", Fail(ErrorClass.UNKNOWN)])
    return brain, {"tools": [scripted_tool("work", Delay(1_000), "the tool's secret result")]}


@pytest.mark.req("L-21", "C-REQ-010")
def test_every_move_is_told_as_exit_transition_and_enter_in_this_order() -> None:
    async def scene(stage: Stage) -> None:
        await talk(stage)
        for view in ("conversation", "lifecycle"):
            moves = [
                s
                for s in stage.signals
                if isinstance(s, sg.StateExited | sg.Transitioned | sg.StateEntered) and s.view == view
            ]
            assert len(moves) % 3 == 0
            entered_at = 0
            for exited, moved, entered in zip(moves[::3], moves[1::3], moves[2::3], strict=True):
                assert isinstance(exited, sg.StateExited)
                assert isinstance(moved, sg.Transitioned)
                assert isinstance(entered, sg.StateEntered)
                assert exited.at == moved.at == entered.at
                assert (exited.state, entered.state) == (moved.source, moved.target)
                assert exited.duration_ms == moved.at - entered_at
                assert moved.cause
                assert entered.context["session"] >= 0
                entered_at = moved.at

    brain, agent = talker()
    play(scene, brain, **agent)


@pytest.mark.req("L-21", "C-PAT-002")
def test_timeouts_errors_and_recoveries_are_on_the_bus() -> None:
    async def scene(stage: Stage) -> None:
        errors: list[sg.Failed] = []
        stage.conversation.on_error(errors.append)
        await talk(stage)
        assert [error.error for error in errors] == [ErrorClass.UNKNOWN]
        assert errors[0].hint
        assert "dismiss" in [signal.timer for signal in stage.told(sg.TimedOut)]
        assert "fault" in [signal.source for signal in stage.told(sg.Recovered)]
        times = [signal.at for signal in stage.signals]
        assert times == sorted(times)

    brain, agent = talker()
    play(scene, brain, **agent)


@pytest.mark.req("C-API", "L-20")
def test_state_previous_state_and_entered_at_follow_the_conversation() -> None:
    async def scene(stage: Stage) -> None:
        conversation = stage.conversation
        assert (conversation.state, conversation.previous_state) == ("idle", None)
        await conversation.start()
        assert (conversation.state, conversation.previous_state) == ("listening", "preparing")
        await stage.sleep(1_000)
        await stage.say("hello there")
        await stage.until(lambda: conversation.state == "speaking")
        assert conversation.previous_state in ("waitingForCopilot", "processing")
        assert 1_000 < conversation.entered_at <= stage.now_ms
        assert conversation.phase == "speaking"

    play(scene, ScriptedBrain([TWO]), start=False)


@pytest.mark.req("C-API", "C-INT-003")
def test_a_snapshot_says_where_the_conversation_is_and_holds_no_word() -> None:
    async def scene(stage: Stage) -> None:
        await stage.say("hello there")
        await stage.sleep(700)
        snapshot = stage.conversation.snapshot()
        assert (snapshot.state, snapshot.phase, snapshot.turn) == ("speaking", "speaking", 1)
        assert snapshot.turn_role == "assistant"
        assert snapshot.label == "Ich spreche"
        assert snapshot.metadata["audio_item"] == 1
        assert 0 < snapshot.metadata["audio_played_ms"] <= 1_000
        assert snapshot.machine is stage.conversation.machine_state
        told = str({key: value for key, value in asdict(snapshot).items() if key != "machine"})
        assert "hello" not in told
        assert "sentence" not in told
        await stage.begin("stop")
        assert stage.conversation.snapshot().turn == 2

    play(scene, ScriptedBrain([TWO]), language="de-AT")


@pytest.mark.req("L-20")
@pytest.mark.parametrize(
    "field",
    [
        "session",
        "session_started_at",
        "audio_item",
        "audio_played_ms",
        "pending_calls",
        "last_error",
        "retries",
        "summary",
        "active_files",
        "queued_user_input",
    ],
)
def test_the_context_has_what_the_interface_promises(field: str) -> None:
    async def scene(stage: Stage) -> None:
        assert field in stage.conversation.context

    play(scene, ScriptedBrain())


@pytest.mark.req("L-20", "L-08")
def test_the_context_tells_pending_calls_and_queued_words() -> None:
    async def scene(stage: Stage) -> None:
        await stage.say("use the tool")
        await stage.say("and hurry please")
        context = stage.conversation.context
        assert context["pending_calls"] == [1]
        assert context["queued_user_input"][-1] == "and hurry please"

    play(scene, ScriptedBrain([ToolCall("work")]), tools=[scripted_tool("work", Hang())])


@pytest.mark.req("L-20")
def test_an_event_by_hand_is_like_any_other_and_can_be_tried_first() -> None:
    async def scene(stage: Stage) -> None:
        conversation = stage.conversation
        before = conversation.machine_state
        assert conversation.can_transition(ev.SpeechStarted)
        assert not conversation.can_transition(ev.SessionClosed)
        assert not conversation.can_transition(ev.PlaybackFinished, heard_ms=5)
        assert conversation.machine_state is before
        conversation.transition(ev.SpeechStarted)
        assert conversation.phase == "user_speaking"
        await stage.sleep(1)

    play(scene, ScriptedBrain())


@pytest.mark.req("L-20")
def test_asking_whether_nonsense_would_move_anything_says_no() -> None:
    async def scene(stage: Stage) -> None:
        assert stage.conversation.can_transition(ev.WordsHeard, turn=99, words=1, substantial=1) is False
        assert stage.conversation.can_transition(ev.PlaybackProgressed, heard_ms=-1) is False

    play(scene, ScriptedBrain())


@pytest.mark.req("C-CON-003")
def test_the_last_twenty_moves_are_kept_and_no_more() -> None:
    async def scene(stage: Stage) -> None:
        for number in range(12):
            await stage.say(f"turn number {number}")
            await stage.rest()
        kept = stage.conversation.transitions
        assert len(kept) == 20
        told = [s for s in stage.told(sg.Transitioned) if s.view == "conversation"]
        assert list(kept) == told[-20:]

    play(scene, ScriptedBrain())


@pytest.mark.req("C-API", "C-PAT-002")
def test_turns_of_both_sides_are_told_from_start_to_end() -> None:
    async def scene(stage: Stage) -> None:
        turns: list[Any] = []
        off = stage.conversation.on_turn_event(turns.append)
        await stage.say("hello there")
        await stage.sleep(700)
        await stage.say("no stop it please")
        await stage.rest()
        off()
        told = [(type(signal).__name__, signal.turn.role) for signal in turns]
        assert told == [
            ("TurnStarted", "user"),
            ("TurnCompleted", "user"),
            ("TurnStarted", "assistant"),
            ("TurnStarted", "user"),
            ("TurnInterrupted", "assistant"),
            ("TurnCompleted", "user"),
            ("TurnStarted", "assistant"),
            ("TurnCompleted", "assistant"),
        ]
        assert turns[1].turn.transcript == "hello there"
        assert turns[1].turn.confidence == 0.9
        count = len(turns)
        await stage.say("and again")
        assert len(turns) == count

    play(scene, ScriptedBrain([TWO, "Fine."]))


@pytest.mark.req("C-INT-004", "C-UI")
def test_captions_follow_what_is_heard() -> None:
    async def scene(stage: Stage) -> None:
        await stage.say("hello there")
        await stage.rest()
        captions = [caption for caption in stage.told(sg.Caption) if caption.role == "assistant"]
        lengths = [len(caption.text) for caption in captions]
        assert lengths == sorted(lengths)
        assert captions[-1].final
        assert captions[-1].text == TWO
        assert all(not caption.final for caption in captions[:-1])
        users = [caption.text for caption in stage.told(sg.Caption) if caption.role == "user"]
        assert users[:2] == ["hello", "hello there"]

    play(scene, ScriptedBrain([TWO]))


@pytest.mark.req("C-API", "C-INT-002")
def test_a_program_with_ears_of_its_own_can_tell_what_it_heard() -> None:
    async def scene(stage: Stage) -> None:
        for heard in (SpeechBegan(1), Partial("hello", 0.9, 1), SpeechEnded(1), Final("hello there", 0.9, 1)):
            stage.conversation.notify_transcript(heard)
            await stage.sleep(100)
        await stage.rest()
        assert stage.said == ["hello there"]

    play(scene, ScriptedBrain(), ears=None)


@pytest.mark.req("C-API", "C-INT-004")
def test_a_program_with_a_line_of_its_own_can_tell_what_was_played() -> None:
    class Mute(ScriptedLine):
        def tell(self, event: Any) -> None:
            pass

    async def scene(stage: Stage) -> None:
        await stage.say("hello there")
        stage.conversation.notify_voice(Played(1, 100))
        assert stage.conversation.machine_state.heard_ms == 100
        stage.conversation.notify_voice(Finished(1, 600))
        await stage.sleep(10)
        assert stage.heard == ["I see."]
        assert stage.state == "listening"

    play(scene, ScriptedBrain(), line=Mute())


@pytest.mark.req("C-API", "L-09")
def test_a_program_can_tell_that_work_elsewhere_is_alive() -> None:
    async def scene(stage: Stage) -> None:
        await stage.say("use the tool")
        stage.conversation.notify_worker(1, "half done", 0.5)
        assert [(p.call, p.text, p.fraction) for p in stage.told(sg.WorkProgressed)] == [(1, "half done", 0.5)]

    play(scene, ScriptedBrain([ToolCall("work")]), tools=[scripted_tool("work", Hang(), mode="delegate")])


@pytest.mark.req("C-API", "C-AC-004", "C-REQ-007")
@pytest.mark.parametrize("source", ["button", "barge-in"])
def test_interrupt_stops_the_sound_at_once_and_gives_the_floor_back(source: str) -> None:
    async def scene(stage: Stage) -> None:
        await stage.say("hello there")
        await stage.sleep(700)
        stage.conversation.interrupt(source)
        assert not stage.line.is_sounding
        assert stage.state == "interrupted"
        before = stage.now_ms
        await stage.until(lambda: stage.state == "listening")
        assert stage.now_ms - before <= 400
        assert [(told.command, told.detail) for told in stage.told(sg.Commanded)] == [("interrupt", source)]
        assert [told.by for told in stage.told(sg.TurnInterrupted)] == [source]

    play(scene, ScriptedBrain([TWO]))


@pytest.mark.req("C-API")
def test_a_pause_tells_why() -> None:
    async def scene(stage: Stage) -> None:
        stage.conversation.suspend("another call")
        assert stage.state == "suspended"
        assert [(told.command, told.detail) for told in stage.told(sg.Commanded)] == [("suspend", "another call")]
        stage.conversation.resume()
        assert stage.state == "listening"

    play(scene, ScriptedBrain([TWO]))


@pytest.mark.req("C-API")
def test_who_interrupts_the_next_answer_is_told_anew() -> None:
    async def scene(stage: Stage) -> None:
        await stage.say("hello there")
        await stage.sleep(700)
        stage.conversation.interrupt("button")
        await stage.until(lambda: stage.state == "listening")
        await stage.say("go on please")
        await stage.sleep(700)
        await stage.say("no wait please")
        await stage.until(lambda: len(stage.told(sg.TurnInterrupted)) == 2)
        assert [told.by for told in stage.told(sg.TurnInterrupted)] == ["button", "user"]

    play(scene, ScriptedBrain([TWO, TWO, TWO]))


@pytest.mark.req("C-API")
def test_interrupting_a_thought_means_that_no_answer_comes() -> None:
    async def scene(stage: Stage) -> None:
        await stage.say("hello there")
        stage.conversation.interrupt()
        await stage.sleep(5_000)
        assert stage.heard == []
        assert stage.state == "listening"
        assert stage.said == ["hello there"]

    play(scene, ScriptedBrain([[Delay(1_000), "Never."]]))


@pytest.mark.req("C-INT-003")
@pytest.mark.parametrize("language", ["en", "de", "fr", "es", "ja"])
def test_every_state_and_wait_has_a_label_of_its_own_in_five_languages(language: str) -> None:
    assert language in LANGUAGES
    texts = [label(key, language) for key in (*PHASES, *WAITS)]
    assert all(text and text not in (*PHASES, *WAITS) for text in texts)
    assert len(set(texts[: len(PHASES)])) == len(PHASES)
    assert label("idle", f"{language.upper()}-XX") == label("idle", language)


@pytest.mark.req("C-INT-003", "C-GUD-003")
@pytest.mark.parametrize(("language", "text"), [("fr", "J'y travaille"), ("xx", "Working on it")])
def test_waits_are_told_in_the_agents_language(language: str, text: str) -> None:
    async def scene(stage: Stage) -> None:
        await stage.say("use the tool")
        assert stage.told(sg.Waiting)[0].label == text

    play(scene, ScriptedBrain([ToolCall("work")]), tools=[scripted_tool("work", Hang())], language=language)


# -- What is kept on disk


@pytest.mark.req("C-SEC-001")
def test_the_journal_holds_no_word_of_the_conversation(tmp_path: Path) -> None:
    brain, agent = talker()
    play(talk, brain, journal=tmp_path / "call.jsonl", **agent)
    journal = (tmp_path / "call.jsonl").read_text()
    for word in ("hello", "please", "sentence", "Fine", "secret", "stop it"):
        assert word not in journal
    words = words_path(tmp_path / "call.jsonl").read_text()
    assert "hello there" in words
    assert "Here is the" in words


@pytest.mark.req("C-SEC-002")
def test_a_private_conversation_leaves_no_word_on_disk(tmp_path: Path) -> None:
    brain, agent = talker()
    play(talk, brain, journal=tmp_path / "call.jsonl", private=True, **agent)
    assert [path.name for path in tmp_path.iterdir()] == ["call.jsonl"]


@pytest.mark.req("C-SEC-001", "C-SEC-002")
@pytest.mark.parametrize("existed", [False, True])
def test_what_is_written_can_be_read_by_its_owner_alone(tmp_path: Path, existed: bool) -> None:
    paths = (tmp_path / "call.jsonl", tmp_path / "call.words.jsonl")
    if existed:
        for path in paths:
            path.write_text("old")
            path.chmod(0o644)
    brain, agent = talker()
    play(talk, brain, journal=paths[0], **agent)
    assert [oct(path.stat().st_mode & 0o777) for path in paths] == ["0o600", "0o600"]


@pytest.mark.req("C-SEC-001")
def test_a_journal_replays_to_the_very_state_in_which_the_conversation_ended(tmp_path: Path) -> None:
    brain, agent = talker()
    stage = play(talk, brain, journal=tmp_path / "call.jsonl", **agent)
    with (tmp_path / "call.jsonl").open() as lines:
        last = list(replay(read_journal(lines)))[-1]
    assert last.after == stage.conversation.machine_state


@pytest.mark.req("C-SEC-001")
def test_problems_hold_no_word_of_anybody() -> None:
    async def scene(stage: Stage) -> None:
        stage.ears.tell("my secret sentence")  # type: ignore[arg-type]
        await stage.sleep(1_500)
        await talk(stage)
        told = " ".join(stage.problems)
        for word in ("secret", "hello", "sentence"):
            assert word not in told

    brain, agent = talker()
    play(scene, brain, **agent)


@pytest.mark.req("L-22", "L-04")
def test_the_numbers_of_a_conversation_can_be_read_at_any_time() -> None:
    async def scene(stage: Stage) -> None:
        await talk(stage)
        metrics = stage.conversation.metrics
        assert metrics.turns == 4
        assert (metrics.calls, metrics.calls_done) == (1, 1)
        assert metrics.errors == 1
        assert metrics.interrupted == 1
        assert metrics.first_audio_ms is not None

    brain, agent = talker()
    play(scene, brain, **agent)


def test_a_handler_can_be_taken_off_even_while_it_is_called() -> None:
    async def scene(stage: Stage) -> None:
        calls: list[int] = []

        def once(signal: sg.Signal) -> None:
            calls.append(1)
            off()

        off = stage.conversation.on(sg.Transitioned, once)
        await stage.say("hello there")
        await stage.rest()
        off()
        assert calls == [1]

    play(scene, ScriptedBrain())


def test_a_handler_may_give_commands() -> None:
    async def scene(stage: Stage) -> None:
        def interrupt(moved: sg.Transitioned) -> None:
            if moved.target == "speaking":
                stage.conversation.interrupt("handler")

        stage.conversation.on_state_changed(interrupt)
        await stage.say("hello there")
        await asyncio.sleep(2)
        assert stage.state == "listening"
        moves = [(s.source, s.target) for s in stage.told(sg.Transitioned) if s.view == "conversation"]
        assert all(earlier[1] == later[0] for earlier, later in pairwise(moves)), moves

    play(scene, ScriptedBrain([TWO]))
