"""The table of the playback state machine. A row says: if the voice or the client is in one of these places, this input
arrives and the guard is true, go to the target place and run the actions.

A place is a state: `VoicePlace` for the voice (such as HELD), and `ClientPlace` for the client (such as HERE). One
input may change both. Rule: the first row that fits is taken, once for the voice and once for the client. Only a row
changes a place.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

from duologue.ports.line import Closed, Finished, Healed, Played, Stopped, Unplayable, Wobbled

from . import inputs as on
from . import intents as do
from .intents import PlayCommand
from .sending import PlaybackDone, note_heard, send_missing
from .state import AHEAD_MS, ClientPlace, FormerVoice, PlaybackState, SoundEnd, VoicePlace

V = VoicePlace
C = ClientPlace
OPEN = (V.PLAYING, V.HELD)  # more of the voice may be heard
Reported: TypeAlias = on.PlayedReported | on.FinishedReported | on.StoppedReported
PlaybackAction: TypeAlias = Callable[[PlaybackState, Any], PlaybackDone]
PlaybackGuard: TypeAlias = Callable[[PlaybackState, Any], bool]


@dataclass(frozen=True, slots=True)
class PlaybackRow:
    """One row of the table. If `target` is None, the place (state of the voice or of the client) stays the same."""

    sources: tuple[V | C, ...]
    on: type
    target: V | C | None
    do: tuple[PlaybackAction, ...] = ()
    when: PlaybackGuard | None = None
    why: str = ""

    @property
    def name(self) -> str:
        """The name of the row in reports."""
        guard = f" [{self.when.__name__}]" if self.when else ""
        target = self.target.value if self.target else "same"
        return f"{'/'.join(place.value for place in self.sources)} + {self.on.__name__}{guard} -> {target}"


def row(
    sources: V | C | tuple[V | C, ...],
    given: type,
    target: V | C | None,
    *actions: PlaybackAction,
    when: PlaybackGuard | None = None,
    why: str = "",
) -> PlaybackRow:
    """Make a row. `sources` is one place (state of the voice or of the client), or a tuple of several."""
    return PlaybackRow(sources if isinstance(sources, tuple) else (sources,), given, target, actions, when, why)


# -- Guards


def is_another_voice(s: PlaybackState, given: on.VoiceBegan) -> bool:
    return given.voice != s.voice


def a_client_is_here(s: PlaybackState, _: Any) -> bool:
    return s.client_place is C.HERE


def is_news(s: PlaybackState, given: Reported) -> bool:
    return given.voice == s.voice and min(given.ms, s.sent_ms) > s.heard_ms


def knows_its_end(s: PlaybackState, _: Any) -> bool:
    return s.end is SoundEnd.SENT


def is_the_former_voice(s: PlaybackState, given: on.StoppedReported) -> bool:
    return given.voice == s.former.voice


def is_the_cleared_voice(s: PlaybackState, given: on.StoppedReported) -> bool:
    return given.voice == s.voice


def plays_this_voice(s: PlaybackState, given: on.ClientConnected) -> bool:
    return given.position is not None and given.position.voice == s.voice


def plays_another_voice(s: PlaybackState, given: on.ClientConnected) -> bool:
    return given.position is not None and given.position.voice not in (0, s.voice)


def is_the_connected_client(s: PlaybackState, given: on.ClientDisconnected) -> bool:
    return given.client == s.client


# -- Actions of the voice


def _begin(s: PlaybackState, voice: int) -> PlaybackState:
    kept = PlaybackState(s.voice_place, s.client_place, s.client, stopped=s.stopped)
    return kept._replace(voice=voice, former=FormerVoice(s.voice, s.sent_ms))


def begin_voice(s: PlaybackState, given: on.VoiceBegan) -> PlaybackDone:
    return _begin(s, given.voice), ()


def forget_voice(s: PlaybackState, _: Any) -> PlaybackDone:
    return _begin(s, 0), ()


def add_sound(s: PlaybackState, given: on.SoundAdded | on.SoundEnded) -> PlaybackDone:
    return s._replace(made=s.made + given.samples), ()


def note_end(s: PlaybackState, _: Any) -> PlaybackDone:
    return s._replace(end=SoundEnd.KNOWN if s.end is SoundEnd.OPEN else s.end), ()


def drop_sound(s: PlaybackState, _: Any) -> PlaybackDone:
    queued = (do.DropQueued(s.client, s.voice),) if s.client_place is C.HERE else ()
    return s._replace(cut=(), cut_to=s.made), queued


def _send(s: PlaybackState, command: PlayCommand) -> PlaybackDone:
    return s, (do.SendCommand(command, s.voice),) if s.client_place is C.HERE else ()


def send_hold(s: PlaybackState, _: Any) -> PlaybackDone:
    return _send(s, PlayCommand.HOLD)


def send_resume(s: PlaybackState, _: Any) -> PlaybackDone:
    return _send(s, PlayCommand.RESUME)


def send_clear(s: PlaybackState, _: Any) -> PlaybackDone:
    return _send(s, PlayCommand.CLEAR)


def report_last_position(s: PlaybackState, _: Any) -> PlaybackDone:
    return s, (do.ReportSoon(Stopped(s.voice, s.heard_ms, is_exact=False)),)


# -- Actions of reports


def report_played(s: PlaybackState, given: Reported) -> PlaybackDone:
    s = note_heard(s, given.ms)
    return s, (do.ReportNow(Played(s.voice, s.heard_ms)),)


def report_finished(s: PlaybackState, given: Reported) -> PlaybackDone:
    s = note_heard(s, given.ms)
    return s, (do.ReportNow(Finished(s.voice, s.heard_ms)),)


def _report_stop(s: PlaybackState, stopped: Stopped) -> PlaybackDone:
    return s._replace(stopped=stopped), (do.ReportNow(stopped),)


def report_stopped(s: PlaybackState, given: Reported) -> PlaybackDone:
    s = note_heard(s, given.ms)
    return _report_stop(s, Stopped(s.voice, s.heard_ms))


def report_former_stopped(s: PlaybackState, given: Reported) -> PlaybackDone:
    return _report_stop(s, Stopped(given.voice, min(given.ms, s.former.sent_ms)))


def report_unplayable(s: PlaybackState, given: on.UnplayableReported) -> PlaybackDone:
    return s, (do.ReportNow(Unplayable(given.voice)),)


# -- Actions when a client comes


def send_missing_sound(s: PlaybackState, given: on.ClientConnected) -> PlaybackDone:
    """Send what the client doesn't have of the agent's current utterance, and record how much of it the client has
    played."""
    assert given.position is not None
    s, intents = send_missing(s, given.position)
    report = on.PlayedReported(s.voice, given.position.ms)
    if not is_news(s, report):
        return s, intents
    s, reported = report_played(s, report)
    return s, (*intents, *reported)


def send_unheard_sound(s: PlaybackState, _: Any) -> PlaybackDone:
    return send_missing(s, None)


def stop_its_voice(s: PlaybackState, given: on.ClientConnected) -> PlaybackDone:
    """Stop the utterance that the client plays, because it was replaced or cleared while the client was disconnected.
    Also record how much of it was heard. If this line doesn't know the utterance, another server process had sent it;
    then the client itself reports later how much was heard."""
    assert given.position is not None
    stopped = on.StoppedReported(given.position.voice, given.position.ms)
    clear = do.SendCommand(PlayCommand.CLEAR, stopped.voice)
    if stopped.voice == s.former.voice:
        s, reported = report_former_stopped(s, stopped)
    elif stopped.voice == s.voice:
        s, reported = report_stopped(s, stopped)
    else:
        reported = ()
        if stopped.voice > max(s.voice, s.former.voice):
            s = s._replace(former=FormerVoice(stopped.voice, stopped.ms + 2 * AHEAD_MS))
    return s, (clear, *reported)


# -- Actions of the client


def drop_at_former(s: PlaybackState, given: on.ClientConnected) -> PlaybackDone:
    """Drop the sound that is queued on the client's previous socket, because it is sent on the new one."""
    return s, (do.DropQueued(s.client, s.voice),) if given.client != s.client else ()


def note_client(s: PlaybackState, given: on.ClientConnected) -> PlaybackDone:
    return s._replace(client=given.client), (do.ReportNow(Healed()),)


def start_waiting(s: PlaybackState, _: Any) -> PlaybackDone:
    return s, (do.StartWaiting(), do.ReportNow(Wobbled()))


def stop_waiting(s: PlaybackState, _: Any) -> PlaybackDone:
    return s, (do.StopWaiting(),)


def report_closed(s: PlaybackState, _: Any) -> PlaybackDone:
    return s, (do.ReportNow(Closed()),)


def report_last_stop(s: PlaybackState, _: Any) -> PlaybackDone:
    return s, (do.ReportNow(s.stopped),) if s.stopped is not None else ()


def finish_opening(s: PlaybackState, _: Any) -> PlaybackDone:
    return s, (do.FinishOpening(),)


def cancel_opening(s: PlaybackState, _: Any) -> PlaybackDone:
    return s, (do.CancelOpening(),)


# -- The table

VOICE_ROWS = (
    row(tuple(V), on.VoiceBegan, V.PLAYING, begin_voice, when=is_another_voice),
    row(OPEN, on.SoundAdded, None, add_sound),
    row(OPEN, on.SoundEnded, None, add_sound, note_end),
    row(OPEN, on.HoldAsked, V.HELD, send_hold),
    row(OPEN, on.ResumeAsked, V.PLAYING, send_resume),
    row((*OPEN, V.CLEARED), on.ClearAsked, V.CLEARED, drop_sound, send_clear, when=a_client_is_here,
        why="the client will report where it stopped"),
    row((*OPEN, V.CLEARED), on.ClearAsked, V.CLEARED, drop_sound, report_last_position,
        why="a client that reconnects may correct the reported position"),
    row(tuple(V), on.LineClosed, V.SILENT, forget_voice),
)  # fmt: skip
REPORT_ROWS = (
    row(OPEN, on.PlayedReported, None, report_played, when=is_news),
    row(OPEN, on.FinishedReported, None, report_finished, when=knows_its_end),
    row(OPEN, on.FinishedReported, None, report_played, when=is_news, why="wrong report: more sound follows"),
    row(V.CLEARED, on.FinishedReported, None, report_stopped, why="the end came before the clear command"),
    row(tuple(V), on.StoppedReported, None, report_former_stopped, when=is_the_former_voice),
    row(V.CLEARED, on.StoppedReported, None, report_stopped, when=is_the_cleared_voice),
    row(OPEN, on.StoppedReported, None, report_played, when=is_news, why="no clear was sent"),
    row(tuple(V), on.UnplayableReported, None, report_unplayable),
)  # fmt: skip
CATCHING_UP_ROWS = (
    row(OPEN, on.ClientConnected, None, send_missing_sound, when=plays_this_voice),
    row(OPEN, on.ClientConnected, None, stop_its_voice, send_unheard_sound, when=plays_another_voice),
    row(OPEN, on.ClientConnected, None, send_unheard_sound),
    row(V.CLEARED, on.ClientConnected, None, stop_its_voice, when=plays_this_voice),
    row((V.SILENT, V.CLEARED), on.ClientConnected, None, stop_its_voice, when=plays_another_voice),
)  # fmt: skip
CLIENT_ROWS = (
    row(C.AWAY, on.ClientConnected, C.HERE, note_client),
    row(C.AWAITED, on.ClientConnected, C.HERE, finish_opening, note_client),
    row(C.MISSED, on.ClientConnected, C.HERE, stop_waiting, note_client),
    row(C.HERE, on.ClientConnected, None, drop_at_former, note_client),
    row(C.HERE, on.ClientDisconnected, C.MISSED, start_waiting, when=is_the_connected_client),
    row(C.MISSED, on.WaitingEnded, C.AWAY, report_closed,
        why="a conversation that is prepared, renewed or restored ignores that the connection was interrupted"),
    row((C.AWAY, C.AWAITED), on.OpeningBegan, C.AWAITED, report_last_stop),
    row(C.MISSED, on.OpeningBegan, C.AWAITED, stop_waiting, report_last_stop,
        why="the conversation already knows that no client is connected"),
    row(C.HERE, on.OpeningBegan, None, report_last_stop),
    row((C.AWAY, C.HERE), on.LineClosed, C.AWAY),
    row(C.AWAITED, on.LineClosed, C.AWAY, cancel_opening),
    row(C.MISSED, on.LineClosed, C.AWAY, stop_waiting),
)  # fmt: skip
SECTIONS: dict[str, tuple[PlaybackRow, ...]] = {
    "The voice": VOICE_ROWS,
    "What the client reports": REPORT_ROWS,
    "What a client that connects gets": CATCHING_UP_ROWS,
    "The client": CLIENT_ROWS,
}
ROWS: tuple[PlaybackRow, ...] = tuple(row for rows in SECTIONS.values() for row in rows)
