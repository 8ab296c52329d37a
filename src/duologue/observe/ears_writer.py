"""The ear journal of a conversation as JSON lines. It records the inputs of the hearing machine, and it is stored next
to the journal of events.

The ear journal contains the words of the user and of the agent. From the ear journal and the journal of events, every
decision about turns can be computed again. Rule: each line is complete when it is written, and each line says how many
events came before it.
"""

from __future__ import annotations

from hashlib import sha256
from typing import Any, TextIO

from duologue.core.codec import canonical, digest, settings_digest
from duologue.core.state import State
from duologue.hearing.codec import input_to_json, policy_to_json, words_to_json
from duologue.hearing.inputs import Input
from duologue.hearing.policy import HearingPolicy
from duologue.hearing.words import SaidWords

EARS_FORMAT = "duologue-ears"
EARS_SCHEMA = 1
SUM_LETTERS = 8


def sum_of(previous: str, line: dict[str, Any]) -> str:
    """The checksum of this line and of all lines before it. If a line is changed later, the checksum no longer
    matches."""
    text = previous + canonical(line)
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:SUM_LETTERS]


def start_of(s: State) -> str:
    """The text in an ear journal that identifies the journal of events that it belongs to. It consists of a digest of
    the settings and a digest of the first state."""
    return f"{settings_digest(s.settings)}-{digest(s)}"


class EarsWriter:
    """Writes an ear journal while the conversation runs. `start` is the result of `start_of` for the first state in the
    journal of events."""

    def __init__(
        self,
        out: TextIO,
        policy: HearingPolicy,
        words: SaidWords,
        agent: str = "",
        ears: dict[str, Any] | None = None,
        start: str = "",
    ) -> None:
        self._out = out
        self._count = 0
        self._sum = ""
        header: dict[str, Any] = {"format": EARS_FORMAT, "schema": EARS_SCHEMA, "agent": agent, "ears": ears or {}}
        self._write({**header, "start": start, "policy": policy_to_json(policy), "words": words_to_json(words)})

    def add(self, i: Input, events: int) -> None:
        """Write one input. `events` is the number of events that the journal of events has so far."""
        self._count += 1
        self._write({"n": events, **input_to_json(i)})

    def add_policy(self, policy: HearingPolicy, events: int) -> None:
        """Write that another policy decides from now on, because the agent or its language has changed."""
        self._write({"n": events, "policy": policy_to_json(policy)})

    def close(self, events: int, last: str) -> None:
        """Mark the ear journal as complete. `events` is the number of events in the journal of events, and `last` is
        the digest in the last line of that journal."""
        self._write({"end": self._count, "events": events, "digest": last})

    def _write(self, line: dict[str, Any]) -> None:
        self._sum = sum_of(self._sum, line)
        self._out.write(canonical({**line, "sum": self._sum}) + "\n")
