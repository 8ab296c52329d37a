"""Steps of the translation, one after another, without a conversation.

Rule: every event that is sent is checked with the types of the `openai` package.
"""

from __future__ import annotations

from typing import Any

from duologue.server.realtime import acts as do
from duologue.server.realtime.exchange import ExchangeState
from duologue.server.realtime.translation import ExchangeInput, step
from duologue.testing.realtime.protocol_types import problems_of_server_event


class Exchange:
    """A state, and what the last input did."""

    def __init__(self, **state: Any) -> None:
        self.state = ExchangeState("sess_00000000", "conv_1", **state)
        self.acts: list[do.Act] = []
        self.events: list[dict[str, Any]] = []

    def post(self, *given: ExchangeInput) -> list[str]:
        """Take these inputs. Returns the types of the events that they sent."""
        self.acts, self.events = [], []
        for one in given:
            self.state, acts = step(self.state, one)
            self.acts += [act for act in acts if not isinstance(act, do.Send | do.SendLimits)]
            self.events += [act.event for act in acts if isinstance(act, do.Send)]
        for event in self.events:
            assert problems_of_server_event(event) == []
        return [event["type"] for event in self.events]

    @property
    def error(self) -> str:
        """The code of the only event, which is an error."""
        (event,) = self.events
        code: str = event["error"]["code"]
        return code
