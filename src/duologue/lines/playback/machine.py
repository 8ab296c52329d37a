"""The playback state machine: `step(state, input) -> (state, intents)` for the line of one conversation.

Pure: no clock, no await, no sound. After the rows were applied, new sound is sent if the client has less than AHEAD_MS
left to play. Rule: if no row fits an input, or if the input is about a voice or socket that isn't the current one,
`step` returns the same state and no intents.
"""

from __future__ import annotations

from collections.abc import Iterable

from . import inputs as on
from .intents import REPORTS, PlaybackIntent
from .rows import ROWS, PlaybackRow
from .sending import PlaybackDone, send_ahead
from .state import ClientPlace, PlaybackState, VoicePlace

ABOUT_THE_VOICE = (
    on.SoundAdded,
    on.SoundEnded,
    on.HoldAsked,
    on.ResumeAsked,
    on.ClearAsked,
    on.PlayedReported,
    on.FinishedReported,
)


class PlaybackMachine:
    """The rows of the playback table (the module `rows`), indexed by two keys: the place (the state of the voice or of
    the client), and the type of the input."""

    def __init__(self, rows: Iterable[PlaybackRow] = ROWS) -> None:
        self._table: dict[tuple[VoicePlace | ClientPlace, type], list[PlaybackRow]] = {}
        for row in rows:
            for source in row.sources:
                self._table.setdefault((source, row.on), []).append(row)

    def row_for(
        self, place: VoicePlace | ClientPlace, state: PlaybackState, given: on.PlaybackInput
    ) -> PlaybackRow | None:
        """The first row that fits the input in this place (the state of the voice or of the client). None if no row
        fits, or if the input is about another utterance of the agent than the current one."""
        if isinstance(given, ABOUT_THE_VOICE) and given.voice != state.voice:
            return None
        for row in self._table.get((place, type(given)), ()):
            if row.when is None or row.when(state, given):
                return row
        return None

    def step(self, state: PlaybackState, given: on.PlaybackInput) -> PlaybackDone:
        """Return the state after this input, and the intents (what the line must do now), in order."""
        voice_row = self.row_for(state.voice_place, state, given)
        client_row = self.row_for(state.client_place, state, given)
        after, intents = state, list[PlaybackIntent]()
        for row in (voice_row, client_row):
            if row is not None:
                after = _go_to(after, row)
                for action in row.do:
                    after, more = action(after, given)
                    intents += more
        after, more = send_ahead(after)
        intents += more
        if len(intents) > 1:
            intents.sort(key=lambda intent: isinstance(intent, REPORTS))
        return after, tuple(intents)


def _go_to(s: PlaybackState, row: PlaybackRow) -> PlaybackState:
    match row.target:
        case VoicePlace():
            return s._replace(voice_place=row.target)
        case ClientPlace():
            return s._replace(client_place=row.target)
    return s


MACHINE = PlaybackMachine()
step = MACHINE.step
