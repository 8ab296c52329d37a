"""News about limits, as rows between processes."""

from __future__ import annotations

import json
from typing import Any, get_args

import pytest

from duologue.server import limit_news as ln

EXAMPLES: list[ln.LimitNews] = [
    ln.PlaceHeld(7, ln.PlaceKind.UNSPOKEN, "192.0.2.1", 1_790_000_000_000),
    ln.PlaceLeft(7),
    ln.BucketUsed("starts", "2001:db8::/64"),
    ln.BucketLevel("connections", "192.0.2.1", -300),
    ln.WrongPresented("192.0.2.1"),
    ln.WrongCounted("192.0.2.1", 3),
    ln.RoomWanted(7),
]


@pytest.mark.parametrize("news", EXAMPLES, ids=lambda news: type(news).__name__)
def test_news_arrive_as_they_were_told(news: ln.LimitNews) -> None:
    read = ln.news_of(json.loads(json.dumps(ln.row_of(news))))
    assert read == news
    assert not isinstance(read, ln.PlaceHeld) or isinstance(read.kind, ln.PlaceKind)


def test_every_kind_of_news_has_an_example() -> None:
    assert {type(example) for example in EXAMPLES} == set(get_args(ln.LimitNews))


@pytest.mark.parametrize(
    "row", [[], ["Nothing"], ["PlaceLeft"], ["PlaceLeft", 1, 2], ["PlaceHeld", 1, "house", "a", 0], [["x"]]]
)
def test_what_is_not_news_is_refused(row: list[Any]) -> None:
    with pytest.raises(ValueError):  # noqa: PT011
        ln.news_of(row)
