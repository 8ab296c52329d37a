"""Answers that aren't in the store yet: makes receipts for them, and uses receipts that an earlier process has made.

Rule: if a client keeps receipts, it gets sound only when the words of that sound are in the store or in a receipt. So
no answer is heard twice, however long the store fails.
"""

from __future__ import annotations

from collections.abc import Callable

from duologue.ports.line import Played
from duologue.voice.ledger import Ledger

from .checkpoint_writer import CheckpointWriter
from .driver import Driver
from .hearing import Hearing
from .receipts import AnswerReceipt, HeardAnswer, ReceiptTurn, heard_answer, heard_of, joined
from .speech import Speech
from .transcript import Transcript

COMPLETE = "complete"  # in the ledger of a receipt: the answer has no more words


class UnsavedAnswers:
    """The receipts of one conversation. `on_receipt` is called with each new receipt; it is None if the client keeps no
    receipts."""

    def __init__(self, driver: Driver, transcript: Transcript, hearing: Hearing) -> None:
        self.on_receipt: Callable[[AnswerReceipt], None] | None = None
        self.writer: CheckpointWriter | None = None  # set if the words of the conversation are saved
        self._driver = driver
        self._transcript = transcript
        self._hearing = hearing
        # A voice, and how much of it is known elsewhere: its sentences, and whether it is complete.
        self._known: tuple[int, tuple[int, bool], bool] = (0, (0, False), False)
        # Until the turns that they answer are settled. Saved with the words: the next process that takes over must know
        # them too, because the numbers of these voices count as used.
        self.heard: tuple[HeardAnswer, ...] = ()

    def give_receipt(self, speech: Speech) -> None:
        """Make a receipt for the words of this speech, unless they are already saved. Call this before any sound of
        these words is sent."""
        growth = (speech.voice, speech.ledger.growth, speech.complete)
        if self.on_receipt is None or self.writer is None or growth == self._known:
            return
        is_first, self._known = self._known[0] != speech.voice, growth
        if is_first and self.writer.is_saved:  # it waited for that
            return
        state = self._driver.state
        turns = self._transcript.turns(state.answered + 1, state.asked)
        asked = tuple(ReceiptTurn(said.turn, said.text) for said in turns)
        self.on_receipt(AnswerReceipt(speech.voice, asked, {**speech.ledger.dump(), COMPLETE: speech.complete}))

    # -- After a takeover

    def learn(self, speech: Speech, receipts: tuple[AnswerReceipt, ...]) -> None:
        """If a receipt has more words of this speech than the store, use the words of the receipt."""
        for receipt in receipts:
            known = Ledger.load(receipt.ledger)
            if receipt.voice != speech.voice or known.growth < speech.ledger.growth:
                continue
            if known.growth > speech.ledger.growth:
                known.note_heard(speech.ledger.heard_ms)
                speech.ledger, speech.complete = known, False
            speech.complete = speech.complete or receipt.ledger.get(COMPLETE) is True

    def note_begun(self, speech: Speech, heard_ms: int) -> None:
        """Record which words of this speech were heard. When the brain continues the answer, these words aren't said
        again."""
        heard, text = heard_of(speech.ledger, heard_ms)
        self.heard = (*self.heard, HeardAnswer(self._driver.state.asked, heard, text))

    def note_receipts(self, receipts: tuple[AnswerReceipt, ...], played: Played | None, saved_voice: int) -> None:
        """Use the receipts of answers that aren't in the store: those whose `voice` (the number of the answer's sound)
        is above `saved_voice`. Turns of the user that are only in a receipt are added to the conversation. The parts of
        the answers that the client has played aren't said again."""
        numbers = {turn: turn for turn in range(self._driver.state.turn + 1)}  # in the receipts, and here
        for receipt in receipts:
            if receipt.voice <= saved_voice:
                continue
            for said in receipt.turns:
                if said.turn not in numbers:
                    self._hearing.type(said.text)
                    numbers[said.turn] = self._driver.state.turn
            last = max((numbers[said.turn] for said in receipt.turns), default=0)
            answer = heard_answer(receipt, played, last)
            if answer is not None and last > self._driver.state.answered:
                self.heard = (*self.heard, answer)

    def heard_for(self, first: int, last: int) -> HeardAnswer | None:
        """Drop what is known about turns before `first`, which must be the oldest unanswered turn. Returns what was
        heard of the answers to the turns from `first` to `last`, joined into one answer; None if nothing was heard."""
        self.heard = tuple(one for one in self.heard if one.turn >= first)
        mine = [one for one in self.heard if one.turn <= last]
        return joined(mine) if mine else None
