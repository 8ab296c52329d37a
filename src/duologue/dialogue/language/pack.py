"""The interface of a language pack: everything that the dialogue has to know about a language.

A pack has parts, and a part has fields. Rule: the dialogue gets everything about a language from its pack. No code of
the dialogue depends on which language is used. A pack with missing fields is refused with an error that names these
fields.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields

from .correction_patterns import CorrectionPatterns
from .list_reply import ListReply
from .match import Match, Span
from .readings import ConfirmationAnswer, Direct, Polarity, Question, Reading, Slot, SlotKind, Trick, Value
from .tokens import Token
from .value_forms import ValueForms

Tokens = Sequence[Token]
Phrase = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ReplyReaders:
    """The functions that read replies: values, yes, no and changes. `today` is an ISO date, followed by the time of day
    if it is known."""

    read: Callable[[Question, str, str], Reading]  # a reply to a question
    read_confirmation: Callable[[str, str, str, tuple[Slot, ...]], Reading]  # question, reply, today, slots to change
    read_volunteered: Callable[[tuple[Slot, ...], str, str, str], Direct | None]  # slots, message, about, today
    read_parts: Callable[[tuple[Slot, ...], str, str], tuple[Value, ...]]  # clear values among other words
    unsettled_slots: Callable[[tuple[Slot, ...], str, str], tuple[str, ...]]  # days and times that can't be taken
    read_first: Callable[[Question, str, str], Value | None]  # a number before an explanation
    plain_answer: Callable[[str, str, str, tuple[Slot, ...]], ConfirmationAnswer | None]  # an explicit yes or no
    says_yes_then_asks: Callable[[str, str, str], bool]  # question, reply, today
    is_all_values: Callable[[str, str], bool]  # nothing but days, times and amounts
    codes_in: Callable[[Tokens], list[Match]]  # every spelled code, among any other words
    name_in_sentence: Callable[[Tokens], Span | None]  # "my name is …", in a sentence that goes on
    trimmed_text: Callable[[Tokens, Slot], Span]  # free text without politeness at its ends
    answering_part: Callable[[Tokens, Span], Span]  # free text without a question or request at its end
    has_sentences: Callable[[Tokens, Span], bool]


@dataclass(frozen=True, slots=True)
class Signs:
    """The functions that recognise the kind of a message by its words."""

    command_of: Callable[[Tokens], str | None]  # cancel, back, repeat, wait, skip, help, person or restart
    words_of_command: Callable[[str], frozenset[str]]  # stems without which a message doesn't mean the command
    courtesy_of: Callable[[Tokens], str | None]  # farewell, thanks, greeting, assent or refusal
    asks: Callable[[Tokens], bool]
    has_no_preference: Callable[[Tokens, frozenset[str]], bool]
    opening_answer: Callable[[Tokens], bool | None]  # the yes or no before an explanation
    polarity: Callable[[Tokens], Polarity | None]
    trick_of: Callable[[str], Trick | None]  # of a question: why a plain yes or no to it is unclear
    asks_for_more: Callable[[str], bool]  # of a question: "anything else?"
    asks_about_past: Callable[[str], bool]  # of a question: "did you …?"
    is_about_birth: Callable[..., bool]  # of a slot's name, label and question
    is_about_future: Callable[[Tokens], bool]
    where_nothing_more: Callable[[Tokens], range | None]  # "that's all"
    postpones: Callable[[Tokens], bool]  # "not yet"
    is_tagged: Callable[[Tokens], bool]  # a statement and a tag: "that includes the fuel, right"
    only_asks_for_change: Callable[[Tokens], bool]
    keeps: Callable[[Tokens], bool]  # "leave it as it is"
    repeats: Callable[[str, Tokens], bool]  # does a command repeat a word of the question?
    excludes: Callable[[str, Iterable[str]], bool]  # does a message ask for the opposite of all of these phrases?
    echo_of: Callable[[Question], frozenset[str]]  # stems that a reply may repeat from the question


@dataclass(frozen=True, slots=True)
class LanguageWords:
    """How a text in this language is split into words, and the language's lists of words."""

    tokens_of: Callable[[str], tuple[Token, ...]]
    stem: Callable[[str], str]
    stems_of: Callable[..., frozenset[str]]
    is_negation: Callable[[str], bool]
    is_number: Callable[[str], bool]
    fold: Callable[[str], str]  # the form in which words are compared
    may_be_name: Callable[[str], bool]  # a part of a name, even without a capital letter
    begins_clause: Callable[[Tokens, int], bool]  # without a pause: "six people, my brother's coming" without the comma
    cancel_stems: frozenset[str]
    wait_stems: frozenset[str]
    polite: frozenset[str]
    fillers: frozenset[str]
    dissent: frozenset[str]
    common: frozenset[str]  # words without content of their own
    openings: frozenset[str]  # may stand before a question
    open_ends: frozenset[str]  # something has to follow these
    open_verb_marks: frozenset[str]  # such a word may end a yes: "I'd like to"
    goes_on: frozenset[str]  # number words after which the number may go on: "twenty"
    limits: tuple[Phrase, ...]  # before a value: "after", "at least"
    excluding: Phrase  # the limit that excludes a value: "not"
    prefers_before: tuple[Phrase, ...]  # before the value that is preferred in a range: "ideally"
    prefers_after: tuple[Phrase, ...]  # after it: "would be best"
    vague: tuple[Phrase, ...]  # a rough wish without a value: "after lunch", "as late as possible"
    soonest: tuple[Phrase, ...]  # a wish for the first possible day: "as soon as possible"
    excepts: tuple[Phrase, ...]  # between a range and a value that is excluded: "but not"
    limiting: frozenset[str]  # may stand before a text and aren't part of it: "just", "only"
    contrasts: frozenset[str]  # join a range and a wish: "but"
    adding: frozenset[str]  # ask for one more thing: "also", "too"
    between: frozenset[str]  # begin a range of two ends
    ands: frozenset[str]  # between the two ends
    ors: frozenset[str]  # between two alternatives
    tills: frozenset[str]  # between the beginning and the end: "till"
    same: frozenset[str]  # compare with another thing: "the same for my cat"
    maybes: frozenset[str]  # before a second thought: "two, maybe three"
    or_so: tuple[Phrase, ...]  # after a value that is only roughly right: "or so"
    tos: frozenset[str]  # between two numbers: "three to four months"
    joins: frozenset[str]  # begin a clause: "but", "because", "so"
    conclusions: frozenset[str]  # begin a clause that concludes from the clauses before it: "so"
    conditions: frozenset[str]  # make a yes or no depend on something: "if", "unless"
    months: frozenset[str]
    month_ranges: frozenset[str]  # words of a range that is a month: "any day in"
    day_of_month: str  # with {day} and {month}: "the third of June"
    kinds: Mapping[SlotKind, tuple[str, ...]]  # what users call a slot of this kind
    small: frozenset[str]  # words in a slot's name that don't stand for it
    around_names: frozenset[str]  # may stand around a slot's name
    counting: str  # may begin a slot's name and be left out: "number of "
    retry: frozenset[str]
    give_up: frozenset[str]
    asks_presence: tuple[Phrase, ...]  # whole messages: "are you there"
    says_presence: tuple[Phrase, ...]  # whole messages: "I'm still here"
    refuses_change: frozenset[str]  # whole answers to "what should I change?"
    nothing: frozenset[str]  # the answer "nothing" to "what should I change?"
    neither: frozenset[str]  # rejects all values that were offered
    removing: tuple[Phrase, ...]  # before the name of a value that the user no longer wants: "don't need"
    later: tuple[Phrase, ...]  # shift a day or a time: "later", or "push back" with other words between the two
    earlier: tuple[Phrase, ...]
    duties: tuple[Phrase, ...]  # say what has to be done: "should", "make sure"
    lacking: tuple[Phrase, ...]  # say that the user doesn't have or know what was asked for: "I don't have"
    asks_for_value: frozenset[str]  # a question for a value begins with one of these
    again: frozenset[str]  # the value was given before: "again", "said"
    asks_which: frozenset[str]
    which_ones: frozenset[str]  # all words of "which ones are there?"
    why: frozenset[str]  # "why"
    asks_why: frozenset[str]  # all words of "why do you need that?"
    before_questions: frozenset[str]  # openings of a side question
    stopping: tuple[Phrase, ...]  # stop the agent before a question: "hold on", "one sec"
    around_topics: frozenset[str]  # words of a question that don't tell what it is about
    price_words: frozenset[str]  # words of a question that all ask for the price: "cost", "much", "expensive"


@dataclass(frozen=True, slots=True)
class ListReaders:
    """The functions that read replies about a list of items. They are optional: without them, a language has no
    lists."""

    read: Callable[[str, tuple[Slot, ...], str, int, str], ListReply | None]  # reply, slots, about, count, today
    is_explicit: Callable[[str], bool]  # "also a cola", "remove it", "make the second one small"
    asks_for_list: Callable[[str, str], bool]  # reply, what the list is called: "what's on my order?"


@dataclass(frozen=True, slots=True)
class LanguagePack:
    """One language. `texts` replaces the built-in texts of `Patterns`. English needs no such texts, because the
    built-in ones are English."""

    code: str
    name: str
    replies: ReplyReaders
    signs: Signs
    words: LanguageWords
    corrections: CorrectionPatterns
    spoken: ValueForms
    texts: Mapping[str, str]
    examples: Mapping[str, tuple[str, ...]]  # for NLU: what people say for each command, instead of English
    lists: ListReaders | None = None  # None: a file with lists is refused


class IncompletePack(ValueError):
    """A language pack lacks parts."""

    def __init__(self, language: str, missing: Iterable[str], where: str = "") -> None:
        self.missing = tuple(missing)
        place = f" in {where}" if where else ""
        super().__init__(f"the language pack {language!r} lacks{place}: {', '.join(self.missing)}. Add them.")


def checked_pack(pack: LanguagePack, texts: Iterable[str]) -> LanguagePack:
    """Returns `pack` if it is complete. Raises IncompletePack if a field is empty or a text is missing. `texts` holds
    the names of all built-in texts."""
    missing = [
        f"{part.name}.{field.name}"
        for part in fields(pack)
        if part.name in ("replies", "signs", "words", "corrections", "spoken")
        for field in fields(getattr(pack, part.name))
        if getattr(getattr(pack, part.name), field.name) in (None, frozenset(), ())
    ]
    missing += [f"texts.{name}" for name in texts if name not in pack.texts]
    if missing:
        raise IncompletePack(pack.code, missing)
    return pack
