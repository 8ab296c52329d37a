"""Names that aren't on a list, and free text.

Rule: a name is accepted only if it is the whole reply or follows words that introduce it ("ich heiße …", "me llamo …").
"""

from __future__ import annotations

from collections.abc import Sequence

from ..language.match import Span
from ..language.readings import Slot, SlotKind
from ..language.tokens import Token, words_of
from .explained_words import is_carrier
from .lexicon import Lexicon, phrase_at, where_phrase
from .signs import is_value_word
from .yes_no import asks, asks_by_words

_WORDS_MAX = 4
_TEXT_WORDS_MAX = 4
_LETTERS_MIN = 3


def without_filler(lexicon: Lexicon, tokens: Sequence[Token]) -> Span:
    """The span of a reply, without polite words and fillers at its beginning and end."""
    around = lexicon.polite | lexicon.fillers | lexicon.assent
    words = words_of(tokens)
    first, after = 0, len(tokens)
    while first < after and (words[first] in around or (size := phrase_at(words, first, lexicon.polite_phrases))):
        first += 1 if words[first] in around else size
    changed = True
    while changed and after > first:
        changed = False
        if words[after - 1] in around:
            after, changed = after - 1, True
        for phrase in lexicon.polite_phrases:
            if after - first >= len(phrase) and words[after - len(phrase) : after] == phrase:
                after, changed = after - len(phrase), True
                break
    return Span(first, after)


def open_name(lexicon: Lexicon, tokens: Sequence[Token], *, is_person: bool) -> Span | None:
    """The span of the name in a reply that is nothing but a name, with or without words that introduce it. None for any
    other reply."""
    first, after = without_filler(lexicon, tokens)
    words = words_of(tokens)
    lead = phrase_at(words, first, lexicon.name_leads) if first < after else 0
    first += lead
    if not is_person and first < after and words[first] in lexicon.from_words | lexicon.to_words:
        first += 1  # "nach Wien"
    while first < after and (words[first] in lexicon.titles or (lead and words[first] in lexicon.articles)):
        first += 1
    run = tokens[first:after]
    if not 1 <= len(run) <= _WORDS_MAX or where_phrase(words[:after], lexicon.relatives):
        return None
    if not all(_is_name_part(lexicon, token, at, len(run)) for at, token in enumerate(run)):
        return None
    if any(token.pause for token in run[1:]) or asks(lexicon, tokens):
        return None
    has_capital = all(run[at].text[0].isupper() for at in (0, -1))
    says_name = any(lexicon.stem(word) in lexicon.name_words for word in words[first - lead : first])
    if lead and not (has_capital or says_name):
        return None  # "ich bin müde"
    return Span(first, after) if has_capital or lead or is_person or len(run) <= 2 else None


def _is_name_part(lexicon: Lexicon, token: Token, at: int, size: int) -> bool:
    word = token.word
    if not word.replace("'", "").isalpha() or len(word) < 2:
        return False
    if word in lexicon.alternatives | lexicon.or_words:
        return False
    if word in lexicon.negations or word in lexicon.nameless or word in lexicon.markers or is_value_word(lexicon, word):
        return False
    if 0 < at < size - 1 and word in lexicon.articles | lexicon.from_words | lexicon.date_joints:
        return True  # "Anna von Berg", "María de la Cruz"
    if is_carrier(lexicon, word) or word in lexicon.dissent or word in lexicon.question_words:
        return False
    return lexicon.stem(word) not in lexicon.approval and lexicon.stem(word) not in lexicon.doing


def spelled_name(lexicon: Lexicon, tokens: Sequence[Token]) -> tuple[str, Span] | None:
    """A name that the user spells letter by letter, and the span of its words. The name itself may be said before the
    letters. None if no name is spelled, or if the letters differ from the name that was said."""
    first, after = without_filler(lexicon, tokens)
    first += phrase_at(words_of(tokens), first, lexicon.name_leads) if first < after else 0
    begins = after
    while begins > first and len(tokens[begins - 1].word) == 1 and tokens[begins - 1].word.isalpha():
        begins -= 1
    letters = "".join(token.text.rstrip("?").casefold() for token in tokens[begins:after])
    if len(letters) < _LETTERS_MIN:
        return None
    said = tokens[first:begins]
    if not said:
        return letters.capitalize(), Span(first, after)
    is_same = len(said) == 1 and lexicon.fold(letters) == said[0].word
    return (said[0].text, Span(first, after)) if is_same else None


def may_be_name(lexicon: Lexicon, word: str) -> bool:
    """Can this word, without a capital letter, be a part of a name? False for carrier words, numbers, dates and
    relatives."""
    is_other = is_carrier(lexicon, word) or is_value_word(lexicon, word) or word in lexicon.nameless
    is_other = is_other or any(word in phrase for phrase in lexicon.relatives)
    return word.isalpha() and len(word) >= _LETTERS_MIN and not is_other


def name_in_sentence(lexicon: Lexicon, tokens: Sequence[Token]) -> Span | None:
    """The span of the name after "my name is" in a sentence that goes on. None if there is no such name, or if it isn't
    clear where it ends."""
    words = words_of(tokens)
    for place in range(len(words)):
        size = phrase_at(words, place, lexicon.name_leads)
        if not size or words[place] in lexicon.from_words or size < 2:
            continue
        first = after = place + size
        while after < len(tokens) and after - first < _WORDS_MAX and tokens[after].text[0].isupper():
            if (after > first and tokens[after].pause) or is_carrier(lexicon, words[after]):
                break
            after += 1
        ends = after == len(tokens) or bool(tokens[after].pause) or words[after] in lexicon.joiner
        if after > first and ends and not where_phrase(words[:first], lexicon.relatives):
            return Span(first, after)
    return _commented_name(lexicon, tokens)


def _commented_name(lexicon: Lexicon, tokens: Sequence[Token]) -> Span | None:
    """The name before a comma, if the words after the comma only comment on the name: "Sabine Hoff, mit zwei f". None
    if the words before the comma can't be a name, or if the words after it may change the name."""
    ends = next((place for place in range(1, len(tokens)) if tokens[place].pause), len(tokens))
    head, rest = tokens[:ends], tokens[ends:]
    span = open_name(lexicon, head, is_person=True) if rest and not asks(lexicon, rest) else None
    if span is None or span.after - span.first < 2 or not all(token.text[0].isupper() for token in head[span.first :]):
        return None
    changing = lexicon.dissent | lexicon.or_words | lexicon.markers | lexicon.negations
    if rest[0].word in changing or any(len(token.word) > 2 and token.text[0].isupper() for token in rest):
        return None
    letters = {token.word for token in rest if len(token.word) == 1} - lexicon.articles - lexicon.joiner
    written = {char for token in head[span.first : span.after] for char in token.word}
    return span if letters <= written else None


def bare_text(lexicon: Lexicon, tokens: Sequence[Token]) -> Span | None:
    """The span of a short reply to a question for free text. None if the reply is long, asks or denies something, or
    says nothing."""
    first, after = without_filler(lexicon, tokens)
    run = tokens[first:after]
    if not 1 <= len(run) <= _TEXT_WORDS_MAX or asks(lexicon, tokens) or any(token.pause for token in run[1:]):
        return None
    known = lexicon.markers | lexicon.negations | lexicon.dissent | lexicon.nameless
    if any(token.word in known for token in run) or all(is_carrier(lexicon, token.word) for token in run):
        return None
    return Span(first, after)


def trimmed_text(lexicon: Lexicon, tokens: Sequence[Token], slot: Slot) -> Span:
    """The span of free text, without polite words at its beginning and end, and without words that only introduce it:
    "ich sagte doch, …"."""
    if slot.kind is not SlotKind.TEXT:
        return Span(0, len(tokens))
    first, after = without_filler(lexicon, tokens)
    words = words_of(tokens)
    while first < after and first + (size := phrase_at(words, first, lexicon.text_leads)) < after and size:
        first += size
    return Span(first, after) if first < after else Span(0, len(tokens))


def answering_part(lexicon: Lexicon, tokens: Sequence[Token], span: Span) -> Span:
    """The span of free text, without clauses at its end that don't answer the question: a question, a request to the
    agent, or polite words."""
    after = span.after
    for place in range(span.after - 1, span.first, -1):
        clause = tokens[place:after]
        if tokens[place].pause and not (asks_by_words(lexicon, clause) or _addresses_agent(lexicon, clause)):
            break
        after = place if tokens[place].pause else after
    return Span(span.first, after)


def _addresses_agent(lexicon: Lexicon, clause: Sequence[Token]) -> bool:
    """Is this clause only politeness, or a request to the agent? True for "und bitte beeilen Sie sich"."""
    words = [token.word for token in clause]
    around = lexicon.polite | lexicon.fillers | lexicon.joiner
    if all(word in around for word in words):
        return True
    said = words[1:] if words[0] in lexicon.joiner else words
    return phrase_at(said, 0, lexicon.requesting) > 0


def has_sentences(tokens: Sequence[Token], span: Span) -> bool:
    """Are there several sentences in this span?"""
    return any(token.pause in (".", "?") for token in tokens[span.first + 1 : span.after])
