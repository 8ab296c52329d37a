"""Recognises messages that are nothing but a command, a courtesy, a missing preference ("I don't mind") or a wish for a
change.

Rule: the whole message has to be of one of these kinds. A longer message goes to NLU.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..language.readings import Question
from ..language.tokens import Token, words_of
from .lexicon import Lexicon, phrase_at, where_phrase
from .tokens import stems_of, tokens_of
from .yes_no import places_outside_yes_no

WORDS_MAX = 12


def command_of(lexicon: Lexicon, tokens: Sequence[Token]) -> str | None:
    """The name of the command, if the whole message is a command; otherwise None."""
    if not tokens or len(tokens) > WORDS_MAX:
        return None
    words = [token.word for token in tokens]
    found = _command(lexicon, words)
    if found is not None:
        return found
    around = lexicon.polite | lexicon.fillers
    while words and words[0] in around and found is None:
        words.pop(0)
        found = _command(lexicon, words)
    while words and found is None:
        polite = next((one for one in lexicon.polite_phrases if tuple(words[-len(one) :]) == one), ())
        if not polite and words[-1] not in around:
            return None
        words = words[: -(len(polite) or 1)]
        found = _command(lexicon, words)
    return found


def _command(lexicon: Lexicon, words: list[str]) -> str | None:
    said = tuple(words)
    return next((name for name, phrases in lexicon.commands.items() if said in phrases), None)


def words_of_command(lexicon: Lexicon, name: str) -> frozenset[str]:
    """The stems (words without their endings) that hint at this command."""
    return frozenset(lexicon.stem(word) for word in lexicon.command_hints.get(name, frozenset()))


def courtesy_of(lexicon: Lexicon, tokens: Sequence[Token]) -> str | None:
    """The kind of courtesy, if the message is nothing but courtesy; otherwise None."""
    words = words_of(tokens)
    if not words or len(words) > WORDS_MAX:
        return None
    known = lexicon.courtesy | lexicon.hello | lexicon.bye | lexicon.thanks | lexicon.polite | lexicon.fillers
    known |= lexicon.assent
    is_no = any(word in lexicon.dissent for word in words)
    enough = where_phrase(words, lexicon.nothing_more)
    covered: set[int] = set(enough or ())
    for phrases in (lexicon.polite_phrases, lexicon.bye_phrases):
        for place in range(len(words)):
            covered |= set(range(place, place + phrase_at(words, place, phrases)))
    stems = lexicon.approval
    if not all(
        at in covered or word in known | lexicon.dissent or lexicon.stem(word) in stems for at, word in enumerate(words)
    ):
        return None
    if any(word in lexicon.bye for word in words) or where_phrase(words, lexicon.bye_phrases):
        return "farewell"
    if is_no or enough is not None:
        return "refusal"
    if any(word in lexicon.thanks for word in words):
        return "thanks"
    if any(word in lexicon.hello for word in words) or where_phrase(words, lexicon.hello_phrases):
        return "greeting"
    return "assent" if any(word in lexicon.assent or lexicon.stem(word) in stems for word in words) else None


def has_no_preference(lexicon: Lexicon, tokens: Sequence[Token], echo: frozenset[str]) -> bool:
    """Does the whole reply say that any value will do?"""
    where = where_phrase(words_of(tokens), lexicon.any_value)
    if where is None:
        return False
    outside = [at for at in places_outside_yes_no(lexicon, tokens) if at not in where]
    return all(tokens[at].word in lexicon.any_more or lexicon.stem(tokens[at].word) in echo for at in outside)


def is_tagged(lexicon: Lexicon, tokens: Sequence[Token]) -> bool:
    """Does the reply say something and ask at its end whether it is so, as in "das ist mit Benzin, oder"?"""
    said = words_of(tokens)
    size = next((len(tag) for tag in lexicon.tags if said[-len(tag) :] == tag), 0)
    before = tokens[: len(tokens) - size] if size else ()
    return len(before) > 1 and bool(places_outside_yes_no(lexicon, before))


def only_asks_for_change(lexicon: Lexicon, tokens: Sequence[Token]) -> bool:
    """Does the reply ask for a change without saying what to change?"""
    words = words_of(tokens)
    allowed = lexicon.change_verbs | lexicon.around_change | lexicon.polite | lexicon.fillers | lexicon.dissent
    return any(word in lexicon.change_verbs for word in words) and all(word in allowed for word in words)


def keeps(lexicon: Lexicon, tokens: Sequence[Token]) -> bool:
    """Does the reply say "leave it as it is"?"""
    return where_phrase(words_of(tokens), lexicon.keeping) is not None


def repeats(lexicon: Lexicon, text: str, tokens: Sequence[Token]) -> bool:
    """Does a command repeat a word of the question? If so, the command may be a yes."""
    asked = stems_of(lexicon, text)
    small = lexicon.carriers | lexicon.polite | lexicon.fillers | lexicon.negations
    return any(lexicon.stem(token.word) in asked for token in tokens if token.word not in small)


def excludes(lexicon: Lexicon, text: str, phrases: Iterable[str]) -> bool:
    """Does the text ask for a different operation than these phrases, so that it can't mean the same? True for "unblock
    my card", if all the phrases are about blocking a card."""
    said = _operations(lexicon, text)
    known = frozenset(one for phrase in phrases for one in _operations(lexicon, phrase))
    groups = {group for group, _ in said} & {group for group, _ in known}
    return bool(groups) and not any(one in known for one in said if one[0] in groups)


def _operations(lexicon: Lexicon, text: str) -> frozenset[tuple[int, int]]:
    stems = stems_of(lexicon, text)
    found = set()
    for group, words in enumerate(sorted(lexicon.operations)):
        number = 0
        for word in words:
            number += word == "/"
            if lexicon.stem(word) in stems:
                found.add((group, number))
    return frozenset(found)


def echo_of(lexicon: Lexicon, question: Question) -> frozenset[str]:
    """The stems (words without their endings) that a reply may repeat from the question. Values, denials and words for
    a change aren't included."""
    return echo_of_texts(lexicon, question.text, question.slot.name, question.about)


def echo_of_texts(lexicon: Lexicon, *texts: str) -> frozenset[str]:
    """The stems (words without their endings) that a reply may repeat from these texts."""
    words = {token.word for text in texts for token in tokens_of(lexicon, text[:500].replace("_", " "))}
    never = lexicon.markers | lexicon.negations | lexicon.alternatives | lexicon.question_words | lexicon.dissent
    return frozenset(lexicon.stem(word) for word in words if word not in never and not is_value_word(lexicon, word))


def is_value_word(lexicon: Lexicon, word: str) -> bool:
    """Is this word part of a number or a date?"""
    return (
        word[0].isdigit()
        or word in lexicon.weekdays
        or word in lexicon.months
        or word in lexicon.ordinals
        or word in lexicon.days
        or word in lexicon.scales
        or lexicon.number_of_word(word) is not None
    )
