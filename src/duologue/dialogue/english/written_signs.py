"""Signs that are written between the words of a spoken e-mail address: "anna.lee at example.com", "ted_hill at …".

Each such sign becomes a token, as if the user had spoken it. Rule: STT also writes signs that the user hasn't spoken,
in spelled letters ("b.o.b") and double names ("Anna-Lena"). Such a sign is doubtful, so the reply is read with it and
without it.
"""

from __future__ import annotations

from collections.abc import Sequence

from .tokens import Token

_NAMES = {".": "dot", "-": "dash", "_": "underscore"}


def with_written_signs(tokens: Sequence[Token], *, are_all_meant: bool) -> tuple[list[Token], list[int]]:
    """The tokens of a reply, with a token for each sign that is written between them. The second list has, for each
    token and for the end of the reply, the index that it had in the reply. If `are_all_meant` is False, doubtful
    signs are left out."""
    found, places = list[Token](), list[int]()
    for place, token in enumerate(tokens):
        one = token
        if token.joint and _is_part(tokens, place, are_all_meant=are_all_meant):
            found.append(Token(token.joint, _NAMES[token.joint], token.start - 1, token.start, ""))
            places.append(place)
            one = token._replace(pause="")
        after = tokens[place + 1] if place + 1 < len(tokens) else token
        is_joined = after.start == token.end
        is_meant = is_joined and (are_all_meant or len(after.word) > 1)  # "j.r.smith"
        pieces = _initials(one) if is_meant else [one]
        found += pieces
        places += [place] * len(pieces)
    return found, [*places, len(tokens)]


def _is_part(tokens: Sequence[Token], place: int, *, are_all_meant: bool) -> bool:
    """Is the sign before this token part of an address? A dash between single letters ("b-o-b") isn't, and neither is a
    full stop before a contraction, which ends a sentence ("Yes.It's …")."""
    before, token = tokens[place - 1], tokens[place]
    if "'" in before.word + token.word:
        return False
    is_spelled = len(token.word) == len(before.word) == 1
    is_doubtful = token.joint == "-" or (token.joint == "." and is_spelled)
    return not is_doubtful or (are_all_meant and (token.joint == "." or not is_spelled))


def _initials(token: Token) -> list[Token]:
    """Initials with full stops, such as the "j.r." in "j.r.smith", as single letters and signs."""
    if "." not in token.text[1:] or not token.text.replace(".", "").isalpha():
        return [token]
    chars = enumerate(token.text.casefold(), token.start)
    first, *rest = (Token(char, _NAMES.get(char, char), start, start + 1, "") for start, char in chars)
    return [first._replace(pause=token.pause, joint=token.joint), *rest]
