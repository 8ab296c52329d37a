"""The custom parameters of an incoming phone call, and how they reach its conversation: from the carrier's webhook, by
the parameters of the sound stream, to the context of the call.

The operator sets parameters in the query of the webhook's address, such as `/phone/twilio/voice?campaign=7`. A caller
by SIP sets parameters with headers whose names begin with `X-`. Rule: a SIP header never replaces a parameter of the
operator, and what is too much for a carrier is left out.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping

LOG = logging.getLogger("duologue.phone")
PARAMETERS_MAX = 20
PARAMETER_CHARS_MAX = 400  # the name and the value together; Twilio's limit is 500, with the prefix
_PREFIX = "duologue_own_"  # of the name of a stream's parameter
_SIP_HEADER = "SipHeader_"
_RESERVED = ("key",)  # our own, in the address of a webhook


def parameters_of(query: Mapping[str, str], form: Mapping[str, str]) -> dict[str, str]:
    """The custom parameters in a webhook: those of its address, and the caller's SIP headers that begin with `X-`."""
    headers = {
        name.removeprefix(_SIP_HEADER): value for name, value in form.items() if name.startswith(f"{_SIP_HEADER}X-")
    }
    found = {**headers, **{name: value for name, value in query.items() if name not in _RESERVED}}
    fit = [one for one in found.items() if sum(map(len, one)) <= PARAMETER_CHARS_MAX][:PARAMETERS_MAX]
    if len(fit) < len(found):
        LOG.warning(
            "%d parameters of a call were left out: at most %d are possible, each of at most %d characters",
            len(found) - len(fit),
            PARAMETERS_MAX,
            PARAMETER_CHARS_MAX,
        )
    return dict(fit)


def to_stream(parameters: Mapping[str, str]) -> dict[str, str]:
    """These custom parameters, as parameters of a stream."""
    return {f"{_PREFIX}{name}": value for name, value in parameters.items()}


def from_stream(given: Mapping[str, str], query: Mapping[str, str]) -> dict[str, str]:
    """The custom parameters of a stream. `given` has the parameters that the carrier sends, and `query` is that of the
    stream's address. Parameters of a stream that the operator's own instructions have opened have no prefix."""
    own = {name: value for name, value in query.items() if name.startswith(_PREFIX)}
    return {name.removeprefix(_PREFIX): value for name, value in {**own, **given}.items()}
