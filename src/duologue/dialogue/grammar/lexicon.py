"""The words of one language, read from its file: lists of words, phrases, and tables.

In the file, a list of words is one text with spaces between the words, and a list of phrases is one text with bars
between the phrases. A table lists, for each value, the words that mean it. Rule: a file that lacks an entry, or has an
unknown one, is refused with an error that names the entry.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from functools import lru_cache
from pathlib import Path
from typing import Any

from ..language.pack import IncompletePack, Phrase

NumberOfWord = Callable[[str], int | None]
Compounds = Callable[[Mapping[str, int]], NumberOfWord]


@dataclass(frozen=True, slots=True, eq=False)
class Lexicon:
    """Everything that the engine knows about a language. All words are folded: in lower case, with special letters
    replaced ("á" by "a", "ä" by "ae")."""

    code: str
    letters: Mapping[str, str]  # special letters, and the letters by which they are replaced
    stem_chars_min: int  # a stem has at least this many letters; a shorter one would fit unrelated words
    endings: tuple[str, ...]  # the endings of words, longest first; a stem is a word without its ending
    number_of_word: NumberOfWord  # the number that one word means

    # Words around an answer
    hesitations: frozenset[str]
    polite: frozenset[str]
    fillers: frozenset[str]
    carriers: frozenset[str]  # words that people put around an answer
    carrier_stems: frozenset[str]
    polite_phrases: tuple[Phrase, ...]
    requesting: tuple[Phrase, ...]  # begin a request to the agent at the end of free text: "bitte beeilen"
    # Yes and no
    assent: frozenset[str]
    dissent: frozenset[str]
    negations: frozenset[str]
    approval: frozenset[str]  # stems that mean yes after a yes/no question: "fine"
    praise: frozenset[str]  # approval that confirms that something is correct
    yes_phrases: tuple[Phrase, ...]
    no_phrases: tuple[Phrase, ...]
    agreeing: tuple[Phrase, ...]  # negations that agree: "no problem"
    undecided: tuple[Phrase, ...]
    not_yet: tuple[Phrase, ...]
    nothing_more: tuple[Phrase, ...]
    wishes: frozenset[str]  # "I'd like that"
    doing: frozenset[str]  # stems of what a service does: book, send
    yes_no_fillers: frozenset[str]  # other words of a yes or no: "that", "it"
    doubts: frozenset[str]
    wrong: frozenset[str]
    # What sends a reply to NLU
    markers: frozenset[str]
    changes: frozenset[str]  # markers that change a value: "instead"
    alternatives: frozenset[str]
    or_words: frozenset[str]
    # Questions
    question_words: frozenset[str]
    articles_before_question: frozenset[str]  # may stand before a question word: "a qué hora"
    asking_verbs: frozenset[str]  # a clause that begins with one of these asks something
    subjects: frozenset[str]  # follow an asking verb
    offering: tuple[Phrase, ...]  # ask whether a value suits: "would Friday work?"
    suits: frozenset[str]  # other words of such a question
    openings: frozenset[str]
    greetings: tuple[Phrase, ...]  # at the beginning of a message: "guten Morgen"
    stopping: tuple[Phrase, ...]  # stop the agent before a question: "Moment mal"
    more: frozenset[str]  # "anything else?"
    past_verbs: frozenset[str]
    future_verbs: frozenset[str]
    minding: frozenset[str]  # "do you mind"
    birth: frozenset[str]  # stems
    # Commands, courtesy
    commands: Mapping[str, tuple[Phrase, ...]]
    command_hints: Mapping[str, frozenset[str]]  # stems that hint at a command
    any_value: tuple[Phrase, ...]
    any_more: frozenset[str]
    hello: frozenset[str]
    hello_phrases: tuple[Phrase, ...]
    bye: frozenset[str]
    bye_phrases: tuple[Phrase, ...]
    thanks: frozenset[str]
    courtesy: frozenset[str]  # other words of greetings and goodbyes
    change_verbs: frozenset[str]
    around_change: frozenset[str]
    keeping: tuple[Phrase, ...]
    operations: tuple[Phrase, ...]  # groups of stems; "/" divides those that exclude each other
    # Numbers
    scales: Mapping[str, int]
    joiner: frozenset[str]  # "treinta y uno", "ein und zwanzig"
    unit_first: bool
    articles_as_one: frozenset[str]
    decimal_words: frozenset[str]
    ordinals: Mapping[str, int]
    ordinal_nouns: frozenset[str]  # "the second one"
    last: frozenset[str]
    first_of_two: frozenset[str]
    counted: frozenset[str]  # stems of what slots count: people
    pair: tuple[Phrase, ...]  # means two
    none: frozenset[str]  # zero, as the answer to "how many?"
    labelled: frozenset[str]  # a number after these is a label: "room 5"
    about: frozenset[str]  # "minus", "over": the number after it isn't the value
    # Dates
    months: Mapping[str, int]
    weekdays: Mapping[str, int]
    days: Mapping[str, int]  # words for days, counted from today
    holidays: Mapping[str, str]
    next_words: frozenset[str]
    this_words: frozenset[str]
    last_words: frozenset[str]
    next_after: tuple[Phrase, ...]  # "que viene"
    last_after: tuple[Phrase, ...]
    next_week: tuple[Phrase, ...]
    this_week: tuple[Phrase, ...]
    week_from: tuple[Phrase, ...]  # "in einer Woche", after a weekday
    weekend: frozenset[str]
    ahead: tuple[Phrase, ...]  # before a count of days: "in", "dentro de"
    ago: frozenset[str]
    date_joints: frozenset[str]  # between day, month and year: "de"
    day_leads: frozenset[str]  # before a bare day of the month: "am", "el"
    not_tomorrow: frozenset[str]  # before "Morgen", "mañana": then it is the morning
    morning: frozenset[str]
    every: frozenset[str]
    # Times
    clock: frozenset[str]  # "Uhr", "horas"
    clock_leads: frozenset[str]  # "um", "las"
    half_before: frozenset[str]  # "halb drei" is 2:30
    quarter: frozenset[str]
    three_quarters: frozenset[str]
    half_after: frozenset[str]  # "y media"
    minutes_after: frozenset[str]
    minutes_before: frozenset[str]
    before_hour_first: bool  # "viertel vor drei", not "tres menos cuarto"
    minute_words: frozenset[str]
    sharp: tuple[Phrase, ...]
    noon: frozenset[str]
    midnight: frozenset[str]
    day_parts: Mapping[str, tuple[Phrase, ...]]  # morning, noon, afternoon, evening, night
    # Amounts
    periods: Mapping[str, str]
    durations: Mapping[str, str]  # phrases that are a duration by themselves
    half_unit: tuple[Phrase, ...]  # after a unit: "hora y media"
    halves: Mapping[str, int]  # "eineinhalb": one and a half; the number without the half
    duration_moments: frozenset[str]  # next to one of these, a duration says when something happens
    currencies: Mapping[str, str]
    cents: frozenset[str]
    rate_words: frozenset[str]  # between an amount and what it is for: "per person"
    cents_joint: frozenset[str]
    # Codes, phones, e-mail
    spelled_as: Mapping[str, str]  # words for letters and signs in codes
    as_in: frozenset[str]  # "A wie Anton"
    double: frozenset[str]
    plus: frozenset[str]
    at_sign: tuple[Phrase, ...]
    dot: frozenset[str]
    hyphen: frozenset[str]
    underscore: tuple[Phrase, ...]
    # Names and roles
    name_leads: tuple[Phrase, ...]  # "my name is"
    text_leads: tuple[Phrase, ...]  # introduce a text and aren't part of it: "ich sagte doch"
    titles: frozenset[str]
    relatives: tuple[Phrase, ...]  # "my wife": a reply with these names another person
    nameless: frozenset[str]
    name_words: frozenset[str]  # stems by which a question asks for a name
    from_words: frozenset[str]
    to_words: frozenset[str]
    from_slots: frozenset[str]
    to_slots: frozenset[str]
    articles: frozenset[str]
    # Lists of items
    list_words: Mapping[str, tuple[Phrase, ...]]  # phrases that add, remove or change an item of a list, by their kind
    # Lists for the pack
    lists: Mapping[str, frozenset[str]]
    limits: tuple[Phrase, ...]
    excluding: str
    prefers_before: tuple[Phrase, ...]  # before the value that is preferred in a range: "am liebsten"
    prefers_after: tuple[Phrase, ...]  # after it: "wäre am besten"
    excepts: tuple[Phrase, ...]  # between a range and a value that is excluded: "außer"
    day_of_month: str  # with {day} and {month}
    counting: str
    asks_presence: tuple[Phrase, ...]
    says_presence: tuple[Phrase, ...]
    refuses_change: tuple[Phrase, ...]
    later: tuple[Phrase, ...]
    earlier: tuple[Phrase, ...]
    duties: tuple[Phrase, ...]
    lacking: tuple[Phrase, ...]
    or_so: tuple[Phrase, ...]
    tags: tuple[Phrase, ...]  # at the end of a statement, they ask whether it is so: "oder"
    removing: tuple[Phrase, ...]
    vague: tuple[Phrase, ...]
    soonest: tuple[Phrase, ...]
    kinds: Mapping[str, tuple[Phrase, ...]]

    def fold(self, word: str) -> str:
        """The word in the form in which words are compared: in lower case, with its special letters replaced ("á" by
        "a", "ä" by "ae")."""
        return _fold(word, self)

    def stem(self, word: str) -> str:
        """The word without its ending."""
        return _stem(word, self)


@lru_cache(maxsize=8192)
def _fold(word: str, lexicon: Lexicon) -> str:
    return folded(word, lexicon.letters)


@lru_cache(maxsize=8192)
def _stem(word: str, lexicon: Lexicon) -> str:
    for ending in lexicon.endings:
        if word.endswith(ending) and len(word) - len(ending) >= lexicon.stem_chars_min and not word.endswith("ss"):
            return _stem(word[: -len(ending)], lexicon)
    return word


def folded(word: str, letters: Mapping[str, str]) -> str:
    """The word in lower case, with letters replaced as the table `letters` says (for example "á" by "a")."""
    return "".join(letters.get(char, char) for char in word.casefold())


def lexicon_of(file: Path, compounds: Compounds | None = None) -> Lexicon:
    """Reads the words of a language. `compounds` is needed if the language writes numbers as one word; otherwise only
    the words in the table `numbers` are numbers. Raises IncompletePack if an entry is missing."""
    written: dict[str, Any] = {}
    for part in tomllib.loads(file.read_text(encoding="utf-8")).values():
        written |= part if isinstance(part, dict) else {}
    letters, code = written.get("letters", {}), file.parent.name
    numbers = {word: int(value) for value, words in written.pop("numbers", {}).items() for word in words.split()}
    known = {folded(word, letters): value for word, value in numbers.items()}
    wanted = {field.name: str(field.type) for field in fields(Lexicon)}
    missing = [name for name in wanted if name not in written and name != "number_of_word"]
    if missing or not known:
        raise IncompletePack(code, missing or ["numbers"], file.name)
    unknown = [name for name in written if name not in wanted]
    if unknown:
        raise ValueError(f"{file.name} of the language pack {code!r} has unknown entries: {', '.join(unknown)}")
    found = {name: _converted(written[name], wanted[name], letters) for name in wanted if name in written}
    found["letters"] = letters
    stems = ("carrier_stems", "approval", "praise", "doing", "birth", "counted", "name_words")
    lexicon = Lexicon(number_of_word=compounds(known) if compounds is not None else known.get, **found)
    for name in stems:
        object.__setattr__(lexicon, name, frozenset(lexicon.stem(word) for word in getattr(lexicon, name)))
    return lexicon


def _converted(value: Any, kind: str, letters: Mapping[str, str]) -> Any:
    """An entry of the file, converted to the type that the lexicon needs."""
    if kind == "frozenset[str]":
        return frozenset(folded(word, letters) for word in value.split())
    if kind == "tuple[Phrase, ...]":
        return _phrases(value, letters)
    if kind == "tuple[str, ...]":
        return tuple(value.split())
    if kind == "Mapping[str, tuple[Phrase, ...]]":
        return {key: _phrases(text, letters) for key, text in value.items()}
    if kind == "Mapping[str, frozenset[str]]":
        return {key: frozenset(folded(word, letters) for word in text.split()) for key, text in value.items()}
    if kind == "Mapping[str, int]":
        return {
            folded(word, letters).replace("_", " "): int(key) for key, text in value.items() for word in text.split()
        }
    if kind == "Mapping[str, str]":
        return {
            " ".join(folded(word, letters) for word in phrase.replace("_", " ").split()): key
            for key, text in value.items()
            for phrase in (text.split("|") if "|" in text else text.split())
        }
    return value


def _phrases(text: str, letters: Mapping[str, str]) -> tuple[Phrase, ...]:
    found = (tuple(folded(word, letters) for word in phrase.split()) for phrase in text.split("|"))
    return tuple(sorted((phrase for phrase in found if phrase), key=len, reverse=True))


def phrase_at(words: tuple[str, ...] | list[str], place: int, phrases: tuple[Phrase, ...]) -> int:
    """The number of words in the longest of these phrases that begins at `place`; 0 if no phrase begins there."""
    for phrase in phrases:
        if words[place] == phrase[0] and tuple(words[place : place + len(phrase)]) == phrase:
            return len(phrase)
    return 0


def where_phrase(words: tuple[str, ...] | list[str], phrases: tuple[Phrase, ...]) -> range | None:
    """The range of indexes at which one of these phrases stands; None if the words contain none of them."""
    for place in range(len(words)):
        if size := phrase_at(words, place, phrases):
            return range(place, place + size)
    return None
