"""The table of the translation, and what holds for every sequence of inputs."""

from __future__ import annotations

from collections import Counter
from typing import Any, get_args

from hypothesis import given, settings
from hypothesis import strategies as st

from duologue.server.realtime import facts as fa
from duologue.server.rtvi import acts as do
from duologue.server.rtvi import facts as fc
from duologue.server.rtvi import incoming as im
from duologue.server.rtvi.exchange import RtviState
from duologue.server.rtvi.refusal import MessageRefused
from duologue.server.rtvi.translation import TABLE, step
from tests.server.rtvi.message_types import problems_of_message
from tests.server.rtvi.rtvi_steps import Translation


def test_every_kind_of_input_has_its_place() -> None:
    kinds = [one for one in vars(im).values() if isinstance(one, type) and issubclass(one, im.IncomingMessage)]
    messages = set(kinds) - {im.IncomingMessage}
    assert set(TABLE) == messages | set(get_args(fc.OwnFact)) | set(get_args(fc.SharedFact))


def test_a_refused_message_changes_nothing() -> None:
    talk = Translation()
    before = talk.state
    assert talk.kinds(im.GiveResult("a", "call_9", "f", "x")) == ["error-response"]
    assert talk.state == before
    assert talk.kinds(MessageRefused("No.")) == ["error"]


TEXT = "Yes, sure. What else?"
PLAUSIBLE: list[Any] = [
    im.ClientReady("r", "2.1.0"),
    im.ClientReady("r", "1.4.0"),
    im.ClientReady("r", "9.9.9"),
    fc.TalkBegan(),
    im.SendText("a", "hi"),
    im.SendText("a", "hi", speaks=False),
    im.SendText("a", "hi", runs=False),
    im.SendProgramMessage("a", "x", {"b": 1}),
    *(im.GiveResult("a", f"call_{call}", "f", "sun") for call in (1, 2)),
    im.PressKeys("a", "1"),
    im.DisconnectBot("a"),
    MessageRefused("No."),
    MessageRefused("No.", "a"),
    *(fa.UserBegan(turn) for turn in (1, 2)),
    *(fc.PartialHeard(turn, "some words") for turn in (1, 2)),
    *(fa.UserEnded(turn, "words", turn == 3) for turn in (1, 2, 3)),
    fa.UserDropped(2),
    *(fa.ReplyStarted(reply) for reply in (1, 2)),
    *(fa.ReplyWorded(reply, TEXT[:end], "shown"[: end // 4]) for reply in (1, 2) for end in (4, 11, 21)),
    *(fc.AgentSounded(voice) for voice in (1, 2)),
    *(fc.PlayedSoFar(reply, chars) for reply in (1, 2) for chars in (0, 3, 12, 21, 99)),
    *(fa.SoundCut(voice) for voice in (1, 2)),
    *(fa.SoundHeard(voice, 300, TEXT[:14]) for voice in (1, 2)),
    fc.AgentFellSilent(),
    *(fa.ReplyDropped(reply) for reply in (1, 2)),
    *(fa.ReplyComplete(reply) for reply in (1, 2)),
    *(fa.CallMade(call, "f", '{"a": 1}') for call in (1, 2)),
    *(fa.CallEnded(call) for call in (1, 2)),
    *(fc.OwnCallBegan(call) for call in (3, 4)),
    *(fc.OwnCallEnded(call) for call in (3, 4)),
    fa.Rested(),
    fa.FaultShown("brain", "server_error"),
    fa.TokensUsed(1, 0, 2),
    fc.CharactersUsed(3),
    fc.AnswerMeasured(10, 20),
    fc.ProgramAnswered("q", "x", 1),
    fc.ProgramSent("data"),
    fc.InputRefused("Too much."),
]


@settings(max_examples=200, deadline=None)
@given(st.lists(st.sampled_from(PLAUSIBLE), max_size=50))
def test_whatever_happens_the_messages_are_valid_and_what_starts_stops_once(inputs: list[Any]) -> None:
    state = RtviState()
    messages: list[dict[str, Any]] = []
    for one in inputs:
        state, acts = step(state, one)
        for act in acts:
            if isinstance(act, do.SendToClient):
                stamp = {"timestamp": "now"} if act.is_stamped else {}
                data = {} if act.data is None else {"data": {**act.data, **stamp} if stamp else act.data}
                messages.append({"label": "rtvi-ai", "type": act.type, "id": act.id or "empty", **data})
    assert [problem for message in messages for problem in problems_of_message(message)] == []
    count = Counter(message["type"] for message in messages)
    assert count["user-started-speaking"] == count["user-stopped-speaking"] + bool(state.speaking_turn)
    assert count["bot-llm-started"] == count["bot-llm-stopped"] + state.is_thinking
    assert count["bot-started-speaking"] == count["bot-stopped-speaking"] + bool(state.voice)
    assert count["bot-tts-started"] == count["bot-tts-stopped"] + bool(state.voice)
    open_calls = len(state.calls) + len(state.own_calls)
    assert count["llm-function-call-started"] == count["llm-function-call-stopped"] + open_calls
    check_segments([message["data"] for message in messages if message["type"] == "bot-output"])


def check_segments(outputs: list[dict[str, Any]]) -> None:
    """Each segment is new once, and what is heard of it only grows."""
    heard: dict[int, int] = {}
    for output in outputs:
        if not output.get("will_be_spoken"):
            continue
        number, progress = output["segment_id"], output["spoken_progress"]
        assert progress["accumulated_text"] + progress["remaining_text"] == output["text"]
        assert (output["spoken_status"] == "new") == (number not in heard)
        assert (output["spoken_status"] == "completed") == (not progress["remaining_text"])
        assert len(progress["accumulated_text"]) > heard.get(number, -1)
        heard[number] = len(progress["accumulated_text"])
