"""What the carriers accept: the fields of their requests, and the elements of their instructions.

The names are taken from the carriers' own libraries. Rule: a name that a library doesn't know is refused, so that a
simulated carrier never accepts what a real one wouldn't.
"""

from __future__ import annotations

import importlib
import inspect
import re
import typing
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any
from xml.etree import ElementTree

from duologue.core.errors import DuologueError

NUMBER = re.compile(r"\+[1-9]\d{6,14}")
# TeXML knows a few attributes that TwiML doesn't.
_TEXML_STREAM = ("bidirectionalMode", "bidirectionalCodec", "bidirectionalSamplingRate", "codec")
_VERBS = {
    "Connect": ("VoiceResponse", "connect"),
    "Dial": ("VoiceResponse", "dial"),
    "Hangup": ("VoiceResponse", "hangup"),
    "Number": ("Dial", "number"),
    "Sip": ("Dial", "sip"),
    "Conference": ("Dial", "conference"),
    "Stream": ("Connect", "stream"),
    "Parameter": ("Stream", "parameter"),
}


class NotAccepted(DuologueError):
    """A request or an instruction that a real carrier would refuse. The message says why."""


@cache
def twilio_fields(method: str) -> frozenset[str]:
    """The names of the fields of a request to Twilio, from its library. `method` is `create` or `update` (of a
    call)."""
    module = importlib.import_module("twilio.rest.api.v2010.account.call")
    owner = module.CallList if method == "create" else module.CallContext
    return frozenset(_pascal(name) for name in inspect.signature(getattr(owner, method)).parameters if name != "self")


@cache
def telnyx_fields(method: str) -> frozenset[str]:
    """The names of the fields of a request to Telnyx, from its library. `method` is `create` or `update` (of a
    call)."""
    types = importlib.import_module("telnyx.types.texml.accounts")
    name = "call_calls_params" if method == "create" else "call_update_params"
    module = importlib.import_module(f"{types.__name__}.{name}")
    kind = module.BodyWithURL if method == "create" else module.CallUpdateParams
    names = set()
    for field, hint in typing.get_type_hints(kind, include_extras=True).items():
        notes = [note for part in (hint, *typing.get_args(hint)) for note in getattr(part, "__metadata__", ())]
        names.add(next((str(note.alias) for note in notes if getattr(note, "alias", None)), field))
    return frozenset(names - {"account_sid"})


def check_request(carrier: str, method: str, given: Mapping[str, Any]) -> None:
    """Check the fields of a request. Raises NotAccepted if the carrier doesn't know one of them, or if a required field
    is missing."""
    known = (twilio_fields if carrier == "twilio" else telnyx_fields)(method)
    unknown = [name for name in given if name not in known]
    if unknown:
        raise NotAccepted(f"unknown parameter {unknown[0]}")
    if method == "create":
        missing = [name for name in ("To", "From", "Url") if not given.get(name)]
        if missing:
            raise NotAccepted(f"{missing[0]} is required")
        _check_detection(carrier, given)


def _check_detection(carrier: str, given: Mapping[str, Any]) -> None:
    """Check the fields about the detection of answering machines, if it is requested: it must be of a known kind, run
    in the background, and report to a URL."""
    kind = given.get("MachineDetection")
    if kind is None:
        return
    if kind not in ("Enable", "DetectMessageEnd"):
        raise NotAccepted("MachineDetection must be Enable or DetectMessageEnd")
    if given.get("AsyncAmd") != ("true" if carrier == "twilio" else True):
        raise NotAccepted("AsyncAmd must be true: otherwise the call is silent until MachineDetection has ended")
    if not str(given.get("AsyncAmdStatusCallback", "")).startswith("http"):
        raise NotAccepted("AsyncAmdStatusCallback must be a URL")


def check_instructions(carrier: str, xml: str) -> ElementTree.Element:
    """The parsed instructions. Raises NotAccepted if they contain an element or attribute that this carrier doesn't
    know."""
    try:
        response = ElementTree.fromstring(xml)
    except ElementTree.ParseError:
        raise NotAccepted("the instructions aren't XML") from None
    if response.tag != "Response":
        raise NotAccepted("the instructions must be a Response")
    for element in response.iter():
        if element is not response:
            _check_element(carrier, element)
    return response


def _check_element(carrier: str, element: ElementTree.Element) -> None:
    if element.tag not in _VERBS:
        raise NotAccepted(f"unknown element {element.tag}")
    known: Iterable[str] = _attributes(element.tag)
    if carrier == "telnyx" and element.tag == "Stream":
        known = (*known, *_TEXML_STREAM)
    unknown = [name for name in element.attrib if name not in known]
    if unknown:
        raise NotAccepted(f"unknown attribute {unknown[0]} of {element.tag}")


@cache
def _attributes(tag: str) -> frozenset[str]:
    module = importlib.import_module("twilio.twiml.voice_response")
    owner, method = _VERBS[tag]
    names = inspect.signature(getattr(getattr(module, owner), method)).parameters
    return frozenset(_camel(name) for name in names if name not in ("self", "kwargs"))


def _camel(name: str) -> str:
    first, *others = name.rstrip("_").split("_")
    return first + "".join(part.capitalize() for part in others)


def _pascal(name: str) -> str:
    camel = _camel(name)
    return camel[0].upper() + camel[1:]
