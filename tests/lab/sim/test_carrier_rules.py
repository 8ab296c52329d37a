"""The simulated carriers accept what the libraries of the real ones know, and nothing else."""

from __future__ import annotations

from typing import Any

import pytest

from duologue.lab.sim.carrier_rules import NotAccepted, check_instructions, check_request
from duologue.server.phone.webhooks import hang_up_xml, join_xml, pass_on_xml, texml, twiml
from tests.server.phone.phone_calls import settings

CALL = {"To": "+4930123456", "From": "+4930555000", "Url": "https://phone.example/x"}


@pytest.mark.parametrize("carrier", ["twilio", "telnyx"])
def test_a_call_with_known_fields_is_accepted(carrier: str) -> None:
    check_request(carrier, "create", {**CALL, "StatusCallback": "https://phone.example/y", "Timeout": "30"})


@pytest.mark.parametrize("carrier", ["twilio", "telnyx"])
@pytest.mark.parametrize(
    ("method", "given", "told"),
    [
        ("create", {**CALL, "Ring": "30"}, "unknown parameter Ring"),
        ("create", {"To": "+4930123456", "Url": "https://x"}, "From is required"),
        ("update", {"Xml": "<Response/>"}, "unknown parameter Xml"),
    ],
)
def test_another_field_and_a_missing_one_are_refused(
    carrier: str, method: str, given: dict[str, Any], told: str
) -> None:
    with pytest.raises(NotAccepted, match=told):
        check_request(carrier, method, given)


@pytest.mark.parametrize(("carrier", "is_async"), [("twilio", "true"), ("telnyx", True)])
def test_machine_detection_must_be_of_a_known_kind_in_the_background_and_tell_an_address(
    carrier: str, is_async: object
) -> None:
    right = {**CALL, "MachineDetection": "Enable", "AsyncAmd": is_async, "AsyncAmdStatusCallback": "https://x/y"}
    check_request(carrier, "create", right)
    for change, told in (
        ({"MachineDetection": "Guess"}, "Enable or DetectMessageEnd"),
        ({"AsyncAmd": "no"}, "AsyncAmd must be true"),
        ({"AsyncAmdStatusCallback": ""}, "must be a URL"),
    ):
        with pytest.raises(NotAccepted, match=told):
            check_request(carrier, "create", {**right, **change})


def test_what_the_server_writes_is_accepted() -> None:
    for xml in (pass_on_xml("+4930123456", "+4930555000", 20, "https://x/y"), join_xml("room"), hang_up_xml()):
        for carrier in ("twilio", "telnyx"):
            check_instructions(carrier, xml)
    check_instructions("twilio", pass_on_xml("sip:desk@example.com", "", 20, "https://x/y"))
    check_instructions("twilio", twiml(settings(), "t", {"a": "b"}))
    check_instructions("telnyx", texml(settings(telnyx_codec="L16", telnyx_rate_hz=16_000), "t", {"a": "b"}))


@pytest.mark.parametrize(
    ("xml", "told"),
    [
        ("hello", "aren't XML"),
        ("<Answer/>", "must be a Response"),
        ("<Response><Whistle/></Response>", "unknown element Whistle"),
        ('<Response><Dial volume="3"/></Response>', "unknown attribute volume of Dial"),
    ],
)
def test_other_instructions_are_refused(xml: str, told: str) -> None:
    with pytest.raises(NotAccepted, match=told):
        check_instructions("twilio", xml)


def test_an_attribute_of_telnyx_is_unknown_to_twilio() -> None:
    with pytest.raises(NotAccepted, match="bidirectional"):
        check_instructions("twilio", texml(settings(), "t"))
