"""The brain's word about a text is a term of the wait: one among others, and within the limits of the policy."""

from __future__ import annotations

from dataclasses import replace

import pytest

from duologue.turns.completeness import COMPLETENESS_WEIGHTS, Completeness
from duologue.turns.completion import contributions, reasons, score
from duologue.turns.endpoint import CombinedEndpoint, SemanticEndpoint
from duologue.turns.features import PauseFeatures

PAUSE = PauseFeatures(900, 60.0, turn_logit=-1.0, text="from Boston", confidence=0.9)


@pytest.mark.req("H-17")
def test_words_that_are_understood_end_sooner_and_words_that_cannot_end_like_this_later() -> None:
    policy = SemanticEndpoint.named()
    said = (Completeness.COMPLETE, Completeness.UNKNOWN, Completeness.OPEN)
    waits = [policy.wait(replace(PAUSE, completeness=one)).wait_ms or 0 for one in said]
    assert waits == sorted(waits)
    assert waits[0] < waits[1] < waits[2] <= policy.longest_ms


def test_the_term_has_its_weight_and_its_reason() -> None:
    known = replace(PAUSE, completeness=Completeness.COMPLETE)
    weight = COMPLETENESS_WEIGHTS[Completeness.COMPLETE]
    assert (score(known) or 0.0) - (score(PAUSE) or 0.0) == pytest.approx(weight)
    assert ("understood", weight) in contributions(known)
    assert f"understood{weight:+.1f}" in reasons(known)
    assert reasons(replace(PAUSE, completeness=Completeness.OPEN))[0].startswith("not_understood_yet-")


def test_without_the_sound_of_the_pause_only_an_open_text_counts() -> None:
    policy, silent = CombinedEndpoint(), PauseFeatures(text="from Boston")
    usual = policy.wait(silent)
    assert policy.wait(replace(silent, completeness=Completeness.COMPLETE)) == usual
    longer = policy.wait(replace(silent, completeness=Completeness.OPEN))
    assert (usual.wait_ms, longer.wait_ms) == (400, 1_200)
    assert longer.reasons == ("silence_400ms", "not_understood_yet_800ms")
