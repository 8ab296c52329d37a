"""The laws of ownership: what must never happen to a stored conversation, as checks on one input and on one world (the
state of both nodes and the store).

Each check yields the law that is broken and one line that says what is wrong. Rule: a law reads what nodes know, do and
are told, never the rows. Otherwise a broken row could hide its own violation.
"""

from __future__ import annotations

from collections.abc import Iterator

from duologue.server.ownership import inputs as on
from duologue.server.ownership import intents as do
from duologue.server.ownership.intents import Answer
from duologue.server.ownership.places import LEASED, RUNNING, WAITING, WRITING, Acting, Place

from .moves import ANSWERED, CLAIMS, Happening
from .world import Body, NodeView, StoredView, World

# The titles of the laws.
ONE_OWNER = "1 one owner"
EVERY_QUESTION_IS_ANSWERED = "2 every question is answered"
DAMAGED_IS_LEFT_ALONE = "3 damaged data is left alone"
LEASES_ARE_RENEWED = "4 leases are renewed"
RELEASED_ONCE = "5 released once"
NEVER_STUCK = "6 never stuck"
TOLD_THE_TRUTH = "7 told the truth"
NO_ACTION_AFTER_LEAVING = "8 no action after leaving"
NOTHING_STALE = "9 nothing stale"
LAWS = (
    ONE_OWNER,
    EVERY_QUESTION_IS_ANSWERED,
    DAMAGED_IS_LEFT_ALONE,
    LEASES_ARE_RENEWED,
    RELEASED_ONCE,
    NEVER_STUCK,
    TOLD_THE_TRUTH,
    NO_ACTION_AFTER_LEAVING,
    NOTHING_STALE,
)
_WAITS_FOR: dict[Place, tuple[type, ...]] = {
    Place.CLAIMING: (do.ClaimNew,),
    Place.CLEARING: (do.ClaimNew,),
    Place.ADOPTING: (do.ClaimOrphan,),
    Place.RECLAIMING: (do.ClaimForClient,),
    Place.RESTORING: (do.RestoreConversation,),
    Place.RETURNING: (*CLAIMS, do.RestoreConversation),
    Place.HANDING_OVER: (do.SaveAndRelease,),
    Place.ENDING: (do.SaveAndRelease,),
}
_LATER = (on.StoreUnreachable, on.RestoreFailed, on.NodeLeft, on.LeaseLost)
Complaints = Iterator[tuple[str, str]]


# -- One world


def check_world(world: World) -> Complaints:
    """Check the laws about one world. Yields (law, what is wrong)."""
    for node in world.nodes:
        yield from _check_body(node)
        yield from _check_waiting(node)
        yield from _check_notices(node)
    first, second = (node.ownership for node in world.nodes)
    both_keep = first.place is second.place is Place.KEPT and first.until_ms > 0 < second.until_ms
    if both_keep and not world.stored.is_forced:
        yield ONE_OWNER, "both nodes have a valid lease for the conversation, and no client has moved"


def _check_body(node: NodeView) -> Complaints:
    own, body = node.ownership, node.body
    if (body is Body.RUNNING) != (own.place in RUNNING):
        yield ONE_OWNER, f"in {own.place.value}, it is {body.value}"
    if (body is Body.FROZEN) != (own.place is Place.HANDING_OVER):
        yield ONE_OWNER, f"in {own.place.value}, it is {body.value}"
    if own.place in WRITING and node.writer != own.epoch:
        yield ONE_OWNER, f"in {own.place.value}, the conversation isn't saved under its own lease"
    if (own.epoch > 0) != (own.place in LEASED) and own.place is not Place.RETURNING:
        yield ONE_OWNER, f"{own.place.value} has epoch {own.epoch}"
    left = body is Body.MISSING and own.place is not Place.ENDING
    if left and node.has_run and own.acting is not Acting.REFUSED:
        yield NO_ACTION_AFTER_LEAVING, f"in {own.place.value}, the conversation's tasks may still act"
    if node.has_run and own.is_forgettable:
        yield NO_ACTION_AFTER_LEAVING, f"in {own.place.value}, the conversation may be forgotten"
    if body is Body.RUNNING and own.acting is not (Acting.RECORDED if own.epoch else Acting.UNSAVED):
        yield NO_ACTION_AFTER_LEAVING, f"in {own.place.value}, the conversation's actions are {own.acting.value}"


def _check_waiting(node: NodeView) -> Complaints:
    place = node.ownership.place
    kinds = [type(call.intent) for call in node.calls if isinstance(call.intent, ANSWERED)]
    if place in WAITING and not any(kind in _WAITS_FOR[place] for kind in kinds):
        yield NEVER_STUCK, f"{place.value} waits for a call that isn't made"
    if place not in WAITING and kinds:
        yield NEVER_STUCK, f"{place.value} doesn't wait for {kinds[0].__name__}"
    if len(kinds) > 1:
        yield NEVER_STUCK, f"{place.value} waits for {len(kinds)} calls at once"
    if node.is_waiting != node.ownership.is_asked:
        yield EVERY_QUESTION_IS_ANSWERED, f"a client {'waits' if node.is_waiting else 'does not wait'} in {place.value}"
    if node.is_waiting and place not in WAITING:
        yield EVERY_QUESTION_IS_ANSWERED, f"a client waits for nothing in {place.value}"


def _check_notices(node: NodeView) -> Complaints:
    own = node.ownership
    if node.body is not Body.RUNNING:
        return
    if node.was_told != own.is_unsaved:
        yield TOLD_THE_TRUTH, f"the node believes that the client knows it is unsaved: {own.is_unsaved}"
    is_unsaved = own.place in (Place.UNKEPT, Place.UNKEEPABLE) or (own.place in WRITING and node.writes_fail)
    if own.place is not Place.CLAIMING and node.was_told != is_unsaved:
        yield TOLD_THE_TRUTH, f"in {own.place.value}, the client was told: {'un' * node.was_told}saved"


# -- One input


def check_happening(seen: Happening) -> Complaints:
    """Check the laws about one input at one node. Yields (law, what is wrong)."""
    yield from _check_answers(seen)
    yield from _check_lease(seen)
    yield from _check_reports(seen)
    is_lost = isinstance(seen.given, on.LeaseLost) and seen.given.epoch == seen.before.ownership.epoch
    if is_lost and seen.after.body is Body.RUNNING:
        yield ONE_OWNER, "the conversation still runs on a node that knows that another node has it"
    is_handed_over = isinstance(seen.given, on.HandOverRequested) and seen.before.ownership.place is not Place.CLAIMING
    if is_handed_over and seen.after.body is Body.RUNNING:
        yield NEVER_STUCK, "the conversation isn't handed over"


def _check_answers(seen: Happening) -> Complaints:
    for intent in seen.intents:
        if not isinstance(intent, do.AnswerClient):
            continue
        if not seen.before.is_waiting:
            yield EVERY_QUESTION_IS_ANSWERED, "there is an answer, but no client waits for it"
        problem = _untrue(intent.answer, seen)
        if problem:
            yield TOLD_THE_TRUTH, f"{intent.answer.value}: {problem}"


def _untrue(answer: Answer, seen: Happening) -> str:
    """The reason why this answer to a client isn't true; empty if it is true."""
    place = seen.after.ownership.place
    given, stored = seen.given, seen.stored
    if answer is Answer.HERE:
        return "" if seen.after.body is Body.RUNNING or place is Place.ENDING else "the conversation doesn't run here"
    if answer is Answer.MOVED:
        return "" if place is Place.HANDING_OVER else "the conversation isn't about to move"
    if answer is Answer.DAMAGED:
        return "" if stored.is_damaged else "the stored data isn't damaged"
    if answer is Answer.LATER:
        is_reason = isinstance(given, _LATER) or seen.before.ownership.place is Place.RETURNING
        return "" if is_reason else "there is no reason to try again later"
    found_unusable = isinstance(given, on.ConversationUnusable) and stored.epoch == seen.before.ownership.epoch
    could_be_had = stored.is_resumable and (isinstance(given, on.ClientAsked) or found_unusable)
    return "the conversation could be resumed" if could_be_had and place is not Place.FOREIGN else ""


def _check_lease(seen: Happening) -> Complaints:
    before, after = seen.before.ownership, seen.after.ownership
    renewals = [intent for intent in seen.intents if isinstance(intent, do.RenewLease)]
    if isinstance(seen.given, on.Heartbeat):
        if before.place in LEASED and [one.epoch for one in renewals] != [before.epoch]:
            yield LEASES_ARE_RENEWED, f"a heartbeat renews nothing in {before.place.value}"
        if after.place is Place.KEPT and not after.until_ms:
            yield LEASES_ARE_RENEWED, "a lease that has ended counts as valid"
        if before.place is Place.UNKEPT and after.place is not Place.CLAIMING:
            yield LEASES_ARE_RENEWED, "the lease isn't claimed again"
    elif renewals:
        yield LEASES_ARE_RENEWED, "renewed without a heartbeat"
    yield from _check_renewal(seen)
    for intent in seen.intents:
        if isinstance(intent, (do.SaveAndRelease, do.ReleaseLease, do.MarkOver)):
            yield from _check_release(seen, intent.epoch)
        if isinstance(intent, do.SaveAndRelease) and intent.is_over != isinstance(seen.given, on.ConversationEnded):
            yield TOLD_THE_TRUTH, "the store is told wrongly whether the conversation is over"
    if isinstance(seen.given, on.LeaseGranted) and before.place is Place.CLAIMING:
        is_given_up = after.place is Place.UNKEEPABLE
        if is_given_up != seen.given.is_over:
            yield TOLD_THE_TRUTH, f"over in the store: {seen.given.is_over}, but the place is {after.place.value}"
    if isinstance(seen.given, on.LeaseGranted) and not after.epoch and not _gives_back(seen.intents):
        yield RELEASED_ONCE, f"a lease that was granted in {before.place.value} is neither used nor released"


def _check_renewal(seen: Happening) -> Complaints:
    before, after, given = seen.before.ownership, seen.after.ownership, seen.given
    is_about_it = isinstance(given, on.LeaseRenewed) and given.epoch == before.epoch
    if not is_about_it or before.place not in (Place.KEPT, Place.LAPSED, Place.RESTORING):
        return
    if after.until_ms != getattr(given, "until_ms", 0) or after.place is Place.LAPSED:
        yield LEASES_ARE_RENEWED, f"a renewal doesn't count in {before.place.value}"


def _gives_back(intents: tuple[do.OwnershipIntent, ...]) -> bool:
    return any(isinstance(intent, (do.ReleaseLease, do.MarkOver)) for intent in intents)


def _check_release(seen: Happening, epoch: int) -> Complaints:
    granted = seen.given.epoch if isinstance(seen.given, on.LeaseGranted) else 0
    if epoch == seen.before.given_back:
        yield RELEASED_ONCE, "a lease is released twice"
    if epoch not in (granted, seen.before.ownership.epoch) or not epoch:
        yield RELEASED_ONCE, "a lease that this node doesn't have is released"


def _check_reports(seen: Happening) -> Complaints:
    before, after, kinds = seen.before.ownership.place, seen.after.ownership.place, {type(one) for one in seen.intents}
    if (after is Place.LAPSED is not before) != (do.ReportLapse in kinds):
        yield TOLD_THE_TRUTH, "a lease lapsed without a report, or a lapse was reported that did not happen"
    if (after is Place.DAMAGED is not before) != (do.ReportDamage in kinds):
        yield TOLD_THE_TRUTH, "data is damaged without a report, or damage was reported that did not happen"
    told, again = do.TellUnsaved in kinds, do.TellSaved in kinds
    if (told and seen.before.was_told) or (again and not seen.before.was_told):
        yield TOLD_THE_TRUTH, "the client is told what it already knows"
    if do.Abandon in kinds:
        is_lost = next(intent.is_lost for intent in seen.intents if isinstance(intent, do.Abandon))
        if is_lost != isinstance(seen.given, on.LeaseLost):
            yield TOLD_THE_TRUTH, "the client is told a wrong reason for the move"


# -- What the store is asked to do


def check_write(before: StoredView, after: StoredView) -> Complaints:
    """Check what a move changed in the store: damaged data must be left alone, and a conversation that has ended must
    not go on."""
    was = (before.has_content, before.is_over)
    if before.is_damaged and (was != (after.has_content, after.is_over) or after.expires > before.expires):
        yield DAMAGED_IS_LEFT_ALONE, "damaged data was claimed or written"
    if before.is_over and not after.is_over:
        yield TOLD_THE_TRUTH, "a conversation that has ended goes on"
