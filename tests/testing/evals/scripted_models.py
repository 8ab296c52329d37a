"""Models that follow a script, in place of LLMs that call and judge."""

from __future__ import annotations

import json
from pathlib import Path

from duologue import Agent, ToolCall, tool
from duologue.testing import ScriptedBrain
from duologue.testing.evals.suite import EvalSuite, load_suite

SUITE = """
name: Front desk
cases:
  - name: Books a table
    goal: Book a table for two.
"""


def caller(*lines: str) -> ScriptedBrain:
    """A caller that says these lines, and then goodbye."""
    return ScriptedBrain([*lines, "Goodbye. [done]"])


def verdicts(*met: bool) -> str:
    """The answer of a judge."""
    listed = [{"line": number, "met": one, "why": "because"} for number, one in enumerate(met, 1)]
    return f"Here you are: {json.dumps({'verdicts': listed})}"


def desk() -> Agent:
    """An agent that books a table when it is asked to."""

    @tool
    def book_table(people: int) -> str:
        """Book a table."""
        return f"booked for {people}"

    def brain(request):  # type: ignore[no-untyped-def]
        if request.outputs:
            return "Your table is booked. I'll send you a text."
        if "table" in request.text:
            return [ToolCall("book_table", {"people": 2})]
        return "What can I do for you?"

    return Agent(brain, tools=[book_table])


def suite_of(folder: Path, text: str = SUITE) -> EvalSuite:
    path = folder / "suite.yaml"
    path.write_text(text)
    return load_suite(path)
