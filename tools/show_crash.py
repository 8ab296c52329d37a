"""Show a crash: a server is killed in mid-sentence, and another one continues the conversation.

Two servers share a store, and one client talks. Run `python tools/show_crash.py`. Rule: only the moment of the
kill is staged; every line is what the client recorded, with its time.
"""

from __future__ import annotations

import asyncio
import random
import sys
import tempfile
from pathlib import Path

from duologue.lab.torture import store_audit
from duologue.lab.torture.nodes import NodeProcess
from duologue.lab.torture.person import TypingPerson

TTL_MS = 3_000
_SHOWN = {
    "conversation": "at server {}",
    "typed": "user: {}",
    "assistant": "agent: {}",
    "socket lost": "the connection is lost",
    "notification restored": "notified: {}",
    "safe": "notified: that is saved",
}


class Screen:
    """Prints what a client records, as it is recorded."""

    def __init__(self, person: TypingPerson) -> None:
        self._person = person
        self._shown = 0
        self._began_s = asyncio.get_running_loop().time()

    def say(self, text: str, at_s: float | None = None) -> None:
        at_s = asyncio.get_running_loop().time() if at_s is None else at_s
        sys.stdout.write(f"{at_s - self._began_s:6.2f} s  {text}\n")

    def show(self) -> None:
        records = self._person.talks[-1].entries if self._person.talks else []
        for at_s, what, detail in records[self._shown :]:
            if what in _SHOWN:
                shown = detail.partition(" ")[2] if what == "typed" else detail  # without its id
                shown = shown.removesuffix(" | ").replace(" | ", " [not heard: ") + ("]" if " | " in shown[:-3] else "")
                self.say(_SHOWN[what].format(shown.replace("resumed True", "again").replace("resumed False", "")), at_s)
        self._shown = len(records)


async def show(folder: Path) -> None:
    store = str(folder / "store.sqlite3")
    await store_audit.prepare(store)
    nodes = [NodeProcess(letter, folder, TTL_MS, 5.0) for letter in "ab"]
    for node in nodes:
        node.store = store
    await asyncio.gather(*(node.start() for node in nodes))
    first, second = nodes
    by_port = {node.port: node.name for node in nodes}
    person = TypingPerson(1, [first.port], lambda port: by_port[port], random.Random(4))
    person.say_next(["tell 1001", "pay 1002", "tell 1003"])
    screen = Screen(person)
    talking = asyncio.ensure_future(person.run())
    try:
        while not person.is_listening_to("story of 1001. It has"):
            screen.show()
            await asyncio.sleep(0.01)
        screen.show()
        person.places = [second.port]
        screen.say(f"kill -9 of server {first.name}")
        await first.kill()
        while len(person.talks[-1].turns) < 3 or not person.talks[-1].turns[2].is_closed:
            screen.show()
            await asyncio.sleep(0.01)
        screen.show()
        (recovery,) = person.recoveries
        screen.say(f"From hello at {second.name} to an open floor: {recovery.ms} ms")
    finally:
        talking.cancel()
        await asyncio.gather(talking, return_exceptions=True)
        for node in nodes:
            await node.kill()


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="duologue-crash-") as folder:
        asyncio.run(show(Path(folder)))


if __name__ == "__main__":
    main()
