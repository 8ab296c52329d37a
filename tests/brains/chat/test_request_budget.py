"""A request to an LLM is bounded: history, new words and tool outputs together; whatever is missing is said."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from duologue.brains.anthropic.messages import write_anthropic
from duologue.brains.chat.history_budget import CHARS_MIN, LEFT_OUT, chars_in
from duologue.brains.chat.messages import NO_OUTPUT, write_messages
from duologue.brains.chat.request_budget import NOTES_CHARS_MAX, bounded
from duologue.ports import AgentSaid, CallOutput, Item, News, Note, Request, ToolCall, UserSaid

CALL = ToolCall("weather", {"city": "Rome"}, "call_a")


def sent(request: Request) -> str:
    """Everything that the model reads of this request."""
    return "\n".join(str(message.get("content") or "") for message in write_messages(request))


def chars_sent(request: Request) -> int:
    """All characters of the messages, with the arguments of calls."""
    return len(sent(request)) + sum(
        len(call["function"]["name"]) + len(call["function"]["arguments"])
        for message in write_messages(request)
        for call in message.get("tool_calls", ())
    )


def test_a_request_that_fits_is_left_as_it_is() -> None:
    request = Request(1, "hello", (UserSaid(1, "hello"),))
    assert bounded(request, 1_000) is request


def test_answered_turns_are_left_out_first() -> None:
    history = (UserSaid(1, "a" * 900), AgentSaid(1, "b" * 900), UserSaid(2, "and now"))
    request = bounded(Request(2, "and now", history), 1_000)
    assert request.history == (Note(LEFT_OUT), UserSaid(2, "and now"))
    assert request.text == "and now"


def test_outputs_that_dont_fit_are_cut_and_the_users_question_is_kept() -> None:
    history = (
        UserSaid(1, "what is the weather"),
        AgentSaid(1, "One moment.", calls=((7, CALL),)),
        CallOutput(7, "sunny " * 1_000),
        UserSaid(2, "hello?"),
    )
    request = bounded(Request(2, "hello?", history), 1_000)
    said, called, output, more = request.history
    assert (said, more) == (UserSaid(1, "what is the weather"), UserSaid(2, "hello?"))
    assert called == AgentSaid(1, "", calls=((7, ToolCall("weather", {"left_out": "16 characters"}, "call_a")),))
    assert isinstance(output, CallOutput)
    assert output.output.startswith("sunny sunny")
    assert "more characters don't fit]" in output.output
    assert chars_in(request.history) <= 1_000 + NOTES_CHARS_MAX


def test_of_many_outputs_the_newest_are_whole_and_the_older_ones_are_counted() -> None:
    """A chain of tool calls in one turn: a call without its output would look as if it still ran."""
    history: list[Item] = [UserSaid(1, "compare them all")]
    for number in range(20):
        history += [AgentSaid(number, "", calls=((number, CALL),)), CallOutput(number, f"{number} ".ljust(400, "x"))]
    request = bounded(Request(21, "compare them all", tuple(history)), 2_000)
    outputs = [item for item in request.history if isinstance(item, CallOutput)]
    assert [item.call for item in outputs] == [15, 16, 17, 18, 19]
    assert all(len(item.output) == 400 for item in outputs[1:])
    assert Note("[15 earlier results of tools and jobs are left out, because they don't fit.]") in request.history
    assert NO_OUTPUT not in sent(request)
    assert "compare them all" in sent(request)


def test_a_call_that_still_runs_stays_in_the_request() -> None:
    history = (UserSaid(1, "book it"), AgentSaid(1, "", calls=((1, CALL),)), CallOutput(2, "x" * 5_000))
    request = bounded(Request(2, "book it", history), 1_000)
    assert NO_OUTPUT in sent(request)


def test_unanswered_turns_that_dont_fit_are_counted_and_the_newest_is_whole() -> None:
    turns = tuple(UserSaid(number, f"{number} ".ljust(200, "x")) for number in range(10))
    request = bounded(Request(1, " ".join(turn.text for turn in turns), turns), 1_000)
    left_out = "[8 earlier messages of the user with 1600 characters are left out, because they don't fit.]"
    assert request.history == (Note(left_out), *turns[8:])
    assert sent(request).count(turns[9].text) == 1, "and nothing is sent twice"


def test_of_a_turn_that_is_too_long_alone_the_end_is_kept() -> None:
    text = "x" * 5_000 + " and pay it now"
    request = bounded(Request(1, text, (UserSaid(1, text),)), 1_000)
    (said,) = request.history
    assert isinstance(said, UserSaid)
    assert said.text.startswith("[The first 4515 characters of this message are left out")
    assert said.text.endswith("and pay it now")
    assert sent(request) == said.text


def test_words_that_are_not_in_the_history_yet_are_bounded_too() -> None:
    text = "y" * 5_000 + " is what I want"
    request = bounded(Request(3, text, (UserSaid(1, "hi"), AgentSaid(1, "Hello."))), 1_000)
    assert sent(request).endswith("is what I want")
    assert chars_sent(request) <= 1_000 + NOTES_CHARS_MAX


def test_words_that_the_runtime_has_cut_are_not_sent_a_second_time() -> None:
    """The runtime bounds the text of a request with a note in brackets; the history has the whole words."""
    turns = (UserSaid(1, "a " * 50), UserSaid(2, "b c d"))
    text = "[1 earlier messages of the user with 100 characters are left out, because they don't fit.] b c d"
    assert sent(Request(1, text, turns)).count("b c d") == 1
    cut = "[The first 3 characters of this message are left out, because they don't fit.] rst word"
    assert sent(Request(1, cut, (UserSaid(1, "first word"),))) == "first word"


def test_news_of_jobs_are_bounded_too() -> None:
    news = tuple(News(number, "n" * 4_000) for number in range(50))
    request = bounded(Request(1, "", (UserSaid(1, "go"), AgentSaid(1, "Yes."), *news)), 10_000)
    assert chars_sent(request) <= 10_000 + NOTES_CHARS_MAX + 50 * 60
    assert isinstance(request.history[-1], News)
    assert len(request.history[-1].text) == 4_000, "the newest is whole"


_ITEMS = st.lists(
    st.one_of(
        st.builds(lambda n, size: UserSaid(n, f"w{n} " * size), st.integers(1, 50), st.integers(0, 900)),
        st.builds(lambda n, size: AgentSaid(n, "a" * size), st.integers(1, 50), st.integers(0, 3_000)),
        st.builds(
            lambda n, size: AgentSaid(n, "", calls=((n, ToolCall("t", {"x": "y" * size})),)),
            st.integers(1, 50),
            st.integers(0, 3_000),
        ),
        st.builds(lambda n, size: CallOutput(n, "o" * size), st.integers(1, 50), st.integers(0, 4_000)),
        st.builds(lambda n, size: News(n, "n" * size), st.integers(1, 50), st.integers(0, 4_000)),
    ),
    max_size=30,
)


@settings(max_examples=150, deadline=None)
@given(_ITEMS, st.sampled_from([CHARS_MIN, 3_000, 20_000]), st.text("ab ", max_size=6_000))
def test_every_request_is_bounded_and_can_be_written(items: list[Item], chars_max: int, text: str) -> None:
    request = bounded(Request(1, text, tuple(items)), chars_max)
    framed = 120 * (len(request.history) + 2)  # the frames that `write_messages` puts round news, outputs and calls
    assert chars_sent(request) <= chars_max + NOTES_CHARS_MAX + framed
    assert chars_in(request.history) <= chars_max + NOTES_CHARS_MAX + 40 * len(request.history)
    write_anthropic(request)


@pytest.mark.parametrize("chars_max", [CHARS_MIN, 5_000])
def test_to_bound_twice_is_to_bound_once(chars_max: int) -> None:
    history = (UserSaid(1, "u" * 9_000), AgentSaid(1, "", calls=((1, CALL),)), CallOutput(1, "o" * 9_000))
    once = bounded(Request(1, "u" * 9_000, history), chars_max)
    assert chars_in(bounded(once, chars_max).history) <= chars_in(once.history)
