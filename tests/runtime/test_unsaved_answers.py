"""Receipts of a conversation: when they are given, and what a later process makes of them."""

from __future__ import annotations

import asyncio

from duologue.ports.line import Played
from duologue.runtime.agent import Agent
from duologue.runtime.conversation import Conversation
from duologue.runtime.receipts import AnswerReceipt, ReceiptTurn
from duologue.runtime.simulated_clock import run_simulated
from duologue.testing import ScriptedBrain, ScriptedLine, ScriptedVoice
from duologue.voice.ledger import Ledger


class Writer:
    """As much of a checkpoint writer as receipts need."""

    is_saved = False


async def started() -> Conversation:
    talk = Conversation(Agent(ScriptedBrain(["One. Two."]), voice=ScriptedVoice()), ScriptedLine())
    await talk.start()
    return talk


def words(text: str) -> Ledger:
    ledger = Ledger()
    ledger.begin(text)
    ledger.end()
    return ledger


def test_receipts_are_given_only_for_conversations_that_are_saved() -> None:
    async def scene() -> None:
        for has_writer in (True, False):
            talk = await started()
            given: list[AnswerReceipt] = []
            talk.engine.unsaved_answers.on_receipt = given.append
            talk.engine.unsaved_answers.writer = Writer() if has_writer else None  # type: ignore[assignment]
            talk.type("what is it?")
            await asyncio.sleep(2)
            assert bool(given) is has_writer
            assert [one.turns for one in given[:1]] == [(ReceiptTurn(1, "what is it?"),)] * bool(given)
            await talk.end("done")

    run_simulated(scene())


def test_turns_of_a_receipt_are_added_once_and_their_answer_is_known() -> None:
    async def scene() -> None:
        talk = await started()
        unsaved = talk.engine.unsaved_answers
        receipt = AnswerReceipt(3, (ReceiptTurn(1, "what is it?"),), words("It is so.").dump())
        talk.suspend()
        unsaved.note_receipts((receipt,), Played(4, 100), saved_voice=3)
        assert talk.machine_state.turn == 0, "the store knows this voice"
        unsaved.note_receipts((receipt, receipt), Played(4, 100), saved_voice=2)
        assert talk.machine_state.turn == 1
        heard = unsaved.heard_for(1, 1)
        assert heard is not None
        assert "It is so." in heard.heard
        assert unsaved.heard_for(1, 1) == heard, "the request may be made again"
        assert unsaved.heard_for(2, 2) is None
        await talk.end("done")

    run_simulated(scene())
