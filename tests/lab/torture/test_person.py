"""A simulated person at a real server: types, hears the answer, comes back after a lost socket, and hangs up."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from duologue.lab.torture.person import TypingPerson
from duologue.lab.torture.tortured_agent import ActionLog, make_agent
from duologue.server.app import Server
from duologue.server.leases import Leases
from duologue.server.listening import bind_socket, server_url
from duologue.server.run import serving
from duologue.server.settings import ServerSettings
from duologue.store.store_url import open_store
from tests.limits import TEST_S


@asynccontextmanager
async def talking(folder: Path, texts: list[str]) -> AsyncIterator[TypingPerson]:
    listening = bind_socket("127.0.0.1", 0)
    leases = Leases(open_store(str(folder / "store.sqlite3")), "a1", server_url(listening), 3_000)
    server = Server(make_agent(ActionLog(folder / "actions.jsonl", "a1")), ServerSettings(port=0), leases=leases)
    await leases.open(server.conversations)
    async with serving(server, listening):
        person = TypingPerson(1, [listening.getsockname()[1]], lambda _: "a1", random.Random(4))
        person.say_next(texts)
        run = asyncio.ensure_future(person.run())
        try:
            yield person
        finally:
            run.cancel()
            await asyncio.gather(run, return_exceptions=True)
            for served in tuple(server.conversations.served.values()):
                await served.end("over")
            await leases.close()


def play(folder: Path, texts: list[str], scene: Callable[[TypingPerson], Awaitable[None]]) -> None:
    async def main() -> None:
        async with asyncio.timeout(TEST_S), talking(folder, texts) as person:
            await scene(person)

    asyncio.run(main())


async def until(is_so: Callable[[], bool]) -> None:
    while not is_so():
        await asyncio.sleep(0.01)


def test_a_person_hears_the_answer_and_hangs_up(tmp_path: Path) -> None:
    async def scene(person: TypingPerson) -> None:
        await until(lambda: bool(person.talks) and any(turn.is_closed for turn in person.talks[0].turns))
        assert await person.hang_up()
        (talk,) = person.talks
        turn = talk.turns[0]
        assert (turn.text, turn.is_safe, turn.is_stuck) == ("pay 1002", True, False)
        assert "Now 1002 has been paid." in " ".join(turn.heard)
        assert talk.ended == "hung up"

    play(tmp_path, ["pay 1002"], scene)


def test_a_person_whose_socket_is_cut_comes_back_to_the_same_conversation(tmp_path: Path) -> None:
    async def scene(person: TypingPerson) -> None:
        await until(lambda: person.is_listening_to("This is"))
        person.cut()
        await until(lambda: bool(person.recoveries))
        await until(lambda: person.talks[0].turns[0].is_closed)
        assert len(person.talks) == 1
        assert person.reconnects >= 1
        assert not any(recovery.is_elsewhere for recovery in person.recoveries)
        heard = " ".join(person.talks[0].turns[0].heard)
        assert heard.count("This is the story of 1001.") == 1

    play(tmp_path, ["tell 1001"], scene)
