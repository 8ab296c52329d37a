"""The rows of the ownership machine. A place is a state of this machine. Each row says when it applies: in which
places, on which inputs, and under which guard (a condition). It also says what follows: the next place, and the
actions, which return the intents (what the node must do).

Rule: the first row that fits is taken, and only a row changes the place.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from . import inputs as on
from . import intents as do
from .intents import Answer, OwnershipIntent
from .places import RUNNING, WRITING, Ownership, Place

P = Place
Done: TypeAlias = tuple[Ownership, tuple[OwnershipIntent, ...]]
OwnershipAction: TypeAlias = Callable[[Ownership, Any], Done]
OwnershipGuard: TypeAlias = Callable[[Ownership, Any], bool]


@dataclass(frozen=True, slots=True)
class OwnershipRow:
    """One row of the table. If the machine is in one of the places `sources`, one of the inputs `on` arrives, and the
    guard `when` is true, go to the place `target` and perform the actions `do`. If `target` is None, the place stays
    the same."""

    sources: tuple[P, ...]
    on: tuple[type, ...]
    target: P | None
    do: tuple[OwnershipAction, ...] = ()
    when: OwnershipGuard | None = None
    why: str = ""

    @property
    def name(self) -> str:
        """The row's name in reports."""
        sources = "/".join(place.value for place in self.sources)
        inputs = "/".join(kind.__name__ for kind in self.on)
        guard = f" [{self.when.__name__}]" if self.when else ""
        return f"{sources} + {inputs}{guard} -> {self.target.value if self.target else 'same'}"


def row(
    sources: P | tuple[P, ...],
    given: type | tuple[type, ...],
    target: P | None,
    *actions: OwnershipAction,
    when: OwnershipGuard | None = None,
    why: str = "",
) -> OwnershipRow:
    """Make a row. `sources` and `given` may be a single value instead of a tuple."""
    return OwnershipRow(
        sources if isinstance(sources, tuple) else (sources,),
        given if isinstance(given, tuple) else (given,),
        target,
        actions,
        when,
        why,
    )


# -- Guards


def is_asked(s: Ownership, _: Any) -> bool:
    return s.is_asked


def is_over(_: Ownership, given: on.LeaseGranted) -> bool:
    return given.is_over


def was_saved(_: Ownership, given: on.SavingFinished) -> bool:
    return given.is_saved


def lease_has_ended(s: Ownership, given: on.Heartbeat) -> bool:
    return given.now_ms >= s.until_ms


# -- Actions


def claim_new(s: Ownership, _: Any) -> Done:
    return replace(s, has_run=True), (do.ClaimNew(),)


def claim_orphan(s: Ownership, _: Any) -> Done:
    return s, (do.ClaimOrphan(),)


def claim_for_client(s: Ownership, _: Any) -> Done:
    return replace(s, is_asked=True), (do.ClaimForClient(),)


def note_client(s: Ownership, _: Any) -> Done:
    return replace(s, is_asked=True), ()


def note_lease(s: Ownership, given: on.LeaseGranted | on.LeaseRenewed) -> Done:
    return replace(s, epoch=given.epoch, until_ms=given.until_ms), ()


def save_from_now_on(s: Ownership, _: Any) -> Done:
    return s, (do.SaveFromNowOn(s.epoch),)


def restore(s: Ownership, _: Any) -> Done:
    return s, (do.RestoreConversation(),)


def run_restored(s: Ownership, _: Any) -> Done:
    return replace(s, has_run=True), (do.RunRestored(s.epoch),)


def renew(s: Ownership, _: Any) -> Done:
    return s, (do.RenewLease(s.epoch),)


def release(s: Ownership, _: Any) -> Done:
    """Release the lease, if the node has one. It has none after a failed claim."""
    return s, (do.ReleaseLease(s.epoch),) if s.epoch else ()


def mark_over(s: Ownership, _: Any) -> Done:
    return s, (do.MarkOver(s.epoch),)


def freeze(s: Ownership, _: Any) -> Done:
    return s, (do.Freeze(),)


def save_and_release(s: Ownership, given: Any) -> Done:
    return s, (do.SaveAndRelease(s.epoch, isinstance(given, on.ConversationEnded)),)


def abandon(s: Ownership, given: Any) -> Done:
    return s, (do.Abandon(isinstance(given, on.LeaseLost)),)


def tell_unsaved(s: Ownership, _: Any) -> Done:
    """Tell the client that the conversation isn't saved, unless the client knows it already."""
    return replace(s, is_unsaved=True), () if s.is_unsaved else (do.TellUnsaved(),)


def tell_saved(s: Ownership, _: Any) -> Done:
    return replace(s, is_unsaved=False), (do.TellSaved(),) if s.is_unsaved else ()


def report_damage(s: Ownership, _: Any) -> Done:
    return s, (do.ReportDamage(),)


def report_lapse(s: Ownership, _: Any) -> Done:
    return s, (do.ReportLapse(),)


def _answer(s: Ownership, given: Any, answer: Answer) -> Done:
    """Give this answer to the client that asks now and to those that wait. If there are no such clients, do nothing."""
    waits = s.is_asked or isinstance(given, on.ClientAsked)
    return replace(s, is_asked=False), (do.AnswerClient(answer),) if waits else ()


def answer_here(s: Ownership, given: Any) -> Done:
    return _answer(s, given, Answer.HERE)


def answer_moved(s: Ownership, given: Any) -> Done:
    return _answer(s, given, Answer.MOVED)


def answer_gone(s: Ownership, given: Any) -> Done:
    return _answer(s, given, Answer.GONE)


def answer_damaged(s: Ownership, given: Any) -> Done:
    return _answer(s, given, Answer.DAMAGED)


def answer_later(s: Ownership, given: Any) -> Done:
    return _answer(s, given, Answer.LATER)


# -- The table

_NO_LEASE = (on.LeaseRefused, on.NothingStored, on.StoredForAnother, on.StoredDamaged, on.StoreUnreachable)

NEW_ROWS = (
    row(P.ABSENT, on.ConversationStarted, P.CLAIMING, claim_new),
    row(P.CLAIMING, on.LeaseGranted, P.UNKEEPABLE, note_lease, release, tell_unsaved, when=is_over,
        why="another node could not resume the conversation, and marked it as over in the store"),
    row(P.CLAIMING, on.LeaseGranted, P.KEPT, note_lease, save_from_now_on, tell_saved),
    row(P.CLAIMING, _NO_LEASE, P.UNKEPT, tell_unsaved, why="the conversation goes on, although it isn't saved"),
    row(P.UNKEPT, on.Heartbeat, P.CLAIMING, claim_new),
    row(P.CLAIMING, on.ConversationEnded, P.CLEARING, why="the claim may still be granted"),
    row((P.UNKEPT, P.UNKEEPABLE), on.ConversationEnded, P.OVER),
    row((P.UNKEPT, P.UNKEEPABLE), on.HandOverRequested, P.ELSEWHERE, abandon, why="nothing is saved to hand over"),
)  # fmt: skip
KEPT_ROWS = (
    row(P.KEPT, on.Heartbeat, P.LAPSED, renew, report_lapse, when=lease_has_ended),
    row((*WRITING, P.RESTORING), on.Heartbeat, None, renew),
    row((P.KEPT, P.LAPSED), on.LeaseRenewed, P.KEPT, note_lease),
    row(P.RESTORING, on.LeaseRenewed, None, note_lease),
    row((P.KEPT, P.LAPSED), on.LeaseLost, P.ELSEWHERE, abandon),
    row(WRITING, on.WritingFailed, None, tell_unsaved),
    row(WRITING, on.WritingWorked, None, tell_saved),
    row((P.KEPT, P.LAPSED), on.HandOverRequested, P.HANDING_OVER, freeze, save_and_release),
    row((P.KEPT, P.LAPSED), on.ConversationEnded, P.ENDING, save_and_release),
    row(P.HANDING_OVER, on.SavingFinished, P.ELSEWHERE, abandon),
    row(P.ENDING, on.SavingFinished, P.OVER, when=was_saved),
    row(P.ENDING, on.SavingFinished, P.ELSEWHERE, why="another node may have the conversation and its client"),
)  # fmt: skip
TAKING_ROWS = (
    row((P.ABSENT, P.ELSEWHERE, P.OVER), on.OrphanListed, P.ADOPTING, claim_orphan,
        why="the store lists it, so its end may not have been saved"),
    row((P.ABSENT, P.ELSEWHERE, P.DAMAGED), on.ClientAsked, P.RECLAIMING, claim_for_client,
        why="a client may move its conversation here, and damaged data may have been repaired"),
    row((P.ADOPTING, P.RECLAIMING), on.LeaseGranted, P.RESTORING, note_lease, restore),
    row(P.ADOPTING, on.LeaseRefused, P.RECLAIMING, claim_for_client, when=is_asked,
        why="a client has asked meanwhile, and may move its conversation here"),
    row(P.ADOPTING, on.LeaseRefused, P.ELSEWHERE, why="another node was faster"),
    row(P.RECLAIMING, on.LeaseRefused, P.ELSEWHERE, answer_gone, why="the key is wrong"),
    row((P.ADOPTING, P.RECLAIMING), on.NothingStored, P.ELSEWHERE, answer_gone),
    row((P.ADOPTING, P.RECLAIMING), on.StoredForAnother, P.FOREIGN, answer_gone),
    row((P.ADOPTING, P.RECLAIMING), on.StoredDamaged, P.DAMAGED, report_damage, answer_damaged),
    row((P.ADOPTING, P.RECLAIMING), on.StoreUnreachable, P.ELSEWHERE, answer_later,
        why="if the lease was granted all the same, it expires"),
    row(P.RESTORING, on.ConversationRestored, P.KEPT, answer_here, run_restored),
    row(P.RESTORING, on.ConversationUnusable, P.ELSEWHERE, mark_over, answer_gone),
    row(P.RESTORING, on.RestoreFailed, P.ELSEWHERE, answer_later, why="when the lease has expired, any node may try"),
    row(P.RESTORING, on.LeaseLost, P.RETURNING, answer_later),
    row((P.ADOPTING, P.RECLAIMING, P.RESTORING), on.NodeLeft, P.RETURNING, answer_later),
)  # fmt: skip
LEAVING_ROWS = (
    row(P.RETURNING, on.LeaseGranted, P.ELSEWHERE, note_lease, release),
    row(P.RETURNING, (on.ConversationRestored, on.ConversationUnusable, on.RestoreFailed), P.ELSEWHERE, release),
    row(P.RETURNING, _NO_LEASE, P.ELSEWHERE),
    row(P.CLEARING, on.LeaseGranted, P.OVER, note_lease, mark_over),
    row(P.CLEARING, _NO_LEASE, P.OVER, why="a lease that was granted all the same expires, with nothing to resume"),
)  # fmt: skip
ASKING_ROWS = (
    row((*RUNNING, P.ENDING), on.ClientAsked, None, answer_here, why="a client of an ending conversation is told so"),
    row((P.ADOPTING, P.RECLAIMING, P.RESTORING), on.ClientAsked, None, note_client),
    row(P.HANDING_OVER, on.ClientAsked, None, answer_moved),
    row(P.RETURNING, on.ClientAsked, None, answer_later),
    row((P.OVER, P.CLEARING, P.FOREIGN), on.ClientAsked, None, answer_gone),
)  # fmt: skip
SECTIONS: dict[str, tuple[OwnershipRow, ...]] = {
    "A conversation that started here": NEW_ROWS,
    "A conversation under a lease": KEPT_ROWS,
    "Taking over": TAKING_ROWS,
    "Giving back and clearing": LEAVING_ROWS,
    "A client asks": ASKING_ROWS,
}
ROWS: tuple[OwnershipRow, ...] = tuple(row for rows in SECTIONS.values() for row in rows)
