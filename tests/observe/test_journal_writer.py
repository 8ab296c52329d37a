"""A journal is a header, a line for each event and an end, and each line is complete when it is written."""

from __future__ import annotations

import io
import json
from typing import Any

from duologue.core.codec import digest, event_to_json, settings_to_json
from duologue.lab.sim.stage import Stage
from duologue.observe.journal_writer import FORMAT, JournalWriter


def asked() -> Stage:
    stage = Stage()
    stage.start()
    stage.say()
    return stage


def lines(out: io.StringIO) -> list[dict[str, Any]]:
    assert out.getvalue().endswith("\n")
    return [json.loads(line) for line in out.getvalue().splitlines()]


def test_the_header_names_the_format_the_settings_and_the_seed() -> None:
    stage, out = asked(), io.StringIO()
    JournalWriter(out, stage.settings, seed=7)
    (header,) = lines(out)
    assert (header["format"], header["seed"]) == (FORMAT, 7)
    assert header["settings"] == json.loads(json.dumps(settings_to_json(stage.settings)))
    assert header["digest"] == digest(stage.records[0].before)


def test_each_event_is_a_whole_line_with_the_digest_of_the_state_after_it() -> None:
    stage, out = asked(), io.StringIO()
    writer = JournalWriter(out, stage.settings)
    for count, record in enumerate(stage.records, start=1):
        writer.add(record.event, record.after)
        written = lines(out)
        assert len(written) == 1 + count
        assert written[-1] == {"event": event_to_json(record.event), "digest": digest(record.after)}


def test_the_end_counts_the_events_and_repeats_the_last_digest() -> None:
    stage, out = asked(), io.StringIO()
    writer = JournalWriter(out, stage.settings)
    for record in stage.records:
        writer.add(record.event, record.after)
    writer.close()
    assert lines(out)[-1] == {"end": len(stage.records), "digest": digest(stage.state)}
