"""`duologue timeline`: a call in the terminal, as a picture or as JSON; a problem is one line."""

from __future__ import annotations

import json
from array import array
from pathlib import Path

import pytest

from duologue.core import events as ev
from duologue.lab.sim.stage import Stage
from duologue.observe.stereo_file import StereoFile
from duologue.replay.journal import InvalidJournal, read_journal, replay
from duologue.replay.timeline import read_timeline
from tests.cli.command_line import Done
from tests.cli.command_line import run as run_command

HEADER = '{"format":"duologue-words","schema":1}\n'


def run(*args: str | Path) -> Done:
    return run_command("timeline", *args)


def played() -> Stage:
    stage = Stage()
    stage.start()
    stage.say()
    stage.answer()
    stage.wait(500)
    stage.say()
    stage.think()
    stage.speak(1_200)
    stage.interrupt()
    stage.happen(ev.PlaybackStopped, heard_ms=1_240)
    stage.wait(2_000)
    stage.happen(ev.EndRequested)
    stage.happen(ev.SessionClosed)
    return stage


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    path = tmp_path / "call.jsonl"
    with path.open("w", encoding="utf-8") as out:
        played().write_journal(out)
    return path


@pytest.fixture
def words(journal: Path) -> Path:
    path = journal.with_name("call.words.jsonl")
    said = [
        {"kind": "user", "turn": 1, "text": "is it [bold]cold[/] \x1b[31m?", "at": 1_150},
        {"kind": "agent", "reply": 3, "voice": 3, "text": "it will", "unheard": "be mild", "at": 5_400},
    ]
    path.write_text(HEADER + "".join(json.dumps(entry) + "\n" for entry in said), encoding="utf-8")
    return path


def cut(journal: Path, to: int, rest: str = "") -> int:
    """Leave so many lines of it, as a crash would."""
    lines = journal.read_text(encoding="utf-8").splitlines(keepends=True)
    journal.write_text("".join(lines[:to]) + rest, encoding="utf-8")
    return to - 1


# -- The terminal


def test_the_terminal_shows_what_happened_and_what_was_heard(journal: Path) -> None:
    done = run(journal)
    assert (done.returncode, done.stderr) == (0, "")
    assert "answer was heard to its end    → 1100 ms heard" in done.stdout
    assert "Regions" in done.stdout
    assert "Metrics" in done.stdout
    assert f"Events  {len(played().records)} in all, 0 ignored" in done.stdout
    assert "Heard  2.34 s of 2 sounds, 1 cut short" in done.stdout
    assert "voice 3: 1240 ms heard  OverlapJudged" in done.stdout
    assert max(len(line) for line in done.stdout.splitlines()) <= 100


def test_words_are_shown_only_if_their_file_is_there(journal: Path, words: Path) -> None:
    shown = run(journal).stdout
    assert "person: is it [bold]cold[/]  [31m?" in shown
    assert "agent: it will (unheard: be mild)" in shown
    assert "\x1b" not in shown
    words.unlink()
    assert "person:" not in run(journal).stdout


def test_words_can_be_left_out(journal: Path, words: Path) -> None:
    assert "mild" not in run(journal, "--no-words").stdout
    words.write_text("nonsense\n", encoding="utf-8")
    assert run(journal, "--no-words").returncode == 0


def test_an_empty_journal_is_shown(tmp_path: Path) -> None:
    path = tmp_path / "empty.jsonl"
    with path.open("w", encoding="utf-8") as out:
        Stage().write_journal(out)
    assert "No conversation has started yet." in run(path).stdout


# -- The picture and the numbers


@pytest.mark.usefixtures("words")
def test_a_picture_is_written_and_its_path_printed(journal: Path, tmp_path: Path) -> None:
    target = tmp_path / "call.html"
    done = run(journal, "--html", target)
    assert (done.returncode, done.stdout, done.stderr) == (0, f"{target}\n", "")
    html = target.read_text(encoding="utf-8")
    assert html.startswith("<!doctype html>")
    assert "<h1>call.jsonl</h1>" in html
    assert "<s>be mild</s>" in html
    run(journal, "--html", target, "--no-words")
    assert "mild" not in target.read_text(encoding="utf-8")


def test_the_numbers_are_those_of_the_timeline(journal: Path) -> None:
    data = json.loads(run(journal, "--json").stdout)
    stage = played()
    expected = json.loads(json.dumps(read_timeline(stage.records).to_json()))
    assert data == {"file": str(journal), "events": len(stage.records), "complete": True, **expected}


@pytest.mark.usefixtures("words")
def test_json_never_contains_what_was_said(journal: Path) -> None:
    assert "mild" not in run(journal, "--json").stdout


# -- Calls that were cut off


def test_a_call_that_was_cut_off_is_shown_with_a_notice(journal: Path, tmp_path: Path) -> None:
    events = cut(journal, 12, rest='{"digest":"3a')
    done = run(journal)
    assert done.returncode == 0
    assert done.stderr == f"{journal}: cut off after {events} events, or the call is still running\n"
    assert f"Events  {events} in all" in done.stdout
    data = json.loads(run(journal, "--json").stdout)
    assert (data["complete"], data["events"]) == (False, events)
    run(journal, "--html", tmp_path / "cut.html")
    assert "The journal has no end" in (tmp_path / "cut.html").read_text(encoding="utf-8")


def test_a_cut_journal_is_read_as_far_as_it_goes(journal: Path) -> None:
    lines = journal.read_text(encoding="utf-8").splitlines(keepends=True)
    found = read_journal([*lines[:6], lines[6][:20]], complete=False)
    assert not found.complete
    assert list(replay(found)) == played().records[:5]
    assert read_journal(lines, complete=False).complete


def test_a_broken_line_before_the_end_is_an_error(journal: Path) -> None:
    lines = journal.read_text(encoding="utf-8").splitlines(keepends=True)
    for broken in ("{\n", "{"):
        with pytest.raises(InvalidJournal, match="line 4: not JSON"):
            read_journal([*lines[:3], broken, *lines[4:]], complete=False)


# -- Problems


def one_line(done: Done) -> str:
    assert done.returncode == 1
    assert done.stdout == ""
    (line,) = done.stderr.strip().splitlines()
    return line


def test_a_missing_journal_is_one_line() -> None:
    assert one_line(run("/nowhere/at.all")) == "error: /nowhere/at.all: No such file or directory"


def test_an_edited_journal_is_one_line_that_names_the_place(journal: Path) -> None:
    text = journal.read_text(encoding="utf-8")
    journal.write_text(text.replace('"substantial":3', '"substantial":0'), encoding="utf-8")
    assert one_line(run(journal)).startswith(f"error: {journal}: line ")


def test_wrong_words_are_one_line_that_names_the_place(journal: Path, words: Path) -> None:
    words.write_text(HEADER + '{"kind":"user"}\n', encoding="utf-8")
    wrong = "line 2: a line of the kind user must have the field 'turn'"
    assert one_line(run(journal)) == f"error: {words}: {wrong} (use --no-words to ignore this file)"


def test_a_picture_that_can_not_be_written_is_one_line(journal: Path) -> None:
    assert one_line(run(journal, "--html", "/nowhere/x.html")) == "error: /nowhere/x.html: No such file or directory"


def test_a_picture_never_overwrites_what_it_is_drawn_from(journal: Path, words: Path) -> None:
    before = journal.read_text(encoding="utf-8")
    for target in (journal, words):
        assert one_line(run(journal, "--html", target)).endswith("choose another name for --html")
    assert journal.read_text(encoding="utf-8") == before


def test_a_picture_and_numbers_at_once_are_refused(journal: Path, tmp_path: Path) -> None:
    done = run(journal, "--json", "--html", tmp_path / "x.html")
    assert one_line(done) == "error: use either --html or --json, not both"


def test_a_recording_next_to_the_journal_is_in_the_page_with_its_offset(journal: Path, tmp_path: Path) -> None:
    page = tmp_path / "call.html"
    assert run(journal, "--html", page).returncode == 0
    assert "<audio" not in page.read_text(encoding="utf-8")
    recording = StereoFile(journal.with_suffix(".wav"), 250)
    recording.write(0, 0, array("h", [1, 2, 3]))
    recording.close()
    assert run(journal, "--html", page).returncode == 0
    html = page.read_text(encoding="utf-8")
    with journal.open(encoding="utf-8") as lines:
        began = next(iter(replay(read_journal(lines)))).event.at
    assert f'data-offset="{250 - began}"' in html
    assert "media-src data:" in html
    assert "data:audio/wav;base64,UklGR" in html


def test_a_recording_that_is_missing_or_no_sound_is_one_line(journal: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.wav"
    done = run(journal, "--html", tmp_path / "x.html", "--audio", other)
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    other.write_text("hello")
    assert "neither a WAV file" in run(journal, "--html", tmp_path / "x.html", "--audio", other).stderr
