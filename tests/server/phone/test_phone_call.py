"""Calls that are transferred, held, recorded, or send keys: on both carriers, against a strict network."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from duologue.audio.g711 import ulaw_to_pcm
from duologue.lab.sim.call_script import HangUp, Hear, Press, Wait
from duologue.lab.sim.jumping_clock import run_jumping
from duologue.lab.sim.telephones import AnsweredBy, Telephone
from duologue.lines.phone.carriers import CARRIERS
from duologue.lines.phone.tones import KeyDetector
from duologue.ports.context import Context, NotPossible, TransferFailed
from duologue.replay.journal import read_journal, replay
from duologue.runtime.conversation import Conversation
from duologue.workers.collect import CollectDigits
from tests.limits import WAIT_S
from tests.server.phone.network_calls import (
    ACCEPTS,
    CALLER,
    DECLINES,
    DESK,
    OWN,
    PRESSES,
    Office,
    desk_agent,
    office,
    until,
)

both = pytest.mark.parametrize("carrier", CARRIERS)
STAYS = Telephone(steps=(*PRESSES, Wait(60_000)))


def in_a_call(
    carrier: str,
    action: Callable[[Context[Any]], Awaitable[None]],
    check: Callable[[Office], Awaitable[None]],
    book: dict[str, Telephone] | None = None,
    **changes: Any,
) -> None:
    """A person calls and presses a key, the agent acts, and the outcome is checked."""

    async def run() -> None:
        async with office(carrier, desk_agent(action), {CALLER: STAYS, **(book or {})}, **changes) as here:
            here.network.call_in(CALLER, OWN)
            await check(here)
            assert here.network.refused == [] or "refuses" in str(here.said())

    run_jumping(run())


async def _cold(context: Context[Any]) -> None:
    await context.transfer("+49 30 555-222")


@both
@pytest.mark.req("H-05")
def test_a_cold_transfer_connects_the_caller_after_the_last_word(carrier: str) -> None:
    async def check(here: Office) -> None:
        await until(lambda: here.network.bridges)
        assert here.network.bridges == [(CALLER, DESK)]
        assert await asyncio.wait_for(here.conversations[0].wait(), WAIT_S) in ("transferred", "hung up")
        assert here.said() == ["Hello.", "One moment."], "the last words were heard to their end"
        await until(lambda: "hangs up" in here.network.log.of(CALLER))
        assert len(here.conversations) == 1

    in_a_call(carrier, _cold, check, {DESK: Telephone()})


PBX = "sip:desk@pbx.example.com"


@both
@pytest.mark.parametrize("briefing", ["", "A caller asks about an invoice."])
def test_a_call_is_transferred_to_a_sip_address(carrier: str, briefing: str) -> None:
    async def transfer(context: Context[Any]) -> None:
        await context.transfer(PBX, briefing=briefing)

    async def check(here: Office) -> None:
        if briefing:
            await until(lambda: list(here.network.rooms.values()) == [[PBX, CALLER]])
        else:
            await until(lambda: here.network.bridges == [(CALLER, PBX)])

    in_a_call(carrier, transfer, check, {PBX: Telephone(steps=(*ACCEPTS, Wait(60_000)) if briefing else ())})


@both
@pytest.mark.parametrize(("answer", "why"), [(AnsweredBy.BUSY, "busy"), (AnsweredBy.NO_ANSWER, "no answer")])
def test_a_cold_transfer_that_no_person_answers_comes_back_to_the_agent(
    carrier: str, answer: AnsweredBy, why: str
) -> None:
    async def check(here: Office) -> None:
        await until(lambda: len(here.conversations) == 2 and here.said(1))
        assert here.conversations[1].call_context.info.returned == why
        assert here.conversations[1].call_context.caller == CALLER
        assert here.said(1)[0].startswith("I couldn't reach anyone there.")

    in_a_call(carrier, _cold, check, {DESK: Telephone(answer, ring_ms=50)})


@both
def test_a_transfer_that_the_carrier_refuses_leaves_the_call_with_the_agent(carrier: str) -> None:
    async def check(here: Office) -> None:
        leg = next(iter(here.network.legs.values()))
        await until(lambda: here.conversations)
        del here.network.legs[leg.call]  # the carrier no longer knows the call
        await until(lambda: len(here.said()) >= 3)
        assert f"refused: {carrier} refuses" in here.said()[2]
        assert here.conversations[0].phase != "idle", "the conversation goes on"
        here.network.legs[leg.call] = leg

    in_a_call(carrier, _cold, check, {DESK: Telephone()})


def test_a_transfer_without_the_setting_is_refused_by_its_name() -> None:
    async def check(here: Office) -> None:
        await until(lambda: len(here.said()) >= 3)
        assert "set twilio_account_sid (TWILIO_ACCOUNT_SID)" in here.said()[2]

    in_a_call("twilio", _cold, check, {DESK: Telephone()}, twilio_account_sid="")


def test_a_number_that_cannot_be_dialled_is_refused_and_the_call_goes_on() -> None:
    async def transfer(context: Context[Any]) -> None:
        await context.transfer("the manager")

    async def check(here: Office) -> None:
        await until(lambda: len(here.said()) >= 3)
        assert "`to` must be a number with + and country code" in here.said()[2]

    in_a_call("twilio", transfer, check)


# -- With a briefing


async def _warm(context: Context[Any]) -> None:
    await context.transfer(DESK, briefing="A caller has a question about an invoice.")


@both
def test_a_warm_transfer_briefs_the_person_and_connects_both(carrier: str) -> None:
    async def check(here: Office) -> None:
        await until(lambda: sum(map(len, here.network.rooms.values())) == 2)
        assert list(here.network.rooms.values()) == [[DESK, CALLER]]
        assert len(here.conversations) == 2
        assert here.said(1)[0].startswith("A caller has a question about an invoice. Press 1")
        await asyncio.wait_for(here.conversations[0].wait(), WAIT_S)

    in_a_call(carrier, _warm, check, {DESK: Telephone(steps=(*ACCEPTS, Wait(60_000)))})


@both
@pytest.mark.parametrize(
    ("phone", "why"),
    [
        (Telephone(AnsweredBy.BUSY), "busy"),
        (Telephone(steps=(*DECLINES, Wait(60_000))), "declined"),
        (Telephone(steps=(Hear(60), HangUp())), "hung up"),
    ],
    ids=["busy", "declined", "hung up"],
)
def test_a_warm_transfer_that_no_person_takes_comes_back(carrier: str, phone: Telephone, why: str) -> None:
    heard: list[str] = []

    async def transfer(context: Context[Any]) -> None:
        try:
            await _warm(context)
        except TransferFailed as failure:
            heard.append(failure.outcome)
            raise

    async def check(here: Office) -> None:
        await until(lambda: len(here.said()) >= 3)
        assert heard == [why]
        assert here.said()[2].startswith("It is refused: the call wasn't transferred")
        assert here.network.rooms == {}
        await until(lambda: any("hangs up" in what or "busy" in what for what in here.network.log.of(DESK)))

    in_a_call(carrier, transfer, check, {DESK: phone})


def test_a_person_who_does_not_exist_is_refused_and_the_caller_hears_the_agent_again() -> None:
    async def check(here: Office) -> None:
        await until(lambda: len(here.said()) >= 3)
        assert "twilio refuses (21211)" in here.said()[2]

    in_a_call("twilio", _warm, check)


@both
def test_a_caller_who_hangs_up_on_hold_ends_the_call_to_the_person_who_takes_over(carrier: str) -> None:
    async def check(here: Office) -> None:
        await until(lambda: "rings" in here.network.log.of(DESK))
        next(iter(here.network.legs.values())).scripted.hang_up()  # type: ignore[union-attr]
        await until(lambda: "stops ringing" in here.network.log.of(DESK))

    in_a_call(carrier, _warm, check, {DESK: Telephone(ring_ms=60_000)})


# -- Hold, keys, recording


@both
def test_a_person_on_hold_hears_music_until_the_conversation_goes_on(carrier: str) -> None:
    async def hold(context: Context[Any]) -> None:
        await context.hold()
        await asyncio.sleep(0.5)
        await context.hold(False)

    async def check(here: Office) -> None:
        await until(lambda: here.conversations and here.conversations[0].phase == "paused")
        scripted = next(iter(here.network.legs.values())).scripted
        assert scripted is not None
        await until(lambda: scripted.sounding_ms > 200)
        await until(lambda: len(here.said()) >= 3)
        assert here.said()[2] == "It is done."

    in_a_call(carrier, hold, check)


@both
def test_a_call_with_a_hold_is_replayed_from_its_journal(carrier: str, tmp_path: Path) -> None:
    found: list[Conversation] = []

    async def hold(context: Context[Any]) -> None:
        await context.hold()
        await asyncio.sleep(0.5)
        await context.hold(False)

    async def check(here: Office) -> None:
        await until(lambda: len(here.said()) >= 3)
        found.extend(here.conversations)
        assert here.conversations[0].call_context.line == "phone"

    in_a_call(carrier, hold, check, journals=tmp_path)
    (conversation,) = found
    lines = (tmp_path / f"{conversation.id}.jsonl").read_text("utf-8").splitlines(keepends=True)
    records = list(replay(read_journal(lines)))  # checks the digest of each state
    causes = [type(one.event).__name__ for one in records]
    assert [one for one in causes if one.startswith(("Suspend", "Resume"))] == ["SuspendRequested", "ResumeRequested"]
    assert records[-1].after == conversation.machine_state


@both
def test_keys_are_heard_by_the_other_side(carrier: str) -> None:
    async def press(context: Context[Any]) -> None:
        await context.send_digits("42#")

    async def check(here: Office) -> None:
        scripted = None
        while scripted is None:
            await asyncio.sleep(0.01)
            scripted = next(iter(here.network.legs.values())).scripted
        await until(lambda: len(here.said()) >= 3)
        detector = KeyDetector()
        assert "".join(detector.hear(ulaw_to_pcm(frame.coded)) for frame in scripted.frames) == "42#"

    in_a_call(carrier, press, check)


@both
def test_digits_that_a_tool_asks_for_are_complete_at_their_length(carrier: str) -> None:
    found: list[str] = []

    async def collect(context: Context[Any]) -> None:
        found.append(await context.run(CollectDigits("Your PIN?", length=4, pause_ms=60_000, hidden=True)))

    async def check(here: Office) -> None:
        await until(lambda: len(here.said()) >= 4)
        assert found == ["4711"]
        assert "4711" not in str(here.conversations[0].history), "a secret stays out of the history"

    person = Telephone(steps=(*PRESSES, Wait(600), Press("4711"), Wait(60_000)))
    in_a_call(carrier, collect, check, {CALLER: person})


def test_what_is_no_key_is_refused() -> None:
    async def press(context: Context[Any]) -> None:
        await context.send_digits("four")

    async def check(here: Office) -> None:
        await until(lambda: len(here.said()) >= 3)
        assert "keys must be 0 to 9" in here.said()[2]

    in_a_call("twilio", press, check)


@both
def test_a_recording_is_started_paused_and_continued(carrier: str) -> None:
    async def record(context: Context[Any]) -> None:
        for on in (True, False, True):
            await context.record(on)

    async def check(here: Office) -> None:
        await until(lambda: len(here.said()) >= 3)
        assert here.said()[2] == "It is done."
        assert here.network.recordings == ["started", "paused", "in-progress"]

    in_a_call(carrier, record, check)


def test_the_carrier_never_records_a_private_agent() -> None:
    async def record(context: Context[Any]) -> None:
        await context.record(False)
        await context.record()

    async def check(here: Office) -> None:
        await until(lambda: len(here.said()) >= 3)
        assert "can't be recorded, because its agent is private" in here.said()[2]
        assert "started" not in here.network.recordings

    async def run() -> None:
        agent = replace(desk_agent(record), private=True)
        async with office("twilio", agent, {CALLER: STAYS}) as here:
            here.network.call_in(CALLER, OWN)
            await check(here)

    run_jumping(run())


def test_a_transfer_that_is_cancelled_while_it_is_being_dialled_leaves_no_telephone_ringing() -> None:
    async def cancel(context: Context[Any]) -> None:
        first = asyncio.ensure_future(_warm(context))
        await asyncio.sleep(0)
        with pytest.raises(NotPossible, match="in progress already"):  # it is being dialled
            await context.transfer(DESK)
        await context.hold(False)
        with pytest.raises(TransferFailed, match="cancelled"):
            await first

    async def check(here: Office) -> None:
        await until(lambda: "rings" in here.network.log.of(DESK))
        await until(lambda: "stops ringing" in here.network.log.of(DESK))

    in_a_call("twilio", cancel, check, {DESK: Telephone(ring_ms=60_000)})


def test_a_second_transfer_during_a_transfer_is_refused() -> None:
    ringing = asyncio.Event()

    async def twice(context: Context[Any]) -> None:
        first = asyncio.ensure_future(_warm(context))
        await ringing.wait()
        try:
            await context.transfer(DESK)
        finally:
            await context.hold(False)
            with pytest.raises(TransferFailed, match="cancelled"):
                await first

    async def check(here: Office) -> None:
        await until(lambda: "rings" in here.network.log.of(DESK))
        ringing.set()
        await until(lambda: len(here.said()) >= 3)
        assert "a transfer of this call is in progress already" in here.said()[2]
        await until(lambda: "stops ringing" in here.network.log.of(DESK))

    in_a_call("twilio", twice, check, {DESK: Telephone(ring_ms=60_000)})
