"""The agent that simulated callers talk to: it answers, looks things up, delegates and dispatches.

Rule: its actions depend only on what was said and on a seeded random generator, so the same seed gives the same call.
"""

from __future__ import annotations

import random

from duologue.brains.scripted import ScriptedBrain, ScriptedReply
from duologue.ports.brain import Request, Show
from duologue.ports.history import CallOutput, News
from duologue.ports.scripted_steps import Delay, Hang
from duologue.ports.tool_call import ToolCall
from duologue.workers.scripted import AskPerson, Partly, Progress, ScriptedWorker, scripted_tool

# What callers say. A word in each sentence decides what the agent does.
ASKS = (
    "could you look up the next train",
    "please research the history of this house",
    "start the weekly report",
    "book the table for two",
    "show me the address",
    "what is the weather like",
    "tell me a long story",
    "four",
    "yes",
    "never mind that one",
)
_LONG = " ".join(f"This is sentence number {number} of a rather long story." for number in range(1, 9))
_SHORT = ("Certainly.", "It is quite sunny today, I believe.", "Good. What else can I do for you?", "All right then.")


def make_brain(dice: random.Random) -> ScriptedBrain:
    """The brain of the simulated agent."""

    def answer(request: Request) -> ScriptedReply:
        fresh = request.history[-1] if request.history else None
        if isinstance(fresh, CallOutput):
            return f"Here is what I found: {fresh.outcome.value}."
        if isinstance(fresh, News):
            return f"By the way, job {fresh.call} says {fresh.outcome.value}."
        return _answer_to(request.text, dice)

    return ScriptedBrain(answer, first_ms=150, token_ms=25, jitter_ms=200, seed=dice.randrange(2**31))


def _answer_to(text: str, dice: random.Random) -> ScriptedReply:
    if "train" in text:
        return ["One moment.", ToolCall("lookup", {"what": "train"})]
    if "house" in text:
        return [ToolCall("research", {"topic": "house"})]
    if "report" in text:
        return ["I will start that.", ToolCall("report")]
    if "table" in text:
        return [ToolCall("book", {"people": 2}), ToolCall("lookup", {"what": "parking"})]
    if "address" in text:
        return Show("12 Long Lane")
    if "story" in text:
        return _LONG
    if dice.random() < 0.03:
        return [ToolCall("no_such_tool")]
    return dice.choice(_SHORT)


def make_tools(dice: random.Random) -> list[ScriptedWorker]:
    """The tools of the simulated agent: quick, cancellable, delegated and dispatched. One of them may never end."""
    slow = Hang() if dice.random() < 0.1 else Delay(3_000, 30_000)
    return [
        scripted_tool("lookup", Delay(100, 1_500), "at ten past nine"),
        scripted_tool("book", Delay(400, 2_000), "booked", cancellable=True),
        scripted_tool("research", Progress("reading"), Partly("so far nothing"), slow, "x" * 5_000, mode="delegate"),
        scripted_tool("report", Delay(2_000, 9_000), AskPerson("Which week?"), Delay(1_000), "sent", mode="dispatch"),
    ]
