"""Conversations on a server: whose they are, who may come back to them, and how they end."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from duologue.core.errors import DuologueError
from duologue.core.leaves import ErrorClass
from duologue.core.settings import Settings, profile
from duologue.ports.tool_call import ToolCall
from duologue.replay.journal import read_journal, replay
from duologue.runtime.agent import Agent
from duologue.server import screen
from duologue.testing import (
    AskPerson,
    Delay,
    Fail,
    Hang,
    ScriptedBrain,
    ScriptedEars,
    ScriptedSession,
    ScriptedVoice,
    scripted_tool,
)
from tests.server.served import Client, House, agent_that_says, serve

LONG = "This is a long answer that goes on and on, " * 6


async def talk(client: Client, text: str, after: int = 0) -> str:
    await client.send("type", text=text)
    told = await client.expect("caption", after=after, role="assistant", final=True)
    text_heard: str = told["text"]
    return text_heard


@pytest.mark.req("C-INT-003", "C-CON-001")
def test_a_client_is_told_of_every_state_in_its_language() -> None:
    async def script(house: House) -> None:
        client = await house.come()
        await client.begin("alice", language="de-AT")
        ready = client.told("ready")[0]
        assert ready["language"] == "de"
        assert ready["agent"] == {"name": "", "hears": True, "speaks": True}
        assert await talk(client, "hello") == "You said hello."
        await client.expect("state", after=1, state="listening")
        states = [told["state"] for told in client.told("state")]
        assert states == ["preparing", "listening", "processing", "waitingForCopilot", "speaking", "listening"]
        assert client.told("state", state="listening")[0]["localizedLabel"] == "Ich höre zu"
        assert set(client.told("state")[0]) == {
            "state", "previous", "localizedLabel", "cause", "phase", "previousPhase", "at", "since",
            "turnId", "turnRole", "metadata",
        }  # fmt: skip

    serve(script)


def test_a_turn_by_voice_is_heard_and_answered() -> None:
    async def script(house: House) -> None:
        client = await house.come()
        await client.begin("alice")
        for _ in range(5):
            await client.raw_send(bytes(1_024))
        ears = house.agents[-1].ears
        assert isinstance(ears, ScriptedEars)
        await house.until(lambda: ears.frames == 5)
        await house.say("when does it leave")
        await client.expect("caption", role="assistant", final=True)
        assert client.heard == "You said when does it leave."
        assert client.told("hearing", on=True)
        assert client.frames
        assert [chunk for _, chunk, _ in client.frames] == list(range(1, len(client.frames) + 1))

    serve(script)


@pytest.mark.req("C-CON-002")
def test_two_clients_never_get_a_word_or_a_sound_of_each_other() -> None:
    async def script(house: House) -> None:
        pairs = [(await house.come(), name) for name in ("ananas", "birne", "cassis", "dattel")]
        await asyncio.gather(*(client.begin(name) for client, name in pairs))

        async def go(client: Client, name: str) -> None:
            for turn in range(5):
                assert await talk(client, f"{name} {turn}", after=turn) == f"You said {name} {turn}."

        await asyncio.gather(*(go(client, name) for client, name in pairs))
        for client, name in pairs:
            everything = "".join(str(frame) for frame in client.raw if isinstance(frame, str))
            assert name in everything
            assert not [other for _, other in pairs if other != name and other in everything]
            voices = [voice for voice, _, _ in client.frames]
            assert voices == sorted(voices)
            assert len(set(voices)) == 5

    serve(script)


# -- Seats


@pytest.mark.req("C-CON-002")
def test_a_seat_that_is_in_a_conversation_is_taken() -> None:
    async def script(house: House) -> None:
        first, second = await house.come(), await house.come()
        await first.begin("alice")
        await second.hello("alice")
        assert (await second.gone())[0] == 4409
        assert second.told("error")[0]["code"] == "seat_taken"
        assert await talk(first, "still here") == "You said still here."

    serve(script)


@pytest.mark.req("C-CON-002")
def test_of_two_tabs_that_start_at_once_one_begins() -> None:
    async def script(house: House) -> None:
        first, second = await house.come(), await house.come()
        await asyncio.gather(first.hello("alice"), second.hello("alice"))
        await asyncio.gather(first.expect("ready"), second.expect("ready"))
        await first.send("start")
        await first.until_listening()
        await second.send("start")
        assert (await second.gone())[0] == 4409
        assert len(house.conversations.served) == 1

    serve(script)


def test_taking_over_moves_the_conversation_and_the_other_tab_is_told() -> None:
    async def script(house: House) -> None:
        first, second = await house.come(), await house.come()
        began = await first.begin("alice")
        await talk(first, "remember me")
        await second.hello("alice", take_over=True)
        moved = await second.expect("conversation")
        assert moved["conversation"] == began["conversation"]
        assert moved["resumed"] is True
        assert (await first.gone())[0] == 4410
        items = (await second.expect("history"))["items"]
        assert [item["text"] for item in items] == ["remember me", "You said remember me."]
        assert await talk(second, "and now") == "You said and now."
        assert "and now" not in str(first.messages)

    serve(script)


def test_a_tab_that_was_taken_over_and_stays_can_say_and_hear_nothing() -> None:
    """It may be slow to leave, or not want to."""

    async def script(house: House) -> None:
        first = await house.come(plays=False)
        await first.begin("alice")
        served = next(iter(house.conversations.served.values()))
        second = await house.come()
        await second.hello("alice", take_over=True)
        first.socket.transport.pause_reading()  # type: ignore[attr-defined]
        await second.expect("conversation")
        for _ in range(20):
            await first.send("type", text="I am not here")
            await first.send("end")
        assert await talk(second, "who is here") == "You said who is here."
        assert "I am not here" not in str(served.conversation.history)
        assert not served.is_over
        first.vanish()

    serve(script)


# -- Coming back


@pytest.mark.req("L-14", "L-15")
def test_with_its_key_a_client_comes_back_to_its_conversation_in_mid_sentence() -> None:
    async def script(house: House) -> None:
        first = await house.come(plays=False)
        began = await first.begin("alice")
        await first.send("type", text="tell me")
        await first.until(lambda: len(first.frames) >= 3, "some sound")
        voice = first.frames[0][0]
        await first.send("played", voice=voice, ms=150)
        first.vanish()
        await house.until(lambda: next(iter(house.conversations.served.values())).client is None)
        second = await house.come()
        second.heard_ms[voice] = 200
        await second.hello(
            "another seat",
            conversation=began["conversation"],
            key=began["key"],
            played={"voice": voice, "ms": 200, "chunk": 2},
        )
        assert (await second.expect("conversation"))["resumed"] is True
        told = await second.expect("caption", role="assistant", final=True)
        assert told["text"] == LONG.strip()
        assert [chunk for _, chunk, _ in second.frames][:2] == [3, 4]
        order = [told["type"] for told in second.messages]
        assert order[:2] == ["duologue.ready", "duologue.conversation"], "nothing overtakes the greeting"

    serve(script, agent_that_says([LONG]))


@pytest.mark.req("D-14", "L-14")
def test_a_client_that_comes_while_its_conversation_leaves_is_sent_after_it() -> None:
    # Once: it entered a conversation that was about to move, was greeted, and never heard of anything again.
    async def script(house: House) -> None:
        first = await house.come()
        began = await first.begin("alice")
        first.vanish()
        (served,) = house.conversations.served.values()
        await house.until(lambda: served.client is None)
        served.is_elsewhere = True  # another node has it, and this one is closing its own
        second = await house.come()
        await second.hello("alice", conversation=began["conversation"], key=began["key"])
        assert (await second.gone())[0] == 4503
        assert served.client is None
        served.is_elsewhere = False

    serve(script, agent_that_says([LONG]))


@pytest.mark.parametrize("key", ["", "wrong"])
def test_with_a_wrong_key_nobody_comes_into_the_conversation_of_another(key: str) -> None:
    async def script(house: House) -> None:
        first, second = await house.come(), await house.come()
        began = await first.begin("alice")
        await talk(first, "my secret")
        await second.hello("mallory", conversation=began["conversation"], key=key)
        await second.expect("notification", code="gone")
        assert not second.told("conversation")
        assert "my secret" not in str(second.messages)
        await second.send("type", text="hello?")
        refused = await second.expect("error", code="refused")
        assert "hello?" not in refused["message"]

    serve(script)


def test_a_conversation_that_is_over_is_gone_for_whoever_comes_back() -> None:
    async def script(house: House) -> None:
        first = await house.come()
        began = await first.begin("alice")
        await first.send("end")
        await first.expect("ended")
        second = await house.come()
        await second.hello("alice", conversation=began["conversation"], key=began["key"])
        await second.expect("notification", code="gone")

    serve(script)


# -- Beginning and ending


def test_a_second_start_is_refused_and_the_first_goes_on() -> None:
    async def script(house: House) -> None:
        client = await house.come()
        await client.begin("alice")
        await client.send("start")
        assert "already" in (await client.expect("error", code="refused"))["message"]
        assert await talk(client, "go on") == "You said go on."
        assert len(house.conversations.served) == 1

    serve(script)


def test_after_the_end_the_same_socket_starts_a_new_conversation() -> None:
    async def script(house: House) -> None:
        client = await house.come()
        ids = set()
        for turn in range(3):
            await (client.begin("alice") if not turn else client.send("start"))
            told = await client.expect("conversation", after=turn)
            ids.add(told["conversation"])
            await talk(client, "hello", after=turn)
            await client.send("end")
            assert (await client.expect("ended", after=turn))["canRestart"] is True
        assert len(ids) == 3
        assert not house.conversations.served

    serve(script)


@pytest.mark.req("L-19")
def test_hanging_up_before_the_line_is_open_ends_it_too() -> None:
    async def script(house: House) -> None:
        client = await house.come()
        await client.hello("alice")
        await client.send("start")
        await client.send("end")
        await client.expect("ended")
        assert not house.conversations.served

    serve(script, agent_that_says(session=lambda: ScriptedSession(open_ms=60_000)))


class FailingSource:
    """A server of tools that is down."""

    is_connected = False

    def __init__(self, failure: BaseException | None) -> None:
        self.failure = failure

    async def open(self) -> None:
        if self.failure is None:
            await asyncio.sleep(3_600)
        else:
            raise self.failure

    def workers(self) -> list[Any]:
        return []

    async def close(self) -> None:
        pass


@pytest.mark.parametrize("failure", [OSError("password=hunter2"), DuologueError("the tools are down")])
def test_a_conversation_that_cannot_begin_says_so_and_the_socket_stays(failure: Exception) -> None:
    async def script(house: House) -> None:
        client = await house.come()
        await client.hello("alice")
        await client.send("start")
        await client.expect("error", code="start_refused")
        await client.expect("ended")
        assert "hunter2" not in str(client.messages)
        await client.send("ping", t=1)
        await client.expect("pong", t=1)
        assert not house.conversations.served

    serve(script, agent_that_says(tools=[FailingSource(failure)]))


def test_hanging_up_while_tools_are_still_being_opened_ends_it() -> None:
    async def script(house: House) -> None:
        client = await house.come()
        await client.hello("alice")
        await client.send("start")
        await client.expect("conversation")
        await client.send("end")
        await client.expect("ended")
        assert not house.conversations.served

    serve(script, agent_that_says(tools=[FailingSource(None)]))


def test_an_agent_that_cannot_be_made_is_told_and_the_socket_stays() -> None:
    made = []

    def make() -> Agent:
        made.append(1)
        if len(made) == 2:
            raise RuntimeError("the model is broken: secret")
        return agent_that_says()()

    async def script(house: House) -> None:
        client = await house.come()
        await client.hello("alice")
        await client.send("start")
        await client.expect("error", code="start_refused")
        await client.send("start")
        await client.until_listening()
        assert "secret" not in str(client.messages)

    serve(script, make)


def test_a_full_server_sends_newcomers_away_and_keeps_its_guests() -> None:
    async def script(house: House) -> None:
        first, second = await house.come(), await house.come()
        await first.begin("alice")
        assert (await house.get("/readyz")).status == 503
        await second.hello("bob")
        await second.send("start")
        assert (await second.gone())[0] == 4429
        assert second.told("error")[0]["code"] == "too_many"
        assert await talk(first, "still here") == "You said still here."
        await first.send("end")
        await first.expect("ended")
        assert (await house.get("/readyz")).status == 200

    serve(script, conversations_max=1)


def test_a_server_that_stops_lets_a_conversation_end_by_itself_and_begins_none() -> None:
    async def script(house: House) -> None:
        first, second, third = [await house.come() for _ in range(3)]
        await first.begin("alice")
        await second.begin("bob")
        second.vanish()
        await house.until(lambda: sum(served.client is None for served in house.conversations.served.values()) == 1)
        await third.hello("carol")
        await third.expect("ready")
        draining = asyncio.ensure_future(house.conversations.drain())
        await first.expect("notification", code="stopping")
        assert (await house.get("/readyz")).status == 503
        assert (await house.get("/healthz")).status == 200
        await house.until(lambda: len(house.conversations.served) == 1)
        await third.send("start")
        assert (await third.gone())[0] == 4503
        assert await talk(first, "let me finish") == "You said let me finish."
        await first.send("end")
        await first.expect("ended")
        await asyncio.wait_for(draining, 5)
        assert (await first.gone())[0] == 4503

    serve(script, drain_s_max=30)


def test_a_server_that_stops_does_not_wait_for_ever() -> None:
    async def script(house: House) -> None:
        clients = [await house.come() for _ in range(5)]
        await asyncio.gather(*(client.begin(f"seat {at}") for at, client in enumerate(clients)))
        await asyncio.wait_for(house.conversations.drain(), 3)
        for client in clients:
            assert client.told("ended") or await client.gone()
            assert (await client.gone())[0] in (4503, 1012)
        assert not house.conversations.served

    serve(script, drain_s_max=0.1)


# -- Commands


def test_every_command_does_what_it_says_or_is_refused_in_one_line() -> None:
    async def script(house: House) -> None:
        client = await house.come(plays=False)
        await client.begin("alice")
        await client.send("suspend")
        await client.expect("state", state="suspended")
        await client.send("resume")
        await client.expect("state", after=1, state="listening")
        await client.send("type", text="hang")
        await client.expect("state", state="processing")
        await client.send("interrupt")
        await client.expect("state", after=2, state="listening")
        await client.send("type", text="x" * 4_001)
        assert "at most 4000" in (await client.expect("error", code="refused"))["message"]
        await client.send("type", text="   ")
        await client.expect("error", after=1, code="refused")
        await client.send("answer", call=99, text="nobody asked")
        await client.send("cancel", call=99)
        for plain in ("press", "release", "send", "retry", "dismiss"):
            await client.send(plain)
        await client.send("reconnect")
        await client.expect("state", after=3, state="listening")
        await client.send("ping", t=2.5)
        await client.expect("pong", t=2.5)
        assert client.closed is None

    serve(script, agent_that_says({"hang": [Hang()]}))


@pytest.mark.req("L-22")
def test_after_a_turn_the_numbers_of_the_session_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(screen, "METRICS_S_MIN", 0.0)

    async def script(house: House) -> None:
        client = await house.come()
        await client.begin("alice")
        await talk(client, "hello")
        await talk(client, "again", after=1)
        told = await client.expect("metrics", after=1)
        assert {"sessionMs", "turns", "meanFirstTokenMs", "interruptionRate", "calls", "errors", "stages"} <= set(told)
        assert set(told["stages"]) == {"speechEndToText", "textToToken", "tokenToAudio", "audioToPlayed"}

    serve(script)


def test_work_is_told_while_it_goes_on_and_to_whoever_comes_back() -> None:
    brain = lambda: ScriptedBrain([[ToolCall("look_up", {})], "It is eight."])  # noqa: E731
    worker = scripted_tool("look_up", Delay(60_000), "eight")

    async def script(house: House) -> None:
        first = await house.come()
        began = await first.begin("alice")
        await first.send("type", text="look it up")
        call = (await first.expect("work", event="started"))["call"]
        first.vanish()
        second = await house.come()
        await second.hello("alice", conversation=began["conversation"], key=began["key"])
        again = await second.expect("work", event="started")
        assert again["call"] == call
        assert again["tool"] == "look_up"

    serve(script, lambda: Agent(brain(), ears=ScriptedEars(), voice=ScriptedVoice(), tools=[worker]))


# -- What was missed


def quick_to_give_up() -> Settings:
    return replace(
        profile("confirm"),
        heal_ms_max=50, backoff_ms=(10,), connect_ms_max=100, reconnect_ms_max=200, dismiss_ms=50,
        prepare_ms_max=100, dead_air_ms=0,
    )  # fmt: skip


def test_a_page_that_is_loaded_anew_in_a_fault_is_shown_the_fault_and_what_it_can_do() -> None:
    async def script(house: House) -> None:
        first = await house.come()
        began = await first.begin("alice")
        await first.send("type", text="fail")
        fault = await first.expect("notification", level="error")
        second = await house.come()
        await second.hello("alice", conversation=began["conversation"], key=began["key"])
        assert await second.expect("notification", level="error") == fault
        assert fault["actions"] == ["retry", "dismiss"]
        await second.send("dismiss")
        await second.expect("state", state="listening")

    serve(script, agent_that_says({"fail": [Fail(ErrorClass.UNKNOWN)]}))


def test_a_question_of_a_job_is_asked_again_when_a_client_comes_back() -> None:
    def make() -> Agent:
        brain = ScriptedBrain([[ToolCall("book", {})], "It is booked."])
        return Agent(
            brain, ears=ScriptedEars(), voice=ScriptedVoice(), tools=[scripted_tool("book", AskPerson("Aisle?"))]
        )

    async def script(house: House) -> None:
        first = await house.come()
        began = await first.begin("alice")
        await first.send("type", text="book it")
        asked = await first.expect("work", event="asked")
        second = await house.come()
        await second.hello("alice", conversation=began["conversation"], key=began["key"])
        assert await second.expect("work", event="asked") == asked
        await second.send("answer", call=asked["call"], text="yes")
        await second.expect("work", event="ended")

    serve(script, make)


def test_a_question_of_a_job_that_was_answered_is_not_asked_again_when_a_client_comes_back() -> None:
    def make() -> Agent:
        brain = ScriptedBrain([[ToolCall("book", {})], "It is booked."])
        steps = (AskPerson("Aisle?"), Delay(60_000))
        return Agent(brain, ears=ScriptedEars(), voice=ScriptedVoice(), tools=[scripted_tool("book", *steps)])

    async def script(house: House) -> None:
        first = await house.come()
        began = await first.begin("alice")
        await first.send("type", text="book it")
        asked = await first.expect("work", event="asked")
        await first.send("answer", call=asked["call"], text="yes")
        await house.until(
            lambda: not house.conversations.served[began["conversation"]].conversation.engine.tool_calls.asking
        )
        second = await house.come()
        await second.hello("alice", conversation=began["conversation"], key=began["key"])
        await second.expect("work", event="started")
        await second.send("ping", t=1)
        await second.expect("pong")
        assert second.told("work", event="asked") == []

    serve(script, make)


@pytest.mark.req("L-14")
def test_what_got_no_answer_because_nobody_was_there_is_told_to_whoever_comes_back() -> None:
    async def script(house: House) -> None:
        first = await house.come()
        began = await first.begin("alice")
        await first.send("type", text="is anybody there")
        await first.expect("state", state="processing")
        first.vanish()
        await house.until(lambda: not house.conversations.served)
        stranger = await house.come()
        await stranger.hello("mallory", conversation=began["conversation"], key="wrong")
        await stranger.expect("notification", code="gone")
        second = await house.come()
        await second.hello("alice", conversation=began["conversation"], key=began["key"])
        await second.expect("notification", code="gone")
        lost = await second.expect("notification", code="lost")
        assert "is anybody there" in lost["message"]
        assert "anybody" not in str(stranger.messages)

    serve(script, agent_that_says([[Hang()]], profile=quick_to_give_up()))


# -- The debug view and the journal


def test_the_debug_view_gets_every_step_so_far_and_each_one_after_it_in_order() -> None:
    async def script(house: House) -> None:
        client = await house.come()
        await client.begin("alice")
        await talk(client, "first words")
        await client.send("debug", on=True)
        opened = await client.expect("debug")
        assert {"rows", "regions", "settings", "moments"} <= set(opened)
        assert opened["moments"][0]["event"] == "StartRequested"
        await talk(client, "second words", after=1)
        steps = [*opened["moments"], *client.told("moment")]
        assert [step["at"] for step in steps] == sorted(step["at"] for step in steps)
        assert {"TextTyped", "TokenArrived", "PlaybackFinished"} <= {step["event"] for step in client.told("moment")}
        assert "words" not in str(steps)
        await client.send("debug", on=False)
        await client.send("ping", t=1)
        await client.expect("pong")
        seen = len(client.told("moment"))
        await talk(client, "third words", after=2)
        assert len(client.told("moment")) == seen

    serve(script)


def test_a_flood_of_debug_requests_is_worked_off_once() -> None:
    async def script(house: House) -> None:
        client = await house.come()
        await client.begin("alice")
        for _ in range(100):
            await client.send("debug", on=True)
        await client.send("ping", t=1)
        await client.expect("pong")
        await client.expect("debug")
        assert len(client.told("debug")) < 100

    serve(script)


def test_a_journal_is_for_whoever_has_the_key_and_replays() -> None:
    async def script(house: House) -> None:
        client = await house.come()
        began = await client.begin("alice")
        await talk(client, "nothing of this is in it")
        place = f"/conversations/{began['conversation']}/journal"
        for over in (False, True):
            if over:
                await client.send("end")
                await client.expect("ended")
            answer = await house.get(place, X_Conversation_Key=began["key"])
            assert answer.status == 200
            journal = read_journal(answer.body.decode().splitlines(keepends=True), complete=over)
            assert len(list(replay(journal))) == len(journal.entries) > 10
            assert b"nothing of this" not in answer.body
            shown = await house.get("/debug/replay", data=answer.body)
            assert shown.status == 200
        for key in ("", "wrong", began["key"][:-1], "ä"):
            assert (await house.get(place, X_Conversation_Key=key)).status == 404
        assert (await house.get("/conversations/nope/journal", X_Conversation_Key=began["key"])).status == 404

    serve(script)


def test_journals_that_are_kept_are_told_to_the_client_and_lie_in_the_folder(tmp_path: Any) -> None:
    async def script(house: House) -> None:
        client = await house.come()
        began = await client.begin("alice")
        assert began["saved"] is True
        await client.send("end")
        await client.expect("ended")
        names = [path.name for path in (tmp_path / "kept").iterdir()]
        assert len(names) == 2
        assert not [name for name in names if began["conversation"] in name or "alice" in name]

    serve(script, journals=tmp_path / "kept")


def test_a_folder_for_journals_that_cannot_be_written_keeps_nobody_else_from_talking(tmp_path: Any) -> None:
    async def script(house: House) -> None:
        (tmp_path / "kept").write_text("a file, not a folder")
        client = await house.come()
        await client.hello("alice")
        await client.send("start")
        await client.expect("error", code="start_refused")
        await client.send("ping", t=1)
        await client.expect("pong")

    serve(script, journals=tmp_path / "kept")
