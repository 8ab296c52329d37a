"""An ear journal and the journal of events are verified together, and an edit is named with its line."""

from __future__ import annotations

import json
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from duologue.core.codec import canonical
from duologue.hearing.policy import HearingPolicy
from duologue.lab.sim.population import play_call
from duologue.observe.ears_writer import sum_of
from duologue.observe.recorder import ears_path
from duologue.replay.ears_file import EarsJournal, HearingDecision, InvalidEars, read_ears, replay_ears
from duologue.replay.journal import read_journal, replay
from duologue.turns.endpoint import FixedSilence, SilenceWait
from duologue.turns.features import PauseFeatures
from tests.lab.tune.made_calls import Caller, record


async def _asks(caller: Caller) -> None:
    await caller.say("what is the weather like")
    await caller.wait(1_600)
    await caller.say("stop it please I meant tomorrow")
    await caller.wait(5_000)


@pytest.fixture
def call(tmp_path: Path) -> Path:
    path = tmp_path / "call.jsonl"
    record(path, _asks)
    return path


def lines_of(path: Path) -> list[str]:
    return path.read_text("utf-8").splitlines(keepends=True)


def verify(path: Path, lines: list[str] | None = None) -> list[HearingDecision]:
    journal = read_journal(lines_of(path))
    ears = read_ears(lines if lines is not None else lines_of(ears_path(path)))
    return list(replay_ears(ears, journal.first, list(replay(journal))))


def summed(lines: list[str]) -> list[str]:
    """These lines with right checksums, as if an edit had been made with care."""
    known, made = "", []
    for text in lines:
        data = {name: value for name, value in json.loads(text).items() if name != "sum"}
        known = sum_of(known, data)
        made.append(canonical({**data, "sum": known}) + "\n")
    return made


def test_every_decision_is_made_again(call: Path) -> None:
    made = verify(call)
    assert len([one for one in made if one.line]) == len(read_ears(lines_of(ears_path(call))).entries)
    assert not any(one.unverified for one in made)


@pytest.mark.parametrize("faults", [False, True])
@pytest.mark.parametrize("seed", range(8))
def test_simulated_calls_with_and_without_faults_replay(tmp_path: Path, seed: int, faults: bool) -> None:
    path = tmp_path / "call.jsonl"
    play_call(seed, 0, faults, journal=path)
    verify(path)


def test_the_file_is_for_its_owner_alone(call: Path) -> None:
    assert stat.S_IMODE(ears_path(call).stat().st_mode) == 0o600


def test_a_private_call_has_none(tmp_path: Path) -> None:
    path = tmp_path / "call.jsonl"
    with pytest.raises(Exception, match="there is no ear journal"):
        record(path, _asks, private=True)
    assert [one.name for one in tmp_path.iterdir()] == ["call.jsonl"]


@pytest.mark.parametrize(
    "old", ["weather", '"Final"', '"at":1600', '"utterance":1', '"n":5', '"heard', '"confidence":0.95']
)
def test_any_edit_is_noticed_in_its_line(call: Path, old: str) -> None:
    lines = lines_of(ears_path(call))
    place = next(place for place, line in enumerate(lines) if place and old in line)
    lines[place] = lines[place].replace(old, old[:-1] + ("9" if old[-1].isdigit() else f"s{old[-1]}"), 1)
    with pytest.raises(InvalidEars, match=f"line {place + 1}: "):
        verify(call, lines)


def _place(lines: list[str], what: str, nth: int = 0) -> int:
    return [place for place, line in enumerate(lines) if what in line][nth]


@pytest.mark.parametrize(
    ("what", "old", "new", "says"),
    [
        ('"Final"', "what is the weather like", "what is the weather", "decided WordsHeard .*'words': 4.*line 6"),
        (
            '"SpeechEnded"',
            '"SpeechEnded"',
            '"SpeechBegan"',
            "SpeechStopped is in line 5 of the journal, but the replay made no",
        ),
        ('"Woke"', '"at":2300', '"at":2290', "TurnEnded is in line 7 of the journal, but the replay made no"),
        ('"Woke"', '"at":2300', '"at":2301', "the time 2301 ms doesn't lie between the events around it"),
    ],
)
def test_an_edit_with_right_checksums_is_noticed_by_what_it_leads_to(
    call: Path, what: str, old: str, new: str, says: str
) -> None:
    lines = lines_of(ears_path(call))
    place = _place(lines, what)
    assert old in lines[place]
    lines[place] = lines[place].replace(old, new)
    with pytest.raises(InvalidEars, match=f"line {place + 1}: .*{says}"):
        verify(call, summed(lines))


def test_a_line_that_is_missing_is_noticed(call: Path) -> None:
    lines = lines_of(ears_path(call))
    with pytest.raises(InvalidEars, match="line 4: the line was changed, or a line before it is missing"):
        verify(call, lines[:3] + lines[4:])


def _header(old: str, new: str) -> Callable[[list[str]], list[str]]:
    return lambda lines: [lines[0].replace(old, new), *lines[1:]]


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (lambda lines: [], "line 1: the file is empty"),
        (lambda lines: ["\x00\n"], "line 1: not JSON"),
        (lambda lines: ["[]\n"], "line 1: expected a JSON object"),
        (_header("duologue-ears", "duologue-words"), "line 1: not an ear journal of Duologue"),
        (_header('"schema":1', '"schema":99'), "line 1: the file has schema 99, but this version reads only 1"),
        (lambda lines: lines[:-1], "truncated: no end line after input"),
        (lambda lines: [*lines[:-1], lines[-1][:9]], "not JSON, the line is cut off"),
        (lambda lines: summed([*lines, lines[1]]), "unexpected line after the end"),
        (lambda lines: summed([*lines[:4], lines[3].replace('"at":1600', '"at":10'), *lines[4:]]), "line 5: the"),
        (lambda lines: summed([lines[0], lines[1].replace('"n":', '"n":-'), *lines[2:]]), "line 2: `n` must be"),
    ],
)  # fmt: skip
def test_a_bad_file_is_one_line_that_says_why(call: Path, spoil: Callable[[list[str]], list[str]], says: str) -> None:
    with pytest.raises(InvalidEars) as error:
        verify(call, spoil(lines_of(ears_path(call))))
    assert says in str(error.value)
    assert "\n" not in str(error.value)


def test_numbers_that_no_ears_may_report_are_refused(call: Path) -> None:
    lines = lines_of(ears_path(call))
    place = _place(lines, '"Final"')
    lines[place] = lines[place].replace('"confidence":0.95', '"confidence":NaN')
    with pytest.raises(InvalidEars, match=f"line {place + 1}: .*invalid text or confidence"):
        verify(call, summed(lines))


def test_the_file_of_another_call_is_refused(call: Path, tmp_path: Path) -> None:
    async def act(caller: Caller) -> None:
        await caller.wait(900)
        await _asks(caller)

    other = tmp_path / "other.jsonl"
    record(other, act)
    with pytest.raises(InvalidEars, match="belongs to another conversation: its journal has"):
        verify(call, lines_of(ears_path(other)))


def test_the_file_of_another_agent_is_refused(call: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.jsonl"
    record(other, _asks, profile="words")
    with pytest.raises(InvalidEars, match="line 1: the file belongs to another conversation or agent"):
        verify(call, lines_of(ears_path(other)))


class PolicyOfMine:
    """Not a part of Duologue."""

    def wait(self, pause: PauseFeatures) -> SilenceWait:
        return FixedSilence(500).wait(pause)


def test_a_call_with_a_policy_of_another_program_says_that_it_cannot_be_replayed(tmp_path: Path) -> None:
    path = tmp_path / "call.jsonl"
    with pytest.raises(InvalidEars, match=r"the policy 'PolicyOfMine' isn't part of Duologue: .* --agent"):
        record(path, _asks, endpoint=PolicyOfMine())
    assert read_ears(lines_of(ears_path(path))).policy is None


def test_a_policy_of_another_program_is_replayed_if_it_is_given(tmp_path: Path) -> None:
    path, mine = tmp_path / "call.jsonl", HearingPolicy(PolicyOfMine())
    with pytest.raises(InvalidEars, match="'PolicyOfMine'"):
        record(path, _asks, endpoint=PolicyOfMine())
    lines, journal = lines_of(ears_path(path)), read_journal(lines_of(path))
    records = list(replay(journal))
    ears = read_ears(lines, own=(HearingPolicy(), mine))
    assert ears.policy is not None
    assert ears.policy.endpoint is mine.endpoint
    assert [one for one in replay_ears(ears, journal.first, records) if one.line]
    other = read_ears(lines, own=(HearingPolicy(),))
    with pytest.raises(InvalidEars, match="the policy 'PolicyOfMine' isn't part of Duologue"):
        list(replay_ears(other, journal.first, records))


class PolicyOfTwin(PolicyOfMine):
    """Waits longer."""

    def wait(self, pause: PauseFeatures) -> SilenceWait:
        return FixedSilence(900).wait(pause)


def test_a_policy_with_the_same_name_that_decides_otherwise_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "call.jsonl"
    with pytest.raises(InvalidEars):
        record(path, _asks, endpoint=PolicyOfMine())
    journal = read_journal(lines_of(path))
    twin = type("PolicyOfMine", (PolicyOfTwin,), {})()
    ears = read_ears(lines_of(ears_path(path)), own=(HearingPolicy(twin),))
    with pytest.raises(InvalidEars):
        list(replay_ears(ears, journal.first, list(replay(journal))))


def test_a_file_that_was_cut_off_by_a_crash_is_read_up_to_there(call: Path) -> None:
    lines = lines_of(ears_path(call))
    found: EarsJournal = read_ears([*lines[:4], lines[4][:10]], complete=False)
    assert (found.complete, len(found.entries)) == (False, 3)


def test_a_line_that_counts_more_events_than_there_are_is_named(call: Path) -> None:
    lines = lines_of(ears_path(call))
    moved = lines[-2].replace('"n":', '"n":9')
    journal, spoilt = read_journal(lines_of(call)), read_ears(summed([*lines[:-2], moved, lines[-1]]))
    with pytest.raises(InvalidEars, match=f"line {len(lines) - 1}: `n` is 9.*, but the journal has"):
        list(replay_ears(spoilt, journal.first, list(replay(journal))))
