"""Calls that are placed here: answered, busy, not answered, refused."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from duologue.lab.sim.call_script import Beep, Expect, HangUp, Hear, Listen, Wait
from duologue.lab.sim.carrier_network import Leg
from duologue.lab.sim.dial import WEBHOOKS
from duologue.lab.sim.jumping_clock import run_jumping
from duologue.lab.sim.telephones import AnsweredBy, Telephone
from duologue.lines.phone.call.state import Answerer, CallEnd, CallStage, OnMachine
from duologue.lines.phone.carriers import CARRIERS
from duologue.ports.context import CallInfo, NotPossible
from duologue.server.phone.numbers import Undialable
from tests.limits import WAIT_S
from tests.server.phone.network_calls import CALLER, DESK, OWN, PRESSES, desk_agent, office

both = pytest.mark.parametrize("carrier", CARRIERS)


async def _nothing(context: Any) -> None:
    """Nothing."""


@both
def test_a_call_is_placed_rings_is_answered_and_talks(carrier: str) -> None:
    async def run() -> None:
        book = {CALLER: Telephone(steps=(Listen(), HangUp()))}
        infos: list[CallInfo] = []

        def make(context: Any) -> Any:
            infos.append(context.info)
            return desk_agent(_nothing)

        async with office(carrier, make, book) as here:
            call = here.exchange.dial(CALLER, parameters={"order": "4711"})
            stages: list[CallStage] = []
            call.watch = lambda _, state: stages.append(state.stage)
            assert await asyncio.wait_for(call.over, WAIT_S) is CallEnd.COMPLETED
            assert stages == [CallStage.DIALLING, CallStage.RINGING, CallStage.TALKING, CallStage.ENDED]
            assert here.said() == ["Hello."]
            assert here.network.refused == []
            info = infos[-1]
            assert (info.direction, info.caller, info.called) == ("out", OWN, CALLER)
            assert info.parameters == {"order": "4711"}

    run_jumping(run())


@both
def test_a_sip_address_is_called_like_a_number(carrier: str) -> None:
    async def run() -> None:
        ann = "sip:ann@pbx.example.com"
        async with office(carrier, desk_agent(_nothing), {ann: Telephone(steps=(Listen(), HangUp()))}) as here:
            call = here.exchange.dial(ann)
            assert await asyncio.wait_for(call.over, WAIT_S) is CallEnd.COMPLETED
            assert here.conversations[0].call_context.called == ann
            assert here.network.refused == []

    run_jumping(run())


@both
@pytest.mark.parametrize(
    ("answer", "outcome"), [(AnsweredBy.BUSY, CallEnd.BUSY), (AnsweredBy.NO_ANSWER, CallEnd.NO_ANSWER)]
)
def test_a_telephone_that_is_busy_or_not_answered_is_told(carrier: str, answer: AnsweredBy, outcome: CallEnd) -> None:
    async def run() -> None:
        async with office(carrier, desk_agent(_nothing), {CALLER: Telephone(answer)}) as here:
            call = here.exchange.dial(CALLER, ring_ms=1_000)
            assert await asyncio.wait_for(call.over, WAIT_S) is outcome
            assert here.conversations == []

    run_jumping(run())


@both
def test_a_call_that_is_no_longer_wanted_stops_ringing(carrier: str) -> None:
    async def run() -> None:
        async with office(carrier, desk_agent(_nothing), {CALLER: Telephone(ring_ms=60_000)}) as here:
            call = here.exchange.dial(CALLER)
            async with asyncio.timeout(WAIT_S):
                while call.state.stage is not CallStage.RINGING:
                    await asyncio.sleep(0.01)
            call.drop()
            assert await asyncio.wait_for(call.over, WAIT_S) is CallEnd.CANCELLED
            async with asyncio.timeout(WAIT_S):
                while "stops ringing" not in here.network.log.of(CALLER):
                    await asyncio.sleep(0.01)

    run_jumping(run())


@both
def test_a_number_that_the_carrier_refuses_ends_the_call_with_a_line_that_names_the_setting(carrier: str) -> None:
    async def run() -> None:
        async with office(carrier, desk_agent(_nothing), {}) as here:
            call = here.exchange.dial("+4930000000")
            assert await asyncio.wait_for(call.over, WAIT_S) is CallEnd.REFUSED
            assert call.problem.startswith(f"{carrier} refuses (")
            assert "check `to` and the setting `number`" in call.problem
            assert "4930000000" not in call.problem

    run_jumping(run())


@both
def test_wrong_credentials_are_told_by_the_names_of_their_settings(carrier: str) -> None:
    async def run() -> None:
        wrong = {"twilio_auth_token": "wrong"} if carrier == "twilio" else {"telnyx_api_key": "wrong"}
        async with office(carrier, desk_agent(_nothing), {CALLER: Telephone()}, **wrong) as here:
            call = here.exchange.dial(CALLER)
            assert await asyncio.wait_for(call.over, WAIT_S) is CallEnd.REFUSED
            assert f"check {'twilio_account_sid' if carrier == 'twilio' else 'telnyx_api_key'}" in call.problem

    run_jumping(run())


@both
def test_a_carrier_that_cannot_be_reached_ends_the_call(carrier: str) -> None:
    async def run() -> None:
        async with office(carrier, desk_agent(_nothing), {}, api_url="http://127.0.0.1:9") as here:
            call = here.exchange.dial(CALLER)
            assert await asyncio.wait_for(call.over, WAIT_S) is CallEnd.REFUSED
            assert "can't be reached" in call.problem

    run_jumping(run())


def test_a_number_that_cannot_be_dialled_is_refused_before_the_carrier_is_asked() -> None:
    async def run() -> None:
        async with office("twilio", desk_agent(_nothing), {}) as here:
            with pytest.raises(Undialable, match="country code"):
                here.exchange.dial("0170 1234567")
            assert here.network.log.events == []

    run_jumping(run())


@pytest.mark.parametrize(
    "wrong", [{"on_machine": OnMachine.MESSAGE}, {"machine_message": "Hello.", "on_machine": OnMachine.HANG_UP}]
)
def test_a_message_without_its_setting_and_a_setting_without_its_message_are_refused_by_name(wrong: Any) -> None:
    async def run() -> None:
        async with office("twilio", desk_agent(_nothing), {CALLER: Telephone()}) as here:
            with pytest.raises(NotPossible, match="go together: set both, or neither"):
                here.exchange.dial(CALLER, **wrong)

    run_jumping(run())


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"number": ""}, "set `number`"),
        ({"twilio_account_sid": ""}, "set twilio_account_sid"),
    ],
)
def test_a_missing_setting_is_named(changes: dict[str, str], told: str) -> None:
    async def run() -> None:
        async with office("twilio", desk_agent(_nothing), {CALLER: Telephone()}, **changes) as here:
            with pytest.raises(NotPossible, match=told):
                here.exchange.dial(CALLER)

    run_jumping(run())


@pytest.mark.parametrize("carrier", ["pigeon", "telnyx"])
def test_a_carrier_without_its_secret_is_refused_by_name(carrier: str) -> None:
    async def run() -> None:
        async with office("twilio", desk_agent(_nothing), {CALLER: Telephone()}) as here:
            with pytest.raises(NotPossible, match=f"'{carrier}': its secret isn't set; use twilio"):
                here.exchange.dial(CALLER, carrier=carrier)

    run_jumping(run())


# -- Machines


@both
def test_a_machine_that_beeps_gets_its_message_over_a_real_socket(carrier: str) -> None:
    async def run() -> None:
        phone = Telephone(AnsweredBy.MACHINE, (Wait(200), Beep(900, 300), Listen(), Expect(over=True)))
        async with office(carrier, desk_agent(_nothing), {CALLER: phone}) as here:
            call = here.exchange.dial(CALLER, machine_message="Your book is here.")
            stages: list[CallStage] = []
            call.watch = lambda _, state: stages.append(state.stage)
            assert await asyncio.wait_for(call.over, WAIT_S) is CallEnd.MESSAGE_LEFT
            assert stages[2:] == [CallStage.SCREENING, CallStage.MESSAGE, CallStage.ENDED]
            assert here.said() == ["Your book is here."]
            assert here.network.refused == []

    run_jumping(run())


@both
def test_the_machine_detection_of_the_carrier_is_asked_for_only_if_it_is_wanted(carrier: str) -> None:
    async def run() -> None:
        phone = Telephone(AnsweredBy.MACHINE, (Wait(5_000),), detected="machine_start", detected_ms=100)
        async with office(carrier, desk_agent(_nothing), {CALLER: phone}, carrier_amd=True) as here:
            call = here.exchange.dial(CALLER, on_machine=OnMachine.HANG_UP)
            assert await asyncio.wait_for(call.over, WAIT_S) is CallEnd.MACHINE
            assert call.state.answerer is Answerer.MACHINE
            assert here.conversations == []
            talks = here.exchange.dial(CALLER)
            async with asyncio.timeout(WAIT_S):
                while talks.state.stage is not CallStage.TALKING:
                    await asyncio.sleep(0.01)
            assert here.network.log.of("carrier") == ["detects machine_start"], "not asked for the second call"
            here.exchange.report_answerer("unknown", "human")
            here.exchange.report_answerer(talks.key, "a cat")
            assert talks.state.stage is CallStage.TALKING

    run_jumping(run())


# -- Stopping


def test_a_server_that_stops_transfers_its_calls_or_leaves_them() -> None:
    async def run(drain_to: str) -> tuple[list[tuple[str, str]], list[str]]:
        book = {CALLER: Telephone(steps=(Listen(), Wait(60_000))), DESK: Telephone()}
        async with office("twilio", desk_agent(_nothing), book, drain_to=drain_to) as here:
            here.network.call_in(CALLER, OWN)
            async with asyncio.timeout(WAIT_S):
                while not here.said():
                    await asyncio.sleep(0.01)
                await here.exchange.drain(5.0)
                while drain_to and not here.network.bridges:
                    await asyncio.sleep(0.01)
            return here.network.bridges, here.said()

    assert run_jumping(run("")) == ([], ["Hello."])
    bridges, said = run_jumping(run(DESK))
    assert bridges == [(CALLER, DESK)]
    assert said == ["Hello.", "One moment, I'm putting you through to a colleague."]


def test_music_that_cannot_be_read_becomes_the_melody(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    file = tmp_path / "music.wav"
    file.write_text("this is no sound")

    async def hold(context: Any) -> None:
        await context.hold()

    async def run() -> None:
        book = {CALLER: Telephone(steps=(*PRESSES, Hear(900), HangUp()))}
        async with office("twilio", desk_agent(hold), book, hold_music=file) as here:
            here.network.call_in(CALLER, OWN)
            async with asyncio.timeout(WAIT_S):
                while "hangs up" not in here.network.log.of(CALLER):
                    await asyncio.sleep(0.01)

    run_jumping(run())
    assert "hold_music can't be played" in caplog.text


@both
def test_a_call_that_is_answered_after_it_was_given_up_is_hung_up(carrier: str) -> None:
    async def run() -> None:
        async with office(carrier, desk_agent(_nothing), {CALLER: Telephone(steps=(Hear(20), HangUp()))}) as here:
            here.exchange.report("unknown", "CA1", "busy")
            assert not here.exchange.expects("unknown")
            leg = Leg("CA1", CALLER)
            await here.network.answer(leg, here.network.url + WEBHOOKS[carrier] + "?key=unknown")
            assert leg.is_over
            assert here.conversations == []

    run_jumping(run())


@both
def test_an_incoming_call_has_its_facts(carrier: str) -> None:
    async def run() -> None:
        async with office(carrier, desk_agent(_nothing), {CALLER: Telephone(steps=(Hear(20), HangUp()))}) as here:
            here.network.call_in(CALLER, OWN)
            async with asyncio.timeout(WAIT_S):
                while not here.conversations:
                    await asyncio.sleep(0.01)
            assert here.conversations[0].call_context.info.direction == "in"
            assert here.conversations[0].call_context.caller == CALLER

    run_jumping(run())


@both
def test_an_incoming_call_has_the_parameters_of_its_webhook_and_keeps_them_when_it_comes_back(carrier: str) -> None:
    async def transfer(context: Any) -> None:
        await context.transfer(DESK)

    headers = {"SipHeader_X-Customer": "17 & more", "SipHeader_X-campaign": "other", "SipHeader_Via": "10.0.0.1"}
    expected = {"campaign": "7", "X-campaign": "other", "X-Customer": "17 & more"}

    async def run() -> None:
        book = {CALLER: Telephone(steps=(*PRESSES, Wait(60_000))), DESK: Telephone(AnsweredBy.BUSY)}
        async with office(carrier, desk_agent(transfer), book) as here:
            here.network.call_in(CALLER, OWN, "?campaign=7", **headers)
            async with asyncio.timeout(WAIT_S):
                while not here.conversations:
                    await asyncio.sleep(0.01)
            assert here.conversations[0].call_context.info.parameters == expected
            for leg in here.network.legs.values():
                leg.fields = {}  # carriers send them only once
            async with asyncio.timeout(WAIT_S):
                while len(here.conversations) < 2:
                    await asyncio.sleep(0.01)
            info = here.conversations[1].call_context.info
            assert (info.returned, info.parameters) == ("busy", expected)

    run_jumping(run())
