"""The data of a call as JSON and back, and what can't be saved."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from datetime import date, datetime
from enum import Enum
from typing import Any, Literal

import pytest

from duologue import Agent
from duologue.runtime.agent import InvalidAgent
from duologue.runtime.call_data import DataNotSavable, check_data, data_from_json, data_to_json
from duologue.testing import Call


class Size(Enum):
    SMALL = "small"
    LARGE = "large"


@dataclass
class Item:
    name: str
    size: Size = Size.SMALL


@dataclass
class Order:
    items: list[Item] = field(default_factory=list)
    when: date | None = None
    made: datetime | None = None
    notes: dict[str, int] = field(default_factory=dict)
    place: tuple[int, ...] = ()
    state: Literal["open", "paid"] = "open"
    price: float = 0.0


@dataclass
class Locked:
    order: Order = field(default_factory=Order)
    lock: Any = None


@dataclass
class Typed:
    lock: threading.Event = field(default_factory=threading.Event)


def test_data_comes_back_as_it_was() -> None:
    order = Order(
        [Item("shoes", Size.LARGE)], date(2026, 3, 2), datetime(2026, 3, 2, 9, 30), {"left": 1}, (1, 2), "paid", 3.5
    )
    assert data_from_json(Order, data_to_json(order)) == order


def test_a_field_that_a_new_version_has_added_gets_its_default() -> None:
    saved = data_to_json(Order())
    del saved["state"]
    assert data_from_json(Order, saved) == Order()


def test_a_value_that_cant_be_saved_is_named() -> None:
    with pytest.raises(DataNotSavable, match=r"data\.lock: Event can't be saved"):
        data_to_json(Locked(lock=threading.Event()))
    with pytest.raises(InvalidAgent, match=r"data\.lock: Event can't be saved"):
        Agent(lambda request: "", data=Typed)
    with pytest.raises(DataNotSavable, match="data class"):
        check_data(dict)


def test_saved_data_of_the_wrong_type_is_named_and_not_shown() -> None:
    with pytest.raises(DataNotSavable, match=r"data\.price") as problem:
        data_from_json(Order, {"price": "a secret"})
    assert "secret" not in str(problem.value)


def test_data_that_becomes_unsavable_during_a_call_is_reported_and_the_call_goes_on() -> None:
    with Call(Agent(lambda request: "Yes.", data=Locked)) as call:
        call.context.data.lock = threading.Event()
        part = call.conversation.engine.context_part()
        assert part["data"] is None
        assert "data.lock" in str(call.conversation.engine.failures[-1].failure)
        call.user("hello there").expect_heard("Yes.")
