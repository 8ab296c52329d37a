"""E-mail addresses, written or spoken: "anna dot miller at example dot com".

People comment on the words of an address while they say it: "peter dot wood, that's wood like a tree, at example dot
com". Rule: such a comment is never part of the address. If a comment was left out, or if a comma stands between two
words that may belong together, the agent asks whether the address is right.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from ..language.match import DOUBTED, Match
from .carrier_words import (
    AUXILIARIES,
    DISSENT,
    MARKERS,
    PREPOSITIONS,
    PRONOUNS,
    is_carrier,
    is_negation,
    without_contraction,
)
from .codes import NOUGHT, SIGNS, TIMES, piece_at, spellings
from .numbers import SMALL
from .tokens import Token, words_of
from .written_signs import with_written_signs

_DESCRIPTION_WORDS_MAX = 3
_TAILS = (
    ("all", "lower", "case"), ("all", "lowercase"), ("all", "in", "lower", "case"), ("all", "one", "word"),
    ("all", "together"), ("no", "spaces"),
)  # fmt: skip
_KNOWN_DOMAINS = {"gmail": "gmail.com", "icloud": "icloud.com"}  # people say these without ".com"
_OF_SENTENCES = AUXILIARIES | PREPOSITIONS | PRONOUNS | MARKERS | {"and", "or"}
_LIGHT = frozenset(
    """my email email's e mail mail's address is it's its that's that would be the sure yes um uh okay please use try
    oh well so""".split()
)
_FRAMING = (AUXILIARIES | PREPOSITIONS | PRONOUNS) - {"at"}
_SENDING = frozenset("send write mail contact reach think best new old own work business private home one".split())
_IN_PARTS = frozenset("then letter letters followed name word spelled spelt".split())  # tell how an address is built
_BEFORE_ADDRESS = frozenset("just then actually".split())
_OF_COMMENTS = _OF_SENTENCES | frozenset("that's like as spelled spelt written one word all lower case".split())


def find_email(tokens: Sequence[Token]) -> list[Match]:
    """The e-mail addresses that are written in a reply. If the reply has none in writing, the spoken address is
    returned: "anna at example dot com". Signs in it may also be written, as in "anna.lee at example.com"."""
    written = [place for place, token in enumerate(tokens) if "@" in token.word and len(token.word) > 1]
    if written:
        return [Match(place, place + 1, (tokens[place].word,)) for place in written]
    readings = (with_written_signs(tokens, are_all_meant=meant) for meant in (True, False))
    found = [one for with_signs, places in readings for one in _in_reply(_spoken_address(with_signs), places)]
    if len(found) == 2 and found[0][:2] == found[1][:2]:
        candidates = dict.fromkeys((*found[0].candidates, *found[1].candidates))
        return [found[0]._replace(candidates=tuple(candidates))]
    return found[:1]


def _in_reply(found: list[Match], places: Sequence[int]) -> list[Match]:
    """The matches, with the indices that their tokens had in the reply."""
    return [one._replace(first=places[one.first], after=places[one.after]) for one in found]


def _spoken_address(tokens: Sequence[Token]) -> list[Match]:
    ats = [place for place, token in enumerate(tokens) if token.word in ("@", "at") and not _ends_domain(tokens, place)]
    if len(ats) != 1:
        return []
    first = _last_sentence(tokens, ats[0])
    while first < ats[0] and _is_light(tokens, first):
        first += 1
    after = _domain_end(tokens, ats[0] + 1)
    begins = _after_framing(tokens, first, ats[0])
    before_sign, is_local_sure = _without_comments(tokens[begins : ats[0]])
    is_local_sure = is_local_sure and begins == first
    first = _where_framed(tokens, first, begins) if begins > first else first
    while len(before_sign) > 1 and before_sign[0].word in _LIGHT and before_sign[1].word not in SIGNS:
        before_sign = before_sign[1:]  # "hang on, use jo dot smith"
    after_sign, is_domain_sure = _without_comments(tokens[ats[0] + 1 : after])
    if _is_sentence(before_sign) or any(token.word in DISSENT for token in before_sign):
        return []  # "nora underscore, no, hyphen lind": the address can't be put together
    local, domain = _part(before_sign), _part(after_sign)
    if domain in _KNOWN_DOMAINS and not any(is_carrier(token.word) for token in before_sign):
        domain, after = _KNOWN_DOMAINS[domain], after + (words_of(tokens[after : after + 1]) == ("com",))
    if not local or not domain or "." not in domain.strip(".") or "." in (local[0], local[-1], domain[-1]):
        return []
    after += next((len(words) for words in _TAILS if words_of(tokens[after : after + len(words)]) == words), 0)
    candidates = tuple(text.casefold() for text in spellings(f"{local}@{domain}"))
    return [Match(first, after, candidates, "" if is_local_sure and is_domain_sure else DOUBTED)]


def _after_framing(tokens: Sequence[Token], first: int, sign: int) -> int:
    """The index of the first word of the address, after words that only introduce it: "it's my work one", "you can send
    it to", "my son's is". It is `first` if there are no such words, or if a part of the address stands before them."""
    begins = _after_description(tokens, first, sign)
    framing = [at for at in range(begins, sign - 1) if _is_framing(tokens, at)]
    if not framing or any(token.word in SIGNS or _is_spelled(token) for token in tokens[begins : framing[-1]]):
        return begins
    begins = framing[-1] + 1
    while begins < sign - 1 and tokens[begins].word in _LIGHT:
        begins += 1
    return begins


def _is_framing(tokens: Sequence[Token], at: int) -> bool:
    """Is this a word of the sentence around the address, such as the "to" in "send it to"? A word next to a sign is
    part of the address."""
    word = tokens[at].word
    if word.endswith("'s") and at > 0 and tokens[at - 1].word in PRONOUNS:
        return True  # "my sister's"
    is_near_sign = tokens[at + 1].word in SIGNS or (at > 0 and tokens[at - 1].word in SIGNS)
    return len(word) > 1 and (word in _FRAMING or without_contraction(word) in _FRAMING) and not is_near_sign


def _where_framed(tokens: Sequence[Token], first: int, begins: int) -> int:
    """The index of the first of the words that introduce the address, so that all of them are understood; `begins` if
    one of them may mean more."""
    words = words_of(tokens[first:begins])
    known = all(
        is_carrier(word) or word in _LIGHT | _SENDING or without_contraction(word) in _FRAMING or word.endswith("'s")
        for word in words
    )
    return first if known else begins


def _is_light(tokens: Sequence[Token], place: int) -> bool:
    """May this word stand before an address without being part of it? A word before a sign is part of it: "use dot
    me"."""
    after = tokens[place + 1].word if place + 1 < len(tokens) else ""
    is_part = after in SIGNS and after not in ("at", "@") and tokens[place].word in _BEFORE_ADDRESS
    return tokens[place].word in _LIGHT | DISSENT | _BEFORE_ADDRESS and tokens[place].text != "e" and not is_part


def _ends_domain(tokens: Sequence[Token], place: int) -> bool:
    """Is this "at" the end of a domain, as in "post dot at"?"""
    return place > 1 and tokens[place].word == "at" and SIGNS.get(tokens[place - 1].word) == "."


def _after_description(tokens: Sequence[Token], first: int, sign: int) -> int:
    """The index of the first word after "my work one" or "my own one", which says whose address it is; `first` if the
    reply doesn't begin with such words."""
    ones = (at for at in range(first, sign - 1) if tokens[at].word == "one")
    at = next(ones, None)
    if at is None:
        return first
    before = tokens[max(0, at - _DESCRIPTION_WORDS_MAX) : at]
    is_owned = any(token.word in PRONOUNS or token.word == "the" for token in before)
    begins = at + 1 if is_owned and tokens[at + 1].word not in SIGNS else first
    while begins < sign - 1 and tokens[begins].word in _LIGHT:
        begins += 1
    return begins


def _last_sentence(tokens: Sequence[Token], sign: int) -> int:
    """The index of the first token of the sentence that has the @. A full stop after a single letter doesn't end the
    sentence."""
    begins = (at for at in range(sign, 0, -1) if tokens[at].pause in (".", "?") and len(tokens[at - 1].word) > 1)
    return next((at for at in begins if at < sign), 0)


def _without_comments(tokens: Sequence[Token]) -> tuple[Sequence[Token], bool]:
    """The words of one part of an address, without comments between commas. If the user began, stopped and said the
    part again ("jane, jane underscore doe"), only the second attempt is returned. The second result is False if the
    agent should ask whether the address is right."""
    groups: list[list[Token]] = []
    for place, token in enumerate(tokens):
        if not place or (token.pause and not _is_spelled(token) and not _is_spelled(tokens[place - 1])):
            groups.append([])
        groups[-1].append(token)
    said = [group for group in groups if not _is_comment(group)]
    if len(said) > 1 and all(set(words_of(group)) <= set(words_of(said[-1])) for group in said[:-1]):
        return said[-1], len(said) == len(groups)  # "jane, jane underscore doe"
    return [token for group in said for token in group], len(groups) <= 1


def _is_spelled(token: Token) -> bool:
    """Is this a sign, a digit or a single letter? Commas between such pieces don't separate anything."""
    return len(token.word) == 1 or token.word in SIGNS or token.word in SMALL or token.word[0].isdigit()


def _is_comment(group: Sequence[Token]) -> bool:
    """Are these words a comment and not part of the address? True for "that's wood like a tree". A word next to a sign
    is part of the address."""
    words = ("", *words_of(group), "")
    near_signs = {at for at in range(1, len(words) - 1) if words[at - 1] in SIGNS or words[at + 1] in SIGNS}
    return any(
        (words[at] in _OF_COMMENTS or without_contraction(words[at]) in _OF_COMMENTS or is_negation(words[at]))
        and len(words[at]) > 1
        and words[at] not in SIGNS
        and at not in near_signs
        and (words[at] != "one" or words[at + 1] == "word")
        for at in range(1, len(words) - 1)
    )


def _part(tokens: Sequence[Token]) -> str | None:
    """The text of one part of an e-mail address, joined from words and spelled pieces: "john dot smith" is john.smith.
    None if a word can't be part of an address."""
    text, at = "", 0
    while at < len(tokens):
        word = tokens[at].word
        if _ends_domain(tokens, at):
            text, at = text + word, at + 1
        elif word in TIMES or word in SIGNS or len(word) == 1 or word in SMALL or word in NOUGHT or word == "oh":
            piece = piece_at(tokens, at)
            if piece is None:
                return None
            text, at = text + ("o" if word == "o" else piece[0].casefold()), piece[1]
        elif word.replace("'", "").isalnum() and word.isascii():
            text, at = text + word.replace("'", ""), at + 1
        elif word.replace(".", "").isalnum() and word.isascii():
            text, at = text + word, at + 1
        else:
            return None
    return text or None


def _domain_end(tokens: Sequence[Token], place: int) -> int:
    """The index of the token after a domain name. The domain name ends with the word, or the spelled letters, after its
    last dot. Words that follow don't belong to it: "... dot com, all lower case"."""
    dots = (at for at in range(place, len(tokens)) if SIGNS.get(tokens[at].word) == "." or "." in tokens[at].word)
    at = next(dots, None)
    if at is None:
        return min(len(tokens), place + 1 + (words_of(tokens[place : place + 1]) in (("g",), ("i",))))
    at += "." not in tokens[at].word
    while at < len(tokens):
        is_spelled = len(tokens[at].word) == 1
        at += 1
        if at < len(tokens) and (tokens[at].word in SIGNS or (is_spelled and len(tokens[at].word) == 1)):
            at += tokens[at].word in SIGNS
        else:
            break
    return min(at, len(tokens))


def _is_sentence(tokens: Sequence[Token]) -> bool:
    """Do words of a sentence come before the address, as in "you can send it to anna at …"? A word next to a sign is
    part of the address: "will dot smith"."""
    return any(
        (token.word in _OF_SENTENCES or without_contraction(token.word) in _OF_SENTENCES or is_negation(token.word))
        and len(token.word) > 1
        and token.word not in SIGNS
        and after.word not in SIGNS
        for token, after in pairwise(tokens)
    ) or (len(tokens) > 1 and any(token.word in _IN_PARTS for token in tokens))
