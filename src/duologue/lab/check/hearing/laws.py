"""The laws of hearing: what must never happen to the user's words. They are checked on one step of the hearing machine
and the conversation machine, or on one state.

Each check yields the law that is broken and one line that says what is wrong. The laws about waiting and replaying are
in `check`, because they need the whole graph. Rule: a law reads stimuli, events, effects, words and the ledger, never
the rows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from duologue.core import effects as fx
from duologue.core import events as ev
from duologue.core.leaves import CLOSED, SOUNDING, Link, Reply, User, Voice, Words
from duologue.core.state import State
from duologue.hearing import intents as it
from duologue.hearing.policy import HearingPolicy
from duologue.hearing.state import (
    DEAF,
    KNOWN_MAX,
    HearingState,
    answers_question,
    due_times,
    is_premature,
    may_answer_job,
)
from duologue.hearing.words import TURNS_MAX, Fate, SaidTurn, TurnMark, fate_of

from .answer_ledger import AnswerRequest
from .ledger import WordsLedger, counted
from .product import ProductState, ProductStep, TimePassed, ToldStep

NO_WORD_TWICE = "1 no word is in two turns"
NO_WORD_NOWHERE = "2 each final word is in a turn"
ONE_END = "3 each turn with words has one end"
ONSET_FIRST = "4 onset before words"
KNOWN_ONSET = "5 a verdict names a known onset"
NO_TIMER_AWAY = "6 no due time while the line is away, and each due time leads on"
EVERY_WAIT_ENDS = "7 every wait ends"
STOP_AFTER_BEGIN = "8 speech stops only after it began"
BOUNDED = "9 the state is bounded"
SAME_AGAIN = "10 the same inputs give the same states"
ASKED_AS_SAID = "11 what the brain is asked is what was said"
SEND_MEANS_SEND = "12 send means send"
FIRM_IS_ANSWERED = "13 words over a firm reply are answered"
YES_TO_WHAT_WAS_ASKED = "14 a yes counts for what was asked: in flows, for tools that want approval, and for jobs"
NOISE_IS_BOUNDED = "15 noise delays a check-in by one period at most"

LAWS = (
    NO_WORD_TWICE,
    NO_WORD_NOWHERE,
    ONE_END,
    ONSET_FIRST,
    KNOWN_ONSET,
    NO_TIMER_AWAY,
    EVERY_WAIT_ENDS,
    STOP_AFTER_BEGIN,
    BOUNDED,
    SAME_AGAIN,
    ASKED_AS_SAID,
    SEND_MEANS_SEND,
    FIRM_IS_ANSWERED,
    YES_TO_WHAT_WAS_ASKED,
    NOISE_IS_BOUNDED,
)

TURN_PARTS_MAX = 60  # utterances in one turn, and final texts that are remembered of it

Broken = tuple[str, str]


def check_step(policy: HearingPolicy, step: ProductStep, ledger: WordsLedger) -> Iterator[Broken]:
    """Check the laws about one step. `ledger` is the ledger before the step. Yields (law, what is wrong)."""
    for failure in step.failures:
        yield ONSET_FIRST, f"the conversation machine refuses {failure}"
    has_begun = ledger.has_begun
    for told in step.steps:
        yield from _check_verdict(told)
        yield from _check_request(step, told)
        yield from _check_firm(step, told)
        yield from _check_close(step, told)
        if isinstance(told.intent, it.StopSpeech) and not has_begun:
            yield STOP_AFTER_BEGIN, "StopSpeech without BeginSpeech"
        if isinstance(told.intent, it.BeginSpeech | it.StopSpeech):
            has_begun = isinstance(told.intent, it.BeginSpeech)
    if isinstance(step.stimulus, TimePassed) and not step.stimulus.ms:
        passed = {due for due in due_times(policy, step.before.hearing) if due.at <= step.after.at}
        if passed & set(due_times(policy, step.after.hearing)) and not step.steps:
            yield NO_TIMER_AWAY, f"a due time has passed, but changes nothing: {sorted(passed)}"


def _check_verdict(told: ToldStep) -> Iterator[Broken]:
    event, s = told.record.event, told.record.before
    if isinstance(event, ev.TurnEnded | ev.SoundDismissed | ev.OverlapJudged) and not 0 < event.onset <= s.onset:
        yield KNOWN_ONSET, f"{type(event).__name__} names onset {event.onset}, but the newest is {s.onset}"
    if isinstance(event, ev.TurnEnded | ev.SoundDismissed | ev.AnswerOverheard) and not 0 < event.turn <= s.turn:
        yield KNOWN_ONSET, f"{type(event).__name__} names turn {event.turn}, but the newest is {s.turn}"


def _check_request(step: ProductStep, told: ToldStep) -> Iterator[Broken]:
    """Check that a turn that is part of a request to the brain isn't marked as overheard."""
    for effect in told.record.effects:
        if isinstance(effect, fx.StartReply):
            said = step.after.hearing.words
            for turn in range(effect.first, effect.last + 1):
                found = said.of(turn)
                if found.given_in == effect.reply and found.mark is TurnMark.OVERHEARD:
                    yield ASKED_AS_SAID, f"turn {turn} is in a request, but counts as overheard"


def _check_firm(step: ProductStep, told: ToldStep) -> Iterator[Broken]:
    s = told.record.before
    for effect in told.record.effects:
        if isinstance(effect, fx.RecordOverheard) and s.firm and s.voice in SOUNDING:
            text = step.after.hearing.words.text_of(effect.turn)
            if effect.turn > max(s.asked, s.answered) and counted(text).substantial:
                yield FIRM_IS_ANSWERED, f"turn {effect.turn} was said over a firm reply, but only counts as overheard"


def _check_close(step: ProductStep, told: ToldStep) -> Iterator[Broken]:
    """Check that, when a call ends, each turn that has words and no answer is reported as lost, or was overheard. An
    answer of which the user has heard a part counts."""
    before, after = told.record.before, told.record.after
    if after.link not in CLOSED or before.link in CLOSED:
        return
    is_heard = before.voice in SOUNDING and before.heard_ms > 0
    answered = before.asked if is_heard else before.answered
    for said in step.after.hearing.words.turns:
        if said.turn > answered and said.text and said.mark is TurnMark.NONE:
            yield ONE_END, f"the call is over, and turn {said.turn} is neither answered nor reported as lost"


def check_answers(step: ProductStep, ledger: WordsLedger) -> Iterator[Broken]:
    """Check that the hearing machine treats exactly those words of the user as an answer that the ledger treats as an
    answer. `ledger` is the ledger after the step. Yields (law, what is wrong)."""
    answers, hearing = ledger.answers, step.after.hearing
    if answers is None:
        return
    for request in answers.requests if answers.question.reply else ():
        yield from _check_answer(hearing, answers.question.reply, request)
    may_answer = any(may_answer_job(hearing, job.call) for job in hearing.core.jobs)
    if may_answer is not answers.is_job_answered and hearing.core.jobs:
        when = "before" if may_answer else "after"
        verdict = "counts as its answer" if may_answer else "doesn't count as its answer"
        yield YES_TO_WHAT_WAS_ASKED, f"what the user said {when} the question of a job was asked {verdict}"


def _check_answer(s: HearingState, reply: int, request: AnswerRequest) -> Iterator[Broken]:
    """Check whether the hearing machine treats the new words in this request as an answer. `reply` is the reply in
    which the newest question was asked."""
    turns, what = (request.first, request.last), f"turn {request.words.turn} began"
    if request.is_answer and is_premature(s, *turns):
        yield YES_TO_WHAT_WAS_ASKED, f"{what} after the question was asked, but doesn't count as an answer"
    if not request.is_answer and not is_premature(s, *turns):
        yield YES_TO_WHAT_WAS_ASKED, f"{what} before the question was asked, but confirms a flow"
    if not request.is_answer and answers_question(s, reply, *turns):
        yield YES_TO_WHAT_WAS_ASKED, f"{what} before the question was asked, but approves a tool"
    if answers_question(s, reply + 1, *turns):
        yield YES_TO_WHAT_WAS_ASKED, f"{what} after another question was asked, but approves a tool"


def check_state(policy: HearingPolicy, s: ProductState, ledger: WordsLedger) -> Iterator[Broken]:
    """Check the laws about one state. Yields (law, what is wrong)."""
    hearing, core = s.hearing, s.core
    if (core.link in DEAF or core.link in CLOSED) and due_times(policy, hearing):
        yield NO_TIMER_AWAY, f"{core.link.value}, and {due_times(policy, hearing)} is due"
    yield from _check_words(s, ledger)
    for said in hearing.words.turns:
        yield from _check_turn(said, core, ledger)
    if ledger.sent is not None and s.at > ledger.sent.due:
        yield SEND_MEANS_SEND, f"turn {ledger.sent.turn} was sent, but the brain isn't asked about it in time"
    yield from _check_noise(policy, s)
    if hearing.words.typed:
        yield NO_WORD_NOWHERE, "typed text doesn't belong to any turn"
    if len(hearing.known) > KNOWN_MAX or sum(said.turn <= core.answered for said in hearing.words.turns) > (
        TURNS_MAX + KNOWN_MAX
    ):
        yield BOUNDED, f"{len(hearing.known)} utterances and {len(hearing.words.turns)} turns are remembered"


def _check_noise(policy: HearingPolicy, s: ProductState) -> Iterator[Broken]:
    """Check that a voice without words counts as noise at the latest when one more check-in would be due. Ears that
    report neither partial text nor frames are left out: with them, a voice without words may be long speech."""
    hearing, core = s.hearing, s.core
    could_tell = hearing.speaking and not hearing.button and (hearing.reads_along or hearing.has_frames)
    is_open = core.user is User.TALKING and core.words is Words.NONE and core.link is Link.UP
    is_idle = core.voice is Voice.SILENT and core.reply is Reply.NONE and not core.jobs and core.said == core.answered
    if not (could_tell and is_open and is_idle and not core.news and core.settings.dead_air_ms):
        return
    latest = hearing.turn_at + core.settings.dead_air_ms
    if not any(due.why == "wordless" and due.at <= latest for due in due_times(policy, hearing)):
        yield NOISE_IS_BOUNDED, f"a voice without words since {hearing.turn_at} may go on after {latest}"


def _check_words(s: ProductState, ledger: WordsLedger) -> Iterator[Broken]:
    """Check that each word of a final text occurs exactly once in the texts of all turns, and any other word at most
    once."""
    places = Counter(word for said in s.hearing.words.turns for word in said.text.split() if _is_traced(word))
    for word, number in places.items():
        if number > 1:
            yield NO_WORD_TWICE, f"{word!r} occurs {number} times in the turns"
    for _, text in ledger.finals:
        for word in text.split():
            if _is_traced(word) and not places[word]:
                yield NO_WORD_NOWHERE, f"{word!r} was reported as final, but isn't in any turn"


def _is_traced(word: str) -> bool:
    """Does this word end with the number of its utterance?"""
    return word[-1].isdigit()


def _check_turn(said: SaidTurn, core: State, ledger: WordsLedger) -> Iterator[Broken]:
    fate, turn = fate_of(said, core), said.turn
    is_open = turn == core.turn and core.user is not User.QUIET
    if said.text and fate is Fate.OPEN and not is_open:
        yield ONE_END, f"turn {turn} is over, but its words still count as open"
    if said.mark is TurnMark.OVERHEARD and said.given:
        yield ONE_END, f"turn {turn} was in a request, but counts as overheard"
    if (said.mark is TurnMark.TAKEN_BACK) and said.text:
        yield ONE_END, f"turn {turn} has words, but counts as taken back"
    if said.mark is TurnMark.NONE and not said.text and any(text for text, _ in said.finals) and core.link is Link.UP:
        yield ONE_END, f"turn {turn} has lost its words without being taken back"
    told = dict(ledger.told).get(turn, 0)
    if told != counted(said.text).words:
        yield ASKED_AS_SAID, f"turn {turn} has {counted(said.text).words} words, but {told} were reported"
    if fate in (Fate.ASKED, Fate.ANSWERED) and turn not in ledger.asides:
        given = said.given.split()
        finals = " ".join(text for _, text in ledger.finals).split()
        for word in said.text.split():
            if word in finals and word not in given and _is_traced(word):
                yield ASKED_AS_SAID, f"turn {turn} counts as {fate.value}, but the brain was not given {word!r}"
    if len(said.pieces) > TURN_PARTS_MAX or len(said.finals) > TURN_PARTS_MAX:
        yield BOUNDED, f"turn {turn} has {len(said.pieces)} utterances and {len(said.finals)} final texts"
