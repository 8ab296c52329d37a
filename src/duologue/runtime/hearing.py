"""Runs the hearing machine (the state machine in the package `hearing`): passes inputs to it in order, and posts its
decisions to the conversation machine (the state machine of the conversation).

Rule: this module decides nothing. An input is processed between two steps of the conversation machine, never within a
step.
"""

from __future__ import annotations

from collections.abc import Callable

from duologue.core.events import Event
from duologue.core.leaves import CLOSED
from duologue.core.step_record import StepRecord
from duologue.hearing import inputs as inp
from duologue.hearing.intents import (
    DismissSound,
    EndTurn,
    GuessTurn,
    HearWords,
    Intent,
    JudgeOverlap,
    TakeAnswer,
    Verdict,
    event_of,
    verdict_name,
)
from duologue.hearing.machine import step
from duologue.hearing.policy import HearingPolicy
from duologue.hearing.state import (
    HearingState,
    answers_question,
    are_typed,
    initial_hearing,
    is_premature,
    may_answer_job,
    needed_ms,
    next_due,
    words_to_judge,
)
from duologue.hearing.words import SaidWords
from duologue.ports.ears import Heard
from duologue.ports.history import UserSaid
from duologue.turns.own_speech import SpokenWord

from .driver import Driver
from .ears_contract import check_report
from .speech import Speech
from .text_judge import TextJudge
from .transcript import Transcript


class Hearing:
    """The hearing machine of one conversation."""

    def __init__(
        self,
        driver: Driver,
        transcript: Transcript,
        policy: HearingPolicy,
        caption: Callable[[int, int, str], None],
        decided: Callable[[str, tuple[str, ...], float], None],
        words: SaidWords | None = None,
        judge: TextJudge | None = None,
    ) -> None:
        self.policy = policy
        self.state: HearingState = initial_hearing(driver.state, words)
        self.on_input: Callable[[inp.Input], None] | None = None  # called with every input except CoreStepped
        self._driver = driver
        self._transcript = transcript
        self._caption = caption
        self._decided = decided
        self._judge = judge
        self._followed: tuple[Intent, ...] = ()  # what the last step of the conversation machine led to
        self._accepted: Verdict | None = None  # a verdict that has changed something, to be announced
        self._verdicts: dict[type[Event], Verdict] = {}  # posted, but not processed yet
        self._speech = (0, 0, False)  # the speech that the machine knows of: its reply, its sounds, is it complete?
        driver.merge(lambda: next_due(self.policy, self.state), self._wake)

    @property
    def _has_names(self) -> bool:
        """Does a capital letter in the agent's language mark a name? Not in German, where every noun is capitalised."""
        return self.policy.language != "de"

    # -- Inputs

    def note(self, heard: Heard) -> None:
        """Process one report from the ears. Raises BrokenContract for an invalid report."""
        if self._driver.state.link in CLOSED:
            return
        check_report(heard)
        self._take(inp.Reported(self._driver.now(), heard))

    def forget(self) -> None:
        """Tell the hearing machine that the ears have stopped."""
        self._take(inp.EarsStopped(self._driver.now()))

    def press(self) -> None:
        """Tell the hearing machine that the user presses push-to-talk."""
        self._between_steps(lambda: self._take(inp.ButtonPressed(self._driver.now())))

    def release(self) -> None:
        """Tell the hearing machine that the user releases push-to-talk."""
        self._between_steps(lambda: self._take(inp.ButtonReleased(self._driver.now())))

    def type(self, text: str, is_blind: bool = False) -> None:
        """Tell the hearing machine that the user has typed a whole turn. `is_blind` means that the user sees no
        captions."""
        self._between_steps(lambda: self._take(inp.Typed(self._driver.now(), text, is_blind)))

    def note_agent(self, speech: Speech) -> None:
        """Tell the hearing machine what the agent is saying. Does nothing if this hasn't changed since the last
        call."""
        known = (speech.reply, speech.ledger.chunks, speech.complete)
        if known != self._speech:
            self._speech = known
            asked = speech.ledger.last_question(self._has_names) if speech.complete else None
            question = inp.QuestionSpan(*asked) if asked is not None else None
            words = tuple(SpokenWord(one.text, one.start_ms, one.end_ms) for one in speech.ledger.said_words)
            self._take(inp.AgentSpoke(self._driver.now(), words, question))

    def note_question(self, reply: int, calls: tuple[int, ...] = (), is_aside: bool = False) -> None:
        """Tell the hearing machine that a question is asked in this reply. `calls` are the jobs that want to know
        something from the user, and whose questions the brain knew before this reply. `is_aside` means that the
        question is the agent's own ("Are you still there?") and not the brain's."""
        self._between_steps(lambda: self._take(inp.AgentAsks(self._driver.now(), reply, calls, is_aside)))

    def note_open_speech(self, speech: Speech) -> None:
        """Tell the hearing machine about the speech that an earlier process was playing when it ended. If the speech
        contains a question of which too little was heard, the question counts as not asked yet."""
        asked = speech.ledger.last_question(self._has_names)
        if asked is not None and speech.ledger.heard_ms < needed_ms(self.policy, inp.QuestionSpan(*asked)):
            self.note_question(speech.reply)

    @property
    def has_open_question(self) -> bool:
        """Has the agent asked a question that doesn't count as heard yet?"""
        question = self.state.asked_question
        return bool(question.reply) and not question.is_asked

    def note_heard_late(self, reply: int) -> None:
        """Tell the hearing machine that this reply was heard, according to a late report from the client."""
        self._take(inp.HeardLate(self._driver.now(), reply))

    def _between_steps(self, act: Callable[[], None]) -> None:
        if self._driver.is_busy or self._driver.is_other_thread:
            self._driver.call_soon(act)
        else:
            act()

    def _wake(self) -> None:
        self._take(inp.Woke(self._driver.now()))

    def _take(self, i: inp.Input) -> None:
        if self._driver.is_closed:
            return
        if self.on_input is not None:
            self.on_input(i)
        self.state, intents = step(self.policy, self.state, i)
        self._transcript.take(self.state.words)
        for intent in intents:
            self._tell(intent)
        if not intents:  # otherwise the steps of the conversation machine have set the alarm
            self._driver.set_alarm()
        if self._judge is not None and self._judge.can_judge:
            self._judge_words(self._judge)

    def _judge_words(self, judge: TextJudge) -> None:
        """Ask the brain whether the words before the user's pause are complete. Does nothing if the user hasn't
        paused."""
        wanted = words_to_judge(self.state)
        if wanted is not None:
            turns = self.state.words.to_answer(self.state.core.answered + 1, self.state.core.turn)
            said = tuple(UserSaid(one.turn, one.text, False, one.confidence) for one in turns)
            self._take(inp.TextJudged(self._driver.now(), *wanted, judge.judge(said)))

    # -- Steps of the conversation machine

    def see(self, record: StepRecord) -> None:
        """Pass a step of the conversation machine to the hearing machine, before the effects of the step are
        performed."""
        verdict = self._verdicts.pop(type(record.event), None)
        if record.after is record.before:
            return
        self.state, self._followed = step(self.policy, self.state, inp.CoreStepped(record.event.at, record))
        self._transcript.take(self.state.words)
        self._accepted = verdict

    def follow(self, record: StepRecord) -> None:  # noqa: ARG002
        """Post the decisions that the hearing machine made because of the step. Called when the effects of the step
        have been performed."""
        if isinstance(self._accepted, TakeAnswer):
            self._announce()
        followed, self._followed = self._followed, ()
        for intent in followed:
            self._tell(intent)

    def _tell(self, intent: Intent) -> None:
        kind, given = event_of(intent)
        if isinstance(intent, EndTurn | GuessTurn | JudgeOverlap | DismissSound | TakeAnswer):
            self._verdicts[kind] = intent
        self._driver.post(kind, **given)
        self._announce()
        if isinstance(intent, HearWords):
            self._caption(self._driver.state.at, intent.turn, self.state.words.text_of(intent.turn))

    def is_premature(self, first: int, last: int) -> bool:
        """Did the user begin these turns too early to answer the agent's last question? The question counts as asked
        only after enough of it was heard."""
        return is_premature(self.state, first, last)

    def are_typed(self, first: int, last: int) -> bool:
        """Did the user type the new words in these turns?"""
        return are_typed(self.state, first, last)

    def answers_question(self, reply: int, first: int, last: int, confirms: bool) -> bool:
        """Do the user's words in these turns answer the question that was asked in this reply?"""
        return answers_question(self.state, reply, first, last, confirms)

    def may_answer_job(self, call: int) -> bool:
        """May the user's newest words be the answer to what the job with this number wants to know?"""
        return may_answer_job(self.state, call)

    def _announce(self) -> None:
        """Send the signal for a verdict of the hearing machine, if the conversation machine has accepted the
        verdict."""
        verdict, self._accepted = self._accepted, None
        if verdict is not None:
            self._decided(verdict_name(verdict), verdict.reasons, verdict.confidence)

    @property
    def known_utterances(self) -> int:
        """How many utterances are remembered because text for them may still arrive: at most KNOWN_MAX."""
        return len(self.state.known)
