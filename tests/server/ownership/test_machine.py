"""The ownership machine: from one input to the next, and what is late changes nothing."""

from __future__ import annotations

import pytest

from duologue.server.ownership import inputs as on
from duologue.server.ownership import intents as do
from duologue.server.ownership.intents import Answer
from duologue.server.ownership.machine import step
from duologue.server.ownership.places import Ownership, Place


def after(*given: on.OwnershipInput, start: Ownership | None = None) -> tuple[Ownership, list[do.OwnershipIntent]]:
    """The state after these inputs, and all intents so far."""
    state, done = start or Ownership(), list[do.OwnershipIntent]()
    for one in given:
        state, intents = step(state, one)
        done += intents
    return state, done


def test_a_new_conversation_is_claimed_saved_renewed_and_released() -> None:
    state, done = after(
        on.ConversationStarted(),
        on.LeaseGranted(7, 300),
        on.Heartbeat(100),
        on.LeaseRenewed(7, 400),
        on.ConversationEnded(),
        on.SavingFinished(True),
    )
    assert state.place is Place.OVER
    assert done == [do.ClaimNew(), do.SaveFromNowOn(7), do.RenewLease(7), do.SaveAndRelease(7, True)]
    assert (state.epoch, state.until_ms) == (0, 0)


def test_a_store_that_fails_is_told_once_and_asked_again_with_each_heartbeat() -> None:
    state, done = after(
        on.ConversationStarted(),
        on.StoreUnreachable(),
        on.Heartbeat(1),
        on.StoreUnreachable(),
        on.Heartbeat(2),
        on.LeaseGranted(3, 9),
    )
    assert state.place is Place.KEPT
    assert [type(one) for one in done].count(do.ClaimNew) == 3
    assert [one for one in done if isinstance(one, (do.TellUnsaved, do.TellSaved))] == [
        do.TellUnsaved(),
        do.TellSaved(),
    ]


def test_a_lease_that_ends_without_renewal_lapses_and_counts_again_when_renewed() -> None:
    kept = Ownership(Place.KEPT, epoch=2, until_ms=100, has_run=True)
    state, done = after(on.Heartbeat(100), start=kept)
    assert (state.place, done) == (Place.LAPSED, [do.RenewLease(2), do.ReportLapse()])
    assert after(on.LeaseRenewed(2, 200), start=state)[0] == Ownership(Place.KEPT, 2, 200, has_run=True)
    assert after(on.Heartbeat(99), start=kept)[0] is kept


@pytest.mark.req("D-14")
@pytest.mark.parametrize("place", [Place.KEPT, Place.LAPSED])
def test_a_node_that_loses_its_lease_stops_at_once(place: Place) -> None:
    state, done = after(on.LeaseLost(5), start=Ownership(place, epoch=5, has_run=True))
    assert (state, done) == (Ownership(Place.ELSEWHERE, has_run=True), [do.Abandon(is_lost=True)])


@pytest.mark.parametrize("late", [on.LeaseLost(4), on.LeaseRenewed(4, 900), on.WritingFailed(4), on.WritingWorked(6)])
def test_what_is_said_about_another_lease_changes_nothing(late: on.OwnershipInput) -> None:
    kept = Ownership(Place.KEPT, epoch=5, until_ms=100, is_unsaved=isinstance(late, on.WritingWorked))
    assert step(kept, late) == (kept, ())


def test_a_client_that_asks_while_an_orphan_is_claimed_may_force_the_move() -> None:
    state, done = after(on.OrphanListed(), on.ClientAsked(), on.LeaseRefused())
    assert (state.place, done[-1]) == (Place.RECLAIMING, do.ClaimForClient())
    state, done = after(on.LeaseGranted(1, 10), on.ConversationRestored(), start=state)
    assert done == [do.RestoreConversation(), do.AnswerClient(Answer.HERE), do.RunRestored(1)]
    assert not state.is_asked


def test_an_end_that_could_not_be_saved_leaves_the_decision_to_the_store() -> None:
    ending = Ownership(Place.ENDING, epoch=1, has_run=True)
    state, _ = after(on.SavingFinished(False), start=ending)
    assert state.place is Place.ELSEWHERE
    assert after(on.ClientAsked(), start=state)[1] == [do.ClaimForClient()]
    over, _ = after(on.SavingFinished(True), start=ending)
    assert after(on.ClientAsked(), start=over)[1] == [do.AnswerClient(Answer.GONE)]


@pytest.mark.parametrize("place", [Place.ENDING, Place.HANDING_OVER])
def test_a_renewal_that_finds_the_own_release_is_no_loss(place: Place) -> None:
    releasing = Ownership(place, epoch=3, has_run=True)
    assert step(releasing, on.LeaseLost(3)) == (releasing, ())
