"""Each law about a step or a state notices a machine that is broken on purpose."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from duologue.core import effects as fx
from duologue.core import events as ev
from duologue.core.deadlines import LIMITS, DeadlineOwners
from duologue.core.draft import Draft
from duologue.core.leaves import Link, Outcome, Reply, Timer, Voice, Words
from duologue.core.machine import ROWS, Machine
from duologue.core.rows import row
from duologue.core.rules import RULES
from duologue.core.voice import finish
from duologue.lab.check.core import laws
from tests.lab.check.core.broken_machines import LINK, OVER, WORK, breaks, changed, with_rule

# -- 1 Never stuck


def test_a_leaf_without_a_hard_deadline_is_found() -> None:
    owners = DeadlineOwners([limit for limit in LIMITS if limit.timer is not Timer.TALK])
    assert breaks(laws.NEVER_STUCK, Machine(owners=owners))


# -- 2 Nothing stale


def test_a_final_text_that_outlasts_its_turn_is_found() -> None:
    rows = changed("timer:talk/timer:settle/SoundDismissed [text_is_final]", lambda r: replace(r, do=None))
    assert breaks(laws.NOTHING_STALE, Machine(rows))


def test_a_firm_reply_that_is_over_is_found() -> None:
    def keep_firm(d: Draft, e: ev.Event) -> None:
        finish(d, e)  # type: ignore[arg-type]
        d.firm = d.before.firm

    rows = changed("+ PlaybackFinished -> silent", lambda r: replace(r, do=keep_firm))
    assert breaks(laws.NOTHING_STALE, Machine(rows), OVER)


# -- 3 Once


def test_speech_in_another_turn_than_predicted_is_found() -> None:
    rows = changed("user: transcribing + SpeechStarted/PttPressed", lambda r: replace(r, do=None))
    assert breaks(laws.ONCE, Machine(rows))


def test_an_id_that_decreases_is_found() -> None:
    def forget(d: Draft, e: ev.Event) -> None:
        d.voice_id = 0

    rows = changed("+ VoicesPlayed", lambda r: replace(r, do=forget))
    assert breaks(laws.ONCE, Machine(rows), LINK)


def test_a_playing_voice_with_a_new_number_is_found() -> None:
    def count(d: Draft, e: ev.Event) -> None:
        d.voice_id += 1

    rows = changed("timer:long_speech", lambda r: replace(r, do=count))
    assert breaks(laws.ONCE, Machine(rows))


def test_two_requests_in_one_step_are_found() -> None:
    def ask_twice(d: Draft, e: ev.Event) -> None:
        next(rule for rule in RULES if rule.name == "ask").do(d, e)
        d.emit(fx.StartReply(d.reply_id + 1, 1, 1))

    assert breaks(laws.ONCE, Machine(rules=with_rule("ask", ask_twice)))


def test_a_request_dropped_without_its_cancel_is_found() -> None:
    def just_move_on(d: Draft, e: ev.Event) -> None:
        d.reply_id += 1

    rows = changed("WordsHeard/TextTyped [adds_to_question]", lambda r: replace(r, do=just_move_on))
    assert breaks(laws.ONCE, Machine(rows))


def test_a_second_output_for_one_call_is_found() -> None:
    def tell_twice(d: Draft, e: Any, job: Any) -> None:
        d.news = True
        for _ in range(2):
            d.emit(fx.PostOutput(job.call, Outcome.DONE))

    rows = changed("tool/delegated + JobFinished", lambda r: replace(r, do=tell_twice))
    assert breaks(laws.ONCE, Machine(rows), WORK)


# -- 4 Said and heard agree


def test_playback_that_is_cut_without_being_stopped_is_found() -> None:
    rows = changed("[takes_floor] -> stopping", lambda r: replace(r, do=None))
    assert breaks(laws.SAID_AND_HEARD_AGREE, Machine(rows))


def test_playback_that_is_cut_without_being_truncated_is_found() -> None:
    rows = changed("timer:stop -> silent", lambda r: replace(r, do=None))
    assert breaks(laws.SAID_AND_HEARD_AGREE, Machine(rows))


def test_playback_that_starts_while_the_user_talks_is_found() -> None:
    def careless(d: Draft) -> bool:
        return d.reply is Reply.READY and d.voice is Voice.SILENT and d.link is Link.UP

    rules = tuple(replace(rule, when=careless) if rule.name == "speak" else rule for rule in RULES)
    assert breaks(laws.SAID_AND_HEARD_AGREE, Machine(rules=rules))


# -- 6 Every sentence ends


def test_playback_that_ends_without_a_reason_is_found() -> None:
    def end(d: Draft, e: ev.Event) -> None:
        d.emit(fx.StopPlayback(d.voice_id))
        d.emit(fx.TruncateReply(d.voice_id, d.heard_ms))

    extra = row(Voice.PLAYING, ev.SpeechStopped, Voice.SILENT, end)
    assert breaks(laws.EVERY_SENTENCE_ENDS, Machine((extra, *ROWS)))


# -- 8 No input is lost


def test_words_that_are_dropped_without_a_report_are_found() -> None:
    def forget(d: Draft, e: ev.Event) -> None:
        d.words = Words.NONE

    rows = changed("timer:text -> quiet", lambda r: replace(r, do=forget))
    assert breaks(laws.NO_INPUT_IS_LOST, Machine(rows))


def test_an_owed_turn_that_is_recorded_as_overheard_is_found() -> None:
    def record(d: Draft, e: ev.WordsHeard) -> None:
        d.emit(fx.RecordOverheard(e.turn))

    rows = changed("[has_late_words]", lambda r: replace(r, do=record))
    assert breaks(laws.NO_INPUT_IS_LOST, Machine(rows), OVER)


def test_a_turn_that_counts_as_answered_without_an_answer_is_found() -> None:
    def pretend(d: Draft, e: ev.Event) -> None:
        d.answered = d.asked

    rows = changed("committing + ReplyAccepted", lambda r: replace(r, do=pretend))
    assert breaks(laws.NO_INPUT_IS_LOST, Machine(rows))


# -- 9 Suspend then resume, and rules at rest


def test_a_pause_that_changes_the_state_is_found() -> None:
    def forget(d: Draft, e: ev.Event) -> None:
        d.check_ins = 0
        d.asked_again = not d.asked_again

    rows = changed("suspended + ResumeRequested", lambda r: replace(r, do=forget))
    assert breaks(laws.PAUSING_CHANGES_NOTHING, Machine(rows), LINK)
