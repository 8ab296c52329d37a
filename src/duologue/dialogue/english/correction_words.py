"""The English words with which users correct something, such as "instead of" or "I meant"."""

from __future__ import annotations

from ..language.correction_patterns import CorrectionWords, correction_patterns

_CHANGE = "(?:change|correct|update|fix|switch|set|make|put|move|shift|push)"

CORRECTIONS = correction_patterns(
    CorrectionWords(
        changes_of_mind=(
            *"no nope nah sorry wait actually rather but".split(),
            *("that's wrong", "that's not right", "that is wrong", "that is not right"),
            *(
                "hold on",
                "hang on",
                "you know what",
                "come to think of it",
                "i mean",
                "i meant",
                "i changed my mind",
                "i've changed my mind",
                "on second thoughts?",
                "i tell a lie",
                "strike that",
                "i forgot",
            ),
        ),
        opening_fillers=(
            *"""oh uh um ah hmm hm er please well and so then yes yeah yep ok okay sure fine good great perfect lovely
            right damn dear god gosh perhaps maybe possibly just still also""".split(),
            *("can you", "could you", "can i", "can we", "could i", "could we", "may i", "let's", "let me"),
            *("could it be", "can it be", "could that be", "can that be", "what if it's", "what if it is"),
            *("can", "could", "would it be possible to", "is it possible to", "would it be ok to", "is it ok to"),
            *("would you", "one more thing", "i'd rather", "we'd rather", "i'd prefer to"),
            *("i want to", "we want to", "i need to", "we need to", "i'd like to", "we'd like to", "i have to"),
        ),
        change=_CHANGE,
        to=(
            r"(?:'s\s+|\s*(?:,|:|=|down as|to be|to|into|is|should(?: just| only)? (?:be|say|read)|was|be|say|as"
            r"|from now on)\s+)"
        ),
        end="(?: (?:instead|please|after all|in fact|actually|then|i think|i guess|if possible|i said))*[.!?]*$",
        owners="the|my|our",
        it_is=rf"(?:{_CHANGE} (?:it|that)(?: to)?|i meant(?: to say)?|i said|i mean|it's"
        "|(?:it|that) (?:is|was|should be|should have been)|rather)(?: more like| nearer(?: to)?| closer to)?",
        meant=r"\bi (?:meant|mean|said)\b",
        do_instead=(
            r"(?:(?:do|have|take|get|try|use|go for|go with|say) |(?:[\w']+ ){0,4}?(?:at|on|by|for|from) )?",
            ",? instead(?:,? please)?[.!?]*$",
        ),
        instead="instead",
        no_something=r"^(?:no|nope) \w",
        self_correction=(
            "(?:(?:or |well,? )?(?:no|nope|sorry|wait|actually|rather|i mean|i meant|scrap that|correction|i tell a lie"
            "|i lie|strike that|hang on|hold on)|(?:let's |let us )?(?:make (?:that|it)|say))"
        ),
        it_to=f"(?:{_CHANGE} (?:it|that) (?:to )?)?",
        instead_of="(?:instead of|rather than|and not|not)",
        not_but=(
            "(?:not|it (?:wasn't|isn't|was not|is not)|it's not|that's not|that isn't|that wasn't|i didn't say)",
            "(?: but| rather)?",
        ),
        adds="(?:also|too|as well|additionally|in addition|on top|another|both|plus an?)",
        asks_agent=(
            r"^(?:just )?\w+ (?:me|us)\b(?! (?:in|for|on|at|an?|the|to)\b)"
            r"|^(?:i|we)(?:'ll| will)? (?:(?:have|need|want|had better|just|try|first) (?:to )?)*"
            r"(?:call|ring|phone|come back|get back|try again|be in touch|think|ask|check|talk|speak|let you know)\b"
        ),
        both=",? and (?:also )?",
        both_names=",? and |, ?",
        wrong=(
            "{name}(?: is| was|'s) (?:(?:all|still) )?(?:wrong|incorrect|missing|not (?:right|correct))",
            "{name} (?:isn't|wasn't) (?:right|correct)",
            "(?:you|i|we)(?:'ve| have)?(?: got| have| had)? {name} wrong",
            "{name} (?:should )?(?:ends?|starts?|begins?) (?:in|with) .+",
            "(?:(?:that's|that is|it's|you have|you've got|you got) )?(?:the |a )?wrong {bare}",
        ),
    )
)
