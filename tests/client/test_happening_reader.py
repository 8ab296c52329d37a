"""A reader gets what happens in order, ends with the connection, and is told if it has fallen behind."""

from __future__ import annotations

import asyncio

import pytest

from duologue.client.failures import ClientFailed
from duologue.client.happening_reader import UNREAD_MAX, HappeningReader
from duologue.client.happenings import ConnectionChanged, Happening, TalkOver


def test_it_reads_in_order_until_the_connection_is_over() -> None:
    async def main() -> list[Happening]:
        reader = HappeningReader()
        for told in (
            TalkOver("a"),
            ConnectionChanged("waiting"),
            ConnectionChanged("lost"),
            TalkOver("b"),
        ):
            reader.put(told)
        return [told async for told in reader]

    assert asyncio.run(main()) == [TalkOver("a"), ConnectionChanged("waiting"), ConnectionChanged("lost")]


def test_a_reader_that_falls_behind_gets_all_that_fits_and_then_an_error() -> None:
    async def main() -> None:
        reader = HappeningReader()
        for number in range(UNREAD_MAX + 1):
            reader.put(TalkOver(str(number)))
        read = [await anext(reader) for _ in range(UNREAD_MAX)]
        assert read[-1] == TalkOver(str(UNREAD_MAX - 1))
        with pytest.raises(ClientFailed, match="were not read: read them faster"):
            await anext(reader)

    asyncio.run(main())
