"""Carrier words, sorted into classes: words around a value that aren't part of it.

People put phrases such as "I'd like to", "could you find me" or "would be great" around a plain answer. Words for the
things that a service offers, such as "table" or "ticket", are carrier words too. Grammatical words ("to", "me") must
match exactly; all others are compared without their endings. Rule: a carrier word can't be an answer by itself. So
quantities, prices, qualities and negations are never carrier words.
"""

from __future__ import annotations

from functools import lru_cache

from .tokens import stem


def _words(*texts: str) -> frozenset[str]:
    return frozenset(word for text in texts for word in text.split())


def _stems(*texts: str) -> frozenset[str]:
    return frozenset(stem(word) for text in texts for word in text.split())


# -- Around the sentence

POLITE = _words(
    "please pls plz kindly thanks thank thx cheers hi hello hey sir madam ma'am dear darling mate much so very"
)
FILLERS = _words("uh um er erm uhm ehm hmm hm mm mmm ah oh well like so let's lets see eh now then okay ok alright")
ASSENT = _words(
    "yes yeah yea yep yup ya aye mhm sure certainly absolutely definitely course indeed surely right correct"
)
DISSENT = _words("no nope nah uh-uh")
HEDGES = _words(
    """maybe perhaps probably possibly likely preferably ideally hopefully just only simply about around
    roughly approximately ish exactly precisely really quite pretty rather somewhat mostly usually normally
    generally typically always often lately sometime finally recently
    best kinda sorta most specifically particularly especially honestly
    basically thankfully luckily fortunately unfortunately sadly sharp
    obviously naturally currently total altogether overall accordingly"""
)

# -- Grammar

PRONOUNS = _words(
    """i me my mine myself we us our ours ourselves you your yours he him his she her hers it its they them
    their theirs this that these those someone somebody something somewhere everyone everybody everything
    there here anywhere anything anyone anybody ones who which whom whose im ive id ill thats"""
)
DETERMINERS = _words("a an the some every each own same certain particular specific such whole")
AUXILIARIES = _words(
    """am is are was were be been being do does did done doing have has had having can could will would shall
    should may might must ought gonna wanna gotta going let need got"""
)
PREPOSITIONS = _words(
    """in on at to from of for by with near around about into onto over up down out off through till until til
    inside within starting beginning as toward towards nearby via upon along"""
)
CONJUNCTIONS = _words("and so because since that if when while then as therefore where")
PARTICLES = _words("ahead back away together again forward")

# -- What people want, ask for and do

WISHES = _stems(
    """want like love prefer wish hope plan intend think thought guess believe suppose consider feel fancy
    crave enjoy desire require expect choose chose choice pick select take try decide aim shoot interest
    mood look care fan goal favor favour favorite favourite preference kind dream request lean"""
)
REQUESTS = _stems(
    """find search seek look check book reserve get give show make set put schedule arrange order buy purchase
    rent hire pull bring use using used start begin open see view help add create do go proceed continue
    keep have tell know say said lookup secure grab provide recommend suggest fix organize organise setup
    fill enter write note mark place browse locate explore run hold confirm offer serve include access
    assign register select scan sell"""
)
ACTS = _stems(
    """go going went come came travel travelling travelled fly flew drive drove ride leave left depart arrive
    return head move reach land stay visit check pick drop walk get meet attend join eat dine live watch
    listen hear play read enjoy experience spend sleep work use pay send sent transfer receive share deposit
    wire board catch commute tour end finish happen collect fetch need speak talk call text message deliver
    wake ring remind bring work born embark journey vacation holiday situate base"""
)
STATES = _stems("available free open ready able willing locate set possible convenient comfortable")
APPROVAL = _stems(
    """good great fine perfect perfectly nice ideal best better okay ok cool wonderful lovely excellent awesome
    amazing super convenient suitable suit fit work sound seem enough plenty alright fantastic terrific
    brilliant delightful acceptable favorite preferable sweet suffice sufficient delicious tasty yummy happy glad"""
)

# -- What services are about

THINGS = _stems(
    """thing stuff place spot area location city town region district neighborhood neighbourhood
    village address destination origin departure arrival point trip journey travel flight plane airplane
    airline bus coach train cab taxi car vehicle ride rental hotel room lodging accommodation house home
    apartment flat property condo restaurant eatery table reservation booking appointment meeting session
    visit stay ticket seat event activity show showing performance attraction sight movie movies film song
    track tune album artist band singer theater theatre cinema venue office account balance money amount
    fund payment transfer sum cash bill cost price transaction recipient receiver contact message weather
    forecast climate temperature alarm reminder station terminal airport stop food cuisine dish meal dinner
    lunch supper menu information info detail option listing result service provider professional list
    schedule calendar name number title report condition"""
)
SORTS = _stems("type kind sort category genre style variety class section line way")
TIMES = _stems("date day time hour moment week month year timing slot")
PEOPLE = _stems("people person passenger traveler traveller guest rider attendee friend group party customer folk")

EXACT = (
    POLITE | FILLERS | ASSENT | HEDGES | PRONOUNS | DETERMINERS | AUXILIARIES | PREPOSITIONS | CONJUNCTIONS | PARTICLES
)  # fmt: skip
STEMS = WISHES | REQUESTS | ACTS | STATES | APPROVAL | THINGS | SORTS | TIMES | PEOPLE
_CONTRACTIONS = frozenset(("d", "ll", "m", "re", "ve", "s"))


def without_contraction(word: str) -> str:
    """The word without a contracted ending: "i" for "i'd"."""
    head, mark, tail = word.partition("'")
    return head if mark and tail in _CONTRACTIONS else word


@lru_cache(maxsize=4096)
def is_carrier(word: str) -> bool:
    """Is this a carrier word, that is, a word that may stand around a plain answer?"""
    head = without_contraction(word)
    return word in EXACT or head in EXACT or stem(head) in STEMS


# -- Words that aren't names, even as the whole reply

NAMELESS = _words(
    "bye goodbye ciao farewell wow ouch oops ugh damn shit fuck lol ha haha hooray yikes",
    "today tonight tomorrow yesterday morning afternoon evening night noon midnight weekend soon asap next last",
    "nowhere everywhere elsewhere all both many few several lot lots bit true false unsure depends nonsense usual",
    "louder slower cheap expensive boring stupid idea clue error test testing a n",
)

# Ordinary words that are also given names, for a question that asks for a name.
GIVEN_NAMES = _words(
    "will mark bill art pat sue rich rob drew grant chase hope grace joy guy frank jack dean earl gene miles ray rose",
    "april may june august summer autumn dawn eve faith ivy amber ruby pearl penny dale glen ward clay stone pierce",
)

# -- What sends a reply to NLU

MARKERS = _words(
    """actually instead change changed changing cancel cancelled canceled wait sorry wrong mistake forget meant
    different another other others else also too besides additionally plus earlier later before after
    between than however though although unless without except alternatively otherwise switch swap replace
    update modify correction but reschedule rescheduled postpone delay extend remove
    delete undo refund complain complaint upgrade downgrade"""
)
NEGATIONS = _words(
    "dunno idk not never none nothing nobody neither nor cannot no nope nah uh-uh dont didnt doesnt wont cant isnt"
)
ALTERNATIVES = _words("or either both")


def is_negation(word: str) -> bool:
    """Does this word deny something? True for "not", "never" and "can't"."""
    return word in NEGATIONS or word.endswith("n't")
