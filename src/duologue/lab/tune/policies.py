"""The settings that are compared, by name.

Rule: a setting changes either the endpoint policy or the overlap policy. Everything else stays as in the recorded call.
"""

from __future__ import annotations

import re
from dataclasses import replace

from duologue.core.errors import DuologueError
from duologue.hearing.policy import HearingPolicy
from duologue.turns.completion_table import WAITS
from duologue.turns.controller import PRESETS
from duologue.turns.endpoint import CombinedEndpoint, EasyTurnEndpoint, FixedSilence, SemanticEndpoint, policy
from duologue.turns.overlap import OVERLAP_RULES

RECORDED = "as recorded"
SILENCES_MS = (300, 400, 500, 600, 700, 800, 1_000, 1_200, 1_500)
_SILENCE = re.compile(r"silence[ -]?(\d{1,5})(?: ?ms)?")
_OTHERS = ("combined", "semantic", "vad", "manual", "server")


def setting(name: str, own: HearingPolicy) -> HearingPolicy:
    """The policy `own` of a recorded call, with one part replaced by the endpoint policy or overlap policy that has
    this name. Raises DuologueError if the name is unknown."""
    if name == RECORDED:
        return own
    if name in OVERLAP_RULES:
        return replace(own, overlap=replace(OVERLAP_RULES[name], language=own.language))
    if name in WAITS:
        return replace(own, endpoint=CombinedEndpoint(SemanticEndpoint.named(name)))
    if name in _OTHERS:
        return replace(own, endpoint=policy(name))
    if name.startswith("easyturn") and (name[8:].strip() or "balanced") in PRESETS:
        return replace(own, endpoint=EasyTurnEndpoint(PRESETS[name[8:].strip() or "balanced"]))
    if found := _SILENCE.fullmatch(name):
        return replace(own, endpoint=FixedSilence(int(found[1])))
    known = ", ".join((*WAITS, *OVERLAP_RULES, "easyturn", "silence 700", *_OTHERS))
    raise DuologueError(f"unknown policy {name!r}: use one of {known}")


def endpoint_settings(has_sound: bool) -> list[str]:
    """The names of the endpoint settings (when a turn ends) to compare. `has_sound` says whether the ears measure the
    sound before a pause."""
    by_sound = list(WAITS) if has_sound else []
    return [RECORDED, *by_sound, *(f"silence {ms} ms" for ms in SILENCES_MS), *(f"easyturn {name}" for name in PRESETS)]


def overlap_settings() -> list[str]:
    """The names of the overlap settings (when a sound interrupts the agent) to compare."""
    return [RECORDED, *OVERLAP_RULES]


def family_of(name: str) -> str:
    """The family of a setting: recorded, silence, easyturn or sound. Settings of one family differ only in numbers."""
    first = name.split()[0]
    return first if first in ("silence", "easyturn") else "recorded" if name == RECORDED else "sound"
