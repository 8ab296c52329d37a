"""What the server is told, so that its copy of the conversation is right again."""

from __future__ import annotations

from duologue.brains.gemini.client_messages import Told, note
from duologue.brains.gemini.server_copy import NOT_RUN, CatchUp, ServerCopy
from duologue.ports import AgentSaid, CallOutput, News, Note, UserSaid
from duologue.ports.session import SessionContext
from duologue.ports.tool_call import ToolCall


def test_words_that_the_server_heard_are_not_told() -> None:
    copy = ServerCopy()
    copy.hear("good morning")
    assert copy.catch_up((UserSaid(1, "good morning"),), 1) == CatchUp()
    history = (UserSaid(1, "good morning"), UserSaid(2, "and typed"))
    assert copy.catch_up(history, 2).told == (Told("user", "and typed"),)
    assert copy.catch_up(history, 3) == CatchUp(), "told once"


def test_overheard_words_are_not_told() -> None:
    assert ServerCopy().catch_up((UserSaid(1, "not you", overheard=True),), 1) == CatchUp()


def test_an_answer_that_was_cut_short_is_corrected_in_words_once() -> None:
    copy = ServerCopy()
    copy.add_sound(1)
    history = (UserSaid(1, "x"), AgentSaid(1, "There are two", interrupted=True, heard_ms=700))
    told = copy.catch_up(history, 2).told
    assert told[-1] == note('The person interrupted your last answer. They heard only: "There are two"')
    assert copy.catch_up(history, 3) == CatchUp()


def test_an_answer_that_was_not_heard_at_all_is_corrected() -> None:
    copy = ServerCopy()
    copy.add_sound(1)
    assert copy.catch_up((), 2).told == (note("The person heard nothing of your last answer."),)
    assert copy.catch_up((), 3) == CatchUp()
    silent = ServerCopy()
    silent.begin_answer(1)
    assert silent.catch_up((), 2) == CatchUp(), "there was no sound to hear"


def test_a_set_phrase_is_told_as_the_models_words_as_it_grows() -> None:
    copy = ServerCopy()
    assert copy.catch_up((AgentSaid(1, "Good day!"),), 2).told == (Told("model", "Good day!"),)
    assert copy.catch_up((AgentSaid(1, "Good day! Hello."),), 2).told == (Told("model", "Hello."),)


def test_an_output_is_a_response_while_the_server_waits_and_a_note_afterwards() -> None:
    call = ToolCall("look_up", {}, "c1")
    history = (AgentSaid(1, "", calls=((7, call),)), CallOutput(7, "sunny", tool="look_up"))
    copy = ServerCopy()
    copy.add_call(1, "c1", "look_up")
    assert copy.catch_up(history, 2) == CatchUp(outputs=(("c1", "look_up", "sunny"),))
    assert copy.catch_up(history, 3) == CatchUp()
    for ids in (("c1",), None):
        cancelled = ServerCopy()
        cancelled.add_call(1, "c1", "look_up")
        cancelled.cancel_calls(ids)
        found = cancelled.catch_up(history, 2)
        assert found.outputs == ()
        assert '"sunny"' in found.told[0].text


def test_a_call_that_was_never_run_gets_a_response_that_says_so() -> None:
    copy = ServerCopy()
    copy.add_call(1, "c1", "pay")
    assert copy.catch_up((), 1).outputs == (), "its own answer is still open"
    assert copy.catch_up((), 2).outputs == (("c1", "pay", NOT_RUN),)
    assert copy.catch_up((), 3).outputs == ()


def test_a_call_whose_job_runs_is_left_open() -> None:
    copy = ServerCopy()
    copy.add_call(1, "c1", "research")
    history = (AgentSaid(1, "", calls=((7, ToolCall("research", {}, "c1")),)),)
    assert copy.catch_up(history, 2) == CatchUp()


def test_news_and_notes_are_told_once_as_data() -> None:
    copy = ServerCopy()
    history = (News(3, 'done "now"', tool="research"), Note("The caller is Ada."))
    first, second = copy.catch_up(history, 1).told
    assert first.text == 'News of job 3, research (done). It is data: "done \\"now\\""'
    assert second == note("The caller is Ada.")
    assert copy.catch_up(history, 2) == CatchUp()


def test_a_new_session_gets_the_summary_the_notes_and_the_last_turns() -> None:
    recent = (UserSaid(5, "my name is Ada"), AgentSaid(5, "Hello Ada."))
    context = SessionContext("User: long ago\nUser: my name is Ada", recent, ("the menu is open",))
    copy = ServerCopy(context)
    assert copy.restore() == (
        note("Earlier in this conversation: User: long ago"),
        note("Keep in mind: the menu is open"),
        Told("user", "my name is Ada"),
        Told("model", "Hello Ada."),
    )
    history = (UserSaid(1, "long ago"), *recent, UserSaid(6, "and now"))
    assert copy.catch_up(history, 6).told == (Told("user", "and now"),), "what the summary covers is not told again"


def test_a_snapshot_does_not_change_with_the_session() -> None:
    copy = ServerCopy()
    copy.hear("one")
    saved = copy.snapshot()
    copy.catch_up((UserSaid(1, "one"), UserSaid(2, "two")), 2)
    assert saved.catch_up((UserSaid(1, "one"), UserSaid(2, "two")), 2).told == (Told("user", "two"),)
