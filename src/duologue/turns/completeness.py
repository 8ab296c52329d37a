"""How complete a text is as an answer or a request, as judged by the brain, and the weight of this judgement.

The brain knows which question it asked and what it can understand, so it can judge better than the sound alone. Rule:
the brain's judgement is only one term of the score. It never ends a turn by itself, and it never keeps a turn open
without a time limit.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum


class Completeness(StrEnum):
    """How complete a text is as an answer or a request."""

    COMPLETE = "complete"  # every word is understood, and it answers the open question or is a whole request
    OPEN = "open"  # more words have to follow, as after "I would like to fly to"
    UNKNOWN = "unknown"


# Log-odds that are added to the score of a pause. A higher value for "complete" would hardly shorten the waits of
# callers (`duologue bench understood`). These values don't make more pauses of human callers look like the end of a
# turn (tools/fit_completeness.py).
COMPLETENESS_WEIGHTS: Mapping[Completeness, float] = {Completeness.COMPLETE: 3.0, Completeness.OPEN: -3.0}
