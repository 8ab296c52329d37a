"""Names and texts that aren't on a list: a reply that is only a name, or a proper name where a value is expected.

Rule: a name is a series of words without carrier words (words around a value, such as "I'd like"). The only exceptions
are links such as "of" or "the", which may be part of a name. Words that contain a date, or both a number and a comma,
aren't a name.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date
from itertools import pairwise

from ..language.match import Match, Span
from ..language.readings import Slot
from .amounts import find_durations, find_money
from .carrier_words import (
    ALTERNATIVES,
    ASSENT,
    DISSENT,
    EXACT,
    FILLERS,
    GIVEN_NAMES,
    HEDGES,
    MARKERS,
    NAMELESS,
    POLITE,
    is_carrier,
    is_negation,
)
from .clause_starts import begins_clause
from .codes import find_phone
from .dates import MONTHS, find_dates
from .explained_words import is_dated, is_number, leftover
from .from_and_to import role_of
from .questions import asks, is_suggestion
from .times import find_times
from .tokens import HESITATIONS, Token, words_of

BARE_WORDS_MAX = 6
PROPER_WORDS_MAX = 8
NAME_WORDS_MAX = 4  # within a longer sentence, a name has at most this many words
_POINTING = frozenset("it is it's its that that's thats this the a an to in at from for under my name name's".split())
_ARTICLES = frozenset(("a", "an"))
_FILLER_WORDS = (POLITE | FILLERS | ASSENT | HEDGES | _POINTING) - {"like", "see"}
_PARTS_OF_NAMES = {"first": "first", "given": "first", "last": "last", "family": "last", "surname": "last"}
_PARTS_OF_NAMES |= {"full": "full", "middle": "middle"}
_SURNAMES = frozenset("sharp best most".split())  # hedges that are surnames too
_GIVING_IN = frozenset("fine right alright great good perfect".split())  # "fine, Larry Fine"
_GIVING_IN_WORDS_MIN = 2
_OWNERS = frozenset("my our his her their your".split())
_LINKS = frozenset("of the and & de la du del von van der".split())
# A name may follow one of these. An article isn't enough: "a Deluxe room" doesn't name a city.
_LEADS = frozenset(
    """to in at from for of is be near around by into toward towards see visit meet try hear watch play eat called named
    like love prefer want serve serves serving some out check the under""".split()
)
_RELATIVES = frozenset(
    "mom mum mommy mummy mother dad daddy father uncle aunt auntie grandma grandpa granny cousin brother sister".split()
)
_KIN = frozenset(
    """niece nephew son daughter wife husband grandson granddaughter grandmother grandfather fiancee girlfriend
    boyfriend partner goddaughter godson stepson stepdaughter""".split()
)  # unlike "uncle", these aren't part of a name
_TITLES = frozenset("mr mrs ms miss dr doctor".split())
_AFTER_PERSON = frozenset("and but please thanks so because who whose on at for from".split())
_FRIENDS = frozenset("friend buddy colleague neighbor neighbour boss partner".split())
_NO_NAMES = (
    NAMELESS | _KIN | _RELATIVES | _FRIENDS | MARKERS | frozenset("under put spelled spelt letter letters".split())
)
_TO_PERSON = frozenset("to for send give pay transfer wire call is it's".split())
_RECEIVING = frozenset("is will should would gets receives".split())
_INTRODUCING = (
    *((owner, *said) for owner in ("my", "the", "her", "his", "their") for said in (("name", "is"), ("name's",))),
    *((who, "called") for who in ("he's", "she's", "it's", "i'm", "they're", "that's", "is", "am", "are")),
    *(("put", "it", "under"), ("just", "put"), ("call", "him"), ("call", "her"), ("call", "me")),
)
_TAKING_BACK = DISSENT | frozenset("or not sorry wait actually rather i i'm but maybe".split())
_OF_NAMES = frozenset("as before same like i said last time usual always with two one double spelled spelt".split())
_BEFORE_MONTHS = frozenset("in of during early late mid next this last until since by".split())
_TEXT_LEADS = tuple(
    tuple(lead.split())
    for lead in """i just told you that|i already told you that|i just told you|i already told you|i've told you|
    i told you|i already said|i just said|that's what i said|that is what i said|
    as i said|like i said|i said|it's called|its called|it is called|
    that's called|it's titled|they call it|the name is|the title is""".split("|")
)
_GOING_ON = frozenset("and but because so with from i i'm i'd we who".split())
_PARTING = frozenset("you bye goodbye a lot have nice day that's all that is it".split())
_REQUESTING = tuple((verb, "you") for verb in ("can", "could", "will", "would"))
_REMARKS = frozenset(
    tuple(remark.split())
    for remark in """as i said|like i said|as i told you|like i told you|i said|i told you|i told you already|as i say|
    i already said|as before|same as before""".replace("\n", "").split("|")
)  # after a text
_OPEN_WORDS_MAX = 4
_INVERTED = frozenset(
    "can't couldn't won't can could may might will would should shall must do does did is are was were has have".split()
)
_SUBJECTS = frozenset("i you he she it we they there that this".split())
_HYPHEN = re.compile(r"(?<=\w) (?:hyphen|dash) (?=\w)", re.IGNORECASE)
_BEFORE = HESITATIONS | {"mm", "ah", "oh"}
_I = frozenset(("i", "i'm", "i'd", "i'll", "i've"))


def bare_name(tokens: Sequence[Token], also: frozenset[str] = frozenset()) -> Span | None:
    """The span of the name in a reply that is nothing but a name: "uh, New York", "it's Miller, please". None for any
    other reply. `also` holds ordinary words that may be part of a name here."""
    first, after = without_filler(tokens)
    run = tokens[first:after]
    if not 0 < len(run) <= BARE_WORDS_MAX or _holds_more_than_a_name(
        [token for token in run if token.word not in also]
    ):
        return None
    known = _LINKS | also
    if any(_is_no_part(run, at, known, is_name=bool(also)) for at in range(len(run))):
        return None
    return None if _is_of_another_person(tokens, Span(first, after)) else Span(first, after)


def _is_no_part(run: Sequence[Token], at: int, known: frozenset[str], *, is_name: bool) -> bool:
    """Is this a carrier word (a word around a value) that isn't part of a name? False if it has a capital letter within
    a sentence, as in "Johnny Cash". If `is_name` is set, because the agent asked for a name, also False for a noun or
    verb right after a part of a name, even in lower case: "price" in "tom price"."""
    word = run[at].word
    if not is_carrier(word) or word in known or _is_initial(run, at) or is_capital(run[at]):
        return False
    if any(other.word == word and is_capital(other) for other in run[at + 1 :]):
        return False  # "Price, Hannah Price"
    if at and is_name and _is_surname(run[at - 1], run[at]):
        return False
    is_surname = is_name and at > 0 and word.isalpha() and word not in EXACT and run[at - 1].word.isalpha()
    is_surname = is_surname and not is_carrier(run[at - 1].word)
    return not is_surname


def _is_of_another_person(tokens: Sequence[Token], span: Span) -> bool:
    """Do the words only describe another person, without giving a name? True for "my wife" and "my wife's name"."""
    before = tokens[span.first - 1].word if span.first else ""
    return before in _OWNERS or any(
        tokens[place].word.endswith("'s")
        and (place + 1 == len(tokens) or tokens[place + 1].word in ("name", "names", "name's"))
        for place in range(span.first, span.after)
    )


def without_filler(tokens: Sequence[Token]) -> Span:
    """The span of a reply, without the filler words at its beginning and end."""
    first, after = 0, len(tokens)
    if len(tokens) > _GIVING_IN_WORDS_MIN and tokens[0].word in _GIVING_IN:
        first = 1
    while first < after and (_names_part(tokens, first) or _is_filler(tokens, first)):
        first += 1
    while after > first and tokens[after - 1].word in _FILLER_WORDS - _ARTICLES:
        if tokens[after - 1].word in HEDGES and after - first > 1 and _is_surname(tokens[after - 2], tokens[after - 1]):
            break
        after -= 1
    return Span(first, after)


def _is_surname(given: Token, last: Token) -> bool:
    """Is `last`, which is also an ordinary word, the surname after the given name `given`? True for "Bill Sharp" and
    "bill sharp". In lower case, `given` must be a known given name."""
    if last.pause or is_number(given.word):
        return False
    return is_capital(last) or (last.word in _SURNAMES and given.word in GIVEN_NAMES)


def trimmed_text(tokens: Sequence[Token], slot: Slot) -> Span:
    """The span of free text, without hesitations and polite words at its beginning and end: "the station" in "um, from
    the station please". A "from" or "to" at the beginning is left out if the name of the slot already implies it. Words
    that only introduce the text are left out too: "i told you, it's called Emma"."""
    first, after = 0, len(tokens)
    while first + 1 < after and tokens[first].word in _BEFORE:
        first += 1
    first = _past_leads(tokens, _past_no(tokens, first, after), after)
    while after - 1 > first and tokens[after - 1].word in ("please", "thanks"):
        after -= 1
    role = role_of(slot)
    return Span(first + (role is not None and after - first > 1 and tokens[first].word == role), after)


def _past_no(tokens: Sequence[Token], first: int, after: int) -> int:
    """The index of the first word after a no that only limits the text: "no, just a quiet room"."""
    is_limit = after - first > 2 and tokens[first].word in DISSENT and tokens[first + 1].word in ("just", "only")
    return first + 2 * is_limit


def _past_leads(tokens: Sequence[Token], first: int, after: int) -> int:
    """The index of the first word after words that only introduce a text, such as "it's called" or "I told you". An
    "it's" alone introduces a text only before a thing ("it's 12 Main Street"), and not in "it's not working"."""
    words = words_of(tokens)
    while first < after:
        size = next((len(lead) for lead in _TEXT_LEADS if words[first : first + len(lead)] == lead), 0)
        if not size and words[first] in ASSENT:  # "yes, that's what I said, a quiet room"
            size = next((len(lead) + 1 for lead in _TEXT_LEADS if words[first + 1 : first + 1 + len(lead)] == lead), 0)
        if not size and words[first] in ("it's", "its", "that's") and first + 1 < after:
            size = int(_is_thing(tokens[first + 1]))
        if not size or first + size >= after:
            return first
        first += size
    return first


def _is_thing(token: Token) -> bool:
    return token.word in ("the", "a", "an", "called") or is_number(token.word) or is_capital(token)


def text_with_article(tokens: Sequence[Token], span: Span) -> Span:
    """The span of a text, extended by a "the" right before it: "The Hobbit" instead of "Hobbit"."""
    has_article = span.first > 0 and tokens[span.first - 1].word == "the" and not tokens[span.first].pause
    return Span(span.first - has_article, span.after)


def answering_part(tokens: Sequence[Token], span: Span) -> Span:
    """The span of free text, without clauses at its end that don't answer the question: a question, a request to the
    agent, or polite words. Example: "12 Main Street" in "12 Main Street, and how long will it take?"."""
    first, after = span
    begins = [place for place in range(first + 1, after) if tokens[place].pause or begins_clause(tokens, place)]
    for place in reversed(begins):
        clause = tokens[place:after]
        if not (asks(clause) or _inverts(_unjoined(clause)) or _addresses_agent(clause)):
            break
        after = place
    if after < span.after and _only_wishes_something(tokens[first:after]):
        return Span(first, first)
    return Span(first, after)


def _only_wishes_something(words: Sequence[Token]) -> bool:
    """Do these words before a question only say roughly what the user would like, without the text itself? True for
    "how about something romantic"."""
    is_open = any(token.word in ("something", "anything") for token in words[:_OPEN_WORDS_MAX])
    return is_open or is_suggestion(words, 0)


def _inverts(clause: Sequence[Token]) -> bool:
    """Does a verb stand before its subject, as in "can she bring her chair"?"""
    said = words_of(clause[:2])
    return asks(clause) or (len(said) > 1 and said[0] in _INVERTED and said[1] in _SUBJECTS)


def _unjoined(clause: Sequence[Token]) -> Sequence[Token]:
    """The clause without an "and", "but" or "so" at its beginning."""
    return clause[1:] if clause[0].word in ("and", "but", "so") else clause


def has_sentences(tokens: Sequence[Token], span: Span) -> bool:
    """Are there several sentences in this span?"""
    return any(token.pause in (".", "?") and len(token.word) > 1 for token in tokens[span.first + 1 : span.after])


def _addresses_agent(clause: Sequence[Token]) -> bool:
    """Is this clause only politeness, or a request to the agent? True for "thank you very much", "and please
    hurry" and "as I said"."""
    words = [token.word for token in clause]
    if all(word in POLITE | FILLERS | _PARTING for word in words):
        return True
    said = [token.word for token in _unjoined(clause)]
    if tuple(said) in _REMARKS:
        return True
    return tuple(said[:2]) in _REQUESTING or (said[:1] == ["please"] and len(said) > 1)


def with_hyphens(name: str) -> str:
    """A name with its spoken hyphens written: "Anna-Lena" for "Anna hyphen Lena"."""
    return _HYPHEN.sub("-", name)


def last_said_in_full(tokens: Sequence[Token], span: Span) -> Span:
    """The span of the whole name, if the user said a part of the name first and then the whole name: "Lisa Brown" in
    "Lisa, Lisa Brown". Otherwise `span` is returned unchanged."""
    for place in range(span.after - 1, span.first, -1):
        first, whole = words_of(tokens[span.first : place]), words_of(tokens[place : span.after])
        if tokens[place].pause and set(first) <= set(whole):
            return Span(place, span.after)
    return span


def _is_glued(tokens: Sequence[Token], place: int) -> bool:
    """Does the next token begin where this one ends, as in "a123"?"""
    return place + 1 < len(tokens) and tokens[place].end == tokens[place + 1].start


def _is_filler(tokens: Sequence[Token], place: int) -> bool:
    if tokens[place].word == "of":
        return place > 0 and tokens[place - 1].word == "name"  # "under the name of Smith"
    return tokens[place].word in _FILLER_WORDS and not _is_glued(tokens, place) and not _is_initial(tokens, place)


def _names_part(tokens: Sequence[Token], place: int) -> bool:
    """Do the words at `place` say which part of a name follows, such as "surname" or "last name"?"""
    after = tokens[place + 1].word if place + 1 < len(tokens) else ""
    return tokens[place].word in ("surname", "surname's") or (
        tokens[place].word in _PARTS_OF_NAMES and after in ("name", "name's")
    )


def parts_of_names(tokens: Sequence[Token]) -> frozenset[str]:
    """The parts of a name that the words mention: "first", "middle", "last" or "full"."""
    found = (token.word.removesuffix("'s") for place, token in enumerate(tokens) if _names_part(tokens, place))
    return frozenset(_PARTS_OF_NAMES[word] for word in found)


def _is_initial(tokens: Sequence[Token], place: int) -> bool:
    """Is this "a" an initial? Yes, if another single letter follows: "A J Smith"."""
    return tokens[place].word == "a" and place + 1 < len(tokens) and len(tokens[place + 1].word) == 1


def cannot_be_a_name(tokens: Sequence[Token], span: Span, today: date) -> bool:
    """Is this reply certainly something other than a name? True for "goodbye", "no idea", "7 pm" and "twenty
    minutes"."""
    run = tokens[span.first : span.after]
    letters = "".join(token.word for token in run if len(token.word) == 1)
    if len(letters) == len(run) and letters in NAMELESS | ASSENT | DISSENT:
        return True  # "n o" is a spelled no
    if run[0].word in DISSENT or all(token.word in NAMELESS or is_number(token.word) for token in run):
        return True
    before = tokens[span.first - 1].word if span.first else ""
    if run[-1].word in MONTHS and (before in _BEFORE_MONTHS or run[0].word in NAMELESS):
        return True  # "in June", "next April"
    if len(run) == 1 and run[0].word in GIVEN_NAMES:
        return False
    if any("@" in token.word for token in run) or find_phone(run):
        return True
    if any(is_number(token.word) for token in run) and all(is_number(one.word) or len(one.word) == 1 for one in run):
        return True  # "2b" isn't a name
    found = (
        *find_times(run, hours=(0, 24), is_asked=False),
        *find_dates(run, today, is_past=False, is_asked=False),
        *find_durations(run),
        *find_money(run, is_asked=False),
    )
    return any((match.first, match.after) == (0, len(run)) for match in found)


def proper_name(tokens: Sequence[Token], echo: frozenset[str]) -> Span | None:
    """The span of a capitalised name among carrier words (words around a value): "I want to see Jordan Miller". None if
    other words are capitalised too, because capital letters then don't tell which words are the name."""
    left = leftover(tokens, frozenset(), echo)
    if not left or left[0] == 0 or tokens[left[0] - 1].word not in _LEADS:
        return None
    first, after = left[0], left[-1] + 1
    first -= tokens[first - 1].text == "The"
    while after < len(tokens) and is_capital(tokens[after]) and not tokens[after].pause:
        after += 1  # "Cash" of "Johnny Cash" is an ordinary word too
    run = tokens[first:after]
    if len(run) > PROPER_WORDS_MAX or _holds_more_than_a_name(run) or not all(_is_named(token) for token in run):
        return None
    frame = [*tokens[1:first], *tokens[after:]]
    has_case = any(token.text[0].islower() for token in frame) and not any(is_capital(token) for token in frame)
    return Span(first, after) if has_case else None


def named_person(tokens: Sequence[Token], left: Sequence[int]) -> Span | None:
    """The span of the person whom a reply to "who?" names among carrier words: "Justin is the receiver", "my uncle
    Richard", "send it to mom". None if there is no such person. `left` holds the indexes of the words that weren't
    understood otherwise. A word in lower case is accepted only if it is a word for a relative."""
    first, after = left[0], left[-1] + 1
    if (spoken := _spoken_person(tokens)) is not None:
        return spoken
    if tokens[first].word in _KIN and after - first > 1 and first and tokens[first - 1].word in _OWNERS:
        is_named = after - first == len(left) and _is_written_as_person(tokens[first + 1 : after])
        return Span(first + 1, after) if is_named else None  # "my niece Poppy"
    run = tokens[first:after]
    if after - first != len(left) or len(run) > NAME_WORDS_MAX or not _is_written_as_person(run):
        return None
    if any(is_dated(token.word) or is_number(token.word) or token.word in NAMELESS for token in run):
        return None
    before = words_of(tokens[max(0, first - 2) : first])
    follows = tokens[after].word if after < len(tokens) else ""
    if first == 0:
        return Span(first, after) if follows in _RECEIVING and run[0].word not in _RELATIVES else None
    is_led = before[-1] in _TO_PERSON | _FRIENDS or (before[-1] in _KIN and before[0] in _OWNERS)
    if before[-1] in _OWNERS:
        is_led = run[0].word in _RELATIVES and len(run) > 1
    is_alone = is_led and not any(is_capital(token) for token in (*tokens[1:first], *tokens[after:]))
    return Span(first, after) if is_alone else None


def _spoken_person(tokens: Sequence[Token]) -> Span | None:
    """The name in a reply without capital letters, if the words around it show that it is one: after a relative ("my
    wife angela"), after a title ("mrs adeyemi"), if it is said twice ("nina it's for my girlfriend nina"), or before a
    sentence about that person ("otto and he's nine"). None for any other reply."""
    if any(token.text[0].isupper() for token in tokens):
        return None
    words, found = words_of(tokens), set[Span]()
    for place in range(1, len(words)):
        before = words[place - 1]
        is_kin = before in _KIN | _RELATIVES | _FRIENDS and place > 1 and words[place - 2] in _OWNERS
        if not (is_kin or before in _TITLES) or not may_be_name(words[place]):
            continue
        ends = place + 1
        while ends < min(len(words), place + NAME_WORDS_MAX) and may_be_name(words[ends]):
            ends += 1
        if ends < len(words) and not (words[ends] in _AFTER_PERSON or begins_clause(tokens, ends)):
            return None  # "my wife angela's sister", "my friend works there"
        found.add(Span(place - (before in _TITLES), ends))
    first = without_filler(tokens).first
    if first < len(words) - 2 and may_be_name(words[first]):
        is_about = words[first + 1] == "and" and words[first + 2] in ("he's", "she's", "it's", "he", "she")
        if is_about or words[first] in words[first + 2 :]:
            found.add(Span(first, first + 1))
    names = {words[span.first : span.after] for span in found}
    return min(found) if len(names) == 1 else None


def may_be_name(word: str) -> bool:
    """Can this word, without a capital letter, be a part of a name? False for carrier words, numbers and dates."""
    is_other = is_carrier(word) or is_number(word) or is_dated(word) or word in _NO_NAMES
    return word.isalpha() and len(word) > 2 and not is_other and not is_negation(word)


def _is_written_as_person(run: Sequence[Token]) -> bool:
    """Are these words a name with a capital letter, a relative ("mom"), or both ("uncle Richard")?"""
    names = run[1:] if run[0].word in _RELATIVES else run
    return all(token.text[0].isupper() and token.word.isalpha() for token in names)


def introduced_name(tokens: Sequence[Token]) -> Span | None:
    """The name in "I'm Sam Miller" or "call me Sam". Only capitalised words are accepted, because "I'm busy" gives no
    name. None for any other reply."""
    first = 1 if tokens[0].word in ("i'm", "im") else 2 if words_of(tokens[:2]) in (("i", "am"), ("call", "me")) else 0
    after = len(tokens)
    while after > first and tokens[after - 1].word in POLITE:
        after -= 1
    run = tokens[first:after]
    is_name = first > 0 and 0 < len(run) <= BARE_WORDS_MAX and all(is_capital(token) for token in run)
    return Span(first, after) if is_name and not _holds_more_than_a_name(run) else None


def name_in_sentence(tokens: Sequence[Token]) -> Span | None:
    """The name after "my name is" in a sentence that goes on: "my name is Mark Price and I was born in May". None if
    there is no such name, or if the words may contain more than a name."""
    words = words_of(tokens)
    begun = next(
        (at + len(one) for one in _INTRODUCING for at in range(len(words)) if words[at : at + len(one)] == one), 0
    )
    after = begun
    while after < len(tokens) and (after == begun or not tokens[after].pause) and words[after] not in _GOING_ON:
        after += 1
    run = tokens[begun:after]
    if not begun:
        return _commented_name(tokens)
    others = [token for token in run if token.word not in GIVEN_NAMES]
    if not 0 < len(run) <= NAME_WORDS_MAX or _holds_more_than_a_name(others):
        return None
    return None if any(is_number(token.word) or token.word in EXACT for token in others) else Span(begun, after)


def _commented_name(tokens: Sequence[Token]) -> Span | None:
    """The name before a comma, if the words after the comma only comment on the name: "Doris Pettigrew, two t's", "Jack
    Frost, and no jokes please". None if the words before the comma can't be a name, or if the words after it may change
    the name."""
    ends = next((place for place in range(1, len(tokens)) if tokens[place].pause), len(tokens))
    if ends == len(tokens):
        ends = next((at for at in range(1, ends) if _spells_out(tokens, at)), ends)
    head, rest = tokens[:ends], tokens[ends:]
    span = bare_name(head, GIVEN_NAMES) if rest and not asks(rest) else None
    run = head[span.first : span.after] if span is not None else ()
    if span is None or len(run) > NAME_WORDS_MAX or any(one.word in NAMELESS or is_number(one.word) for one in run):
        return None
    if rest[0].word in _TAKING_BACK or any(is_capital(token) or "@" in token.word for token in rest):
        return None
    is_shown = len(run) > 1 and all(token.text[0].isupper() or token.word in _LINKS for token in run)
    is_led = span.first > 0 and any(token.text[0].isupper() for token in run)
    if not (
        is_shown or is_led or all(token.word in _OF_NAMES or len(token.word.removesuffix("'s")) == 1 for token in rest)
    ):
        return None
    letters = {token.word[0] for token in rest if len(token.word.removesuffix("'s")) == 1} - {"a", "i"}
    written = {char for token in run for char in token.word}
    return span if letters <= written else None  # "Mark, with a c" is written differently


def _spells_out(tokens: Sequence[Token], at: int) -> bool:
    """Does a "with" begin a remark about the spelling here, as in "patterson with two t's"?"""
    letters = [token.word.removesuffix("'s") for token in tokens[at + 1 : at + 4]]
    return tokens[at].word == "with" and any(len(word) == 1 and word != "a" for word in letters)


def is_part_of_longer_name(tokens: Sequence[Token], match: Match) -> bool:
    """Is this known name only part of a longer name? True for "Midnight" in "Midnight Train", because the next word is
    capitalised too."""
    before, after = tokens[: match.first], tokens[match.after :]
    begins = match.first > 1 and is_capital(before[-1]) and not tokens[match.first].pause
    return begins or (bool(after) and is_capital(after[0]) and not after[0].pause)


def _holds_more_than_a_name(run: Sequence[Token]) -> bool:
    """Do these words hold a date, an "or", several sentences, a spelled name, or both a number and a comma?"""
    if any(is_dated(token.word) or token.word in ALTERNATIVES for token in run):
        return True
    if any(token.pause in (".", "?") and len(before.word) > 1 for before, token in pairwise(run)):
        return True  # "J. P. Morgan" is one name
    if _is_spelled(run):
        return True
    return any(token.pause for token in run[1:]) and any(is_number(token.word) for token in run[1:])


def _is_spelled(run: Sequence[Token]) -> bool:
    """Do these words end with letters that may spell a name before them? True for "Shawn, S E A N"."""
    first = len(run)
    while first and len(run[first - 1].word) == 1:
        first -= 1
    letters = run[first:]
    if not first or len(letters) < 2:
        return False
    return len(letters) > 2 or any(token.word[0] == letters[0].word for token in run[:first])


def _is_named(token: Token) -> bool:
    return token.text[0].isupper() or token.word[0].isdigit() or token.word in _LINKS or token.word == "#"


def is_capital(token: Token) -> bool:
    """Is this token capitalised like a name? False for the first word of a sentence and for a word that is all in
    capitals."""
    begins = not token.start or token.pause in (".", "?")
    return not begins and token.text[0].isupper() and token.text[1:].islower() and token.word not in _I
