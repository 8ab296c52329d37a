"""An agent that remembers its callers from one call to the next, by their number."""

import json
import os
from dataclasses import dataclass, field
from pathlib import Path

from duologue import Agent, Context, Hooks, Request

FILE = Path(os.environ.get("CALLERS_FILE", "callers.json"))


@dataclass
class Caller:
    calls: int = 0
    said: list[str] = field(default_factory=list)


def stored() -> dict:
    return json.loads(FILE.read_text()) if FILE.exists() else {}


def known(info) -> Caller:
    """The data of a new call: what the last call of this number has left."""
    earlier = stored().get(info.caller, {})
    return Caller(earlier.get("calls", 0) + 1, earlier.get("said", []))


async def keep(context: Context[Caller], ended) -> None:
    """At the end of a call, store what the next one needs."""
    if context.caller:
        data = {"calls": context.data.calls, "said": context.data.said[-5:]}
        FILE.write_text(json.dumps(stored() | {context.caller: data}))


def answer(request: Request, context: Context[Caller]) -> str:
    data = context.data
    before = f"Last time you said: {data.said[-1]}. " if data.calls > 1 and data.said else ""
    data.said.append(request.text)
    return f"{before}This is call number {data.calls}."


agent = Agent(answer, data=known, hooks=Hooks(on_end=keep))
