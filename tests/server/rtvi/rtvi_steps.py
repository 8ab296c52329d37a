"""Steps of the translation in a row, and what they send."""

from __future__ import annotations

from typing import Any

from duologue.server.rtvi import facts as fc
from duologue.server.rtvi.acts import RtviAct, SendToClient
from duologue.server.rtvi.exchange import RtviState
from duologue.server.rtvi.incoming import ClientReady
from duologue.server.rtvi.translation import RtviInput, step


class Translation:
    """A state, and everything that its steps have wanted."""

    def __init__(self, version: str = "2.1.0", *, is_ready: bool = True) -> None:
        self.state = RtviState()
        self.acts: list[RtviAct] = []
        if is_ready:
            self.post(ClientReady("ready", version))
            self.post(fc.TalkBegan())

    def post(self, given: RtviInput) -> list[Any]:
        """What this input sends, as (type, data), and the other acts."""
        self.state, acts = step(self.state, given)
        self.acts += acts
        return [(act.type, act.data) if isinstance(act, SendToClient) else act for act in acts]

    def kinds(self, given: RtviInput) -> list[str]:
        """The types of the messages that this input sends."""
        return [one[0] for one in self.post(given) if isinstance(one, tuple)]
