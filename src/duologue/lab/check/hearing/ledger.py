"""What the ears have reported and what has become of it. The laws need this memory in addition to the states of the
hearing machine and the conversation machine.

The ledger is kept apart from the machines, so that a broken machine can't hide its own violation. Rule: the ledger
reads stimuli, events and effects, never the hearing machine's state, except for the text of a turn in a request.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from duologue.core import effects as fx
from duologue.core import events as ev
from duologue.core.leaves import CLOSED, SOUNDING, Link, Reply, User, Voice, Words
from duologue.core.state import State
from duologue.hearing import intents as it
from duologue.hearing.inputs import EarsStopped
from duologue.ports.ears import Final
from duologue.turns.words import count

from .answer_ledger import AnswerLedger, note_answers
from .product import ProductStep, Stimulus, ToldStep

counted = cache(count)  # the words of a text; an exploration has few texts
SEND_MS_MAX = 1_000  # a turn that the user has sent is in a request within this time


class EarUtterance(NamedTuple):
    """An utterance as the ears see it."""

    key: int  # unique: the words of this utterance carry it
    number: int  # as reported; restarted ears count from the first number again
    stage: int = 0  # how far its text is: each text that is reported has a higher stage
    is_on: bool = True  # its voice goes on


class LedgerChoice(NamedTuple):
    """One stimulus, and what the ledger notes about it."""

    stimulus: Stimulus
    key: int = 0  # the utterance that it is about
    number: int = 0
    stage: int = 0
    use: str = ""  # the name of a stimulus that may be used only a few times


class SentTurn(NamedTuple):
    """A turn whose words the user has sent with a button, and the latest time by which a request must contain this
    turn."""

    turn: int
    due: int


class WordsLedger(NamedTuple):
    """What was reported so far."""

    utterances: tuple[EarUtterance, ...] = ()  # of the ears that run now
    keys: int = 0
    finals: tuple[tuple[int, str], ...] = ()  # the newest final text of each utterance
    told: tuple[tuple[int, int], ...] = ()  # for each turn, how many words the conversation machine was told
    asides: tuple[int, ...] = ()  # turns whose newest words were recorded as overheard
    has_begun: bool = False  # the conversation machine was told of a voice, and not of its end
    sent: SentTurn | None = None
    answers: AnswerLedger | None = None  # only in scopes in which the agent asks
    used: tuple[str, ...] = ()

    def uses(self, name: str) -> int:
        return self.used.count(name)


def note(ledger: WordsLedger, choice: LedgerChoice, step: ProductStep) -> WordsLedger:
    """The ledger after this step."""
    is_onset = choice.key > ledger.keys
    ledger = _note_report(ledger, choice, step.before.core.link is Link.IDLE or step.before.core.link in CLOSED)
    for told in step.steps:
        ledger = _note_step(ledger, told, step)
    if ledger.answers is not None:
        ledger = ledger._replace(answers=note_answers(ledger.answers, step, is_onset))
    return ledger


def _note_report(ledger: WordsLedger, choice: LedgerChoice, is_closed: bool) -> WordsLedger:
    if choice.use:
        ledger = ledger._replace(used=tuple(sorted((*ledger.used, choice.use))))
    if isinstance(choice.stimulus, EarsStopped):
        return ledger._replace(utterances=())
    if not choice.key:
        return ledger
    known = {one.key: one for one in ledger.utterances}
    one = known.get(choice.key) or EarUtterance(choice.key, choice.number)
    is_final = isinstance(choice.stimulus, Final)
    is_on = one.is_on and choice.stage >= 0 and not is_final
    known[choice.key] = one._replace(stage=max(one.stage, choice.stage), is_on=is_on)
    ledger = ledger._replace(utterances=tuple(known.values()), keys=max(ledger.keys, choice.key))
    if isinstance(choice.stimulus, Final) and not is_closed:
        finals = {**dict(ledger.finals), choice.key: choice.stimulus.text}
        ledger = ledger._replace(finals=tuple(sorted(finals.items())))
    return ledger


def _note_step(ledger: WordsLedger, told: ToldStep, step: ProductStep) -> WordsLedger:
    record = told.record
    event, before = record.event, record.before
    match told.intent:
        case it.BeginSpeech():
            ledger = ledger._replace(has_begun=True)
        case it.StopSpeech():
            ledger = ledger._replace(has_begun=False)
    if isinstance(event, ev.WordsHeard):
        ledger = _tell(ledger, event.turn, event.words)
        if record.after is not before:
            ledger = ledger._replace(asides=tuple(turn for turn in ledger.asides if turn != event.turn))
    elif isinstance(event, ev.TextTyped) and record.after is not before:
        turn = record.after.turn
        ledger = _tell(ledger, turn, counted(step.after.hearing.words.text_of(turn)).words)
    elif isinstance(event, ev.SendPressed | ev.PttReleased) and _is_question(before) and record.after is not before:
        ledger = ledger._replace(sent=SentTurn(before.turn, event.at + SEND_MS_MAX))
    for effect in record.effects:
        if isinstance(effect, fx.RecordOverheard):
            ledger = ledger._replace(asides=tuple(sorted({*ledger.asides, effect.turn})))
        if isinstance(effect, fx.StartReply) and ledger.sent is not None and effect.last >= ledger.sent.turn:
            ledger = ledger._replace(sent=None)
    if ledger.sent is not None:
        is_taken_back = not dict(ledger.told).get(ledger.sent.turn, 0)
        if is_taken_back or _excuses(record.after, ledger.sent.turn):
            ledger = ledger._replace(sent=None)
    return ledger


def _tell(ledger: WordsLedger, turn: int, words: int) -> WordsLedger:
    return ledger._replace(told=tuple(sorted({**dict(ledger.told), turn: words}.items())))


def _is_question(s: State) -> bool:
    """Does the open turn have words about which the brain must be asked as soon as the turn is complete?"""
    is_open = s.user in (User.TALKING, User.SETTLING) and s.words is Words.SUBSTANTIAL
    return is_open and s.link is Link.UP and s.voice is Voice.SILENT and s.reply is Reply.NONE and not s.jobs


def _excuses(s: State, sent: int) -> bool:
    """Is there a reason, apart from a sound, why the request to the brain may be late? Yes, if the link isn't up, if
    the agent speaks, or if the user goes on with words in a newer turn."""
    goes_on = s.turn > sent and s.user is not User.QUIET and s.words is not Words.NONE
    return s.link is not Link.UP or s.voice in SOUNDING or goes_on
