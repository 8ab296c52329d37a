"""Is a sound made over the agent a bid for the floor? (M-14, V-02)

Decides from facts about the overlapping speech alone. Rule: undecided is an answer; the machine has a
deadline for it.
"""

from __future__ import annotations

from dataclasses import dataclass

from duologue.turns.words import Count


@dataclass(frozen=True, slots=True)
class OverlapRule:
    """What makes a bid. `voiced_ms_min` 0: however long a sound lasts, words decide."""

    substantial_min: int = 1
    voiced_ms_min: int = 800


OVERLAP_RULES = {
    "immediate": OverlapRule(0, 0),
    "confirm": OverlapRule(1, 800),
    "words": OverlapRule(2, 0),
}


def judge(rule: OverlapRule, said: Count, is_final: bool, voiced_ms: int) -> bool | None:
    """True: a bid. False: certainly none. None: not to be told yet."""
    if said.words and said.substantial >= rule.substantial_min:
        return True
    if is_final:  # the text is complete and was not enough
        return False
    if rule.voiced_ms_min and voiced_ms >= rule.voiced_ms_min:
        return True
    return None
