"""What may happen in the world of the ownership explorer: people, nodes, time, and a store that may fail at any point.

Every input goes through the real `step`, and every intent is performed in the same way as in the server. Rule: any call
to the store may fail to reach it, and any answer from the store may be lost. For each call for which the node waits
(`ANSWERED`), it gets exactly one outcome in the end.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeAlias

from duologue.server.ownership import inputs as on
from duologue.server.ownership import intents as do
from duologue.server.ownership.machine import MACHINE, OwnershipMachine
from duologue.server.ownership.places import SKIPPED, WRITING, Ownership, Place
from duologue.server.ownership.rows import OwnershipRow

from .store_model import perform
from .world import NOTHING, TTL, Body, NodeView, StoreCall, StoredView, World, ranked

CLAIMS = (do.ClaimNew, do.ClaimOrphan, do.ClaimForClient)
ANSWERED = (*CLAIMS, do.RestoreConversation, do.SaveAndRelease)
SILENT = (do.RenewLease, do.ReleaseLease, do.MarkOver)
SILENTLY = "a call fails unnoticed"


@dataclass(frozen=True, slots=True)
class OwnershipScope:
    """What may happen in one exploration. Nodes are numbers: 0 is A, where a conversation starts, and 1 is B."""

    name: str
    start: StoredView = NOTHING
    asks: tuple[int, ...] = ()  # nodes at which the client may ask
    fails: tuple[int, ...] = ()  # nodes whose calls to the store may fail, or whose answers may be lost
    ends: tuple[int, ...] = ()  # nodes on which the conversation may end
    crashes: tuple[int, ...] = ()
    leaves: tuple[int, ...] = ()
    damages: bool = False  # stored data may be damaged, and repaired
    foreign: tuple[bool, bool] = (False, False)  # nodes with another agent
    wrong_key: bool = False


class Happening(NamedTuple):
    """One input at one node, as the laws see it."""

    number: int
    before: NodeView
    given: on.OwnershipInput
    after: NodeView
    intents: tuple[do.OwnershipIntent, ...]
    stored: StoredView
    row: OwnershipRow | None


class Move(NamedTuple):
    """Something that happened. `is_kind` is true for a move that is made sooner or later if nothing fails, such as an
    answer from the store. It is false for failures, and for moves that may never be made, such as a client that asks or
    a node that is stopped. The check for worlds that get stuck uses only moves for which `is_kind` is true."""

    name: str
    is_kind: bool


Stepped: TypeAlias = tuple[Ownership, tuple[do.OwnershipIntent, ...]]
Moved: TypeAlias = tuple[Move, World, list[Happening]]


class Mover:
    """Makes the moves of one scope with one machine."""

    def __init__(self, scope: OwnershipScope, machine: OwnershipMachine = MACHINE) -> None:
        self.scope = scope
        self.machine = machine
        self._steps: dict[tuple[Ownership, on.OwnershipInput], tuple[OwnershipRow | None, Stepped]] = {}

    def moves(self, world: World) -> Iterator[Moved]:
        """Everything that may happen next."""
        for number in (0, 1):
            yield from self._people(world, number)
            yield from self._calls(world, number)
            yield from self._node(world, number)
        yield from self._tick(world)
        if self.scope.damages:
            yield from self._damage(world)

    # -- People

    def _people(self, world: World, number: int) -> Iterator[Moved]:
        node, name = world.nodes[number], "AB"[number]
        if not world.has_started and not world.stored.exists and number == 0:
            started = world.with_node(number, node._replace(body=Body.RUNNING, has_run=True))._replace(has_started=True)
            move = Move(f"{name}: a conversation starts", True)
            yield from self._post(started, number, on.ConversationStarted(), move)
        is_open = not node.is_leaving or node.body is Body.FROZEN  # a stopping node knows only what it hands over
        can_ask = number in self.scope.asks and is_open and not node.is_waiting
        if can_ask and (world.has_started or world.stored.exists):
            waiting = world.with_node(number, node._replace(is_waiting=True))
            yield from self._post(waiting, number, on.ClientAsked(), Move(f"{name}: the client asks", False))
        if number in self.scope.ends and node.body is Body.RUNNING:
            ended = world.with_node(number, node._replace(body=Body.MISSING))
            move = Move(f"{name}: the conversation ends", False)
            yield from self._post(ended, number, on.ConversationEnded(), move)

    # -- A node

    def _node(self, world: World, number: int) -> Iterator[Moved]:
        node, name = world.nodes[number], "AB"[number]
        stored = world.stored
        is_orphan = stored.exists and not stored.is_over and not stored.expires
        if is_orphan and not node.is_leaving:
            yield from self._post(world, number, on.OrphanListed(), Move(f"{name}: an orphan is listed", True))
        if number in self.scope.leaves and not node.is_leaving:
            left = world.with_node(number, node._replace(is_leaving=True))
            yield from self._post(left, number, on.NodeLeft(), Move(f"{name}: the node is stopping", False))
        if node.is_leaving and node.body is Body.RUNNING:
            yield from self._post(world, number, on.HandOverRequested(), Move(f"{name}: hand over", True))
        if number in self.scope.crashes and node != NodeView():
            yield Move(f"{name}: crashes and restarts", False), ranked(world.with_node(number, NodeView())), []
        if node.writer and node.ownership.place in WRITING:
            yield from self._writes(world, number)

    def _writes(self, world: World, number: int) -> Iterator[Moved]:
        node, name, stored = world.nodes[number], "AB"[number], world.stored
        if node.writer != stored.epoch or stored.owner != number:
            lost = on.LeaseLost(node.writer)
            yield from self._post(world, number, lost, Move(f"{name}: a write is refused", True))
            return
        written = world._replace(stored=stored._replace(has_content=True))
        if node.writes_fail:
            works = written.with_node(number, node._replace(writes_fail=False))
            move = Move(f"{name}: a write works again", True)
            yield from self._post(works, number, on.WritingWorked(node.writer), move)
        elif not stored.has_content:
            yield Move(f"{name}: a write", True), written, []
        elif number in self.scope.fails:
            fails = world.with_node(number, node._replace(writes_fail=True))
            yield from self._post(fails, number, on.WritingFailed(node.writer), Move(f"{name}: a write fails", False))

    # -- Calls to the store

    def _calls(self, world: World, number: int) -> Iterator[Moved]:
        node, name = world.nodes[number], "AB"[number]
        for index, call in enumerate(node.calls):
            what = type(call.intent).__name__
            before, after = node.calls[:index], node.calls[index + 1 :]
            without = world.with_node(number, node._replace(calls=(*before, *after)))
            if call.outcome is not None:
                yield from self._post(without, number, call.outcome, Move(f"{name}: the answer to {what}", True))
            else:
                for outcome, stored in perform(world.stored, number, call, self.scope):
                    seen = call._replace(outcome=outcome)
                    performed = world.with_node(number, node._replace(calls=(*before, seen, *after)))
                    move = Move(f"{name}: the store gets {what}: {type(outcome).__name__}", True)
                    yield move, ranked(performed._replace(stored=stored)), []
            failure = _failure_of(call.intent)
            if number in self.scope.fails and failure is not None:
                yield from self._post(without, number, failure, Move(f"{name}: {what} fails", False))

    def _at_once(self, world: World, number: int, intent: do.OwnershipIntent, is_done: bool) -> World:
        """The world after a call to the store for which the node doesn't wait. `is_done` says whether the call reached
        the store. If it was a renewal of the lease, its answer comes later, or never."""
        if not is_done:
            return world
        node = world.nodes[number]
        ((outcome, stored),) = perform(world.stored, number, StoreCall(intent, TTL), self.scope)
        if outcome is not None:
            node = node._replace(calls=(*node.calls, StoreCall(intent, TTL, outcome)))
        return world.with_node(number, node)._replace(stored=stored)

    # -- Time and damage

    def _tick(self, world: World) -> Iterator[Moved]:
        """One unit of time passes. All leases get one unit shorter: in the store, at the nodes and in answers from the
        store. If the answer to a renewal hasn't reached its node yet, the answer is dropped. Then each node gets a
        heartbeat, at which it may renew its lease again."""
        stored = world.stored._replace(expires=max(world.stored.expires - 1, 0))
        world = world._replace(stored=stored)
        for number in (0, 1):
            node = world.nodes[number]
            ownership = replace(node.ownership, until_ms=max(node.ownership.until_ms - 1, 0))
            calls = tuple(_older(call) for call in node.calls if not isinstance(call.intent, do.RenewLease))
            world = world.with_node(number, node._replace(ownership=ownership, calls=calls))
        for first, between, seen in self._post(world, 0, on.Heartbeat(0), Move("time passes", True)):
            for second, after, more in self._post(between, 1, on.Heartbeat(0), Move("time passes", True)):
                is_kind = first.is_kind and second.is_kind
                name = "time passes" if is_kind else "time passes, and a renewal fails"
                yield Move(name, is_kind), after, [*seen, *more]

    def _damage(self, world: World) -> Iterator[Moved]:
        is_idle = all(node.body is Body.MISSING and not node.calls for node in world.nodes)
        if is_idle and world.stored.exists:
            is_damaged = not world.stored.is_damaged
            changed = world._replace(stored=world.stored._replace(is_damaged=is_damaged))
            yield Move("the data is damaged" if is_damaged else "the data is repaired", False), changed, []

    # -- One input

    def _step(self, ownership: Ownership, given: on.OwnershipInput) -> tuple[OwnershipRow | None, Stepped]:
        """The row and the result of a step. Results are cached, because the same step is made in many worlds."""
        found = self._steps.get((ownership, given))
        if found is None:
            found = self.machine.row_for(ownership, given), self.machine.step(ownership, given)
            self._steps[ownership, given] = found
        return found

    def _post(self, world: World, number: int, given: on.OwnershipInput, move: Move) -> Iterator[Moved]:
        """Give a node this input, and perform its intents. Yields each possible result. There can be several, because a
        call to the store for which the node doesn't wait may also fail unnoticed."""
        before = world.nodes[number]
        row, (ownership, intents) = self._step(before.ownership, given)
        after = before._replace(ownership=ownership)
        if isinstance(given, on.SavingFinished):
            after = after._replace(writer=0, writes_fail=False)
        for intent in intents:
            after = _performed(after, intent)
        happening = [Happening(number, before, given, after, intents, world.stored, row)]
        posted = world.with_node(number, after)
        silent = [intent for intent in intents if isinstance(intent, SILENT)]
        if do.RestoreConversation() in intents:  # rebuilt from what was stored at the claim
            (outcome, _), *_ = perform(world.stored, number, after.calls[-1], self.scope)
            calls = (*after.calls[:-1], after.calls[-1]._replace(outcome=outcome))
            posted = posted.with_node(number, after._replace(calls=calls))
        for is_done in (True, False) if silent and number in self.scope.fails else (True,):
            done = posted
            for intent in silent:
                done = self._at_once(done, number, intent, is_done)
            yield move if is_done else Move(f"{move.name}, and {SILENTLY}", False), ranked(done), happening


def _performed(node: NodeView, intent: do.OwnershipIntent) -> NodeView:
    """The node after it has performed this intent, as the server does."""
    if isinstance(intent, ANSWERED):
        node = node._replace(calls=(*node.calls, StoreCall(intent, TTL if isinstance(intent, CLAIMS) else 0)))
    if isinstance(intent, (do.SaveAndRelease, do.ReleaseLease, do.MarkOver)):
        node = node._replace(given_back=intent.epoch)
    if isinstance(intent, do.SaveFromNowOn):
        node = node._replace(writer=intent.epoch, writes_fail=False)
    elif isinstance(intent, do.RunRestored):
        running = node._replace(body=Body.RUNNING, has_run=True, writer=intent.epoch)
        node = running._replace(writes_fail=False, was_told=False)
    elif isinstance(intent, do.Freeze):
        node = node._replace(body=Body.FROZEN)
    elif isinstance(intent, do.Abandon):
        node = node._replace(body=Body.MISSING, writer=0, writes_fail=False, was_told=False)
    elif isinstance(intent, do.AnswerClient):
        node = node._replace(is_waiting=False)
    elif isinstance(intent, (do.TellUnsaved, do.TellSaved)):
        node = node._replace(was_told=isinstance(intent, do.TellUnsaved))
    return node


def _failure_of(intent: do.OwnershipIntent) -> on.OwnershipInput | None:
    """The input that the node gets if this call to the store fails or its answer is lost; None if the node gets no
    input then."""
    if isinstance(intent, CLAIMS):
        return on.StoreUnreachable()
    if isinstance(intent, do.RestoreConversation):
        return on.RestoreFailed()
    return on.SavingFinished(is_saved=False) if isinstance(intent, do.SaveAndRelease) else None


def _older(call: StoreCall) -> StoreCall:
    until_ms = max(call.until_ms - 1, 0)
    outcome = call.outcome
    if isinstance(outcome, on.LeaseGranted):
        outcome = replace(outcome, until_ms=until_ms)
    return call._replace(until_ms=until_ms, outcome=outcome)


def is_owned(world: World) -> bool:
    """Has the ownership of the conversation been settled? No, while a client waits, or while a node runs the
    conversation without a lease. Otherwise it is settled if a node holds the newest lease of the conversation, if the
    conversation can't be continued, or if no node may take it over."""
    stored = world.stored
    runs_without_lease = any(node.ownership.place in (Place.CLAIMING, Place.UNKEPT) for node in world.nodes)
    if runs_without_lease or any(node.is_waiting for node in world.nodes):
        return False
    if any(node.ownership.place is Place.KEPT and node.writer == stored.epoch for node in world.nodes):
        return True
    may_take_over = any(not node.is_leaving and node.ownership.place not in SKIPPED for node in world.nodes)
    return not stored.is_resumable or not may_take_over
