"""What the demo claims is true, and a broken machine can't play it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from duologue.core import effects as fx
from duologue.core import events as ev
from duologue.core.codec import digest
from duologue.core.errors import DuologueError
from duologue.core.leaves import Ask, JobKind, Link, Outcome, Voice
from duologue.core.machine import ROWS, Machine
from duologue.core.rules import RULES
from duologue.core.state import initial
from duologue.core.views import LIFECYCLE
from duologue.lab.sim.demo_call import SCRIPTS, DemoIsUntrue, Scene, Take, play_demo, stage_for_demo
from duologue.lab.sim.stage import Stage

TITLES = [title for title, _, _ in SCRIPTS]


@pytest.fixture(scope="module")
def stage() -> Stage:
    return stage_for_demo()


@pytest.fixture(scope="module")
def scenes(stage: Stage) -> dict[str, Scene]:
    return {scene.title: scene for scene in play_demo(stage)}


def effects(scene: Scene) -> list[fx.Effect]:
    return [effect for record in scene.records for effect in record.effects]


def requests(scene: Scene) -> list[fx.StartReply]:
    return [effect for effect in effects(scene) if isinstance(effect, fx.StartReply)]


def effects_of(scene: Scene, kind: type[ev.Event]) -> list[tuple[fx.Effect, ...]]:
    """The effects of each event of this kind."""
    return [record.effects for record in scene.records if type(record.event) is kind]


# -- The whole call


def test_every_scene_has_a_caption_and_shows_something(scenes: dict[str, Scene]) -> None:
    assert list(scenes) == TITLES
    for scene in scenes.values():
        assert scene.caption.endswith(".")
        assert scene.records
        assert scene.claims


def test_the_scenes_are_one_call_without_a_gap(stage: Stage, scenes: dict[str, Scene]) -> None:
    records = [record for scene in scenes.values() for record in scene.records]
    assert records == stage.records
    assert records[0].before == initial(stage.settings)
    assert stage.settings.name == "confirm"


@pytest.mark.req("L-01")
@pytest.mark.usefixtures("scenes")
def test_the_call_visits_all_eight_states_and_ends_at_rest(stage: Stage) -> None:
    assert set(stage.views()) == set(LIFECYCLE.states)
    assert stage.state.link is Link.IDLE
    assert not any(stage.state.due)


def test_no_event_of_the_script_is_ignored(scenes: dict[str, Scene]) -> None:
    ignored = [record.event for scene in scenes.values() for record in scene.records if not record.fired]
    assert ignored == []


@pytest.mark.usefixtures("scenes")
def test_the_demo_is_the_same_call_every_time(stage: Stage) -> None:
    again = stage_for_demo()
    for _ in play_demo(again):
        pass
    assert [digest(record.after) for record in again.records] == [digest(record.after) for record in stage.records]


# -- What the scenes show


def test_a_cough_while_the_answer_is_on_its_way_costs_no_request(scenes: dict[str, Scene]) -> None:
    scene = scenes["A cough"]
    assert len(requests(scene)) == 1
    assert not [effect for effect in effects(scene) if isinstance(effect, fx.CancelReply)]
    started = next(record for record in scene.records if any(isinstance(e, fx.StartPlayback) for e in record.effects))
    assert fx.DiscardAudio(started.after.turn) in started.effects


@pytest.mark.req("L-06")
def test_a_barge_in_holds_playback_in_the_same_step_and_truncates_at_what_was_heard(scenes: dict[str, Scene]) -> None:
    scene = scenes["Barge-in"]
    question, onset = effects_of(scene, ev.SpeechStarted)
    assert question == (fx.StopCue(),)
    assert [type(effect) for effect in onset] == [fx.HoldPlayback]
    stopped = next(record.event for record in scene.records if isinstance(record.event, ev.PlaybackStopped))
    cut = [effect for effect in effects(scene) if isinstance(effect, fx.TruncateReply)]
    assert [truncation.heard_ms for truncation in cut] == [stopped.heard_ms]


@pytest.mark.req("V-02")
def test_a_murmur_only_holds_and_resumes_playback(scenes: dict[str, Scene]) -> None:
    kinds = [type(effect) for effect in effects(scenes["Uh-huh"])]
    assert kinds.index(fx.HoldPlayback) < kinds.index(fx.ResumePlayback)
    assert fx.StopPlayback not in kinds
    assert kinds.count(fx.StartReply) == 1


@pytest.mark.req("L-09", "L-10")
def test_what_the_user_says_during_a_long_job_is_answered_after_it(scenes: dict[str, Scene]) -> None:
    scene = scenes["A long job"]
    during = [record for record in scene.records if any(job.kind is JobKind.DELEGATED for job in record.before.jobs)]
    assert [record.event for record in during if isinstance(record.event, ev.TurnEnded)]
    asking = [record.event for record in during if any(isinstance(e, fx.StartReply) for e in record.effects)]
    assert [type(event) for event in asking] == [ev.JobFinished]
    first, last = requests(scene)
    assert last.first == first.first
    assert last.last == first.last + 1
    assert [effect.stage for effect in effects(scene) if isinstance(effect, fx.ShowWait)] == [1, 2]
    assert any(isinstance(effect, fx.ShowProgress) for effect in effects(scene))


def test_the_result_of_a_background_job_waits_for_the_floor(scenes: dict[str, Scene]) -> None:
    scene = scenes["A background job"]
    done = next(record for record in scene.records if isinstance(record.event, ev.JobFinished))
    assert done.before.voice is done.after.voice is Voice.PLAYING
    assert [type(effect) for effect in done.effects] == [fx.PostNews]
    telling = requests(scene)[-1]
    assert telling.last < telling.first  # it answers no turn


@pytest.mark.req("L-15")
def test_after_a_wobble_the_same_playback_continues(scenes: dict[str, Scene]) -> None:
    kinds = [type(effect) for effect in effects(scenes["A wobbly line"])]
    assert kinds == [fx.StopCue, fx.CommitAudio, fx.StartReply, fx.StartPlayback, fx.HoldPlayback, fx.ResumePlayback]


@pytest.mark.req("L-14", "M-12")
def test_after_a_lost_line_the_context_is_restored_and_the_turn_asked_again_once(scenes: dict[str, Scene]) -> None:
    scene = scenes["A lost line"]
    before, after = requests(scene)
    assert (before.first, before.last) == (after.first, after.last)
    assert before.reply != after.reply
    kinds = [type(effect) for effect in effects(scene)]
    assert kinds.index(fx.SaveContext) < kinds.index(fx.OpenSession) < kinds.index(fx.RestoreContext)


def test_a_failing_service_is_shown_once_and_the_turn_is_answered_after_a_retry(scenes: dict[str, Scene]) -> None:
    scene = scenes["A failing service"]
    assert len({(request.first, request.last) for request in requests(scene)}) == 1
    assert [type(e) for e in effects(scene) if isinstance(e, fx.ShowFault | fx.ClearFault | fx.ReportLost)] == [
        fx.ShowFault,
        fx.ClearFault,
    ]
    assert scene.records[-1].after.answered == requests(scene)[-1].last


@pytest.mark.req("V-07")
def test_dead_air_ends_politely_after_a_bounded_number_of_check_ins(stage: Stage, scenes: dict[str, Scene]) -> None:
    scene = scenes["Dead air"]
    assert [request.ask for request in requests(scene)] == [Ask.CHECK_IN, Ask.CHECK_IN, Ask.GOODBYE]
    silences = [record.event.at - record.before.at for record in scene.records if record.effects]
    assert silences[0] == stage.settings.dead_air_ms
    assert any(isinstance(effect, fx.CloseSession) for effect in effects_of(scene, ev.PlaybackFinished)[-1])


def test_every_call_gets_one_output(scenes: dict[str, Scene]) -> None:
    done = [effect for scene in scenes.values() for effect in effects(scene)]
    calls = [effect.call for effect in done if isinstance(effect, fx.RunCall)]
    outputs = [(effect.call, effect.outcome) for effect in done if isinstance(effect, fx.PostOutput)]
    assert [call for call, _ in outputs] == calls == [1, 2, 3]
    assert [outcome for _, outcome in outputs] == [Outcome.DONE, Outcome.DONE, Outcome.STARTED]


# -- A demo that is not true fails


def test_a_claim_that_does_not_hold_names_itself_and_the_time() -> None:
    stage = Stage()
    stage.wait(1_234)
    with pytest.raises(DemoIsUntrue, match="at 1234 ms that pigs fly"):
        Take(stage).claim("pigs fly", False)


@pytest.mark.parametrize("name", ["drop", "speak", "ask", "hold"])
def test_a_machine_without_one_of_these_rules_cannot_play_the_demo(name: str) -> None:
    machine = Machine(rules=[rule for rule in RULES if rule.name != name])
    with pytest.raises(DemoIsUntrue):
        list(play_demo(stage_for_demo(machine)))


ACTIONS_ON_STAGE = [
    "acknowledge", "ask", "ask_again", "ask_check_in", "ask_goodbye", "attempt", "begin_restored", "begin_turn",
    "close_session", "commit_and_end_turn", "discard_noise", "end_call", "end_job", "fault", "finish", "interrupt",
    "lose_link", "note_heard", "note_words", "open_session", "recover", "retry", "run_call", "show_progress",
    "show_wait", "silence",
]  # fmt: skip


@pytest.mark.parametrize("action", ACTIONS_ON_STAGE)
def test_a_machine_without_one_of_these_actions_cannot_play_the_demo(action: str) -> None:
    rows = [replace(row, do=None) if row.do and row.do.__name__ == action else row for row in ROWS]
    assert rows != list(ROWS)
    with pytest.raises(DuologueError):  # untrue, or an event that no longer makes sense
        list(play_demo(stage_for_demo(Machine(rows=rows))))
