"""What may happen next: reports from the ears, acts of the user, the line or the brain, and the passing of time.

Every word that the ears report carries the number of its utterance. Time is reduced to "the earliest due time comes
next". Rule: the alphabet reads the scope, the ledger and the state of the conversation machine, never the state of the
hearing machine.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from duologue.core import events as ev
from duologue.core.leaves import CLOSED, ENDING, PENDING, SOUNDING, Link, Reply, User, Voice, Words
from duologue.core.state import State
from duologue.hearing import inputs as inp
from duologue.ports.ears import Final, Partial, Pause, SpeechBegan, SpeechEnded, TurnOver, VoiceFrame
from duologue.turns.completeness import Completeness
from duologue.turns.features import LevelShape, PauseFeatures

from .ledger import EarUtterance, LedgerChoice, WordsLedger
from .product import NewestReplyAsks, OldReplyHeard, Posted, ProductState, TimePassed, WordsJudged
from .scopes import AGENT_WORDS, QUESTION, SPOKEN_MS, HearingScope

PART_MS = 600
QUESTION_WAITS_MAX = 3  # how often time passes with nothing due, where the agent asks
FINAL_STAGE, REVISED_STAGE = 10, 11
STRAY_NUMBER, SKIPPED_NUMBER = 90, 3
STRONG = PauseFeatures(600, 20.0, shape=LevelShape(), turn_logit=2.0)
WEAK = PauseFeatures(60, 1.0)


def choices(scope: HearingScope, s: ProductState, ledger: WordsLedger) -> Iterator[LedgerChoice]:
    """Everything that may happen in this state."""
    core = s.core
    if core.link is Link.IDLE or (core.reply is Reply.RETRYING and not scope.line):
        return
    yield LedgerChoice(TimePassed())
    if scope.wait_ms and (not scope.asks or ledger.uses("wait") < QUESTION_WAITS_MAX):
        yield LedgerChoice(TimePassed(scope.wait_ms), use="wait" if scope.asks else "")
    if core.link in CLOSED or core.link is Link.FAULTED:
        return
    yield from _reports(scope, ledger)
    yield from _user(scope, s, ledger)
    yield from _agent(scope, s, ledger)
    yield from _brain(scope, core)
    yield from _line(scope, core, ledger)


# -- What the ears report


def _reports(scope: HearingScope, ledger: WordsLedger) -> Iterator[LedgerChoice]:
    newest = ledger.utterances[-1] if ledger.utterances else None
    if ledger.keys < scope.utterances:
        key, number = ledger.keys + 1, 2 * (len(ledger.utterances) + 1) if scope.numbered else 0
        if scope.onsets:
            if newest is None or not newest.is_on:
                yield LedgerChoice(SpeechBegan(number), key, number)
                if scope.swaps:
                    yield from _swapped(scope, EarUtterance(key, number), ledger)
        elif newest is None or newest.stage >= FINAL_STAGE:
            yield from _texts(scope, EarUtterance(key, number))
    for one in ledger.utterances:
        if one is newest or scope.numbered:
            yield from _texts(scope, one)
    if newest is not None:
        yield from _sounds(scope, newest, ledger)
    if scope.stray and newest is not None and not ledger.uses("stray"):
        yield from _stray(ledger)
    if scope.stops > ledger.uses("stop"):
        yield LedgerChoice(inp.EarsStopped(0), use="stop")


def _swapped(scope: HearingScope, one: EarUtterance, ledger: WordsLedger) -> Iterator[LedgerChoice]:
    """Reports that come in an unusual order: the end and the texts of an utterance whose onset wasn't reported yet, and
    the onset of an utterance that is known already."""
    if not ledger.uses(f"end{one.number}"):
        yield LedgerChoice(SpeechEnded(one.number), use=f"end{one.number}")
    yield from _texts(scope, one)
    if ledger.utterances and not ledger.uses("again"):
        yield LedgerChoice(SpeechBegan(ledger.utterances[-1].number), use="again")


def _texts(scope: HearingScope, one: EarUtterance) -> Iterator[LedgerChoice]:
    """The texts that the ears may report next for this utterance: partial texts, then a final text, then a revised
    final text, each only one time. In some scopes, the first partial text may also come late, after the final text."""
    for stage, text in enumerate(scope.partials, 1):
        if one.stage < stage or (one.stage >= FINAL_STAGE and stage == 1 and scope.onsets):
            for confidence in scope.confidences:
                partial = Partial(_own(text, one.key), confidence, one.number)
                yield LedgerChoice(partial, one.key, one.number, stage)
    if one.stage < FINAL_STAGE:
        yield from _finals(scope, scope.finals, one, FINAL_STAGE)
    elif one.stage < REVISED_STAGE and scope.onsets:
        yield from _finals(scope, scope.revisions, one, REVISED_STAGE)


def _finals(scope: HearingScope, texts: tuple[str, ...], one: EarUtterance, stage: int) -> Iterator[LedgerChoice]:
    for text, confidence, first in product(texts, scope.confidences, scope.first_texts):
        final = Final(_own(text, one.key), confidence, one.number, first_text=_own(first, one.key))
        yield LedgerChoice(final, one.key, one.number, stage)


def _own(text: str, key: int) -> str:
    return text.replace("#", str(key))


def _sounds(scope: HearingScope, newest: EarUtterance, ledger: WordsLedger) -> Iterator[LedgerChoice]:
    number = newest.number
    if scope.onsets and newest.is_on:
        yield LedgerChoice(SpeechEnded(number, scope.quiet_ms), newest.key, number, -1)
    if scope.onsets and number > 2:
        yield LedgerChoice(SpeechEnded(number - 2))
    if scope.server:
        yield LedgerChoice(TurnOver(number))
    if scope.frames:
        for name, frame in (
            ("voice", VoiceFrame(0.99, 0.1, 256, 0, number)),
            ("quiet", VoiceFrame(0.01, 0.0, 256, 256, number)),
        ):
            use = f"{name}{newest.key}"
            if ledger.uses(use) < scope.frames:
                yield LedgerChoice(frame, use=use)
        for features in (STRONG, WEAK):
            yield LedgerChoice(Pause(features, 64, number))


def _stray(ledger: WordsLedger) -> Iterator[LedgerChoice]:
    """The texts that the ears may report for utterances whose onset was never reported."""
    key = 8
    yield LedgerChoice(Final(_own("go# on#", key), utterance=STRAY_NUMBER), key, STRAY_NUMBER, REVISED_STAGE, "stray")
    yield LedgerChoice(Partial(_own("go#", key), utterance=STRAY_NUMBER), key, STRAY_NUMBER, 1, "stray")
    yield LedgerChoice(Final("", utterance=STRAY_NUMBER))
    if len(ledger.utterances) > 1:
        yield LedgerChoice(
            Final(_own("go# on#", key), utterance=SKIPPED_NUMBER), key, SKIPPED_NUMBER, REVISED_STAGE, "stray"
        )


# -- The user


def _user(scope: HearingScope, s: ProductState, ledger: WordsLedger) -> Iterator[LedgerChoice]:
    pressed, released = ledger.uses("press"), ledger.uses("release")
    if pressed > released:
        yield LedgerChoice(inp.ButtonReleased(0), use="release")
    elif pressed < scope.buttons:
        yield LedgerChoice(inp.ButtonPressed(0), use="press")
    if scope.sends > ledger.uses("send") and s.core.user is not User.QUIET:
        yield LedgerChoice(Posted(ev.SendPressed), use="send")
    if scope.typed > (typed := ledger.uses("type")):
        text = f"typed{typed + 1} text{typed + 1}"
        yield LedgerChoice(inp.Typed(0, text), use="type")
        if scope.asks:
            yield LedgerChoice(inp.Typed(0, text, is_blind=True), use="type")


def _brain(scope: HearingScope, core: State) -> Iterator[LedgerChoice]:
    """Every judgement that the brain may give about the words of an open turn. The brain may judge the same turn any
    number of times."""
    if scope.judges and core.user in (User.TALKING, User.SETTLING) and core.words is not Words.NONE:
        for one in Completeness:
            yield LedgerChoice(WordsJudged(one))


# -- The agent


def _agent(scope: HearingScope, s: ProductState, ledger: WordsLedger) -> Iterator[LedgerChoice]:
    core = s.core
    is_open = core.reply in PENDING and core.reply not in (Reply.RETRYING, Reply.READY)
    if is_open and scope.replies:
        yield LedgerChoice(Posted(ev.ReplyFinished))
    if scope.line and core.link is Link.UP:
        yield LedgerChoice(NewestReplyAsks())
    if scope.asks > ledger.uses("ask") and (is_open or core.reply is Reply.READY or core.voice in SOUNDING):
        yield LedgerChoice(NewestReplyAsks(tuple(job.call for job in core.jobs)), use="ask")
        if ledger.answers is not None and 0 < ledger.answers.question.reply < core.reply_id:
            yield LedgerChoice(NewestReplyAsks(is_aside=True), use="ask")
    is_drafted = core.reply is Reply.GUESSING
    if (is_open or is_drafted) and scope.speaks and ledger.uses("play") < max(1, scope.asks):
        yield LedgerChoice(Posted(ev.AudioBuffered), use="play")
    if scope.firm and not core.firm and (is_open or core.reply is Reply.READY or core.voice in SOUNDING):
        yield LedgerChoice(Posted(ev.ReplyBecameFirm))
    if core.voice in SOUNDING:
        if not core.heard_ms:
            yield _playback(ev.PlaybackProgressed, PART_MS)
        yield _playback(ev.PlaybackFinished, SPOKEN_MS)
        if not ledger.uses("spoke"):
            words = () if scope.asks else AGENT_WORDS  # the words decide only what is an echo
            yield LedgerChoice(inp.AgentSpoke(0, words, QUESTION), use="spoke")
    elif core.voice in ENDING:
        yield _playback(ev.PlaybackStopped, core.heard_ms)
    if scope.late and core.voice is Voice.SILENT and core.asked and not ledger.uses("heard late"):
        yield LedgerChoice(OldReplyHeard(), use="heard late")


def _playback(kind: type[ev.Event], heard_ms: int) -> LedgerChoice:
    return LedgerChoice(Posted(kind, (("heard_ms", heard_ms),)))


# -- The line


def _line(scope: HearingScope, core: State, ledger: WordsLedger) -> Iterator[LedgerChoice]:
    if core.link in (Link.RECONNECTING, Link.PREPARING):
        yield LedgerChoice(Posted(ev.SessionReady))
    if scope.ends:
        yield LedgerChoice(Posted(ev.EndRequested))
    if not scope.line:
        return
    if core.link is Link.UP:
        yield LedgerChoice(Posted(ev.LinkWobbled))
        yield LedgerChoice(Posted(ev.SuspendRequested))
        if not ledger.uses("lost"):
            yield LedgerChoice(Posted(ev.LinkClosed), use="lost")
    elif core.link is Link.HEALING:
        yield LedgerChoice(Posted(ev.LinkHealed))
    elif core.link is Link.SUSPENDED:
        yield LedgerChoice(Posted(ev.ResumeRequested))
