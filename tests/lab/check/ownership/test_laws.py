"""The laws of ownership notice worlds that must not be."""

from __future__ import annotations

from duologue.lab.check.ownership import laws
from duologue.lab.check.ownership.laws import check_happening, check_world, check_write
from duologue.lab.check.ownership.moves import Happening
from duologue.lab.check.ownership.world import Body, NodeView, StoreCall, StoredView, World
from duologue.server.ownership import inputs as on
from duologue.server.ownership import intents as do
from duologue.server.ownership.intents import Answer
from duologue.server.ownership.places import Ownership, Place

KEPT = NodeView(Ownership(Place.KEPT, 1, 2, has_run=True), Body.RUNNING, 1, has_run=True)
STORED = StoredView(True, 0, 1, 2, True)


def broken(*nodes: NodeView, stored: StoredView = STORED) -> set[str]:
    first, second = (*nodes, NodeView())[:2]
    return {law for law, _ in check_world(World(stored, (first, second), True))}


def broken_by(
    before: NodeView,
    given: on.OwnershipInput,
    after: NodeView,
    *intents: do.OwnershipIntent,
    stored: StoredView = STORED,
) -> set[str]:
    return {law for law, _ in check_happening(Happening(0, before, given, after, intents, stored, None))}


def test_a_kept_conversation_breaks_no_law() -> None:
    assert not broken(KEPT)


def test_two_nodes_may_keep_it_only_after_a_client_has_moved() -> None:
    other = KEPT._replace(ownership=Ownership(Place.KEPT, 2, 2, has_run=True), writer=2)
    stored = STORED._replace(owner=1, epoch=2)
    assert broken(KEPT, other, stored=stored) == {laws.ONE_OWNER}
    assert not broken(KEPT, other, stored=stored._replace(is_forced=True))


def test_a_conversation_that_runs_on_after_it_left_is_noticed() -> None:
    left = KEPT._replace(ownership=Ownership(Place.ELSEWHERE, has_run=True))
    assert laws.ONE_OWNER in broken(left)
    assert laws.ONE_OWNER in broken_by(KEPT, on.LeaseLost(1), KEPT)


def test_a_client_that_waits_for_nothing_is_noticed() -> None:
    waiting = NodeView(Ownership(Place.ELSEWHERE, is_asked=True), is_waiting=True)
    assert broken(waiting) == {laws.EVERY_QUESTION_IS_ANSWERED}
    assert laws.EVERY_QUESTION_IS_ANSWERED in broken(NodeView(Ownership(Place.ELSEWHERE), is_waiting=True))


def test_a_place_that_waits_for_no_call_is_noticed() -> None:
    assert broken(NodeView(Ownership(Place.ADOPTING))) == {laws.NEVER_STUCK}
    assert not broken(NodeView(Ownership(Place.ADOPTING), calls=(StoreCall(do.ClaimOrphan(), 2),)))
    assert broken(NodeView(Ownership(Place.ELSEWHERE), calls=(StoreCall(do.ClaimOrphan(), 2),))) == {laws.NEVER_STUCK}


def test_a_lease_that_no_heartbeat_renews_is_noticed() -> None:
    assert broken_by(KEPT, on.Heartbeat(0), KEPT) == {laws.LEASES_ARE_RENEWED}
    assert not broken_by(KEPT, on.Heartbeat(0), KEPT, do.RenewLease(1))
    ended = KEPT._replace(ownership=Ownership(Place.KEPT, 1, 0, has_run=True))
    assert broken_by(ended, on.Heartbeat(0), ended, do.RenewLease(1)) == {laws.LEASES_ARE_RENEWED}


def test_a_second_release_and_a_lease_that_is_dropped_are_noticed() -> None:
    ending = KEPT._replace(ownership=Ownership(Place.ENDING, 1, has_run=True), body=Body.MISSING)
    again = ending._replace(given_back=1)
    assert broken_by(again, on.ConversationEnded(), again, do.SaveAndRelease(1, True)) == {laws.RELEASED_ONCE}
    away = NodeView(Ownership(Place.ELSEWHERE))
    assert broken_by(away, on.LeaseGranted(3, 2), away) == {laws.RELEASED_ONCE}


def test_untrue_answers_are_noticed() -> None:
    asked = NodeView(Ownership(Place.OVER), is_waiting=True)
    after = NodeView(Ownership(Place.OVER))
    for answer in (Answer.HERE, Answer.MOVED, Answer.DAMAGED, Answer.LATER, Answer.GONE):
        assert broken_by(asked, on.ClientAsked(), after, do.AnswerClient(answer)) == {laws.TOLD_THE_TRUTH}, answer
    over = STORED._replace(is_over=True)
    assert not broken_by(asked, on.ClientAsked(), after, do.AnswerClient(Answer.GONE), stored=over)


def test_notices_that_are_missing_or_repeated_are_noticed() -> None:
    unkept = NodeView(Ownership(Place.UNKEPT, has_run=True), Body.RUNNING, has_run=True)
    assert broken(unkept) == {laws.TOLD_THE_TRUTH}
    told = KEPT._replace(was_told=True)
    assert laws.TOLD_THE_TRUTH in broken_by(told, on.WritingFailed(1), told, do.TellUnsaved())


def test_tasks_that_may_act_after_it_left_are_noticed() -> None:
    assert broken(NodeView(has_run=True)) == {laws.NO_ACTION_AFTER_LEAVING}


def test_a_write_to_damaged_data_is_noticed() -> None:
    damaged = STORED._replace(is_damaged=True, expires=0)
    assert not list(check_write(damaged, damaged))
    for changed in (damaged._replace(is_over=True), damaged._replace(expires=2), damaged._replace(has_content=False)):
        assert [law for law, _ in check_write(damaged, changed)] == [laws.DAMAGED_IS_LEFT_ALONE]
