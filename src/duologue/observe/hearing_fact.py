"""Says whether the person can be heard. The answer is one value: on, loading, muted, broken or none. It is reported
separately from the phase of the conversation.

The value depends on the condition of the ears (STT and VAD) and the condition of the microphone. A screen shows
"listening" only while the value is `on`. Rule: `ears_after` and `hearing_of` are pure functions, and every combination
has exactly one answer.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum


class HearingStatus(StrEnum):
    """Whether the person can be heard and, if not, why."""

    ON = "on"
    LOADING = "loading"  # not yet: the ears or the microphone are being made ready
    MUTED = "muted"  # the person has muted the microphone
    BROKEN = "broken"  # the ears or the microphone have failed
    NONE = "none"  # there are no ears or no microphone: the person writes


class EarsCondition(StrEnum):
    NONE = "none"  # the agent has no ears
    LOADING = "loading"
    ON = "on"
    BROKEN = "broken"


class Microphone(StrEnum):
    """The condition of the person's microphone. If the line doesn't report a condition, the microphone counts as on."""

    ON = "on"
    OPENING = "opening"  # the browser asks the person for permission, or the device is being opened
    MUTED = "muted"
    BROKEN = "broken"  # it can't be opened, or was unplugged
    OFF = "off"  # the person writes


class EarsReport(StrEnum):
    """A report about the condition of the ears."""

    STARTED = "started"  # they listen, and were ready before
    LOADS = "loads"  # they have to load first, or were started again after a failure
    WORKED = "worked"  # they have reported something, or have listened for a while
    FAILED = "failed"


_AFTER = {
    EarsReport.STARTED: EarsCondition.ON,
    EarsReport.LOADS: EarsCondition.LOADING,
    EarsReport.WORKED: EarsCondition.ON,
    EarsReport.FAILED: EarsCondition.BROKEN,
}


def ears_after(ears: EarsCondition, report: EarsReport) -> EarsCondition:
    """The condition of the ears after this report. After a failure, the ears aren't on again until they have reported
    that they work."""
    if ears is EarsCondition.NONE:
        return ears
    if ears is EarsCondition.BROKEN and report is EarsReport.STARTED:
        return EarsCondition.LOADING
    return _AFTER[report]


def hearing_of(ears: EarsCondition, microphone: Microphone) -> HearingStatus:
    """Whether the person can be heard. If there are no ears or no microphone, the answer is `none`: the person can only
    write. Otherwise the first of these conditions that holds is the answer: `broken`, `muted`, `loading`. If no
    condition holds, the answer is `on`."""
    if ears is EarsCondition.NONE or microphone is Microphone.OFF:
        return HearingStatus.NONE
    if ears is EarsCondition.BROKEN or microphone is Microphone.BROKEN:
        return HearingStatus.BROKEN
    if microphone is Microphone.MUTED:
        return HearingStatus.MUTED
    if ears is EarsCondition.LOADING or microphone is Microphone.OPENING:
        return HearingStatus.LOADING
    return HearingStatus.ON


class HearingFact:
    """Keeps track of whether the person can be heard in one conversation. `on_change` is called with each new value."""

    def __init__(self, has_ears: bool, on_change: Callable[[HearingStatus], object]) -> None:
        self._ears = EarsCondition.LOADING if has_ears else EarsCondition.NONE
        self._microphone = Microphone.ON
        self._on_change = on_change
        self.value = hearing_of(self._ears, self._microphone)

    def note_ears(self, report: EarsReport) -> None:
        self._change(ears_after(self._ears, report), self._microphone)

    def note_microphone(self, microphone: Microphone) -> None:
        self._change(self._ears, microphone)

    def _change(self, ears: EarsCondition, microphone: Microphone) -> None:
        self._ears, self._microphone = ears, microphone
        before, self.value = self.value, hearing_of(ears, microphone)
        if self.value is not before:
            self._on_change(self.value)
