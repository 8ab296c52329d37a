"""The brain says how complete a text is, and the turn ends sooner or later by that."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from duologue import Agent
from duologue.observe import signals as sg
from duologue.ports.brain import JudgesText, Part, Request
from duologue.ports.ears import Final, SpeechBegan, SpeechEnded
from duologue.ports.history import UserSaid
from duologue.replay.ears_file import read_ears, replay_ears
from duologue.replay.journal import read_journal, replay
from duologue.runtime.text_judge import TextJudge
from duologue.testing import Call
from duologue.turns.completeness import Completeness


@dataclass
class Judging:
    """A brain that says this about every text."""

    says: object = Completeness.UNKNOWN
    asked: list[tuple[UserSaid, ...]] = field(default_factory=list)

    async def reply(self, request: Request) -> AsyncIterator[Part]:
        yield f"You said {request.text}."

    def completeness(self, conversation: str, said: tuple[UserSaid, ...]) -> Completeness:
        self.asked.append(said)
        if isinstance(self.says, Exception):
            raise self.says
        return self.says  # type: ignore[return-value]


class Plain:
    """A brain that can't tell."""

    async def reply(self, request: Request) -> AsyncIterator[Part]:
        yield request.text


def waited_ms(says: object, text: str) -> int:
    """How long after the voice the turn ends, if the brain says this about the text."""
    ended: list[int] = []
    with Call(Agent(Judging(says))) as call:
        call.conversation.engine.bus.on(
            sg.Decided, lambda one: ended.append(one.at) if one.decision == "end_of_turn" else None
        )
        call.ears_report(SpeechBegan(1)).waits(800).ears_report(SpeechEnded(1), Final(text, utterance=1))
        silent_at = call.conversation.engine.driver.now()
        call.waits(5_000)
    return ended[0] - silent_at


@pytest.mark.req("H-17")
def test_a_text_that_cannot_end_like_this_keeps_the_turn_open_longer() -> None:
    usual, longer = waited_ms(Completeness.UNKNOWN, "fly to"), waited_ms(Completeness.OPEN, "fly to")
    assert (usual, longer) == (400, 1_200)


@pytest.mark.req("H-17")
def test_the_brain_is_asked_once_for_the_same_words_and_gets_everything_that_is_unanswered() -> None:
    brain = Judging(Completeness.COMPLETE)
    with Call(Agent(brain)) as call:
        call.ears_report(SpeechBegan(1)).waits(300)
        call.ears_report(
            SpeechEnded(1), Final("fly to Rome", 0.7, utterance=1), Final("Fly to Rome.", 0.7, utterance=1)
        )
        call.waits(5_000)
        call.ears_report(SpeechBegan(2), SpeechEnded(2), Final("on Friday", utterance=2)).waits(5_000)
    assert brain.asked == [(UserSaid(1, "fly to Rome", False, 0.7),), (UserSaid(2, "on Friday"),)]


@pytest.mark.req("H-17")
@pytest.mark.parametrize("says", [ValueError("no"), "perhaps", None], ids=str)
def test_a_brain_that_fails_or_says_nonsense_is_reported_and_not_asked_again(says: object) -> None:
    failures: list[str] = []
    judge = TextJudge(lambda where, failure: failures.append(f"{where} {type(failure).__name__}"), "one", Judging(says))
    said = (UserSaid(1, "Rome"),)
    assert judge.judge(said) is Completeness.UNKNOWN
    assert judge.judge(said) is Completeness.UNKNOWN
    assert failures == ["brain ValueError"]
    assert not judge.can_judge


def test_a_brain_that_cannot_tell_is_not_asked() -> None:
    judge = TextJudge(lambda *_: None, "one", Plain())
    assert not judge.can_judge
    assert judge.judge((UserSaid(1, "Rome"),)) is Completeness.UNKNOWN
    judge.use_brain(Judging(Completeness.OPEN))
    assert judge.can_judge
    assert isinstance(Judging(), JudgesText)
    assert judge.judge((UserSaid(1, "Rome"),)) is Completeness.OPEN


@pytest.mark.req("H-17")
def test_what_the_brain_said_is_in_the_ear_journal_and_the_call_replays_exactly(tmp_path: Path) -> None:
    path = tmp_path / "call.jsonl"
    with Call(Agent(Judging(Completeness.OPEN)), journal=path) as call:
        call.user("I would like to fly to").waits(3_000)
    text = path.with_name("call.ears.jsonl").read_text("utf-8")
    assert '"completeness":"open"' in text.replace(" ", "")
    journal = read_journal(path.read_text("utf-8").splitlines(keepends=True))
    ears = read_ears(text.splitlines(keepends=True))
    records = tuple(replay(journal))
    assert any(
        made.state.judged.completeness is Completeness.OPEN for made in replay_ears(ears, journal.first, records)
    )
