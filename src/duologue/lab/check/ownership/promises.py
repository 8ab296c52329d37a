"""The promises of ownership, as a table: where each input must lead from each place (state of the ownership machine),
and which intents it must cause.

Laws say what must never happen, so a machine that lacks a row may still keep every law. But it breaks a promise. The
promises are sorted by input, whereas the rows of the machine follow the course of a conversation. Rule: an input that
no promise names for a place changes nothing there.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from duologue.server.ownership import inputs as on
from duologue.server.ownership import intents as do
from duologue.server.ownership.intents import Answer
from duologue.server.ownership.machine import OwnershipMachine
from duologue.server.ownership.places import LEASED, RUNNING, Ownership, Place

EPOCH, UNTIL_MS, LATER_MS = 5, 100, 300
P = Place
KEEPING = (P.KEPT, P.LAPSED)
SAVING = (P.HANDING_OVER, P.ENDING)
TAKING = (P.ADOPTING, P.RECLAIMING)
LOST_CLAIMS = (on.LeaseRefused(), on.NothingStored(), on.StoredForAnother(), on.StoredDamaged(), on.StoreUnreachable())
HERE, GONE, LATER = (do.AnswerClient(answer) for answer in (Answer.HERE, Answer.GONE, Answer.LATER))


@dataclass(frozen=True, slots=True)
class OwnershipPromise:
    """What must happen: in each of these places (states), the input must lead to `target` (None: the place stays the
    same) and cause these intents. `asked` says whether a client waits. `unsaved` says whether the client was told that
    the conversation isn't saved."""

    places: tuple[Place, ...]
    given: on.OwnershipInput
    target: Place | None
    intents: tuple[do.OwnershipIntent, ...] = ()
    asked: bool = False
    unsaved: bool = False


_ = OwnershipPromise
GRANTED = on.LeaseGranted(9, LATER_MS)
PROMISES: tuple[OwnershipPromise, ...] = (
    _((P.ABSENT,), on.ConversationStarted(), P.CLAIMING, (do.ClaimNew(),)),
    _((P.CLAIMING,), on.ConversationEnded(), P.CLEARING),
    _((P.UNKEPT, P.UNKEEPABLE), on.ConversationEnded(), P.OVER),
    _(KEEPING, on.ConversationEnded(), P.ENDING, (do.SaveAndRelease(EPOCH, True),)),
    _(KEEPING, on.HandOverRequested(), P.HANDING_OVER, (do.Freeze(), do.SaveAndRelease(EPOCH, False))),
    _((P.UNKEPT, P.UNKEEPABLE), on.HandOverRequested(), P.ELSEWHERE, (do.Abandon(False),)),
    _((*TAKING, P.RESTORING), on.NodeLeft(), P.RETURNING, (LATER,), asked=True),
    _((P.ABSENT, P.ELSEWHERE, P.OVER), on.OrphanListed(), P.ADOPTING, (do.ClaimOrphan(),)),
    # A client asks
    _((P.ABSENT, P.ELSEWHERE, P.DAMAGED), on.ClientAsked(), P.RECLAIMING, (do.ClaimForClient(),)),
    _((*TAKING, P.RESTORING), on.ClientAsked(), None),
    _((*RUNNING, P.ENDING), on.ClientAsked(), None, (HERE,)),
    _((P.HANDING_OVER,), on.ClientAsked(), None, (do.AnswerClient(Answer.MOVED),)),
    _((P.RETURNING,), on.ClientAsked(), None, (LATER,)),
    _((P.OVER, P.CLEARING, P.FOREIGN), on.ClientAsked(), None, (GONE,)),
    # A claim
    _((P.CLAIMING,), GRANTED, P.KEPT, (do.SaveFromNowOn(9), do.TellSaved()), unsaved=True),
    _((P.CLAIMING,), on.LeaseGranted(9, 1, True), P.UNKEEPABLE, (do.ReleaseLease(9), do.TellUnsaved())),
    _((P.CLEARING,), GRANTED, P.OVER, (do.MarkOver(9),)),
    _(TAKING, GRANTED, P.RESTORING, (do.RestoreConversation(),)),
    _((P.RETURNING,), GRANTED, P.ELSEWHERE, (do.ReleaseLease(9),)),
    *(_((P.CLAIMING,), lost, P.UNKEPT, (do.TellUnsaved(),)) for lost in LOST_CLAIMS),
    *(_((P.CLEARING,), lost, P.OVER) for lost in LOST_CLAIMS),
    *(_((P.RETURNING,), lost, P.ELSEWHERE) for lost in LOST_CLAIMS),
    _((P.ADOPTING,), on.LeaseRefused(), P.ELSEWHERE),
    _((P.ADOPTING,), on.LeaseRefused(), P.RECLAIMING, (do.ClaimForClient(),), asked=True),
    _((P.RECLAIMING,), on.LeaseRefused(), P.ELSEWHERE, (GONE,), asked=True),
    _(TAKING, on.NothingStored(), P.ELSEWHERE, (GONE,), asked=True),
    _(TAKING, on.StoredForAnother(), P.FOREIGN, (GONE,), asked=True),
    _(TAKING, on.StoredDamaged(), P.DAMAGED, (do.ReportDamage(), do.AnswerClient(Answer.DAMAGED)), asked=True),
    _(TAKING, on.StoreUnreachable(), P.ELSEWHERE, (LATER,), asked=True),
    # Restoring
    _((P.RESTORING,), on.ConversationRestored(), P.KEPT, (HERE, do.RunRestored(EPOCH)), asked=True),
    _((P.RESTORING,), on.ConversationUnusable(), P.ELSEWHERE, (do.MarkOver(EPOCH), GONE), asked=True),
    _((P.RESTORING,), on.RestoreFailed(), P.ELSEWHERE, (LATER,), asked=True),
    _((P.RETURNING,), on.ConversationRestored(), P.ELSEWHERE, (do.ReleaseLease(EPOCH),)),
    _((P.RETURNING,), on.ConversationUnusable(), P.ELSEWHERE, (do.ReleaseLease(EPOCH),)),
    _((P.RETURNING,), on.RestoreFailed(), P.ELSEWHERE, (do.ReleaseLease(EPOCH),)),
    # A lease
    _((P.UNKEPT,), on.Heartbeat(UNTIL_MS - 1), P.CLAIMING, (do.ClaimNew(),)),
    _(LEASED, on.Heartbeat(UNTIL_MS - 1), None, (do.RenewLease(EPOCH),)),
    _((P.KEPT,), on.Heartbeat(UNTIL_MS), P.LAPSED, (do.RenewLease(EPOCH), do.ReportLapse())),
    _(KEEPING, on.LeaseRenewed(EPOCH, LATER_MS), P.KEPT),
    _((P.RESTORING,), on.LeaseRenewed(EPOCH, LATER_MS), None),
    _(KEEPING, on.LeaseLost(EPOCH), P.ELSEWHERE, (do.Abandon(True),)),
    _((P.RESTORING,), on.LeaseLost(EPOCH), P.RETURNING, (LATER,), asked=True),
    _((*KEEPING, *SAVING), on.WritingFailed(EPOCH), None, (do.TellUnsaved(),)),
    _((*KEEPING, *SAVING), on.WritingWorked(EPOCH), None, (do.TellSaved(),), unsaved=True),
    _((P.HANDING_OVER,), on.SavingFinished(True), P.ELSEWHERE, (do.Abandon(False),)),
    _((P.HANDING_OVER,), on.SavingFinished(False), P.ELSEWHERE, (do.Abandon(False),)),
    _((P.ENDING,), on.SavingFinished(True), P.OVER),
    _((P.ENDING,), on.SavingFinished(False), P.ELSEWHERE),
)


def sample(place: Place, asked: bool = False, unsaved: bool = False) -> Ownership:
    """What a node in this place (state) knows about the conversation, including a lease if a node in this place can
    have one."""
    is_leased = place in (*LEASED, P.RETURNING)
    return Ownership(place, EPOCH * is_leased, UNTIL_MS * is_leased, asked, unsaved)


def broken_promises(machine: OwnershipMachine) -> Iterator[str]:
    """Yield one line for each difference between what this machine does and what is promised."""
    named = {(place, type(promise.given)) for promise in PROMISES for place in promise.places}
    for promise in PROMISES:
        for place in promise.places:
            before = sample(place, promise.asked, promise.unsaved)
            after, intents = machine.step(before, promise.given)
            what = f"{place.value} + {type(promise.given).__name__}"
            if after.place is not (promise.target or place):
                yield f"{what} leads to {after.place.value}"
            if intents != promise.intents:
                yield f"{what} causes {', '.join(type(intent).__name__ for intent in intents) or 'nothing'}"
            yield from _wrong_facts(what, before, promise.given, after)
    for given in {type(promise.given): promise.given for promise in PROMISES}.values():
        for place in Place:
            before = sample(place)
            if (place, type(given)) not in named and machine.step(before, given) != (before, ()):
                yield f"{place.value} + {type(given).__name__} changes something"


def _wrong_facts(what: str, before: Ownership, given: on.OwnershipInput, after: Ownership) -> Iterator[str]:
    """Check what an ownership knows besides its place (its state): the lease, whether a client waits, and whether the
    conversation ran here. Yields one line for each mistake."""
    is_lease = isinstance(given, (on.LeaseGranted, on.LeaseRenewed)) and after.place in LEASED
    if is_lease and (after.epoch, after.until_ms) != (getattr(given, "epoch", 0), getattr(given, "until_ms", 0)):
        yield f"{what} forgets the lease"
    if isinstance(given, on.ClientAsked) and after.is_asked != (after.place in (*TAKING, P.RESTORING)):
        yield f"{what} forgets who waits"
    if before.is_asked and after.is_asked and after.place not in (*TAKING, P.RESTORING):
        yield f"{what} leaves a client waiting"
    if (after.place in RUNNING) and before.place in (P.ABSENT, P.RESTORING) and not after.has_run:
        yield f"{what} forgets that it ran here"
