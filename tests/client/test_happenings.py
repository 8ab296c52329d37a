"""What the server sends becomes what a program is told."""

from __future__ import annotations

import pytest

from duologue.client.happenings import (
    CaptionChanged,
    Happening,
    NoticeShown,
    PhaseChanged,
    TalkOpened,
    TalkOver,
    VoiceArrived,
    happening,
)
from duologue.client.messages import CUE, VOICE, ServerSaid, VoiceChunk

SAID = {"role": "user", "text": "hello", "unheard": "", "final": True, "turn": 4, "reply": 0}
CASES = [
    (ServerSaid("conversation", {"conversation": "c", "key": "k", "resumed": True}), TalkOpened("c", True)),
    (ServerSaid("ended", {"reason": "hung up", "canRestart": True}), TalkOver("hung up")),
    (
        ServerSaid("state", {"phase": "speaking", "previousPhase": "thinking", "localizedLabel": "Speaking"}),
        PhaseChanged("speaking", "thinking", "Speaking"),
    ),
    (ServerSaid("caption", SAID), CaptionChanged("user", "hello", "", True, 4)),
    (
        ServerSaid("caption", {**SAID, "role": "assistant", "unheard": " you", "final": False, "reply": 9}),
        CaptionChanged("assistant", "hello", " you", False, 9),
    ),
    (
        ServerSaid("notification", {"level": "error", "code": "lost", "message": "No answer"}),
        NoticeShown("error", "lost", "No answer"),
    ),
    (VoiceChunk(VOICE, 1, 2, b"ab"), VoiceArrived(1, 2, b"ab")),
    (VoiceChunk(CUE, 1, 0, b"ab"), VoiceChunk(CUE, 1, 0, b"ab")),
    (ServerSaid("metrics", {"turns": 1}), ServerSaid("metrics", {"turns": 1})),
]


@pytest.mark.parametrize(("received", "told"), CASES)
def test_a_frame_is_told_as(received: ServerSaid | VoiceChunk, told: Happening) -> None:
    assert happening(received) == told
