"""A scripted session fails as its script says, and records what it was given."""

from __future__ import annotations

import asyncio

import pytest

from duologue.ports.line import Closed, Healed, Wobbled
from duologue.ports.session import SessionContext
from duologue.testing import ScriptedSession, run_simulated


def test_it_fails_in_order_and_takes_its_time() -> None:
    heard: list[Wobbled | Healed | Closed] = []
    context = SessionContext("so far", (), ())

    async def scene() -> float:
        session = ScriptedSession(open_ms=500, failures=[OSError("no line"), None], renew_failures=[OSError("expired")])
        with pytest.raises(OSError, match="no line"):
            await session.open(None, heard.append)
        await session.open(context, heard.append)
        with pytest.raises(OSError, match="expired"):
            await session.renew(context, heard.append)
        session.tell(Wobbled())
        await session.close()
        assert (session.opens, session.renewals, session.closes) == (2, 1, 1)
        assert session.contexts == [context]
        return asyncio.get_running_loop().time()

    assert run_simulated(scene()) == 1.0
    assert heard == [Wobbled()]
