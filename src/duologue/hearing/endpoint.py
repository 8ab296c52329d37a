"""Decides when silence ends the turn, when the brain can be asked even earlier, and which due time has passed.

Rule: the endpoint policy is asked again only when one of its inputs has changed. Its answer is stored in the state, and
the due time follows from the answer.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from duologue.core.leaves import User
from duologue.turns.completeness import Completeness
from duologue.turns.endpoint import SilenceWait
from duologue.turns.features import PauseFeatures, is_weak

from .inputs import Woke
from .intents import GuessTurn
from .state import DueTime, HearingDraft, due_times, is_settling


def update_wait(d: HearingDraft) -> None:
    """If the user has fallen silent and the end of the turn is undecided, ask the endpoint policy how much silence ends
    the turn."""
    if not is_settling(d) or (d.has_frames and (d.pause is None or d.policy.by_frames is not None)):
        d.wait, d.wait_for = None, ()
        return
    core = d.core
    text = d.words.of(core.turn).text_with(d.first_texts)
    is_read = core.final and not core.unread  # the text is final, and no sound has followed it
    known = (d.has_frames, d.pause, d.said.confidence, d.last_confidence, _completeness(d))
    given = (text, is_read, core.unread, *known, d.ended_at, d.end_reported_at)
    if given != d.wait_for:
        d.wait_for = given
        d.wait = _wait(d, text, is_read)


def _wait(d: HearingDraft, text: str, is_read: bool) -> SilenceWait:
    noise_ms_max = d.core.settings.noise_ms_max
    spare_ms = d.end_reported_at - d.ended_at + noise_ms_max
    if not text:
        return _wait_without_text(d, spare_ms)
    wait = d.policy.endpoint.wait(_pause_of(d, text, is_read))
    if d.core.unread and wait.wait_ms is not None:  # the sound after the text may have words
        wait = replace(wait, wait_ms=max(wait.wait_ms, spare_ms))
    return wait


def _wait_without_text(d: HearingDraft, spare_ms: int) -> SilenceWait:
    """How much silence ends the turn while the text of what the user said is still missing. The wait ends just before
    the conversation machine would treat the user's voice as noise. If little is known about the pause, silence doesn't
    end the turn."""
    if d.pause is None or is_weak(d.pause):
        return SilenceWait(None)
    return SilenceWait(spare_ms - d.policy.noise_margin_ms, reasons=("unread",))


def _pause_of(d: HearingDraft, text: str, is_read: bool) -> PauseFeatures:
    """What is known about the pause. If the ears report frames, text is included only when it can't change any more."""
    said = text if is_read or not d.has_frames else None
    words: dict[str, Any] = {
        "text": said,
        "confidence": d.said.confidence,
        "last_confidence": d.last_confidence,
        "completeness": Completeness.UNKNOWN if said is None else _completeness(d),
    }
    return PauseFeatures(**words) if d.pause is None else replace(d.pause, **words)


def _completeness(d: HearingDraft) -> Completeness:
    """The brain's judgement of how complete the words of the open turn are. UNKNOWN if the words have changed since the
    judgement."""
    said = d.words.of(d.core.turn)
    return d.judged.completeness if d.judged[:2] == (said.turn, said.gist) else Completeness.UNKNOWN


# -- Asking early


def propose_guess(d: HearingDraft) -> None:
    """Propose to ask the brain early, while the policy still waits for more silence. This is done only if the text is
    final, or if the user pauses and the ears haven't reported the end of the voice yet. Each text is proposed only one
    time."""
    is_final = d.core.final and not d.core.unread
    wait = d.wait if is_final else _wait_in_pause(d)
    most_ms = d.policy.early_wait_ms_max if is_final or d.is_read else d.policy.hasty_wait_ms_max
    if wait is None or wait.wait_ms is None or not 0 < wait.wait_ms <= most_ms:
        return
    if not d.speaking and d.at >= d.ended_at + wait.wait_ms:
        return  # the turn ends now
    core = d.core
    gist = d.words.of(core.turn).gist
    if (core.turn, gist) != d.guessed:
        d.guessed = (core.turn, gist)
        d.intents.append(GuessTurn(core.turn, core.onset, gist, wait.reasons, wait.confidence))


def _wait_in_pause(d: HearingDraft) -> SilenceWait | None:
    """How much silence would end the turn, if the text up to this pause were final. None if the user hasn't paused, or
    if asking the brain early isn't allowed."""
    is_pause = d.speaking and d.pause is not None and not d.button
    if not is_pause or not d.policy.early_wait_ms_max or d.core.user is not User.TALKING or d.core.unread:
        return None
    text = d.words.text_of(d.core.turn)
    return d.policy.endpoint.wait(_pause_of(d, text, is_read=True)) if text else None


# -- Guards of the rows for time


def due_endpoint(d: HearingDraft, i: Woke) -> bool:
    return _is_due(d, "endpoint")


def due_overlap(d: HearingDraft, i: Woke) -> bool:
    return _is_due(d, "overlap")


def due_wordless(d: HearingDraft, i: Woke) -> bool:
    return _is_due(d, "wordless")


def due_unchanged(d: HearingDraft, i: Woke) -> bool:
    return _is_due(d, "unchanged")


def _is_due(d: HearingDraft, why: str) -> bool:
    """Was the machine woken for this reason? If several due times have passed, the earliest one is the reason."""
    passed = [due for due in due_times(d.policy, d.before) if due.at <= d.at]
    return bool(passed) and min(passed, key=_time).why == why


def _time(due: DueTime) -> int:
    return due.at
