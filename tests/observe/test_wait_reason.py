"""The reason for a wait is one that is so."""

from __future__ import annotations

import pytest

from duologue.core.leaves import ErrorClass, FaultSource, JobKind, Link, Reply
from duologue.core.settings import PROFILES
from duologue.core.state import Fault, JobRecord, State, initial
from duologue.observe.wait_reason import wait_reason
from duologue.phrases.texts import SPOKEN


def state(**fields: object) -> State:
    return initial(PROFILES["confirm"])._replace(link=Link.UP)._replace(**fields)  # type: ignore[arg-type]


@pytest.mark.req("H-01.words")
def test_each_reason_belongs_to_its_state() -> None:
    tool = (JobRecord(1, JobKind.TOOL, False, 5),)
    assert wait_reason(state(link=Link.BACKING_OFF)) == "reconnecting"
    assert wait_reason(state(link=Link.RENEWING)) == "reconnecting"
    assert wait_reason(state(link=Link.PREPARING)) == "connecting"
    assert wait_reason(state(link=Link.FAULTED)) == "trouble"
    for error, reason in ((ErrorClass.RATE_LIMIT, "rate_limited"), (ErrorClass.SERVER_ERROR, "trouble")):
        assert wait_reason(state(link=Link.FAULTED, fault=Fault(FaultSource.BRAIN, error, False))) == reason
    assert wait_reason(state(jobs=tool)) == "tool_running"
    assert wait_reason(state(reply=Reply.RETRYING, retries=1)) == "trouble"
    assert wait_reason(state(reply=Reply.WAITING, retries=1), ErrorClass.RATE_LIMIT) == "rate_limited"
    assert wait_reason(state(reply=Reply.WAITING)) == "working"
    assert wait_reason(state(reply=Reply.WAITING), is_first=False) == "still_working"


@pytest.mark.parametrize("link", [link for link in Link if link not in (Link.IDLE, Link.TERMINATING)])
def test_every_reason_is_a_phrase(link: Link) -> None:
    assert wait_reason(state(link=link)) in SPOKEN
