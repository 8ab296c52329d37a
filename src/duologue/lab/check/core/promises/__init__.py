"""The promises: what must happen in a single step, one file for each region.

Laws say what must never happen, so a machine that lacks a row may still keep every law. Promises notice
the missing row. Each promise names its events, when it applies, and what the step must then have done.
"""

from __future__ import annotations

from .audible import AUDIBLE_PROMISES
from .jobs import JOB_PROMISES
from .link import LINK_PROMISES
from .program import PROGRAM_PROMISES
from .promise import Promise, index, trigger_of
from .reply import REPLY_PROMISES
from .user import USER_PROMISES
from .voice import VOICE_PROMISES

PROMISES: tuple[Promise, ...] = (
    *LINK_PROMISES,
    *USER_PROMISES,
    *VOICE_PROMISES,
    *REPLY_PROMISES,
    *JOB_PROMISES,
    *AUDIBLE_PROMISES,
    *PROGRAM_PROMISES,
)

__all__ = ["PROMISES", "Promise", "index", "trigger_of"]
