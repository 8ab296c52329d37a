"""Countries and states that follow a place: "London, England", "Long Beach, CA".

Rule: a region after a place says where that place is. It isn't a second place.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..language.match import Match
from .carrier_words import POLITE
from .tokens import Token, words_of

_COUNTRIES = """
england|scotland|wales|ireland|northern ireland|uk|united kingdom|great britain|britain|france|germany|spain|italy
portugal|austria|switzerland|belgium|netherlands|the netherlands|holland|denmark|sweden|norway|finland|iceland
poland|czech republic|hungary|greece|turkey|russia|ukraine|romania|bulgaria|croatia|serbia|slovenia|slovakia
estonia|latvia|lithuania|luxembourg|usa|us|united states|the united states|america|canada|mexico|brazil|argentina
chile|peru|colombia|ecuador|cuba|jamaica|australia|new zealand|china|japan|india|south korea|korea|thailand|vietnam
indonesia|malaysia|singapore|philippines|pakistan|israel|egypt|morocco|kenya|nigeria|ghana|ethiopia|south africa
tunisia|uae|united arab emirates|saudi arabia|qatar|iran|iraq
"""
_STATES = """
alabama|alaska|arizona|arkansas|california|colorado|connecticut|delaware|florida|georgia|hawaii|idaho|illinois
indiana|iowa|kansas|kentucky|louisiana|maine|maryland|massachusetts|michigan|minnesota|mississippi|missouri|montana
nebraska|nevada|new hampshire|new jersey|new mexico|new york|north carolina|north dakota|ohio|oklahoma|oregon
pennsylvania|rhode island|south carolina|south dakota|tennessee|texas|utah|vermont|virginia|washington
west virginia|wisconsin|wyoming|ontario|quebec|british columbia|alberta|manitoba|nova scotia|new south wales
victoria|queensland|tasmania
"""
_SHORT = frozenset(
    """AL AK AZ AR CA CO CT DE FL GA HI ID IL IN IA KS KY LA ME MD MA MI MN MS MO MT NE NV NH NJ NM NY NC ND OH OK OR PA
    RI SC SD TN TX UT VT VA WA WV WI WY UK US USA DC""".split()
)
_REGIONS = frozenset(tuple(name.split()) for name in (_COUNTRIES + _STATES).strip().replace("\n", "|").split("|"))
_WORDS_MAX = max(map(len, _REGIONS))


def with_regions(tokens: Sequence[Token], matches: Sequence[Match]) -> list[Match]:
    """The names in a reply. If a comma and a region follow a name, the match for the name also covers the region. If
    the region is a known name too, it is no longer returned as a separate name."""
    found: list[Match] = []
    for match in matches:
        if found and match.first < found[-1].after:
            continue
        found.append(match._replace(after=match.after + _region_words(tokens, match.after)))
    return found


def _region_words(tokens: Sequence[Token], place: int) -> int:
    """The number of words in the region that begins at index `place`; 0 if no region begins there. A comma must stand
    before the region, and a clause must end after it."""
    if place >= len(tokens) or tokens[place].pause != ",":
        return 0
    for size in range(min(_WORDS_MAX, len(tokens) - place), 0, -1):
        run = tokens[place : place + size]
        is_region = words_of(run) in _REGIONS or (size == 1 and run[0].text.replace(".", "") in _SHORT)
        if is_region and _ends(tokens, place + size):
            return size
    return 0


def _ends(tokens: Sequence[Token], place: int) -> bool:
    """Does a clause end before the token at index `place`? In "Boston, Georgia and Ohio", which is a list, no clause
    ends after "Georgia"."""
    if place >= len(tokens):
        return True
    return bool(tokens[place].pause) or tokens[place].word in POLITE | {"would", "is", "will", "for", "on", "at"}
