"""The table of a telephone call. A row says: if the call is in one of these stages, this input arrives and the guard is
true, go to the target stage and run the actions.

Rule: the first row that fits is taken. Only a row changes the stage, and the limit in the row sets the deadline of the
new stage.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from . import effects as do
from . import inputs as on
from .state import Answerer, CallEnd, CallPolicy, CallStage, CallState, OnMachine

S = CallStage
CallDone: TypeAlias = tuple[CallState, tuple[do.CallEffect, ...]]
CallAction: TypeAlias = Callable[[CallState, Any], CallDone]
CallGuard: TypeAlias = Callable[[CallPolicy, CallState, Any], bool]

UNANSWERED = (S.DIALLING, S.RINGING)
UNDECIDED = (S.SCREENING, S.GREETING, S.GREETED)  # answered, by a person or by a machine
AT_MACHINE = (S.MACHINE, S.MACHINE_SILENT)
OPENING = (*UNDECIDED, *AT_MACHINE, S.MESSAGE)  # answered, and the conversation hasn't begun
CONSULTING = (S.CALLING_TAKER, S.BRIEFING)
REQUESTED = (S.PASSING_ON, S.JOINING)  # the carrier moves the call


@dataclass(frozen=True, slots=True)
class CallRow:
    """One row of the table. `limit` is the name of the setting in CallPolicy that says how long the new stage may last;
    empty if the new stage has no deadline. The deadline is counted from the time of the input, or with `counts_since`
    from the time in the state's `since`."""

    sources: tuple[CallStage, ...]
    on: type
    target: CallStage
    do: tuple[CallAction, ...] = ()
    when: CallGuard | None = None
    limit: str = ""
    counts_since: bool = False
    why: str = ""

    @property
    def name(self) -> str:
        """The name of the row in reports."""
        guard = f" [{self.when.__name__}]" if self.when else ""
        return f"{'/'.join(stage.value for stage in self.sources)} + {self.on.__name__}{guard} -> {self.target.value}"


def row(
    sources: CallStage | tuple[CallStage, ...],
    given: type,
    target: CallStage,
    *actions: CallAction,
    when: CallGuard | None = None,
    limit: str = "",
    counts_since: bool = False,
    why: str = "",
) -> CallRow:
    """Make a row. `sources` is one stage, or a tuple of several."""
    several = sources if isinstance(sources, tuple) else (sources,)
    return CallRow(several, given, target, actions, when, limit, counts_since, why)


# -- Guards


def is_screened(policy: CallPolicy, _: CallState, __: Any) -> bool:
    return policy.on_machine is not OnMachine.TALK


def leaves_messages(policy: CallPolicy, _: CallState, __: Any) -> bool:
    return policy.on_machine is OnMachine.MESSAGE


def was_given_up(_: CallPolicy, s: CallState, __: Any) -> bool:
    """Was the call cancelled, or given up because it wasn't answered? Then the carrier may still report later that it
    has placed the call."""
    return s.request > 0 and s.outcome in (CallEnd.CANCELLED, CallEnd.NO_ANSWER)


def is_warm(_: CallPolicy, __: CallState, given: on.TransferAsked) -> bool:
    return given.warm


# -- Actions


def place_call(s: CallState, _: Any) -> CallDone:
    return replace(s, request=s.request + 1), (do.PlaceCall(s.request + 1),)


def cancel_call(s: CallState, _: Any) -> CallDone:
    return s, (do.CancelCall(),)


def cancel_late(s: CallState, _: Any) -> CallDone:
    """End a call that was given up before the carrier has reported that it placed the call. The carrier has reported
    this now, so no further answer is expected."""
    return replace(s, request=0), (do.CancelCall(),)


def screen(s: CallState, _: Any) -> CallDone:
    return s, (do.ScreenAnswer(),)


def note_begin(s: CallState, given: on.CallInput) -> CallDone:
    return replace(s, since=given.at), ()


def note_person(s: CallState, _: Any) -> CallDone:
    return replace(s, answerer=Answerer.PERSON, since=0), ()


def note_machine(s: CallState, given: on.CallInput) -> CallDone:
    """Record that an answering machine has answered, and set `since` to the time of this input."""
    return replace(s, answerer=Answerer.MACHINE, since=given.at), ()


def start_talk(s: CallState, _: Any) -> CallDone:
    return s, (do.StartTalk(),)


def start_message(s: CallState, _: Any) -> CallDone:
    return s, (do.StartMessage(),)


def start_music(s: CallState, _: Any) -> CallDone:
    return replace(s, has_music=True), () if s.has_music else (do.StartMusic(),)


def stop_music(s: CallState, _: Any) -> CallDone:
    return replace(s, has_music=False), (do.StopMusic(),) if s.has_music else ()


def pass_on(s: CallState, _: Any) -> CallDone:
    return replace(s, request=s.request + 1), (do.PassOn(s.request + 1),)


def call_taker(s: CallState, _: Any) -> CallDone:
    return replace(s, request=s.request + 1, taker=s.request + 1), (do.CallTaker(s.request + 1),)


def join_taker(s: CallState, _: Any) -> CallDone:
    return replace(s, request=s.request + 1), (do.JoinTaker(s.request + 1),)


def drop_taker(s: CallState, _: Any) -> CallDone:
    return replace(s, taker=0), (do.DropTaker(),) if s.taker else ()


def forget_taker(s: CallState, _: Any) -> CallDone:
    return replace(s, taker=0), ()


def hang_up(s: CallState, _: Any) -> CallDone:
    return s, (do.EndCall(),)


def tell_transfer(outcome: CallEnd) -> CallAction:
    def tell(s: CallState, _: Any) -> CallDone:
        return s, (do.TellTransfer(outcome),)

    tell.__name__ = f"tell_transfer_{outcome.name.lower()}"
    return tell


def tell_why(s: CallState, given: on.TakerLost) -> CallDone:
    return s, (do.TellTransfer(given.why),)


def end(outcome: CallEnd) -> CallAction:
    def tell(s: CallState, _: Any) -> CallDone:
        return replace(s, outcome=outcome, has_music=False), (do.TellEnd(outcome),)

    tell.__name__ = f"tell_end_{outcome.name.lower()}"
    return tell


def end_unreached(s: CallState, given: on.NotReached) -> CallDone:
    return replace(s, outcome=given.why), (do.TellEnd(given.why),)


# -- Rows

BEGINNING = (
    row(S.NEW, on.CallArrived, S.TALKING, start_talk),
    row(S.NEW, on.DialAsked, S.DIALLING, place_call, limit="ring_ms"),
    row(S.DIALLING, on.CarrierRefused, S.ENDED, end(CallEnd.REFUSED), why="the carrier doesn't call this number"),
    row(S.DIALLING, on.RingingReported, S.RINGING, limit="ring_ms"),
    row(UNANSWERED, on.Answered, S.SCREENING, screen, when=is_screened, limit="silence_ms_max"),
    row(UNANSWERED, on.Answered, S.TALKING, start_talk),
    row(UNANSWERED, on.NotReached, S.ENDED, end_unreached),
    row(UNANSWERED, on.TalkEnded, S.ENDED, cancel_call, end(CallEnd.CANCELLED)),
    row(UNANSWERED, on.DeadlineReached, S.ENDED, cancel_call, end(CallEnd.NO_ANSWER)),
    row(S.ENDED, on.CarrierAgreed, S.ENDED, cancel_late, when=was_given_up, why="the telephone mustn't go on ringing"),
)
SCREENS = (
    row(S.SCREENING, on.GreetingBegan, S.GREETING, note_begin, limit="greeting_ms_max"),
    row(S.GREETING, on.GreetingPaused, S.GREETED, limit="greeting_gap_ms"),
    row(
        S.GREETED,
        on.GreetingBegan,
        S.GREETING,
        limit="greeting_ms_max",
        counts_since=True,
        why="short pauses belong to the greeting",
    ),
    row(S.GREETED, on.DeadlineReached, S.TALKING, note_person, start_talk, why="only a person's greeting is so short"),
    row(UNDECIDED, on.PersonHeard, S.TALKING, note_person, start_talk),
    row(S.SCREENING, on.AnswererUnknown, S.TALKING, start_talk),
    row(
        S.SCREENING,
        on.DeadlineReached,
        S.TALKING,
        start_talk,
        why="nothing was said, so it is probably a person: a machine speaks",
    ),
    row((S.SCREENING, S.GREETING), on.MachineHeard, S.MACHINE, note_machine, when=leaves_messages, limit="beep_ms_max"),
    row(
        S.GREETING,
        on.DeadlineReached,
        S.MACHINE,
        note_machine,
        when=leaves_messages,
        limit="beep_ms_max",
        why="the greeting is too long for a person's",
    ),
    row(S.GREETED, on.MachineHeard, S.MACHINE_SILENT, note_machine, when=leaves_messages, limit="beep_gap_ms"),
    row(
        UNDECIDED,
        on.BeepHeard,
        S.MESSAGE,
        note_machine,
        start_message,
        when=leaves_messages,
        limit="message_ms_max",
    ),
    row(UNDECIDED, on.MachineHeard, S.ENDED, note_machine, hang_up, end(CallEnd.MACHINE)),
    row(UNDECIDED, on.BeepHeard, S.ENDED, note_machine, hang_up, end(CallEnd.MACHINE)),
    row(S.GREETING, on.DeadlineReached, S.ENDED, note_machine, hang_up, end(CallEnd.MACHINE)),
    row((*UNDECIDED, *AT_MACHINE), on.FaxHeard, S.ENDED, note_machine, hang_up, end(CallEnd.MACHINE)),
    row((*UNDECIDED, *AT_MACHINE), on.TalkEnded, S.ENDED, hang_up, end(CallEnd.CANCELLED)),
    row(OPENING, on.StreamClosed, S.ENDED, end(CallEnd.HUNG_UP)),
)
MESSAGES = (
    row(S.MACHINE, on.GreetingPaused, S.MACHINE_SILENT, limit="beep_gap_ms"),
    row(S.MACHINE_SILENT, on.GreetingBegan, S.MACHINE, limit="beep_ms_max", counts_since=True),
    row(AT_MACHINE, on.BeepHeard, S.MESSAGE, start_message, limit="message_ms_max"),
    row(
        S.MACHINE_SILENT,
        on.DeadlineReached,
        S.MESSAGE,
        start_message,
        limit="message_ms_max",
        why="no beep came: some machines don't beep",
    ),
    row(
        S.MACHINE,
        on.DeadlineReached,
        S.ENDED,
        hang_up,
        end(CallEnd.MACHINE),
        why="the greeting doesn't end, so no message can be left",
    ),
    row(AT_MACHINE, on.PersonHeard, S.TALKING, note_person, start_talk),
    row(AT_MACHINE, on.PersonSpoke, S.TALKING, note_person, start_talk, why="a person has picked up meanwhile"),
    row(S.MESSAGE, on.TalkEnded, S.ENDED, hang_up, end(CallEnd.MESSAGE_LEFT)),
    row(S.MESSAGE, on.MessageFailed, S.ENDED, hang_up, end(CallEnd.FAILED)),
    row(S.MESSAGE, on.DeadlineReached, S.ENDED, hang_up, end(CallEnd.FAILED)),
)
HOLDS = (
    row(S.TALKING, on.CallHoldAsked, S.HELD, start_music, limit="hold_ms_max"),
    row(S.HELD, on.CallResumeAsked, S.TALKING, stop_music),
    row(S.HELD, on.DeadlineReached, S.TALKING, stop_music, why="the hold lasts too long"),
    row((S.TALKING, S.HELD), on.StreamClosed, S.ENDED, end(CallEnd.COMPLETED)),
    row((S.TALKING, S.HELD), on.TalkEnded, S.ENDED, hang_up, end(CallEnd.COMPLETED)),
)
COLD = (
    row(
        (S.TALKING, S.HELD),
        on.TransferAsked,
        S.CALLING_TAKER,
        start_music,
        call_taker,
        when=is_warm,
        limit="ring_ms",
    ),
    row((S.TALKING, S.HELD), on.TransferAsked, S.PASSING_ON, pass_on, limit="request_ms_max"),
    row(S.PASSING_ON, on.CarrierAgreed, S.ENDED, tell_transfer(CallEnd.TRANSFERRED), end(CallEnd.TRANSFERRED)),
    row(S.PASSING_ON, on.CarrierRefused, S.TALKING, stop_music, tell_transfer(CallEnd.REFUSED)),
    row(S.PASSING_ON, on.DeadlineReached, S.TALKING, stop_music, tell_transfer(CallEnd.FAILED)),
)
WARM = (
    row(S.CALLING_TAKER, on.CarrierRefused, S.TALKING, forget_taker, stop_music, tell_transfer(CallEnd.REFUSED)),
    row(S.CALLING_TAKER, on.TakerAnswered, S.BRIEFING, limit="briefing_ms_max"),
    row(CONSULTING, on.TakerLost, S.TALKING, drop_taker, stop_music, tell_why, why="the caller goes back to the agent"),
    row(CONSULTING, on.CallResumeAsked, S.TALKING, drop_taker, stop_music, tell_transfer(CallEnd.CANCELLED)),
    row(S.CALLING_TAKER, on.DeadlineReached, S.TALKING, drop_taker, stop_music, tell_transfer(CallEnd.NO_ANSWER)),
    row(S.BRIEFING, on.DeadlineReached, S.TALKING, drop_taker, stop_music, tell_transfer(CallEnd.NO_ANSWER)),
    row(S.BRIEFING, on.TakerAccepted, S.JOINING, join_taker, limit="request_ms_max"),
    row(CONSULTING, on.StreamClosed, S.ENDED, drop_taker, tell_transfer(CallEnd.HUNG_UP), end(CallEnd.COMPLETED)),
    row(
        CONSULTING,
        on.TalkEnded,
        S.ENDED,
        drop_taker,
        tell_transfer(CallEnd.CANCELLED),
        hang_up,
        end(CallEnd.COMPLETED),
    ),
    row(
        S.JOINING,
        on.CarrierAgreed,
        S.ENDED,
        forget_taker,
        tell_transfer(CallEnd.TRANSFERRED),
        end(CallEnd.TRANSFERRED),
    ),
    row(S.JOINING, on.CarrierRefused, S.TALKING, drop_taker, stop_music, tell_transfer(CallEnd.REFUSED)),
    row(S.JOINING, on.DeadlineReached, S.TALKING, drop_taker, stop_music, tell_transfer(CallEnd.FAILED)),
)
LEAVES = (
    row(REQUESTED, on.StreamClosed, S.LEAVING, limit="request_ms_max", why="a transfer ends the stream too"),
    row(
        REQUESTED,
        on.TalkEnded,
        S.ENDED,
        drop_taker,
        tell_transfer(CallEnd.CANCELLED),
        hang_up,
        end(CallEnd.COMPLETED),
    ),
    row(
        S.LEAVING,
        on.CarrierAgreed,
        S.ENDED,
        forget_taker,
        tell_transfer(CallEnd.TRANSFERRED),
        end(CallEnd.TRANSFERRED),
    ),
    row(
        S.LEAVING,
        on.CarrierRefused,
        S.ENDED,
        drop_taker,
        tell_transfer(CallEnd.HUNG_UP),
        end(CallEnd.COMPLETED),
    ),
    row(S.LEAVING, on.DeadlineReached, S.ENDED, drop_taker, tell_transfer(CallEnd.FAILED), end(CallEnd.FAILED)),
)
CALL_SECTIONS: dict[str, tuple[CallRow, ...]] = {
    "The beginning of a call": BEGINNING,
    "Person or machine": SCREENS,
    "A message for a machine": MESSAGES,
    "Hold and end": HOLDS,
    "Transfer without a briefing": COLD,
    "Transfer with a briefing": WARM,
    "A stream that ends during a transfer": LEAVES,
}
CALL_ROWS: tuple[CallRow, ...] = tuple(one for rows in CALL_SECTIONS.values() for one in rows)
