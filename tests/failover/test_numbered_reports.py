"""Utterance numbers go on from ears to ears."""

from __future__ import annotations

from duologue.failover.numbered_reports import NumberedReports
from duologue.ports.ears import Final, Heard, Partial, SpeechBegan


def take(reports: NumberedReports, *heard: Heard) -> list[Heard]:
    return [report for one in heard for report in reports.take(one)]


def test_an_open_utterance_is_continued_without_a_second_onset() -> None:
    reports = NumberedReports()
    take(reports, SpeechBegan(7), Partial("a", utterance=7))
    assert reports.is_open
    reports.begin()
    assert take(reports, SpeechBegan(1), Final("b", utterance=1)) == [Final("b", utterance=1)]
    assert not reports.is_open
    assert take(reports, SpeechBegan(2)) == [SpeechBegan(2)]


def test_a_complete_utterance_is_not_continued() -> None:
    reports = NumberedReports()
    take(reports, SpeechBegan(1), Final("a", utterance=1))
    reports.begin()
    assert take(reports, SpeechBegan(1)) == [SpeechBegan(2)]


def test_a_report_without_a_number_is_about_the_newest_utterance() -> None:
    reports = NumberedReports()
    assert take(reports, SpeechBegan(0), Partial("a"), Final("a")) == [
        SpeechBegan(1),
        Partial("a", utterance=1),
        Final("a", utterance=1),
    ]
