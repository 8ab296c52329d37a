"""The local NLU: understands, says when it doesn't, takes any message, and tells once what is missing."""

from __future__ import annotations

import asyncio
import logging
import re
import shutil
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from duologue.core.errors import DuologueError
from duologue.fairness.fair_threads import NLU
from duologue.fairness.owner import context_of
from duologue.models.catalogue import MODELS
from duologue.models.onnx_sessions import UnusableModel
from duologue.nlu import Intent, LocalNlu, MessageScope
from duologue.nlu.local import SCOPES_MAX
from duologue.nlu.understanding import Understanding
from duologue.runtime.simulated_clock import run_simulated
from tests.limits import WAIT_S

BAD = [
    "",
    " \n\t",
    "?!…",
    "\x00\x01\xff",
    "\ud800\udfff",
    "a" * 100_000,
    "table " * 20_000,
    "\u200b\u200d\ufeff",
    "预订 a стол \u03b3\u03b9\u03b1 δύο 🙂 ٢",
    "'; DROP TABLE bookings; --",
    "[CLS] [SEP] [PAD]",
    "\u0301" * 1_000,
]

# -- Understanding


@pytest.mark.req("D-17")
@pytest.mark.parametrize(
    ("message", "intent"),
    [
        ("could I have a table for four this evening", "book_table"),
        ("sorry, something came up, we need to cancel", "cancel_booking"),
        ("at what time do you close", "opening_hours"),
        ("is there anything without meat", "menu"),
    ],
)
def test_other_words_for_the_same_are_understood(
    deep: LocalNlu, restaurant: MessageScope, message: str, intent: str
) -> None:
    found = deep.judge(message, restaurant)
    assert (found.intent, found.error) == (intent, None)
    assert found.by in ("minilm", "minilm+e5")
    assert found.confidence > 0.5


@pytest.mark.parametrize(
    "message", ["how tall is the Eiffel tower", "my printer is on fire", "translate hello to German"]
)
def test_a_message_without_a_matching_intent_is_out_of_scope(
    deep: LocalNlu, restaurant: MessageScope, message: str
) -> None:
    found = deep.judge(message, restaurant)
    assert found.intent is None
    assert not found.is_in_scope
    assert found.guesses, "the guesses are ranked even so"


@pytest.mark.parametrize(
    ("message", "intent"), [("book a table for tonight", "book_table"), ("cancel it", "cancel_booking")]
)
def test_words_alone_understand_similar_words(
    wordy: LocalNlu, restaurant: MessageScope, message: str, intent: str
) -> None:
    found = wordy.judge(message, restaurant)
    assert (found.guesses[0].intent, found.by) == (intent, "words")
    assert wordy.judge("how tall is the Eiffel tower", restaurant).intent is None


def test_only_intents_of_the_scope_are_guessed(deep: LocalNlu, restaurant: MessageScope) -> None:
    narrow = MessageScope(tuple(intent for intent in restaurant.intents if intent.name != "menu"))
    found = deep.judge("what's on the menu", narrow)
    assert "menu" not in [guess.intent for guess in found.guesses]
    assert found.in_scope < deep.judge("what's on the menu", restaurant).in_scope


def test_guesses_are_ranked_and_the_order_of_the_scope_changes_nothing(
    deep: LocalNlu, restaurant: MessageScope
) -> None:
    found = deep.judge("cancel the table", restaurant)
    confidences = [guess.confidence for guess in found.guesses]
    assert confidences == sorted(confidences, reverse=True)
    assert deep.judge("cancel the table", MessageScope(restaurant.intents[::-1])) == found


def test_a_scope_of_one_intent_rejects_other_messages(deep: LocalNlu) -> None:
    alone = MessageScope((Intent("help", ("help me", "I don't know what to do", "what can you do")),))
    assert deep.judge("can you help me please", alone).intent == "help"
    assert deep.judge("the train to Berlin leaves at nine", alone).intent is None


def test_an_intent_without_examples_is_known_by_its_description(deep: LocalNlu) -> None:
    scope = MessageScope(
        (Intent("f1", description="pay the bill"), Intent("f2", description="complain about the food"))
    )
    assert deep.judge("I want to pay now", scope).guesses[0].intent == "f1"
    assert deep.judge("this soup is cold and awful", scope).guesses[0].intent == "f2"


def test_an_empty_scope_gives_no_guess(wordy: LocalNlu) -> None:
    assert wordy.judge("hello", MessageScope(())).intent is None


def test_the_code_in_the_page_runs(deep: LocalNlu, capsys: pytest.CaptureFixture[str]) -> None:
    page = (Path(__file__).parent.parent.parent / "docs" / "nlu.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    exec(code, {})
    assert capsys.readouterr().out == "book_table\n"


# -- Any message, from anywhere


@pytest.mark.parametrize("message", BAD, ids=lambda message: ascii(message[:12]))
def test_bad_messages_get_an_answer(deep: LocalNlu, wordy: LocalNlu, restaurant: MessageScope, message: str) -> None:
    for nlu in (deep, wordy):
        found = nlu.judge(message, restaurant)
        assert found.error is None
        assert 0 <= found.confidence <= found.in_scope <= 1


@given(st.text(max_size=80))
@settings(max_examples=60)
def test_any_message_gets_an_answer(message: str) -> None:
    found = WORDS.judge(message, TWO)
    assert 0 <= found.confidence <= found.in_scope <= 1


WORDS = LocalNlu(words_only=True)
TWO = MessageScope((Intent("yes", ("yes", "sure")), Intent("no", ("no", "never"))))


@pytest.mark.parametrize("message", ["", "...", "\x00"])
def test_a_message_without_words_means_nothing(deep: LocalNlu, restaurant: MessageScope, message: str) -> None:
    found = deep.judge(message, restaurant)
    assert (found.guesses, found.intent, found.in_scope) == ((), None, 0.0)


def test_what_is_wanted_may_come_last(deep: LocalNlu, restaurant: MessageScope) -> None:
    long = "well you see it is like this, " * 3_000 + " anyway please cancel my reservation"
    assert deep.judge(long, restaurant).guesses[0].intent == "cancel_booking"


def test_conversations_share_it_from_many_threads(deep: LocalNlu, restaurant: MessageScope) -> None:
    messages = ["a table please", "cancel it", "when do you open", "soup?"] * 4
    alone = [deep.judge(message, restaurant).intent for message in messages]
    with ThreadPoolExecutor(4) as threads:
        assert [found.intent for found in threads.map(lambda text: deep.judge(text, restaurant), messages)] == alone


@pytest.mark.req("D-17")
def test_it_is_awaited_like_any_other_also_in_simulated_time(wordy: LocalNlu, restaurant: MessageScope) -> None:
    assert asyncio.run(wordy.understand("book a table", restaurant)).intent == "book_table"
    assert run_simulated(wordy.understand("book a table", restaurant)).intent == "book_table"


# -- Learning


def test_a_scope_is_learned_once(wordy: LocalNlu, restaurant: MessageScope) -> None:
    nlu = LocalNlu(words_only=True)
    nlu.prepare(restaurant, MessageScope(()))
    (learned,) = nlu.learned_scopes
    nlu.judge("a table", restaurant)
    nlu.judge("a table", MessageScope(restaurant.intents[::-1], question="what may it be?"))
    assert nlu.learned_scopes == (learned,)


def test_scopes_are_forgotten_when_there_are_too_many() -> None:
    nlu = LocalNlu(words_only=True)
    for number in range(SCOPES_MAX + 5):
        nlu.judge("yes", MessageScope((Intent("yes", ("sure",)), Intent(f"no_{number}", ("never",)))))
    assert len(nlu.learned_scopes) == SCOPES_MAX


# -- Missing and damaged models


def notices(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING]


def test_without_the_model_words_are_used_with_one_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, restaurant: MessageScope
) -> None:
    monkeypatch.setenv("DUOLOGUE_MODELS", str(tmp_path))
    nlu = LocalNlu()
    for _ in range(3):
        assert nlu.judge("book a table for tonight", restaurant).by == "words"
    assert notices(caplog) == [
        "messages are understood by their words alone: the model minilm is missing; run `duologue models pull minilm`"
    ]
    assert nlu.notice == notices(caplog)[0]


def test_words_only_gives_no_warning(wordy: LocalNlu, restaurant: MessageScope) -> None:
    wordy.judge("a table", restaurant)
    assert wordy.notice == ""


def test_a_changed_model_is_not_used_and_can_be_pulled_again(
    minilm_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, restaurant: MessageScope
) -> None:
    folder = tmp_path / "minilm"
    shutil.copytree(minilm_folder, folder)
    with (folder / "model.safetensors").open("r+b") as file:
        file.seek(1_000_000)
        file.write(b"\x00\x00\xc0\x7f")  # the same size: only the hash differs
    monkeypatch.setenv("DUOLOGUE_MODELS", str(tmp_path))
    nlu = LocalNlu()
    assert nlu.judge("book a table", restaurant).by == "words"
    pinned = MODELS["minilm"].parts[0].sha256
    assert "model.safetensors has the SHA-256 " in nlu.notice
    assert f", expected {pinned}; run `duologue models pull minilm" in nlu.notice
    assert not (folder / ".duologue.json").exists(), "the next pull repairs it"


def test_a_folder_without_a_model_is_named_in_the_warning(tmp_path: Path, restaurant: MessageScope) -> None:
    nlu = LocalNlu(tmp_path)
    assert nlu.judge("book a table", restaurant).by == "words"
    assert str(tmp_path) in nlu.notice


def test_a_model_that_fails_on_a_message_is_replaced_by_words(
    minilm_folder: Path, monkeypatch: pytest.MonkeyPatch, restaurant: MessageScope
) -> None:
    nlu = LocalNlu(minilm_folder)
    assert nlu.judge("book a table", restaurant).by.startswith("minilm")

    def broken(*_: object) -> None:
        raise DuologueError("the weights of minilm are no numbers")

    monkeypatch.setattr("duologue.nlu.embeddings.Embeddings.of_message", broken)
    assert nlu.judge("a table for nine", restaurant).by == "words"
    assert nlu.notice == "messages are understood by their words alone: the weights of minilm are no numbers"


def test_without_the_second_model_minilm_works_without_a_warning(
    minilm_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, restaurant: MessageScope
) -> None:
    (tmp_path / "minilm").symlink_to(minilm_folder)
    monkeypatch.setenv("DUOLOGUE_MODELS", str(tmp_path))
    nlu = LocalNlu()
    assert nlu.judge("book a table", restaurant).by == "minilm"
    assert nlu.notice == ""


def test_without_onnxruntime_the_second_model_is_left_out_with_a_warning(
    minilm_folder: Path, e5_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, restaurant: MessageScope
) -> None:
    (tmp_path / "minilm").symlink_to(minilm_folder)
    (tmp_path / "e5-small").symlink_to(e5_folder)
    monkeypatch.setenv("DUOLOGUE_MODELS", str(tmp_path))
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    warnings: list[str] = []
    assert LocalNlu(warn=warnings.append).judge("book a table", restaurant).by == "minilm"
    (notice,) = warnings
    assert notice.startswith("the second NLU model isn't used: ")
    assert "pip install" in notice


def test_a_damaged_second_model_is_left_out_with_a_warning(
    minilm_folder: Path, e5_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, restaurant: MessageScope
) -> None:
    (tmp_path / "minilm").symlink_to(minilm_folder)
    shutil.copytree(e5_folder, tmp_path / "e5-small")
    with (tmp_path / "e5-small" / "e5-small.onnx.data").open("r+b") as file:
        file.seek(100_000_000)
        file.write(b"\x00\x00\xc0\x7f")
    monkeypatch.setenv("DUOLOGUE_MODELS", str(tmp_path))
    warnings: list[str] = []
    nlu = LocalNlu(warn=warnings.append)
    assert [nlu.judge("book a table", restaurant).by for _ in range(2)] == ["minilm", "minilm"]
    (notice,) = warnings
    assert notice.startswith("the second NLU model isn't used: the model e5-small can't be used: ")
    assert "run `duologue models pull e5-small" in notice


def test_a_second_model_that_fails_on_a_message_is_left_out(
    e5_folder: Path, monkeypatch: pytest.MonkeyPatch, restaurant: MessageScope
) -> None:
    warnings: list[str] = []
    nlu = LocalNlu(warn=warnings.append)
    assert nlu.judge("book a table", restaurant).by == "minilm+e5"

    def broken(*_: object) -> None:
        raise UnusableModel("the model e5-small can't be run")

    monkeypatch.setattr("duologue.nlu.e5.E5.embed", broken)
    found = nlu.judge("a table for nine please", restaurant)
    assert (found.intent, found.by) == ("book_table", "minilm")
    assert warnings == ["the second NLU model isn't used: the model e5-small can't be run"]


def test_eight_threads_with_the_same_failure_continue_with_one_warning(
    e5_folder: Path, monkeypatch: pytest.MonkeyPatch, restaurant: MessageScope
) -> None:
    warnings: list[str] = []
    nlu = LocalNlu(warn=warnings.append)
    nlu.prepare(restaurant)

    def broken(*_: object) -> None:
        raise UnusableModel("broken")

    monkeypatch.setattr("duologue.nlu.e5.E5.embed", broken)
    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(lambda n: nlu.judge(f"a table for {n}", restaurant), range(24)))
    assert {each.by for each in found} == {"minilm"}
    assert len(warnings) == 1


def test_without_numpy_it_still_understands(tmp_path: Path) -> None:
    code = (
        "import sys; sys.modules['numpy'] = None\n"
        "from duologue.nlu import Intent, LocalNlu, MessageScope\n"
        "nlu = LocalNlu()\n"
        "book, pay = Intent('book', ('book a table', 'a table for two')), Intent('pay', ('the bill please',))\n"
        "scope = MessageScope((book, pay))\n"
        "print(nlu.judge('a table for six', scope).guesses[0].intent, '|', nlu.notice)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == (
        "book | messages are understood by their words alone: numpy is missing; run `pip install 'duologue[nlu]'`"
    )


def test_messages_of_one_conversation_dont_delay_those_of_another_one() -> None:
    """The pool of NLU is fair by conversation: one that understands slowly has one thread, whatever it asks for."""
    blocked, free = threading.Event(), threading.Semaphore(0)

    class Slow(LocalNlu):
        def judge(self, message: str, scope: MessageScope) -> Understanding:
            if message == "slow":
                free.release()
                assert blocked.wait(WAIT_S)
            return Understanding()

    async def main() -> None:
        nlu, scope, loop = Slow(words_only=True), MessageScope(()), asyncio.get_running_loop()
        slow = [loop.create_task(nlu.understand("slow", scope), context=context_of("greedy")) for _ in range(6)]
        try:
            await asyncio.to_thread(free.acquire)  # one of them runs
            async with asyncio.timeout(WAIT_S):
                await loop.create_task(nlu.understand("quick", scope), context=context_of("honest"))
            assert not any(task.done() for task in slow)
            assert NLU.counts.running == 1, "the others wait for their own turn"
        finally:
            blocked.set()
            await asyncio.gather(*slow)

    asyncio.run(main())
