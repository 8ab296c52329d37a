"""The session of the agent is renewed while a client of the Realtime protocol is connected: the client notices
nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from duologue.core.leaves import ErrorClass
from duologue.ports.failure import ServiceError
from duologue.testing import ScriptedBrain, ScriptedSession
from tests.server.realtime.client_script import WEATHER, ScriptedClient, play, words_of
from tests.server.realtime.tone_agent import SETTINGS, tone_agent

HEARS = ["good morning", "tell me a story", "stop please now", "the weather", "thank you"]
OFTEN = replace(SETTINGS, session_ms_max=700, session_warning_ms=500)


async def whole_conversation(client: ScriptedClient) -> None:
    """A turn, an interruption with a truncation, a function of the client, a typed text, and pauses."""
    await client.configure(audio={"input": {"transcription": {"model": "whisper-1"}}}, tools=[WEATHER])
    await client.speak()
    await client.done()
    await asyncio.sleep(3)
    await client.speak()
    story = await client.expect("response.output_item.added", after=1)
    await asyncio.sleep(1)
    await client.speak()
    item = story["item"]["id"]
    await client.send("conversation.item.truncate", item_id=item, content_index=0, audio_end_ms=960)
    await client.done(2)
    await asyncio.sleep(3)
    await client.speak()
    call = await client.expect("response.function_call_arguments.done")
    await asyncio.sleep(5)  # the function takes longer than a session
    output = {"type": "function_call_output", "call_id": call["call_id"], "output": "sun"}
    await client.send("conversation.item.create", item=output)
    await client.send("response.create")
    await client.done(4)
    await asyncio.sleep(3)
    await client.write("one more thing")
    await client.send("response.create")
    await client.done(5)
    await client.send("conversation.item.retrieve", item_id=item)
    await client.expect("conversation.item.retrieved")
    await asyncio.sleep(3)


def conversation(settings: Any, session: ScriptedSession | None = None) -> ScriptedClient:
    made = (lambda: session) if session is not None else None
    return play(whole_conversation, tone_agent(hears=[*HEARS], settings=settings, session=made))


def shown(client: ScriptedClient) -> list[Any]:
    """Everything that the client was sent, with its ids replaced by numbers in the order in which they appear."""
    known: dict[str, int] = {}

    def plain(given: Any) -> Any:
        if isinstance(given, dict):
            return {name: plain(value) for name, value in given.items()}
        if isinstance(given, list):
            return [plain(value) for value in given]
        if isinstance(given, str) and given.startswith(("event_", "item_", "resp_", "call_", "sess_", "conv_")):
            return known.setdefault(given, len(known))
        return given

    return [plain(event) for event in client.events]


@pytest.mark.req("L-24")
@pytest.mark.parametrize(
    "session",
    [
        lambda: ScriptedSession(),
        lambda: ScriptedSession(renew_ms=400),
    ],
    ids=["at once", "slowly"],
)
def test_a_client_is_sent_exactly_the_same_whether_sessions_are_renewed_or_not(
    session: Callable[[], ScriptedSession],
) -> None:
    quiet, renewed = session(), session()
    without, with_renewals = conversation(SETTINGS, quiet), conversation(OFTEN, renewed)
    assert (quiet.renewals, renewed.renewals > 15) == (0, True)
    assert shown(with_renewals) == shown(without)
    assert with_renewals.errors == []
    responses = [event["response"] for event in with_renewals.told("response.done")]
    assert [one["status"] for one in responses] == [
        "completed", "cancelled", "completed", "completed", "completed", "completed"
    ]  # fmt: skip
    assert words_of(responses[-1]) == "You said one more thing."
    items = [event["item"]["id"] for event in with_renewals.told("conversation.item.added")]
    assert len(items) == len(set(items)), "no item appears twice"
    contexts = [context for context in renewed.contexts if context is not None]
    assert contexts, "each session gets what was said before it"
    assert len(contexts[-1].recent) >= 6


def broken_renewal(session_ms: int, first_ms: int = 0) -> tuple[ScriptedClient, ScriptedSession]:
    """A conversation in which the first renewal fails, so that the session is opened again."""
    session = ScriptedSession(renew_failures=[ServiceError(ErrorClass.SERVER_ERROR)])
    settings = replace(SETTINGS, session_ms_max=session_ms, session_warning_ms=session_ms - 100)
    agent = tone_agent(hears=["tell me a story", "thank you"], settings=settings, session=lambda: session)
    assert isinstance(agent.brain, ScriptedBrain)
    agent = replace(agent, brain=replace(agent.brain, first_ms=first_ms))

    async def script(client: ScriptedClient) -> None:
        await client.speak()
        await client.done()
        await asyncio.sleep(8)
        await client.speak()
        await client.done(1)
        await asyncio.sleep(3)

    return play(script, agent), session


def test_a_renewal_that_fails_in_the_middle_of_an_answer_fails_that_response_and_the_sentence_is_said_again() -> None:
    client, session = broken_renewal(session_ms=2_500)
    assert session.opens == 2, "the session was opened again"
    broken, again, thanks = [event["response"] for event in client.told("response.done")]
    assert (broken["status"], broken["status_details"]["error"]["code"]) == ("failed", "session_lost")
    truncated = client.told("conversation.item.truncated")
    assert [one["item_id"] for one in truncated] == [broken["output"][0]["id"]]
    assert 0 < truncated[0]["audio_end_ms"] <= client.sound_ms(broken["output"][0]["id"])
    assert (again["status"], words_of(again).split()[-1]) == ("completed", "word40.")
    assert (thanks["status"], words_of(thanks)) == ("completed", "You said thank you.")
    assert len(client.told("response.created")) == 3


def test_a_renewal_that_fails_before_an_answer_begins_leaves_its_response_open() -> None:
    client, session = broken_renewal(session_ms=1_500, first_ms=1_000)
    assert session.opens == 2
    story, thanks = [event["response"] for event in client.told("response.done")]
    assert (story["status"], words_of(story).split()[-1]) == ("completed", "word40.")
    assert thanks["status"] == "completed"
    assert client.told("conversation.item.truncated") == []
    assert len(client.told("response.created")) == 2, "it was made again within the same response"
