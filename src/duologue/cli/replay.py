"""`duologue replay`: replays a journal exactly, or shows the first difference."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer
from rich.console import Console
from rich.table import Table

from duologue.core.errors import DuologueError
from duologue.core.step_record import StepRecord
from duologue.core.views import PHASE, View
from duologue.observe.recorder import earlier_journals, ears_path, open_private
from duologue.replay.continuation import Continuation, find_continuation
from duologue.replay.ears_file import EarsJournal, HearingDecision, read_ears, replay_ears
from duologue.replay.journal import Journal, read_journal, replay

from .json_output import JsonOption, write_json
from .view_option import ViewOption, view_named

if TYPE_CHECKING:
    from duologue.hearing.policy import HearingPolicy
    from duologue.lab.tune.pauses import DecidedCall, DecidedOverlap, DecidedPause

_OUT = Console()


def replay_command(
    file: Annotated[Path, typer.Argument(help="The journal of a call.")],
    policy: Annotated[
        str | None,
        typer.Option(help="Decide the call again with this setting: patient, quick, 'silence 700', easyturn, words, …"),
    ] = None,
    redact: Annotated[
        Path | None,
        typer.Option(
            help="Write the journal and the journal of the ears to this path, without words, for a bug report."
        ),
    ] = None,
    agent: Annotated[
        str | None,
        typer.Option(help="The agent of the call, as module:agent: it has the policies of turn-taking that you wrote."),
    ] = None,
    as_json: JsonOption = False,
    view: ViewOption = PHASE.name,
) -> None:
    """Replay a journal exactly, or show the first difference. If the folder also has the journal of the ears (VAD and
    STT), the decisions about turns are replayed too. A journal that a crash cut off is replayed up to its last complete
    event."""
    seen = view_named(view)
    with reading(file):
        journal = read_journal(file.read_text("utf-8").splitlines(keepends=True), complete=False)
        records = list(replay(journal))
    ears, decisions = replay_ears_of(file, journal, records, _policies_of(agent))
    if redact is not None:
        _redact(file, redact)
    elif policy is not None:
        _decide_again(file, policy, as_json)
    else:
        _show(_Replayed(file, journal, records, ears, decisions), seen, as_json)


class _Replayed(NamedTuple):
    """A call after its replay."""

    file: Path
    journal: Journal
    records: list[StepRecord]
    ears: EarsJournal | None
    decisions: list[HearingDecision]

    @property
    def inputs(self) -> int:
        """How many inputs of the ears (such as partial texts) were replayed."""
        return sum(one.line > 0 for one in self.decisions)

    @property
    def unverified(self) -> int:
        return sum(one.unverified for one in self.decisions)

    @property
    def is_complete(self) -> bool:
        return self.journal.complete and (self.ears is None or self.ears.complete)

    def continues(self) -> Continuation | None:
        """The earlier journal that this journal continues, and the position in it. None if this journal doesn't
        continue one, because the conversation wasn't taken over from another process."""
        if self.journal.start is None:
            return None
        return find_continuation(self.journal.first, earlier_journals(self.file))


def _policies_of(agent: str | None) -> tuple[HearingPolicy, ...]:
    """The policies of this agent, and of the agents to which it can hand a call over."""
    if agent is None:
        return ()
    from duologue.runtime.find_agent import find_agent

    found = find_agent(agent)
    return tuple(one.hearing for one in (found, *found.agents))


def replay_ears_of(
    file: Path, journal: Journal, records: list[StepRecord], own: tuple[HearingPolicy, ...] = ()
) -> tuple[EarsJournal | None, list[HearingDecision]]:
    """Make all decisions about turns again, and compare them with the recorded decisions. `own` are policies that
    aren't part of Duologue. Returns the journal of the
    ears, and the decisions. If there is no such journal, returns None and an empty list."""
    path = ears_path(file)
    if not path.exists():
        return None, []
    with reading(path):
        ears = read_ears(path.read_text("utf-8").splitlines(keepends=True), complete=False, own=own)
        is_complete = journal.complete and ears.complete
        return ears, list(replay_ears(ears, journal.first, records, complete=is_complete))


@contextmanager
def reading(file: Path) -> Iterator[None]:
    """Read a file in a `with` block. Every error in the block becomes a DuologueError that begins with the name of the
    file."""
    try:
        yield
    except OSError as error:
        raise DuologueError(f"{file}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise DuologueError(f"{file}: not a text file") from None
    except DuologueError as error:
        raise DuologueError(f"{file}: {error}") from None


def _show(call: _Replayed, view: View, as_json: bool) -> None:
    from duologue.replay.timeline import read_timeline

    from .debug_view import debug_view

    timeline = read_timeline(call.records, view)
    if as_json:
        write_json({**_facts(call), **timeline.to_json()})
        return
    _OUT.print(debug_view(timeline))
    _OUT.print(f"[bold green]{len(call.records)} events, every digest agrees.[/]")
    if call.ears is None:
        _OUT.print(
            f"There is no ear journal ({ears_path(call.file).name}), so decisions about turns weren't made again."
        )
    elif not call.unverified:
        _OUT.print(f"[bold green]{call.inputs} inputs of the ears, every decision is the same.[/]")
    if call.ears is not None and call.ears.is_redacted:
        unverified = call.unverified
        what = f"{unverified} decisions can't be verified" if unverified else "All decisions could be verified"
        _OUT.print(f"{call.inputs} inputs of the ears, without words. {what}: decisions may depend on words.")
    if not call.is_complete:
        _OUT.print("The recording has no end: its process was killed, or the call is still running.")
    _show_continuation(call)


def _facts(call: _Replayed) -> dict[str, Any]:
    heard = None if call.ears is None else call.inputs
    facts: dict[str, Any] = {"file": str(call.file), "events": len(call.records), "agrees": True, "ears": heard}
    facts["complete"] = call.is_complete
    if call.ears is not None:
        facts |= {"redacted": call.ears.is_redacted, "unverified": call.unverified}
    if call.journal.start is not None:
        found = call.continues()
        facts["continues"] = None if found is None else {**found._asdict(), "file": str(found.file)}
    return facts


def _show_continuation(call: _Replayed) -> None:
    if call.journal.start is None:
        return
    found = call.continues()
    if found is None:
        text = "It continues a call whose earlier journal isn't in this folder."
    else:
        text = f"It continues {found.file.name} after event {found.event} of {found.events}."
        if found.unsaved:
            text += " The rest wasn't saved before that process ended."
    _OUT.print(text, highlight=False, soft_wrap=True)


# -- Without words


def _redact(file: Path, out: Path) -> None:
    from duologue.replay.redact import redact_ears

    beside = ears_path(file)
    if out.resolve() == file.resolve():
        raise DuologueError(f"{out}: this file is the journal that is replayed; name another file for the result")
    with reading(beside):
        lines = list(redact_ears(beside.read_text("utf-8").splitlines(keepends=True))) if beside.exists() else None
    with reading(out):
        for path, text in ((out, file.read_text("utf-8")), (ears_path(out), "".join(lines or ()))):
            if text:
                with open_private(path) as written:
                    written.write(text)
    names = str(out) if lines is None else f"{out} and {ears_path(out)}"
    _OUT.print(f"Without words: {names}", highlight=False, soft_wrap=True)


# -- Under another setting


def _decide_again(file: Path, name: str, as_json: bool) -> None:
    from duologue.lab.tune.calls import read_call
    from duologue.lab.tune.page import UNKNOWN
    from duologue.lab.tune.policies import RECORDED

    with reading(file):
        call = read_call(file)
    recorded, other = call.decide(RECORDED), call.decide(name)
    if as_json:
        write_json({"file": str(file), "policy": name, **_both(recorded, other), "unknown": UNKNOWN})
        return
    _OUT.print(_pauses_table(name, recorded, other))
    if recorded.overlaps:
        _OUT.print(_overlaps_table(name, recorded, other))
    _OUT.print(f"[dim]{UNKNOWN}[/]", highlight=False)


def _both(recorded: DecidedCall, other: DecidedCall) -> dict[str, Any]:
    from duologue.lab.tune.changes import ChangedPause, is_changed

    pauses = [
        {**ChangedPause("", one, two).to_json(), "changed": is_changed(one, two)}
        for one, two in zip(recorded.pauses, other.pauses, strict=True)
    ]
    overlaps = [
        {"began_at": one.began_at, "recorded": _verdict(one), "other": _verdict(two)}
        for one, two in zip(recorded.overlaps, other.overlaps, strict=True)
    ]
    for pause in pauses:
        del pause["call"]
    return {"pauses": pauses, "overlaps": overlaps}


def _pauses_table(name: str, recorded: DecidedCall, other: DecidedCall) -> Table:
    from duologue.lab.tune.changes import is_changed

    table = Table(
        "turn", "silent at", "then spoke", "ends as recorded", f"ends with {name}", title="pauses", title_justify="left"
    )
    for one, two in zip(recorded.pauses, other.pauses, strict=True):
        style = "bold yellow" if is_changed(one, two) else ""
        silent = f"{one.silent_at / 1000:.2f} s"
        table.add_row(str(one.turn), silent, _then(one), _end(one), _end(two), style=style)
    return table


def _then(pause: DecidedPause) -> str:
    """A text that says who spoke next after this pause, and after how many milliseconds: the agent, the user or both.
    "nothing more" if neither of them spoke."""
    parts = []
    if pause.answered_at is not None:
        parts.append(f"agent after {pause.answered_at - pause.silent_at} ms")
    if pause.resumed_at is not None:
        parts.append(f"user after {pause.resumed_at - pause.silent_at} ms")
    return ", ".join(parts) or "nothing more"


def _end(pause: DecidedPause) -> str:
    if pause.ended_at is None:
        return "unknown" if pause.is_unknown else "waits"
    after = f"{pause.ended_at - pause.silent_at} ms"
    return f"{after}, cut-in" if pause.is_cut_in else f"{after}, assumed" if pause.is_assumed else after


def _overlaps_table(name: str, recorded: DecidedCall, other: DecidedCall) -> Table:
    table = Table("began at", "as recorded", name, title="sounds over the agent", title_justify="left")
    for one, two in zip(recorded.overlaps, other.overlaps, strict=True):
        style = "bold yellow" if one.bid is not two.bid else ""
        table.add_row(f"{one.began_at / 1000:.2f} s", _verdict(one), _verdict(two), style=style)
    return table


def _verdict(overlap: DecidedOverlap) -> str:
    if overlap.is_unknown:
        return "unknown"
    after = "" if overlap.judged_at is None else f" after {overlap.judged_at - overlap.began_at} ms"
    return f"{'interrupts' if overlap.bid else 'does not interrupt'}{after}"
