"""What a reply has dealt with is not told as new again, whatever turns out late about the sound before it."""

from __future__ import annotations

import pytest

from duologue.core.effects import StartReply
from duologue.core.events import ReplyFinished
from duologue.core.leaves import Ask, Outcome
from duologue.core.settings import Settings
from duologue.core.state import initial
from duologue.core.step_record import StepRecord
from duologue.ports.brain import Request
from duologue.runtime.requests import Requests
from duologue.runtime.transcript import Transcript


def ask(asking: Requests, reply: int) -> Request:
    return asking.make(StartReply(reply=reply, first=1, last=0, ask=Ask.ANSWER), ())


def finish(asking: Requests, reply: int) -> None:
    before = initial(Settings())
    asking.follow(StepRecord(ReplyFinished(at=1, reply=reply), before, before._replace(at=1), (), ()))


@pytest.mark.graveyard(3)
@pytest.mark.req("C-INT-005")
def test_news_that_was_told_stays_told_when_a_line_confirms_late_that_the_reply_before_it_was_heard() -> None:
    transcript = Transcript()
    asking = Requests(transcript, "", 10, "call")
    transcript.begin_reply(1)  # cut off at once: so far nothing of it was heard
    transcript.add_news(1, "The taxi is here.", Outcome.DONE, "taxi")
    assert [news.text for news in ask(asking, 2).news] == ["The taxi is here."]
    finish(asking, 2)
    transcript.end_reply(1, "One mo—", "ment.", 300, True)  # the line knows best, if late
    assert ask(asking, 3).news == ()


@pytest.mark.req("C-INT-005")
def test_news_behind_a_reply_that_left_nothing_is_told_once() -> None:
    transcript = Transcript()
    asking = Requests(transcript, "", 10, "call")
    for number in (1, 2, 3):
        transcript.begin_reply(number)
        transcript.add_news(number, f"News {number}.", Outcome.DONE, "job")
        assert [news.text for news in ask(asking, 10 + number).news] == [f"News {number}."]
        finish(asking, 10 + number)
    assert ask(asking, 20).news == ()
