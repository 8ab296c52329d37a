"""Reasons to ignore an intent that the local NLU guessed.

The local NLU compares phrases and is often too sure: it hears a yes in "are you sure?", a goodbye in "leave it as it
is" and a question about breakfast in "no breakfast". Each reason is one function. Rule: a doubtful guess is dropped,
never replaced by another guess. Results of a language model aren't checked here, because a language model, unlike the
local NLU, also reads the agent's question.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from duologue.dialogue.added_wishes import has_wish
from duologue.dialogue.commands import Affirm
from duologue.dialogue.effects import Understand
from duologue.dialogue.flow import Domain, Flow
from duologue.dialogue.language.pack import LanguageWords, Signs
from duologue.dialogue.language.readings import ConfirmationAnswer, Slot, SlotKind
from duologue.dialogue.language.stop_phrases import after_stop
from duologue.dialogue.language.tokens import Token
from duologue.dialogue.requests import open_flows
from duologue.dialogue.stack import has_just_ended
from duologue.dialogue.state import DialogueState

from .intents import ANSWERS, FLOW

_SURE = 0.9  # needed where the message may also be a free-text answer
_SURE_OF_HANDOFF = 0.8  # needed to hand an open task over to a human
_SURE_OF_DEPARTURE = 0.6  # needed to leave the open question, or to take an answer back
_SPOKEN = {"wait": "wait", "go_back": "back", "start_over": "restart", "skip": "skip", "cancel": "cancel"}
_SPOKEN |= {"handoff": "person"}
_MEASURES = tuple(Slot(kind.value, kind) for kind in (SlotKind.DATE, SlotKind.TIME, SlotKind.MONEY, SlotKind.DURATION))
_RESTART_WORDS_MAX = 3
_STARTING = ("start", "begin", "anfang", "anfangen", "empezar")  # these may start anything
_DEPARTURES = ("go_back", "start_over", "cancel")


@dataclass(frozen=True, slots=True)
class GuessInContext:
    """The guessed intent, and the state of the dialogue when the user's message arrived."""

    intent: str
    confidence: float
    domain: Domain
    state: DialogueState
    asked: Understand
    today: str

    @property
    def is_task_at_hand(self) -> bool:
        """Does the guess name the open task: the flow that was started, or a flow that it called?"""
        name = self.intent.removeprefix(FLOW)
        return self.intent.startswith(FLOW) and self.state.top is not None and name in open_flows(self.state)

    @property
    def tokens(self) -> tuple[Token, ...]:
        return self.words.tokens_of(self.asked.text)

    @property
    def signs(self) -> Signs:
        return self.domain.pack.signs

    @property
    def words(self) -> LanguageWords:
        return self.domain.pack.words


def offer_instead(guess: GuessInContext) -> str:
    """What the agent says if the guessed task does the opposite of what the message asks for: a text with the names of
    similar tasks, so that the user can choose. Empty for any other guess. Example: the message is "reschedule it", and
    the guessed task is "cancel it"."""
    if not guess.intent.startswith(FLOW) or guess.is_task_at_hand:
        return ""
    flow = guess.domain.flows.get(guess.intent.removeprefix(FLOW))
    if flow is None or not guess.signs.excludes(guess.asked.text, _phrases_of(flow)) or _names_task(guess, flow):
        return ""
    near = [
        one for one in guess.domain.offered if one is flow or guess.signs.excludes(guess.asked.text, _phrases_of(one))
    ]
    named = ", ".join(one.description for one in near)
    return guess.domain.patterns.not_exactly.replace("{flows}", named)


def _names_task(guess: GuessInContext, flow: Flow) -> bool:
    """Does the message name the task word for word? True for "I want to make a claim, my bag was delayed"."""
    said = f" {' '.join(token.word for token in guess.tokens)} "
    names = (" ".join(token.word for token in guess.words.tokens_of(phrase)) for phrase in _phrases_of(flow))
    return any(f" {name} " in said for name in names if " " in name)


def denies_task(guess: GuessInContext) -> bool:
    """Does the message deny the open task, as in "I don't want to pause, I want to quit"? A word of the task has to
    follow the negation closely. A word of the open question is about this question: "we don't have a group name"."""
    if guess.state.top is None or not guess.is_task_at_hand:
        return False
    flow = guess.domain.flows[guess.intent.removeprefix(FLOW)]
    verbs = guess.words.stems_of(flow.name.replace("_", " "), flow.description)
    verbs -= guess.words.stems_of(guess.asked.question)
    words = [token.word for token in guess.tokens]
    return any(
        guess.words.is_negation(word)
        and word not in guess.words.dissent
        and any(guess.words.stem(near) in verbs and near not in guess.words.common for near in words[at + 1 : at + 4])
        for at, word in enumerate(words)
    )


def _phrases_of(flow: Flow) -> tuple[str, ...]:
    return (*flow.examples, flow.description, flow.name.replace("_", " "))


def is_doubtful(guess: GuessInContext) -> bool:
    """Should the guess be ignored?"""
    return any(doubt(guess) for doubt in DOUBTS)


def _is_free_text(g: GuessInContext) -> bool:
    """Should the message be used as the answer to an open free-text question, instead of the guess? Example: the
    message "it doesn't work", and the guess "help"."""
    slot = g.asked.waiting_for
    is_text = slot is not None and g.domain.slots[slot].kind is SlotKind.TEXT
    return is_text and (g.is_task_at_hand or g.confidence < _SURE)


def _is_unsure_departure(g: GuessInContext) -> bool:
    """Does the guess have low confidence, although it would take back an answer, leave the open task, or cancel while
    no task is open? Examples: the message "the later one" and the guess "go back"; the message "I don't mind" and the
    guess "cancel"."""
    if g.state.top is None:
        return g.intent == "cancel" and g.confidence < _SURE
    turns = g.intent in _DEPARTURES or (g.intent.startswith(FLOW) and not g.is_task_at_hand)
    return turns and g.confidence < _SURE_OF_DEPARTURE


def _asks_about_it(g: GuessInContext) -> bool:
    """Would the guess make the dialogue go back, start over or cancel, although the message is a question? Example: the
    message "is it free to cancel?", and the guess "cancel"."""
    return g.intent in _DEPARTURES and g.signs.asks(g.tokens)


def _is_answer_not_said(g: GuessInContext) -> bool:
    """Is the guess a yes or a no, although the message doesn't say yes or no, or says a yes and a wish? A wrong yes
    could, for example, send money."""
    if g.intent not in ANSWERS:
        return False
    slots = tuple(g.domain.slots[name].grammar_slot for name in g.asked.slots if name in g.domain.slots)
    meant = ConfirmationAnswer.YES if isinstance(ANSWERS[g.intent][0], Affirm) else ConfirmationAnswer.NO
    if meant is ConfirmationAnswer.YES and has_wish(g.words, g.signs, g.tokens, g.asked.question):
        return True
    return g.domain.pack.replies.plain_answer(g.asked.question, g.asked.text, g.today, slots) is not meant


def _is_unsure_handoff(g: GuessInContext) -> bool:
    """Is the guess a handoff during an open task, with low confidence? Such a guess is ignored because a handoff can't
    be undone. Example: the message "you can call me", and the guess "handoff"."""
    return g.intent == "handoff" and g.state.top is not None and g.confidence < _SURE_OF_HANDOFF


def _asks_who_calls(g: GuessInContext) -> bool:
    """Is the guess a handoff, although the message is a question that has no word of a wish for a person? Example: the
    message "who'll be in touch with me", and the guess "handoff"."""
    if g.intent != "handoff" or not (g.signs.asks(g.tokens) or g.signs.is_tagged(g.tokens)):
        return False
    hints = g.signs.words_of_command("person")
    return not any(g.words.stem(token.word) in hints and token.word not in g.words.common for token in g.tokens)


def _asks_to_leave_it(g: GuessInContext) -> bool:
    """Is the guess a cancellation, although the message asks to leave everything as it is? Example: "leave it as it
    is"."""
    return g.intent == "cancel" and g.signs.keeps(g.tokens)


def _repeats_the_question(g: GuessInContext) -> bool:
    """Is the guess a cancellation, although the message only answers a question in its own words? Example: "cancel my
    booking", after "shall I cancel it?"."""
    said = [token for token in g.tokens if g.words.stem(token.word) in g.words.cancel_stems]
    return g.intent == "cancel" and g.asked.waiting_for is None and g.signs.repeats(g.asked.question, said)


def _denies_waiting(g: GuessInContext) -> bool:
    """Is the guess a request for time, although the message says not to wait? True for "no waiting" and "you needn't
    wait"."""
    words = [token.word for token in g.tokens]
    denied = next((place for place, word in enumerate(words) if g.words.is_negation(word)), len(words))
    return g.intent == "wait" and any(g.words.stem(word) in g.words.wait_stems for word in words[denied:])


def _only_opens_with_wait(g: GuessInContext) -> bool:
    """Is the guess a request for time, although the word "wait" only introduces a question? True for "wait, how much is
    it?". False for "can you wait a second?"."""
    stopped = after_stop([token.word for token in g.tokens], g.words.stopping, g.words.before_questions)
    first = next((place for place, token in enumerate(g.tokens) if token.word not in g.words.before_questions), 0)
    opening = max(stopped, first)
    rest = g.tokens[opening:]
    speaks_of_it = any(g.words.stem(token.word) in g.signs.words_of_command("wait") for token in rest)
    return g.intent == "wait" and opening > 0 and not speaks_of_it and g.signs.asks(rest)


def _gives_a_value(g: GuessInContext) -> bool:
    """Is the guess a request for time, although the message gives a day, a time or an amount? True for "hang on, I'd
    like five hours" and "make it five o'clock, I've seen my calendar". False for "give me two minutes"."""
    if g.intent != "wait":
        return False
    said = g.domain.pack.replies.read_parts(_MEASURES, g.asked.text, g.today)
    hints = g.signs.words_of_command("wait")
    return any(
        not any(g.words.stem(token.word) in hints for token in g.words.tokens_of(value.raw))
        for value in said  # "two minutes" may only ask for time
    )


def _has_no_evidence(g: GuessInContext) -> bool:
    """Is the guess a command, although no word of the message belongs to that command? Example: the message "as soon as
    possible", and the guess "wait"."""
    is_needed = g.confidence < _SURE or g.intent == "wait" or (g.intent == "cancel" and g.state.top is not None)
    name = _SPOKEN.get(g.intent) if is_needed else None
    return name is not None and not any(
        g.words.stem(token.word) in g.signs.words_of_command(name) for token in g.tokens
    )


def _asks_how_long(g: GuessInContext) -> bool:
    """Is the guess a request for time, although the message asks for something, or comes right after a task, where
    nothing is open? True for "how long do I have to wait"."""
    asks_for_it = g.signs.asks(g.tokens) and any(token.word in g.words.asks_for_value for token in g.tokens)
    return g.intent == "wait" and (asks_for_it or has_just_ended(g.domain, g.state))


def _starts_something_else(g: GuessInContext) -> bool:
    """Is the guess "start over", although the message only starts something: "can we start an hour later", "we begin at
    the station"? The message must have the command in it, or a word such as "scratch" that belongs to it. It
    must have no day, time or amount."""
    if g.intent != "start_over":
        return False
    tokens, hints = g.tokens, g.signs.words_of_command("restart") - {g.words.stem(word) for word in _STARTING}
    said = {g.words.stem(token.word) for token in tokens if token.word not in g.words.small}
    is_command = any(
        g.signs.command_of(tokens[at : at + size]) == "restart"
        for size in range(1, _RESTART_WORDS_MAX + 1)
        for at in range(len(tokens) - size + 1)
    )
    is_value = bool(g.domain.pack.replies.read_parts(_MEASURES, g.asked.text, g.today))
    return is_value or not (is_command or said & hints)


def _holds_only_values(g: GuessInContext) -> bool:
    """Does the guess have low confidence, while no task is open and the message contains only days, times and amounts?
    Example: the message "this weekend", and the guess that it asks for the opening hours."""
    return g.state.top is None and g.confidence < _SURE and g.domain.pack.replies.is_all_values(g.asked.text, g.today)


def _asks_for_price(g: GuessInContext) -> bool:
    """Is the guess a request to repeat the agent's last words, although the message asks for a price? True for "what
    did that cost again?"."""
    return g.intent == "repeat" and any(token.word in g.words.price_words for token in g.tokens)


def _shares_no_word(g: GuessInContext) -> bool:
    """Would the guess leave the open question for another task, although the message has no word in common with the
    phrases of that task? A similar meaning alone isn't enough, because users answer a question more often than they
    change the subject."""
    flow = g.domain.flows.get(g.intent.removeprefix(FLOW)) if g.intent.startswith(FLOW) else None
    if flow is None or g.state.top is None or g.is_task_at_hand or g.confidence >= _SURE:
        return False
    known = g.words.stems_of(*_phrases_of(flow))
    return not any(g.words.stem(token.word) in known and token.word not in g.words.common for token in g.tokens)


def _only_asks_after_task(g: GuessInContext) -> bool:
    """Would the guess start a task, although the message is a question right after a task? Such a question is about
    what was done: "how long until I get it?", after an order. A request ("can I also order …") isn't one."""
    flow = g.domain.flows.get(g.intent.removeprefix(FLOW)) if g.intent.startswith(FLOW) else None
    if flow is None or not has_just_ended(g.domain, g.state) or _names_task(g, flow):
        return False
    is_asked = g.signs.asks(g.tokens)
    return is_asked and not any(token.word in g.words.adding for token in g.tokens)


DOUBTS: tuple[Callable[[GuessInContext], bool], ...] = (
    _is_free_text,
    _is_unsure_departure,
    _asks_about_it,
    _is_answer_not_said,
    _is_unsure_handoff,
    _asks_who_calls,
    _asks_to_leave_it,
    _repeats_the_question,
    _denies_waiting,
    _only_opens_with_wait,
    _gives_a_value,
    _has_no_evidence,
    _asks_how_long,
    _starts_something_else,
    _holds_only_values,
    _asks_for_price,
    _shares_no_word,
    _only_asks_after_task,
)
