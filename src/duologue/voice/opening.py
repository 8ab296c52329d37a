"""The opening of a reply: its first clause or its first words. The voice says them before the sentence is complete.

Rule: an opening ends where a speaker could take a breath. It never ends inside a number, a date, a name with an
abbreviation, a link, quoted code or brackets.
"""

from __future__ import annotations

import re

from duologue.spoken.abbreviations import Abbreviations, folded
from duologue.spoken.speech_tags import has_tags, is_in_tag

CLAUSE_WORDS_MIN = 3
WORDS_MIN, WORDS_MAX = 5, 9
_CLAUSE = re.compile(r"[,;:—–][\"'”’»)]*\s+(?=[^\W\d_])")  # noqa: RUF001 - punctuation of several languages
_WORD = re.compile(r"\S+\s+")
# A phrase may begin with these words, so a breath before them sounds right.
_PHRASE_STARTS = frozenset(
    "and or but so because that which who when where while if as than to in on at for with from of by about into after"
    " before until our your the und oder aber weil dass ob wenn als für mit von nach aus bei zu auf in an über damit"
    " der die das y o pero porque que cuando donde si como para con de en por sin sobre el la los las".split()
)


def opening_length(text: str, known: Abbreviations, joins_words: bool) -> int:
    """How many characters of an unfinished sentence can be spoken now: a clause or, if `joins_words` is true, at least
    a few words. 0 if nothing can be spoken yet, and if the sentence has speech tags: they apply to whole sentences."""
    if has_tags(text) or is_in_tag(text):
        return 0
    for clause in _CLAUSE.finditer(text):
        if len(text[: clause.start()].split()) >= CLAUSE_WORDS_MIN and _is_whole(text[: clause.end()]):
            return clause.end()
    return _few_words(text, known) if joins_words else 0


def _few_words(text: str, known: Abbreviations) -> int:
    """The number of characters in the first words of the text. The first words end before a word that begins a new
    phrase, such as "and"; if there is no such word, they are about WORDS_MAX words. 0 if there are too few words."""
    words = list(_WORD.finditer(text))
    cuts = [number for number in range(WORDS_MIN, len(words)) if _can_part(words, number, known)]
    near = [number for number in cuts if number <= WORDS_MAX]
    wanted = [number for number in near if words[number].group().strip().lower() in _PHRASE_STARTS][::-1]
    if len(words) > WORDS_MAX:
        wanted += [*reversed(near), *cuts]
    fitting = (words[number].start() for number in wanted if _is_whole(text[: words[number].start()]))
    return next(fitting, 0)


def _can_part(words: list[re.Match[str]], number: int, known: Abbreviations) -> bool:
    """May an opening end before the word with this number? It may not end next to a number, after an abbreviation or
    between two names."""
    last, following = words[number - 1].group().strip(), words[number].group().strip()
    if any(map(str.isdigit, last + following)) or folded(last) in known.all_keys or not last[-1].isalpha():
        return False
    return not (last[0].isupper() and following[0].isupper())


def _is_whole(text: str) -> bool:
    """Is every bracket, link and piece of code in this text closed?"""
    return (
        text.count("(") == text.count(")")
        and text.count("[") == text.count("]")
        and not text.count("`") % 2
        and not text.count("**") % 2
        and not text.count('"') % 2
    )
