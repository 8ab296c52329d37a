"""Since when an answer counts for a question: every order of events up to a length, against a second reading."""

from __future__ import annotations

from itertools import product

import pytest

from duologue.core import effects as fx
from duologue.core import events as ev
from duologue.core.settings import profile
from duologue.core.state import State, initial
from duologue.core.step_record import StepRecord
from duologue.hearing.questions import NOT_YET, AskedQuestion, follow, hear_late, pose

STEP_MS = 100  # between two events
NEEDED_MS, LENGTH_MS, SHOWN_MS = 150, 300, 500
# Reply 2 asks, once; reply 1 is another reply.
EVENTS = ("pose 2", "play 1", "play 2", "hear more", "finish", "stop", "show 1", "show 2", "late 2")


class Played:
    """A line that plays one reply at a time, and the question as the machine sees it."""

    def __init__(self, needed_ms: int | None) -> None:
        self.needed_ms = needed_ms
        self.question = AskedQuestion()
        self.state: State = initial(profile("confirm"))
        self.at = 0
        self.reply = 0  # the reply that sounds
        self.heard_ms = 0

    def take(self, name: str) -> None:
        self.at += STEP_MS
        kind, _, number = name.partition(" ")
        match kind:
            case "pose":
                self.question = pose(self.question, 2, self.at, SHOWN_MS)
            case "late":
                self.question = hear_late(self.question, 2, self.at)
            case "play":
                self.reply, self.heard_ms = int(number), 0
                after = self.state._replace(voice_id=self.state.voice_id + 1, heard_ms=0)
                started = fx.StartPlayback(after.voice_id, self.reply)
                self._step(ev.AudioBuffered(self.at, self.reply), after, started)
            case "show":
                self._step(ev.ReplyFinished(self.at, int(number)), self.state._replace(at=self.at))
            case _ if self.reply:
                self._sound(kind)

    def _sound(self, kind: str) -> None:
        voice = self.state.voice_id
        self.heard_ms = LENGTH_MS if kind == "finish" else min(self.heard_ms + STEP_MS, LENGTH_MS)
        after = self.state._replace(heard_ms=self.heard_ms if kind == "hear" else 0)
        event = {"hear": ev.PlaybackProgressed, "finish": ev.PlaybackFinished, "stop": ev.PlaybackStopped}[kind]
        self._step(event(self.at, voice, self.heard_ms), after)
        if kind != "hear":
            self.reply = 0

    def _step(self, event: ev.Event, after: State, *effects: fx.Effect) -> None:
        record = StepRecord(event, self.state, after, effects, ())
        self.question = follow(self.question, record, self.needed_ms, SHOWN_MS)
        self.state = after


def was_asked(names: tuple[str, ...], needed_ms: int | None) -> bool:
    """The second reading: was enough of the question heard or shown after it was posed?"""
    posed = asked = False
    reply = heard_ms = 0
    for name in names:
        kind, _, number = name.partition(" ")
        if kind == "pose":
            posed, asked = True, False
        elif kind == "play":
            reply, heard_ms = int(number), 0
        elif kind in ("hear", "finish", "stop") and reply:
            heard_ms = LENGTH_MS if kind == "finish" else heard_ms + STEP_MS
            is_enough = kind == "finish" or (needed_ms is not None and heard_ms >= needed_ms)
            asked = asked or (posed and reply == 2 and is_enough)
            reply = reply if kind == "hear" else 0
        elif name in ("show 2", "late 2"):
            asked = asked or posed
    return asked


@pytest.mark.req("H-14")
@pytest.mark.parametrize("needed_ms", [NEEDED_MS, None])
def test_in_every_order_of_events_a_question_counts_as_asked_only_if_it_was_heard_or_shown(
    needed_ms: int | None,
) -> None:
    for names in product(EVENTS, repeat=4):
        if names.count("pose 2") == 1:
            played = Played(needed_ms)
            for name in names:
                played.take(name)
            assert played.question.is_asked is was_asked(names, needed_ms), names
            assert played.question.asked_at <= played.at + SHOWN_MS


@pytest.mark.req("H-14")
def test_an_answer_counts_from_the_moment_at_which_enough_was_heard() -> None:
    played = Played(NEEDED_MS)
    for name in ("pose 2", "play 2", "hear more", "hear more"):
        played.take(name)
    assert played.question.asked_at == played.at - (200 - NEEDED_MS)
    assert not played.question.counts_for(played.question.asked_at - 1)
    assert played.question.counts_for(played.question.asked_at)


@pytest.mark.req("H-14")
def test_without_a_question_every_word_counts() -> None:
    assert AskedQuestion().counts_for(0)
    assert AskedQuestion().asked_at == NOT_YET
