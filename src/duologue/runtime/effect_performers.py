"""Which part of a conversation performs each effect of the state machine.

One table is shared by all conversations. It names methods of the engine or of its parts. Rule: effects that aren't in
this table only become signals.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from duologue.core import effects as fx

if TYPE_CHECKING:
    from .engine import Engine

PERFORMERS: dict[type[fx.Effect], Callable[[Engine], Callable[[Any], None]]] = {
    fx.OpenSession: attrgetter("sessions.open"),
    fx.RenewSession: attrgetter("sessions.renew"),
    fx.CloseSession: attrgetter("sessions.close"),
    fx.SaveContext: attrgetter("sessions.save"),
    fx.RestoreContext: attrgetter("ears_task.start"),
    fx.CommitAudio: attrgetter("ears_task.commit"),
    fx.DiscardAudio: attrgetter("ears_task.discard"),
    fx.GuessReply: attrgetter("_guess_reply"),
    fx.StartReply: attrgetter("_start_reply"),
    fx.CancelReply: attrgetter("replies.cancel"),
    fx.ChangeAgent: attrgetter("_change_agent"),
    fx.StartPlayback: attrgetter("playback.start"),
    fx.HoldPlayback: attrgetter("playback.hold"),
    fx.ResumePlayback: attrgetter("playback.resume"),
    fx.StopPlayback: attrgetter("playback.stop"),
    fx.TruncateReply: attrgetter("playback.truncate"),
    fx.PlayCue: attrgetter("_play_cue"),
    fx.StopCue: attrgetter("cues.stop"),
    fx.RunCall: attrgetter("tool_calls.run"),
    fx.CancelWork: attrgetter("tool_calls.cancel"),
    fx.PostOutput: attrgetter("tool_calls.post_output"),
    fx.PostNews: attrgetter("tool_calls.post_news"),
    fx.ShowWait: attrgetter("tool_calls.show_wait"),
}
