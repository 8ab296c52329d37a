"""Events check their own fields: the type, the sign, and counts that contradict each other."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import pytest

from duologue.core import events as ev
from duologue.core.errors import InvalidEvent
from duologue.core.leaves import ErrorClass, FaultSource, Timer


def _example(kind: type[ev.Event]) -> dict[str, Any]:
    """Fields that make a valid event of this kind."""
    values: dict[str, Any] = {
        "int": 1,
        "bool": True,
        "ErrorClass": ErrorClass.UNKNOWN,
        "FaultSource": FaultSource.EARS,
        "Timer": Timer.SETTLE,
    }
    return {field.name: values[str(field.type)] for field in fields(kind)}


# -- Events that can't be


@pytest.mark.parametrize("kind", ev.EVENTS, ids=lambda kind: kind.__name__)
def test_a_field_of_the_wrong_type_is_refused_by_name(kind: type[ev.Event]) -> None:
    good = _example(kind)
    kind(**good)
    for name, value in good.items():
        wrong = ["1", None, 1.0, True, ErrorClass, [1]]
        if type(value) is bool:
            wrong = ["1", None, 0, 1]
        for bad in wrong:
            with pytest.raises(InvalidEvent, match=f"{kind.__name__}.{name} must be"):
                kind(**{**good, name: bad})


@pytest.mark.parametrize("kind", ev.EVENTS, ids=lambda kind: kind.__name__)
def test_a_negative_number_is_refused_by_name(kind: type[ev.Event]) -> None:
    good = _example(kind)
    for name, value in good.items():
        if type(value) is int:
            with pytest.raises(InvalidEvent, match=f"{kind.__name__}.{name} must not be negative, is -1"):
                kind(**{**good, name: -1})


def test_more_substantial_words_than_words_are_refused() -> None:
    good = {**_example(ev.WordsHeard), "words": 2, "substantial": 2}
    ev.WordsHeard(**good)
    with pytest.raises(InvalidEvent, match=r"WordsHeard\.substantial must be at most `words` \(2\), not 3"):
        ev.WordsHeard(**{**good, "substantial": 3})


def test_every_concrete_event_can_be_applied_and_no_abstract_one() -> None:
    abstract = {ev.Event, ev.RecurringEvent, ev.AboutSession, ev.AboutReply, ev.AboutVoice, ev.AboutCall}
    assert not abstract & set(ev.EVENTS)
    assert ev.TimerFired in ev.EVENTS
    assert all(issubclass(kind, ev.Event) for kind in ev.EVENTS)
