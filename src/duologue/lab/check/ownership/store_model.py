"""What the store does with a call about the lease of a conversation, as the interface of the store promises.

Rule: a call with the epoch (number) of an earlier lease changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, TypeAlias

from duologue.server.ownership import inputs as on
from duologue.server.ownership import intents as do

from .world import NO_OWNER, TTL, StoreCall, StoredView

if TYPE_CHECKING:
    from .moves import OwnershipScope

Performed: TypeAlias = tuple[on.OwnershipInput | None, StoredView]


def perform(stored: StoredView, node: int, call: StoreCall, scope: OwnershipScope) -> Iterator[Performed]:
    """Yield every possible result of this call: its outcome for the node, and what is stored afterwards."""
    intent = call.intent
    if isinstance(intent, do.ClaimNew):
        yield _claim(stored, node, call, is_forced=False)
    elif isinstance(intent, do.ClaimOrphan):
        yield _look(stored, node, scope) or _claim(stored, node, call, is_forced=False)
    elif isinstance(intent, do.ClaimForClient):
        yield _look(stored, node, scope) or _claim(stored, node, call, is_forced=True)
        if scope.wrong_key:
            yield on.LeaseRefused(), stored
    elif isinstance(intent, do.RestoreConversation):
        is_whole = stored.has_content and stored.is_usable
        yield on.ConversationRestored() if is_whole else on.ConversationUnusable(), stored
    elif isinstance(intent, do.SaveAndRelease):
        yield from _save(stored, node, intent, scope)
    elif _is_owner(stored, node, intent.epoch):  # type: ignore[union-attr]
        yield _with_lease(stored, call)
    else:
        yield on.LeaseLost(intent.epoch) if isinstance(intent, do.RenewLease) else None, stored


def _is_owner(stored: StoredView, node: int, epoch: int) -> bool:
    return stored.exists and (stored.owner, stored.epoch) == (node, epoch)


def _look(stored: StoredView, node: int, scope: OwnershipScope) -> Performed | None:
    """Why the node may not claim the stored conversation, as two values: the input that tells the node the reason, and
    what is stored. None if the node may claim it."""
    if not stored.exists or stored.is_over:
        return on.NothingStored(), stored
    if stored.is_damaged:
        return on.StoredDamaged(), stored
    return (on.StoredForAnother(), stored) if scope.foreign[node] else None


def _claim(stored: StoredView, node: int, call: StoreCall, is_forced: bool) -> Performed:
    if stored.expires and stored.owner not in (node, NO_OWNER) and not is_forced:
        return on.LeaseRefused(), stored
    epoch = stored.epoch + 1000  # more than any that was given out; `ranked` makes it small again
    now = stored._replace(exists=True, owner=node, epoch=epoch, expires=TTL, is_forced=is_forced)
    return on.LeaseGranted(epoch, call.until_ms, stored.is_over), now


def _save(stored: StoredView, node: int, intent: do.SaveAndRelease, scope: OwnershipScope) -> Iterator[Performed]:
    if not _is_owner(stored, node, intent.epoch):
        yield on.SavingFinished(is_saved=False), stored
        return
    saved = stored._replace(has_content=True, is_over=stored.is_over or intent.is_over)
    yield on.SavingFinished(is_saved=True), _released(saved)
    if node in scope.fails:  # the release failed
        yield on.SavingFinished(is_saved=True), saved


def _with_lease(stored: StoredView, call: StoreCall) -> Performed:
    if isinstance(call.intent, do.RenewLease):
        return on.LeaseRenewed(call.intent.epoch, call.until_ms), stored._replace(expires=TTL)
    if isinstance(call.intent, do.MarkOver):
        return None, _released(stored._replace(is_over=True))
    return None, _released(stored)


def _released(stored: StoredView) -> StoredView:
    return stored._replace(owner=NO_OWNER, expires=0)
