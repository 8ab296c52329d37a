"""Other everyday words for a choice: "a concert" where music was offered, "big" for "large", "my current account".

A group holds a word that may be on a list of choices, and other words with exactly the same meaning. Words with a
narrower meaning aren't included, such as "baseball game" for "sports". Rule: such another word is accepted only as the
answer to a question, only if it fits exactly one choice on the list, and never if it is on the list itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from ..language.readings import Choice
from .tokens import stem

_GROUPS = """
music: concert gig recital; sport: game match tournament; theater: play musical drama; theatre: play musical drama
movie: film cinema; film: movie cinema; art: exhibition gallery; comedy: standup; dance: ballet; museum: exhibition
festival: fair; large: big huge; big: large huge; small: little tiny; little: small tiny; medium: middle
extra: additional; cheap: inexpensive affordable budget; inexpensive: cheap affordable budget
moderate: medium average; expensive: pricey costly upscale fancy; luxury: luxurious fancy upscale
checking: current; current: checking; savings: saving; economy: coach; return: roundtrip; oneway: single
window: outside; express: fast fastest quick; standard: normal regular; regular: normal standard usual
normal: regular standard usual; urgent: emergency immediately; vegetarian: veggie meatless; vegan: plantbased
drink: beverage; dessert: pudding; adult: grownup; child: kid toddler; kid: child toddler; baby: infant
woman: female lady; female: woman lady; man: male gentleman; male: man gentleman; car: automobile sedan
truck: lorry pickup; lorry: truck; bike: bicycle; bicycle: bike; taxi: cab; cab: taxi; train: rail railway
plane: flight airplane; subway: metro underground; ship: ferry boat; apartment: flat; flat: apartment
house: home cottage; couch: sofa; sofa: couch; fridge: refrigerator; internet: wifi broadband; wifi: wireless
phone: telephone mobile cellphone; mobile: cellphone; laptop: notebook; television: tv telly; tv: television telly
computer: pc laptop desktop; broken: damaged defective faulty; damaged: broken dented; defective: broken faulty
lost: missing; missing: lost; stolen: theft robbed; late: delayed overdue; delayed: late; doctor: physician gp
dentist: dental; lawyer: attorney solicitor; attorney: lawyer; hairdresser: hairstylist; barber: haircut
therapist: counselor counsellor; plumbing: plumber pipe; electrical: electrician wiring
heating: heater boiler radiator; cleaning: checkup hygiene; checkup: examination inspection; dog: puppy
cat: kitten; fall: autumn; autumn: fall; holiday: vacation; vacation: holiday; complaint: complain
refund: reimbursement; invoice: bill; bill: invoice
"""


def _groups() -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for line in _GROUPS.strip().replace("\n", ";").split(";"):
        head, _, words = line.partition(":")
        found[stem(head.strip())] = tuple(dict.fromkeys(stem(word) for word in words.split()))
    return found


_WORDS_OF = _groups()


@lru_cache(maxsize=256)
def other_words(choices: Sequence[Choice]) -> dict[str, str]:
    """A dict that maps other everyday words, without their endings, to the one choice that each of them means. Words
    that could mean two of these choices, or that are on the list themselves, aren't included."""
    listed = {
        stem(word) for choice in choices for name in (choice.value, *choice.also) for word in name.casefold().split()
    }
    meant: dict[str, set[str]] = {}
    for choice in choices:
        for name in (choice.value, *choice.also):
            words = name.casefold().split()
            for other in _WORDS_OF.get(stem(words[0]), ()) if len(words) == 1 else ():
                meant.setdefault(other, set()).add(choice.value)
    return {word: values.pop() for word, values in meant.items() if len(values) == 1 and word not in listed}
