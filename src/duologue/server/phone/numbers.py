"""Checks which phone numbers and SIP addresses can be called.

Rule: a number that can't be dialled is refused before a request is made to the carrier. The error says what a number
must look like.
"""

from __future__ import annotations

import re

from duologue.ports.context import NotPossible

_NUMBER = re.compile(r"\+[1-9]\d{6,14}")  # E.164
_SIP = re.compile(r"sips?:[^\s@<>&;?]+@[^\s@<>&;?]+", re.IGNORECASE)


class Undialable(NotPossible):
    """A number that can't be dialled. The message says what a number must look like."""


def is_dialable(to: str) -> bool:
    return bool(_NUMBER.fullmatch(to) or is_sip(to))


def is_sip(to: str) -> bool:
    return bool(_SIP.fullmatch(to))


def dialable(to: str) -> str:
    """Check that this number can be dialled, and return it without spaces and dashes. Raises Undialable."""
    if is_sip(to.strip()):
        return to.strip()
    short = re.sub(r"[\s()./-]", "", to)
    if not _NUMBER.fullmatch(short):
        raise Undialable(
            "the number can't be dialled: `to` must be a number with + and country code, such as +4930123456, or a SIP "
            "address, such as sip:desk@example.com"
        )
    return short
