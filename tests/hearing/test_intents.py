"""Each intent becomes one event."""

from __future__ import annotations

import pytest

from duologue.core import events as ev
from duologue.hearing import intents as it


@pytest.mark.parametrize(
    ("intent", "kind", "given"),
    [
        (it.BeginSpeech(), ev.SpeechStarted, {}),
        (it.StopSpeech(192), ev.SpeechStopped, {"quiet_ms": 192}),
        (it.PressButton(), ev.PttPressed, {}),
        (it.ReleaseButton(), ev.PttReleased, {}),
        (it.TakeTyped(3), ev.TextTyped, {"content": 3}),
        (it.EndTurn(1, 2, ("x",), 0.5), ev.TurnEnded, {"turn": 1, "onset": 2}),
        (it.JudgeOverlap(True, 4, ("x",), 0.5), ev.OverlapJudged, {"bid": True, "onset": 4}),
        (it.JudgeOverlap(False, 0, ("x",), 0.5), ev.OverlapJudged, {"bid": False}),
        (it.DismissSound(1, 2, ("x",), 0.5), ev.SoundDismissed, {"turn": 1, "onset": 2}),
        (it.TakeAnswer(1, ("x",), 0.5), ev.AnswerOverheard, {"turn": 1}),
        (it.GuessTurn(1, 2, 3, ("x",), 0.5), ev.TurnGuessed, {"turn": 1, "onset": 2, "gist": 3}),
        (it.RepeatQuestion(), ev.QuestionMissed, {}),
    ],
)
def test_an_intent_becomes_its_event(intent: it.Intent, kind: type[ev.Event], given: dict[str, object]) -> None:
    assert it.event_of(intent) == (kind, given)
    assert kind in it.HEARING_EVENTS


def test_words_are_told_with_every_count() -> None:
    kind, given = it.event_of(it.HearWords(1, 3, 2, True, 14, 90, 5))
    assert kind(0, 1, **given) == ev.WordsHeard(0, 1, 1, 3, 2, True, 14, 90, 5)


def test_verdicts_have_names() -> None:
    verdicts = (it.JudgeOverlap(True, 1, (), 1.0), it.JudgeOverlap(False, 1, (), 1.0), it.EndTurn(1, 1, (), 1.0))
    assert [it.verdict_name(verdict) for verdict in verdicts] == ["barge_in", "resume", "end_of_turn"]
    assert it.verdict_name(it.DismissSound(1, 1, (), 1.0)) == "noise"
    assert it.verdict_name(it.TakeAnswer(1, (), 1.0)) == "early_answer"
