"""How much the brain's word about a text weighs: `python tools/fit_completeness.py --calls FOLDER --flow FILE`.

FOLDER has calls that were recorded with their ear journals (`duologue listen --labels … --record FOLDER`), FILE the
flows that the users talk about. Every pause of the calls is decided again, with different weights for "complete" and
"open". Prints, for each pair of weights, how long users wait after words that the flow understands, and how many pauses
within a turn are taken for its end. Rule: the weights are chosen by hand from this table, and written to
src/duologue/turns/completeness.py.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from duologue.dialogue.completeness import completeness
from duologue.dialogue.flow import Domain
from duologue.dialogue.state import DialogueState
from duologue.flows.load import load_flows
from duologue.hearing.inputs import CoreStepped, Input, TextJudged
from duologue.hearing.machine import step
from duologue.hearing.state import HearingState, initial_hearing, words_to_judge
from duologue.lab.tune.calls import RecordedCall, UnusableCall, find_calls
from duologue.lab.tune.pauses import decide
from duologue.replay.ears_file import EarsEntry
from duologue.turns import completion
from duologue.turns.completeness import Completeness

TODAY = "2026-03-04"
COMPLETE_WEIGHTS, OPEN_WEIGHTS = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0), (0.0, -2.0)


class JudgedCall(NamedTuple):
    """A recorded call, with what the brain would have said in its pauses. `said` has it for each turn and end of
    voice."""

    call: RecordedCall
    said: dict[tuple[int, int], Completeness]


def judge(call: RecordedCall, domain: Domain) -> JudgedCall:
    """Add what the flow says about the text in each pause to the inputs of this call."""
    entries: list[EarsEntry] = []
    said: dict[tuple[int, int], Completeness] = {}
    s = initial_hearing(call.journal.first, call.ears.words)
    for count, i in _inputs(call):
        s, _ = step(call.policy, s, i)
        if not isinstance(i, CoreStepped):
            entries.append(EarsEntry(0, count, i))
        wanted = words_to_judge(s)
        if wanted is not None:
            judged = TextJudged(i.at, *wanted, _completeness(s, domain))
            s, _ = step(call.policy, s, judged)
            entries.append(EarsEntry(0, count, judged))
        if s.judged.turn == s.core.turn:
            said[s.core.turn, s.ended_at] = s.judged.completeness
    return JudgedCall(call._replace(ears=call.ears._replace(entries=tuple(entries))), said)


def _inputs(call: RecordedCall) -> Iterator[tuple[int, Input]]:
    left = list(reversed(call.ears.entries))
    for count, record in enumerate(call.records):
        while left and left[-1].events <= count:
            yield count, left.pop().input
        if record.after is not record.before:
            yield count, CoreStepped(record.event.at, record)
    for entry in reversed(left):
        yield len(call.records), entry.input


def _completeness(s: HearingState, domain: Domain) -> Completeness:
    text = s.words.text_of(s.core.turn)
    return Completeness(completeness(domain, DialogueState(), text, TODAY))


class Outcome(NamedTuple):
    """What one pair of weights does in all calls."""

    waits_ms: list[int]  # after words that the flow understands
    others_ms: list[int]  # after other words
    cut_ins: int
    pauses: int  # within a turn


def measure(calls: list[JudgedCall], weights: dict[Completeness, float]) -> Outcome:
    """Decide every pause again with these weights."""
    completion.COMPLETENESS_WEIGHTS = weights  # read whenever a pause is scored
    found = Outcome([], [], 0, 0)
    for one in calls:
        for pause in decide(one.call.journal, one.call.records, one.call.ears, one.call.policy).pauses:
            if not pause.is_end:
                found = found._replace(cut_ins=found.cut_ins + pause.is_cut_in, pauses=found.pauses + 1)
            elif pause.wait_ms is not None:
                whole = one.said.get((pause.turn, pause.silent_at)) is Completeness.COMPLETE
                (found.waits_ms if whole else found.others_ms).append(pause.wait_ms)
    return found


def _at(values: list[int], share: float) -> int:
    return sorted(values)[min(len(values) - 1, round(share * (len(values) - 1)))] if values else 0


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--calls", type=Path, required=True)
    parser.add_argument("--flow", type=Path, required=True)
    given = parser.parse_args()
    domain = load_flows(given.flow)
    calls = []
    for call in find_calls(given.calls):
        if isinstance(call, UnusableCall):
            sys.stderr.write(f"{call.name}: {call.why}\n")
        else:
            calls.append(judge(call, domain))
    sys.stdout.write("complete   open   understood turns, p50, p90   other turns, p50, p90   cut-ins\n")
    for weight in COMPLETE_WEIGHTS:
        for open_weight in OPEN_WEIGHTS:
            found = measure(calls, {Completeness.COMPLETE: weight, Completeness.OPEN: open_weight})
            columns = (_columns(found.waits_ms), _columns(found.others_ms), f"{found.cut_ins} of {found.pauses}")
            sys.stdout.write("   ".join((f"{weight:8.1f}", f"{open_weight:4.1f}", *columns)) + "\n")


def _columns(waits_ms: list[int]) -> str:
    return f"{len(waits_ms):10} {_at(waits_ms, 0.5):5} {_at(waits_ms, 0.9):6}"


if __name__ == "__main__":
    main()
